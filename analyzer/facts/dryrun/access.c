// Accesses of memory: bounds and alignment, contents, what was touched, and what faults.
#include "analyzer/facts/dryrun/engine.h"

#include "base/checked.h"

// Local memory beyond the frame faults only past what a thread can have (512 KiB; CUDA C++
// Programming Guide, table of technical specifications; a step of 64 MiB was seen to fault).
#define LOCAL_REACH ((uint64_t)512 << 10)

// Offsets may be anything that 64 bits hold.
static int64_t past(int64_t offset, uint64_t bytes) {
    int64_t end;
    return __builtin_add_overflow(offset, (int64_t)bytes, &end) ? INT64_MAX : end;
}

static uint32_t first_lane(uint32_t mask) { return (uint32_t)__builtin_ctz(mask); }

// Where an address lies: a space with bounds.
struct spot {
    uint8_t space;        // enum isa_space
    uint64_t base;        // address of offset 0
    uint64_t size;        // bytes; UINT64_MAX: no limit known
    uint64_t before, end; // mapped: offsets from -before up to end
    const struct region *region;
    bool none, remote;    // nothing is there; another block's shared memory
};

static struct spot shared_place(const struct engine *engine, uint64_t window, uint64_t address, uint8_t space) {
    const struct map *map = engine->map;
    struct spot place = {.space = SPACE_SHARED, .size = map->shared_size, .end = map->shared_mapped,
                          .before = SHARED_ORIGIN};
    uint64_t rank = (address - window) >> 24;
    place.base = window + SHARED_ORIGIN;
    // Bits above 24 are a block's rank, where the space can hold one.
    if (rank != 0 && rank <= 256 && space != SPACE_SHARED) {
        place.base += rank << 24;
        place.remote = true;
    }
    return place;
}

static struct spot global_place(const struct engine *engine, uint64_t address) {
    struct spot place = {.space = SPACE_GLOBAL, .none = true};
    const struct region *region = map_region(engine->map, address);
    if (region == NULL) return place;
    place.region = region;
    place.base = region->base;
    place.size = region->size;
    place.before = region->mapped_before;
    place.end = region->mapped_end;
    if (region->size == UINT64_MAX) place.before = place.end = WINDOW_BYTES / 2;
    place.none = region->kind == REGION_HOST;
    return place;
}

static struct spot find_place(const struct engine *engine, uint8_t space, uint64_t address) {
    const struct map *map = engine->map;
    uint64_t window = 0;
    if (space == SPACE_NONE) {
        window = address & GENERIC_MASK;
        space = window == GENERIC_SHARED  ? SPACE_SHARED_CLUSTER
                : window == GENERIC_LOCAL ? SPACE_LOCAL
                : window == GENERIC_CONST ? SPACE_CONST
                : window == GENERIC_PARAM ? SPACE_PARAM
                                          : SPACE_GLOBAL;
        if (space == SPACE_GLOBAL) window = 0;
    }
    switch (space) {
    case SPACE_SHARED: case SPACE_SHARED_CLUSTER: return shared_place(engine, window, address, space);
    case SPACE_LOCAL:
        return (struct spot){.space = SPACE_LOCAL, .base = window + LOCAL_ORIGIN, .size = map->local_size,
                              .before = LOCAL_ORIGIN, .end = map->local_size + LOCAL_REACH};
    case SPACE_CONST:
        return (struct spot){.space = SPACE_CONST, .base = window,
                             .size = map->const_open ? UINT64_MAX : map->const_size, .end = UINT64_MAX / 2,
                              .before = UINT64_MAX / 2};
    case SPACE_PARAM:
        if (address - window >= PARAM_FUNC_ORIGIN && address - window < (uint64_t)1 << 40)
            return (struct spot){.space = SPACE_PARAM_FUNC, .base = window + PARAM_FUNC_ORIGIN,
                                  .size = map->private_size - map->local_size, .end = UINT64_MAX / 2,
                                  .before = UINT64_MAX / 2};
        return (struct spot){.space = SPACE_PARAM, .base = window, .size = map->param_size, .end = UINT64_MAX / 2,
                              .before = UINT64_MAX / 2};
    default: return global_place(engine, address);
    }
}

// Faults ----------------------------------------------------------------------------------------

struct dryrun_fault *fault_note(struct engine *engine, struct warp *warp, uint32_t pc, enum fault_kind kind,
                                uint32_t lanes, uint32_t doubt) {
    uint32_t *index = &engine->fault_index[(size_t)pc * FAULT_KINDS + kind];
    if (*index == 0) {
        (void)vec_push(engine->arena, &engine->fault_list);
        *index = engine->fault_list.n;
    }
    struct fault_note *note = &engine->fault_list.at[*index - 1];
    struct dryrun_fault *fault = &note->fault;
    uint32_t certain = lanes & ~doubt;
    uint8_t confidence = certain ? CONFIDENCE_CERTAIN : CONFIDENCE_POSSIBLE;
    uint32_t lane = first_lane(certain ? certain : lanes), thread = warp->index * LANES + lane;
    note->latest_first = false;
    uint64_t threads = fault->threads + engine->weight * (uint64_t)__builtin_popcount(lanes);
    int64_t furthest = fault->furthest;
    bool better = !note->used || confidence > fault->confidence ||
                  (confidence == fault->confidence &&
                   (engine->block < note->block || (engine->block == note->block && thread < note->thread)));
    if (better) {
        const struct code_insn *insn = &engine->code->insns.at[pc];
        const uint32_t *block = engine->request->block;
        bool silent = fault->silent;
        int result = fault->result;
        *fault = (struct dryrun_fault){.kind = (uint8_t)kind, .confidence = confidence, .function = insn->function,
                                       .instruction = insn->instruction, .param = NO_INDEX, .silent = silent,
                                       .result = result};
        memcpy(fault->ctaid, engine->ctaid, sizeof fault->ctaid);
        fault->tid[0] = thread % block[0];
        fault->tid[1] = thread / block[0] % block[1];
        fault->tid[2] = thread / block[0] / block[1];
        fault->furthest = furthest;
        if (!note->used) fault->silent = true, fault->furthest = INT64_MIN;
        note->block = engine->block;
        note->thread = thread;
        note->used = note->latest_first = true;
        note->lane = lane;
    }
    fault->threads = threads;
    return fault;
}

// What the device answers: each warp ends at its first fault.
void fault_kill(struct engine *engine, struct warp *warp, enum death death, uint32_t lanes, uint32_t doubt) {
    if (death == DEATH_NONE || warp->faulted || (lanes & ~doubt) == 0) return;
    warp->faulted = true;
    engine->deaths[death] += engine->weight;
}

static struct fault_note *note_of(struct engine *engine, uint32_t pc, enum fault_kind kind) {
    return &engine->fault_list.at[engine->fault_index[(size_t)pc * FAULT_KINDS + kind] - 1];
}

// One lane's access, judged.
struct verdict {
    struct spot place;
    int64_t offset;
    uint32_t width, align;
    bool outside, misaligned;
    enum death death;
};

static bool is_mapped(const struct spot *place, int64_t offset, uint64_t width) {
    if (place->none) return false;
    if (offset < 0) return 0 - (uint64_t)offset <= place->before;
    return (uint64_t)offset < place->end && place->end - (uint64_t)offset >= width;
}

// The device's answer to an access of `width` bytes at `offset`: its first byte decides whether it
// is mapped, and its alignment comes next (see shared/facts/driver, "Which answer ...").
static enum death device_answer(const struct code_access *access, const struct spot *place, uint64_t address,
                                int64_t offset, uint32_t width, uint32_t align) {
    bool misaligned = align > 1 && (address & (align - 1)) != 0;
    bool mapped = is_mapped(place, offset, access->bulk ? width : 1);
    if (!mapped) {
        bool wide = access->kind == ACCESS_OP_LOAD && width >= 8 && !access->non_coherent && !access->bulk &&
                    place->space == SPACE_GLOBAL;
        // cp.async answered now one, now the other.
        return !misaligned || !wide ? DEATH_ILLEGAL : access->sized ? DEATH_EITHER : DEATH_MISALIGNED;
    }
    return misaligned ? DEATH_MISALIGNED : DEATH_NONE;
}

static struct verdict judge(const struct engine *engine, const struct code_access *access, uint64_t address,
                            uint32_t width, uint32_t align) {
    struct verdict verdict = {.place = find_place(engine, access->space, address), .width = width, .align = align};
    const struct spot *place = &verdict.place;
    verdict.offset = (int64_t)(address - place->base);
    verdict.misaligned = align > 1 && (address & (align - 1)) != 0;
    verdict.outside = place->none || verdict.offset < 0 ||
                      (place->size != UINT64_MAX && ((uint64_t)verdict.offset > place->size ||
                                                     place->size - (uint64_t)verdict.offset < width));
    // Memory in front of a pointer of unknown extent may be its owner's too.
    if (place->size == UINT64_MAX && !place->none) verdict.outside = false;
    verdict.death = device_answer(access, place, address, verdict.offset, width, align);
    if (access->narrow_width != access->width && !access->sized) {
        uint64_t at = address + access->narrow_offset;
        verdict.death = device_answer(access, place, at, past(verdict.offset, access->narrow_offset),
                                      access->narrow_width, access->narrow_width);
    }
    if (access->removable) verdict.death = DEATH_NONE;
    return verdict;
}

static enum fault_kind outside_kind(const struct verdict *verdict) {
    switch (verdict->place.space) {
    case SPACE_SHARED: return FAULT_SHARED_BEYOND;
    case SPACE_LOCAL: return FAULT_LOCAL_BEYOND;
    case SPACE_CONST: return FAULT_CONST_BEYOND;
    case SPACE_PARAM: case SPACE_PARAM_FUNC: return FAULT_PARAM_BEYOND;
    default: break;
    }
    if (verdict->place.region != NULL && verdict->place.region->kind == REGION_HOST) return FAULT_HOST;
    // What is not in any window and small came from null.
    return verdict->place.none && (uint64_t)verdict->offset < (uint64_t)1 << 32 ? FAULT_NULL : FAULT_OUT_OF_BOUNDS;
}

static int death_result(enum death death) {
    return death == DEATH_ILLEGAL || death == DEATH_EITHER ? RESULT_CUDA_ERROR_ILLEGAL_ADDRESS
           : death == DEATH_MISALIGNED ? RESULT_CUDA_ERROR_MISALIGNED_ADDRESS : RESULT_CUDA_SUCCESS;
}

static uint32_t alignment_of(uint64_t address, uint32_t most) {
    uint64_t low = address & (0 - address);
    return low == 0 || low > most ? most : (uint32_t)low;
}

static uint32_t param_of(const struct engine *engine, const struct code_insn *insn, const struct region *region) {
    if (region != NULL && region->param != NO_INDEX) return region->param;
    uint32_t param = engine->code->slots.at[insn->a].param;
    return region == NULL && param != 0 ? param - 1 : NO_INDEX;
}

// Fills in what the first of a set of faulting lanes did.
static void describe(struct engine *engine, const struct code_insn *insn, const struct code_access *access,
                     struct dryrun_fault *fault, const struct verdict *verdict, uint64_t address) {
    const struct region *region = verdict->place.region;
    fault->space = verdict->place.space;
    fault->store = access->kind == ACCESS_OP_STORE;
    fault->atomic = access->kind == ACCESS_OP_ATOMIC || access->kind == ACCESS_OP_REDUCE;
    fault->param = param_of(engine, insn, region);
    fault->variable = region != NULL ? region->variable : NULL;
    fault->byte_offset = verdict->offset;
    fault->size = verdict->place.none ? 0 : verdict->place.size;
    fault->width = verdict->width;
    fault->removable = access->removable ||
                       (access->narrow_width != access->width && verdict->death == DEATH_NONE);
    fault->address = address;
    if (fault->kind == FAULT_MISALIGNED) {
        fault->align_needed = verdict->align;
        fault->align_found = alignment_of(address, verdict->align);
    }
}

static void note_lane(struct engine *engine, struct warp *warp, const struct code_insn *insn,
                      const struct code_access *access, const struct verdict *verdict, uint64_t address, uint32_t lane,
                      bool doubt, enum fault_kind kind, enum death death) {
    uint32_t pc = (uint32_t)(insn - engine->code->insns.at), bit = (uint32_t)1 << lane;
    struct dryrun_fault *fault = fault_note(engine, warp, pc, kind, bit, doubt ? bit : 0);
    if (note_of(engine, pc, kind)->latest_first) describe(engine, insn, access, fault, verdict, address);
    int64_t end = past(verdict->offset, verdict->width);
    if (end > fault->furthest) fault->furthest = end;
    if (death == DEATH_NONE) return;
    fault->silent = false;
    // Where lanes differ, the answer of the first that is told.
    if (fault->result == RESULT_CUDA_SUCCESS || death == DEATH_ILLEGAL) fault->result = death_result(death);
}

// What was touched ------------------------------------------------------------------------------

static struct use_note *use_of(struct engine *engine, const struct spot *place) {
    if (place->region != NULL)
        return &engine->uses[(uint32_t)(place->region - engine->map->regions.at)];
    return place->space == SPACE_SHARED && !place->remote ? &engine->uses[engine->map->regions.n] : NULL;
}

static void note_use(struct engine *engine, const struct code_access *access, const struct spot *place, int64_t low,
                     int64_t high, uint32_t align) {
    struct use_note *use = use_of(engine, place);
    if (use == NULL || access->removable) return;
    if (place->space == SPACE_SHARED) {
        low -= (int64_t)engine->map->shared_static;
        high -= (int64_t)engine->map->shared_static;
        if (high <= 0) return;
        if (low < 0) low = 0;
    }
    bool reads = access->kind != ACCESS_OP_STORE, writes = access->kind != ACCESS_OP_LOAD;
    if (reads) {
        if (!use->read || low < use->read_low) use->read_low = low;
        if (!use->read || high > use->read_high) use->read_high = high;
        use->read = true;
    }
    if (writes) {
        if (!use->written || low < use->written_low) use->written_low = low;
        if (!use->written || high > use->written_high) use->written_high = high;
        use->written = true;
    }
    if (align > use->align && place->base % align == 0) use->align = align;
}

// The alignment that an access demands of its buffer, when its offset alone does not break it.
static void note_align(struct engine *engine, const struct code_access *access, const struct spot *place,
                       int64_t offset, uint32_t align) {
    struct use_note *use = use_of(engine, place);
    if (use == NULL || access->removable || (uint64_t)offset % align != 0) return;
    if (align > use->align) use->align = align;
}

static void note_unknown(struct engine *engine, const struct code_insn *insn, uint32_t lanes) {
    engine->unknown_addresses += engine->weight * (uint64_t)__builtin_popcount(lanes);
    uint32_t param = engine->code->slots.at[insn->a].param;
    for (uint32_t r = 0; r < engine->map->regions.n; r++)
        if (param == 0 || engine->map->regions.at[r].param + 1 == param) engine->uses[r].inexact = true;
}

// Contents --------------------------------------------------------------------------------------

// Bytes that can be looked at: where they are and whether each is known.
struct bytes { uint8_t *data, *known; };

#define OVERLAY_MOST ((uint32_t)1 << 15)  // lines that a block may store

static struct overlay_line *overlay_slot(struct engine *engine, uint64_t line) {
    uint32_t mask = engine->overlay_size - 1, at = (uint32_t)((line * 0x9e3779b97f4a7c15u) >> 40) & mask;
    while (engine->overlay[at].stamp == engine->overlay_stamp && engine->overlay[at].address != line)
        at = (at + 1) & mask;
    return &engine->overlay[at];
}

static bool overlay_grow(struct engine *engine) {
    uint32_t old_size = engine->overlay == NULL ? 0 : engine->overlay_size;
    struct overlay_line *old = engine->overlay;
    if (old_size >= OVERLAY_MOST) return false;
    if (old_size != 0) engine->overlay_size = old_size * 2;
    engine->overlay = arena_array(engine->arena, struct overlay_line, engine->overlay_size);
    for (uint32_t i = 0; i < old_size; i++)
        if (old[i].stamp == engine->overlay_stamp) *overlay_slot(engine, old[i].address) = old[i];
    return true;
}

static struct overlay_line *overlay_find(struct engine *engine, uint64_t line, bool add) {
    if (engine->overlay == NULL && (!add || !overlay_grow(engine))) return NULL;
    struct overlay_line *entry = overlay_slot(engine, line);
    if (entry->stamp == engine->overlay_stamp) return entry;
    if (!add) return NULL;
    if (engine->overlay_used * 2 >= engine->overlay_size) {
        if (!overlay_grow(engine)) {
            engine->overlay_lost = true;
            return NULL;
        }
        entry = overlay_slot(engine, line);
    }
    engine->overlay_used++;
    entry->stamp = engine->overlay_stamp;
    entry->address = line;
    memset(entry->state, 0, sizeof entry->state);
    return entry;
}

static bool global_byte(struct engine *engine, const struct spot *place, int64_t offset, uint8_t *byte) {
    uint64_t address = place->base + (uint64_t)offset;
    if (engine->overlay_lost) return false;
    if (engine->overlay_used > 0) {
        const struct overlay_line *line = overlay_find(engine, address / 64, false);
        if (line != NULL && line->state[address % 64] != 0) {
            *byte = line->bytes[address % 64];
            return line->state[address % 64] == 1;
        }
    }
    const struct region *region = place->region;
    if (region == NULL || region->contents == NULL || offset < 0 || (uint64_t)offset >= region->known) return false;
    *byte = region->contents[offset];
    return true;
}

// Byte arrays behind shared, private, constant and parameter memory; data NULL: not followed.
static struct bytes bytes_at(struct engine *engine, const struct warp *warp, const struct spot *place, uint32_t lane) {
    const struct map *map = engine->map;
    struct bytes none = {NULL, NULL};
    size_t thread = (size_t)warp->index * LANES + lane;
    switch (place->space) {
    case SPACE_SHARED:
        return place->remote ? none : (struct bytes){engine->shared, engine->shared_known};
    case SPACE_LOCAL:
        if (engine->private_bytes == NULL) return none;
        return (struct bytes){engine->private_bytes + thread * map->private_size,
                              engine->private_known + thread * map->private_size};
    case SPACE_PARAM_FUNC:
        if (engine->private_bytes == NULL) return none;
        return (struct bytes){engine->private_bytes + thread * map->private_size + map->local_size,
                              engine->private_known + thread * map->private_size + map->local_size};
    case SPACE_CONST: return (struct bytes){map->const_bytes, map->const_known};
    case SPACE_PARAM: return (struct bytes){map->param_bytes, map->param_known};
    default: return none;
    }
}

// How many bytes there are behind `bytes_at`.
static uint64_t tracked(const struct engine *engine, const struct spot *place) {
    return place->space == SPACE_SHARED  ? engine->shared_bytes
           : place->space == SPACE_CONST ? engine->map->const_size
                                         : place->size;
}

static bool load_bytes(struct engine *engine, const struct warp *warp, const struct spot *place, uint32_t lane,
                       int64_t offset, uint32_t size, uint64_t *value) {
    *value = 0;
    if (place->none || offset < 0) return false;
    if (place->space == SPACE_GLOBAL) {
        const struct region *region = place->region;
        if (engine->overlay_used == 0 && !engine->overlay_lost && region->contents != NULL &&
            (uint64_t)offset + size <= region->known) {
            memcpy(value, region->contents + offset, size);
            return true;
        }
        for (uint32_t i = 0; i < size; i++) {
            uint8_t byte;
            if (!global_byte(engine, place, offset + i, &byte)) return false;
            *value |= (uint64_t)byte << (8 * i);
        }
        return true;
    }
    uint64_t limit = tracked(engine, place);
    struct bytes bytes = bytes_at(engine, warp, place, lane);
    if (bytes.data == NULL || (uint64_t)offset > limit || limit - (uint64_t)offset < size) return false;
    for (uint32_t i = 0; i < size; i++)
        if (!bytes.known[offset + i]) return false;
    memcpy(value, bytes.data + offset, size);
    return true;
}

static void store_bytes(struct engine *engine, const struct warp *warp, const struct spot *place, uint32_t lane,
                        int64_t offset, uint32_t size, uint64_t value, bool known) {
    if (place->none || offset < 0 || place->space == SPACE_CONST || place->space == SPACE_PARAM) return;
    if (place->space == SPACE_GLOBAL) {
        for (uint32_t i = 0; i < size; i++) {
            uint64_t address = place->base + (uint64_t)offset + i;
            struct overlay_line *line = overlay_find(engine, address / 64, true);
            if (line == NULL) return;
            line->bytes[address % 64] = i < 8 ? (uint8_t)(value >> (8 * i)) : 0;
            line->state[address % 64] = known ? 1 : 2;
        }
        return;
    }
    uint64_t limit = tracked(engine, place);
    struct bytes bytes = bytes_at(engine, warp, place, lane);
    if (bytes.data == NULL || (uint64_t)offset > limit || limit - (uint64_t)offset < size) return;
    if (place->space == SPACE_SHARED) engine->shared_dirty = true;
    else engine->private_dirty = true;
    for (uint32_t i = 0; i < size; i++) {
        bytes.data[offset + i] = i < 8 ? (uint8_t)(value >> (8 * i)) : 0;
        bytes.known[offset + i] = known ? 0xff : 0;
    }
}

// Shared memory that a store went to at a place that is not known: nothing there is known any more.
static void forget_space(struct engine *engine, uint8_t space) {
    if (space == SPACE_NONE || space == SPACE_SHARED || space == SPACE_SHARED_CLUSTER)
        memset(engine->shared_known, 0, engine->shared_bytes);
    if (space == SPACE_NONE || space == SPACE_GLOBAL) engine->overlay_lost = true;
    if ((space == SPACE_NONE || space == SPACE_LOCAL) && engine->private_bytes != NULL)
        memset(engine->private_known, 0, (size_t)engine->map->private_size * LANES * engine->warp_count);
}

static uint64_t extend(uint64_t value, uint32_t bytes, uint32_t bits, bool sign) {
    if (!sign || bytes >= 8) return value;
    uint32_t shift = 64 - 8 * bytes;
    value = (uint64_t)((int64_t)(value << shift) >> shift);
    return bits >= 64 ? value : value & (((uint64_t)1 << bits) - 1);
}

// What a load of so many bytes can give when its contents are not known.
static struct abstract unknown_element(const struct code_access *access, uint32_t element) {
    uint32_t bits = access->element_bytes * 8u, width = access->bits[element];
    if (bits > width) bits = width;
    struct abstract value = abstract_top(bits == 8 || bits == 16 || bits == 32 ? bits : 64);
    value.width = (uint8_t)width;
    value.mask = width >= 64 ? (bits >= 64 ? 0 : ~(((uint64_t)1 << bits) - 1)) : ~(bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1);
    if (access->sign && bits < width) value = abstract_top(width);
    return value;
}

static void load_contents(struct engine *engine, struct warp *warp, const struct code_access *access, uint32_t lane,
                          const struct verdict *verdict, bool doubt, bool known_address) {
    bool stable = !access->is_volatile || verdict->place.space != SPACE_GLOBAL;
    if (verdict->place.space == SPACE_SHARED && engine->code->shared_remote) stable = false;
    if (verdict->place.space == SPACE_GLOBAL && access->is_volatile && !engine->code->stores_global) stable = true;
    for (uint32_t i = 0; i < access->elements; i++) {
        uint32_t slot = access->slots[i];
        uint64_t value;
        if (slot == NO_INDEX) continue;
        struct abstract result = unknown_element(access, i);
        if (known_address && stable &&
            load_bytes(engine, warp, &verdict->place, lane, past(verdict->offset, (uint64_t)i * access->element_bytes),
                       access->element_bytes, &value))
            result = abstract_known(extend(value, access->element_bytes, access->bits[i], access->sign));
        else if (verdict->place.region != NULL)
            engine->uses[(uint32_t)(verdict->place.region - engine->map->regions.at)].contents_wanted = true;
        if (doubt) result = abstract_join(warp_value(engine, warp, slot, lane), result);
        warp_set(engine, warp, slot, lane, &result);
    }
}

static void store_contents(struct engine *engine, struct warp *warp, const struct code_access *access, uint32_t lane,
                           const struct verdict *verdict, bool doubt) {
    if (access->elements == 0) {  // atomics, copies, matrices: what is there is not known any more
        store_bytes(engine, warp, &verdict->place, lane, verdict->offset, verdict->width, 0, false);
        return;
    }
    for (uint32_t i = 0; i < access->elements; i++) {
        struct abstract value = warp_value(engine, warp, access->slots[i], lane);
        store_bytes(engine, warp, &verdict->place, lane, past(verdict->offset, (uint64_t)i * access->element_bytes),
                    access->element_bytes, value.start, value.count == 0 && !doubt);
    }
}

// One lane at a time ----------------------------------------------------------------------------

// How many bytes a copy with a stated size touches; false: nothing.
static bool sized_width(struct engine *engine, struct warp *warp, const struct code_insn *insn,
                        const struct code_access *access, uint32_t lane, uint32_t *width, uint32_t *align, bool *known) {
    *width = access->width;
    *align = access->align;
    *known = true;
    if (!access->sized) return true;
    struct abstract size = warp_value(engine, warp, insn->c, lane);
    *known = size.count == 0;
    if (!*known) return true;
    uint32_t bytes = (uint32_t)size.start;
    if (access->bulk) {
        *width = bytes;
        return bytes != 0;
    }
    if (bytes == 0) return false;
    // With fewer bytes than the copy has, the first one decides and alignment is not asked for.
    if (bytes < access->width) *width = *align = 1;
    return true;
}

static enum death worse(enum death a, enum death b) {
    if (a == DEATH_ILLEGAL || b == DEATH_ILLEGAL) return DEATH_ILLEGAL;
    if (a == DEATH_EITHER || b == DEATH_EITHER) return DEATH_EITHER;
    return a != DEATH_NONE ? a : b;
}

static void check_bulk_size(struct engine *engine, struct warp *warp, const struct code_insn *insn, uint32_t width,
                            uint32_t lane, bool doubt) {
    uint32_t pc = (uint32_t)(insn - engine->code->insns.at), bit = (uint32_t)1 << lane;
    if (width % 16 == 0) return;
    struct dryrun_fault *fault = fault_note(engine, warp, pc, FAULT_BARRIER_HANG, bit, doubt ? bit : 0);
    fault->result = RESULT_HANG;
    fault->width = width;
    fault->silent = false;
    fault_kill(engine, warp, DEATH_HANG, bit, doubt ? bit : 0);
}

static enum death run_known(struct engine *engine, struct warp *warp, const struct code_insn *insn,
                            const struct code_access *access, uint32_t lane, uint64_t address, bool doubt) {
    uint32_t width, align;
    bool known;
    if (!sized_width(engine, warp, insn, access, lane, &width, &align, &known)) return DEATH_NONE;
    // A size that is not known: that the bytes are touched at all is not.
    doubt = doubt || !known;
    struct verdict verdict = judge(engine, access, address, width, align);
    enum death death = DEATH_NONE;
    if (verdict.outside || verdict.misaligned) {
        if (access->bulk) check_bulk_size(engine, warp, insn, width, lane, doubt);
        if (verdict.outside)
            note_lane(engine, warp, insn, access, &verdict, address, lane, doubt, outside_kind(&verdict),
                      verdict.death == DEATH_MISALIGNED && is_mapped(&verdict.place, verdict.offset, 1) ? DEATH_NONE
                                                                                                        : verdict.death);
        if (verdict.misaligned && verdict.death != DEATH_ILLEGAL)
            note_lane(engine, warp, insn, access, &verdict, address, lane, doubt, FAULT_MISALIGNED, verdict.death);
        if (!doubt) death = verdict.death;
    } else if (access->bulk) {
        check_bulk_size(engine, warp, insn, width, lane, doubt);
    }
    if (!doubt && !verdict.place.none) {
        if (width == access->width || access->bulk)
            note_align(engine, access, &verdict.place, verdict.offset, align);
        note_use(engine, access, &verdict.place, verdict.offset, past(verdict.offset, width), 1);
    }
    if (access->contents && access->kind == ACCESS_OP_LOAD)
        load_contents(engine, warp, access, lane, &verdict, doubt, true);
    else if (access->contents)
        store_contents(engine, warp, access, lane, &verdict, doubt);
    return death;
}

// An address that is not known: only what holds for all that it can be is said.
static enum death run_ranged(struct engine *engine, struct warp *warp, const struct code_insn *insn,
                             const struct code_access *access, uint32_t lane, bool doubt) {
    struct abstract address = warp_value(engine, warp, insn->a, lane);
    address = abstract_eval(LANE_add64, 0, address, abstract_known(insn->imm), abstract_known(0), 64);
    uint64_t low, high;
    uint32_t width, align;
    bool known;
    abstract_unsigned(&address, &low, &high);
    if (!sized_width(engine, warp, insn, access, lane, &width, &align, &known)) return DEATH_NONE;
    doubt = doubt || !known;
    struct verdict verdict = judge(engine, access, low, width, align);
    const struct spot *place = &verdict.place;
    struct spot last = find_place(engine, access->space, high);
    enum death death = DEATH_NONE;
    bool same = last.base == place->base && !place->none && !last.none;
    bool inside = same && !verdict.outside && !judge(engine, access, high, width, 1).outside;
    bool beyond = same && verdict.outside && verdict.offset >= 0 && place->size != UINT64_MAX && !place->remote;
    bool misaligned = align > 1 && (address.mask & (align - 1)) == align - 1 && (address.bits & (align - 1)) != 0;
    verdict.misaligned = misaligned;
    if (beyond || misaligned) {
        bool unmapped = beyond && !is_mapped(place, verdict.offset, 1);
        death = access->removable ? DEATH_NONE : unmapped ? DEATH_ILLEGAL : misaligned ? DEATH_MISALIGNED : DEATH_NONE;
        note_lane(engine, warp, insn, access, &verdict, low, lane, doubt, beyond ? outside_kind(&verdict) : FAULT_MISALIGNED, death);
        if (doubt) death = DEATH_NONE;
    }
    if (!inside) note_unknown(engine, insn, (uint32_t)1 << lane);
    if (access->kind == ACCESS_OP_LOAD) {
        if (access->contents) load_contents(engine, warp, access, lane, &verdict, doubt, false);
    } else if (access->contents) {
        forget_space(engine, access->space);
    }
    return death;
}

// All lanes at once -----------------------------------------------------------------------------

// True when every lane's access is inside one place (`spot`) and aligned; what it touches is noted.
static bool run_fast(struct engine *engine, struct warp *warp, const struct code_insn *insn,
                     const struct code_access *access, uint32_t lanes, struct spot *spot) {
    const uint64_t *values = warp->values[insn->a];
    bool uniform = warp->shape[insn->a] != SHAPE_VARYING;
    uint64_t address = values[uniform ? 0 : first_lane(lanes)] + insn->imm;
    struct spot place = find_place(engine, access->space, address);
    struct lane_scan scan;
    *spot = place;
    if (place.none || (insn->imm & (access->align - 1)) != 0) return false;
    if (uniform) {
        scan = (struct lane_scan){address - place.base, address - place.base, address};
    } else if (lanes == ALL_LANES) {
        engine->lanes->scan(values, place.base - insn->imm, &scan);
    } else {
        engine->lanes->expand(engine->scratch[2], lanes);
        engine->lanes->scan_some(values, place.base - insn->imm, engine->scratch[2], &scan);
    }
    int64_t low = (int64_t)scan.low, high = (int64_t)scan.high;
    uint64_t limit = place.size == UINT64_MAX ? WINDOW_BYTES / 2 : place.size;
    if (low < 0 || (uint64_t)high > limit || limit - (uint64_t)high < access->width) return false;
    if ((scan.bits & (access->align - 1)) != 0) return false;
    note_use(engine, access, &place, low, past(high, access->width), access->align);
    return true;
}

// Moves the values of lanes whose accesses are all in order.
static void move_contents(struct engine *engine, struct warp *warp, const struct code_insn *insn,
                          const struct code_access *access, uint32_t lanes, const struct spot *spot) {
    struct verdict verdict = {.place = *spot, .width = access->width, .align = access->align};
    // A load may write its own address.
    uint64_t *addresses = engine->scratch[3];
    warp_widen(engine, warp, insn->a);
    memcpy(addresses, warp->values[insn->a], sizeof engine->scratch[3]);
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        uint32_t lane = first_lane(left);
        verdict.offset = (int64_t)(addresses[lane] + insn->imm - spot->base);
        if (access->kind == ACCESS_OP_LOAD) load_contents(engine, warp, access, lane, &verdict, false, true);
        else store_contents(engine, warp, access, lane, &verdict, false);
    }
}

void access_run(struct engine *engine, struct warp *warp, const struct code_insn *insn, uint32_t mask, uint32_t doubt) {
    const struct code_access *access = &engine->code->accesses.at[insn->target];
    uint32_t lanes = mask & access->lanes, unknown = lanes & warp->unknown[insn->a];
    uint32_t known = lanes & ~unknown;
    enum death death = DEATH_NONE;
    struct spot spot;
    if (known == lanes && lanes != 0 && !access->sized && (doubt & lanes) == 0 &&
        run_fast(engine, warp, insn, access, lanes, &spot)) {
        if (access->contents) move_contents(engine, warp, insn, access, lanes, &spot);
        return;
    }
    const uint64_t *values = warp->values[insn->a];
    bool uniform = warp->shape[insn->a] == SHAPE_UNIFORM;
    for (uint32_t left = known; left != 0; left &= left - 1) {
        uint32_t lane = first_lane(left);
        uint64_t address = values[uniform ? 0 : lane] + insn->imm;
        death = worse(death, run_known(engine, warp, insn, access, lane, address, doubt >> lane & 1));
        // A load may have written its own address.
        values = warp->values[insn->a];
        uniform = warp->shape[insn->a] == SHAPE_UNIFORM;
    }
    for (uint32_t left = unknown; left != 0; left &= left - 1) {
        uint32_t lane = first_lane(left);
        death = worse(death, run_ranged(engine, warp, insn, access, lane, doubt >> lane & 1));
    }
    fault_kill(engine, warp, death, lanes, 0);
}
