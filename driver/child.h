// The part of a launch that runs in the child process.
#ifndef PTXVET_DRIVER_CHILD_H
#define PTXVET_DRIVER_CHILD_H

#include "driver/cuda_api.h"
#include "driver/driver.h"
#include "driver/protocol.h"

// A buffer in device memory, with the mapped memory round it that holds canaries.
struct child_buffer {
    uint32_t arg;
    uint64_t mapped, mapped_size;  // all that is mapped (guarded) or allocated (plain)
    uint64_t address, size;
};

struct child {
    const struct driver_request *request;
    struct arena *arena;
    int fd;                  // where records go
    uint32_t sequence;
    enum driver_step step;
    struct cuda_api api;
    int device;
    struct drv_module *module;
    struct drv_function *function;
    struct drv_event *start, *end;   // NULL: times are not taken
    VEC_OF(struct child_buffer) buffers;
    void **params;           // of cuLaunchKernel; NULL: none
    void **extra;
    size_t packed_size;
    double *times;           // milliseconds, of each launch
    uint32_t time_count;
};

// Makes the launch and reports to `fd`. Does not clean up: the process ends.
void child_run(const struct driver_request *request, struct arena *arena, int fd);

// Says why the launch could not be tried. Always false.
bool child_fail(struct child *child, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The same for a driver call that answered `result`.
bool child_fail_call(struct child *child, const char *call, int result);

void child_send(struct child *child, struct record *record);

// STEP_BUFFERS and STEP_CHECK, in buffers.c. False: reported, stop.
bool child_make_buffers(struct child *child);
bool child_check_canaries(struct child *child);

#endif
