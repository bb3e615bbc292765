// Whole files into an arena. The library proper opens nothing: this serves the command line and
// the readers that it hands to the library.
#ifndef PTXVET_BASE_FILE_H
#define PTXVET_BASE_FILE_H

#include "base/str.h"

// The bytes of the file at `path` (NUL-terminated), followed by one NUL that `text` does not count.
// 0, or an errno: EISDIR for a folder, EFBIG for 4 GiB and more.
int file_read(const char *path, struct arena *arena, struct str *text);

// The same for what is left of an open descriptor: a file, a pipe, the standard input.
int file_read_descriptor(int descriptor, struct arena *arena, struct str *text);

// Whether `path` names a folder. False when there is nothing, or something else.
bool file_is_folder(const char *path);

// Names in a folder that a lister did not hide (no leading dot), sorted by bytes. 0, or an errno.
struct file_names { VEC_OF(struct str) list; };
int file_list(const char *path, struct arena *arena, struct file_names *names);

// Parts of a path, as text: "a/b.ptx" has folder "a/", file "b.ptx", stem "b".
struct str path_folder(struct str path);  // with its slash; empty when there is none
struct str path_file(struct str path);
struct str path_stem(struct str path);    // of the file, without its last extension

#endif
