// Operations on lanes: both builds give the same bits, and what is said of operands that are not
// known holds for all that they can be.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyzer/facts/dryrun/abstract.h"

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint64_t random_u64(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

// Values that operations meet: small, at the edges of widths, negative, and any.
static uint64_t value_of(uint32_t bits) {
    static const uint64_t edges[] = {0, 1, 2, 7, 31, 32, 33, 63, 64, 127, 128, 255, 0x7fff, 0x8000, 0xffff,
                                     0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff,
                                     0x8000000000000000, 0xffffffffffffffff};
    uint64_t value = random_u64();
    switch (value % 4) {
    case 0: value = edges[random_u64() % (sizeof edges / sizeof *edges)]; break;
    case 1: value = random_u64() % 100; break;
    case 2: value = 0 - random_u64() % 100; break;
    default: value = random_u64(); break;
    }
    return bits >= 64 ? value : value & (((uint64_t)1 << bits) - 1);
}

static void builds_agree(void **unused) {
    (void)unused;
    static uint64_t a[LANES] __attribute__((aligned(64))), b[LANES] __attribute__((aligned(64))),
        c[LANES] __attribute__((aligned(64))), x[LANES] __attribute__((aligned(64))),
        y[LANES] __attribute__((aligned(64)));
    const struct lane_table *fast = lanes_choose(false), *plain = lanes_choose(true);
    for (uint32_t op = 0; op < LANE_COUNT; op++)
        for (int round = 0; round < 50; round++) {
            uint32_t bits = lane_infos[op].bits;
            uint64_t imm = op == LANE_clamp_s || op == LANE_clamp_u ? 16
                           : op == LANE_f64_to_int ? 32u << INT_WIDTH_SHIFT | INT_SIGNED
                           : op == LANE_prmt_mode ? 1 + random_u64() % 6 : random_u64() & 0xff;
            for (uint32_t i = 0; i < LANES; i++) a[i] = value_of(bits), b[i] = value_of(bits), c[i] = value_of(bits);
            if (op == LANE_selp) for (uint32_t i = 0; i < LANES; i++) c[i] &= 1;
            fast->wide[op](x, a, b, c, imm);
            plain->wide[op](y, a, b, c, imm);
            assert_memory_equal(x, y, sizeof x);
            for (uint32_t i = 0; i < LANES; i++)
                if (x[i] != plain->scalar[op](a[i], b[i], c[i], imm))
                    fail_msg("op %u: a %#lx b %#lx c %#lx", op, a[i], b[i], c[i]);
        }
}

static bool holds(const struct abstract *set, uint64_t value) {
    if (set->count == 0) return set->start == value;
    uint64_t most = set->width >= 64 ? UINT64_MAX : ((uint64_t)1 << set->width) - 1;
    return value <= most && ((value - set->start) & most) <= set->count && (value & set->mask) == set->bits;
}

// A set that holds `value`: known, a range round it, known low bits, or anything of its width.
static struct abstract set_round(uint64_t value, uint32_t bits) {
    uint64_t most = bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    uint64_t before = random_u64() % 40, after = random_u64() % 40, mask = most & 7;
    switch (random_u64() % 4) {
    case 0: return abstract_known(value);
    case 1: return (struct abstract){(value - before) & most, before + after, ~most, 0, (uint8_t)bits};
    case 2: return (struct abstract){0, most, ~most | mask, value & mask, (uint8_t)bits};
    default: return abstract_top(bits);
    }
}

static void abstracts_hold(void **unused) {
    (void)unused;
    const struct lane_table *plain = lanes_choose(true);
    for (uint32_t op = 0; op < LANE_COUNT; op++) {
        if (lane_infos[op].abstract == ABSTRACT_TOP) continue;
        for (int round = 0; round < 3000; round++) {
            uint32_t bits = lane_infos[op].bits, width = bits;
            bool generic = bits == 64 && random_u64() % 2;
            if (generic) bits = width = 32;
            if (lane_infos[op].abstract == ABSTRACT_PACK32) bits = 32;
            if (op == LANE_not1) bits = width = 1;
            if (op == LANE_eq || op == LANE_ne || (op >= LANE_lt_u && op <= LANE_le_s64)) width = 1;
            uint64_t a = value_of(bits), b = value_of(bits), c = value_of(bits);
            bool shift = lane_infos[op].abstract == ABSTRACT_SHL || lane_infos[op].abstract == ABSTRACT_SHR_U ||
                         lane_infos[op].abstract == ABSTRACT_SHR_S;
            if (shift) b = random_u64() % 70;
            if (op == LANE_selp) c &= 1;
            uint64_t imm = op == LANE_clamp_s || op == LANE_clamp_u ? 32 : random_u64() & 0xff;
            uint64_t result = plain->scalar[op](a, b, c, imm);
            if (generic && (op == LANE_add64 || op == LANE_sub64 || op == LANE_mul64 || op == LANE_mad64 ||
                            op == LANE_neg64 || op == LANE_not64 || op == LANE_shl64))
                continue;
            width = result > UINT32_MAX ? 64 : width == 1 ? 1 : width < 32 ? 32 : width;
            if (lane_infos[op].abstract == ABSTRACT_MULWIDE_S || lane_infos[op].abstract == ABSTRACT_MULWIDE_U ||
                lane_infos[op].abstract == ABSTRACT_MADWIDE_S || lane_infos[op].abstract == ABSTRACT_MADWIDE_U)
                width = 64;
            struct abstract x = set_round(a, bits), y = set_round(b, bits), z = set_round(c, op == LANE_selp ? 1 : bits);
            if (x.count == 0 && y.count == 0 && z.count == 0) continue;
            struct abstract set = abstract_eval((enum lane_op)op, imm, x, y, z, width);
            if (!holds(&set, result))
                fail_msg("op %u: a %#lx b %#lx c %#lx gives %#lx, not in %#lx + %#lx mask %#lx bits %#lx width %u", op, a, b,
                         c, result, set.start, set.count, set.mask, set.bits, set.width);
        }
    }
}

static void joins_hold(void **unused) {
    (void)unused;
    for (int round = 0; round < 100000; round++) {
        uint32_t bits = random_u64() % 2 ? 32 : 64;
        uint64_t a = value_of(bits), b = value_of(bits);
        struct abstract x = set_round(a, bits), y = set_round(b, bits), both = abstract_join(x, y);
        assert_true(holds(&both, a));
        assert_true(holds(&both, b));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builds_agree),
        cmocka_unit_test(abstracts_hold),
        cmocka_unit_test(joins_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
