#include "cli/jobs.h"

#include <pthread.h>
#include <stdlib.h>

enum { WINDOW = 64 };

struct slot {
    struct piece piece;
    bool ready;
};

struct pool {
    const struct jobs *jobs;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t claimed, committed;
    uint32_t window;
    struct slot *slots;  // job i is in slot i % window
};

static void worker_start(struct worker *worker, const struct jobs *jobs) {
    *worker = (struct worker){.threads = jobs->count == 1 ? jobs->threads : 1};
    worker->memory.limit = jobs->memory_limit;
    arena_init(&worker->module, &worker->memory);
    arena_init(&worker->bodies, &worker->memory);
    arena_init(&worker->records, &worker->memory);
}

static void worker_end(struct worker *worker) {
    arena_destroy(&worker->module);
    arena_destroy(&worker->bodies);
    arena_destroy(&worker->records);
    loader_release(&worker->loader);
}

static void piece_start(struct piece *piece) {
    arena_reset(&piece->arena);
    memset(&piece->totals, 0, sizeof piece->totals);
    for (int i = 0; i < SINKS_MOST; i++) output_init(&piece->parts[i], &piece->arena);
    output_init(&piece->said, &piece->arena);
    piece->found = piece->trouble = false;
    memset(&piece->accepted, 0, sizeof piece->accepted);
}

// Both edges lead here: a job allocates in the worker's arenas and in its piece.
static void run_job(const struct jobs *jobs, struct worker *worker, uint32_t index,
                    struct piece *piece) {
    if (setjmp(worker->memory.edge) == 0 && setjmp(piece->memory.edge) == 0) {
        piece_start(piece);
        jobs->run(jobs->context, worker, index, piece);
        return;
    }
    bool at_limit = worker->memory.at_limit;
    arena_destroy(&worker->module);
    arena_destroy(&worker->bodies);
    arena_destroy(&worker->records);
    worker->memory.at_limit = false;
    arena_destroy(&piece->arena);
    if (setjmp(piece->memory.edge) != 0) {
        piece->trouble = true;  // not even a message fits
        return;
    }
    piece_start(piece);
    jobs->exhausted(jobs->context, index, piece, at_limit);
}

static void run_alone(const struct jobs *jobs) {
    struct worker worker;
    struct slot slot = {0};
    worker_start(&worker, jobs);
    arena_init(&slot.piece.arena, &slot.piece.memory);
    for (uint32_t i = 0; i < jobs->count; i++) {
        run_job(jobs, &worker, i, &slot.piece);
        jobs->commit(jobs->context, i, &slot.piece);
    }
    arena_destroy(&slot.piece.arena);
    worker_end(&worker);
}

// The next job that fits into the window, or false when there is none left.
static bool claim(struct pool *pool, uint32_t *index) {
    pthread_mutex_lock(&pool->lock);
    while (pool->claimed < pool->jobs->count && pool->claimed >= pool->committed + pool->window)
        pthread_cond_wait(&pool->changed, &pool->lock);
    bool any = pool->claimed < pool->jobs->count;
    if (any) *index = pool->claimed++;
    pthread_mutex_unlock(&pool->lock);
    return any;
}

static void *work(void *context) {
    struct pool *pool = context;
    struct worker worker;
    uint32_t index;
    worker_start(&worker, pool->jobs);
    while (claim(pool, &index)) {
        struct slot *slot = &pool->slots[index % pool->window];
        run_job(pool->jobs, &worker, index, &slot->piece);
        pthread_mutex_lock(&pool->lock);
        slot->ready = true;
        pthread_cond_broadcast(&pool->changed);
        pthread_mutex_unlock(&pool->lock);
    }
    worker_end(&worker);
    return NULL;
}

static void commit_all(struct pool *pool) {
    for (uint32_t i = 0; i < pool->jobs->count; i++) {
        struct slot *slot = &pool->slots[i % pool->window];
        pthread_mutex_lock(&pool->lock);
        while (!slot->ready) pthread_cond_wait(&pool->changed, &pool->lock);
        pthread_mutex_unlock(&pool->lock);
        pool->jobs->commit(pool->jobs->context, i, &slot->piece);
        pthread_mutex_lock(&pool->lock);
        slot->ready = false;
        pool->committed++;
        pthread_cond_broadcast(&pool->changed);
        pthread_mutex_unlock(&pool->lock);
    }
}

// Threads that could not be started are done without; with none at all the caller does the work.
static bool run_pool(struct pool *pool, uint32_t wanted) {
    pthread_t *threads = calloc(wanted, sizeof *threads);
    uint32_t started = 0;
    while (threads != NULL && started < wanted &&
           pthread_create(&threads[started], NULL, work, pool) == 0)
        started++;
    if (started != 0) commit_all(pool);
    for (uint32_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
    free(threads);
    return started != 0;
}

void jobs_run(const struct jobs *jobs) {
    uint32_t wanted = jobs->threads < jobs->count ? jobs->threads : jobs->count;
    struct pool pool = {.jobs = jobs, .window = WINDOW + wanted,
                        .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    if (wanted > 1) pool.slots = calloc(pool.window, sizeof *pool.slots);
    bool done = false;
    if (pool.slots != NULL) {
        for (uint32_t i = 0; i < pool.window; i++)
            arena_init(&pool.slots[i].piece.arena, &pool.slots[i].piece.memory);
        done = run_pool(&pool, wanted);
        for (uint32_t i = 0; i < pool.window; i++) arena_destroy(&pool.slots[i].piece.arena);
        free(pool.slots);
    }
    if (!done) run_alone(jobs);
}
