#include "analyzer/facts/dryrun/abstract.h"

#include "base/checked.h"

static uint64_t width_mask(uint32_t width) {
    return width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

struct abstract abstract_known(uint64_t value) {
    return (struct abstract){value, 0, UINT64_MAX, value, 64};
}

struct abstract abstract_top(uint32_t width) {
    return (struct abstract){0, width_mask(width), ~width_mask(width), 0, (uint8_t)width};
}

struct abstract abstract_range(uint64_t low, uint64_t high, uint32_t width) {
    if (low == high) return abstract_known(low);
    return (struct abstract){low, high - low, ~width_mask(width), 0, (uint8_t)width};
}

bool abstract_is_known(const struct abstract *a) { return a->count == 0; }

void abstract_unsigned(const struct abstract *a, uint64_t *low, uint64_t *high) {
    uint64_t most = width_mask(a->width);
    if (a->count > most - a->start) {  // it wraps
        *low = a->bits & a->mask;
        *high = most & (a->bits | ~a->mask);
        return;
    }
    *low = a->start;
    *high = a->start + a->count;
}

void abstract_signed(const struct abstract *a, uint32_t width, int64_t *low, int64_t *high) {
    uint32_t shift = 64 - width;
    if (a->count == 0) {
        *low = *high = (int64_t)(a->start << shift) >> shift;
        return;
    }
    uint64_t half = (uint64_t)1 << (width - 1), most = width_mask(width);
    // Rotated by half, a signed range that does not cross the sign boundary does not wrap.
    uint64_t start = (a->start + half) & most;
    bool fits = a->width >= width ? a->width == width : true;
    if (a->width < width) start = a->start + half;
    if (a->width < width && a->count > width_mask(a->width) - a->start) fits = false;
    if (!fits || a->count > most - start) {
        *low = (int64_t)(half << shift) >> shift;
        *high = (int64_t)(half - 1);
        if (a->width < width) *low = 0, *high = (int64_t)width_mask(a->width);
        return;
    }
    *low = (int64_t)((start - half) << shift) >> shift;
    *high = (int64_t)((uint64_t)*low + a->count);
}

// Keeps the invariants: bits that a non-wrapping range from low to high shares are known, and a
// value with all bits known is known.
static struct abstract settle(struct abstract a) {
    uint64_t most = width_mask(a.width);
    a.mask |= ~most;
    a.bits &= a.mask & most;
    a.start &= most;
    if (a.count > most) a.count = most;
    if (a.count <= most - a.start && a.count != 0) {
        uint64_t differ = a.start ^ (a.start + a.count);
        uint64_t same = differ == 0 ? UINT64_MAX
                        : __builtin_clzll(differ) == 0
                            ? 0
                            : ~(UINT64_MAX >> __builtin_clzll(differ));
        a.bits |= a.start & same & ~a.mask;
        a.mask |= same;
    } else if (a.count != 0 && a.mask != ~most) {
        // The range says nothing that the bits do not say better.
        uint64_t low = a.bits, high = (a.bits | ~a.mask) & most;
        if (a.count >= high - low) a.start = low, a.count = high - low;
    }
    if (a.count == 0) return abstract_known(a.start);
    if ((a.mask & most) == most) return abstract_known(a.bits);
    return a;
}

// The range alone; the bits alone (as many low bits as are given).
static struct abstract ranged(uint64_t start, uint64_t count, uint32_t width) {
    return settle((struct abstract){start, count, 0, 0, (uint8_t)width});
}

static struct abstract bitwise(uint64_t mask, uint64_t bits, uint32_t width) {
    uint64_t most = width_mask(width);
    mask |= ~most;
    bits &= mask & most;
    return settle((struct abstract){bits, (bits | ~mask) - bits, mask, bits, (uint8_t)width});
}

static struct abstract with_bits(struct abstract a, uint64_t mask, uint64_t bits) {
    a.bits |= bits & mask & ~a.mask;
    a.mask |= mask;
    return settle(a);
}

static struct abstract unsigned_range(uint64_t low, uint64_t high, uint32_t width) {
    if (high > width_mask(width) || low > high) return abstract_top(width);
    return ranged(low, high - low, width);
}

static struct abstract signed_range(int64_t low, int64_t high, uint32_t width) {
    uint64_t count = (uint64_t)high - (uint64_t)low;
    if (count > width_mask(width)) return abstract_top(width);
    return ranged((uint64_t)low, count, width);
}

// How many low bits are known.
static uint32_t known_low(const struct abstract *a) {
    return ~a->mask == 0 ? 64 : (uint32_t)__builtin_ctzll(~a->mask);
}

static uint64_t low_mask(uint32_t bits) { return width_mask(bits); }

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

// As numbers modulo 2^width: a wider or narrower value is first made to fit.
static struct abstract fit(struct abstract a, uint32_t width) {
    if (a.count == 0) return a;
    uint64_t low, high, most = width_mask(width);
    if (a.width == width) return a;
    if (a.width < width) {
        abstract_unsigned(&a, &low, &high);
        struct abstract wide = unsigned_range(low, high, width);
        return with_bits(wide, a.mask, a.bits);
    }
    struct abstract cut = a.count > most ? abstract_top(width) : ranged(a.start, a.count, width);
    return with_bits(cut, a.mask & most, a.bits & most);
}

static struct abstract add(struct abstract a, struct abstract b, uint32_t width) {
    a = fit(a, width), b = fit(b, width);
    uint64_t count;
    struct abstract sum;
    if (__builtin_add_overflow(a.count, b.count, &count) || count > width_mask(width))
        sum = abstract_top(width);
    else
        sum = ranged(a.start + b.start, count, width);
    uint64_t low = low_mask(least(known_low(&a), known_low(&b)));
    return with_bits(sum, low, (a.bits + b.bits) & low);
}

static struct abstract negate(struct abstract a, uint32_t width) {
    a = fit(a, width);
    struct abstract result = ranged(0 - (a.start + a.count), a.count, width);
    uint64_t low = low_mask(known_low(&a));
    return with_bits(result, low, (0 - a.bits) & low);
}

static struct abstract multiply(struct abstract a, struct abstract b, uint32_t width) {
    a = fit(a, width), b = fit(b, width);
    if (a.count == 0) {
        struct abstract swap = a;
        a = b, b = swap;
    }
    struct abstract product = abstract_top(width);
    uint64_t count, low1, high1, low2, high2, low, high;
    abstract_unsigned(&a, &low1, &high1);
    abstract_unsigned(&b, &low2, &high2);
    if (b.count == 0 && !__builtin_mul_overflow(a.count, b.start, &count) &&
        count <= width_mask(width))
        product = ranged(a.start * b.start, count, width);
    else if (!__builtin_mul_overflow(high1, high2, &high) &&
             !__builtin_mul_overflow(low1, low2, &low))
        product = unsigned_range(low, high, width);
    // Known trailing zeros add up; known low bits multiply.
    uint32_t known = least(known_low(&a), known_low(&b));
    uint64_t zeros1 = a.bits & low_mask(known_low(&a)), zeros2 = b.bits & low_mask(known_low(&b));
    uint32_t tz1 = zeros1 == 0 ? known_low(&a) : (uint32_t)__builtin_ctzll(zeros1);
    uint32_t tz2 = zeros2 == 0 ? known_low(&b) : (uint32_t)__builtin_ctzll(zeros2);
    product = with_bits(product, low_mask(known), a.bits * b.bits);
    return with_bits(product, low_mask(least(tz1 + tz2, width)), 0);
}

static struct abstract sign_extend(struct abstract a, uint32_t from, uint32_t width) {
    int64_t low, high;
    a = fit(a, from);
    abstract_signed(&a, from, &low, &high);
    struct abstract result = signed_range(low, high, width);
    return with_bits(result, a.mask & low_mask(from - 1), a.bits);
}

static struct abstract multiply_wide(struct abstract a, struct abstract b, uint32_t from,
                                     bool is_signed) {
    uint32_t width = from * 2;
    a = is_signed ? sign_extend(a, from, width) : fit(fit(a, from), width);
    b = is_signed ? sign_extend(b, from, width) : fit(fit(b, from), width);
    int64_t low[2], high[2], product[4];
    abstract_signed(&a, width, &low[0], &high[0]);
    abstract_signed(&b, width, &low[1], &high[1]);
    struct abstract result = multiply(a, b, width);
    if (__builtin_mul_overflow(low[0], low[1], &product[0]) ||
        __builtin_mul_overflow(low[0], high[1], &product[1]) ||
        __builtin_mul_overflow(high[0], low[1], &product[2]) ||
        __builtin_mul_overflow(high[0], high[1], &product[3]))
        return result;
    int64_t lowest = product[0], highest = product[0];
    for (int i = 1; i < 4; i++) {
        lowest = product[i] < lowest ? product[i] : lowest;
        highest = product[i] > highest ? product[i] : highest;
    }
    struct abstract range = signed_range(lowest, highest, width);
    return with_bits(range, result.mask, result.bits);
}

static struct abstract bit_and(struct abstract a, struct abstract b, uint32_t width) {
    uint64_t zero = (a.mask & ~a.bits) | (b.mask & ~b.bits), one = a.bits & b.bits;
    struct abstract result = bitwise(zero | one, one, width);
    uint64_t low, high1, high2;
    abstract_unsigned(&a, &low, &high1);
    abstract_unsigned(&b, &low, &high2);
    uint64_t most = high1 < high2 ? high1 : high2;
    // Rounding down by a mask of high ones keeps the order: x & ~(2^k - 1).
    if (most < result.start + result.count && most >= result.start)
        result = settle((struct abstract){result.start, most - result.start, result.mask, result.bits,
                                          result.width});
    return result;
}

static struct abstract bit_or(struct abstract a, struct abstract b, uint32_t width) {
    uint64_t one = a.bits | b.bits, zero = (a.mask & ~a.bits) & (b.mask & ~b.bits);
    return bitwise(zero | one, one, width);
}

static struct abstract shift_left(struct abstract a, struct abstract b, uint32_t width) {
    if (b.count != 0) return abstract_top(width);
    uint32_t by = (uint32_t)b.start;
    if (by >= width) return abstract_known(0);
    return multiply(a, abstract_known((uint64_t)1 << by), width);
}

static struct abstract shift_right(struct abstract a, struct abstract b, uint32_t width,
                                   bool is_signed) {
    uint32_t by = b.count == 0 ? (uint32_t)b.start : 0;
    if (is_signed) {
        int64_t low, high;
        a = fit(a, width);
        abstract_signed(&a, width, &low, &high);
        if (b.count != 0) return signed_range(low < 0 ? low : 0, high > 0 ? high : -1, width);
        by = by >= width ? width - 1 : by;
        return signed_range(low >> by, high >> by, width);
    }
    uint64_t low, high;
    abstract_unsigned(&a, &low, &high);
    if (b.count != 0) return unsigned_range(0, high, a.width);
    if (by > 63) return abstract_known(0);
    struct abstract result = unsigned_range(low >> by, high >> by, a.width);
    return with_bits(result, a.mask >> by, a.bits >> by);
}

static struct abstract divide(struct abstract a, struct abstract b, uint32_t width, bool is_signed,
                              bool remainder) {
    a = fit(a, width), b = fit(b, width);
    if (b.count != 0 || b.start == 0) {
        uint64_t low, high, by_low, by_high;
        abstract_unsigned(&a, &low, &high);
        abstract_unsigned(&b, &by_low, &by_high);
        if (is_signed || by_low == 0) return abstract_top(width);
        return unsigned_range(0, remainder && by_high - 1 < high ? by_high - 1 : high, width);
    }
    if (!is_signed) {
        uint64_t low, high, by = b.start;
        abstract_unsigned(&a, &low, &high);
        if (!remainder) return unsigned_range(low / by, high / by, width);
        struct abstract result = high < by ? unsigned_range(low, high, width)
                                           : unsigned_range(0, by - 1, width);
        return is_power_of_two(by) ? with_bits(result, a.mask & (by - 1), a.bits) : result;
    }
    int64_t low, high, by_low, by_high;
    abstract_signed(&a, width, &low, &high);
    abstract_signed(&b, width, &by_low, &by_high);
    if (by_low <= 0) return abstract_top(width);
    if (!remainder) return signed_range(low / by_low, high / by_low, width);
    if (low > -by_low && high < by_low) return signed_range(low, high, width);
    return signed_range(low < 0 ? 1 - by_low : 0, high > 0 ? by_low - 1 : 0, width);
}

static struct abstract extreme(struct abstract a, struct abstract b, uint32_t width, bool is_signed,
                               bool greatest) {
    if (is_signed) {
        int64_t low1, high1, low2, high2;
        a = fit(a, width), b = fit(b, width);
        abstract_signed(&a, width, &low1, &high1);
        abstract_signed(&b, width, &low2, &high2);
        int64_t low = (low1 > low2) == greatest ? low1 : low2;
        int64_t high = (high1 > high2) == greatest ? high1 : high2;
        return signed_range(low, high, width);
    }
    uint64_t low1, high1, low2, high2;
    abstract_unsigned(&a, &low1, &high1);
    abstract_unsigned(&b, &low2, &high2);
    uint64_t low = (low1 > low2) == greatest ? low1 : low2;
    uint64_t high = (high1 > high2) == greatest ? high1 : high2;
    return unsigned_range(low, high, width);
}

static struct abstract either(void) { return (struct abstract){0, 1, ~(uint64_t)1, 0, 1}; }

static struct abstract truth(bool certain, bool value) {
    return certain ? abstract_known(value) : either();
}

static struct abstract equal(struct abstract a, struct abstract b, bool invert) {
    uint64_t low1, high1, low2, high2, both = a.mask & b.mask;
    abstract_unsigned(&a, &low1, &high1);
    abstract_unsigned(&b, &low2, &high2);
    bool differ = ((a.bits ^ b.bits) & both) != 0 || high1 < low2 || high2 < low1;
    return truth(differ, invert);
}

static struct abstract less(struct abstract a, struct abstract b, uint32_t width, bool is_signed,
                            bool or_equal) {
    if (is_signed) {
        int64_t low1, high1, low2, high2;
        a = fit(a, width), b = fit(b, width);
        abstract_signed(&a, width, &low1, &high1);
        abstract_signed(&b, width, &low2, &high2);
        bool yes = or_equal ? high1 <= low2 : high1 < low2, no = or_equal ? low1 > high2 : low1 >= high2;
        return truth(yes || no, yes);
    }
    uint64_t low1, high1, low2, high2;
    abstract_unsigned(&a, &low1, &high1);
    abstract_unsigned(&b, &low2, &high2);
    bool yes = or_equal ? high1 <= low2 : high1 < low2, no = or_equal ? low1 > high2 : low1 >= high2;
    return truth(yes || no, yes);
}

static struct abstract bit_field(struct abstract a, struct abstract at, struct abstract length,
                                 uint32_t width, bool is_signed) {
    if (at.count != 0 || length.count != 0) return abstract_top(width);
    uint64_t from = at.start & 255, bits = length.start & 255;
    if (bits == 0) return abstract_known(0);
    a = fit(a, width);
    if (from >= width) return is_signed ? abstract_top(width) : abstract_known(0);
    if (bits > width - from) bits = width - from;
    struct abstract field = shift_right(a, abstract_known(from), width, false);
    field = bit_and(field, abstract_known(width_mask((uint32_t)bits)), width);
    if (!is_signed || bits == width) return field;
    if (field.count != 0 && !((field.mask >> (bits - 1)) & 1)) {
        int64_t half = (int64_t)1 << (bits - 1);
        return with_bits(signed_range(-half, half - 1, width), field.mask & low_mask((uint32_t)bits - 1),
                         field.bits);
    }
    uint64_t sign = (field.count == 0 ? field.start : field.bits) >> (bits - 1) & 1;
    uint64_t high = width_mask(width) & ~width_mask((uint32_t)bits);
    return sign ? add(field, abstract_known(high), width) : field;
}

static struct abstract permute(struct abstract a, struct abstract b, struct abstract c) {
    if (c.count != 0) return abstract_top(32);
    uint64_t mask = 0, bits = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t nibble = (uint32_t)c.start >> (4 * i) & 15, at = nibble & 3;
        const struct abstract *from = nibble & 4 ? &b : &a;
        uint64_t known = from->mask >> (8 * at) & 255, byte = from->bits >> (8 * at) & 255;
        if (nibble & 8) byte = byte & 128 ? 255 : 0, known = known & 128 ? 255 : 0;
        mask |= known << (8 * i);
        bits |= (byte & known) << (8 * i);
    }
    return bitwise(mask, bits, 32);
}

static struct abstract look_up(struct abstract a, struct abstract b, struct abstract c, uint64_t table) {
    uint64_t mask = 0, bits = 0;
    for (uint32_t i = 0; i < 32; i++) {
        bool can[2] = {false, false};
        for (uint32_t entry = 0; entry < 8; entry++) {
            uint64_t x = entry >> 2, y = entry >> 1 & 1, z = entry & 1;
            if ((a.mask >> i & 1 && (a.bits >> i & 1) != x) ||
                (b.mask >> i & 1 && (b.bits >> i & 1) != y) ||
                (c.mask >> i & 1 && (c.bits >> i & 1) != z))
                continue;
            can[table >> entry & 1] = true;
        }
        if (can[0] != can[1]) mask |= (uint64_t)1 << i, bits |= (uint64_t)can[1] << i;
    }
    return bitwise(mask, bits, 32);
}

struct abstract abstract_join(struct abstract a, struct abstract b) {
    if (a.count == 0 && b.count == 0 && a.start == b.start) return a;
    uint32_t width = a.count == 0 ? b.width : b.count == 0 ? a.width : a.width > b.width ? a.width : b.width;
    uint64_t mask = a.mask & b.mask & ~(a.bits ^ b.bits), bits = a.bits & mask;
    if (a.count == 0 && b.count == 0) width = (a.start | b.start) > UINT32_MAX ? 64 : 32;
    a = fit(a, width), b = fit(b, width);
    // The shorter of the two ways round.
    uint64_t most = width_mask(width);
    uint64_t forth = ((b.start + b.count) - a.start) & most, back = ((a.start + a.count) - b.start) & most;
    bool forth_holds = ((b.start - a.start) & most) <= forth && forth >= a.count;
    bool back_holds = ((a.start - b.start) & most) <= back && back >= b.count;
    struct abstract joined = abstract_top(width);
    if (forth_holds && (!back_holds || forth <= back)) joined = ranged(a.start, forth, width);
    else if (back_holds) joined = ranged(b.start, back, width);
    return with_bits(joined, mask, bits);
}

static struct abstract absolute(struct abstract a, uint32_t width) {
    int64_t low, high;
    a = fit(a, width);
    abstract_signed(&a, width, &low, &high);
    if (low >= 0) return a;
    if (high <= 0) return negate(a, width);
    uint64_t most = 0 - (uint64_t)low;
    return unsigned_range(0, most > (uint64_t)high ? most : (uint64_t)high, width);
}

struct abstract abstract_eval(enum lane_op op, uint64_t imm, struct abstract a, struct abstract b,
                              struct abstract c, uint32_t width) {
    uint32_t bits = lane_infos[op].bits;
    switch ((enum abstract_kind)lane_infos[op].abstract) {
    case ABSTRACT_MOV: return fit(a, width);
    case ABSTRACT_ZEXT: return fit(fit(a, bits), width);
    case ABSTRACT_SEXT:
        return sign_extend(a, bits, op == LANE_sx8_16 ? 16
                                    : op == LANE_sx8_32 || op == LANE_sx16_32 ? 32 : 64);
    case ABSTRACT_ADD: return add(a, b, bits);
    case ABSTRACT_SUB: return add(a, negate(b, bits), bits);
    case ABSTRACT_MUL: return multiply(a, b, bits);
    case ABSTRACT_MULWIDE_U: return multiply_wide(a, b, bits, false);
    case ABSTRACT_MULWIDE_S: return multiply_wide(a, b, bits, true);
    case ABSTRACT_MULHI_U:
        return fit(shift_right(multiply_wide(a, b, bits, false), abstract_known(bits), 2 * bits, false),
                   bits);
    case ABSTRACT_MAD: return add(multiply(a, b, bits), c, bits);
    case ABSTRACT_MADWIDE_U: return add(multiply_wide(a, b, bits, false), c, 2 * bits);
    case ABSTRACT_MADWIDE_S: return add(multiply_wide(a, b, bits, true), c, 2 * bits);
    case ABSTRACT_DIV_U: return divide(a, b, bits, false, false);
    case ABSTRACT_DIV_S: return divide(a, b, bits, true, false);
    case ABSTRACT_REM_U: return divide(a, b, bits, false, true);
    case ABSTRACT_REM_S: return divide(a, b, bits, true, true);
    case ABSTRACT_MIN_U: return extreme(fit(a, width), fit(b, width), width, false, false);
    case ABSTRACT_MAX_U: return extreme(fit(a, width), fit(b, width), width, false, true);
    case ABSTRACT_MIN_S: return extreme(a, b, bits, true, false);
    case ABSTRACT_MAX_S: return extreme(a, b, bits, true, true);
    case ABSTRACT_ABS: return absolute(a, bits);
    case ABSTRACT_NEG: return negate(a, bits);
    case ABSTRACT_AND: return bit_and(a, b, width);
    case ABSTRACT_OR: return bit_or(a, b, width);
    case ABSTRACT_XOR:
        return bitwise(a.mask & b.mask, (a.bits ^ b.bits) & a.mask & b.mask, width);
    case ABSTRACT_NOT: return bitwise(a.mask, ~a.bits & a.mask, bits);
    case ABSTRACT_SHL: return shift_left(a, b, bits);
    case ABSTRACT_SHR_U: return shift_right(a, b, width, false);
    case ABSTRACT_SHR_S: return shift_right(a, b, bits, true);
    case ABSTRACT_BFE_U: return bit_field(a, b, c, bits, false);
    case ABSTRACT_BFE_S: return bit_field(a, b, c, bits, true);
    case ABSTRACT_COUNT: return unsigned_range(0, bits, width);
    case ABSTRACT_PRMT: return permute(a, b, c);
    case ABSTRACT_LOP3: return look_up(a, b, c, imm);
    case ABSTRACT_PACK32:
        return add(fit(fit(a, 32), 64), shift_left(fit(fit(b, 32), 64), abstract_known(32), 64), 64);
    case ABSTRACT_SELP:
        if (c.count == 0) return fit(c.start ? a : b, width);
        return abstract_join(fit(a, width), fit(b, width));
    case ABSTRACT_EQ: return equal(a, b, false);
    case ABSTRACT_NE: return equal(a, b, true);
    case ABSTRACT_LT_U: return less(a, b, 64, false, false);
    case ABSTRACT_LE_U: return less(a, b, 64, false, true);
    case ABSTRACT_LT_S: return less(a, b, bits, true, false);
    case ABSTRACT_LE_S: return less(a, b, bits, true, true);
    case ABSTRACT_CLAMP:
    case ABSTRACT_TOP: break;
    }
    return abstract_top(width);
}
