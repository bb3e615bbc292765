// The body of a lane_table: included once for each build, with LANES_TABLE naming it. The loops are
// plain C; what differs is the instruction set that the compiler may use.
#include <math.h>
#include <string.h>

// No lane's result depends on another's: gcc is told so, clang has no such pragma and finds out.
#ifdef __clang__
#define LANES_INDEPENDENT
#else
#define LANES_INDEPENDENT _Pragma("GCC ivdep")
#endif

#define LOW(x) ((uint64_t)(uint32_t)(x))
#define SX32(x) ((uint64_t)(int64_t)(int32_t)(x))

static inline float f32_of(uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

// NaNs are the device's one: which operand's bits a host keeps depends on its instructions.
static inline uint64_t f32_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? 0x7fffffff : bits;
}

static inline double f64_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t f64_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? 0x7ff8000000000000 : bits;
}

__extension__ typedef unsigned __int128 lane_u128;
__extension__ typedef __int128 lane_s128;

static inline uint64_t lane_mulhi_u64(uint64_t a, uint64_t b) {
    return (uint64_t)(((lane_u128)a * b) >> 64);
}

static inline uint64_t lane_mulhi_s64(uint64_t a, uint64_t b) {
    return (uint64_t)(((lane_s128)(int64_t)a * (int64_t)b) >> 64);
}

static inline uint64_t lane_sx24(uint64_t a) { return (uint64_t)((int64_t)(a << 40) >> 40); }

// Division by zero as the device does it: all ones, and `rem.s32 x, 0` is -1 (measured).
static inline uint64_t lane_div_u(uint64_t a, uint64_t b) { return b == 0 ? UINT64_MAX : a / b; }
static inline uint64_t lane_div_s(int64_t a, int64_t b) {
    if (b == 0) return UINT64_MAX;
    return b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b);
}
static inline uint64_t lane_rem_u(uint64_t a, uint64_t b, uint64_t none) {
    return b == 0 ? none : a % b;
}
static inline uint64_t lane_rem_s(int64_t a, int64_t b) {
    if (b == 0) return UINT64_MAX;
    return b == -1 ? 0 : (uint64_t)(a % b);
}

// 32-bit quotients are exact in doubles, whose division is vectorised.
static inline uint64_t lane_div_u32(uint32_t a, uint32_t b) {
    double quotient = (double)(int64_t)(uint64_t)a / (double)(int64_t)(uint64_t)(b == 0 ? 1 : b);
    return b == 0 ? UINT32_MAX : (uint32_t)(int64_t)quotient;
}
static inline uint64_t lane_rem_u32(uint32_t a, uint32_t b) {
    return b == 0 ? UINT32_MAX : (uint32_t)(a - (uint32_t)lane_div_u32(a, b) * b);
}
static inline uint64_t lane_div_s32(uint32_t a, uint32_t b) {
    double quotient = (double)(int32_t)a / (double)(int32_t)(b == 0 ? 1 : b);
    return b == 0 ? UINT32_MAX : (uint32_t)(int64_t)quotient;
}
static inline uint64_t lane_rem_s32(uint32_t a, uint32_t b) {
    return b == 0 ? UINT32_MAX : (uint32_t)(a - (uint32_t)lane_div_s32(a, b) * b);
}

static inline uint64_t lane_bfe_u(uint64_t a, uint32_t at, uint32_t length, uint32_t bits) {
    if (at >= bits || length == 0) return 0;
    a >>= at;
    return length >= bits ? a : a & (((uint64_t)1 << length) - 1);
}

static inline uint64_t lane_bfe_s(uint64_t a, uint32_t at, uint32_t length, uint32_t bits) {
    if (length == 0) return 0;
    if (at >= bits) return (uint64_t)((int64_t)a >> 63);
    int64_t shifted = (int64_t)a >> at;
    if (length >= bits - at) return (uint64_t)shifted;
    return (uint64_t)((int64_t)((uint64_t)shifted << (64 - length)) >> (64 - length));
}

static inline uint64_t lane_bfi(uint64_t a, uint64_t b, uint64_t at, uint64_t length, uint64_t bits) {
    if (at >= bits || length == 0) return b;
    uint64_t mask = length >= 64 ? UINT64_MAX : ((uint64_t)1 << length) - 1;
    uint64_t all = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    mask = (mask << at) & all;
    return (b & ~mask) | ((a << at) & mask);
}

static inline uint64_t lane_bmsk(uint64_t at, uint64_t length) {
    if (at > 31 || length == 0) return 0;
    uint64_t mask = length > 31 ? UINT32_MAX : ((uint64_t)1 << length) - 1;
    return (uint32_t)(mask << at);
}

static inline uint64_t lane_brev(uint64_t a) {
    a = (a >> 1 & 0x5555555555555555) | (a & 0x5555555555555555) << 1;
    a = (a >> 2 & 0x3333333333333333) | (a & 0x3333333333333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f0f0f0f0f) | (a & 0x0f0f0f0f0f0f0f0f) << 4;
    return __builtin_bswap64(a);
}

static inline uint64_t lane_bfind(uint64_t a) {
    return a == 0 ? UINT32_MAX : 63u - (uint32_t)__builtin_clzll(a);
}

static inline uint64_t lane_prmt(uint64_t bytes, uint32_t selector) {
    uint64_t result = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t nibble = selector >> (4 * i) & 15;
        uint64_t byte = bytes >> (8 * (nibble & 7)) & 255;
        if (nibble & 8) byte = byte & 128 ? 255 : 0;
        result |= byte << (8 * i);
    }
    return result;
}

// The modes .f4e .b4e .rc8 .ecl .ecr .rc16, numbered 1 to 6; PTX ISA, "prmt".
static inline uint64_t lane_prmt_mode(uint64_t bytes, uint32_t s, uint32_t mode) {
    static const uint16_t selectors[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
        {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
        {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
    return lane_prmt(bytes, selectors[(mode - 1) % 6][s]);
}

static inline uint64_t lane_lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
    uint32_t result = 0;
    result |= (0u - (table & 1)) & ~a & ~b & ~c;
    result |= (0u - (table >> 1 & 1)) & ~a & ~b & c;
    result |= (0u - (table >> 2 & 1)) & ~a & b & ~c;
    result |= (0u - (table >> 3 & 1)) & ~a & b & c;
    result |= (0u - (table >> 4 & 1)) & a & ~b & ~c;
    result |= (0u - (table >> 5 & 1)) & a & ~b & c;
    result |= (0u - (table >> 6 & 1)) & a & b & ~c;
    result |= (0u - (table >> 7 & 1)) & a & b & c;
    return result;
}

// Bit 0: a is signed; bit 1: b is; bit 2 (dp2a): the high half of b.
static inline uint64_t lane_dp4a(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    for (uint32_t i = 0; i < 4; i++) {
        int32_t x = how & 1 ? (int8_t)(a >> 8 * i) : (int32_t)(a >> 8 * i & 255);
        int32_t y = how & 2 ? (int8_t)(b >> 8 * i) : (int32_t)(b >> 8 * i & 255);
        c += (uint32_t)(x * y);
    }
    return c;
}

static inline uint64_t lane_dp2a(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    b >>= how & 4 ? 16 : 0;
    for (uint32_t i = 0; i < 2; i++) {
        int32_t x = how & 1 ? (int16_t)(a >> 16 * i) : (int32_t)(a >> 16 * i & 0xffff);
        int32_t y = how & 2 ? (int8_t)(b >> 8 * i) : (int32_t)(b >> 8 * i & 255);
        c += (uint32_t)((int64_t)x * y);
    }
    return c;
}

static inline uint64_t lane_f16_to_f32(uint32_t h) {
    uint32_t sign = (h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ff;
    if (exponent == 31) return sign | 0x7f800000 | fraction << 13;
    if (exponent != 0) return sign | (exponent + 112) << 23 | fraction << 13;
    return sign | f32_bits((float)fraction * 0x1p-24f);
}

// Round to nearest even.
static inline uint64_t lane_f32_to_f16(uint32_t f) {
    uint32_t sign = f >> 16 & 0x8000, rest = f & 0x7fffffff;
    if (rest > 0x7f800000) return sign | 0x7fff;
    if (rest >= 0x477ff000) return sign | 0x7c00;
    if (rest < 0x38800000)
        return sign | (uint32_t)(int32_t)lrintf(f32_of(rest) * 0x1p24f);
    uint32_t rounded = rest - 0x38000000 + 0xfff + (rest >> 13 & 1);
    return sign | rounded >> 13;
}

static inline uint64_t lane_f32_to_bf16(uint32_t f) {
    if ((f & 0x7fffffff) > 0x7f800000) return 0x7fff;
    return (f + 0x7fff + (f >> 16 & 1)) >> 16;
}

static inline double lane_round(double a, uint32_t how) {
    switch (how & ROUND_MASK) {
    case ROUND_ZERO: return trunc(a);
    case ROUND_DOWN: return floor(a);
    case ROUND_UP: return ceil(a);
    default: return nearbyint(a);
    }
}

static inline uint64_t lane_clamp_s(int64_t a, uint32_t bits) {
    int64_t most = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1, least = -most - 1;
    a = a > most ? most : a < least ? least : a;
    return bits == 64 ? (uint64_t)a : (uint64_t)a & (((uint64_t)1 << bits) - 1);
}

static inline uint64_t lane_clamp_u(int64_t a, uint32_t bits) {
    uint64_t most = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    return a < 0 ? 0 : (uint64_t)a > most ? most : (uint64_t)a;
}

// Out-of-range values saturate; NaN gives 0.
static inline uint64_t lane_f64_to_int(double a, uint32_t how) {
    uint32_t bits = how >> INT_WIDTH_SHIFT;
    a = lane_round(a, how);
    if (a != a) return 0;
    if (how & INT_SIGNED) {
        if (a >= 0x1p63) return lane_clamp_s(INT64_MAX, bits);
        if (a < -0x1p63) return lane_clamp_s(INT64_MIN, bits);
        return lane_clamp_s((int64_t)a, bits);
    }
    if (a <= 0) return 0;
    uint64_t most = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    if (a >= 0x1p64) return most;
    return (uint64_t)a > most ? most : (uint64_t)a;
}

static inline uint64_t lane_compare(double a, double b, uint32_t how) {
    bool unordered = a != a || b != b, result = false;
    switch (how & 7) {
    case COMPARE_EQ: result = a == b; break;
    case COMPARE_NE: result = !unordered && a != b; break;
    case COMPARE_LT: result = a < b; break;
    case COMPARE_LE: result = a <= b; break;
    case COMPARE_GT: result = a > b; break;
    case COMPARE_GE: result = a >= b; break;
    case COMPARE_NUM: return !unordered;
    default: return unordered;
    }
    return result || (unordered && (how & COMPARE_UNORDERED));
}

#define LANE(id, abstract, bits, expression)                                                      \
    static uint64_t scalar_##id(uint64_t A, uint64_t B, uint64_t C, uint64_t IMM) {               \
        (void)A, (void)B, (void)C, (void)IMM;                                                     \
        return (uint64_t)(expression);                                                            \
    }                                                                                             \
    static void wide_##id(uint64_t *d, const uint64_t *a, const uint64_t *b,             \
                          const uint64_t *c, uint64_t IMM) {                                      \
        (void)a, (void)b, (void)c, (void)IMM;                                                     \
        d = __builtin_assume_aligned(d, 64);                                                      \
        a = __builtin_assume_aligned(a, 64);                                                      \
        b = __builtin_assume_aligned(b, 64);                                                      \
        c = __builtin_assume_aligned(c, 64);                                                      \
        LANES_INDEPENDENT for (int i = 0; i < LANES; i++) {                                    \
            uint64_t A = a[i], B = b[i], C = c[i];                                                \
            (void)A, (void)B, (void)C;                                                            \
            d[i] = (uint64_t)(expression);                                                        \
        }                                                                                         \
    }
#include "analyzer/facts/dryrun/lanes.def"

static void lanes_broadcast(uint64_t *d, uint64_t value) {
    for (int i = 0; i < LANES; i++) d[i] = value;
}

static void lanes_blend(uint64_t *restrict d, const uint64_t *restrict a,
                        const uint64_t *restrict select) {
    for (int i = 0; i < LANES; i++) d[i] = (d[i] & ~select[i]) | (a[i] & select[i]);
}

static void lanes_expand(uint64_t *select, uint32_t mask) {
    for (uint32_t i = 0; i < LANES; i++) select[i] = 0 - ((uint64_t)mask >> i & 1);
}

static uint32_t lanes_pack(const uint64_t *predicate) {
    uint64_t mask = 0;
    for (uint64_t i = 0; i < LANES; i++) mask |= (predicate[i] & 1) << i;
    return (uint32_t)mask;
}

static void lanes_scan(const uint64_t *address, uint64_t base, struct lane_scan *scan) {
    int64_t low = INT64_MAX, high = INT64_MIN;
    uint64_t bits = 0;
    for (int i = 0; i < LANES; i++) {
        int64_t offset = (int64_t)(address[i] - base);
        low = offset < low ? offset : low;
        high = offset > high ? offset : high;
        bits |= address[i];
    }
    *scan = (struct lane_scan){(uint64_t)low, (uint64_t)high, bits};
}

static void lanes_scan_some(const uint64_t *address, uint64_t base, const uint64_t *select,
                            struct lane_scan *scan) {
    int64_t low = INT64_MAX, high = INT64_MIN;
    uint64_t bits = 0;
    for (int i = 0; i < LANES; i++) {
        int64_t offset = (int64_t)(address[i] - base);
        int64_t least = select[i] ? offset : INT64_MAX, most = select[i] ? offset : INT64_MIN;
        low = least < low ? least : low;
        high = most > high ? most : high;
        bits |= address[i] & select[i];
    }
    *scan = (struct lane_scan){(uint64_t)low, (uint64_t)high, bits};
}

const struct lane_table LANES_TABLE = {
    .wide = {
#define LANE(id, abstract, bits, expression) wide_##id,
#include "analyzer/facts/dryrun/lanes.def"
    },
    .scalar = {
#define LANE(id, abstract, bits, expression) scalar_##id,
#include "analyzer/facts/dryrun/lanes.def"
    },
    .broadcast = lanes_broadcast,
    .blend = lanes_blend,
    .expand = lanes_expand,
    .pack = lanes_pack,
    .scan = lanes_scan,
    .scan_some = lanes_scan_some,
};
