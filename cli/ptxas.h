// Registers that the assembler allots, asked of `ptxas -v` where --ptxas names one.
#ifndef PTXVET_CLI_PTXAS_H
#define PTXVET_CLI_PTXAS_H

#include "base/str.h"

// Assembles the PTX at `path` for `target` ("sm_90a") and reads how many registers `kernel` takes.
// False: the program could not be run, or does not say; `error` says so.
bool ptxas_registers(struct str program, struct str path, struct str target, struct str kernel,
                     struct arena *arena, uint64_t *registers, struct str *error);

#endif
