#include "analyzer/launch/scalar.h"

#include <math.h>

static const struct {
    const char *text;
    uint8_t type;
} type_names[] = {
    // The launch language's own.
    {"i8", TYPE_S8}, {"u8", TYPE_U8}, {"i16", TYPE_S16}, {"u16", TYPE_U16},
    {"i32", TYPE_S32}, {"u32", TYPE_U32}, {"i64", TYPE_S64}, {"u64", TYPE_U64},
    {"f16", TYPE_F16}, {"bf16", TYPE_BF16}, {"f32", TYPE_F32}, {"f64", TYPE_F64},
    {"f8", TYPE_E4M3}, {"b8", TYPE_B8}, {"b16", TYPE_B16}, {"b32", TYPE_B32},
    {"b64", TYPE_B64}, {"b128", TYPE_B128}, {"bool", TYPE_U8},
    // C and CUDA, on hosts where long has 64 bits.
    {"char", TYPE_S8}, {"short", TYPE_S16}, {"int", TYPE_S32}, {"long", TYPE_S64},
    {"unsigned", TYPE_U32}, {"signed", TYPE_S32}, {"float", TYPE_F32}, {"double", TYPE_F64},
    {"half", TYPE_F16}, {"size_t", TYPE_U64}, {"ptrdiff_t", TYPE_S64}, {"__half", TYPE_F16},
    {"__nv_bfloat16", TYPE_BF16}, {"nv_bfloat16", TYPE_BF16},
    {"uchar", TYPE_U8}, {"ushort", TYPE_U16}, {"uint", TYPE_U32}, {"ulong", TYPE_U64},
    {"int8_t", TYPE_S8}, {"uint8_t", TYPE_U8}, {"int16_t", TYPE_S16}, {"uint16_t", TYPE_U16},
    {"int32_t", TYPE_S32}, {"uint32_t", TYPE_U32}, {"int64_t", TYPE_S64}, {"uint64_t", TYPE_U64},
    {"half2", TYPE_B32}, {"float2", TYPE_B64}, {"float4", TYPE_B128}, {"int2", TYPE_B64},
    {"int4", TYPE_B128}, {"uint2", TYPE_B64}, {"uint4", TYPE_B128}, {"double2", TYPE_B128},
    // PTX.
    {"s8", TYPE_S8}, {"s16", TYPE_S16}, {"s32", TYPE_S32}, {"s64", TYPE_S64},
    {"e4m3", TYPE_E4M3}, {"e5m2", TYPE_E5M2},
    // NumPy, PyTorch, Triton, Rust.
    {"int8", TYPE_S8}, {"uint8", TYPE_U8}, {"int16", TYPE_S16}, {"uint16", TYPE_U16},
    {"int32", TYPE_S32}, {"uint32", TYPE_U32}, {"int64", TYPE_S64}, {"uint64", TYPE_U64},
    {"float16", TYPE_F16}, {"bfloat16", TYPE_BF16}, {"float32", TYPE_F32}, {"float64", TYPE_F64},
    {"complex64", TYPE_B64}, {"complex128", TYPE_B128}, {"fp8", TYPE_E4M3}, {"fp16", TYPE_F16},
    {"fp32", TYPE_F32}, {"fp64", TYPE_F64}, {"fp8e4nv", TYPE_E4M3}, {"fp8e5", TYPE_E5M2},
    {"i1", TYPE_U8}, {"usize", TYPE_U64}, {"isize", TYPE_S64},
};

enum isa_type scalar_type_find(struct str text) {
    for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++)
        if (str_eq(str_from(type_names[i].text), text)) return (enum isa_type)type_names[i].type;
    return TYPE_NONE;
}

bool scalar_type_is_bool(struct str text) {
    return str_eq(text, STR("bool")) || str_eq(text, STR("i1"));
}

const char *scalar_type_name(enum isa_type type) {
    for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++)
        if (type_names[i].type == type) return type_names[i].text;
    return "";
}

// How a floating-point type divides its bits. `finite`: no infinity, one NaN (OCP E4M3).
struct float_shape {
    int exponent_bits, mantissa_bits;
    bool finite;
};

static bool float_shape(enum isa_type type, struct float_shape *shape) {
    switch (type) {
    case TYPE_F64: *shape = (struct float_shape){11, 52, false}; return true;
    case TYPE_F32: *shape = (struct float_shape){8, 23, false}; return true;
    case TYPE_BF16: *shape = (struct float_shape){8, 7, false}; return true;
    case TYPE_F16: *shape = (struct float_shape){5, 10, false}; return true;
    case TYPE_E5M2: *shape = (struct float_shape){5, 2, false}; return true;
    case TYPE_E4M3: *shape = (struct float_shape){4, 3, true}; return true;
    default: return false;
    }
}

static uint64_t largest_field(const struct float_shape *shape) {
    uint64_t infinity = (((uint64_t)1 << shape->exponent_bits) - 1) << shape->mantissa_bits;
    uint64_t mantissa = ((uint64_t)1 << shape->mantissa_bits) - 1;
    return shape->finite ? (infinity | mantissa) - 1 : infinity;  // finite types saturate
}

// Exponent and mantissa of a finite value above 0; rounding may carry into the exponent.
static uint64_t magnitude_field(const struct float_shape *shape, double value) {
    int bias = (1 << (shape->exponent_bits - 1)) - 1, exponent;
    frexp(value, &exponent);
    exponent--;
    bool subnormal = exponent < 1 - bias;
    if (subnormal) exponent = 1 - bias;
    double scaled = nearbyint(ldexp(value, shape->mantissa_bits - exponent));
    uint64_t field = (uint64_t)scaled;
    if (subnormal) return field;
    if (exponent + bias >= 1 << shape->exponent_bits) return UINT64_MAX;
    return ((uint64_t)(exponent + bias - 1) << shape->mantissa_bits) + field;
}

bool scalar_encode(enum isa_type type, double value, uint64_t *bits) {
    struct float_shape shape;
    if (!float_shape(type, &shape)) return false;
    int width = shape.exponent_bits + shape.mantissa_bits;
    uint64_t sign = signbit(value) ? (uint64_t)1 << width : 0;
    uint64_t largest = largest_field(&shape), field = 0;
    if (isnan(value)) {
        uint64_t all = ((uint64_t)1 << width) - 1;
        field = shape.finite ? all : largest | (uint64_t)1 << (shape.mantissa_bits - 1);
    } else if (isinf(value)) field = largest;
    else if (value != 0) field = magnitude_field(&shape, fabs(value));
    *bits = sign | (field > largest && !isnan(value) ? largest : field);
    return true;
}

bool scalar_decode(enum isa_type type, uint64_t bits, double *value) {
    struct float_shape shape;
    if (!float_shape(type, &shape)) return false;
    int width = shape.exponent_bits + shape.mantissa_bits;
    uint64_t field = bits & (((uint64_t)1 << width) - 1);
    uint64_t mantissa = field & (((uint64_t)1 << shape.mantissa_bits) - 1);
    int exponent = (int)(field >> shape.mantissa_bits);
    int bias = (1 << (shape.exponent_bits - 1)) - 1;
    if (exponent == 0) *value = ldexp((double)mantissa, 1 - bias - shape.mantissa_bits);
    else if (field > largest_field(&shape)) *value = NAN;
    else if (!shape.finite && field == largest_field(&shape)) *value = INFINITY;
    else {
        mantissa |= (uint64_t)1 << shape.mantissa_bits;
        *value = ldexp((double)mantissa, exponent - bias - shape.mantissa_bits);
    }
    if (bits >> width & 1) *value = -*value;
    return true;
}
