// Values that are not known: a range and known bits. "At least" knowledge: a smaller set is better,
// a larger one is still right.
#ifndef PTXVET_DRYRUN_ABSTRACT_H
#define PTXVET_DRYRUN_ABSTRACT_H

#include "analyzer/facts/dryrun/lanes.h"

// The values start, start + 1, ... start + count modulo 2^width whose bits under `mask` are `bits`.
// A range may wrap round, so that -8..8 is as short as 0..16. Known values have count 0.
struct abstract {
    uint64_t start, count;
    uint64_t mask, bits;
    uint8_t width;  // 1, 8, 16, 32 or 64
};

struct abstract abstract_known(uint64_t value);
struct abstract abstract_top(uint32_t width);
struct abstract abstract_range(uint64_t low, uint64_t high, uint32_t width);
bool abstract_is_known(const struct abstract *a);
struct abstract abstract_join(struct abstract a, struct abstract b);

// Least and greatest value, as unsigned and as signed numbers of `width` bits.
void abstract_unsigned(const struct abstract *a, uint64_t *low, uint64_t *high);
void abstract_signed(const struct abstract *a, uint32_t width, int64_t *low, int64_t *high);

// The result of a lane operation of which at least one operand is not known. `width` is that of
// the register that takes it.
struct abstract abstract_eval(enum lane_op op, uint64_t imm, struct abstract a, struct abstract b,
                              struct abstract c, uint32_t width);

#endif
