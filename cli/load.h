// A file's text for the time of one job: small files are read into a buffer that is used again,
// large ones are mapped.
#ifndef PTXVET_CLI_LOAD_H
#define PTXVET_CLI_LOAD_H

#include "base/str.h"

struct loader {
    char *buffer;        // of small files; kept from file to file
    size_t capacity;
    void *map;           // of the present large file
    size_t map_size;
};

// The text of `path` (NUL-terminated; "-" is standard input), with one NUL behind it. It stands
// until the next load. 0, or an errno.
int load(struct loader *loader, const char *path, struct str *text);

void loader_release(struct loader *loader);

#endif
