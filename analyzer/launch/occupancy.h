// How many blocks and clusters of a launch a GPU holds at once, as the driver computes it.
#ifndef PTXVET_ANALYZER_LAUNCH_OCCUPANCY_H
#define PTXVET_ANALYZER_LAUNCH_OCCUPANCY_H

#include "base/str.h"

struct gpu_limits;

struct occupancy_request {
    uint64_t threads;         // of a block
    uint64_t registers;       // of a thread
    uint64_t shared;          // static + dynamic, bytes
    uint64_t shared_limit;    // what static + dynamic may be for the function as it stands
    uint32_t named_barriers;  // of a block; 0: not known, taken as one
};

struct occupancy_answer {
    uint32_t blocks_per_sm, warps_per_sm;
    const char *limiter;      // "registers", "shared", "warps", "blocks", "barriers"
};

// cuOccupancyMaxActiveBlocksPerMultiprocessor: 0 blocks where one does not fit.
struct occupancy_answer occupancy_compute(const struct gpu_limits *limits,
                                          const struct occupancy_request *request);

// Most threads of a block that the registers allow: CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK of a
// function without launch bounds. A multiple of the warp.
uint32_t occupancy_register_threads(const struct gpu_limits *limits, uint64_t registers);

#endif
