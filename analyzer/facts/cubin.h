// A cubin's ELF header: which architecture the machine code is for. Nothing else of it is read.
#ifndef PTXVET_ANALYZER_FACTS_CUBIN_H
#define PTXVET_ANALYZER_FACTS_CUBIN_H

#include "base/str.h"

enum cubin_state {
    CUBIN_NONE,   // no ELF file at all
    CUBIN_OTHER,  // an ELF file for another machine (a host object, say)
    CUBIN_CUT,    // its header does not fit, or its section table lies beyond the end
    CUBIN_WHOLE
};

struct cubin {
    uint8_t state;        // enum cubin_state
    uint32_t capability;  // of CUBIN_WHOLE: 90 for sm_90
};

void cubin_read(struct str bytes, struct cubin *cubin);

// Whether machine code for `cubin` runs on `device`: the same major capability, and no lower minor
// one (CUDA Programming Guide, "Binary Compatibility"). Code with an `a` suffix runs on less; the
// header does not show it.
bool cubin_runs_on(uint32_t cubin, uint32_t device);

#endif
