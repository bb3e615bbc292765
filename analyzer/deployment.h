// Where a file must run.
#ifndef PTXVET_ANALYZER_DEPLOYMENT_H
#define PTXVET_ANALYZER_DEPLOYMENT_H

#include "base/str.h"

struct gpu;  // isa/gpus.h: a product or an architecture, and its limits

// `gpu` NULL and `compute_capability` 0: not named (the file's .target stands in where it can).
// `driver` 0 and `reads` 0: no driver named. Else `driver` is major * 1000 + minor (550054 for
// 550.54) and `reads` the newest PTX version that it reads (84), as isa_driver_find gives them;
// `reads` 0: not known for that driver.
struct deployment {
    const struct gpu *gpu;
    struct str gpu_text;          // as named on the command line
    uint32_t compute_capability;  // of the gpu: 90 for 9.0
    uint32_t driver;
    uint16_t reads;
    struct str driver_text;
};

#endif
