// Device buffers that catch mistakes: one side at unmapped address space, canaries on what is left.
#include "base/checked.h"
#include "driver/child.h"

#define CANARY 0xA5
#define CHUNK (1u << 20)
#define FIRST_ADDRESS ((uint64_t)16 << 40)  // below a host's libraries and stacks, above its heap
#define APART ((uint64_t)64 << 30)
#define EXACT_BELOW 256u    // alignments that instructions can tell apart
#define UNSTATED_ALIGN 16u  // of the widest access below sm_100; a stated one replaces it

// The least bytes to leave behind a buffer of `size` bytes that ends at a granule, so that it is aligned.
static uint64_t slack_behind(uint64_t size, uint64_t align) {
    if (align == 0 || align >= EXACT_BELOW) {
        if (align == 0) align = UNSTATED_ALIGN;
        return (align - size % align) % align;
    }
    uint64_t twice = 2 * align;
    return (twice - (size + align) % twice) % twice;
}

uint64_t driver_place(enum driver_memory memory, uint64_t mapped, uint64_t size, uint64_t align) {
    if (memory == MEMORY_GUARD_END) return mapped - size - slack_behind(size, align);
    return align < EXACT_BELOW ? align : 0;
}

// ---------------------------------------------------------------------------------------------
// Allocation

static struct drv_allocation_prop device_memory(const struct child *child) {
    return (struct drv_allocation_prop){
        .type = DRV_CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {DRV_CU_MEM_LOCATION_TYPE_DEVICE, child->device}};
}

static bool too_large(struct child *child, uint32_t arg, uint64_t size) {
    return child_fail(child, "the buffer of argument %u, %llu bytes, does not fit an address space",
                      arg + 1, (unsigned long long)size);
}

static bool buffer_fail(struct child *child, uint32_t arg, uint64_t size, const char *call,
                        int result) {
    const char *name = result_text(result);
    return child_fail(child, "the buffer of argument %u, %llu bytes: %s answered %s (%d)", arg + 1,
                      (unsigned long long)size, call, name != NULL ? name : "CUresult", result);
}

static bool has_guard_calls(const struct cuda_api *api) {
    return api->cuMemGetAllocationGranularity != NULL && api->cuMemAddressReserve != NULL &&
           api->cuMemCreate != NULL && api->cuMemMap != NULL && api->cuMemSetAccess != NULL;
}

// Buffers lie far apart, so that no access astray from one meets another: the launch that was judged
// had each by itself. The driver may put them elsewhere where this address is taken.
static uint64_t wanted_address(uint32_t arg) { return FIRST_ADDRESS + (uint64_t)(arg % 512) * APART; }

// Maps `size` bytes with a granule of unmapped address space on either side.
static bool map_between(struct child *child, uint32_t arg, uint64_t size, uint64_t granule,
                        uint64_t *address) {
    struct cuda_api *api = &child->api;
    struct drv_allocation_prop prop = device_memory(child);
    struct drv_access access = {prop.location, DRV_CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    unsigned long long handle = 0;
    uint64_t base = 0;
    int result = api->cuMemAddressReserve(&base, size + 2 * granule, granule, wanted_address(arg), 0);
    if (result != 0) result = api->cuMemAddressReserve(&base, size + 2 * granule, granule, 0, 0);
    if (result != 0) return buffer_fail(child, arg, size, "cuMemAddressReserve", result);
    result = api->cuMemCreate(&handle, size, &prop, 0);
    if (result != 0) return buffer_fail(child, arg, size, "cuMemCreate", result);
    result = api->cuMemMap(base + granule, size, 0, handle, 0);
    if (result != 0) return buffer_fail(child, arg, size, "cuMemMap", result);
    result = api->cuMemSetAccess(base + granule, size, &access, 1);
    if (result != 0) return buffer_fail(child, arg, size, "cuMemSetAccess", result);
    *address = base + granule;
    return true;
}

static bool allocate_guarded(struct child *child, const struct driver_arg *arg,
                             struct child_buffer *buffer) {
    struct drv_allocation_prop prop = device_memory(child);
    size_t granule = 0;
    uint64_t room = arg->align < EXACT_BELOW ? 2 * EXACT_BELOW : arg->align, total;
    if (!has_guard_calls(&child->api))
        return child_fail(child, "this driver has no virtual memory management; use --memory=plain");
    int result = child->api.cuMemGetAllocationGranularity(&granule, &prop,
                                                          DRV_CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result != 0)
        return buffer_fail(child, buffer->arg, buffer->size, "cuMemGetAllocationGranularity", result);
    if (!is_power_of_two(granule)) return child_fail(child, "granules of %zu bytes", granule);
    if (arg->align > granule)
        return child_fail(child, "argument %u: an alignment above %zu bytes cannot be made",
                          buffer->arg + 1, granule);
    if (child->request->memory == MEMORY_GUARD_END) room = slack_behind(buffer->size, arg->align);
    if (!add_u64(buffer->size, room, &total) || !align_u64(total, granule, &total) ||
        !add_u64(total, 2 * granule, &room))
        return too_large(child, buffer->arg, buffer->size);
    if (total == 0) total = granule;
    if (!map_between(child, buffer->arg, total, granule, &buffer->mapped)) return false;
    buffer->mapped_size = total;
    buffer->address = buffer->mapped + driver_place((enum driver_memory)child->request->memory, total,
                                                    buffer->size, arg->align);
    return true;
}

// An ordinary allocation: what lies behind it is the allocator's business.
static bool allocate_plain(struct child *child, const struct driver_arg *arg,
                           struct child_buffer *buffer) {
    uint64_t before = arg->align;
    if (!add_u64(buffer->size, before, &buffer->mapped_size))
        return too_large(child, buffer->arg, buffer->size);
    if (buffer->mapped_size == 0) buffer->mapped_size = 1;
    int result = child->api.cuMemAlloc(&buffer->mapped, buffer->mapped_size);
    if (result != 0) return buffer_fail(child, buffer->arg, buffer->size, "cuMemAlloc", result);
    buffer->address = buffer->mapped;  // a multiple of 256 (CUDA C++ Programming Guide, 5.3.2)
    if (arg->align >= EXACT_BELOW && !align_u64(buffer->mapped, arg->align, &buffer->address))
        return too_large(child, buffer->arg, buffer->size);
    if (arg->align > 0 && arg->align < EXACT_BELOW) buffer->address += arg->align;
    return true;
}

// ---------------------------------------------------------------------------------------------
// Contents

static bool fill(struct child *child, const struct driver_arg *arg, const struct child_buffer *buffer) {
    if (buffer->size == 0) return true;
    if (arg->contents == CONTENTS_UNKNOWN || arg->contents == CONTENTS_ZERO) {
        int result = child->api.cuMemsetD8(buffer->address, 0, buffer->size);
        return result == 0 || buffer_fail(child, buffer->arg, buffer->size, "cuMemsetD8", result);
    }
    uint8_t *bytes = arena_alloc(child->arena, CHUNK, 64);
    for (uint64_t at = 0; at < buffer->size; at += CHUNK) {
        uint64_t size = buffer->size - at < CHUNK ? buffer->size - at : CHUNK;
        driver_contents(arg, at, bytes, size);
        int result = child->api.cuMemcpyHtoD(buffer->address + at, bytes, size);
        if (result != 0) return buffer_fail(child, buffer->arg, buffer->size, "cuMemcpyHtoD", result);
    }
    return true;
}

static void send_buffer(struct child *child, const struct child_buffer *buffer) {
    struct record record = {.kind = RECORD_BUFFER, .step = (uint32_t)child->step, .index = buffer->arg};
    uint64_t behind = buffer->mapped + buffer->mapped_size - buffer->address - buffer->size;
    record.values[0] = buffer->address;
    record.values[1] = buffer->size;
    record.values[2] = child->request->memory == MEMORY_GUARD_END ? behind
                                                                  : buffer->address - buffer->mapped;
    child_send(child, &record);
}

static bool make_buffer(struct child *child, uint32_t index) {
    const struct driver_arg *arg = &child->request->args.at[index];
    struct child_buffer *buffer = vec_push(child->arena, &child->buffers);
    buffer->arg = index;
    buffer->size = arg->buffer_size;
    bool made = child->request->memory == MEMORY_PLAIN ? allocate_plain(child, arg, buffer)
                                                       : allocate_guarded(child, arg, buffer);
    if (!made) return false;
    int result = child->api.cuMemsetD8(buffer->mapped, CANARY, buffer->mapped_size);
    if (result != 0) return buffer_fail(child, index, buffer->size, "cuMemsetD8", result);
    send_buffer(child, buffer);
    return fill(child, arg, buffer);
}

bool child_make_buffers(struct child *child) {
    for (uint32_t i = 0; i < child->request->args.n; i++) {
        const struct driver_arg *arg = &child->request->args.at[i];
        bool wanted = arg->kind == DRIVER_ARG_BUFFER ||
                      (arg->kind == DRIVER_ARG_TENSORMAP && arg->tensor.rank > 0);
        if (wanted && !make_buffer(child, i)) return false;
    }
    if (child->buffers.n == 0) return true;
    int result = child->api.cuCtxSynchronize();  // trouble so far is not the launch's
    return result == 0 || child_fail_call(child, "cuCtxSynchronize after the buffers were filled", result);
}

// ---------------------------------------------------------------------------------------------
// Canaries

struct damage {
    uint64_t changed;
    uint64_t first;  // address; valid when changed > 0
};

static bool look_at(struct child *child, uint64_t address, uint64_t size, uint8_t *bytes,
                    struct damage *damage) {
    for (uint64_t at = 0; at < size; at += CHUNK) {
        size_t part = size - at < CHUNK ? (size_t)(size - at) : CHUNK;
        int result = child->api.cuMemcpyDtoH(bytes, address + at, part);
        if (result != 0) return child_fail_call(child, "cuMemcpyDtoH of the canaries", result);
        for (size_t i = 0; i < part; i++) {
            if (bytes[i] == CANARY) continue;
            if (damage->changed++ == 0) damage->first = address + at + i;
        }
    }
    return true;
}

bool child_check_canaries(struct child *child) {
    uint8_t *bytes = arena_alloc(child->arena, CHUNK, 64);
    for (uint32_t i = 0; i < child->buffers.n; i++) {
        const struct child_buffer *buffer = &child->buffers.at[i];
        uint64_t end = buffer->address + buffer->size;
        struct damage damage = {0, 0};
        if (!look_at(child, buffer->mapped, buffer->address - buffer->mapped, bytes, &damage) ||
            !look_at(child, end, buffer->mapped + buffer->mapped_size - end, bytes, &damage))
            return false;
        if (damage.changed == 0) continue;
        struct record record = {.kind = RECORD_CANARY, .step = (uint32_t)child->step,
                                .index = buffer->arg};
        record.values[0] = damage.changed;
        record.values[1] = damage.first - buffer->address;
        child_send(child, &record);
    }
    return true;
}
