#include "analyzer/facts/dryrun/engine.h"

#include <time.h>

#include "base/checked.h"

#define STEPS_PER_BLOCK ((uint64_t)1 << 25)
#define DOUBT_ROUNDS 4u          // times that a loop goes on in doubt before its values are given up
#define IDLE_LOOP ((uint64_t)1 << 14)
#define OVERLAY_LINES ((uint32_t)1 << 8)  // to begin with

// Values ----------------------------------------------------------------------------------------

void warp_widen(struct engine *engine, struct warp *warp, uint32_t slot) {
    if (warp->shape[slot] != SHAPE_UNIFORM) return;
    engine->lanes->broadcast(warp->values[slot], warp->values[slot][0]);
    warp->shape[slot] = SHAPE_UNIFORM_WIDE;
}

static void vary(struct engine *engine, struct warp *warp, uint32_t slot) {
    warp_widen(engine, warp, slot);
    warp->shape[slot] = SHAPE_VARYING;
}

struct abstract warp_value(const struct engine *engine, const struct warp *warp, uint32_t slot,
                           uint32_t lane) {
    if (!(warp->unknown[slot] >> lane & 1))
        return abstract_known(warp->values[slot][warp->shape[slot] == SHAPE_UNIFORM ? 0 : lane]);
    if (warp->abstracts[slot] != NULL) return warp->abstracts[slot][lane];
    return abstract_top(engine->code->slots.at[slot].bits);
}

static void keep_abstract(struct engine *engine, struct warp *warp, uint32_t slot, uint32_t lane,
                          const struct abstract *value) {
    uint32_t bits = engine->code->slots.at[slot].bits;
    if (warp->abstracts[slot] == NULL) {
        struct abstract top = abstract_top(bits);
        if (value->count == top.count && value->mask == top.mask) return;
        if (engine->spare_abstracts.n > 0)
            warp->abstracts[slot] = engine->spare_abstracts.at[--engine->spare_abstracts.n];
        else
            warp->abstracts[slot] = arena_array(engine->arena, struct abstract, LANES);
        *vec_push(engine->arena, &warp->abstracted) = slot;
        for (uint32_t i = 0; i < LANES; i++) warp->abstracts[slot][i] = top;
    }
    warp->abstracts[slot][lane] = *value;
}

void warp_set(struct engine *engine, struct warp *warp, uint32_t slot, uint32_t lane,
              const struct abstract *value) {
    vary(engine, warp, slot);
    if (value->count == 0) {
        warp->values[slot][lane] = value->start;
        warp->unknown[slot] &= ~((uint32_t)1 << lane);
        return;
    }
    warp->unknown[slot] |= (uint32_t)1 << lane;
    keep_abstract(engine, warp, slot, lane, value);
}

// Lanes whose predicate is true; those whose predicate is not known in *unknown.
uint32_t warp_predicate(struct engine *engine, struct warp *warp, uint32_t slot, uint32_t *unknown) {
    *unknown = warp->unknown[slot];
    if (warp->shape[slot] != SHAPE_VARYING) return warp->values[slot][0] & 1 ? ALL_LANES : 0;
    return engine->lanes->pack(warp->values[slot]);
}

// Which lanes of `mask` carry an instruction out, and which may.
static uint32_t guarded(struct engine *engine, struct warp *warp, const struct code_insn *insn,
                        uint32_t mask, uint32_t *maybe) {
    *maybe = 0;
    if (insn->guard_kind == GUARD_NONE) return mask;
    uint32_t unknown, truth = warp_predicate(engine, warp, insn->guard, &unknown);
    if (insn->guard_kind == GUARD_UNLESS) truth = ~truth;
    *maybe = mask & unknown;
    return mask & truth & ~unknown;
}

static uint32_t first_lane(uint32_t mask) { return (uint32_t)__builtin_ctz(mask); }

// Lane operations -------------------------------------------------------------------------------

static bool same_abstract(const struct abstract *a, const struct abstract *b) {
    return a->start == b->start && a->count == b->count && a->mask == b->mask && a->bits == b->bits && a->width == b->width;
}

// Lanes with operands that are not known, and lanes that may not carry it out at all.
static void run_uncertain(struct engine *engine, struct warp *warp, const struct code_insn *insn,
                          uint32_t on, uint32_t maybe) {
    struct abstract last[3] = {{0}}, value = abstract_known(0);
    bool first = true;
    for (uint32_t left = on | maybe; left != 0; left &= left - 1) {
        uint32_t lane = first_lane(left);
        struct abstract a = warp_value(engine, warp, insn->a, lane);
        struct abstract b = warp_value(engine, warp, insn->b, lane);
        struct abstract c = warp_value(engine, warp, insn->c, lane);
        // Neighbours often have the same operands.
        if (!first && same_abstract(&a, &last[0]) && same_abstract(&b, &last[1]) && same_abstract(&c, &last[2])) {
            struct abstract again = value;
            if (maybe >> lane & 1) again = abstract_join(warp_value(engine, warp, insn->d, lane), again);
            warp_set(engine, warp, insn->d, lane, &again);
            continue;
        }
        last[0] = a, last[1] = b, last[2] = c;
        first = false;
        if (a.count == 0 && b.count == 0 && c.count == 0)
            value = abstract_known(engine->lanes->scalar[insn->lane](a.start, b.start, c.start, insn->imm));
        else
            value = abstract_eval((enum lane_op)insn->lane, insn->imm, a, b, c, insn->bits);
        struct abstract joined = value;
        if (maybe >> lane & 1) joined = abstract_join(warp_value(engine, warp, insn->d, lane), value);
        warp_set(engine, warp, insn->d, lane, &joined);
    }
}

static void run_lane(struct engine *engine, struct warp *warp, const struct code_insn *insn, uint32_t mask) {
    uint32_t maybe, on = guarded(engine, warp, insn, mask, &maybe);
    if ((on | maybe) == 0) return;
    uint32_t a = insn->a, b = insn->b, c = insn->c, d = insn->d;
    uint32_t unknown = (warp->unknown[a] | warp->unknown[b] | warp->unknown[c]) & on;
    if (unknown != 0 || maybe != 0) {
        run_uncertain(engine, warp, insn, unknown, maybe);
        on &= ~unknown;
        if (on == 0) return;
    } else if (on == warp->live) {
        warp->unknown[d] = 0;
        if (warp->shape[a] != SHAPE_VARYING && warp->shape[b] != SHAPE_VARYING && warp->shape[c] != SHAPE_VARYING) {
            warp->values[d][0] = engine->lanes->scalar[insn->lane](warp->values[a][0], warp->values[b][0],
                                                                   warp->values[c][0], insn->imm);
            warp->shape[d] = SHAPE_UNIFORM;
            return;
        }
        warp_widen(engine, warp, a);
        warp_widen(engine, warp, b);
        warp_widen(engine, warp, c);
        engine->lanes->wide[insn->lane](warp->values[d], warp->values[a], warp->values[b], warp->values[c], insn->imm);
        warp->shape[d] = SHAPE_VARYING;
        return;
    }
    warp_widen(engine, warp, a);
    warp_widen(engine, warp, b);
    warp_widen(engine, warp, c);
    engine->lanes->wide[insn->lane](engine->scratch[0], warp->values[a], warp->values[b], warp->values[c], insn->imm);
    vary(engine, warp, d);
    engine->lanes->expand(engine->scratch[1], on);
    engine->lanes->blend(warp->values[d], engine->scratch[0], engine->scratch[1]);
    warp->unknown[d] &= ~on;
}

static void run_unknown(struct engine *engine, struct warp *warp, const struct code_insn *insn, uint32_t mask) {
    uint32_t maybe, on = guarded(engine, warp, insn, mask, &maybe) | maybe;
    if (on == 0) return;
    vary(engine, warp, insn->d);
    struct abstract top = abstract_top(insn->bits);
    for (uint32_t left = on; left != 0; left &= left - 1) warp_set(engine, warp, insn->d, first_lane(left), &top);
}

// Warp-wide operations --------------------------------------------------------------------------

static void set_lanes(struct engine *engine, struct warp *warp, uint32_t slot, uint32_t on, uint32_t maybe,
                      const uint64_t *values, uint32_t unknown, uint32_t bits) {
    for (uint32_t left = on | maybe; left != 0; left &= left - 1) {
        uint32_t lane = first_lane(left);
        struct abstract value = unknown >> lane & 1 ? abstract_top(bits) : abstract_known(values[lane]);
        if (maybe >> lane & 1) value = abstract_join(warp_value(engine, warp, slot, lane), value);
        warp_set(engine, warp, slot, lane, &value);
    }
}

// PTX ISA, "shfl.sync": lanes read from, after bounds and segment.
static uint32_t shuffle_source(uint32_t mode, uint32_t lane, uint32_t b, uint32_t c, bool *inside) {
    uint32_t clamp = c & 31, segment = c >> 8 & 31, most = (lane & segment) | (clamp & ~segment);
    uint32_t least = lane & segment, from = lane;
    b &= 31;
    switch (mode) {
    case SHFL_UP: from = lane - b; *inside = (int32_t)from >= (int32_t)most; break;
    case SHFL_DOWN: from = lane + b; *inside = from <= most; break;
    case SHFL_BFLY: from = lane ^ b; *inside = from <= most; break;
    default: from = least | (b & ~segment); *inside = from <= most; break;
    }
    return *inside ? from & 31 : lane;
}

static void run_shuffle(struct engine *engine, struct warp *warp, const struct code_insn *insn, uint32_t mask) {
    uint32_t maybe, on = guarded(engine, warp, insn, mask, &maybe);
    uint64_t values[LANES] = {0}, inside_values[LANES] = {0};
    uint32_t unknown = 0, unknown_inside = 0;
    if ((on | maybe) == 0) return;
    for (uint32_t left = on | maybe; left != 0; left &= left - 1) {
        uint32_t lane = first_lane(left), bit = (uint32_t)1 << lane;
        struct abstract b = warp_value(engine, warp, insn->b, lane), c = warp_value(engine, warp, insn->c, lane);
        if (b.count != 0 || c.count != 0) {
            unknown |= bit, unknown_inside |= bit;
            continue;
        }
        bool inside;
        uint32_t from = shuffle_source(insn->sub, lane, (uint32_t)b.start, (uint32_t)c.start, &inside);
        struct abstract value = warp_value(engine, warp, insn->a, from);
        inside_values[lane] = inside;
        values[lane] = value.start;
        // From a lane that does not take part the value is not defined.
        if (value.count != 0 || !((on | maybe) >> from & 1)) unknown |= bit;
    }
    set_lanes(engine, warp, insn->d, on, maybe, values, unknown, insn->bits);
    if (insn->target != NO_TARGET) set_lanes(engine, warp, insn->target, on, maybe, inside_values, unknown_inside, 1);
}

static void same_for_all(uint64_t *values, uint64_t value) {
    for (uint32_t i = 0; i < LANES; i++) values[i] = value;
}

static void run_vote(struct engine *engine, struct warp *warp, const struct code_insn *insn, uint32_t mask) {
    uint32_t maybe, on = guarded(engine, warp, insn, mask, &maybe), unknown, result_unknown = 0;
    if ((on | maybe) == 0) return;
    uint32_t truth = warp_predicate(engine, warp, insn->a, &unknown) & (on | maybe);
    unknown &= on | maybe;
    bool doubtful = unknown != 0 || maybe != 0;
    uint32_t yes = truth & ~unknown & on, no = on & ~truth & ~unknown;
    uint64_t value = 0, values[LANES];
    switch (insn->sub) {
    case VOTE_ANY: value = yes != 0; doubtful = doubtful && !value; break;
    case VOTE_ALL: value = no == 0; doubtful = doubtful && value; break;
    case VOTE_UNI: value = yes == 0 || no == 0; doubtful = doubtful && value; break;
    default: value = yes; break;
    }
    if (doubtful) result_unknown = ALL_LANES;
    same_for_all(values, value);
    set_lanes(engine, warp, insn->d, on, maybe, values, result_unknown, insn->bits);
}

static void run_match(struct engine *engine, struct warp *warp, const struct code_insn *insn, uint32_t mask) {
    uint32_t maybe, on = guarded(engine, warp, insn, mask, &maybe), group = on | maybe;
    uint64_t values[LANES] = {0}, equal[LANES];
    if (group == 0) return;
    bool doubtful = (warp->unknown[insn->a] & group) != 0 || maybe != 0;
    bool all_equal = true;
    warp_widen(engine, warp, insn->a);
    for (uint32_t left = group; left != 0; left &= left - 1) {
        uint32_t lane = first_lane(left);
        for (uint32_t others = group; others != 0; others &= others - 1) {
            uint32_t other = first_lane(others);
            bool same = warp->values[insn->a][lane] == warp->values[insn->a][other];
            values[lane] |= (uint64_t)same << other;
            all_equal = all_equal && same;
        }
    }
    if (insn->sub == 1) same_for_all(values, all_equal ? group : 0);
    same_for_all(equal, all_equal);
    uint32_t unknown = doubtful ? ALL_LANES : 0;
    set_lanes(engine, warp, insn->d, on, maybe, values, unknown, insn->bits);
    if (insn->target != NO_TARGET) set_lanes(engine, warp, insn->target, on, maybe, equal, unknown, 1);
}

static void run_elect(struct engine *engine, struct warp *warp, const struct code_insn *insn, uint32_t mask) {
    uint32_t maybe, on = guarded(engine, warp, insn, mask, &maybe), group = on | maybe;
    uint64_t values[LANES], elected[LANES] = {0};
    if (group == 0) return;
    uint32_t leader = first_lane(group);
    same_for_all(values, leader);
    elected[leader] = 1;
    set_lanes(engine, warp, insn->d, on, maybe, values, 0, insn->bits);
    if (insn->target != NO_TARGET) set_lanes(engine, warp, insn->target, on, maybe, elected, 0, 1);
}

static uint64_t reduce(uint8_t sub, uint64_t a, uint64_t b) {
    switch (sub) {
    case REDUX_ADD: return (uint32_t)(a + b);
    case REDUX_MIN_U: return a < b ? a : b;
    case REDUX_MAX_U: return a > b ? a : b;
    case REDUX_MIN_S: return (int32_t)a < (int32_t)b ? a : b;
    case REDUX_MAX_S: return (int32_t)a > (int32_t)b ? a : b;
    case REDUX_AND: return a & b;
    case REDUX_OR: return a | b;
    default: return a ^ b;
    }
}

static void run_redux(struct engine *engine, struct warp *warp, const struct code_insn *insn, uint32_t mask) {
    uint32_t maybe, on = guarded(engine, warp, insn, mask, &maybe), group = on | maybe;
    uint64_t values[LANES];
    if (group == 0) return;
    warp_widen(engine, warp, insn->a);
    uint64_t value = warp->values[insn->a][first_lane(group)];
    for (uint32_t left = group & (group - 1); left != 0; left &= left - 1)
        value = reduce(insn->sub, value, warp->values[insn->a][first_lane(left)]);
    bool doubtful = (warp->unknown[insn->a] & group) != 0 || maybe != 0;
    same_for_all(values, value);
    set_lanes(engine, warp, insn->d, on, maybe, values, doubtful ? ALL_LANES : 0, insn->bits);
}

static void run_active(struct engine *engine, struct warp *warp, const struct code_insn *insn, uint32_t mask) {
    uint32_t maybe, on = guarded(engine, warp, insn, mask, &maybe);
    uint64_t values[LANES];
    same_for_all(values, on | maybe);
    set_lanes(engine, warp, insn->d, on, maybe, values, maybe ? ALL_LANES : 0, insn->bits);
}

// Regions: what the sides of a branch write before they meet ------------------------------------

static void add_written(struct engine *engine, struct region_slots *region, uint32_t slot) {
    if (slot == NO_INDEX || slot == NO_TARGET || engine->slot_seen[slot] == engine->seen_stamp) return;
    engine->slot_seen[slot] = engine->seen_stamp;
    *vec_push(engine->arena, &engine->region_list) = slot;
    region->count++;
}

static void add_writes(struct engine *engine, struct region_slots *region, const struct code_insn *insn) {
    switch (insn->op) {
    case CODE_LANE: case CODE_UNKNOWN: case CODE_VOTE: case CODE_REDUX: case CODE_ACTIVE:
        add_written(engine, region, insn->d);
        return;
    case CODE_MBARRIER: if (insn->d != 0) add_written(engine, region, insn->d); return;
    case CODE_SHFL: case CODE_MATCH: case CODE_ELECT:
        add_written(engine, region, insn->d);
        add_written(engine, region, insn->target);
        return;
    case CODE_ACCESS: {
        const struct code_access *access = &engine->code->accesses.at[insn->target];
        if (access->kind != ACCESS_OP_LOAD) return;
        for (uint32_t i = 0; i < access->elements; i++) add_written(engine, region, access->slots[i]);
        return;
    }
    default: return;
    }
}

static void visit(struct engine *engine, uint32_t pc, uint32_t stop) {
    if (pc == stop || pc >= engine->code->insns.n || engine->pc_seen[pc] == engine->pc_stamp) return;
    engine->pc_seen[pc] = engine->pc_stamp;
    *vec_push(engine->arena, &engine->pc_work) = pc;
}

// Walks from `pc` up to `stop`. True when it comes back to `branch`.
static bool walk_side(struct engine *engine, struct region_slots *region, uint32_t pc, uint32_t stop,
                      uint32_t branch) {
    const struct code *code = engine->code;
    bool back = false;
    engine->pc_stamp++;
    engine->pc_work.n = 0;
    visit(engine, pc, stop);
    while (engine->pc_work.n > 0) {
        uint32_t at = engine->pc_work.at[--engine->pc_work.n];
        const struct code_insn *insn = &code->insns.at[at];
        back = back || at == branch;
        add_writes(engine, region, insn);
        switch (insn->op) {
        case CODE_JUMP: visit(engine, insn->target, stop); break;
        case CODE_BRANCH:
            visit(engine, insn->target, stop);
            visit(engine, at + 1, stop);
            break;
        case CODE_INDIRECT:
            for (uint32_t i = 0; i < insn->imm; i++) visit(engine, code->tables.at[insn->target + i], stop);
            break;
        case CODE_EXIT: case CODE_TRAP: case CODE_STOP: case CODE_STACK: case CODE_HANG:
            if (insn->guard_kind != GUARD_NONE) visit(engine, at + 1, stop);
            break;
        default: visit(engine, at + 1, stop); break;
        }
    }
    return back;
}

static const struct region_slots *region_of(struct engine *engine, uint32_t branch) {
    if (engine->region_of[branch] != 0) return &engine->regions.at[engine->region_of[branch] - 1];
    const struct code_insn *insn = &engine->code->insns.at[branch];
    struct region_slots region = {.branch = branch};
    engine->seen_stamp++;
    engine->region_list.n = 0;
    if (insn->op == CODE_INDIRECT) {
        for (uint32_t i = 0; i < insn->imm; i++)
            (void)walk_side(engine, &region, engine->code->tables.at[insn->target + i], insn->reconverge, branch);
    } else {
        region.continues[0] = walk_side(engine, &region, insn->target, insn->reconverge, branch);
        region.continues[1] = walk_side(engine, &region, branch + 1, insn->reconverge, branch);
    }
    region.slots = arena_array(engine->arena, uint32_t, region.count + 1);
    if (region.count) memcpy(region.slots, engine->region_list.at, region.count * sizeof *region.slots);
    *vec_push(engine->arena, &engine->regions) = region;
    engine->region_of[branch] = engine->regions.n;
    return &engine->regions.at[engine->regions.n - 1];
}

// Stashes ---------------------------------------------------------------------------------------

static struct stash *take_stash(struct engine *engine, uint32_t count) {
    for (uint32_t i = engine->spare_stashes.n; i-- > 0;) {
        struct stash *stash = engine->spare_stashes.at[i];
        if (stash->capacity < count) continue;
        engine->spare_stashes.at[i] = engine->spare_stashes.at[--engine->spare_stashes.n];
        return stash;
    }
    struct stash *stash = arena_new(engine->arena, struct stash);
    stash->capacity = count + 8;
    stash->values = arena_array(engine->arena, struct abstract, (size_t)stash->capacity * LANES);
    return stash;
}

static void give_stash(struct engine *engine, struct stash *stash) {
    if (stash != NULL) *vec_push(engine->arena, &engine->spare_stashes) = stash;
}

static void stash_lanes(struct engine *engine, struct warp *warp, struct stash *stash, const uint32_t *slots,
                        uint32_t count, uint32_t lanes, uint32_t merge) {
    for (uint32_t s = 0; s < count; s++)
        for (uint32_t left = lanes; left != 0; left &= left - 1) {
            uint32_t lane = first_lane(left);
            struct abstract *kept = &stash->values[(size_t)s * LANES + lane];
            struct abstract value = warp_value(engine, warp, slots[s], lane);
            *kept = merge >> lane & 1 ? abstract_join(*kept, value) : value;
        }
}

static void unstash_lanes(struct engine *engine, struct warp *warp, const struct stash *stash, const uint32_t *slots,
                          uint32_t count, uint32_t lanes, uint32_t merge) {
    for (uint32_t s = 0; s < count; s++)
        for (uint32_t left = lanes; left != 0; left &= left - 1) {
            uint32_t lane = first_lane(left);
            struct abstract value = stash->values[(size_t)s * LANES + lane];
            if (merge >> lane & 1) value = abstract_join(warp_value(engine, warp, slots[s], lane), value);
            warp_set(engine, warp, slots[s], lane, &value);
        }
}

// Paths -----------------------------------------------------------------------------------------

static int32_t new_join(struct engine *engine, struct warp *warp, uint32_t branch, uint32_t reconverge, int32_t parent,
                        uint32_t doubt) {
    while (warp->joins.n > 0 && !warp->joins.at[warp->joins.n - 1].used) warp->joins.n--;
    *vec_push(engine->arena, &warp->joins) =
        (struct join){.reconverge = reconverge, .branch = branch, .parent = parent, .doubt = doubt,
                      .deferred = NONE, .used = true};
    return (int32_t)warp->joins.n - 1;
}

static void push_frag(struct engine *engine, struct warp *warp, struct frag frag) {
    frag.state = FRAG_READY;
    *vec_push(engine->arena, &warp->frags) = frag;
}

static void remove_frag(struct warp *warp, uint32_t index) {
    for (uint32_t i = index + 1; i < warp->frags.n; i++) warp->frags.at[i - 1] = warp->frags.at[i];
    warp->frags.n--;
}

// Runs the side of a branch that waited: its lanes start from the values before the branch.
static void resume_deferred(struct engine *engine, struct warp *warp, struct join *join) {
    struct deferred side = warp->deferred.at[join->deferred];
    join->deferred = side.next;
    unstash_lanes(engine, warp, side.before, join->slots, join->slot_count, side.both, 0);
    give_stash(engine, side.before);
    push_frag(engine, warp, side.frag);
}

static uint32_t deferred_lanes(const struct warp *warp, const struct join *join) {
    uint32_t lanes = 0;
    for (int32_t d = join->deferred; d != NONE; d = warp->deferred.at[d].next) lanes |= warp->deferred.at[d].both;
    return lanes;
}

static uint32_t deferred_count(const struct warp *warp, const struct join *join) {
    uint32_t count = 0;
    for (int32_t d = join->deferred; d != NONE; d = warp->deferred.at[d].next) count++;
    return count;
}

// All that were on their way to a join have come or ended.
static void settle_join(struct engine *engine, struct warp *warp, int32_t index) {
    while (index != NONE) {
        struct join *join = &warp->joins.at[index];
        if (join->deferred != NONE && join->live == deferred_count(warp, join)) {
            resume_deferred(engine, warp, join);
            return;
        }
        if (join->live > 0) return;
        unstash_lanes(engine, warp, join->stash, join->slots, join->stash ? join->slot_count : 0, join->stashed,
                      join->arrived);
        give_stash(engine, join->stash);
        uint32_t mask = join->arrived | join->stashed, doubt = (join->doubt | join->lost) & mask;
        int32_t parent = join->parent;
        uint32_t pc = join->reconverge;
        join->used = false;
        if (mask != 0) {
            push_frag(engine, warp, (struct frag){.pc = pc, .mask = mask, .doubt = doubt, .join = parent});
            return;
        }
        if (parent != NONE) warp->joins.at[parent].live--;
        index = parent;
    }
}

// Lanes come to their join; `again` are those that will come once more by another way.
static void arrive(struct engine *engine, struct warp *warp, int32_t index, uint32_t mask, uint32_t again) {
    struct join *join = &warp->joins.at[index];
    again &= mask;
    if (again != 0) {
        if (join->stash == NULL) join->stash = take_stash(engine, join->slot_count);
        stash_lanes(engine, warp, join->stash, join->slots, join->slot_count, again, join->stashed);
        join->stashed |= again;
    }
    join->arrived |= mask & ~again;
}

// Lanes end: the block's threads, unless it is not certain that they got here.
static void end_lanes(struct engine *engine, struct warp *warp, struct frag *frag, uint32_t lanes, uint32_t doubt) {
    doubt &= lanes;
    warp->live &= ~(lanes & ~doubt);
    frag->mask &= ~(lanes & ~doubt);
    if (doubt != 0) {
        engine->in_doubt = true;
        for (int32_t j = frag->join; j != NONE; j = warp->joins.at[j].parent) warp->joins.at[j].lost |= doubt;
    }
}

static void drop_frag(struct engine *engine, struct warp *warp, uint32_t index) {
    int32_t join = warp->frags.at[index].join;
    remove_frag(warp, index);
    if (join == NONE) return;
    warp->joins.at[join].live--;
    settle_join(engine, warp, join);
}

// How often lanes have gone on in doubt from this branch, counting the joins that lead to here.
static uint32_t *rounds_of(struct warp *warp, int32_t join, uint32_t branch) {
    for (int32_t j = join; j != NONE; j = warp->joins.at[j].parent)
        if (warp->joins.at[j].branch == branch) return &warp->joins.at[j].rounds;
    return NULL;
}

static void give_up_values(struct engine *engine, struct warp *warp, const struct region_slots *region, uint32_t lanes) {
    for (uint32_t s = 0; s < region->count; s++) {
        struct abstract top = abstract_top(engine->code->slots.at[region->slots[s]].bits);
        for (uint32_t left = lanes; left != 0; left &= left - 1)
            warp_set(engine, warp, region->slots[s], first_lane(left), &top);
    }
}

struct side { uint32_t pc, mask; };

// A frag splits at a branch. `both`: lanes that take both sides, as it is not known which.
static void split(struct engine *engine, struct warp *warp, uint32_t index, uint32_t branch, struct side *sides,
                  uint32_t count, uint32_t both) {
    struct frag frag = warp->frags.at[index];
    uint32_t reconverge = engine->code->insns.at[branch].reconverge;
    remove_frag(warp, index);
    int32_t j = frag.join;
    bool reuse = j != NONE && warp->joins.at[j].reconverge == reconverge && reconverge != NO_TARGET &&
                 (both == 0 ? warp->joins.at[j].deferred == NONE : warp->joins.at[j].branch == branch && warp->joins.at[j].slots);
    const struct region_slots *region = NULL;
    if (both != 0) {
        engine->in_doubt = true;
        region = region_of(engine, branch);
        uint32_t *rounds = rounds_of(warp, j, branch);
        uint32_t round = rounds ? ++*rounds : 0;
        if (round > DOUBT_ROUNDS) give_up_values(engine, warp, region, both);
        if (round > DOUBT_ROUNDS + 1 && count == 2 && region->continues[0] != region->continues[1]) {
            sides[region->continues[0] ? 0 : 1].mask &= ~both;
            frag.doubt |= both;
            both = 0;
        }
    }
    if (!reuse) {
        j = new_join(engine, warp, branch, reconverge, frag.join, frag.doubt);
        if (region != NULL) {
            warp->joins.at[j].slots = region->slots;
            warp->joins.at[j].slot_count = region->count;
        }
    } else {
        warp->joins.at[j].live--;
    }
    frag.doubt |= both;
    frag.join = j;
    // Sides that are at the join already come to it; of the others, one at a time has `both`.
    uint32_t left = 0, running = 0;
    for (uint32_t i = 0; i < count; i++) left += sides[i].mask != 0 && sides[i].pc != reconverge;
    for (uint32_t i = 0; i < count; i++)
        if (sides[i].mask != 0 && sides[i].pc == reconverge)
            arrive(engine, warp, j, sides[i].mask, left > 0 ? both : 0);
    for (uint32_t i = 0; i < count; i++) {
        if (sides[i].mask == 0 || sides[i].pc == reconverge) continue;
        struct frag side = frag;
        side.pc = sides[i].pc;
        side.mask = sides[i].mask;
        side.doubt &= side.mask;
        warp->joins.at[j].live++;
        uint32_t again = both & side.mask;
        if (running++ == 0 || again == 0) {
            push_frag(engine, warp, side);
            continue;
        }
        struct stash *before = take_stash(engine, warp->joins.at[j].slot_count);
        stash_lanes(engine, warp, before, warp->joins.at[j].slots, warp->joins.at[j].slot_count, again, 0);
        side.state = FRAG_READY;
        *vec_push(engine->arena, &warp->deferred) = (struct deferred){side, again, before, warp->joins.at[j].deferred};
        warp->joins.at[j].deferred = (int32_t)warp->deferred.n - 1;
    }
    settle_join(engine, warp, j);
}

double engine_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// Endless loops ---------------------------------------------------------------------------------

static uint64_t state_hash(const struct engine *engine, const struct warp *warp) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t s = 0; s < engine->code->slots.n; s++) {
        hash = (hash ^ warp->unknown[s]) * 0x100000001b3u;
        uint32_t lanes = warp->shape[s] == SHAPE_UNIFORM ? 1 : LANES;
        for (uint32_t i = 0; i < lanes; i++) hash = (hash ^ warp->values[s][i]) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    return hash;
}

// Whether something outside the warp may end the loop: it loads memory or waits.
static bool loop_waits(const struct engine *engine, uint32_t from, uint32_t to) {
    for (uint32_t pc = from; pc <= to; pc++) {
        uint8_t op = engine->code->insns.at[pc].op;
        if (op == CODE_MBARRIER || op == CODE_BARRIER || op == CODE_UNKNOWN) return true;
        if (op == CODE_ACCESS && engine->code->accesses.at[engine->code->insns.at[pc].target].contents) return true;
    }
    return false;
}

enum loop_state { LOOP_GOES_ON, LOOP_ENDLESS, LOOP_WAITS, LOOP_STEPS };

static enum loop_state check_loop(struct engine *engine, struct warp *warp, struct frag *frag, uint32_t from, uint32_t to) {
    frag->loop_steps++;
    if (engine->steps_left == 0) return LOOP_STEPS;
    if (frag->loop_steps % 1024 == 0 && engine_now() > engine->deadline) {
        engine->out_of_time = true;
        return LOOP_STEPS;
    }
    if (frag->loop_steps % IDLE_LOOP == 0) {
        engine->idle_pc = to;
        engine->idle_hash = state_hash(engine, warp);
    } else if (frag->loop_steps > IDLE_LOOP && engine->idle_pc == to) {
        engine->idle_pc = NO_TARGET;
        if (state_hash(engine, warp) == engine->idle_hash)
            return loop_waits(engine, to, from) ? LOOP_WAITS : LOOP_ENDLESS;
    }
    return LOOP_GOES_ON;
}

// Control ---------------------------------------------------------------------------------------

static void control_fault(struct engine *engine, struct warp *warp, uint32_t pc, enum fault_kind kind,
                          enum death death, uint32_t lanes, uint32_t doubt) {
    struct dryrun_fault *fault = fault_note(engine, warp, pc, kind, lanes, doubt);
    static const int results[DEATH_COUNT] = {
        [DEATH_ILLEGAL] = RESULT_CUDA_ERROR_ILLEGAL_ADDRESS,
        [DEATH_TRAP] = RESULT_CUDA_ERROR_LAUNCH_FAILED, [DEATH_ASSERT] = RESULT_CUDA_ERROR_ASSERT,
        [DEATH_INSTRUCTION] = RESULT_CUDA_ERROR_ILLEGAL_INSTRUCTION, [DEATH_HANG] = RESULT_HANG};
    fault->result = results[death];
    fault_kill(engine, warp, death, lanes, doubt);
}

// An instruction that ends its threads. True when the frag goes on with others.
static bool run_end(struct engine *engine, struct warp *warp, struct frag *frag, uint32_t pc) {
    const struct code_insn *insn = &engine->code->insns.at[pc];
    uint32_t maybe, on = guarded(engine, warp, insn, frag->mask, &maybe);
    uint32_t lanes = on | maybe, doubt = (frag->doubt & lanes) | maybe;
    if (lanes == 0) return true;
    switch (insn->op) {
    case CODE_TRAP:
        control_fault(engine, warp, pc, FAULT_TRAP, insn->sub == 2 ? DEATH_ASSERT : DEATH_TRAP, lanes, doubt);
        if (insn->sub == 1 && on == 0) return true;
        break;
    case CODE_STACK: control_fault(engine, warp, pc, FAULT_STACK, DEATH_ILLEGAL, lanes, doubt); break;
    case CODE_HANG: control_fault(engine, warp, pc, FAULT_BARRIER_HANG, DEATH_HANG, lanes, doubt); break;
    case CODE_STOP:
        engine->stopped_recursion = true;
        engine->in_doubt = true;
        break;
    default: break;
    }
    end_lanes(engine, warp, frag, lanes, doubt);
    // Lanes that certainly ran it have ended; those that only may have go on in doubt.
    frag->doubt |= maybe;
    frag->mask &= ~on;
    return frag->mask != 0;
}

static void run_rank(struct engine *engine, struct warp *warp, const struct frag *frag, uint32_t pc) {
    const struct code_insn *insn = &engine->code->insns.at[pc];
    const uint32_t *cluster = engine->request->cluster;
    uint64_t ranks = (uint64_t)cluster[0] * cluster[1] * cluster[2];
    if (ranks == 0) ranks = 1;
    uint32_t maybe, on = guarded(engine, warp, insn, frag->mask, &maybe), bad = 0;
    warp_widen(engine, warp, insn->a);
    for (uint32_t left = on & ~warp->unknown[insn->a]; left != 0; left &= left - 1)
        if ((uint32_t)warp->values[insn->a][first_lane(left)] >= ranks) bad |= left & (0 - left);
    if (bad != 0)
        control_fault(engine, warp, pc, FAULT_ILLEGAL_INSTRUCTION, DEATH_INSTRUCTION, bad, frag->doubt & bad);
}

enum step { STEP_ON, STEP_DONE };

static enum step run_branch(struct engine *engine, struct warp *warp, uint32_t index, uint32_t *pc) {
    struct frag *frag = &warp->frags.at[index];
    const struct code_insn *insn = &engine->code->insns.at[*pc];
    uint32_t maybe, taken = guarded(engine, warp, insn, frag->mask, &maybe);
    if (maybe == 0 && (taken == frag->mask || taken == 0)) {
        uint32_t to = taken ? insn->target : *pc + 1;
        if (to > *pc) {
            *pc = to;
            return STEP_ON;
        }
        enum loop_state loop = check_loop(engine, warp, frag, *pc, to);
        uint32_t from = *pc;
        *pc = to;
        if (loop == LOOP_GOES_ON) return STEP_ON;
        if (loop == LOOP_ENDLESS)
            control_fault(engine, warp, from, FAULT_BARRIER_HANG, DEATH_HANG, frag->mask, frag->doubt);
        else
            engine->in_doubt = true;
        if (loop != LOOP_ENDLESS) engine->stopped_steps = true;
        end_lanes(engine, warp, frag, frag->mask, frag->doubt);
        drop_frag(engine, warp, index);
        return STEP_DONE;
    }
    struct side sides[2] = {{insn->target, taken | maybe}, {*pc + 1, frag->mask & ~taken}};
    if (*pc >= insn->target) frag->loop_steps++;
    split(engine, warp, index, *pc, sides, 2, maybe);
    return STEP_DONE;
}

#define INDIRECT_SIDES 64u

static enum step run_indirect(struct engine *engine, struct warp *warp, uint32_t index, uint32_t *pc) {
    struct frag *frag = &warp->frags.at[index];
    const struct code_insn *insn = &engine->code->insns.at[*pc];
    uint32_t maybe, on = guarded(engine, warp, insn, frag->mask, &maybe), count = 0, both = 0, outside = 0;
    struct side sides[INDIRECT_SIDES];
    warp_widen(engine, warp, insn->a);
    if ((frag->mask & ~on) != 0) sides[count++] = (struct side){*pc + 1, frag->mask & ~on};
    for (uint32_t entry = 0; entry < insn->imm && count < INDIRECT_SIDES; entry++) {
        uint32_t lanes = 0;
        for (uint32_t left = on | maybe; left != 0; left &= left - 1) {
            uint32_t lane = first_lane(left);
            struct abstract at = warp_value(engine, warp, insn->a, lane);
            uint64_t low, high;
            abstract_unsigned(&at, &low, &high);
            if (low <= entry && entry <= high) lanes |= (uint32_t)1 << lane;
            if (at.count != 0 || maybe >> lane & 1) both |= (uint32_t)1 << lane;
        }
        if (lanes == 0) continue;
        uint32_t target = engine->code->tables.at[insn->target + entry], same = 0;
        while (same < count && sides[same].pc != target) same++;
        if (same < count) sides[same].mask |= lanes;
        else sides[count++] = (struct side){target, lanes};
    }
    for (uint32_t left = on & ~both; left != 0; left &= left - 1)
        if (warp->values[insn->a][first_lane(left)] >= insn->imm) outside |= left & (0 - left);
    if (outside != 0) {  // undefined: what comes is not known
        engine->in_doubt = true;
        end_lanes(engine, warp, frag, outside, 0);
    }
    if (count == 0) {
        drop_frag(engine, warp, index);
        return STEP_DONE;
    }
    split(engine, warp, index, *pc, sides, count, both);
    return STEP_DONE;
}

// Runs one frag until it waits, splits or ends.
static void run_frag(struct engine *engine, struct warp *warp, uint32_t index) {
    const struct code_insn *insns = engine->code->insns.at;
    uint32_t pc = warp->frags.at[index].pc;
    uint32_t width = (uint32_t)__builtin_popcount(warp->frags.at[index].mask);
    for (;;) {
        struct frag *frag = &warp->frags.at[index];
        const struct code_insn *insn = &insns[pc];
        engine->lane_instructions += width;
        engine->steps_left -= engine->steps_left != 0;
        switch (insn->op) {
        case CODE_LANE: run_lane(engine, warp, insn, frag->mask); break;
        case CODE_UNKNOWN: run_unknown(engine, warp, insn, frag->mask); break;
        case CODE_ACCESS: {
            uint32_t maybe, on = guarded(engine, warp, insn, frag->mask, &maybe);
            if ((on | maybe) != 0) access_run(engine, warp, insn, on | maybe, (frag->doubt & on) | maybe);
            break;
        }
        case CODE_SHFL: run_shuffle(engine, warp, insn, frag->mask); break;
        case CODE_VOTE: run_vote(engine, warp, insn, frag->mask); break;
        case CODE_MATCH: run_match(engine, warp, insn, frag->mask); break;
        case CODE_ELECT: run_elect(engine, warp, insn, frag->mask); break;
        case CODE_REDUX: run_redux(engine, warp, insn, frag->mask); break;
        case CODE_ACTIVE: run_active(engine, warp, insn, frag->mask); break;
        case CODE_RANK: run_rank(engine, warp, frag, pc); break;
        case CODE_BRANCH: case CODE_JUMP:
            if (run_branch(engine, warp, index, &pc) == STEP_DONE) return;
            continue;
        case CODE_INDIRECT:
            if (run_indirect(engine, warp, index, &pc) == STEP_DONE) return;
            continue;
        case CODE_JOIN:
            if (frag->join != NONE && warp->joins.at[frag->join].reconverge == pc) {
                int32_t join = frag->join;
                arrive(engine, warp, join, frag->mask, deferred_lanes(warp, &warp->joins.at[join]));
                drop_frag(engine, warp, index);
                return;
            }
            break;
        case CODE_BARRIER:
            frag->pc = pc + 1;
            if (!barrier_arrive(engine, warp, frag, insn)) return;
            break;
        case CODE_MBARRIER: {
            uint32_t maybe, on = guarded(engine, warp, insn, frag->mask, &maybe);
            frag->pc = pc;
            if ((on | maybe) != 0 &&
                !mbarrier_run(engine, warp, frag, insn, on | maybe, (frag->doubt & on) | maybe))
                return;
            break;
        }
        default:
            if (!run_end(engine, warp, frag, pc)) {
                drop_frag(engine, warp, index);
                return;
            }
            width = (uint32_t)__builtin_popcount(frag->mask);
            break;
        }
        pc++;
    }
}

// Blocks ----------------------------------------------------------------------------------------

static void set_uniform(struct warp *warp, uint32_t slot, uint64_t value) {
    warp->values[slot][0] = value;
    warp->shape[slot] = SHAPE_UNIFORM;
    warp->unknown[slot] = 0;
}

static uint32_t part(const uint32_t v[3], uint8_t component) {
    return component >= 1 && component <= 3 ? v[component - 1] : component == 0 ? v[0] : 0;
}

static void thread_index(const uint32_t block[3], uint32_t thread, uint32_t tid[3]) {
    tid[0] = thread % block[0];
    tid[1] = thread / block[0] % block[1];
    tid[2] = thread / block[0] / block[1];
}

static void set_thread_ids(struct engine *engine, struct warp *warp, uint32_t slot, uint8_t component) {
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t tid[3];
        thread_index(engine->request->block, warp->index * LANES + lane, tid);
        warp->values[slot][lane] = part(tid, component);
    }
    warp->shape[slot] = SHAPE_VARYING;
    warp->unknown[slot] = 0;
}

static void set_per_lane(struct warp *warp, uint32_t slot, uint64_t (*value)(uint32_t lane)) {
    for (uint32_t lane = 0; lane < LANES; lane++) warp->values[slot][lane] = value(lane);
    warp->shape[slot] = SHAPE_VARYING;
    warp->unknown[slot] = 0;
}

static uint64_t lane_id(uint32_t lane) { return lane; }
static uint64_t lanemask_eq(uint32_t lane) { return (uint64_t)1 << lane; }
static uint64_t lanemask_lt(uint32_t lane) { return ((uint64_t)1 << lane) - 1; }
static uint64_t lanemask_le(uint32_t lane) { return ((uint64_t)2 << lane) - 1; }
static uint64_t lanemask_ge(uint32_t lane) { return (uint32_t)~lanemask_lt(lane); }
static uint64_t lanemask_gt(uint32_t lane) { return (uint32_t)~lanemask_le(lane); }

static void set_unknown(struct engine *engine, struct warp *warp, uint32_t slot, uint64_t high) {
    struct abstract range = abstract_range(0, high, engine->code->slots.at[slot].bits);
    for (uint32_t lane = 0; lane < LANES; lane++) warp_set(engine, warp, slot, lane, &range);
}

// Special registers that are the same in every block.
static bool set_invariant_sreg(struct engine *engine, struct warp *warp, uint32_t slot) {
    const struct code_slot *sreg = &engine->code->slots.at[slot];
    const struct dryrun_request *request = engine->request;
    const uint32_t *cluster = request->cluster;
    uint32_t clusters[3];
    for (int i = 0; i < 3; i++) clusters[i] = cluster[i] ? (request->grid[i] + cluster[i] - 1) / cluster[i] : 1;
    switch (sreg->sreg) {
    case SREG_TID: set_thread_ids(engine, warp, slot, sreg->component); return true;
    case SREG_NTID: set_uniform(warp, slot, part(request->block, sreg->component)); return true;
    case SREG_NCTAID: set_uniform(warp, slot, part(request->grid, sreg->component)); return true;
    case SREG_LANEID: set_per_lane(warp, slot, lane_id); return true;
    case SREG_WARPID: set_uniform(warp, slot, warp->index); return true;
    case SREG_NCLUSTERID: set_uniform(warp, slot, part(clusters, sreg->component)); return true;
    case SREG_CLUSTER_NCTAID: set_uniform(warp, slot, part(cluster, sreg->component)); return true;
    case SREG_CLUSTER_NCTARANK: set_uniform(warp, slot, (uint64_t)cluster[0] * cluster[1] * cluster[2]); return true;
    case SREG_IS_EXPLICIT_CLUSTER: set_uniform(warp, slot, cluster[0] * cluster[1] * cluster[2] > 1); return true;
    case SREG_LANEMASK_EQ: set_per_lane(warp, slot, lanemask_eq); return true;
    case SREG_LANEMASK_LE: set_per_lane(warp, slot, lanemask_le); return true;
    case SREG_LANEMASK_LT: set_per_lane(warp, slot, lanemask_lt); return true;
    case SREG_LANEMASK_GE: set_per_lane(warp, slot, lanemask_ge); return true;
    case SREG_LANEMASK_GT: set_per_lane(warp, slot, lanemask_gt); return true;
    case SREG_DYNAMIC_SMEM_SIZE:
        if (!request->shared_dynamic_known) return false;
        set_uniform(warp, slot, request->shared_dynamic);
        return true;
    default: return false;
    }
}

static void set_block_sreg(struct engine *engine, struct warp *warp, uint32_t slot) {
    const struct code_slot *sreg = &engine->code->slots.at[slot];
    const uint32_t *cluster = engine->request->cluster;
    uint32_t in_cluster[3], cluster_id[3];
    for (int i = 0; i < 3; i++) {
        uint32_t size = cluster[i] ? cluster[i] : 1;
        in_cluster[i] = engine->ctaid[i] % size;
        cluster_id[i] = engine->ctaid[i] / size;
    }
    switch (sreg->sreg) {
    case SREG_CTAID: set_uniform(warp, slot, part(engine->ctaid, sreg->component)); return;
    case SREG_CLUSTERID: set_uniform(warp, slot, part(cluster_id, sreg->component)); return;
    case SREG_CLUSTER_CTAID: set_uniform(warp, slot, part(in_cluster, sreg->component)); return;
    case SREG_CLUSTER_CTARANK:
        set_uniform(warp, slot, in_cluster[0] + (uint64_t)cluster[0] * (in_cluster[1] + (uint64_t)cluster[1] * in_cluster[2]));
        return;
    // An SM's number and their count: fewer than 1024 on any device so far.
    case SREG_SMID: case SREG_NSMID: case SREG_NWARPID: set_unknown(engine, warp, slot, 1023); return;
    default: set_unknown(engine, warp, slot, sreg->bits == 64 ? UINT64_MAX : UINT32_MAX); return;
    }
}

// What does not depend on the block, computed once for each warp.
static void prepare_warp(struct engine *engine, struct warp *warp) {
    const struct code *code = engine->code;
    warp->prepared = true;
    warp->live = warp->exists;
    for (uint32_t s = 0; s < code->slots.n; s++) {
        const struct code_slot *slot = &code->slots.at[s];
        warp->unknown[s] = ALL_LANES;
        warp->shape[s] = SHAPE_VARYING;
        if (slot->kind == SLOT_CONST && !slot->unknown) set_uniform(warp, s, slot->value);
        else if (slot->kind == SLOT_SREG && !set_invariant_sreg(engine, warp, s))
            *vec_push(engine->arena, &warp->block_sregs) = s;
    }
    for (uint32_t i = 0; i < warp->block_sregs.n; i++) set_block_sreg(engine, warp, warp->block_sregs.at[i]);
    for (uint32_t i = 0; i < code->hoisted.n; i++)
        run_lane(engine, warp, &code->insns.at[code->hoisted.at[i]], warp->exists);
    // Ranges of what was computed once stay: forget that they could be taken back.
    warp->abstracted.n = 0;
    memcpy(warp->start_unknown, warp->unknown, code->slots.n * sizeof *warp->unknown);
}

static void start_warp(struct engine *engine, struct warp *warp) {
    if (!warp->prepared) prepare_warp(engine, warp);
    for (uint32_t i = 0; i < warp->abstracted.n; i++) {
        uint32_t slot = warp->abstracted.at[i];
        *vec_push(engine->arena, &engine->spare_abstracts) = warp->abstracts[slot];
        warp->abstracts[slot] = NULL;
    }
    warp->abstracted.n = 0;
    memcpy(warp->unknown, warp->start_unknown, engine->code->slots.n * sizeof *warp->unknown);
    for (uint32_t i = 0; i < warp->block_sregs.n; i++) set_block_sreg(engine, warp, warp->block_sregs.at[i]);
    warp->live = warp->exists;
    warp->faulted = false;
    warp->joins.n = warp->frags.n = warp->deferred.n = 0;
    push_frag(engine, warp, (struct frag){.mask = warp->exists, .join = NONE});
}

static void start_block(struct engine *engine) {
    engine->steps_left = STEPS_PER_BLOCK;
    engine->in_doubt = false;
    engine->idle_pc = NO_TARGET;
    if (engine->shared_dirty) memset(engine->shared_known, 0, engine->shared_bytes);
    engine->shared_dirty = false;
    if (engine->private_dirty)
        memset(engine->private_known, 0, (size_t)engine->map->private_size * LANES * engine->warp_count);
    engine->private_dirty = false;
    engine->overlay_stamp++;
    engine->overlay_used = 0;
    engine->overlay_lost = false;
    for (uint32_t id = 0; id < BARRIERS && engine->barriers_used; id++)
        memset(&engine->barriers[id], 0, sizeof engine->barriers[id]);
    engine->barriers_used = false;
    engine->mbarriers.n = 0;
    engine->mbarriers_exact = !engine->code->mbarriers_inexact;
    for (uint32_t w = 0; w < engine->warp_count; w++) start_warp(engine, &engine->warps[w]);
}

// The block is given up: it took too many steps, or the time is over.
static bool give_up(struct engine *engine) {
    bool late = ++engine->frags_run % 64 == 0 && engine_now() > engine->deadline;
    if (engine->steps_left != 0 && !late && !engine->out_of_time) return false;
    engine->out_of_time = engine->out_of_time || late;
    engine->stopped_steps = engine->stopped_steps || engine->steps_left == 0;
    engine->in_doubt = true;
    for (uint32_t w = 0; w < engine->warp_count; w++) engine->warps[w].frags.n = 0;
    return true;
}

// Runs whatever can run. Warps go one after the other, each until it waits.
static void run_ready(struct engine *engine) {
    for (uint32_t w = 0; w < engine->warp_count; w++) {
        struct warp *warp = &engine->warps[w];
        for (;;) {
            uint32_t i = warp->frags.n;
            while (i > 0 && warp->frags.at[i - 1].state != FRAG_READY) i--;
            if (i == 0) break;
            run_frag(engine, warp, i - 1);
            if (give_up(engine)) return;
        }
    }
}

void engine_run_block(struct engine *engine, const uint32_t ctaid[3], uint64_t block, uint64_t weight) {
    memcpy(engine->ctaid, ctaid, sizeof engine->ctaid);
    engine->block = block;
    engine->weight = weight;
    start_block(engine);
    do run_ready(engine);
    while (barriers_release(engine));
}

// Set up ----------------------------------------------------------------------------------------

#define SHARED_TRACKED ((uint64_t)1 << 20)
#define PRIVATE_TRACKED ((uint64_t)64 << 20)  // of all threads of a block; beyond, contents are not followed

static void init_memory(struct engine *engine) {
    const struct map *map = engine->map;
    if (engine->code->shared_needed)
        engine->shared_bytes = map->shared_size < SHARED_TRACKED ? map->shared_size : SHARED_TRACKED;
    engine->shared = arena_array(engine->arena, uint8_t, engine->shared_bytes + 1);
    engine->shared_known = arena_array(engine->arena, uint8_t, engine->shared_bytes + 1);
    engine->overlay_size = OVERLAY_LINES;
    uint64_t private_bytes;
    if (!mul_u64(map->private_size, (uint64_t)LANES * engine->warp_count, &private_bytes) ||
        private_bytes > PRIVATE_TRACKED)
        return;
    engine->private_bytes = arena_array(engine->arena, uint8_t, private_bytes + 1);
    engine->private_known = arena_array(engine->arena, uint8_t, private_bytes + 1);
}

static void init_warp(struct engine *engine, uint32_t index) {
    struct warp *warp = &engine->warps[index];
    uint32_t slots = engine->code->slots.n, left = engine->threads - index * LANES;
    warp->index = index;
    warp->exists = left >= LANES ? ALL_LANES : ((uint32_t)1 << left) - 1;
    warp->values = arena_alloc(engine->arena, (size_t)slots * sizeof *warp->values, 64);
    memset(warp->values, 0, (size_t)slots * sizeof *warp->values);
    warp->unknown = arena_array(engine->arena, uint32_t, slots);
    warp->start_unknown = arena_array(engine->arena, uint32_t, slots);
    warp->shape = arena_array(engine->arena, uint8_t, slots);
    warp->abstracts = arena_array(engine->arena, struct abstract *, slots);
}

void engine_init(struct engine *engine, const struct dryrun_request *request, const struct code *code,
                 const struct map *map, struct arena *arena) {
    memset(engine, 0, sizeof *engine);
    engine->request = request;
    engine->code = code;
    engine->map = map;
    engine->arena = arena;
    engine->lanes = lanes_choose(request->no_simd);
    engine->threads = request->block[0] * request->block[1] * request->block[2];
    engine->warp_count = (engine->threads + LANES - 1) / LANES;
    engine->warps = arena_array(arena, struct warp, engine->warp_count);
    for (uint32_t w = 0; w < engine->warp_count; w++) init_warp(engine, w);
    init_memory(engine);
    engine->region_of = arena_array(arena, uint32_t, code->insns.n + 1);
    engine->pc_seen = arena_array(arena, uint32_t, code->insns.n + 1);
    engine->slot_seen = arena_array(arena, uint32_t, code->slots.n + 1);
    engine->fault_index = arena_array(arena, uint32_t, (size_t)(code->insns.n + 1) * FAULT_KINDS);
    engine->uses = arena_array(arena, struct use_note, map->regions.n + 1);
}
