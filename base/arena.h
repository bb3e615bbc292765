// Memory: arenas over one accounted pool.
//
// Everything that the library allocates comes from an arena. Nothing is freed singly: an arena is
// reset (its memory kept for the next user) or destroyed. Allocation never returns NULL: when
// memory or the stated limit is exhausted, control leaves by `longjmp` to the library's edge, which
// reports it once as an operational failure. Owners destroy their arenas there.
#ifndef PTXVET_BASE_ARENA_H
#define PTXVET_BASE_ARENA_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// What one call into the library may use. Not shared between threads: a worker has its own.
struct memory {
    jmp_buf edge;   // where exhaustion goes; the owner calls setjmp before the first allocation
    size_t used;    // bytes held by all arenas of this pool
    size_t peak;    // most bytes ever held
    size_t limit;   // in bytes; 0 means no limit
    bool at_limit;  // the limit, not the system, refused
};

struct arena_chunk;

struct arena {
    struct memory *memory;
    struct arena_chunk *chunks;  // newest first; the oldest is kept by reset
    unsigned char *at, *end;     // free part of the newest chunk
    unsigned char *last;         // start of the newest allocation, which can grow in place
};

void arena_init(struct arena *arena, struct memory *memory);

// Gives everything but the first chunk back; pointers into the arena are invalid afterwards.
void arena_reset(struct arena *arena);

// Gives everything back. The arena can be used again.
void arena_destroy(struct arena *arena);

// Allocations of this size and more have a chunk of their own, which goes when they are grown.
enum { ARENA_LARGE = 128 * 1024 };

// Slow path of arena_alloc: takes a chunk that holds `size` bytes at `align`.
void *arena_alloc_chunk(struct arena *arena, size_t size, size_t align);

// `size` bytes, not cleared, at a multiple of `align` (a power of two up to 64). Never NULL.
static inline void *arena_alloc(struct arena *arena, size_t size, size_t align) {
    uintptr_t at = ((uintptr_t)arena->at + align - 1) & ~(uintptr_t)(align - 1);
    if (size >= ARENA_LARGE || arena->at == NULL || at > (uintptr_t)arena->end ||
        (uintptr_t)arena->end - at < size)
        return arena_alloc_chunk(arena, size, align);
    arena->last = (unsigned char *)at;
    arena->at = (unsigned char *)at + size;
    return arena->last;
}

// Grows an allocation from `old_size` to `new_size` bytes, in place when it is the newest one.
// The added bytes are not cleared.
void *arena_grow(struct arena *arena, void *old, size_t old_size, size_t new_size, size_t align);

// One cleared object, or an array of `n` cleared objects (n * sizeof is checked).
#define arena_new(arena, type) \
    ((type *)memset(arena_alloc((arena), sizeof(type), _Alignof(type)), 0, sizeof(type)))
#define arena_array(arena, type, n) \
    ((type *)arena_calloc((arena), (n), sizeof(type), _Alignof(type)))

void *arena_calloc(struct arena *arena, size_t n, size_t size, size_t align);

// Growable arrays. `VEC_OF(struct x) xs;` is empty when cleared; elements are `xs.at[i]`, i < xs.n.
// `vec_push(arena, &xs)` adds a cleared element and gives its address (valid until the next push).
#define VEC_OF(type) struct { type *at; uint32_t n, cap; }
#define vec_push(arena, vec)                                                                     \
    (((vec)->n == (vec)->cap                                                                     \
          ? (void)((vec)->at = vec_grow((arena), (vec)->at, &(vec)->cap, sizeof *(vec)->at,      \
                                        _Alignof(max_align_t)))                                  \
          : (void)0),                                                                            \
     memset(&(vec)->at[(vec)->n], 0, sizeof *(vec)->at), &(vec)->at[(vec)->n++])

// Doubles the capacity. Past 2^31 elements it leaves by the edge, as exhausted memory does.
void *vec_grow(struct arena *arena, void *at, uint32_t *cap, size_t size, size_t align);

#endif
