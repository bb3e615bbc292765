// Scalars as a host program holds them: type names people write, and their bits.
#ifndef PTXVET_ANALYZER_LAUNCH_SCALAR_H
#define PTXVET_ANALYZER_LAUNCH_SCALAR_H

#include "isa/isa.h"

// The PTX type that a host or Triton type name stands for: "f32", "half", "int", "uint8_t", "fp16".
// "bool" is U8. TYPE_NONE when there is none.
enum isa_type scalar_type_find(struct str text);

// Whether the name is one that truth values have: "bool", "i1".
bool scalar_type_is_bool(struct str text);

// The name in the launch language of a PTX type: "i32" for S32, "f32" for F32; "" when it has none.
const char *scalar_type_name(enum isa_type type);

// The nearest value of a floating-point type (round to nearest, ties to even), in the low bits.
// False when `type` is none.
bool scalar_encode(enum isa_type type, double value, uint64_t *bits);

// The value that the low bits of a floating-point type hold. False when `type` is none.
bool scalar_decode(enum isa_type type, uint64_t bits, double *value);

#endif
