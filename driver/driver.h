// A launch made on the GPU of this machine, in a child process of its own.
//
// The caller never initialises CUDA: a fault, a hang, a trap, a crash of the driver or a sticky
// error ends with the child. What the child finds comes back through a pipe as records of fixed
// size (protocol.h).
#ifndef PTXVET_DRIVER_DRIVER_H
#define PTXVET_DRIVER_DRIVER_H

#include "analyzer/launch/launch.h"
#include "base/str.h"
#include "findings/findings.h"

// Steps of the child, in order. Trouble in LOAD to RUN is the driver's answer about the launch; in
// the others it is an operational failure.
enum driver_step {
    STEP_OPEN,           // libcuda.so.1 and its calls
    STEP_DEVICE,         // cuInit, device, context
    STEP_LOAD,           // cuModuleLoadDataEx
    STEP_GET_FUNCTION,   // cuModuleGetFunction
    STEP_SET_ATTRIBUTE,  // cuFuncSetAttribute
    STEP_QUERY,          // registers, parameter layout, occupancy
    STEP_BUFFERS,        // allocation and contents
    STEP_LAUNCH,         // cuLaunchKernel(Ex)
    STEP_RUN,            // cuCtxSynchronize
    STEP_CHECK,          // canaries
    STEP_COUNT
};

enum phase driver_step_phase(enum driver_step step);      // PHASE_NONE for operational steps
const char *driver_step_text(enum driver_step step);

enum driver_arg_kind {
    DRIVER_ARG_VALUE,      // `bytes`
    DRIVER_ARG_BUFFER,     // device memory of `size` bytes
    DRIVER_ARG_HOST,       // address of host memory
    DRIVER_ARG_TENSORMAP   // a CUtensorMap of `tensor`, by value; it has a buffer of its own
};

struct driver_tensor {     // a described tensor: what cuTensorMapEncodeTiled is given
    uint32_t rank;         // 1 to 5; 0: not described, the map is zeros
    int type, swizzle;     // DRV_CU_TENSOR_MAP_...
    uint64_t dims[5], strides[4];  // elements, the innermost first; bytes
    uint32_t box[5];
};

struct driver_arg {
    uint8_t kind;            // enum driver_arg_kind
    uint64_t offset;         // in a packed buffer
    uint32_t size;           // of what the parameter receives, bytes: what kernelParams[i] points to
    const uint8_t *bytes;    // VALUE: `size` bytes; NULL: zeros
    uint64_t buffer_size;    // BUFFER, TENSORMAP: bytes; the next fields are of it
    uint64_t align;          // see driver_place
    uint8_t contents;        // enum contents; UNKNOWN is filled with zeros
    uint8_t type;            // enum isa_type of its elements
    uint64_t seed;           // CONTENTS_RANDOM
    const uint8_t *file;     // CONTENTS_FILE: its bytes
    uint64_t file_size;
    struct driver_tensor tensor;
};

enum driver_memory { MEMORY_GUARD_END, MEMORY_GUARD_START, MEMORY_PLAIN };

struct driver_request {
    const char *library;     // NULL: libcuda.so.1
    int device;              // ordinal
    const char *ptx;         // followed by a NUL
    uint32_t ptx_size;
    const char *kernel;      // NUL-terminated
    uint64_t grid[3], block[3], shared;
    bool has_cluster, cooperative, nonportable, pdl, packed, has_optin, null_params;
    uint64_t cluster[3], optin, packed_size;
    VEC_OF(struct driver_arg) args;
    uint8_t memory;          // enum driver_memory
    double timeout;          // seconds, for launching and for running, each
    double preparation;      // seconds, for each other step; 0: a minute, or `timeout` if that is more
    uint32_t repeat;         // launches, at least 1
    bool probe;              // only STEP_OPEN and STEP_DEVICE
    bool query;              // up to STEP_QUERY: no launch
};

struct driver_device {
    char name[64];
    int major, minor;        // compute capability
    int processors;          // SMs
    int cuda;                // cuDriverGetVersion: 13000 for 13.0
    int shared_optin;        // bytes
};

enum driver_attribute {
    ATTRIBUTE_MAX_THREADS, ATTRIBUTE_SHARED, ATTRIBUTE_CONST, ATTRIBUTE_LOCAL, ATTRIBUTE_REGS,
    ATTRIBUTE_PTX, ATTRIBUTE_BINARY, ATTRIBUTE_MAX_DYNAMIC, ATTRIBUTE_CLUSTER_MUST_BE_SET,
    ATTRIBUTE_CLUSTER_WIDTH, ATTRIBUTE_CLUSTER_HEIGHT, ATTRIBUTE_CLUSTER_DEPTH,
    ATTRIBUTE_NONPORTABLE, ATTRIBUTE_COUNT
};
const char *driver_attribute_text(enum driver_attribute attribute);  // "regs"

struct driver_param { uint64_t offset, size; };

// Where a buffer was put, and what the launch did to the canaries round it.
struct driver_buffer {
    uint32_t arg;
    uint64_t address, size;
    uint64_t slack;          // bytes between the buffer and the unmapped memory that it should touch
    uint64_t changed;        // canary bytes overwritten
    int64_t first;           // the first of them, from the buffer's start
};

enum driver_status {
    DRIVER_ANSWERED,     // phase and result say what the driver answered
    DRIVER_UNAVAILABLE,  // no driver or no device here; `failure` says which
    DRIVER_FAILED        // the launch could not be tried; `failure` says why
};

struct driver_outcome {
    uint8_t status;      // enum driver_status
    struct str failure;
    uint8_t phase;       // enum phase
    int result;          // enum result, or a CUresult that results.def does not hold
    bool has_device, has_attributes, has_occupancy, has_time;
    struct driver_device device;
    int attributes[ATTRIBUTE_COUNT];
    bool has_params;     // the driver can tell (CUDA 12.4 and later)
    VEC_OF(struct driver_param) params;
    int blocks_per_sm;   // valid with has_occupancy
    VEC_OF(struct driver_buffer) buffers;
    double milliseconds; // median of the launches
    struct str error_log, info_log;  // of the JIT
    struct str said;     // what the kernel printed, and what the driver said before it died
    int signal;          // that ended the child; 0: none
};

// Makes the launch. Everything in `outcome` lives in `arena`. Never leaves a process or descriptor.
void driver_launch(const struct driver_request *request, struct arena *arena,
                   struct driver_outcome *outcome);

// Where in `mapped` bytes (a multiple of the granule) a buffer goes: its offset. Alignments below
// 256 are exact (a multiple of `align` and of no greater power of two), since instructions can tell;
// from 256 on, and 0 for "not stated" (16), they are at least that.
uint64_t driver_place(enum driver_memory memory, uint64_t mapped, uint64_t size, uint64_t align);

// What a buffer is filled with: `size` bytes from byte `at` of the contents on.
void driver_contents(const struct driver_arg *arg, uint64_t at, uint8_t *bytes, uint64_t size);

// Lines of the JIT's log ("ptxas application ptx input, line 10; error   : ...") as findings of
// `rule` in `source`, at their line and, where the message quotes a word of it, column.
void driver_log_findings(struct str log, struct source *source, enum rule rule,
                         struct findings *findings);

#endif
