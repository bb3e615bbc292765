// What the operands name: files, and the .ptx files below folders.
#ifndef PTXVET_CLI_INPUTS_H
#define PTXVET_CLI_INPUTS_H

#include "cli/config.h"

struct input {
    struct str path;      // NUL-terminated; what is opened: "-" is standard input
    struct str shown;     // as reports print it
    int trouble;          // errno, when a folder could not be read
    const struct configured *configured;
};

struct inputs {
    VEC_OF(struct input) list;
};

// Fills `inputs` in the order of the operands, folders sorted by name. `suffixes` ends with NULL: what
// is taken from folders. False, after a complaint: a configuration on the way is wrong.
bool inputs_collect(struct inputs *inputs, struct config *config, const struct str *operands,
                    uint32_t operand_count, const char *const *suffixes);

#endif
