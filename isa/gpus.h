// GPUs: limits for each compute capability and products by name. Rows are in limits.def and
// gpus.def, with their sources.
#ifndef PTXVET_ISA_GPUS_H
#define PTXVET_ISA_GPUS_H

#include "base/str.h"

// What a compute capability allows. Sizes are bytes. 0 in a cluster or tensor memory field: there
// is none.
struct gpu_limits {
    uint16_t capability;  // 10 * major + minor
    uint32_t warp_size, block_threads, block_x, block_y, block_z;
    uint32_t grid_x, grid_y, grid_z;
    uint32_t sm_warps, sm_threads, sm_blocks;
    uint32_t sm_registers, block_registers, thread_registers;
    uint32_t register_unit;   // registers are given to a warp in multiples of this
    uint32_t sub_partitions;  // of an SM: registers and warps are divided among them
    uint32_t sm_shared;       // shared memory of an SM
    uint32_t block_shared;    // static + dynamic without the attribute
    uint32_t optin_shared;    // static + dynamic with it
    uint32_t reserved_shared; // taken by the driver from each resident block
    uint32_t shared_unit;     // shared memory is given to a block in multiples of this
    uint32_t const_bytes, param_bytes_old, param_bytes;  // parameters before PTX 8.1, and since
    uint32_t cluster_portable, cluster_max;  // blocks of a cluster: always, with the attribute
    uint32_t block_barriers, sm_barriers;
    uint32_t thread_local;    // local memory of a thread
    uint32_t resident_grids, tensor_columns;
    uint32_t param_base;      // offset of the first parameter in its constant bank
    bool cluster_max_unconfirmed;  // never the base of an error
};

extern const struct gpu_limits isa_limits[];
extern const uint32_t isa_limit_count;

// The row of a capability (90), or NULL.
const struct gpu_limits *isa_limits_find(uint32_t capability);

enum gpu_class { GPU_ARCHITECTURE, GPU_DATACENTER, GPU_GEFORCE, GPU_WORKSTATION, GPU_JETSON };

struct gpu {
    struct str name;          // "H200", "GeForce RTX 4090"; of an architecture: "sm_90"
    uint16_t capability;      // 10 * major + minor
    uint16_t sm_count;        // 0: not known, or an architecture
    bool sm_unconfirmed;      // never the base of an error
    uint8_t class;            // enum gpu_class
    const struct gpu_limits *limits;
};

extern const struct gpu isa_gpus[];
extern const uint32_t isa_gpu_count;

// By name: a product ("h200", "RTX 4090", "NVIDIA A100-SXM4-80GB"), an architecture ("sm_90",
// "sm_90a", "compute_90", "90") or a capability ("9.0"). Letter case, blanks, `-`, `_` and the words
// NVIDIA and GeForce do not count. NULL when there is none.
const struct gpu *isa_gpu_find(struct str text);

// The row of the architecture with that capability, or NULL.
const struct gpu *isa_gpu_architecture(uint32_t capability);

// The product or architecture whose name is nearest, or NULL.
const struct gpu *isa_gpu_nearest(struct str text);

const char *gpu_class_text(enum gpu_class class);  // "data centre"

#endif
