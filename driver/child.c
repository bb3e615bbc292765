#include "driver/child.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/checked.h"

#define LOG_SIZE (64u * 1024)

// ---------------------------------------------------------------------------------------------
// Reporting

void child_send(struct child *child, struct record *record) {
    record_seal(record, child->sequence++);
    const char *at = (const char *)record;
    size_t left = sizeof *record;
    while (left > 0) {
        ssize_t written = write(child->fd, at, left);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) _exit(1);  // nobody listens
        at += written;
        left -= (size_t)written;
    }
}

static struct record record_of(const struct child *child, enum record_kind kind) {
    return (struct record){.kind = (uint16_t)kind, .step = (uint32_t)child->step};
}

static void send_text(struct child *child, enum record_kind kind, const char *text, size_t size) {
    struct record record = record_of(child, kind);
    if (size > RECORD_TEXT) size = RECORD_TEXT;
    memcpy(record.text, text, size);
    record.text_size = (uint16_t)size;
    child_send(child, &record);
}

static void send_number(struct child *child, enum record_kind kind, uint32_t index, uint64_t value) {
    struct record record = record_of(child, kind);
    record.index = index;
    record.values[0] = value;
    child_send(child, &record);
}

static void send_step(struct child *child, enum driver_step step) {
    child->step = step;
    struct record record = record_of(child, RECORD_STEP);
    child_send(child, &record);
}

bool child_fail(struct child *child, const char *format, ...) {
    va_list args;
    va_start(args, format);
    struct str text = str_vformat(child->arena, format, args);
    va_end(args);
    send_text(child, RECORD_FAILURE, text.data, text.len);
    return false;
}

static struct str result_words(struct child *child, int result) {
    const char *name = result_text(result);
    return name != NULL ? str_format(child->arena, "%s (%d)", name, result)
                        : str_format(child->arena, "CUresult %d", result);
}

bool child_fail_call(struct child *child, const char *call, int result) {
    return child_fail(child, "%s answered %.*s", call, STR_ARG(result_words(child, result)));
}

static bool unavailable(struct child *child, const char *call, int result) {
    struct str text = str_format(child->arena, "%s answered %.*s", call,
                                 STR_ARG(result_words(child, result)));
    send_text(child, RECORD_UNAVAILABLE, text.data, text.len);
    return false;
}

// The driver's answer about the launch. Always false: it is the last thing said.
static bool answer(struct child *child, enum driver_step step, int result) {
    struct record record = record_of(child, RECORD_RESULT);
    record.step = (uint32_t)step;
    record.result = result;
    child_send(child, &record);
    return false;
}

// ---------------------------------------------------------------------------------------------
// Steps. Each gives false when there is nothing more to do; it has reported why.

static bool step_open(struct child *child) {
    const char *missing = cuda_api_load(&child->api, child->request->library, child->arena);
    if (missing == NULL) return true;
    send_text(child, RECORD_UNAVAILABLE, missing, strlen(missing));
    return false;
}

static uint64_t device_attribute(struct child *child, int attribute) {
    int value = 0;
    return child->api.cuDeviceGetAttribute(&value, attribute, child->device) == 0 && value > 0
               ? (uint64_t)value
               : 0;
}

static void send_device(struct child *child) {
    struct record record = record_of(child, RECORD_DEVICE);
    int cuda = 0;
    if (child->api.cuDeviceGetName(record.text, RECORD_TEXT - 1, child->device) != 0) record.text[0] = 0;
    record.text_size = (uint16_t)strnlen(record.text, RECORD_TEXT);
    record.values[0] = device_attribute(child, DRV_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    record.values[1] = device_attribute(child, DRV_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    record.values[2] = device_attribute(child, DRV_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    if (child->api.cuDriverGetVersion(&cuda) == 0) record.values[3] = (uint64_t)cuda;
    record.values[4] =
        device_attribute(child, DRV_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    child_send(child, &record);
}

static bool step_device(struct child *child) {
    struct cuda_api *api = &child->api;
    int count = 0;
    int result = api->cuInit(0);
    if (result != 0) return unavailable(child, "cuInit", result);
    result = api->cuDeviceGetCount(&count);
    if (result != 0) return unavailable(child, "cuDeviceGetCount", result);
    if (child->request->device >= count) {
        struct str text = str_format(child->arena, "there is no CUDA device %d, only %d",
                                     child->request->device, count);
        send_text(child, RECORD_UNAVAILABLE, text.data, text.len);
        return false;
    }
    result = api->cuDeviceGet(&child->device, child->request->device);
    if (result != 0) return unavailable(child, "cuDeviceGet", result);
    send_device(child);
    if (child->request->probe) return false;
    struct drv_context *context = NULL;
    result = api->cuDevicePrimaryCtxRetain(&context, child->device);
    if (result != 0) return child_fail_call(child, "cuDevicePrimaryCtxRetain", result);
    result = api->cuCtxSetCurrent(context);
    return result == 0 || child_fail_call(child, "cuCtxSetCurrent", result);
}

static void send_log(struct child *child, enum record_kind kind, const char *log) {
    size_t size = strnlen(log, LOG_SIZE);
    for (size_t at = 0; at < size; at += RECORD_TEXT)
        send_text(child, kind, log + at, size - at);
}

static bool step_load(struct child *child) {
    char *error = arena_array(child->arena, char, LOG_SIZE);
    char *info = arena_array(child->arena, char, LOG_SIZE);
    int options[] = {DRV_CU_JIT_ERROR_LOG_BUFFER, DRV_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                     DRV_CU_JIT_INFO_LOG_BUFFER, DRV_CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    // Sizes are passed in the pointer itself (CUDA Driver API, cuModuleLoadDataEx).
    void *size = (void *)(uintptr_t)(LOG_SIZE - 1);
    void *values[] = {error, size, info, size};
    int result = child->api.cuModuleLoadDataEx(&child->module, child->request->ptx, 4, options, values);
    send_log(child, RECORD_ERROR_LOG, error);
    send_log(child, RECORD_INFO_LOG, info);
    return result == 0 || answer(child, STEP_LOAD, result);
}

static bool step_get_function(struct child *child) {
    int result = child->api.cuModuleGetFunction(&child->function, child->module, child->request->kernel);
    return result == 0 || answer(child, STEP_GET_FUNCTION, result);
}

// cuFuncSetAttribute takes an int: what is beyond is passed as -1, so that it stays wrong.
static int to_int(uint64_t value) { return value > INT32_MAX ? -1 : (int)value; }
// cuLaunchKernel takes unsigned: what is beyond stays too large, and is not cut to what may pass.
static unsigned to_unsigned(uint64_t value) { return value > UINT32_MAX ? UINT32_MAX : (unsigned)value; }

static bool step_set_attribute(struct child *child) {
    const struct driver_request *request = child->request;
    int result = 0;
    if (request->has_optin)
        result = child->api.cuFuncSetAttribute(child->function,
                                               DRV_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                               to_int(request->optin));
    if (result == 0 && request->nonportable)
        result = child->api.cuFuncSetAttribute(
            child->function, DRV_CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    return result == 0 || answer(child, STEP_SET_ATTRIBUTE, result);
}

static void send_attributes(struct child *child) {
    static const int attributes[ATTRIBUTE_COUNT] = {
        [ATTRIBUTE_MAX_THREADS] = DRV_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        [ATTRIBUTE_SHARED] = DRV_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
        [ATTRIBUTE_CONST] = DRV_CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
        [ATTRIBUTE_LOCAL] = DRV_CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
        [ATTRIBUTE_REGS] = DRV_CU_FUNC_ATTRIBUTE_NUM_REGS,
        [ATTRIBUTE_PTX] = DRV_CU_FUNC_ATTRIBUTE_PTX_VERSION,
        [ATTRIBUTE_BINARY] = DRV_CU_FUNC_ATTRIBUTE_BINARY_VERSION,
        [ATTRIBUTE_MAX_DYNAMIC] = DRV_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        [ATTRIBUTE_CLUSTER_MUST_BE_SET] = DRV_CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET,
        [ATTRIBUTE_CLUSTER_WIDTH] = DRV_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
        [ATTRIBUTE_CLUSTER_HEIGHT] = DRV_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
        [ATTRIBUTE_CLUSTER_DEPTH] = DRV_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH,
        [ATTRIBUTE_NONPORTABLE] = DRV_CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
    };
    for (uint32_t i = 0; i < ATTRIBUTE_COUNT; i++) {
        int value = 0;
        if (child->api.cuFuncGetAttribute(&value, attributes[i], child->function) == 0)
            send_number(child, RECORD_ATTRIBUTE, i, (uint64_t)(int64_t)value);
    }
}

// Until the driver says that there is no such parameter: it has no call for how many there are.
static void send_params(struct child *child) {
    if (child->api.cuFuncGetParamInfo == NULL) return;
    struct record record = record_of(child, RECORD_PARAM);
    for (uint32_t i = 0; i < 4096; i++) {
        size_t offset = 0, size = 0;
        int result = child->api.cuFuncGetParamInfo(child->function, i, &offset, &size);
        if (result == RESULT_CUDA_ERROR_INVALID_VALUE) {
            send_number(child, RECORD_PARAMS_END, 0, i);
            return;
        }
        if (result != 0) return;
        record.index = i;
        record.values[0] = offset;
        record.values[1] = size;
        child_send(child, &record);
    }
}

static bool block_threads(const uint64_t block[3], int *threads) {
    uint64_t product;
    if (!mul_u64(block[0], block[1], &product) || !mul_u64(product, block[2], &product)) return false;
    *threads = (int)product;
    return product > 0 && product <= 1024;
}

static void send_occupancy(struct child *child) {
    int threads, blocks = 0;
    if (child->api.cuOccupancyMaxActiveBlocksPerMultiprocessor == NULL ||
        !block_threads(child->request->block, &threads))
        return;
    if (child->api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, child->function, threads,
                                                               child->request->shared) == 0)
        send_number(child, RECORD_OCCUPANCY, 0, (uint64_t)(int64_t)blocks);
}

static bool step_query(struct child *child) {
    send_attributes(child);
    send_params(child);
    send_occupancy(child);
    return !child->request->query;
}

// ---------------------------------------------------------------------------------------------
// Arguments

static uint64_t host_memory(struct child *child) {
    return (uint64_t)(uintptr_t)arena_calloc(child->arena, 1, 64 * 1024, 64);
}

static const struct child_buffer *buffer_of(const struct child *child, uint32_t arg) {
    for (uint32_t i = 0; i < child->buffers.n; i++)
        if (child->buffers.at[i].arg == arg) return &child->buffers.at[i];
    return NULL;
}

static bool encode_tensor(struct child *child, uint32_t index, void *storage) {
    const struct driver_tensor *tensor = &child->request->args.at[index].tensor;
    const uint32_t ones[5] = {1, 1, 1, 1, 1};
    const struct child_buffer *buffer = buffer_of(child, index);
    if (buffer == NULL) return true;  // not described: zeros
    if (child->api.cuTensorMapEncodeTiled == NULL)
        return child_fail(child, "this driver has no cuTensorMapEncodeTiled");
    int result = child->api.cuTensorMapEncodeTiled(
        storage, tensor->type, tensor->rank, (void *)(uintptr_t)buffer->address, tensor->dims,
        tensor->strides, tensor->box, ones, DRV_CU_TENSOR_MAP_INTERLEAVE_NONE, tensor->swizzle,
        DRV_CU_TENSOR_MAP_L2_PROMOTION_NONE, DRV_CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return result == 0 || child_fail_call(child, "cuTensorMapEncodeTiled", result);
}

// Writes what the parameter receives.
static bool argument_store(struct child *child, uint32_t index, unsigned char *storage) {
    const struct driver_arg *arg = &child->request->args.at[index];
    uint64_t address = 0;
    switch ((enum driver_arg_kind)arg->kind) {
    case DRIVER_ARG_VALUE:
        if (arg->bytes != NULL) memcpy(storage, arg->bytes, arg->size);
        return true;
    case DRIVER_ARG_BUFFER: address = buffer_of(child, index)->address; break;
    case DRIVER_ARG_HOST: address = host_memory(child); break;
    case DRIVER_ARG_TENSORMAP:
        return encode_tensor(child, index, storage);
    }
    memcpy(storage, &address, arg->size < sizeof address ? arg->size : sizeof address);
    return true;
}

// `count` pointers right before a page that cannot be read: a driver that reads past them stops
// there and then, rather than at whatever comes next.
static void **array_at_page_end(size_t count) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t size = (count * sizeof(void *) + page - 1) / page * page + page;
    unsigned char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + size - page, page, PROT_NONE) != 0) return NULL;
    return (void **)(void *)(pages + size - page - count * sizeof(void *));
}

static bool make_params(struct child *child) {
    const struct driver_request *request = child->request;
    if (request->null_params || request->args.n == 0) return true;
    child->params = array_at_page_end(request->args.n);
    if (child->params == NULL) return child_fail(child, "no memory for the arguments");
    for (uint32_t i = 0; i < request->args.n; i++) {
        // A parameter may be wider than what is given for it: what stands behind is zero.
        unsigned char *storage = arena_calloc(child->arena, 1, (size_t)request->args.at[i].size + 128, 64);
        storage += (128 - (uintptr_t)storage % 128) % 128;
        child->params[i] = storage;
        if (!argument_store(child, i, storage)) return false;
    }
    return true;
}

static bool make_packed(struct child *child) {
    const struct driver_request *request = child->request;
    uint64_t end = request->packed_size;
    for (uint32_t i = 0; i < request->args.n; i++)
        if (request->args.at[i].offset + request->args.at[i].size > end)
            end = request->args.at[i].offset + request->args.at[i].size;
    if (end > (64u << 20)) return child_fail(child, "a packed buffer of that size is not made");
    unsigned char *buffer = arena_calloc(child->arena, 1, (size_t)end + 64, 64);
    for (uint32_t i = 0; i < request->args.n; i++)
        if (!argument_store(child, i, buffer + request->args.at[i].offset)) return false;
    child->packed_size = (size_t)request->packed_size;
    child->extra = arena_array(child->arena, void *, 5);
    child->extra[0] = DRV_LAUNCH_PARAM_BUFFER_POINTER;
    child->extra[1] = buffer;
    child->extra[2] = DRV_LAUNCH_PARAM_BUFFER_SIZE;
    child->extra[3] = &child->packed_size;
    child->extra[4] = DRV_LAUNCH_PARAM_END;
    return true;
}

static bool step_buffers(struct child *child) {
    return child_make_buffers(child) &&
           (child->request->packed ? make_packed(child) : make_params(child));
}

// ---------------------------------------------------------------------------------------------
// Launch

static unsigned launch_attributes(const struct driver_request *request,
                                  struct drv_launch_attribute attributes[3]) {
    unsigned n = 0;
    memset(attributes, 0, 3 * sizeof *attributes);
    if (request->has_cluster) {
        attributes[n].id = DRV_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        for (int i = 0; i < 3; i++) attributes[n].value.cluster[i] = to_unsigned(request->cluster[i]);
        n++;
    }
    if (request->cooperative) {
        attributes[n].id = DRV_CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        attributes[n++].value.cooperative = 1;
    }
    if (request->pdl) {
        attributes[n].id = DRV_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        attributes[n++].value.programmatic = 1;
    }
    return n;
}

static int launch_once(struct child *child) {
    const struct driver_request *request = child->request;
    struct drv_launch_attribute attributes[3];
    struct drv_launch_config config = {.shared = to_unsigned(request->shared), .attributes = attributes};
    config.attribute_count = launch_attributes(request, attributes);
    for (int i = 0; i < 3; i++) {
        config.grid[i] = to_unsigned(request->grid[i]);
        config.block[i] = to_unsigned(request->block[i]);
    }
    if (config.attribute_count > 0)
        return child->api.cuLaunchKernelEx(&config, child->function, child->params, child->extra);
    return child->api.cuLaunchKernel(child->function, config.grid[0], config.grid[1], config.grid[2],
                                     config.block[0], config.block[1], config.block[2],
                                     config.shared, NULL, child->params, child->extra);
}

static void make_events(struct child *child) {
    child->times = arena_array(child->arena, double, child->request->repeat);
    if (child->api.cuEventCreate(&child->start, 0) != 0 || child->api.cuEventCreate(&child->end, 0) != 0)
        child->start = NULL;
}

static int launch_timed(struct child *child) {
    if (child->start != NULL && child->api.cuEventRecord(child->start, NULL) != 0) child->start = NULL;
    int result = launch_once(child);
    if (result == 0 && child->start != NULL && child->api.cuEventRecord(child->end, NULL) != 0)
        child->start = NULL;
    return result;
}

static bool step_launch(struct child *child) {
    if (child->api.cuLaunchKernelEx == NULL &&
        (child->request->has_cluster || child->request->cooperative || child->request->pdl))
        return child_fail(child, "this driver has no cuLaunchKernelEx, which launch attributes need");
    make_events(child);
    int result = launch_timed(child);
    return result == 0 || answer(child, STEP_LAUNCH, result);
}

static int synchronize(struct child *child) {
    int result = child->api.cuCtxSynchronize();
    float milliseconds;
    if (result == 0 && child->start != NULL &&
        child->api.cuEventElapsedTime(&milliseconds, child->start, child->end) == 0)
        child->times[child->time_count++] = (double)milliseconds;
    return result;
}

static int compare_times(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void send_time(struct child *child) {
    if (child->time_count == 0) return;
    qsort(child->times, child->time_count, sizeof *child->times, compare_times);
    double median = child->times[child->time_count / 2];
    uint64_t bits;
    memcpy(&bits, &median, sizeof bits);
    send_number(child, RECORD_TIME, 0, bits);
}

static bool step_run(struct child *child) {
    int result = synchronize(child);
    for (uint32_t i = 1; result == 0 && i < child->request->repeat; i++) {
        send_step(child, STEP_RUN);  // the time limit starts anew
        result = launch_timed(child);
        if (result != 0) return answer(child, STEP_LAUNCH, result);
        result = synchronize(child);
    }
    if (result != 0) return answer(child, STEP_RUN, result);
    send_time(child);
    return true;
}

static bool step_check(struct child *child) {
    return child_check_canaries(child) && answer(child, STEP_RUN, RESULT_CUDA_SUCCESS);
}

static bool (*const steps[STEP_COUNT])(struct child *) = {
    [STEP_OPEN] = step_open, [STEP_DEVICE] = step_device, [STEP_LOAD] = step_load,
    [STEP_GET_FUNCTION] = step_get_function, [STEP_SET_ATTRIBUTE] = step_set_attribute,
    [STEP_QUERY] = step_query, [STEP_BUFFERS] = step_buffers, [STEP_LAUNCH] = step_launch,
    [STEP_RUN] = step_run, [STEP_CHECK] = step_check,
};

void child_run(const struct driver_request *request, struct arena *arena, int fd) {
    struct child child = {.request = request, .arena = arena, .fd = fd};
    for (enum driver_step step = 0; step < STEP_COUNT; step++) {
        send_step(&child, step);
        if (!steps[step](&child)) break;
    }
    fflush(NULL);  // what the kernel printed
    struct record record = record_of(&child, RECORD_DONE);
    child_send(&child, &record);
}
