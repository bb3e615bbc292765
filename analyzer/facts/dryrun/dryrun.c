// One launch: slice, compile, run the blocks on as many threads as are given, gather the results.
#include "analyzer/facts/dryrun/dryrun.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "analyzer/facts/dryrun/engine.h"
#include "base/checked.h"

#define SAMPLE 256u                          // blocks that are run before all others
#define VALUES_LIMIT ((uint64_t)1 << 30)     // bytes of registers of one engine
#define CHUNK 8u                             // blocks that a thread takes at a time
#define THREADS_LIMIT 256u

// Which blocks there are to run: coordinates that nothing depends on stay 0, and every block stands
// for all that differ in them only.
struct grid {
    uint32_t size[3];     // blocks along each dimension that matters; else 1
    uint64_t count;       // their product
    uint64_t weight;      // blocks that each stands for
    uint64_t step;        // every step-th block is in the sample
};

static struct grid grid_of(const struct dryrun_request *request, const struct code *code) {
    struct grid grid = {.count = 1, .weight = 1};
    for (int i = 0; i < 3; i++) {
        grid.size[i] = code->dims_used[i] ? request->grid[i] : 1;
        grid.count *= grid.size[i];
        if (!code->dims_used[i]) grid.weight *= request->grid[i];
    }
    grid.step = grid.count / SAMPLE ? grid.count / SAMPLE : 1;
    return grid;
}

static void block_index(const struct grid *grid, uint64_t block, uint32_t ctaid[3]) {
    ctaid[0] = (uint32_t)(block % grid->size[0]);
    ctaid[1] = (uint32_t)(block / grid->size[0] % grid->size[1]);
    ctaid[2] = (uint32_t)(block / grid->size[0] / grid->size[1]);
}

// Corners first, then the even sample, then the others. Position 0..8 are corners; what follows are
// all blocks twice: once those of the sample, once the rest.
static bool is_corner(const struct grid *grid, const uint32_t ctaid[3]) {
    for (int i = 0; i < 3; i++)
        if (ctaid[i] != 0 && ctaid[i] != grid->size[i] - 1) return false;
    return true;
}

#define CORNERS 8u

// The block at a position of the order; false when that position only repeats another.
static bool block_at(const struct grid *grid, uint64_t position, uint64_t *block) {
    uint32_t ctaid[3];
    if (position < CORNERS) {
        uint64_t index = 0, factor = 1;
        for (uint32_t i = 0; i < 3; i++) {
            bool last = position >> i & 1;
            if (last && grid->size[i] == 1) return false;
            index += (last ? grid->size[i] - 1 : 0) * factor;
            factor *= grid->size[i];
        }
        *block = index;
        return true;
    }
    uint64_t samples = (grid->count + grid->step - 1) / grid->step;
    position -= CORNERS;
    *block = position < samples ? position * grid->step : position - samples;
    if (position >= samples && *block % grid->step == 0) return false;
    block_index(grid, *block, ctaid);
    return !is_corner(grid, ctaid);
}

// Threads ---------------------------------------------------------------------------------------

struct shared_state {
    const struct dryrun_request *request;
    const struct code *code;
    const struct map *map;
    struct grid grid;
    uint64_t positions;
    double deadline;
    _Atomic uint64_t next;      // position
    _Atomic uint64_t done;      // blocks run
    atomic_bool out_of_time, out_of_memory;
};

struct worker {
    struct shared_state *state;
    struct memory memory;
    struct arena arena;
    struct engine engine;
    pthread_t thread;
    bool started, reports;
};

static void report_progress(struct worker *worker, uint64_t done, double *last) {
    const struct dryrun_request *request = worker->state->request;
    if (!worker->reports || request->progress == NULL) return;
    double now = engine_now();
    if (now - *last < 0.05) return;
    *last = now;
    request->progress(request->context, done * worker->state->grid.weight,
                      worker->state->grid.count * worker->state->grid.weight);
}

static void work(struct worker *worker) {
    struct shared_state *state = worker->state;
    double last = engine_now();
    for (;;) {
        uint64_t from = atomic_fetch_add(&state->next, CHUNK), done = 0;
        if (from >= state->positions) return;
        for (uint64_t p = from; p < from + CHUNK && p < state->positions; p++) {
            uint64_t block;
            uint32_t ctaid[3];
            if (!block_at(&state->grid, p, &block)) continue;
            if (atomic_load_explicit(&state->out_of_time, memory_order_relaxed)) break;
            block_index(&state->grid, block, ctaid);
            engine_run_block(&worker->engine, ctaid, block, state->grid.weight);
            done += !worker->engine.out_of_time;
            if (engine_now() > state->deadline && p + 1 < state->positions) atomic_store(&state->out_of_time, true);
        }
        report_progress(worker, atomic_fetch_add(&state->done, done) + done, &last);
        if (atomic_load_explicit(&state->out_of_time, memory_order_relaxed)) return;
    }
}

static void *worker_main(void *context) {
    struct worker *worker = context;
    struct shared_state *state = worker->state;
    if (setjmp(worker->memory.edge)) {
        atomic_store(&state->out_of_memory, true);
        atomic_store(&state->out_of_time, true);
        return NULL;
    }
    engine_init(&worker->engine, state->request, state->code, state->map, &worker->arena);
    worker->engine.deadline = state->deadline;
    work(worker);
    return NULL;
}

// The first worker is the calling thread.
static void run_workers(struct worker *workers, uint32_t count) {
    for (uint32_t i = 1; i < count; i++)
        workers[i].started = pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]) == 0;
    (void)worker_main(&workers[0]);
    for (uint32_t i = 1; i < count; i++)
        if (workers[i].started) pthread_join(workers[i].thread, NULL);
}

// Results ---------------------------------------------------------------------------------------

static int compare_notes(const void *a, const void *b) {
    const struct fault_note *x = *(const struct fault_note *const *)a, *y = *(const struct fault_note *const *)b;
    if (x->fault.function != y->fault.function) return x->fault.function < y->fault.function ? -1 : 1;
    if (x->fault.instruction != y->fault.instruction) return x->fault.instruction < y->fault.instruction ? -1 : 1;
    if (x->fault.kind != y->fault.kind) return x->fault.kind < y->fault.kind ? -1 : 1;
    if (x->fault.confidence != y->fault.confidence) return x->fault.confidence > y->fault.confidence ? -1 : 1;
    if (x->block != y->block) return x->block < y->block ? -1 : 1;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    return 0;
}

static bool same_place(const struct dryrun_fault *a, const struct dryrun_fault *b) {
    return a->function == b->function && a->instruction == b->instruction && a->kind == b->kind;
}

// One fault for an instruction and kind: the first in block order, with what all of them add up to.
static void gather_faults(struct worker *workers, uint32_t count, struct arena *arena, struct dryrun_result *result) {
    uint32_t n = 0, at = 0;
    for (uint32_t w = 0; w < count; w++) n += workers[w].engine.fault_list.n;
    struct fault_note **notes = arena_array(arena, struct fault_note *, n + 1);
    for (uint32_t w = 0; w < count; w++)
        for (uint32_t i = 0; i < workers[w].engine.fault_list.n; i++)
            notes[at++] = &workers[w].engine.fault_list.at[i];
    qsort(notes, n, sizeof *notes, compare_notes);
    for (uint32_t i = 0; i < n; i++) {
        const struct dryrun_fault *fault = &notes[i]->fault;
        struct dryrun_fault *last = result->faults.n ? &result->faults.at[result->faults.n - 1] : NULL;
        if (last == NULL || !same_place(last, fault)) {
            *vec_push(arena, &result->faults) = *fault;
            continue;
        }
        last->threads += fault->threads;
        if (fault->furthest > last->furthest) last->furthest = fault->furthest;
        last->silent = last->silent && fault->silent;
        if (last->result == RESULT_CUDA_SUCCESS || fault->result == RESULT_CUDA_ERROR_ILLEGAL_ADDRESS)
            last->result = fault->result;
    }
}

static void merge_use(struct use_note *to, const struct use_note *from) {
    if (from->read) {
        if (!to->read || from->read_low < to->read_low) to->read_low = from->read_low;
        if (!to->read || from->read_high > to->read_high) to->read_high = from->read_high;
        to->read = true;
    }
    if (from->written) {
        if (!to->written || from->written_low < to->written_low) to->written_low = from->written_low;
        if (!to->written || from->written_high > to->written_high) to->written_high = from->written_high;
        to->written = true;
    }
    to->inexact = to->inexact || from->inexact;
    to->contents_wanted = to->contents_wanted || from->contents_wanted;
    if (from->align > to->align) to->align = from->align;
}

static uint64_t not_below_zero(int64_t value) { return value > 0 ? (uint64_t)value : 0; }

static void add_use(struct arena *arena, struct dryrun_result *result, uint32_t param, const struct use_note *note) {
    struct dryrun_use *use = vec_push(arena, &result->uses);
    int64_t high = 0;
    use->param = param;
    use->read = note->read;
    use->written = note->written;
    if (note->read) {
        use->read_low = not_below_zero(note->read_low);
        use->read_high = not_below_zero(note->read_high);
        high = note->read_high;
    }
    if (note->written) {
        use->written_low = not_below_zero(note->written_low);
        use->written_high = not_below_zero(note->written_high);
        if (note->written_high > high) high = note->written_high;
    }
    use->size_needed = not_below_zero(high);
    use->align_needed = note->read || note->written ? (note->align ? (uint32_t)note->align : 1) : 0;
    use->exact = !note->inexact;
}

static void gather_uses(struct worker *workers, uint32_t count, const struct map *map, struct arena *arena,
                        struct dryrun_result *result) {
    for (uint32_t r = 0; r <= map->regions.n; r++) {
        struct use_note note = {0};
        for (uint32_t w = 0; w < count; w++)
            if (workers[w].engine.uses != NULL) merge_use(&note, &workers[w].engine.uses[r]);
        bool is_shared = r == map->regions.n;
        uint32_t param = is_shared ? NO_INDEX : map->regions.at[r].param;
        if (!is_shared && param == NO_INDEX) continue;
        add_use(arena, result, param, &note);
        if (note.contents_wanted && param != NO_INDEX) *vec_push(arena, &result->unknown_params) = param;
    }
}

// What the device answers when warps end in these ways; where kinds race, the likeliest first.
static void decide(const uint64_t deaths[DEATH_COUNT], struct dryrun_result *result) {
    static const struct { enum death death; int result; } order[] = {
        {DEATH_ILLEGAL, RESULT_CUDA_ERROR_ILLEGAL_ADDRESS},
        {DEATH_MISALIGNED, RESULT_CUDA_ERROR_MISALIGNED_ADDRESS},
        {DEATH_INSTRUCTION, RESULT_CUDA_ERROR_ILLEGAL_INSTRUCTION},
        {DEATH_ASSERT, RESULT_CUDA_ERROR_ASSERT},
        {DEATH_TRAP, RESULT_CUDA_ERROR_LAUNCH_FAILED},
        {DEATH_HANG, RESULT_HANG}};
    result->result = RESULT_CUDA_SUCCESS;
    for (uint32_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (deaths[order[i].death] == 0) continue;
        if (result->result == RESULT_CUDA_SUCCESS) result->result = order[i].result;
        else if (result->also == 0 && order[i].death != DEATH_HANG) result->also = order[i].result;
    }
    if (deaths[DEATH_EITHER] != 0) {
        result->result = RESULT_CUDA_ERROR_ILLEGAL_ADDRESS;
        result->also = RESULT_CUDA_ERROR_MISALIGNED_ADDRESS;
    }
    bool possible = false;
    for (uint32_t i = 0; i < result->faults.n; i++)
        possible = possible || (!result->faults.at[i].silent && !result->faults.at[i].removable);
    if (result->result != RESULT_CUDA_SUCCESS)
        result->confidence = result->also ? CONFIDENCE_LIKELY : CONFIDENCE_CERTAIN;
    else
        result->confidence = possible ? CONFIDENCE_POSSIBLE
                             : result->complete && result->unknown_addresses == 0 && result->unknown_effects == 0
                                 ? CONFIDENCE_CERTAIN : CONFIDENCE_LIKELY;
}

static void gather(struct worker *workers, uint32_t count, const struct map *map, const struct code *code,
                   struct arena *arena, struct dryrun_result *result) {
    bool steps = false, recursion = code->truncated;
    for (uint32_t w = 0; w < count; w++) {
        const struct engine *engine = &workers[w].engine;
        result->unknown_addresses += engine->unknown_addresses;
        result->lane_instructions += engine->lane_instructions;
        steps = steps || engine->stopped_steps;
        recursion = recursion || engine->stopped_recursion;
    }
    if (recursion) result->stopped = "calls";
    if (steps) result->stopped = "steps";
    result->unknown_effects = code->unknown_effects;
    gather_faults(workers, count, arena, result);
    gather_uses(workers, count, map, arena, result);
}

static uint32_t worker_count(const struct dryrun_request *request, const struct grid *grid) {
    uint64_t count = request->threads ? request->threads : 1;
    if (count > THREADS_LIMIT) count = THREADS_LIMIT;
    // A thread for a few blocks costs more than it saves.
    if (count > grid->count / CHUNK + 1) count = grid->count / CHUNK + 1;
    return (uint32_t)count;
}

static void run(const struct dryrun_request *request, const struct code *code, const struct map *map,
                struct arena *arena, struct dryrun_result *result) {
    struct shared_state state = {.request = request, .code = code, .map = map};
    state.grid = grid_of(request, code);
    uint64_t samples = (state.grid.count + state.grid.step - 1) / state.grid.step;
    state.positions = CORNERS + samples + state.grid.count;
    state.deadline = engine_now() + request->budget;
    uint32_t count = worker_count(request, &state.grid);
    struct worker *workers = arena_array(arena, struct worker, count);
    for (uint32_t i = 0; i < count; i++) {
        workers[i].state = &state;
        workers[i].memory.limit = arena->memory->limit;
        workers[i].reports = i == 0;
        arena_init(&workers[i].arena, &workers[i].memory);
    }
    run_workers(workers, count);
    gather(workers, count, map, code, arena, result);
    result->blocks_run = atomic_load(&state.done) * state.grid.weight;
    if (atomic_load(&state.out_of_memory)) result->stopped = "memory";
    else if (atomic_load(&state.out_of_time) || result->blocks_run < result->blocks) result->stopped = "budget";
    result->complete = result->stopped == NULL && result->blocks_run == result->blocks;
    uint64_t deaths[DEATH_COUNT] = {0};
    for (uint32_t w = 0; w < count; w++)
        for (int d = 0; d < DEATH_COUNT; d++) deaths[d] += workers[w].engine.deaths[d];
    decide(deaths, result);
    for (uint32_t i = 0; i < count; i++) arena_destroy(&workers[i].arena);
}

static bool launch_is_runnable(const struct dryrun_request *request) {
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (request->grid[i] == 0 || request->block[i] == 0) return false;
        if (!mul_u64(threads, request->block[i], &threads)) return false;
    }
    return threads <= 1024 && request->kernel->decl->body != NULL;
}

void dryrun(const struct dryrun_request *request, struct arena *arena, struct dryrun_result *result) {
    memset(result, 0, sizeof *result);
    result->blocks = (uint64_t)request->grid[0] * request->grid[1] * request->grid[2];
    if (!launch_is_runnable(request)) {
        result->stopped = "launch";
        return;
    }
    struct slice slice;
    struct map map;
    struct code code;
    slice_compute(request->module, request->kernel->function, arena, &slice);
    map_build(request, &slice, arena, &map);
    code_compile(request, &slice, &map, arena, &code);
    uint64_t threads = (uint64_t)request->block[0] * request->block[1] * request->block[2];
    if ((threads + LANES - 1) / LANES * code.slots.n * sizeof(uint64_t) * LANES > VALUES_LIMIT) {
        result->stopped = "memory";
        return;
    }
    run(request, &code, &map, arena, result);
}
