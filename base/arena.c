#include "base/arena.h"

#include <stdlib.h>

struct arena_chunk {
    struct arena_chunk *older;
    size_t size;  // of the whole chunk, this header included
};

enum { CHUNK_FIRST = 32 * 1024, CHUNK_LARGEST = 1024 * 1024 };

#define CHUNK_HEADER ((sizeof(struct arena_chunk) + 63) & ~(size_t)63)

static _Noreturn void exhausted(struct memory *memory, bool at_limit) {
    memory->at_limit = at_limit;
    longjmp(memory->edge, 1);
}

void arena_init(struct arena *arena, struct memory *memory) {
    *arena = (struct arena){.memory = memory};
}

static void enter_chunk(struct arena *arena, struct arena_chunk *chunk) {
    arena->chunks = chunk;
    arena->at = (unsigned char *)chunk + CHUNK_HEADER;
    arena->end = (unsigned char *)chunk + chunk->size;
    arena->last = NULL;
}

static size_t next_chunk_size(const struct arena *arena, size_t size) {
    size_t want = arena->chunks == NULL ? CHUNK_FIRST : arena->chunks->size * 2;
    if (want > CHUNK_LARGEST) want = CHUNK_LARGEST;
    if (size > SIZE_MAX - CHUNK_HEADER - 128) return 0;
    size_t need = size + CHUNK_HEADER + 64;
    return want > need ? want : need;
}

void *arena_alloc_chunk(struct arena *arena, size_t size, size_t align) {
    struct memory *memory = arena->memory;
    size_t bytes = next_chunk_size(arena, size);
    if (bytes == 0) exhausted(memory, false);
    bool large = size >= ARENA_LARGE;
    if (large) bytes = size + CHUNK_HEADER;
    if (memory->limit != 0 && (memory->used > memory->limit || bytes > memory->limit - memory->used))
        exhausted(memory, true);
    struct arena_chunk *chunk = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
    if (chunk == NULL) exhausted(memory, false);
    bytes = (bytes + 63) & ~(size_t)63;
    memory->used += bytes;
    if (memory->used > memory->peak) memory->peak = memory->used;
    *chunk = (struct arena_chunk){.older = arena->chunks, .size = bytes};
    if (large) {
        arena->chunks = chunk;  // the free part stays that of the chunk before
        return (unsigned char *)chunk + CHUNK_HEADER;
    }
    enter_chunk(arena, chunk);
    return arena_alloc(arena, size, align);
}

// Gives back the chunk of a large allocation.
static void free_large(struct arena *arena, void *old) {
    struct arena_chunk *chunk = (void *)((unsigned char *)old - CHUNK_HEADER);
    struct arena_chunk **link = &arena->chunks;
    while (*link != chunk) link = &(*link)->older;
    *link = chunk->older;
    arena->memory->used -= chunk->size;
    free(chunk);
}

static void drop_chunks(struct arena *arena, struct arena_chunk *keep) {
    while (arena->chunks != keep) {
        struct arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->older;
        arena->memory->used -= chunk->size;
        free(chunk);
    }
}

void arena_reset(struct arena *arena) {
    struct arena_chunk *first = arena->chunks;
    if (first == NULL) return;
    while (first->older != NULL) first = first->older;
    drop_chunks(arena, first);
    enter_chunk(arena, first);
}

void arena_destroy(struct arena *arena) {
    drop_chunks(arena, NULL);
    arena->at = arena->end = arena->last = NULL;
}

void *arena_calloc(struct arena *arena, size_t n, size_t size, size_t align) {
    if (size != 0 && n > SIZE_MAX / size) exhausted(arena->memory, false);
    void *at = arena_alloc(arena, n * size, align);
    return memset(at, 0, n * size);
}

void *arena_grow(struct arena *arena, void *old, size_t old_size, size_t new_size, size_t align) {
    bool here = old != NULL && old == arena->last && new_size < ARENA_LARGE;
    if (here && (size_t)(arena->end - arena->last) >= new_size) {
        arena->at = arena->last + new_size;
        return old;
    }
    void *at = arena_alloc(arena, new_size, align);
    if (old_size != 0) memcpy(at, old, old_size);
    // What is that large has a chunk of its own.
    if (old_size >= ARENA_LARGE) free_large(arena, old);
    return at;
}

void *vec_grow(struct arena *arena, void *at, uint32_t *cap, size_t size, size_t align) {
    if (*cap > UINT32_MAX / 4) exhausted(arena->memory, false);
    uint32_t wider = *cap == 0 ? 8 : *cap * 2;
    at = arena_grow(arena, at, *cap * size, wider * size, align);
    *cap = wider;
    return at;
}
