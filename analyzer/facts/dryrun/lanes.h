// Operations on 32 lanes at once, in a portable and an AVX2 build of the same source.
#ifndef PTXVET_DRYRUN_LANES_H
#define PTXVET_DRYRUN_LANES_H

#include <stdbool.h>
#include <stdint.h>

#define LANES 32

enum lane_op {
#define LANE(id, abstract, bits, expression) LANE_##id,
#include "analyzer/facts/dryrun/lanes.def"
    LANE_COUNT
};

enum abstract_kind {
    ABSTRACT_TOP, ABSTRACT_MOV, ABSTRACT_ZEXT, ABSTRACT_SEXT, ABSTRACT_ADD, ABSTRACT_SUB, ABSTRACT_MUL,
    ABSTRACT_MULWIDE_U, ABSTRACT_MULWIDE_S, ABSTRACT_MULHI_U, ABSTRACT_MAD, ABSTRACT_MADWIDE_U,
    ABSTRACT_MADWIDE_S, ABSTRACT_DIV_U, ABSTRACT_DIV_S, ABSTRACT_REM_U, ABSTRACT_REM_S,
    ABSTRACT_MIN_U, ABSTRACT_MAX_U, ABSTRACT_MIN_S, ABSTRACT_MAX_S, ABSTRACT_ABS, ABSTRACT_NEG,
    ABSTRACT_AND, ABSTRACT_OR, ABSTRACT_XOR, ABSTRACT_NOT, ABSTRACT_SHL, ABSTRACT_SHR_U,
    ABSTRACT_SHR_S, ABSTRACT_BFE_U, ABSTRACT_BFE_S, ABSTRACT_COUNT, ABSTRACT_PRMT, ABSTRACT_LOP3,
    ABSTRACT_PACK32, ABSTRACT_SELP, ABSTRACT_EQ, ABSTRACT_NE, ABSTRACT_LT_U, ABSTRACT_LE_U,
    ABSTRACT_LT_S, ABSTRACT_LE_S, ABSTRACT_CLAMP
};

struct lane_info {
    uint8_t abstract;  // enum abstract_kind
    uint8_t bits;
};
extern const struct lane_info lane_infos[LANE_COUNT];

// Comparisons of floating point, by the number that LANE_cmp_f32 takes.
enum lane_comparison {
    COMPARE_EQ, COMPARE_NE, COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE, COMPARE_NUM, COMPARE_NAN,
    COMPARE_UNORDERED = 8,  // flag: true when either is NaN
};
// Rounding to integer, in the low bits of the number that LANE_f64_to_int and LANE_round take.
enum lane_rounding { ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP };
#define ROUND_MASK 3u
#define INT_SIGNED 4u       // f64_to_int: bits 8.. are the width
#define INT_WIDTH_SHIFT 8

// What a scan of the addresses of one access found.
struct lane_scan {
    uint64_t low, high;  // least and greatest offset from the base (as signed numbers)
    uint64_t bits;       // all offsets or-ed: alignment
};

struct lane_table {
    void (*wide[LANE_COUNT])(uint64_t *d, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                             uint64_t imm);
    uint64_t (*scalar[LANE_COUNT])(uint64_t a, uint64_t b, uint64_t c, uint64_t imm);
    void (*broadcast)(uint64_t *d, uint64_t value);
    // Lanes of `select` (all ones or zero) take `a`.
    void (*blend)(uint64_t *d, const uint64_t *a, const uint64_t *select);
    void (*expand)(uint64_t *select, uint32_t mask);
    uint32_t (*pack)(const uint64_t *predicate);
    void (*scan)(const uint64_t *address, uint64_t base, struct lane_scan *scan);
    void (*scan_some)(const uint64_t *address, uint64_t base, const uint64_t *select,
                      struct lane_scan *scan);
};

extern const struct lane_table lanes_portable;
extern const struct lane_table lanes_avx2;  // the same as portable where the compiler has no AVX2

// The fastest that this machine runs, or the portable one.
const struct lane_table *lanes_choose(bool portable);

#endif
