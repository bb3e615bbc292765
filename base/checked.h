// Arithmetic on numbers that users gave. Each gives false, and leaves *out alone, on overflow.
#ifndef PTXVET_BASE_CHECKED_H
#define PTXVET_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

static inline bool add_u64(uint64_t a, uint64_t b, uint64_t *out) {
    uint64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) return false;
    *out = sum;
    return true;
}

static inline bool mul_u64(uint64_t a, uint64_t b, uint64_t *out) {
    uint64_t product;
    if (__builtin_mul_overflow(a, b, &product)) return false;
    *out = product;
    return true;
}

// The next multiple of `align`, a power of two.
static inline bool align_u64(uint64_t a, uint64_t align, uint64_t *out) {
    uint64_t sum;
    if (!add_u64(a, align - 1, &sum)) return false;
    *out = sum & ~(align - 1);
    return true;
}

static inline bool is_power_of_two(uint64_t a) { return a != 0 && (a & (a - 1)) == 0; }

#endif
