// A libcuda.so.1 without a GPU, for tests: device memory is host memory at addresses that fault
// where they are not mapped, a launch does what the script says. Environment:
//
//   FAKE_CUDA        CALL=ACTION;...  where CALL is a name, a name with #N (its N-th call, from 1),
//                    or @N (the N-th call of all), and ACTION a CUresult number, or
//                    hang, slow (0.3 s), segv, abort, exit, fork (leaves a process behind), garbage
//                    also: devices=N  log=TEXT (the JIT's, `|` for a new line, `~` for `;`)  regs=N  shared=N
//                    params=OFFSET:SIZE,...  write=ARGUMENT:OFFSET (a byte that the launch writes)
//                    print=TEXT
//   FAKE_CUDA_TRACE  a file to which each call's name is appended
//
// Built with FAKE_OLD it has neither cuGetProcAddress nor the calls that are not needed.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GRANULE (2u << 20)
#define EXPORT __attribute__((visibility("default")))

// The value of `key` in the script; NULL when it is not there. Not NUL-terminated: up to `;`.
static const char *script(const char *key) {
    const char *at = getenv("FAKE_CUDA");
    size_t size = strlen(key);
    while (at != NULL && *at != 0) {
        if (strncmp(at, key, size) == 0 && at[size] == '=') return at + size + 1;
        at = strchr(at, ';');
        if (at != NULL) at++;
    }
    return NULL;
}

static long script_number(const char *key, long otherwise) {
    const char *value = script(key);
    return value != NULL ? strtol(value, NULL, 0) : otherwise;
}

static void trace(const char *name) {
    const char *path = getenv("FAKE_CUDA_TRACE");
    if (path == NULL) return;
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0) return;
    if (write(fd, name, strlen(name)) < 0 || write(fd, "\n", 1) < 0) _exit(9);
    close(fd);
}

// Writes to every descriptor above the standard ones: whoever listens gets nonsense.
static void garble(void) {
    char bytes[1000];
    memset(bytes, 'x', sizeof bytes);
    for (int fd = 3; fd < 64; fd++)
        if (write(fd, bytes, sizeof bytes) < 0) continue;
}

static int act(const char *action) {
    if (strncmp(action, "hang", 4) == 0)
        for (;;) pause();
    if (strncmp(action, "slow", 4) == 0) usleep(300 * 1000);
    if (strncmp(action, "segv", 4) == 0) raise(SIGSEGV);
    if (strncmp(action, "abort", 5) == 0) abort();
    if (strncmp(action, "exit", 4) == 0) _exit(3);
    if (strncmp(action, "fork", 4) == 0 && fork() == 0)
        for (;;) pause();
    if (strncmp(action, "garbage", 7) == 0) garble();
    return atoi(action);
}

// What the script wants of this call; 0 when nothing.
static int called(const char *name, unsigned *count) {
    static unsigned calls;
    char key[96];
    const char *action;
    trace(name);
    snprintf(key, sizeof key, "@%u", ++calls);
    if ((action = script(key)) != NULL) return act(action);
    snprintf(key, sizeof key, "%s#%u", name, ++*count);
    if ((action = script(key)) != NULL) return act(action);
    return (action = script(name)) != NULL ? act(action) : 0;
}

#define BEGIN(name)                         \
    static unsigned count_of_calls;         \
    int scripted = called(#name, &count_of_calls); \
    if (scripted != 0) return scripted

EXPORT int cuInit(unsigned flags) {
    BEGIN(cuInit);
    return flags == 0 ? 0 : 1;
}
EXPORT int cuDriverGetVersion(int *version) {
    BEGIN(cuDriverGetVersion);
    *version = 13000;
    return 0;
}
EXPORT int cuDeviceGetCount(int *count) {
    BEGIN(cuDeviceGetCount);
    *count = (int)script_number("devices", 1);
    return 0;
}
EXPORT int cuDeviceGet(int *device, int ordinal) {
    BEGIN(cuDeviceGet);
    *device = ordinal;
    return 0;
}
EXPORT int cuDeviceGetName(char *name, int size, int device) {
    BEGIN(cuDeviceGetName);
    snprintf(name, (size_t)size, "NVIDIA H200%s", device == 0 ? "" : " another");
    return 0;
}
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device) {
    BEGIN(cuDeviceGetAttribute);
    (void)device;
    switch (attribute) {
    case 75: *value = 9; break;
    case 76: *value = 0; break;
    case 16: *value = 132; break;
    case 97: *value = 232448; break;
    default: *value = 1;
    }
    return 0;
}
EXPORT int cuDevicePrimaryCtxRetain(void **context, int device) {
    BEGIN(cuDevicePrimaryCtxRetain);
    (void)device;
    *context = (void *)8;
    return 0;
}
EXPORT int cuCtxSetCurrent(void *context) {
    BEGIN(cuCtxSetCurrent);
    return context == (void *)8 ? 0 : 201;
}
EXPORT int cuCtxSynchronize(void) {
    BEGIN(cuCtxSynchronize);
    return 0;
}

static const char *image_text;

static void put_log(unsigned n, const int *options, void **values) {
    const char *log = script("log");
    for (unsigned i = 0; log != NULL && i < n; i++) {
        if (options[i] != 5) continue;
        char *to = values[i];
        for (; *log != 0 && *log != ';'; log++) *to++ = (char)(*log == '|' ? '\n' : *log == '~' ? ';' : *log);
        *to = 0;
    }
}

EXPORT int cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options,
                              void **values) {
    put_log(n, options, values);
    BEGIN(cuModuleLoadDataEx);
    image_text = image;
    *module = (void *)16;
    return strstr(image_text, ".version") != NULL ? 0 : 200;
}
EXPORT int cuModuleGetFunction(void **function, void *module, const char *name) {
    BEGIN(cuModuleGetFunction);
    *function = (void *)24;
    if (module != (void *)16) return 400;
    return strstr(image_text, name) != NULL ? 0 : 500;
}
EXPORT int cuFuncGetAttribute(int *value, int attribute, void *function) {
    BEGIN(cuFuncGetAttribute);
    if (function != (void *)24) return 400;
    *value = 0;
    if (attribute == 0) *value = 1024;
    if (attribute == 1) *value = (int)script_number("shared", 0);
    if (attribute == 4) *value = (int)script_number("regs", 16);
    return 0;
}
EXPORT int cuFuncSetAttribute(void *function, int attribute, int value) {
    BEGIN(cuFuncSetAttribute);
    if (function != (void *)24) return 400;
    return attribute == 8 && (value < 0 || value > 232448) ? 1 : 0;
}
EXPORT int cuMemAlloc_v2(uint64_t *address, size_t size) {
    BEGIN(cuMemAlloc);
    void *memory = aligned_alloc(256, (size + 255) / 256 * 256);
    *address = (uint64_t)(uintptr_t)memory;
    return memory != NULL ? 0 : 2;
}
EXPORT int cuMemsetD8_v2(uint64_t address, unsigned char value, size_t count) {
    BEGIN(cuMemsetD8);
    memset((void *)(uintptr_t)address, value, count);
    return 0;
}
EXPORT int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size) {
    BEGIN(cuMemcpyHtoD);
    memcpy((void *)(uintptr_t)to, from, size);
    return 0;
}
EXPORT int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size) {
    BEGIN(cuMemcpyDtoH);
    memcpy(to, (void *)(uintptr_t)from, size);
    return 0;
}
EXPORT int cuEventCreate(void **event, unsigned flags) {
    BEGIN(cuEventCreate);
    (void)flags;
    *event = (void *)32;
    return 0;
}
EXPORT int cuEventRecord(void *event, void *stream) {
    BEGIN(cuEventRecord);
    (void)stream;
    return event == (void *)32 ? 0 : 400;
}
EXPORT int cuEventElapsedTime(float *milliseconds, void *start, void *end) {
    static int n;
    BEGIN(cuEventElapsedTime);
    *milliseconds = (float)++n;
    return start == end ? 0 : 400;
}

static int run(unsigned threads, void **params, void **extra) {
    const char *place = script("write"), *print = script("print");
    if (threads == 0 || threads > 1024) return 1;
    if (place != NULL) {
        char *end;
        long argument = strtol(place, &end, 0), offset = strtol(end + 1, NULL, 0);
        unsigned char *buffer;
        const void *at = params != NULL ? params[argument] : (char *)extra[1] + 8 * argument;
        memcpy(&buffer, at, sizeof buffer);
        buffer[offset] = 1;
    }
    if (print != NULL) printf("%.*s\n", (int)strcspn(print, ";"), print);
    return 0;
}

EXPORT int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared, void *stream, void **params,
                          void **extra) {
    BEGIN(cuLaunchKernel);
    (void)shared, (void)stream;
    if (function != (void *)24) return 400;
    return gx * gy * gz == 0 ? 1 : run(bx * by * bz, params, extra);
}

#ifndef FAKE_OLD
struct config { unsigned grid[3], block[3], shared; void *stream, *attributes; unsigned count; };

EXPORT int cuLaunchKernelEx(const struct config *config, void *function, void **params, void **extra) {
    BEGIN(cuLaunchKernelEx);
    const unsigned *block = config->block;
    if (function != (void *)24 || config->count == 0) return 400;
    return run(block[0] * block[1] * block[2], params, extra);
}
EXPORT int cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *size) {
    BEGIN(cuFuncGetParamInfo);
    const char *at = script("params");
    if (function != (void *)24) return 400;
    for (size_t i = 0; at != NULL && *at != 0 && *at != ';'; i++) {
        char *end;
        *offset = strtoul(at, &end, 0);
        *size = strtoul(end + 1, &end, 0);
        if (i == index) return 0;
        at = *end == ',' ? end + 1 : NULL;
    }
    return 1;
}
EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int size,
                                                       size_t shared) {
    BEGIN(cuOccupancyMaxActiveBlocksPerMultiprocessor);
    (void)function, (void)shared;
    *blocks = 2048 / size < 32 ? 2048 / size : 32;
    return 0;
}
EXPORT int cuMemGetAllocationGranularity(size_t *granularity, const void *prop, int option) {
    BEGIN(cuMemGetAllocationGranularity);
    (void)prop, (void)option;
    *granularity = GRANULE;
    return 0;
}
EXPORT int cuMemAddressReserve(uint64_t *address, size_t size, size_t alignment, uint64_t wanted,
                               unsigned long long flags) {
    BEGIN(cuMemAddressReserve);
    (void)wanted, (void)flags;
    unsigned char *at = mmap(NULL, size + alignment, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return 2;
    *address = ((uint64_t)(uintptr_t)at + alignment - 1) / alignment * alignment;
    return 0;
}
EXPORT int cuMemCreate(unsigned long long *handle, size_t size, const void *prop,
                       unsigned long long flags) {
    BEGIN(cuMemCreate);
    (void)prop, (void)flags;
    if (size > (size_t)1 << 30) return 2;
    *handle = size;
    return size % GRANULE == 0 ? 0 : 1;
}
EXPORT int cuMemMap(uint64_t address, size_t size, size_t offset, unsigned long long handle,
                    unsigned long long flags) {
    BEGIN(cuMemMap);
    (void)flags;
    return address % GRANULE == 0 && size == handle && offset == 0 ? 0 : 1;
}
EXPORT int cuMemSetAccess(uint64_t address, size_t size, const void *access, size_t count) {
    BEGIN(cuMemSetAccess);
    (void)access, (void)count;
    return mprotect((void *)(uintptr_t)address, size, PROT_READ | PROT_WRITE) == 0 ? 0 : 1;
}
EXPORT int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address,
                                  const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                                  const uint32_t *element_strides, int interleave, int swizzle,
                                  int promotion, int fill) {
    BEGIN(cuTensorMapEncodeTiled);
    (void)type, (void)dims, (void)strides, (void)box, (void)element_strides, (void)interleave;
    (void)swizzle, (void)promotion, (void)fill;
    memcpy(map, &address, sizeof address);
    return rank >= 1 && rank <= 5 && (uintptr_t)map % 64 == 0 ? 0 : 1;
}

#define FUNCTION(name, symbol, version, needed, parameters) {#name, (void *)symbol},
static const struct { const char *name; void *address; } exported[] = {
#include "driver/functions.def"
};
EXPORT int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                               int *status) {
    BEGIN(cuGetProcAddress_v2);
    (void)version, (void)flags, (void)status;
    *function = NULL;
    for (size_t i = 0; i < sizeof exported / sizeof *exported; i++)
        if (strcmp(exported[i].name, symbol) == 0) *function = exported[i].address;
    return *function != NULL ? 0 : 500;
}
#endif
