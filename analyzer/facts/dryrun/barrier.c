// Barriers: who has come, who can still come, and which waits can never end.
#include "analyzer/facts/dryrun/engine.h"

static uint32_t first_lane(uint32_t mask) { return (uint32_t)__builtin_ctz(mask); }

// Lanes of a warp count as a whole warp once those that are left have all come: threads that ended
// or that the block does not have count as arrived (measured).
static uint64_t arrived_at(const struct engine *engine, const struct barrier *barrier) {
    uint64_t count = 0;
    for (uint32_t w = 0; w < engine->warp_count; w++) {
        const struct warp *warp = &engine->warps[w];
        uint32_t come = barrier->arrived[w];
        if (come != 0 || warp->live == 0) come |= ~warp->live;
        count += (uint64_t)__builtin_popcount(come);
    }
    return count;
}

static uint64_t all_threads(const struct engine *engine) { return (uint64_t)engine->warp_count * LANES; }

static bool is_complete(const struct engine *engine, const struct barrier *barrier) {
    // Without a count every thread that has not ended is waited for.
    if (barrier->expected == 0) return arrived_at(engine, barrier) >= all_threads(engine);
    return arrived_at(engine, barrier) >= barrier->expected;
}

static void open_barrier(struct engine *engine, uint32_t id) {
    struct barrier *barrier = &engine->barriers[id];
    for (uint32_t w = 0; w < engine->warp_count; w++) {
        struct warp *warp = &engine->warps[w];
        for (uint32_t f = 0; f < warp->frags.n; f++)
            if (warp->frags.at[f].state == FRAG_BARRIER && warp->frags.at[f].barrier == id)
                warp->frags.at[f].state = FRAG_READY;
    }
    memset(barrier->arrived, 0, engine->warp_count * sizeof *barrier->arrived);
    barrier->used = false;
    barrier->expected = 0;
}

bool barrier_arrive(struct engine *engine, struct warp *warp, struct frag *frag, const struct code_insn *insn) {
    uint32_t maybe = 0, on = frag->mask;
    if (insn->guard_kind != GUARD_NONE) {
        uint32_t truth = warp_predicate(engine, warp, insn->guard, &maybe);
        if (insn->guard_kind == GUARD_UNLESS) truth = ~truth;
        maybe &= frag->mask;
        on = frag->mask & truth & ~maybe;
    }
    if ((on | maybe) == 0) return true;
    uint32_t lane = first_lane(on | maybe);
    struct abstract id = warp_value(engine, warp, insn->a, lane), count = warp_value(engine, warp, insn->b, lane);
    // Where it is not certain who comes, barriers are taken to let everyone through.
    if (maybe != 0 || (frag->doubt & on) != 0 || id.count != 0 || id.start >= BARRIERS || count.count != 0) {
        engine->in_doubt = true;
        return true;
    }
    struct barrier *barrier = &engine->barriers[id.start];
    engine->barriers_used = true;
    barrier->used = true;
    barrier->insn = (uint32_t)(insn - engine->code->insns.at);
    barrier->expected = insn->c ? count.start : 0;
    // A thread may come again only after the barrier has opened.
    // Lanes of the frag whose guard is false are not waited for: they go on, or end.
    barrier->arrived[warp->index] |= frag->mask;
    bool opens = is_complete(engine, barrier);
    if (insn->sub == 1) {
        if (opens) open_barrier(engine, (uint32_t)id.start);
        return true;
    }
    if (opens) {
        open_barrier(engine, (uint32_t)id.start);
        return true;
    }
    frag->state = FRAG_BARRIER;
    frag->barrier = (uint8_t)id.start;
    frag->wait = (uint32_t)(insn - engine->code->insns.at);
    return false;
}

// mbarrier --------------------------------------------------------------------------------------

static struct mbarrier *mbarrier_at(struct engine *engine, uint64_t address) {
    for (uint32_t i = 0; i < engine->mbarriers.n; i++)
        if (engine->mbarriers.at[i].address == address) return &engine->mbarriers.at[i];
    struct mbarrier *added = vec_push(engine->arena, &engine->mbarriers);
    added->address = address;
    return added;
}

static void next_phase(struct mbarrier *mbarrier) {
    if (mbarrier->pending != 0 || mbarrier->transactions != 0) return;
    mbarrier->pending = mbarrier->expected;
    mbarrier->phase++;
}

static bool mbarrier_done(const struct mbarrier *mbarrier, bool parity, uint64_t operand) {
    if (parity) return (mbarrier->phase & 1) != (operand & 1);
    return mbarrier->phase > operand;
}

static void mbarrier_update(struct engine *engine, struct mbarrier *mbarrier, enum mbarrier_op op, uint64_t operand) {
    switch (op) {
    case MBARRIER_INIT:
        *mbarrier = (struct mbarrier){mbarrier->address, operand, operand, 0, 0, true};
        return;
    case MBARRIER_INVAL: mbarrier->exact = false; return;
    case MBARRIER_ARRIVE_DROP:
        mbarrier->expected -= mbarrier->expected != 0;
        mbarrier->pending -= mbarrier->pending != 0;
        break;
    case MBARRIER_ARRIVE:
        mbarrier->pending -= operand < mbarrier->pending ? operand : mbarrier->pending;
        break;
    case MBARRIER_ARRIVE_EXPECT:
        mbarrier->transactions += (int64_t)operand;
        mbarrier->pending -= mbarrier->pending != 0;
        break;
    case MBARRIER_EXPECT: mbarrier->transactions += (int64_t)operand; break;
    case MBARRIER_COMPLETE: mbarrier->transactions -= (int64_t)operand; break;
    default: mbarrier->exact = false; break;
    }
    if (mbarrier->exact) next_phase(mbarrier);
    else engine->mbarriers_exact = false;
}

static bool is_wait(uint8_t sub) { return sub == MBARRIER_WAIT || sub == MBARRIER_WAIT_PARITY; }

static void set_result(struct engine *engine, struct warp *warp, const struct code_insn *insn, uint32_t lane,
                       struct abstract value) {
    if (insn->d != 0) warp_set(engine, warp, insn->d, lane, &value);
}

bool mbarrier_run(struct engine *engine, struct warp *warp, struct frag *frag, const struct code_insn *insn,
                  uint32_t mask, uint32_t doubt) {
    bool wait = is_wait(insn->sub);
    warp_widen(engine, warp, insn->a);
    if (doubt != 0 || (warp->unknown[insn->a] & mask) != 0 ||
        (insn->sub != MBARRIER_INEXACT && (warp->unknown[insn->b] & mask) != 0))
        engine->mbarriers_exact = false;
    for (uint32_t left = mask; left != 0 && engine->mbarriers_exact; left &= left - 1) {
        uint32_t lane = first_lane(left);
        uint64_t address = (warp->values[insn->a][lane] + insn->imm) & 0xffffff;
        struct abstract operand = warp_value(engine, warp, insn->b, lane);
        struct mbarrier *mbarrier = mbarrier_at(engine, address);
        if (wait) {
            if (!mbarrier->exact || mbarrier_done(mbarrier, insn->sub == MBARRIER_WAIT_PARITY, operand.start)) continue;
            frag->state = FRAG_MBARRIER;
            frag->wait = (uint32_t)(insn - engine->code->insns.at);
            return false;
        }
        uint64_t phase = mbarrier->phase;
        engine->mbarrier_changes++;
        mbarrier_update(engine, mbarrier, (enum mbarrier_op)insn->sub, operand.start);
        if (insn->sub != MBARRIER_INIT) set_result(engine, warp, insn, lane, abstract_known(phase));
    }
    // Waits end, by what was followed or by taking it so.
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        if (wait) set_result(engine, warp, insn, first_lane(left), abstract_known(1));
        else if (!engine->mbarriers_exact) set_result(engine, warp, insn, first_lane(left), abstract_top(64));
    }
    return true;
}

// Deadlock --------------------------------------------------------------------------------------

static bool wake_mbarriers(struct engine *engine) {
    bool any = false;
    for (uint32_t w = 0; w < engine->warp_count; w++) {
        struct warp *warp = &engine->warps[w];
        for (uint32_t f = 0; f < warp->frags.n; f++)
            if (warp->frags.at[f].state == FRAG_MBARRIER) {
                warp->frags.at[f].state = FRAG_READY;
                any = true;
            }
    }
    return any;
}

static bool open_complete(struct engine *engine) {
    bool any = false;
    for (uint32_t id = 0; id < BARRIERS && engine->barriers_used; id++)
        if (engine->barriers[id].used && is_complete(engine, &engine->barriers[id])) {
            open_barrier(engine, id);
            any = true;
        }
    return any;
}

// Threads need not wait for others of their warp where paths meet: those that have come go on.
static bool part_company(struct engine *engine) {
    bool any = false;
    for (uint32_t w = 0; w < engine->warp_count; w++) {
        struct warp *warp = &engine->warps[w];
        for (uint32_t j = 0; j < warp->joins.n; j++) {
            struct join *join = &warp->joins.at[j];
            if (!join->used || join->arrived == 0 || join->live == 0 || join->deferred != NONE || join->stashed != 0)
                continue;
            struct frag frag = {.pc = join->reconverge, .mask = join->arrived, .doubt = join->doubt & join->arrived,
                                .join = join->parent, .state = FRAG_READY};
            join->arrived = 0;
            if (join->parent != NONE) warp->joins.at[join->parent].live++;
            *vec_push(engine->arena, &warp->frags) = frag;
            any = true;
        }
    }
    return any;
}

// Nobody can go on. If all is certain the block hangs; else the waits are taken to end.
static bool break_deadlock(struct engine *engine) {
    bool faulted = false;
    for (uint32_t w = 0; w < engine->warp_count; w++) faulted = faulted || engine->warps[w].faulted;
    for (uint32_t w = 0; w < engine->warp_count; w++) {
        struct warp *warp = &engine->warps[w];
        for (uint32_t f = 0; f < warp->frags.n && !engine->in_doubt && !faulted; f++) {
            struct frag *frag = &warp->frags.at[f];
            const struct code_insn *insn = &engine->code->insns.at[frag->wait];
            struct dryrun_fault *fault = fault_note(engine, warp, frag->wait, FAULT_BARRIER_HANG, frag->mask, 0);
            fault->result = RESULT_HANG;
            fault->silent = false;
            if (insn->op == CODE_BARRIER) {
                const struct barrier *barrier = &engine->barriers[frag->barrier];
                fault->expected = barrier->expected ? barrier->expected : engine->threads;
                fault->arrived = arrived_at(engine, barrier);
            }
            fault_kill(engine, warp, DEATH_HANG, frag->mask, 0);
        }
    }
    engine->in_doubt = true;
    engine->mbarriers_exact = false;
    for (uint32_t id = 0; id < BARRIERS; id++) open_barrier(engine, id);
    return true;
}

bool barriers_release(struct engine *engine) {
    bool waiting = false, at_mbarrier = false;
    for (uint32_t w = 0; w < engine->warp_count; w++) {
        const struct warp *warp = &engine->warps[w];
        for (uint32_t f = 0; f < warp->frags.n; f++) {
            if (warp->frags.at[f].state == FRAG_READY) return true;
            waiting = true;
            at_mbarrier = at_mbarrier || warp->frags.at[f].state == FRAG_MBARRIER;
        }
    }
    if (!waiting) return false;
    if (open_complete(engine)) {
        (void)wake_mbarriers(engine);
        return true;
    }
    // What waited at an mbarrier looks again while anything has changed since it last did.
    if (at_mbarrier && engine->mbarrier_changes != engine->mbarrier_seen) {
        engine->mbarrier_seen = engine->mbarrier_changes;
        return wake_mbarriers(engine);
    }
    if (part_company(engine)) return true;
    (void)break_deadlock(engine);
    (void)wake_mbarriers(engine);
    return true;
}
