// The subset of the CUDA Driver API that test launches need, declared by ourselves, so that neither
// building nor linting needs a toolkit. Found at run time in libcuda.so.1.
//
// Names differ from cuda.h's (drv_, DRV_), so that a test can include both and compare.
#ifndef PTXVET_DRIVER_CUDA_API_H
#define PTXVET_DRIVER_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum drv_constant {
#define CONSTANT(name, value) DRV_##name = value,
#include "driver/constants.def"
};

// CU_LAUNCH_PARAM_*: keys of cuLaunchKernel's `extra`.
#define DRV_LAUNCH_PARAM_END ((void *)0)
#define DRV_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define DRV_LAUNCH_PARAM_BUFFER_SIZE ((void *)2)

struct drv_context;
struct drv_module;
struct drv_function;
struct drv_stream;
struct drv_event;

struct drv_launch_attribute {  // CUlaunchAttribute
    int id;
    char pad[4];
    union {
        char pad[64];
        int cooperative;
        uint32_t cluster[3];
        int programmatic;
    } value;
};

struct drv_launch_config {  // CUlaunchConfig
    unsigned grid[3], block[3], shared;
    struct drv_stream *stream;
    struct drv_launch_attribute *attributes;
    unsigned attribute_count;
};

struct drv_location {  // CUmemLocation
    int type, id;
};

struct drv_allocation_prop {  // CUmemAllocationProp
    int type, handle_types;
    struct drv_location location;
    void *win32;
    struct {
        unsigned char compression, rdma;
        unsigned short usage;
        unsigned char reserved[4];
    } flags;
};

struct drv_access {  // CUmemAccessDesc
    struct drv_location location;
    int flags;
};

struct drv_tensor_map {  // CUtensorMap
    _Alignas(128) uint64_t opaque[16];
};

struct cuda_api {
    void *library;  // of dlopen; never closed: libcuda.so does not survive it
#define FUNCTION(name, symbol, version, needed, parameters) int(*name) parameters;
#include "driver/functions.def"
};

// Opens the library (`path` NULL: "libcuda.so.1") and finds the calls. NULL, or what is missing, as
// text that lives in `arena`.
const char *cuda_api_load(struct cuda_api *api, const char *path, struct arena *arena);

#endif
