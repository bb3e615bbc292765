// A file that is there whole or not at all: it is written under another name beside its own, and
// renamed when it is done.
#ifndef PTXVET_CLI_WHOLE_FILE_H
#define PTXVET_CLI_WHOLE_FILE_H

#include "base/str.h"

struct whole_file {
    struct str path;     // NUL-terminated
    char *temporary;     // NULL: what is there is no plain file (a pipe, /dev/null): written in place
    int descriptor;
};

// Each gives 0 or an errno.
int whole_file_open(struct whole_file *file, struct arena *arena, struct str path);
int whole_file_keep(struct whole_file *file);  // closes; on trouble nothing is left
void whole_file_drop(struct whole_file *file);

#endif
