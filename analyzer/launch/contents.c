#include "analyzer/launch/contents.h"

// Of the floating types that have one; 0 for the others.
static unsigned mantissa_bits(enum isa_type type) {
    switch (type) {
    case TYPE_F16: return 10;
    case TYPE_BF16: return 7;
    case TYPE_F32: return 23;
    case TYPE_F64: return 52;
    default: return 0;
    }
}

static unsigned element_bytes(enum isa_type type) {
    unsigned bits = type < TYPE_COUNT ? isa_types[type].bits : 0;
    return bits >= 8 ? bits / 8 : 1;
}

// The encoding of a non-negative integer below 2 ^ (mantissa + 1), which is exact.
static uint64_t encode_integer(uint64_t value, unsigned width, unsigned mantissa) {
    if (value == 0) return 0;
    unsigned exponent = 63 - (unsigned)__builtin_clzll(value);
    uint64_t bias = ((uint64_t)1 << (width - mantissa - 2)) - 1;
    uint64_t fraction = (value << (mantissa - exponent)) & (((uint64_t)1 << mantissa) - 1);
    return (exponent + bias) << mantissa | fraction;
}

static uint64_t iota_element(uint64_t index, enum isa_type type) {
    unsigned mantissa = mantissa_bits(type);
    if (mantissa == 0) return index;
    return encode_integer(index % ((uint64_t)2 << mantissa), isa_types[type].bits, mantissa);
}

// SplitMix64 (Steele, Lea, Flood, 2014): any element without those before it.
static uint64_t random_bits(uint64_t seed, uint64_t index) {
    uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t random_element(uint64_t seed, uint64_t index, enum isa_type type) {
    unsigned mantissa = mantissa_bits(type);
    uint64_t bits = random_bits(seed, index);
    if (mantissa == 0) return bits;
    uint64_t fraction = bits & (((uint64_t)1 << mantissa) - 1);
    return encode_integer(1, isa_types[type].bits, mantissa) | fraction;
}

void contents_fill(enum contents contents, enum isa_type type, uint64_t seed, uint64_t at,
                   uint8_t *bytes, uint64_t size) {
    unsigned width = element_bytes(type);
    if (contents != CONTENTS_IOTA && contents != CONTENTS_RANDOM) {
        memset(bytes, 0, size);
        return;
    }
    uint64_t element = 0;
    for (uint64_t i = 0; i < size; i++) {
        unsigned byte = (unsigned)((at + i) % width);
        if (i == 0 || byte == 0) {
            uint64_t index = (at + i) / width;
            element = contents == CONTENTS_IOTA ? iota_element(index, type)
                                                : random_element(seed, index, type);
        }
        bytes[i] = (uint8_t)(byte < 8 ? element >> 8 * byte & 0xff : 0);
    }
}
