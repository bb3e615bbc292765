// One PTX instruction to internal ones. What is not translated makes its results unknown.
#include "analyzer/facts/dryrun/build.h"

// Operands --------------------------------------------------------------------------------------

static uint64_t low_bits(uint64_t value, uint32_t bits) {
    return bits >= 64 ? value : value & (((uint64_t)1 << bits) - 1);
}

static uint64_t float_literal(const struct operand *operand, uint32_t bits) {
    double value;
    memcpy(&value, &operand->value, sizeof value);
    if (bits == 64) return operand->value;
    float narrow = (float)value;
    uint32_t word;
    memcpy(&word, &narrow, sizeof word);
    return word;
}

// Registers of function-level variables and module ones; parameters of the entry have their offset.
uint64_t build_address(struct builder *builder, var_ref var, uint8_t *space) {
    const struct instance *instance = builder->instance;
    if (!(var & VAR_LOCAL)) {
        *space = builder->module->variables.at[var].space;
        return builder->map->module_addresses[var];
    }
    uint32_t v = var & ~VAR_LOCAL;
    const struct function *decl = instance->function->decl;
    const struct variable *variable = &decl->variables.at[v];
    *space = variable->space;
    uint64_t private_at = instance->private_at[v];
    if (variable->space == SPACE_LOCAL) return LOCAL_ORIGIN + private_at;
    if (private_at != UINT64_MAX) {
        *space = SPACE_PARAM_FUNC;
        return PARAM_FUNC_ORIGIN + private_at;
    }
    if (variable->space == SPACE_PARAM && v < decl->param_count) {
        *space = SPACE_PARAM;
        return builder->request->kernel->params.n > v ? builder->request->kernel->params.at[v].offset : 0;
    }
    return builder->map->function_addresses[instance->f][v];
}

static uint32_t sreg_slot(struct builder *builder, const struct operand *operand) {
    struct code *code = builder->code;
    for (uint32_t s = 0; s < code->slots.n && s < 4096; s++)
        if (code->slots.at[s].kind == SLOT_SREG && code->slots.at[s].sreg == operand->sreg &&
            code->slots.at[s].component == operand->component)
            return s;
    struct code_slot *slot = vec_push(builder->arena, &code->slots);
    slot->kind = SLOT_SREG;
    slot->sreg = (uint16_t)operand->sreg;
    slot->component = operand->component;
    slot->bits = isa_types[isa_sregs[operand->sreg].type].bits == 64 ? 64 : 32;
    return code->slots.n - 1;
}

uint32_t build_source(struct builder *builder, const struct operand *operand, uint32_t bits,
                      bool is_float) {
    uint8_t width = 64, space;
    uint32_t slot;
    switch (operand->kind) {
    case OPERAND_REG:
        slot = build_reg(builder, operand, &width);
        if (slot == NO_INDEX) return build_unknown_slot(builder, bits);
        if (operand->flags & OPERAND_NOT) return build_value(builder, LANE_not1, 1, slot, 0, 0, 0);
        if (operand->flags & OPERAND_NEGATED)
            return build_value(builder, bits == 64 ? LANE_neg64 : LANE_neg32, bits, slot, 0, 0, 0);
        // A register wider than the type: its low part is what counts.
        if (width > bits && bits >= 8 && bits < 64)
            return build_value(builder, bits == 8 ? LANE_trunc8 : bits == 16 ? LANE_trunc16 : LANE_trunc32,
                               width, slot, 0, 0, 0);
        return slot;
    case OPERAND_INT:
        if (is_float && bits >= 32) {
            struct operand number = *operand;
            double value = (double)(int64_t)operand->value;
            memcpy(&number.value, &value, sizeof value);
            return build_constant(builder, float_literal(&number, bits));
        }
        return build_constant(builder, low_bits(operand->value, bits));
    case OPERAND_FLOAT: return build_constant(builder, float_literal(operand, bits));
    case OPERAND_VAR:
        if (operand->var == VAR_NONE || operand->flags & OPERAND_INDEXED) break;
        return build_constant(builder, low_bits(build_address(builder, operand->var, &space) + operand->value, bits));
    case OPERAND_SREG: return sreg_slot(builder, operand);
    default: break;
    }
    return build_unknown_slot(builder, bits);
}

// What one instruction is made of, read once.
struct reading {
    struct builder *builder;
    const struct body *body;
    const struct instruction *instruction;
    const struct isa_form *form;
    const struct operand *operands;
    uint32_t count;
    uint8_t type;       // the first type
    uint32_t bits;      // of that type; 32 for packed pairs
    bool is_signed, is_float;
};

static void forget_operand(const struct reading *r, const struct operand *operand) {
    uint8_t bits;
    if (operand->kind == OPERAND_VECTOR || operand->kind == OPERAND_PAIR) {
        for (uint32_t i = 0; i < operand->count; i++)
            forget_operand(r, &r->body->elements.at[operand->first + i]);
        return;
    }
    uint32_t slot = build_reg(r->builder, operand, &bits);
    if (slot == NO_INDEX) return;
    struct code_insn *insn = build_insn(r->builder, CODE_UNKNOWN);
    insn->d = slot;
    insn->bits = bits;
    r->builder->code->slots.at[slot].defs++;
}

static void forget_results(const struct reading *r) {
    if (slice_defines(r->form, r->instruction, r->body)) forget_operand(r, &r->operands[0]);
}

static uint32_t source_as(const struct reading *r, uint32_t index, uint32_t bits) {
    if (index >= r->count) return 0;
    return build_source(r->builder, &r->operands[index], bits, r->is_float);
}

static uint32_t source(const struct reading *r, uint32_t index) { return source_as(r, index, r->bits); }

static uint32_t integer_source(const struct reading *r, uint32_t index, uint32_t bits) {
    if (index >= r->count) return 0;
    return build_source(r->builder, &r->operands[index], bits, false);
}

static uint32_t predicate_source(const struct reading *r, uint32_t index) {
    if (index >= r->count) return 0;
    const struct operand *operand = &r->operands[index];
    if (operand->kind == OPERAND_INT) return build_constant(r->builder, operand->value != 0);
    return build_source(r->builder, operand, 1, false);
}

// The register that an operand names as destination; NO_INDEX for `_` and what is none.
static uint32_t destination(const struct reading *r, const struct operand *operand, uint8_t *bits) {
    if (operand->kind == OPERAND_PAIR && operand->count > 0) operand = &r->body->elements.at[operand->first];
    return build_reg(r->builder, operand, bits);
}

static uint32_t second_destination(const struct reading *r, uint8_t *bits) {
    const struct operand *operand = &r->operands[0];
    if (operand->kind != OPERAND_PAIR || operand->count < 2) return NO_INDEX;
    return build_reg(r->builder, &r->body->elements.at[operand->first + 1], bits);
}

// d = op(...) into operand 0, sign-extended where the register is wider than a signed type.
static void result(const struct reading *r, enum lane_op op, uint32_t a, uint32_t b, uint32_t c,
                   uint64_t imm) {
    uint8_t bits = 64;
    if (r->count == 0) return;
    uint32_t d = destination(r, &r->operands[0], &bits);
    if (d != NO_INDEX) build_lane(r->builder, op, bits, d, a, b, c, imm);
}

static uint32_t value(const struct reading *r, enum lane_op op, uint32_t bits, uint32_t a, uint32_t b,
                      uint32_t c, uint64_t imm) {
    return build_value(r->builder, op, bits, a, b, c, imm);
}

// Choice by width -------------------------------------------------------------------------------

// Operations in the order 16, 32, 64 bits.
struct widths { uint16_t op[3]; };
#define WIDTHS(name) ((struct widths){{LANE_##name##16, LANE_##name##32, LANE_##name##64}})
#define WIDTHS_OF(a, b, c) ((struct widths){{LANE_##a, LANE_##b, LANE_##c}})

static enum lane_op by_width(const struct reading *r, struct widths widths) {
    return (enum lane_op)widths.op[r->bits <= 16 ? 0 : r->bits <= 32 ? 1 : 2];
}

static bool is_half(const struct reading *r) { return r->type == TYPE_F16 || r->type == TYPE_BF16; }
static bool is_packed(const struct reading *r) {
    return r->type == TYPE_F16X2 || r->type == TYPE_BF16X2 || r->type == TYPE_U16X2 ||
           r->type == TYPE_S16X2 || r->type == TYPE_F32X2;
}

// Floating point: halves are computed as f32 and rounded back.
static uint32_t float_in(const struct reading *r, uint32_t index) {
    uint32_t slot = source(r, index);
    if (r->type == TYPE_F16) return value(r, LANE_f16_to_f32, 32, slot, 0, 0, 0);
    if (r->type == TYPE_BF16) return value(r, LANE_bf16_to_f32, 32, slot, 0, 0, 0);
    return slot;
}

static void float_result(const struct reading *r, enum lane_op f32, enum lane_op f64, uint32_t inputs) {
    if (is_packed(r) || (r->type != TYPE_F32 && r->type != TYPE_F64 && !is_half(r))) {
        forget_results(r);
        return;
    }
    uint32_t in[3] = {0, 0, 0};
    for (uint32_t i = 0; i < inputs; i++) in[i] = float_in(r, i + 1);
    bool saturate = isa_form_has(r->form, MOD_sat);
    if (r->type == TYPE_F64) {
        result(r, f64, in[0], in[1], in[2], 0);
    } else if (r->type == TYPE_F32 && !saturate) {
        result(r, f32, in[0], in[1], in[2], 0);
    } else {
        uint32_t v = value(r, f32, 32, in[0], in[1], in[2], 0);
        if (saturate) v = value(r, LANE_sat_f32, 32, v, 0, 0, 0);
        result(r, r->type == TYPE_F16 ? LANE_f32_to_f16 : r->type == TYPE_BF16 ? LANE_f32_to_bf16 : LANE_mov,
               v, 0, 0, 0);
    }
}

static void arithmetic(const struct reading *r, struct widths integer, enum lane_op f32, enum lane_op f64) {
    if (r->is_float) {
        float_result(r, f32, f64, 2);
    } else if (is_packed(r) || isa_form_has(r->form, MOD_cc) || isa_form_has(r->form, MOD_sat)) {
        forget_results(r);
    } else {
        result(r, by_width(r, integer), source(r, 1), source(r, 2), 0, 0);
    }
}

// mul and mad in all their widths: .lo .hi .wide.
static void multiply(const struct reading *r, bool adds) {
    bool wide = isa_form_has(r->form, MOD_wide), high = isa_form_has(r->form, MOD_hi);
    if (r->is_float) {
        float_result(r, adds ? LANE_fma_f32 : LANE_mul_f32, adds ? LANE_fma_f64 : LANE_mul_f64, adds ? 3 : 2);
        return;
    }
    if (isa_form_has(r->form, MOD_cc) || isa_form_has(r->form, MOD_sat)) {
        forget_results(r);
        return;
    }
    uint32_t a = source(r, 1), b = source(r, 2);
    uint32_t c = adds ? source_as(r, 3, wide ? r->bits * 2 : r->bits) : 0;
    if (wide && r->bits == 16) {
        result(r, adds ? (r->is_signed ? LANE_madwide_s16 : LANE_madwide_u16)
                       : (r->is_signed ? LANE_mulwide_s16 : LANE_mulwide_u16), a, b, c, 0);
    } else if (wide) {
        result(r, adds ? (r->is_signed ? LANE_madwide_s32 : LANE_madwide_u32)
                       : (r->is_signed ? LANE_mulwide_s32 : LANE_mulwide_u32), a, b, c, 0);
    } else if (high) {
        enum lane_op op = r->is_signed ? by_width(r, WIDTHS(mulhi_s)) : by_width(r, WIDTHS(mulhi_u));
        if (!adds) result(r, op, a, b, 0, 0);
        else result(r, by_width(r, WIDTHS(add)), value(r, op, r->bits, a, b, 0, 0), c, 0, 0);
    } else {
        result(r, adds ? by_width(r, WIDTHS(mad)) : by_width(r, WIDTHS(mul)), a, b, c, 0);
    }
}

static void multiply24(const struct reading *r, bool adds) {
    bool high = isa_form_has(r->form, MOD_hi);
    enum lane_op op = high ? (r->is_signed ? LANE_mul24hi_s : LANE_mul24hi_u)
                           : (r->is_signed ? LANE_mul24_s : LANE_mul24_u);
    if (!adds) result(r, op, source(r, 1), source(r, 2), 0, 0);
    else result(r, LANE_add32, value(r, op, 32, source(r, 1), source(r, 2), 0, 0), source(r, 3), 0, 0);
}

static void divide(const struct reading *r) {
    if (r->is_float) float_result(r, LANE_div_f32, LANE_div_f64, 2);
    else result(r, r->is_signed ? by_width(r, WIDTHS(div_s)) : by_width(r, WIDTHS(div_u)), source(r, 1), source(r, 2), 0, 0);
}

static void remainder_of(const struct reading *r) {
    result(r, r->is_signed ? by_width(r, WIDTHS(rem_s)) : by_width(r, WIDTHS(rem_u)), source(r, 1), source(r, 2), 0, 0);
}

static void extreme(const struct reading *r, bool greatest) {
    if (r->count > 3 || isa_form_has(r->form, MOD_relu) || is_packed(r)) {
        forget_results(r);
    } else if (r->is_float) {
        float_result(r, greatest ? LANE_max_f32 : LANE_min_f32, greatest ? LANE_max_f64 : LANE_min_f64, 2);
    } else {
        enum lane_op op = !r->is_signed ? (greatest ? LANE_max_u : LANE_min_u)
                          : greatest ? by_width(r, WIDTHS(max_s)) : by_width(r, WIDTHS(min_s));
        result(r, op, source(r, 1), source(r, 2), 0, 0);
    }
}

static void unary(const struct reading *r, struct widths integer, enum lane_op f16, enum lane_op f32,
                  enum lane_op f64) {
    if (is_packed(r)) forget_results(r);
    else if (!r->is_float) result(r, by_width(r, integer), source(r, 1), 0, 0, 0);
    else result(r, is_half(r) ? f16 : r->bits == 64 ? f64 : f32, source(r, 1), 0, 0, 0);
}

// Moves -----------------------------------------------------------------------------------------

static void pack(const struct reading *r, const struct operand *vector) {
    uint32_t n = vector->count, each = n ? r->bits / n : 0;
    if (n < 2 || each < 8) {
        forget_results(r);
        return;
    }
    uint32_t parts[8];
    for (uint32_t i = 0; i < n && i < 8; i++)
        parts[i] = build_source(r->builder, &r->body->elements.at[vector->first + i], each, false);
    if (n == 2 && each == 32) {
        result(r, LANE_pack32, parts[0], parts[1], 0, 0);
        return;
    }
    uint32_t all = parts[0];
    for (uint32_t i = 1; i < n && i < 8; i++) {
        uint32_t at = value(r, LANE_shl64, 64, parts[i], build_constant(r->builder, (uint64_t)i * each), 0, 0);
        if (i + 1 == n) result(r, LANE_or, all, at, 0, 0);
        else all = value(r, LANE_or, 64, all, at, 0, 0);
    }
}

static void unpack(const struct reading *r, const struct operand *vector, uint32_t from) {
    uint32_t n = vector->count, each = n ? r->bits / n : 0;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t bits = 64;
        uint32_t d = build_reg(r->builder, &r->body->elements.at[vector->first + i], &bits);
        if (d == NO_INDEX) continue;
        uint32_t at = i == 0 ? from
                             : value(r, LANE_shr_u, 64, from, build_constant(r->builder, (uint64_t)i * each), 0, 0);
        build_lane(r->builder, each == 8 ? LANE_trunc8 : each == 16 ? LANE_trunc16 : each == 32 ? LANE_trunc32 : LANE_mov,
                   bits, d, at, 0, 0, 0);
    }
}

static void move(const struct reading *r) {
    if (r->count < 2 || r->bits > 64 || r->form->vec != 1) {
        forget_results(r);
    } else if (r->operands[0].kind == OPERAND_VECTOR) {
        unpack(r, &r->operands[0], integer_source(r, 1, r->bits));
    } else if (r->operands[1].kind == OPERAND_VECTOR) {
        pack(r, &r->operands[1]);
    } else if (r->type == TYPE_PRED) {
        result(r, LANE_mov, predicate_source(r, 1), 0, 0, 0);
    } else {
        result(r, LANE_mov, source(r, 1), 0, 0, 0);
    }
}

// Conversions -----------------------------------------------------------------------------------

static uint32_t extended(const struct reading *r, uint32_t slot, uint32_t bits, bool is_signed) {
    if (bits >= 64) return slot;
    enum lane_op op = is_signed ? (bits == 8 ? LANE_sx8_64 : bits == 16 ? LANE_sx16_64 : LANE_sx32_64)
                                : (bits == 8 ? LANE_trunc8 : bits == 16 ? LANE_trunc16 : LANE_trunc32);
    return value(r, op, 64, slot, 0, 0, 0);
}

static enum lane_op truncation(uint32_t bits) {
    return bits == 8 ? LANE_trunc8 : bits == 16 ? LANE_trunc16 : bits == 32 ? LANE_trunc32 : LANE_mov;
}

// The register may be wider than the type: signed values fill it.
static void integer_result(const struct reading *r, uint32_t slot, uint32_t bits, bool is_signed) {
    uint8_t width = 64;
    (void)destination(r, &r->operands[0], &width);
    if (is_signed && width > bits) {
        uint32_t narrow = value(r, truncation(bits), 64, slot, 0, 0, 0);
        slot = value(r, bits == 8 ? LANE_sx8_64 : bits == 16 ? LANE_sx16_64 : LANE_sx32_64, 64, narrow, 0, 0, 0);
        result(r, truncation(width), slot, 0, 0, 0);
        return;
    }
    result(r, truncation(bits), slot, 0, 0, 0);
}

static bool plain_float(uint8_t type) {
    return type == TYPE_F16 || type == TYPE_BF16 || type == TYPE_F32 || type == TYPE_F64;
}

static uint32_t rounding(const struct reading *r, uint32_t otherwise) {
    if (isa_form_has(r->form, MOD_rzi)) return ROUND_ZERO;
    if (isa_form_has(r->form, MOD_rmi)) return ROUND_DOWN;
    if (isa_form_has(r->form, MOD_rpi)) return ROUND_UP;
    if (isa_form_has(r->form, MOD_rni)) return ROUND_NEAREST;
    return otherwise;
}

static uint32_t to_f32(const struct reading *r, uint32_t slot, uint8_t type) {
    if (type == TYPE_F16) return value(r, LANE_f16_to_f32, 32, slot, 0, 0, 0);
    if (type == TYPE_BF16) return value(r, LANE_bf16_to_f32, 32, slot, 0, 0, 0);
    if (type == TYPE_F64) return value(r, LANE_f64_to_f32, 32, slot, 0, 0, 0);
    return slot;
}

static void from_f32(const struct reading *r, uint32_t slot, uint8_t type) {
    if (isa_form_has(r->form, MOD_sat)) slot = value(r, LANE_sat_f32, 32, slot, 0, 0, 0);
    result(r, type == TYPE_F16 ? LANE_f32_to_f16 : type == TYPE_BF16 ? LANE_f32_to_bf16
              : type == TYPE_F64 ? LANE_f32_to_f64 : LANE_mov, slot, 0, 0, 0);
}

static void float_to_float(const struct reading *r, uint8_t to, uint8_t from, uint32_t slot) {
    uint32_t how = rounding(r, UINT32_MAX);
    if (from == TYPE_F64 && to == TYPE_F64) {
        if (how == UINT32_MAX) result(r, LANE_mov, slot, 0, 0, 0);
        else result(r, LANE_round_f64, slot, 0, 0, how);
        return;
    }
    slot = to_f32(r, slot, from);
    if (how != UINT32_MAX) slot = value(r, LANE_round_f32, 32, slot, 0, 0, how);
    from_f32(r, slot, to);
}

static void float_to_integer(const struct reading *r, uint8_t to, uint8_t from, uint32_t slot) {
    uint32_t bits = isa_types[to].bits;
    bool is_signed = isa_types[to].class == TYPE_CLASS_S;
    if (from != TYPE_F64) slot = value(r, LANE_f32_to_f64, 64, to_f32(r, slot, from), 0, 0, 0);
    uint64_t how = rounding(r, ROUND_ZERO) | (is_signed ? INT_SIGNED : 0) | (uint64_t)bits << INT_WIDTH_SHIFT;
    integer_result(r, value(r, LANE_f64_to_int, 64, slot, 0, 0, how), bits, is_signed);
}

static void integer_to_float(const struct reading *r, uint8_t to, uint8_t from, uint32_t slot) {
    bool is_signed = isa_types[from].class == TYPE_CLASS_S;
    slot = extended(r, slot, isa_types[from].bits, is_signed);
    if (to == TYPE_F64) {
        result(r, is_signed ? LANE_s64_to_f64 : LANE_u64_to_f64, slot, 0, 0, 0);
        return;
    }
    from_f32(r, value(r, is_signed ? LANE_s64_to_f32 : LANE_u64_to_f32, 32, slot, 0, 0, 0), to);
}

static void integer_to_integer(const struct reading *r, uint8_t to, uint8_t from, uint32_t slot) {
    uint32_t to_bits = isa_types[to].bits, from_bits = isa_types[from].bits;
    bool to_signed = isa_types[to].class == TYPE_CLASS_S, from_signed = isa_types[from].class == TYPE_CLASS_S;
    uint8_t width = 64;
    (void)destination(r, &r->operands[0], &width);
    if (isa_form_has(r->form, MOD_sat)) {
        slot = extended(r, slot, from_bits, from_signed);
        // An unsigned 64-bit source above the signed range is taken as it stands: too rare to model.
        slot = value(r, to_signed ? LANE_clamp_s : LANE_clamp_u, 64, slot, 0, 0, to_bits);
        integer_result(r, slot, to_bits, to_signed);
        return;
    }
    if (from_signed && from_bits < to_bits && to_bits == width) {
        enum lane_op op = from_bits == 8 ? (width == 16 ? LANE_sx8_16 : width == 32 ? LANE_sx8_32 : LANE_sx8_64)
                          : from_bits == 16 ? (width == 32 ? LANE_sx16_32 : LANE_sx16_64) : LANE_sx32_64;
        result(r, op, slot, 0, 0, 0);
        return;
    }
    if (from_bits < to_bits) slot = extended(r, slot, from_bits, from_signed);
    integer_result(r, slot, to_bits, to_signed);
}

static void convert(const struct reading *r) {
    uint8_t to = r->form->types[0], from = r->form->types[1];
    bool to_float = plain_float(to), from_float = plain_float(from);
    bool known = r->form->type_count == 2 && r->count == 2 && !isa_form_has(r->form, MOD_relu) &&
                 (to_float || isa_types[to].class == TYPE_CLASS_U || isa_types[to].class == TYPE_CLASS_S) &&
                 (from_float || isa_types[from].class == TYPE_CLASS_U || isa_types[from].class == TYPE_CLASS_S) &&
                 isa_types[to].bits >= 8 && isa_types[from].bits >= 8 && isa_types[to].bits <= 64;
    if (!known || is_packed(r)) {
        forget_results(r);
        return;
    }
    uint32_t slot = build_source(r->builder, &r->operands[1], isa_types[from].bits, from_float);
    if (to_float && from_float) float_to_float(r, to, from, slot);
    else if (from_float) float_to_integer(r, to, from, slot);
    else if (to_float) integer_to_float(r, to, from, slot);
    else integer_to_integer(r, to, from, slot);
}

// Comparisons -----------------------------------------------------------------------------------

struct comparison { uint16_t mod; uint8_t kind; bool swap, invert, is_unsigned, unordered; };

// kind: 0 equal, 1 less, 2 less or equal, 3 num, 4 nan.
static const struct comparison comparisons[] = {
    {MOD_eq, 0, false, false, false, false},  {MOD_ne, 0, false, true, false, false},
    {MOD_lt, 1, false, false, false, false},  {MOD_le, 2, false, false, false, false},
    {MOD_gt, 1, true, false, false, false},   {MOD_ge, 2, true, false, false, false},
    {MOD_lo, 1, false, false, true, false},   {MOD_ls, 2, false, false, true, false},
    {MOD_hi, 1, true, false, true, false},    {MOD_hs, 2, true, false, true, false},
    {MOD_equ, 0, false, false, false, true},  {MOD_neu, 0, false, true, false, true},
    {MOD_ltu, 1, false, false, false, true},  {MOD_leu, 2, false, false, false, true},
    {MOD_gtu, 1, true, false, false, true},   {MOD_geu, 2, true, false, false, true},
    {MOD_num, 3, false, false, false, false}, {MOD_nan, 4, false, false, false, false},
};

static const struct comparison *find_comparison(const struct isa_form *form) {
    for (uint32_t i = 0; i < form->mod_count; i++)
        for (uint32_t j = 0; j < sizeof comparisons / sizeof *comparisons; j++)
            if (form->mods[i] == comparisons[j].mod) return &comparisons[j];
    return NULL;
}

static uint32_t compare_floats(const struct reading *r, const struct comparison *how, uint8_t type,
                               uint32_t a, uint32_t b) {
    static const uint8_t kinds[5] = {COMPARE_EQ, COMPARE_LT, COMPARE_LE, COMPARE_NUM, COMPARE_NAN};
    uint32_t kind = how->invert ? COMPARE_NE : kinds[how->kind];
    if (how->unordered) kind |= COMPARE_UNORDERED;
    a = type == TYPE_F64 ? a : to_f32(r, a, type);
    b = type == TYPE_F64 ? b : to_f32(r, b, type);
    return value(r, type == TYPE_F64 ? LANE_cmp_f64 : LANE_cmp_f32, 1, how->swap ? b : a, how->swap ? a : b, 0, kind);
}

// The predicate that compares operands 1 and 2; NO_INDEX when it is not known how.
static uint32_t compare(const struct reading *r, uint8_t type) {
    const struct comparison *how = find_comparison(r->form);
    uint32_t bits = isa_types[type].bits;
    if (how == NULL || r->count < 3) return NO_INDEX;
    if (isa_types[type].class == TYPE_CLASS_F && !plain_float(type)) return NO_INDEX;
    bool is_float = plain_float(type);
    uint32_t a = build_source(r->builder, &r->operands[1], bits, is_float);
    uint32_t b = build_source(r->builder, &r->operands[2], bits, is_float);
    if (is_float) return compare_floats(r, how, type, a, b);
    if (how->kind > 2) return NO_INDEX;
    if (how->kind == 0) return value(r, how->invert ? LANE_ne : LANE_eq, 1, a, b, 0, 0);
    bool is_signed = isa_types[type].class == TYPE_CLASS_S && !how->is_unsigned;
    bool less = how->kind == 1;
    enum lane_op op = !is_signed   ? (less ? LANE_lt_u : LANE_le_u)
                      : bits == 16 ? (less ? LANE_lt_s16 : LANE_le_s16)
                      : bits == 32 ? (less ? LANE_lt_s32 : LANE_le_s32)
                                   : (less ? LANE_lt_s64 : LANE_le_s64);
    return value(r, op, 1, how->swap ? b : a, how->swap ? a : b, 0, 0);
}

static enum lane_op bool_op(const struct isa_form *form, bool *given) {
    *given = true;
    for (uint32_t i = 0; i < form->mod_count; i++) {
        if (form->mods[i] == MOD_and) return LANE_and;
        if (form->mods[i] == MOD_or) return LANE_or;
        if (form->mods[i] == MOD_xor) return LANE_xor;
    }
    *given = false;
    return LANE_and;
}

static void set_predicate(const struct reading *r) {
    uint8_t bits;
    bool combined;
    uint32_t compared = compare(r, r->type), also = second_destination(r, &bits);
    if (compared == NO_INDEX) {
        forget_results(r);
        return;
    }
    enum lane_op op = bool_op(r->form, &combined);
    uint32_t c = combined ? predicate_source(r, 3) : 0;
    uint32_t opposite = also == NO_INDEX ? 0 : value(r, LANE_not1, 1, compared, 0, 0, 0);
    result(r, combined ? op : LANE_mov, compared, c, 0, 0);
    if (also != NO_INDEX) build_lane(r->builder, combined ? op : LANE_mov, 1, also, opposite, c, 0, 0);
}

static void set_value(const struct reading *r) {
    bool combined;
    uint8_t to = r->form->types[0], from = r->form->types[1];
    uint32_t compared = r->form->type_count == 2 && !is_packed(r) && isa_types[from].bits <= 64 &&
                                from != TYPE_F16X2 && from != TYPE_BF16X2
                            ? compare(r, from) : NO_INDEX;
    if (compared == NO_INDEX) {
        forget_results(r);
        return;
    }
    enum lane_op op = bool_op(r->form, &combined);
    if (combined) compared = value(r, op, 1, compared, predicate_source(r, 3), 0, 0);
    uint64_t yes = to == TYPE_F32 ? 0x3f800000 : to == TYPE_F16 ? 0x3c00 : to == TYPE_BF16 ? 0x3f80
                   : isa_types[to].bits == 16 ? 0xffff : 0xffffffff;
    result(r, LANE_selp, build_constant(r->builder, yes), 0, compared, 0);
}

// Warp-wide -------------------------------------------------------------------------------------

static void shuffle(const struct reading *r) {
    static const uint16_t mods[] = {MOD_up, MOD_down, MOD_bfly, MOD_idx};
    uint8_t bits = 64, predicate_bits;
    uint32_t d = destination(r, &r->operands[0], &bits), p = second_destination(r, &predicate_bits);
    if (r->count < 4) {
        forget_results(r);
        return;
    }
    uint32_t a = source(r, 1), b = integer_source(r, 2, 32), c = integer_source(r, 3, 32);
    if (d == NO_INDEX) d = build_temporary(r->builder, 32);
    struct code_insn *insn = build_insn(r->builder, CODE_SHFL);
    for (uint8_t i = 0; i < 4; i++)
        if (isa_form_has(r->form, (enum isa_mod)mods[i])) insn->sub = i;
    insn->d = d, insn->bits = bits, insn->a = a, insn->b = b, insn->c = c, insn->target = p;
    r->builder->code->slots.at[d].defs++;
    if (p != NO_INDEX) r->builder->code->slots.at[p].defs++;
}

static void warp_wide(const struct reading *r, enum code_op op, uint8_t sub, uint32_t a) {
    uint8_t bits = 64, predicate_bits;
    uint32_t d = destination(r, &r->operands[0], &bits), p = second_destination(r, &predicate_bits);
    if (d == NO_INDEX) d = build_temporary(r->builder, 32);
    struct code_insn *insn = build_insn(r->builder, op);
    insn->sub = sub, insn->d = d, insn->bits = bits, insn->a = a, insn->target = p;
    r->builder->code->slots.at[d].defs++;
    if (p != NO_INDEX) r->builder->code->slots.at[p].defs++;
}

static void vote(const struct reading *r) {
    uint8_t sub = isa_form_has(r->form, MOD_ballot) ? VOTE_BALLOT : isa_form_has(r->form, MOD_any) ? VOTE_ANY
                  : isa_form_has(r->form, MOD_uni) ? VOTE_UNI : VOTE_ALL;
    warp_wide(r, CODE_VOTE, sub, predicate_source(r, 1));
}

static void reduce(const struct reading *r) {
    static const struct { uint16_t mod; uint8_t is_unsigned, is_signed; } operations[] = {
        {MOD_add, REDUX_ADD, REDUX_ADD}, {MOD_min, REDUX_MIN_U, REDUX_MIN_S},
        {MOD_max, REDUX_MAX_U, REDUX_MAX_S}, {MOD_and, REDUX_AND, REDUX_AND},
        {MOD_or, REDUX_OR, REDUX_OR}, {MOD_xor, REDUX_XOR, REDUX_XOR}};
    for (uint32_t i = 0; i < sizeof operations / sizeof *operations && !r->is_float; i++)
        if (isa_form_has(r->form, (enum isa_mod)operations[i].mod)) {
            warp_wide(r, CODE_REDUX, r->is_signed ? operations[i].is_signed : operations[i].is_unsigned, source(r, 1));
            return;
        }
    forget_results(r);
}

// Bits ------------------------------------------------------------------------------------------

static bool constant_value(const struct reading *r, uint32_t index, uint64_t *out) {
    if (index >= r->count || r->operands[index].kind != OPERAND_INT) return false;
    *out = r->operands[index].value;
    return true;
}

static void insert_field(const struct reading *r) {
    uint64_t length;
    if (!constant_value(r, 4, &length)) {
        forget_results(r);
        return;
    }
    result(r, r->bits == 64 ? LANE_bfi64 : LANE_bfi32, source(r, 1), source(r, 2), integer_source(r, 3, 32), length);
}

static void extract_field(const struct reading *r) {
    enum lane_op op = r->is_signed ? (r->bits == 64 ? LANE_bfe_s64 : LANE_bfe_s32)
                                   : (r->bits == 64 ? LANE_bfe_u64 : LANE_bfe_u32);
    result(r, op, source(r, 1), integer_source(r, 2, 32), integer_source(r, 3, 32), 0);
}

static void permute(const struct reading *r) {
    static const uint16_t mods[] = {MOD_f4e, MOD_b4e, MOD_rc8, MOD_ecl, MOD_ecr, MOD_rc16};
    uint32_t mode = 0;
    for (uint32_t i = 0; i < 6; i++)
        if (isa_form_has(r->form, (enum isa_mod)mods[i])) mode = i + 1;
    result(r, mode ? LANE_prmt_mode : LANE_prmt, integer_source(r, 1, 32), integer_source(r, 2, 32),
           integer_source(r, 3, 32), mode);
}

static void look_up(const struct reading *r) {
    uint64_t table;
    if (r->operands[0].kind == OPERAND_PAIR || !constant_value(r, 4, &table)) forget_results(r);
    else result(r, LANE_lop3, source(r, 1), source(r, 2), source(r, 3), table);
}

static void funnel_shift(const struct reading *r) {
    bool left = isa_form_has(r->form, MOD_l), wrap = isa_form_has(r->form, MOD_wrap);
    result(r, left ? (wrap ? LANE_shf_l_wrap : LANE_shf_l_clamp) : (wrap ? LANE_shf_r_wrap : LANE_shf_r_clamp),
           integer_source(r, 1, 32), integer_source(r, 2, 32), integer_source(r, 3, 32), 0);
}

static void dot_product(const struct reading *r, enum lane_op op) {
    uint64_t how = r->form->type_count >= 2
                       ? (isa_types[r->form->types[0]].class == TYPE_CLASS_S ? 1u : 0u) |
                             (isa_types[r->form->types[1]].class == TYPE_CLASS_S ? 2u : 0u) : 0;
    if (isa_form_has(r->form, MOD_hi)) how |= 4;
    result(r, op, integer_source(r, 1, 32), integer_source(r, 2, 32), integer_source(r, 3, 32), how);
}

static void find_leading(const struct reading *r) {
    if (isa_form_has(r->form, MOD_shiftamt)) forget_results(r);
    else result(r, !r->is_signed ? LANE_bfind_u : r->bits == 64 ? LANE_bfind_s64 : LANE_bfind_s32, source(r, 1), 0, 0, 0);
}

static void absolute_difference(const struct reading *r) {
    enum lane_op op = r->is_signed ? (r->bits == 16 ? LANE_sad_s16 : r->bits == 32 ? LANE_sad_s32 : LANE_sad_s64)
                                   : (r->bits == 64 ? LANE_sad_u64 : LANE_sad_u32);
    result(r, op, source(r, 1), source(r, 2), source(r, 3), 0);
}

// Addresses -------------------------------------------------------------------------------------

static uint64_t window_of(uint8_t space) {
    switch (space) {
    case SPACE_SHARED: case SPACE_SHARED_CTA: case SPACE_SHARED_CLUSTER: return GENERIC_SHARED;
    case SPACE_LOCAL: return GENERIC_LOCAL;
    case SPACE_CONST: return GENERIC_CONST;
    case SPACE_PARAM: case SPACE_PARAM_ENTRY: case SPACE_PARAM_FUNC: return GENERIC_PARAM;
    default: return 0;
    }
}

static void convert_address(const struct reading *r) {
    uint64_t window = window_of(r->form->spaces[0]);
    uint32_t a = integer_source(r, 1, r->bits);
    if (window == 0 || r->bits < 64) result(r, LANE_mov, a, 0, 0, 0);
    else result(r, isa_form_has(r->form, MOD_to) ? LANE_sub64 : LANE_add64, a, build_constant(r->builder, window), 0, 0);
}

static void is_space(const struct reading *r) {
    uint64_t window = window_of(r->form->spaces[0]);
    uint32_t a = integer_source(r, 1, 64);
    if (window != 0) result(r, LANE_in_window, a, 0, 0, window);
    else result(r, LANE_lt_u, a, build_constant(r->builder, GENERIC_SHARED), 0, 0);
}

static uint32_t cluster_rank(const struct reading *r) {
    struct operand rank = {.kind = OPERAND_SREG, .sreg = SREG_CLUSTER_CTARANK};
    return build_source(r->builder, &rank, 32, false);
}

static void map_address(const struct reading *r) {
    uint32_t a = integer_source(r, 1, r->bits), b = integer_source(r, 2, 32);
    build_insn(r->builder, CODE_RANK)->a = b;
    r->builder->code->shared_remote = true;
    result(r, LANE_mapa, a, b, 0, 0);
}

// Memory ----------------------------------------------------------------------------------------

static uint8_t plain_space(uint8_t space) {
    switch (space) {
    case SPACE_SHARED_CTA: return SPACE_SHARED;
    case SPACE_PARAM_ENTRY: case SPACE_PARAM_FUNC: return SPACE_PARAM;
    default: return space;
    }
}

struct address { uint32_t slot; uint64_t offset; bool known; };

static struct address read_address(const struct reading *r, uint32_t index) {
    struct address address = {0, 0, false};
    if (index >= r->count || r->operands[index].kind != OPERAND_ADDRESS || r->operands[index].count == 0)
        return address;
    const struct operand *operand = &r->operands[index];
    const struct operand *base = &r->body->elements.at[operand->first];
    uint8_t bits, space;
    address.offset = operand->value;
    address.known = true;
    if (base->kind == OPERAND_REG) {
        address.slot = build_reg(r->builder, base, &bits);
        address.known = address.slot != NO_INDEX;
    } else if (base->kind == OPERAND_VAR && base->var != VAR_NONE) {
        address.slot = build_constant(r->builder, build_address(r->builder, base->var, &space) + base->value);
    } else if (base->kind == OPERAND_INT) {
        address.slot = build_constant(r->builder, base->value);
    } else {
        address.known = false;
    }
    if (operand->flags & OPERAND_INDEXED && operand->count > 1) address.known = false;
    return address;
}

static struct code_access *add_access(const struct reading *r, enum access_kind kind, uint8_t space,
                                      uint32_t width, uint32_t align) {
    struct code_access *access = vec_push(r->builder->arena, &r->builder->code->accesses);
    *access = (struct code_access){.kind = (uint8_t)kind, .space = plain_space(space), .width = width,
                                   .align = align, .narrow_width = width, .lanes = UINT32_MAX};
    for (uint32_t i = 0; i < ACCESS_ELEMENTS; i++) access->slots[i] = NO_INDEX;
    return access;
}

static struct code_insn *emit_access(const struct reading *r, struct address address) {
    uint32_t index = r->builder->code->accesses.n - 1;
    struct code_insn *insn = build_insn(r->builder, CODE_ACCESS);
    insn->a = address.known ? address.slot : build_unknown_slot(r->builder, 64);
    insn->imm = address.offset;
    insn->target = index;
    r->builder->code->accesses.at[index].insn = r->builder->code->insns.n - 1;
    return insn;
}

static uint8_t access_space(const struct reading *r) {
    return r->form->space_count ? r->form->spaces[0] : (uint8_t)SPACE_NONE;
}

static bool reg_marked(const struct reading *r, const struct operand *operand, uint8_t mark) {
    uint32_t reg = slice_reg(r->builder->instance->function, operand);
    return reg != NO_INDEX && (r->builder->instance->function->regs.at[reg].marks & mark);
}

// The elements of a load's or store's value operand.
static uint32_t value_elements(const struct reading *r, uint32_t index, const struct operand **first) {
    if (index >= r->count) return 0;
    const struct operand *operand = &r->operands[index];
    *first = operand->kind == OPERAND_VECTOR ? &r->body->elements.at[operand->first] : operand;
    return operand->kind == OPERAND_VECTOR ? operand->count : 1;
}

// ptxas narrows a vector load to the elements that are used: one, or a half.
static void narrow_load(const struct reading *r, struct code_access *access, const struct operand *elements,
                        uint32_t count) {
    uint32_t first = count, last = 0;
    for (uint32_t i = 0; i < count; i++)
        if (reg_marked(r, &elements[i], MARK_USED)) {
            first = i < first ? i : first;
            last = i;
        }
    if (access->is_volatile || first >= count) return;
    uint32_t part = count;
    while (part > 1 && first / (part / 2) == last / (part / 2)) part /= 2;
    access->narrow_offset = first / part * part * access->element_bytes;
    access->narrow_width = part * access->element_bytes;
}

// Which pointer argument an address comes from, for what is said of null and host pointers.
static void mark_pointer(const struct reading *r, uint32_t slot, uint64_t offset, uint32_t bytes) {
    const struct kernel *kernel = r->builder->request->kernel;
    for (uint32_t i = 0; i < kernel->params.n && bytes == 8; i++) {
        const struct kernel_param *param = &kernel->params.at[i];
        if (param->offset == offset && (param->kind == PARAM_POINTER || param->dereferenced))
            r->builder->code->slots.at[slot].param = param->index + 1;
    }
}

// A load of a kernel parameter at a constant place is a constant.
static bool load_parameter(const struct reading *r, struct address address, const struct operand *elements,
                           uint32_t count, uint32_t bytes) {
    const struct map *map = r->builder->map;
    const struct code_slot *slot = &r->builder->code->slots.at[address.slot];
    if (!address.known || slot->kind != SLOT_CONST || slot->unknown) return false;
    uint64_t at = slot->value + address.offset;
    if (at % (bytes * count) != 0 || at > map->param_size || map->param_size - at < (uint64_t)bytes * count)
        return false;
    for (uint32_t i = 0; i < count; i++, at += bytes) {
        uint8_t bits;
        uint32_t d = build_reg(r->builder, &elements[i], &bits);
        if (d == NO_INDEX) continue;
        uint64_t loaded = 0;
        bool known = true;
        for (uint32_t b = 0; b < bytes; b++) {
            loaded |= (uint64_t)map->param_bytes[at + b] << (8 * b);
            known = known && map->param_known[at + b];
        }
        if (r->is_signed && bytes < 8)
            loaded = low_bits((uint64_t)((int64_t)(loaded << (64 - 8 * bytes)) >> (64 - 8 * bytes)), bits);
        mark_pointer(r, d, at, bytes);
        build_lane(r->builder, LANE_mov, bits, d,
                   known ? build_constant(r->builder, low_bits(loaded, bits)) : build_unknown_slot(r->builder, 8 * bytes),
                   0, 0, 0);
    }
    return true;
}

static void load(const struct reading *r) {
    const struct operand *elements = NULL;
    uint32_t count = value_elements(r, 0, &elements), bytes = r->bits / 8;
    uint8_t space = access_space(r);
    if (count == 0 || count > ACCESS_ELEMENTS || bytes == 0) {
        forget_results(r);
        return;
    }
    struct address address = read_address(r, 1);
    if (plain_space(space) == SPACE_PARAM && bytes <= 8 &&
        load_parameter(r, address, elements, count, bytes))
        return;
    bool constant = address.known && r->builder->code->slots.at[address.slot].kind == SLOT_CONST;
    bool needed = false;
    for (uint32_t i = 0; i < count; i++) needed = needed || reg_marked(r, &elements[i], MARK_NEEDED);
    if (plain_space(space) == SPACE_PARAM && constant && !needed) return;
    struct code_access *access = add_access(r, ACCESS_OP_LOAD, space, bytes * count, bytes * count);
    access->elements = (uint8_t)count;
    access->element_bytes = (uint8_t)bytes;
    access->sign = r->is_signed;
    access->non_coherent = isa_form_has(r->form, MOD_nc) || r->form->opcode == OP_ldu;
    access->is_volatile = isa_form_has(r->form, MOD_volatile) || isa_form_has(r->form, MOD_acquire) ||
                          isa_form_has(r->form, MOD_relaxed) || isa_form_has(r->form, MOD_mmio);
    access->removable = true;
    for (uint32_t i = 0; i < count; i++) {
        if (reg_marked(r, &elements[i], MARK_USED)) access->removable = false;
        if (!reg_marked(r, &elements[i], MARK_NEEDED)) continue;
        uint32_t slot = build_reg(r->builder, &elements[i], &access->bits[i]);
        access->slots[i] = slot;
        if (slot == NO_INDEX) continue;
        access->contents = true;
        r->builder->code->slots.at[slot].defs++;
    }
    if (access->is_volatile) access->removable = false;
    narrow_load(r, access, elements, count);
    if (bytes > 8) access->contents = false;
    emit_access(r, address);
}

static bool contents_matter(const struct reading *r, uint8_t space) {
    const struct slice *slice = r->builder->slice;
    switch (plain_space(space)) {
    case SPACE_SHARED: case SPACE_SHARED_CLUSTER: return slice->shared_needed;
    case SPACE_GLOBAL: return slice->global_needed;
    case SPACE_LOCAL: return slice->local_needed;
    case SPACE_PARAM: return r->builder->instance->function->params_needed;
    default: return slice->shared_needed || slice->global_needed || slice->local_needed;
    }
}

static void store(const struct reading *r) {
    const struct operand *elements = NULL;
    uint32_t count = value_elements(r, 1, &elements), bytes = r->bits / 8;
    uint8_t space = access_space(r);
    if (count == 0 || count > ACCESS_ELEMENTS || bytes == 0) return;
    struct address address = read_address(r, 0);
    bool contents = contents_matter(r, space) && bytes <= 8;
    uint32_t slots[ACCESS_ELEMENTS];
    for (uint32_t i = 0; i < count && contents; i++)
        slots[i] = build_source(r->builder, &elements[i], bytes * 8, r->is_float);
    // st.async and red.async add to an mbarrier elsewhere.
    if (isa_form_has(r->form, MOD_async)) r->builder->code->mbarriers_inexact = true;
    struct code_access *access = add_access(r, ACCESS_OP_STORE, space, bytes * count, bytes * count);
    access->elements = (uint8_t)count;
    access->element_bytes = (uint8_t)bytes;
    access->contents = contents;
    for (uint32_t i = 0; i < count && contents; i++) {
        access->slots[i] = slots[i];
        access->bits[i] = (uint8_t)(bytes * 8);
    }
    emit_access(r, address);
}

static void atomic(const struct reading *r, enum access_kind kind) {
    uint32_t at = kind == ACCESS_OP_ATOMIC ? 1 : 0, vec = r->form->vec ? r->form->vec : 1;
    uint32_t bytes = isa_types[r->form->types[r->form->type_count ? r->form->type_count - 1 : 0]].bits / 8 * vec;
    uint8_t space = access_space(r);
    if (kind == ACCESS_OP_ATOMIC) forget_results(r);
    if (isa_form_has(r->form, MOD_async)) r->builder->code->mbarriers_inexact = true;
    if (bytes == 0) return;
    struct code_access *access = add_access(r, kind, space, bytes, bytes);
    access->contents = contents_matter(r, space);
    access->element_bytes = (uint8_t)(bytes > 16 ? 16 : bytes);
    emit_access(r, read_address(r, at));
}

// ldmatrix and stmatrix: rows of 16 bytes, at the addresses of as many lanes as there are rows.
static void matrix(const struct reading *r, bool stores) {
    uint32_t rows = isa_form_has(r->form, MOD_m16n16) || isa_form_has(r->form, MOD_m16n8) ? 16 : 8;
    uint32_t lanes = isa_form_has(r->form, MOD_x4) ? 4 * rows : isa_form_has(r->form, MOD_x2) ? 2 * rows : rows;
    // Packed sub-byte sources read fewer bytes of a row; the first 8 are always read.
    uint32_t width = r->form->type_count > 1 ? 8 : 16;
    if (!stores) forget_results(r);
    struct code_access *access = add_access(r, stores ? ACCESS_OP_STORE : ACCESS_OP_LOAD, SPACE_SHARED, width, 16);
    access->space = access_space(r) == SPACE_NONE ? (uint8_t)SPACE_NONE : plain_space(access_space(r));
    access->lanes = lanes >= 32 ? UINT32_MAX : ((uint32_t)1 << lanes) - 1;
    access->contents = stores && contents_matter(r, SPACE_SHARED);
    access->element_bytes = 16;
    emit_access(r, read_address(r, stores ? 0 : 1));
}

// cp.async [shared], [global], size {, source size}: the second operand's bytes may be fewer.
static void copy_async(const struct reading *r) {
    uint64_t size;
    if (isa_form_has(r->form, MOD_mbarrier)) {  // cp.async.mbarrier.arrive
        if (!isa_form_has(r->form, MOD_noinc)) return;
        struct address address = read_address(r, 0);
        struct code_insn *insn = build_insn(r->builder, CODE_MBARRIER);
        insn->sub = MBARRIER_ARRIVE;
        insn->a = address.known ? address.slot : build_unknown_slot(r->builder, 64);
        insn->imm = address.offset;
        insn->b = build_constant(r->builder, 1);
        insn->d = build_temporary(r->builder, 64);
        insn->bits = 64;
        return;
    }
    if (!constant_value(r, 2, &size) || size > 16 || size == 0) return;  // commit_group, wait_group
    uint32_t bytes = (uint32_t)size, count = build_constant(r->builder, size);
    // A trailing cache policy is 64 bits wide; a predicate says that the source is ignored.
    if (r->count > 3 && !(r->count == 4 && isa_form_has(r->form, MOD_L2__cache_hint))) {
        uint8_t bits = 32;
        if (r->operands[3].kind == OPERAND_REG) (void)build_reg(r->builder, &r->operands[3], &bits);
        if (bits == 1)
            count = value(r, LANE_selp, 32, 0, count, predicate_source(r, 3), 0);
        else
            count = integer_source(r, 3, 32);
    }
    struct address to = read_address(r, 0), from = read_address(r, 1);
    struct code_access *access = add_access(r, ACCESS_OP_STORE, SPACE_SHARED, bytes, bytes);
    access->contents = contents_matter(r, SPACE_SHARED);
    access->element_bytes = (uint8_t)bytes;
    emit_access(r, to);
    access = add_access(r, ACCESS_OP_LOAD, SPACE_GLOBAL, bytes, bytes);
    access->sized = true;
    emit_access(r, from)->c = count;
}

static void mbarrier_insn(const struct reading *r, enum mbarrier_op op, struct address address, uint32_t b) {
    struct code_insn *insn = build_insn(r->builder, CODE_MBARRIER);
    insn->sub = (uint8_t)op;
    insn->a = address.known ? address.slot : build_unknown_slot(r->builder, 64);
    insn->imm = address.offset;
    insn->b = b;
    insn->d = 0;
    insn->bits = 64;
}

static bool is_shared(uint8_t space) {
    return space == SPACE_SHARED || space == SPACE_SHARED_CTA || space == SPACE_SHARED_CLUSTER;
}

// cp.async.bulk: [to], [from], size {, [mbarrier]}; .tensor: [to], [map, {coordinates}], [mbarrier].
static void copy_bulk(const struct reading *r) {
    bool tensor = isa_form_has(r->form, MOD_tensor), reduces = isa_form_has(r->form, MOD_reduce);
    bool prefetches = isa_form_has(r->form, MOD_prefetch);
    uint8_t to_space = r->form->spaces[0], from_space = r->form->spaces[1];
    if (r->count < 2 || prefetches || r->operands[0].kind != OPERAND_ADDRESS) return;
    bool to_shared = is_shared(to_space);
    if (isa_form_has(r->form, MOD_multicast__cluster)) r->builder->code->mbarriers_inexact = true;
    if (tensor) {
        // One side is a tensor map, which is not described: of the shared side the first bytes count.
        struct address shared = read_address(r, to_shared ? 0 : 1);
        struct code_access *access = add_access(r, to_shared ? ACCESS_OP_STORE : ACCESS_OP_LOAD, SPACE_SHARED_CLUSTER, 16, 16);
        access->contents = to_shared && contents_matter(r, SPACE_SHARED);
        access->element_bytes = 16;
        emit_access(r, shared);
        if (to_shared) mbarrier_insn(r, MBARRIER_INEXACT, read_address(r, 2), 0);
        return;
    }
    uint32_t size = integer_source(r, 2, 32);
    struct address to = read_address(r, 0), from = read_address(r, 1);
    struct code_access *access = add_access(r, reduces ? ACCESS_OP_REDUCE : ACCESS_OP_STORE, to_space, 16, 16);
    access->sized = access->bulk = true;
    access->contents = contents_matter(r, to_space);
    access->element_bytes = 16;
    emit_access(r, to)->c = size;
    access = add_access(r, ACCESS_OP_LOAD, from_space, 16, 16);
    access->sized = access->bulk = true;
    emit_access(r, from)->c = size;
    if (to_shared && r->count > 3 && r->operands[3].kind == OPERAND_ADDRESS)
        mbarrier_insn(r, MBARRIER_COMPLETE, read_address(r, 3), size);
}

static void copy(const struct reading *r) {
    if (isa_form_has(r->form, MOD_bulk)) copy_bulk(r);
    else copy_async(r);
}

// Barriers --------------------------------------------------------------------------------------

static void barrier(const struct reading *r) {
    if (isa_form_has(r->form, MOD_cluster) || isa_form_has(r->form, MOD_warp)) return;
    bool reduces = isa_form_has(r->form, MOD_red);
    uint32_t at = reduces ? 1 : 0, arguments = r->count - (reduces ? 2 : 0);
    if (r->count == 0 || (reduces && r->count < 3)) return;
    uint32_t id = integer_source(r, at, 32);
    uint32_t count = arguments > 1 ? integer_source(r, at + 1, 32) : 0;
    struct code_insn *insn = build_insn(r->builder, CODE_BARRIER);
    insn->a = id;
    insn->b = count;
    insn->c = arguments > 1;  // 1: a count was given
    insn->sub = isa_form_has(r->form, MOD_arrive);
    if (reduces) forget_results(r);
}

static enum mbarrier_op mbarrier_op_of(const struct isa_form *form) {
    if (isa_form_has(form, MOD_init)) return MBARRIER_INIT;
    if (isa_form_has(form, MOD_inval)) return MBARRIER_INVAL;
    if (isa_form_has(form, MOD_test_wait) || isa_form_has(form, MOD_try_wait))
        return isa_form_has(form, MOD_parity) ? MBARRIER_WAIT_PARITY : MBARRIER_WAIT;
    if (isa_form_has(form, MOD_arrive_drop)) return MBARRIER_ARRIVE_DROP;
    if (isa_form_has(form, MOD_arrive)) return isa_form_has(form, MOD_expect_tx) ? MBARRIER_ARRIVE_EXPECT : MBARRIER_ARRIVE;
    if (isa_form_has(form, MOD_expect_tx)) return MBARRIER_EXPECT;
    if (isa_form_has(form, MOD_complete_tx)) return MBARRIER_COMPLETE;
    return MBARRIER_INEXACT;
}

static void mbarrier(const struct reading *r) {
    enum mbarrier_op op = mbarrier_op_of(r->form);
    if (op == MBARRIER_INEXACT) {  // pending_count
        forget_results(r);
        return;
    }
    uint32_t at = r->count > 0 && r->operands[0].kind == OPERAND_ADDRESS ? 0 : 1;
    uint8_t bits = 64, space = access_space(r);
    uint32_t d = at == 1 ? destination(r, &r->operands[0], &bits) : NO_INDEX;
    struct address address = read_address(r, at);
    if (space == SPACE_SHARED_CLUSTER) r->builder->code->mbarriers_inexact = true;
    bool wide = op == MBARRIER_WAIT;
    uint32_t b = at + 1 < r->count ? integer_source(r, at + 1, wide ? 64 : 32) : build_constant(r->builder, 1);
    struct code_access *access = add_access(r, ACCESS_OP_ATOMIC, space, 8, 8);
    access->element_bytes = 8;
    emit_access(r, address);
    // arrive.expect_tx's operand is bytes; its own arrival is one.
    struct code_insn *insn = build_insn(r->builder, CODE_MBARRIER);
    insn->sub = (uint8_t)op;
    insn->a = address.known ? address.slot : build_unknown_slot(r->builder, 64);
    insn->imm = address.offset;
    insn->b = b;
    insn->bits = bits;
    insn->d = d == NO_INDEX ? build_temporary(r->builder, 64) : d;
    r->builder->code->slots.at[insn->d].defs++;
}

// wmma.load and wmma.store: the first element of a tile is what is certain; .aligned.
static void tile(const struct reading *r) {
    bool loads = isa_form_has(r->form, MOD_load), stores = isa_form_has(r->form, MOD_store);
    if (!loads && !stores) {
        forget_results(r);
        return;
    }
    if (loads) forget_results(r);
    uint32_t bytes = r->bits >= 8 ? r->bits / 8 : 1;
    struct code_access *access = add_access(r, loads ? ACCESS_OP_LOAD : ACCESS_OP_STORE, access_space(r), bytes, bytes);
    access->contents = stores && contents_matter(r, access_space(r));
    access->element_bytes = (uint8_t)bytes;
    emit_access(r, read_address(r, loads ? 1 : 0));
}

// -----------------------------------------------------------------------------------------------

static void translate(const struct reading *r) {
    switch (r->form->opcode) {
    case OP_mov: move(r); return;
    case OP_add: arithmetic(r, WIDTHS(add), LANE_add_f32, LANE_add_f64); return;
    case OP_sub: arithmetic(r, WIDTHS(sub), LANE_sub_f32, LANE_sub_f64); return;
    case OP_mul: multiply(r, false); return;
    case OP_mad: case OP_fma: multiply(r, true); return;
    case OP_mul24: multiply24(r, false); return;
    case OP_mad24: multiply24(r, true); return;
    case OP_div: divide(r); return;
    case OP_rem: remainder_of(r); return;
    case OP_min: extreme(r, false); return;
    case OP_max: extreme(r, true); return;
    case OP_abs: unary(r, WIDTHS(abs), LANE_abs_f16, LANE_abs_f32, LANE_abs_f64); return;
    case OP_neg: unary(r, WIDTHS(neg), LANE_neg_f16, LANE_neg_f32, LANE_neg_f64); return;
    case OP_sqrt: float_result(r, LANE_sqrt_f32, LANE_sqrt_f64, 1); return;
    case OP_rcp: float_result(r, LANE_rcp_f32, LANE_rcp_f64, 1); return;
    case OP_sad: absolute_difference(r); return;
    case OP_and: result(r, LANE_and, source(r, 1), source(r, 2), 0, 0); return;
    case OP_or: result(r, LANE_or, source(r, 1), source(r, 2), 0, 0); return;
    case OP_xor: result(r, LANE_xor, source(r, 1), source(r, 2), 0, 0); return;
    case OP_not: result(r, r->type == TYPE_PRED ? LANE_not1 : by_width(r, WIDTHS(not)), source(r, 1), 0, 0, 0); return;
    case OP_cnot: result(r, LANE_cnot, source(r, 1), 0, 0, 0); return;
    case OP_shl: result(r, by_width(r, WIDTHS(shl)), source(r, 1), integer_source(r, 2, 32), 0, 0); return;
    case OP_shr:
        result(r, r->is_signed ? by_width(r, WIDTHS(shr_s)) : LANE_shr_u, source(r, 1), integer_source(r, 2, 32), 0, 0);
        return;
    case OP_shf: funnel_shift(r); return;
    case OP_bfe: extract_field(r); return;
    case OP_bfi: insert_field(r); return;
    case OP_bfind: find_leading(r); return;
    case OP_bmsk:
        result(r, isa_form_has(r->form, MOD_wrap) ? LANE_bmsk_wrap : LANE_bmsk_clamp, source(r, 1), source(r, 2), 0, 0);
        return;
    case OP_brev: result(r, r->bits == 64 ? LANE_brev64 : LANE_brev32, source(r, 1), 0, 0, 0); return;
    case OP_popc: result(r, LANE_popc, source(r, 1), 0, 0, 0); return;
    case OP_clz: result(r, r->bits == 64 ? LANE_clz64 : LANE_clz32, source(r, 1), 0, 0, 0); return;
    case OP_prmt: permute(r); return;
    case OP_lop3: look_up(r); return;
    case OP_dp4a: dot_product(r, LANE_dp4a); return;
    case OP_dp2a: dot_product(r, LANE_dp2a); return;
    case OP_selp: result(r, LANE_selp, source(r, 1), source(r, 2), predicate_source(r, 3), 0); return;
    case OP_slct:
        if (r->form->type_count > 1 && r->form->types[1] == TYPE_S32)
            result(r, LANE_slct_s32, source(r, 1), source(r, 2), integer_source(r, 3, 32), 0);
        else
            forget_results(r);
        return;
    case OP_setp: set_predicate(r); return;
    case OP_set: set_value(r); return;
    case OP_cvt: convert(r); return;
    case OP_cvta: convert_address(r); return;
    case OP_isspacep: is_space(r); return;
    case OP_mapa: map_address(r); return;
    case OP_getctarank: result(r, LANE_ctarank, integer_source(r, 1, r->bits), cluster_rank(r), 0, 0); return;
    case OP_shfl: shuffle(r); return;
    case OP_vote: vote(r); return;
    case OP_match: warp_wide(r, CODE_MATCH, isa_form_has(r->form, MOD_all), source(r, 1)); return;
    case OP_elect: warp_wide(r, CODE_ELECT, 0, 0); return;
    case OP_redux: reduce(r); return;
    case OP_activemask: warp_wide(r, CODE_ACTIVE, 0, 0); return;
    case OP_ld: case OP_ldu: load(r); return;
    case OP_st: store(r); return;
    case OP_atom: atomic(r, ACCESS_OP_ATOMIC); return;
    case OP_red: atomic(r, ACCESS_OP_REDUCE); return;
    case OP_ldmatrix: matrix(r, false); return;
    case OP_stmatrix: matrix(r, true); return;
    case OP_cp: copy(r); return;
    case OP_bar: case OP_barrier: barrier(r); return;
    case OP_mbarrier: mbarrier(r); return;
    case OP_wmma: tile(r); return;
    case OP_brkpt: build_insn(r->builder, CODE_TRAP)->sub = 1; return;
    case OP_tcgen05: case OP_clusterlaunchcontrol:
        // Their arrivals at mbarriers are not modelled.
        r->builder->code->mbarriers_inexact = true;
        forget_results(r);
        return;
    default: forget_results(r); return;
    }
}

// Instructions that act whether or not anything needs what they define.
static bool acts(const struct isa_form *form) {
    switch (form->opcode) {
    case OP_st: case OP_red: case OP_atom: case OP_stmatrix: case OP_ldmatrix: case OP_cp: case OP_bar:
    case OP_barrier: case OP_mbarrier: case OP_brkpt: case OP_mapa: case OP_tcgen05: case OP_wmma:
    case OP_clusterlaunchcontrol:
        return true;
    // Loads from .param are of no consequence in themselves.
    case OP_ld: case OP_ldu: return true;
    default: return false;
    }
}

static bool models(uint16_t opcode) {
    switch (opcode) {
    case OP_mma: case OP_wgmma: case OP_tex: case OP_tld4: case OP_suld: case OP_txq: case OP_suq:
    case OP_multimem: case OP_alloca: case OP_addc: case OP_subc: case OP_madc: case OP_fns:
        return false;
    default: return true;
    }
}

void build_instruction(struct builder *builder, uint32_t index) {
    const struct slice_function *function = builder->instance->function;
    const struct instruction *instruction = &function->body->instructions.at[index];
    const struct isa_form *form = &builder->module->forms.at[instruction->form];
    bool needed = function->marks[index] & MARK_NEEDED;
    if (!needed && !acts(form)) return;
    if (needed && !models(form->opcode)) builder->code->unknown_effects++;
    uint8_t type = form->type_count ? form->types[0] : (uint8_t)TYPE_NONE;
    uint32_t bits = isa_types[type].bits;
    struct reading reading = {
        .builder = builder, .body = function->body, .instruction = instruction, .form = form,
        .operands = function->body->operands.at + instruction->operand_first,
        .count = instruction->operand_count, .type = type, .bits = bits ? bits : 32,
        .is_signed = isa_types[type].class == TYPE_CLASS_S,
        .is_float = isa_types[type].class == TYPE_CLASS_F};
    translate(&reading);
}
