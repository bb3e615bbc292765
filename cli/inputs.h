// What the operands name: files, and the .ptx files below folders.
#ifndef PTXVET_CLI_INPUTS_H
#define PTXVET_CLI_INPUTS_H

#include "cli/options.h"

struct input {
    struct str path;      // NUL-terminated; what is opened: "-" is standard input
    struct str shown;     // as reports print it
    int trouble;          // errno, when a folder could not be read
};

struct inputs {
    VEC_OF(struct input) list;
};

// Fills `inputs` in the order of the operands, folders sorted by name.
void inputs_collect(struct inputs *inputs, struct arena *arena, const struct options *options,
                    bool manifests);

#endif
