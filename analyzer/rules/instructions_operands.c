// Operands against the operand patterns of a row.
#include "analyzer/rules/instructions_internal.h"

// One attempt to fit one row.
struct attempt {
    struct instruction_checker *checker;
    const struct isa_form *form;
    const struct row_match *match;
    const struct isa_operand_pattern *pattern;
    struct mismatch *mismatch;
};

static bool fail(struct attempt *attempt, enum mismatch_kind kind, const struct operand *at) {
    attempt->mismatch->kind = (uint8_t)kind;
    attempt->mismatch->at = at;
    attempt->mismatch->type = pattern_type(attempt->match, attempt->pattern);
    return false;
}

const struct variable *operand_variable(const struct instruction_checker *checker,
                                        const struct operand *operand) {
    if ((operand->kind != OPERAND_REG && operand->kind != OPERAND_VAR) || operand->var == VAR_NONE)
        return NULL;
    return module_variable(checker->module, checker->function, operand->var);
}

enum isa_type operand_type(const struct instruction_checker *checker,
                           const struct operand *operand) {
    if (operand->kind == OPERAND_SREG) return (enum isa_type)isa_sregs[operand->sreg].type;
    const struct variable *variable = operand_variable(checker, operand);
    return variable == NULL ? TYPE_NONE : (enum isa_type)variable->type;
}

static const struct operand *elements_of(const struct attempt *attempt,
                                         const struct operand *operand) {
    return &attempt->checker->body->elements.at[operand->first];
}

// The type as wide again: mul.wide.
static enum isa_type widened(enum isa_type type) {
    switch (type) {
    case TYPE_U16: return TYPE_U32;
    case TYPE_S16: return TYPE_S32;
    case TYPE_U32: return TYPE_U64;
    case TYPE_S32: return TYPE_S64;
    default: return type;
    }
}

enum isa_type pattern_type(const struct row_match *match,
                           const struct isa_operand_pattern *pattern) {
    enum isa_type type = (enum isa_type)pattern->type;
    if (pattern->type_slot >= 0)
        type = isa_mod_type((enum isa_mod)match->filled[pattern->type_slot]);
    return pattern->widened ? widened(type) : type;
}

// Types written on instructions only are held in registers of untyped bits.
static bool is_register_float(enum isa_type type) {
    return type == TYPE_F16 || type == TYPE_F32 || type == TYPE_F64 || type == TYPE_F16X2;
}

// Packed halves that a .f16x2 register may hold (measured; .bf16x2 is not among them).
static bool takes_f16x2(enum isa_type type) {
    return type == TYPE_F16X2 || type == TYPE_U16X2 || type == TYPE_S16X2 || type == TYPE_B32 ||
           type == TYPE_U32 || type == TYPE_S32;
}

// Whether a register of type `reg` is as wide as `type` and of a class that it takes. Bits take
// all; signedness never matters; a float takes itself and bits. ptxas lets .f16x2 registers pass
// as 32-bit integers and as predicates; so do we.
static bool same_width(enum isa_type type, enum isa_type reg) {
    if (type == TYPE_PRED) return reg == TYPE_PRED || reg == TYPE_F16X2;
    if (reg == TYPE_F16X2) return takes_f16x2(type);
    if (reg == TYPE_PRED || isa_types[type].bits != isa_types[reg].bits) return false;
    uint8_t wants = isa_types[type].class, has = isa_types[reg].class;
    if (wants == TYPE_CLASS_B || has == TYPE_CLASS_B) return true;
    if (wants == TYPE_CLASS_F) return type == reg;
    return has == TYPE_CLASS_U || has == TYPE_CLASS_S;
}

// Loads, stores and conversions take wider registers: integers of any class, floats as bits.
static bool same_or_wider(enum isa_type type, enum isa_type reg) {
    if (same_width(type, reg)) return true;
    uint16_t bits = isa_types[type].bits, reg_bits = isa_types[reg].bits;
    if (reg == TYPE_PRED || reg_bits < bits || type == TYPE_BF16) return false;
    uint8_t wants = isa_types[type].class, has = isa_types[reg].class;
    if (wants == TYPE_CLASS_B) return true;
    if (wants == TYPE_CLASS_F) return has == TYPE_CLASS_B && (is_register_float(type));
    return has == TYPE_CLASS_B || has == TYPE_CLASS_U || has == TYPE_CLASS_S || reg == TYPE_F16X2;
}

static bool is_integer_32(enum isa_type reg) {
    return reg == TYPE_B32 || reg == TYPE_U32 || reg == TYPE_S32;
}

// Barriers and tcgen05 read 32 bits of a constant, so that 4294967296 stands for 0; the others compare
// all of it.
static int64_t constant_value(const struct attempt *attempt, const struct operand *operand) {
    int64_t value = (int64_t)operand->value;
    uint16_t opcode = attempt->form->opcode;
    bool wraps = opcode == OP_bar || opcode == OP_barrier || opcode == OP_tcgen05;
    return wraps && value == (int64_t)1 << 32 ? 0 : value;
}

static bool in_range(const struct attempt *attempt, const struct operand *operand) {
    const struct isa_operand_pattern *pattern = attempt->pattern;
    int64_t raw = (int64_t)operand->value, value = constant_value(attempt, operand);
    const int64_t *values = pattern->values;
    switch (pattern->range) {
    case RANGE_SPAN:
        return (value >= values[0] && value <= values[1]) ||
               (raw >= values[0] && raw <= values[1]);
    case RANGE_SET:
        for (int i = 0; i < pattern->value_count; i++)
            if (raw == values[i]) return true;
        return false;
    case RANGE_MULTIPLE:
        if (pattern->value_count == 3)
            return raw >= values[1] && raw <= values[2] && raw % values[0] == 0;
        return raw % values[0] == 0 && raw >= 0;
    case RANGE_POWER: return raw > 0 && (raw & (raw - 1)) == 0;
    default: return true;
    }
}

static bool literal_fits(enum isa_type type, const struct operand *operand) {
    bool integer = operand->kind == OPERAND_INT;
    switch (isa_types[type].class) {
    case TYPE_CLASS_P:
    case TYPE_CLASS_U:
    case TYPE_CLASS_S: return integer && type != TYPE_U16X2 && type != TYPE_S16X2;
    case TYPE_CLASS_F: return !integer && (type == TYPE_F32 || type == TYPE_F64);
    case TYPE_CLASS_B:
        if (type == TYPE_B32) return integer || operand->hex == 4;
        if (type == TYPE_B64) return integer || operand->hex != 4;
        return integer;
    default: return false;
    }
}

static bool is_literal(const struct operand *operand) {
    return operand->kind == OPERAND_INT || operand->kind == OPERAND_FLOAT;
}

// A literal where a register or literal may be.
static bool check_literal(struct attempt *attempt, enum isa_type type,
                          const struct operand *operand) {
    const struct isa_operand_pattern *pattern = attempt->pattern;
    if (pattern->destination || pattern->no_literal)
        return fail(attempt, MISMATCH_KIND, operand);
    if (!literal_fits(type, operand)) return fail(attempt, MISMATCH_LITERAL, operand);
    if (operand->kind == OPERAND_INT && !in_range(attempt, operand))
        return fail(attempt, MISMATCH_RANGE, operand);
    return true;
}

// A whole vector register where a scalar must be, or a selector where there is none.
static bool check_component(struct attempt *attempt, const struct operand *operand) {
    const struct variable *variable = operand_variable(attempt->checker, operand);
    bool selector = operand->component >= 16;
    bool on_scalar = variable != NULL && variable->vec < 2;
    if ((selector && attempt->pattern->code != CODE_X) ||
        (operand->component != 0 && !selector && on_scalar))
        return fail(attempt, MISMATCH_COMPONENT, operand);
    if (variable != NULL && operand->component == 0 && variable->vec > 1)
        return fail(attempt, MISMATCH_KIND, operand);
    return true;
}

static bool check_register(struct attempt *attempt, enum isa_type type, bool wider,
                           const struct operand *operand) {
    if (operand->kind != OPERAND_REG || (operand->flags & (OPERAND_NOT | OPERAND_NEGATED)))
        return fail(attempt, MISMATCH_KIND, operand);
    if (!check_component(attempt, operand)) return false;
    enum isa_type reg = operand_type(attempt->checker, operand);
    if (reg == TYPE_NONE) return true;  // of a type that the parser reported
    bool fits = attempt->pattern->code == CODE_N ? is_integer_32(reg)
                : wider                          ? same_or_wider(type, reg)
                                                 : same_width(type, reg);
    return fits || fail(attempt, MISMATCH_TYPE, operand);
}

// Types of mov that read a special register (measured): words of the register's width, and for the
// oldest ones halves too.
static bool sreg_fits(const struct operand *operand, enum isa_type type) {
    const struct isa_sreg_info *sreg = &isa_sregs[operand->sreg];
    if (sreg->type == TYPE_PRED || type == TYPE_PRED) return sreg->type == type;
    uint8_t class = isa_types[type].class;
    if (class == TYPE_CLASS_F) return false;
    bool oldest = operand->sreg == SREG_TID || operand->sreg == SREG_NTID ||
                  operand->sreg == SREG_CTAID || operand->sreg == SREG_NCTAID ||
                  operand->sreg == SREG_GRIDID;
    uint16_t bits = isa_types[type].bits, has = isa_types[sreg->type].bits;
    if (operand->sreg == SREG_GRIDID) return bits >= 16;
    return bits == has || (oldest && bits == 16);
}

static bool check_sreg(struct attempt *attempt, enum isa_type type, const struct operand *operand) {
    if (operand->kind != OPERAND_SREG) return fail(attempt, MISMATCH_KIND, operand);
    bool whole = isa_sregs[operand->sreg].width > 1 && operand->component == 0;
    if (whole && !isa_form_has(attempt->form, MOD_v4)) return fail(attempt, MISMATCH_KIND, operand);
    return sreg_fits(operand, type) || fail(attempt, MISMATCH_TYPE, operand);
}

static bool is_conversion(const struct attempt *attempt) {
    return attempt->form->opcode == OP_cvt && !attempt->pattern->destination;
}

// R, W, N, X: a register or a literal.
static bool check_scalar(struct attempt *attempt, bool wider, const struct operand *operand) {
    enum isa_type type = pattern_type(attempt->match, attempt->pattern);
    if (operand->kind == OPERAND_NAME) return true;  // reported as unknown
    if (is_literal(operand)) return check_literal(attempt, type, operand);
    if (operand->kind == OPERAND_SREG && is_conversion(attempt))
        return check_sreg(attempt, type, operand);
    return check_register(attempt, type, wider, operand);
}

static bool check_predicate(struct attempt *attempt, const struct operand *operand) {
    if (operand->kind == OPERAND_NAME) return true;
    if (is_literal(operand)) return check_literal(attempt, TYPE_PRED, operand);
    if (operand->kind != OPERAND_REG) return fail(attempt, MISMATCH_KIND, operand);
    // The manual allows `!p` in a few places only; ptxas takes it wherever a predicate is read.
    if ((operand->flags & OPERAND_NOT) && attempt->pattern->destination)
        return fail(attempt, MISMATCH_KIND, operand);
    if (!check_component(attempt, operand)) return false;
    enum isa_type reg = operand_type(attempt->checker, operand);
    return reg == TYPE_NONE || same_width(TYPE_PRED, reg) ||
           fail(attempt, MISMATCH_TYPE, operand);
}

static bool is_address_register(enum isa_type reg) {
    uint8_t class = isa_types[reg].class;
    return (class == TYPE_CLASS_B || class == TYPE_CLASS_U || class == TYPE_CLASS_S) &&
           isa_types[reg].bits <= 64 && isa_types[reg].bits >= 8;
}

static enum isa_space pattern_space(const struct attempt *attempt) {
    const struct isa_operand_pattern *pattern = attempt->pattern;
    if (pattern->space_slot < 0) return (enum isa_space)pattern->space;
    return isa_mod_space((enum isa_mod)attempt->match->filled[pattern->space_slot]);
}

// A parameter of the function's own list, not one that its body declares for a call.
static bool is_formal_param(const struct attempt *attempt, const struct variable *variable) {
    const struct function *function = attempt->checker->function;
    ptrdiff_t index = variable - function->variables.at;
    return index >= 0 && index < (ptrdiff_t)(function->return_count + function->param_count);
}

static bool is_entry_param(const struct attempt *attempt, const struct variable *variable) {
    return attempt->checker->function->kind == FUNCTION_ENTRY &&
           is_formal_param(attempt, variable);
}

// Whether an instruction of state space `space` may name the variable (measured: space_compat).
// Generic addressing takes what has a generic window without conversion; barriers only shared.
static bool space_takes(const struct attempt *attempt, enum isa_space space,
                        const struct variable *variable) {
    switch (space) {
    case SPACE_NONE:
        if (attempt->form->opcode == OP_mbarrier) return variable->space == SPACE_SHARED;
        return variable->space == SPACE_GLOBAL || variable->space == SPACE_SHARED ||
               variable->space == SPACE_LOCAL;
    case SPACE_SHARED:
    case SPACE_SHARED_CTA:
    case SPACE_SHARED_CLUSTER: return variable->space == SPACE_SHARED;
    case SPACE_PARAM:
    case SPACE_PARAM_ENTRY:
    case SPACE_PARAM_FUNC:
        if (attempt->form->opcode == OP_st && is_entry_param(attempt, variable)) return false;
        return variable->space == SPACE_PARAM;
    default: return variable->space == space;
    }
}

static bool check_base(struct attempt *attempt, const struct operand *base) {
    if (base->kind == OPERAND_NAME) return true;
    if (base->kind == OPERAND_INT)
        return pattern_space(attempt) == SPACE_LOCAL || fail(attempt, MISMATCH_KIND, base);
    if (base->kind == OPERAND_VAR) {
        const struct variable *variable = operand_variable(attempt->checker, base);
        return variable == NULL || space_takes(attempt, pattern_space(attempt), variable) ||
               fail(attempt, MISMATCH_SPACE, base);
    }
    if (base->kind != OPERAND_REG) return fail(attempt, MISMATCH_KIND, base);
    if (!check_component(attempt, base)) return false;
    enum isa_type reg = operand_type(attempt->checker, base);
    return reg == TYPE_NONE || is_address_register(reg) || fail(attempt, MISMATCH_TYPE, base);
}

static bool check_address(struct attempt *attempt, const struct operand *operand) {
    if (operand->kind != OPERAND_ADDRESS || operand->count == 0)
        return fail(attempt, MISMATCH_KIND, operand);
    const struct operand *elements = elements_of(attempt, operand);
    if (operand->count > 1 && elements[1].kind == OPERAND_VECTOR)
        return fail(attempt, MISMATCH_KIND, operand);
    const struct variable *variable = operand_variable(attempt->checker, &elements[0]);
    if ((operand->flags & OPERAND_INDEXED) && variable != NULL && !variable->is_array)
        return fail(attempt, MISMATCH_KIND, operand);
    return check_base(attempt, &elements[0]);
}

// Tensor memory is addressed in 32 bits; tcgen05.mma wants them untyped.
static bool check_tensor_memory(struct attempt *attempt, const struct operand *operand) {
    if (!check_address(attempt, operand)) return false;
    const struct operand *base = elements_of(attempt, operand);
    enum isa_type reg = operand_type(attempt->checker, base);
    bool untyped_only = attempt->pattern->code == CODE_TMEM;
    if (base->kind == OPERAND_VAR && untyped_only) return fail(attempt, MISMATCH_KIND, base);
    if (base->kind != OPERAND_REG || reg == TYPE_NONE) return true;
    bool fits = untyped_only ? reg == TYPE_B32 : is_integer_32(reg);
    return fits || fail(attempt, MISMATCH_TYPE, base);
}

static bool check_coordinate(struct attempt *attempt, enum isa_type type,
                             const struct operand *element) {
    if (element->kind == OPERAND_NAME) return true;
    if (is_literal(element))
        return literal_fits(type, element) || fail(attempt, MISMATCH_LITERAL, element);
    return check_register(attempt, type, false, element);
}

// [tensor map, {coordinates}]: one for each dimension; gather and scatter take four rows of two.
static bool check_tensor(struct attempt *attempt, const struct operand *operand) {
    if (operand->kind != OPERAND_ADDRESS || operand->count != 2)
        return fail(attempt, MISMATCH_KIND, operand);
    const struct operand *elements = elements_of(attempt, operand);
    if (elements[0].kind != OPERAND_REG && elements[0].kind != OPERAND_NAME &&
        elements[0].kind != OPERAND_VAR)
        return fail(attempt, MISMATCH_KIND, &elements[0]);
    if (elements[1].kind != OPERAND_VECTOR) return fail(attempt, MISMATCH_KIND, &elements[1]);
    uint32_t wanted = 0;
    for (uint32_t i = 0; i < attempt->form->mod_count; i++) {
        struct str text = isa_mod_texts[attempt->form->mods[i]];
        if (text.len == 2 && text.data[1] == 'd') wanted = (uint32_t)(text.data[0] - '0');
    }
    if (isa_form_has(attempt->form, MOD_tile__gather4) ||
        isa_form_has(attempt->form, MOD_tile__scatter4))
        wanted = 5;
    if (elements[1].count != wanted) {
        attempt->mismatch->wanted = wanted;
        return fail(attempt, MISMATCH_LENGTH, &elements[1]);
    }
    const struct operand *coordinates = elements_of(attempt, &elements[1]);
    for (uint32_t i = 0; i < wanted; i++)
        if (!check_coordinate(attempt, TYPE_S32, &coordinates[i])) return false;
    return true;
}

// How many coordinates a geometry takes, and whether the first is an array index (or a sample
// number).
static uint32_t coordinate_count(const struct isa_form *form, bool *indexed) {
    *indexed = false;
    for (uint32_t i = 0; i < form->mod_count; i++) {
        switch (form->mods[i]) {
        case MOD_1d: return 1;
        case MOD_2d: return 2;
        case MOD_3d:
        case MOD_cube: return 4;
        case MOD_a1d: *indexed = true; return 2;
        case MOD_2dms:
        case MOD_a2dms:
        case MOD_a2d:
        case MOD_acube: *indexed = true; return 4;
        default: break;
        }
    }
    return 0;
}

static bool is_texture(const struct isa_form *form) {
    return form->opcode == OP_tex || form->opcode == OP_tld4 || form->opcode == OP_txq;
}

// A reference by name, or a handle in 64 bits. `sampler`: the second of `[texture, sampler, ...]`.
static bool check_handle(struct attempt *attempt, const struct operand *handle, bool sampler) {
    if (handle->kind == OPERAND_NAME) return true;
    if (handle->kind != OPERAND_REG && handle->kind != OPERAND_VAR)
        return fail(attempt, MISMATCH_KIND, handle);
    enum isa_type type = operand_type(attempt->checker, handle);
    if (type == TYPE_NONE) return true;
    if (handle->kind == OPERAND_REG)
        return same_width(TYPE_U64, type) || fail(attempt, MISMATCH_TYPE, handle);
    const struct variable *variable = operand_variable(attempt->checker, handle);
    bool old_style = variable->space == SPACE_TEX;  // .tex .u32 name, until PTX 1.4
    bool asks_sampler = attempt->form->opcode == OP_txq &&
                        attempt->checker->module->texmode_independent && type == TYPE_SAMPLERREF;
    enum isa_type wants = sampler || asks_sampler     ? TYPE_SAMPLERREF
                          : is_texture(attempt->form) ? TYPE_TEXREF
                                                      : TYPE_SURFREF;
    return type == wants || old_style || fail(attempt, MISMATCH_KIND, handle);
}

// Vectors of coordinates are padded to 1, 2 or 4; more than are needed may stand.
static bool is_vector_length(uint32_t count) { return count == 1 || count == 2 || count == 4; }

static bool has_integer_coordinates(const struct isa_form *form) {
    return is_texture(form) && form->type_count > 1 && form->types[1] == TYPE_S32;
}

static bool is_vector_register(const struct attempt *attempt, const struct operand *operand) {
    const struct variable *variable = operand_variable(attempt->checker, operand);
    return operand->kind == OPERAND_REG && variable != NULL && variable->vec > 1 &&
           operand->component == 0;
}

// The rows, columns and depth of a shape word: m16n8k16.
struct shape {
    uint32_t m, n, k;
};

static uint32_t shape_number(struct str text, uint32_t *at) {
    uint32_t number = 0;
    while (*at < text.len && text.data[*at] >= '0' && text.data[*at] <= '9')
        number = number * 10 + (uint32_t)(text.data[(*at)++] - '0');
    return number;
}

static bool parse_shape(struct str text, struct shape *shape) {
    uint32_t at = 1;
    if (text.len < 6 || text.data[0] != 'm') return false;
    shape->m = shape_number(text, &at);
    if (at >= text.len || text.data[at++] != 'n') return false;
    shape->n = shape_number(text, &at);
    if (at >= text.len || text.data[at++] != 'k') return false;
    shape->k = shape_number(text, &at);
    return true;
}

static bool form_shape(const struct isa_form *form, struct shape *shape) {
    for (uint32_t i = 0; i < form->mod_count; i++)
        if (parse_shape(isa_mod_texts[form->mods[i]], shape)) return true;
    return false;
}

static uint16_t slot_word(const struct row_match *match, const char *name) {
    struct str wanted = str_from(name);
    for (int i = 0; i < match->row->slot_count; i++)
        if (str_eq(match->row->slots[i].name, wanted)) return match->filled[i];
    return 0;
}

static uint32_t slot_bits(const struct row_match *match, const char *name) {
    enum isa_type type = isa_mod_type((enum isa_mod)slot_word(match, name));
    return isa_types[type].bits;
}

// Bits of a multiplicand's element in registers: the narrow formats of one-byte kinds lie in bytes.
static uint32_t element_bits(const struct isa_form *form, const struct row_match *match,
                             const char *slot) {
    uint32_t bits = slot_bits(match, slot);
    if (bits == 0) bits = slot_bits(match, "type");
    if (bits == 0) return 16;  // wmma.mma on halves names only D and C
    bool packed = isa_form_has(form, MOD_kind__mxf4) || isa_form_has(form, MOD_kind__mxf4nvf4);
    if (bits == 6 || (bits == 4 && !packed && isa_types[isa_mod_type((enum isa_mod)slot_word(
                                                   match, slot))].class == TYPE_CLASS_F))
        return 8;
    return bits;
}

static bool is_sparse(const struct isa_form *form) {
    return isa_form_has(form, MOD_sp) || isa_form_has(form, MOD_sp__ordered_metadata);
}

// 32-bit registers (64-bit ones for f64) that each lane of `lanes` holds of `elements` elements.
static uint32_t fragment(uint32_t elements, uint32_t bits, uint32_t lanes) {
    uint32_t reg_bits = bits == 64 ? 64 : 32;
    uint32_t registers = elements * bits / (lanes * reg_bits);
    return registers == 0 ? 1 : registers;
}

// wmma hands out halves as 8 registers in every shape, and mma.m8n8k4 on halves works in quads of 8
// lanes;
// all other fragments divide evenly among the lanes.
static uint32_t matrix_length(const struct isa_form *form, const struct row_match *match,
                              enum isa_count_rule rule) {
    struct shape shape;
    if (!form_shape(form, &shape)) return 0;
    uint32_t lanes = form->opcode == OP_wgmma ? 128 : 32;
    if (rule == COUNT_C || rule == COUNT_D) {
        uint32_t bits = slot_bits(match, rule == COUNT_C ? "ctype" : "dtype");
        if (bits == 0) bits = slot_bits(match, "type");
        if (form->opcode == OP_mma && shape.m == 8 && shape.k == 4 && bits <= 32)
            return bits == 16 ? 4 : 8;
        return fragment(shape.m * shape.n, bits, lanes);
    }
    uint32_t bits = element_bits(form, match, rule == COUNT_A ? "atype" : "btype");
    uint32_t elements = (rule == COUNT_A ? shape.m : shape.n) * shape.k;
    if (form->opcode == OP_mma && shape.m == 8 && shape.k == 4 && bits == 16) return 2;
    if (form->opcode == OP_wmma && bits == 16 && !isa_form_has(form, MOD_bf16)) return 8;
    if (rule == COUNT_A && is_sparse(form)) elements /= 2;
    return fragment(elements, bits, lanes);
}

static uint32_t trailing_number(struct str text) {
    uint32_t at = 1;
    return shape_number(text, &at);
}

// .x1 to .x128 times what one tile of the shape is.
static uint32_t tile_length(const struct isa_form *form, const struct row_match *match) {
    uint32_t times = trailing_number(isa_mod_texts[slot_word(match, "num")]);
    switch (slot_word(match, "shape")) {
    case MOD_m16n16: return times * 2;
    case MOD_16x128b: return times * 2;
    case MOD_16x256b: return times * 4;
    default: break;
    }
    (void)form;
    return times;
}

static uint32_t vector_words(uint16_t mod) {
    return mod == MOD_v2 ? 2 : mod == MOD_v4 ? 4 : mod == MOD_v8 ? 8 : 1;
}

uint32_t pattern_length(const struct isa_form *form, const struct row_match *match,
                        const struct isa_operand_pattern *pattern, bool *scalar) {
    *scalar = false;
    switch (pattern->count_rule) {
    case COUNT_FIXED: return pattern->count;
    case COUNT_SLOT: {
        uint32_t length =
            pattern->count_slot < 0 ? 1 : vector_words(match->filled[pattern->count_slot]);
        *scalar = length == 1;
        return length;
    }
    case COUNT_X: return tile_length(form, match);
    case COUNT_OFFSETS: {
        uint16_t dim = slot_word(match, "dim");
        if (isa_form_has(form, MOD_im2col__w) || isa_form_has(form, MOD_im2col__w__128)) return 2;
        return dim == MOD_3d ? 1 : dim == MOD_4d ? 2 : 3;
    }
    case COUNT_COORDINATES: {
        bool indexed;
        uint32_t count = coordinate_count(form, &indexed);
        return count > 1 && indexed ? count / 2 : count;
    }
    case COUNT_ANY: return 0;
    default: return matrix_length(form, match, (enum isa_count_rule)pattern->count_rule);
    }
}

static bool vector_widens(const struct isa_form *form) {
    if (isa_form_has(form, MOD_async)) return false;
    return form->opcode == OP_ld || form->opcode == OP_ldu || form->opcode == OP_st ||
           form->opcode == OP_suld || form->opcode == OP_sust;
}

static bool is_matrix_count(uint8_t rule) { return rule >= COUNT_A && rule <= COUNT_D; }

static bool is_integer_class(uint8_t class) {
    return class == TYPE_CLASS_U || class == TYPE_CLASS_S;
}

// Whether a vector of elements of type `reg` fits. ptxas takes integers where a vector of plain
// floats is written, save in matrices.
static bool vector_fits(const struct attempt *attempt, enum isa_type type, enum isa_type reg) {
    bool wider = vector_widens(attempt->form);
    if (wider ? same_or_wider(type, reg) : same_width(type, reg)) return true;
    bool plain = type == TYPE_F16 || type == TYPE_F32 || type == TYPE_F64;
    return plain && !is_matrix_count(attempt->pattern->count_rule) &&
           isa_types[type].bits == isa_types[reg].bits && is_integer_class(isa_types[reg].class);
}

// What is no register: a sink, a constant, or a mistake.
static bool check_other_element(struct attempt *attempt, enum isa_type type,
                                const struct operand *element) {
    if (element->kind == OPERAND_NAME) return true;
    if (element->kind == OPERAND_SINK)
        return attempt->pattern->destination || fail(attempt, MISMATCH_KIND, element);
    if (is_literal(element)) return check_literal(attempt, type, element);
    return fail(attempt, MISMATCH_KIND, element);
}

static enum isa_type bits_type(uint16_t bits) {
    switch (bits) {
    case 8: return TYPE_B8;
    case 16: return TYPE_B16;
    case 32: return TYPE_B32;
    case 64: return TYPE_B64;
    case 128: return TYPE_B128;
    default: return TYPE_NONE;
    }
}

// The type of a vector of what has type `a` so far and then an element of type `b`: bits go with
// all,
// integers of both signs make bits, integers and floats do not go together. TYPE_NONE: neither do
// these two.
static enum isa_type merged_type(enum isa_type a, enum isa_type b) {
    if (a == b) return a;
    if (isa_types[a].bits != isa_types[b].bits) return TYPE_NONE;
    uint8_t x = isa_types[a].class, y = isa_types[b].class;
    bool bits = x == TYPE_CLASS_B || y == TYPE_CLASS_B;
    bool integers = is_integer_class(x) && is_integer_class(y);
    return bits || integers ? bits_type(isa_types[a].bits) : TYPE_NONE;
}

// Integer and floating-point constants count as such among registers.
static bool literal_mixes(enum isa_type type, const struct operand *literal) {
    uint8_t class = isa_types[type].class;
    if (literal->kind == OPERAND_FLOAT) return !is_integer_class(class);
    return class != TYPE_CLASS_F;
}

static bool check_elements(struct attempt *attempt, enum isa_type type,
                           const struct operand *vector) {
    const struct operand *elements = elements_of(attempt, vector);
    enum isa_type merged = TYPE_NONE;
    uint32_t sinks = 0;
    for (uint32_t i = 0; i < vector->count; i++) {
        const struct operand *element = &elements[i];
        sinks += element->kind == OPERAND_SINK;
        if (element->kind != OPERAND_REG || (element->flags & (OPERAND_NOT | OPERAND_NEGATED))) {
            if (!check_other_element(attempt, type, element)) return false;
            continue;
        }
        if (!check_component(attempt, element)) return false;
        enum isa_type reg = operand_type(attempt->checker, element);
        if (reg == TYPE_NONE) continue;
        merged = merged == TYPE_NONE ? reg : merged_type(merged, reg);
        if (merged == TYPE_NONE) return fail(attempt, MISMATCH_TYPE, element);
    }
    for (uint32_t i = 0; i < vector->count && merged != TYPE_NONE; i++)
        if (is_literal(&elements[i]) && !literal_mixes(merged, &elements[i]))
            return fail(attempt, MISMATCH_LITERAL, &elements[i]);
    if (sinks == vector->count) return fail(attempt, MISMATCH_KIND, vector);
    if (merged == TYPE_NONE || vector_fits(attempt, type, merged)) return true;
    for (uint32_t i = 0; i < vector->count; i++)
        if (elements[i].kind == OPERAND_REG &&
            !vector_fits(attempt, type, operand_type(attempt->checker, &elements[i])))
            return fail(attempt, MISMATCH_TYPE, &elements[i]);
    return fail(attempt, MISMATCH_TYPE, vector);
}

// An array index or a sample number is an integer; coordinates are one type among themselves, which
// for float coordinates may be any 32 bits.
static bool check_coordinate_types(struct attempt *attempt, const struct operand *vector,
                                   bool indexed) {
    bool floats = is_texture(attempt->form) && !has_integer_coordinates(attempt->form);
    enum isa_type type = floats ? TYPE_B32 : TYPE_S32;
    const struct operand *coordinates = elements_of(attempt, vector);
    enum isa_type merged = TYPE_NONE;
    for (uint32_t i = 0; i < vector->count; i++) {
        bool index = indexed && i == 0;
        if (is_literal(&coordinates[i]) || coordinates[i].kind == OPERAND_NAME) continue;
        if (!check_register(attempt, index ? TYPE_U32 : TYPE_B32, false, &coordinates[i]))
            return false;
        enum isa_type reg = operand_type(attempt->checker, &coordinates[i]);
        if (index || reg == TYPE_NONE) continue;
        merged = merged == TYPE_NONE ? reg : merged_type(merged, reg);
        if (merged == TYPE_NONE) return fail(attempt, MISMATCH_TYPE, &coordinates[i]);
    }
    return merged == TYPE_NONE || same_width(type, merged) ||
           fail(attempt, MISMATCH_TYPE, vector);
}

static bool check_coordinates(struct attempt *attempt, const struct operand *vector) {
    bool indexed;
    uint32_t wanted = coordinate_count(attempt->form, &indexed);
    if (vector->kind == OPERAND_NAME || is_vector_register(attempt, vector)) return true;
    if (vector->kind != OPERAND_VECTOR) {
        bool integers = !is_texture(attempt->form) || has_integer_coordinates(attempt->form);
        if (wanted == 1) return check_coordinate(attempt, integers ? TYPE_S32 : TYPE_B32, vector);
        return fail(attempt, MISMATCH_KIND, vector);
    }
    if (vector->count < wanted || !is_vector_length(vector->count)) {
        attempt->mismatch->wanted = wanted;
        return fail(attempt, MISMATCH_LENGTH, vector);
    }
    return check_coordinate_types(attempt, vector, indexed);
}

// [texture, {coordinates}], [texture, sampler, {coordinates}], [surface, {coordinates}]
static bool check_image(struct attempt *attempt, const struct operand *operand) {
    bool texture = is_texture(attempt->form);
    uint32_t least = texture && attempt->checker->module->texmode_independent ? 3 : 2;
    uint32_t most = texture ? 3 : 2;
    if (operand->kind != OPERAND_ADDRESS || operand->count < least || operand->count > most)
        return fail(attempt, MISMATCH_KIND, operand);
    const struct operand *elements = elements_of(attempt, operand);
    for (uint32_t i = 0; i + 1 < operand->count; i++)
        if (!check_handle(attempt, &elements[i], i == 1)) return false;
    return check_coordinates(attempt, &elements[operand->count - 1]);
}

static bool check_handle_address(struct attempt *attempt, const struct operand *operand) {
    if (operand->kind != OPERAND_ADDRESS || operand->count != 1)
        return fail(attempt, MISMATCH_KIND, operand);
    return check_handle(attempt, elements_of(attempt, operand), false);
}

// A register declared .v2 or .v4, used whole.
static bool check_vector_register(struct attempt *attempt, uint32_t wanted, enum isa_type type,
                                  const struct operand *operand) {
    const struct variable *variable = operand_variable(attempt->checker, operand);
    if (variable == NULL || variable->vec < 2 || operand->component != 0)
        return fail(attempt, MISMATCH_KIND, operand);
    attempt->mismatch->wanted = wanted;
    if (wanted != 0 && variable->vec != wanted) return fail(attempt, MISMATCH_LENGTH, operand);
    return vector_fits(attempt, type, (enum isa_type)variable->type) ||
           fail(attempt, MISMATCH_TYPE, operand);
}

// The type of an element. Halves of a matrix come two in a register, smaller ones as plain bits;
// texels are taken as any 32 bits.
static enum isa_type element_type(const struct attempt *attempt) {
    enum isa_type type = pattern_type(attempt->match, attempt->pattern);
    if (is_texture(attempt->form) && isa_types[type].bits == 32) return TYPE_B32;
    if (!is_matrix_count(attempt->pattern->count_rule)) return type;
    if (type == TYPE_F16) return TYPE_F16X2;
    if (type == TYPE_BF16) return TYPE_BF16X2;
    if (isa_types[type].bits >= 32) return type;
    return attempt->form->opcode == OP_wmma ? TYPE_U32 : TYPE_B32;
}

// ptxas does not hold surface vectors against .v2 and .v4: without one any vector will do, and
// stores take a lone register with one.
static bool takes_any_length(const struct attempt *attempt, bool scalar) {
    if (attempt->form->opcode == OP_sust) return true;
    return attempt->form->opcode == OP_suld && scalar;
}

static bool check_vector(struct attempt *attempt, const struct operand *operand) {
    bool scalar;
    uint32_t wanted =
        pattern_length(attempt->form, attempt->match, attempt->pattern, &scalar);
    bool braces = operand->kind == OPERAND_VECTOR &&
                  (operand->count == 1 || takes_any_length(attempt, true));  // {%r1} is %r1
    if (scalar && !braces)
        return check_scalar(attempt, vector_widens(attempt->form), operand);
    enum isa_type type = element_type(attempt);
    if (operand->kind == OPERAND_NAME) return true;
    if (operand->kind == OPERAND_REG && !takes_any_length(attempt, false))
        return check_vector_register(attempt, wanted, type, operand);
    if (operand->kind != OPERAND_VECTOR)
        return takes_any_length(attempt, false)
                   ? check_scalar(attempt, true, operand)
                   : fail(attempt, MISMATCH_KIND, operand);
    if (scalar && takes_any_length(attempt, true)) wanted = operand->count;
    bool padded = attempt->pattern->count_rule == COUNT_COORDINATES &&
                  attempt->pattern->type == TYPE_S32 && operand->count > wanted &&
                  is_vector_length(operand->count);  // offsets may be padded, gradients not
    if (wanted != 0 && operand->count != wanted && !padded) {
        attempt->mismatch->wanted = wanted;
        return fail(attempt, MISMATCH_LENGTH, operand);
    }
    return check_elements(attempt, type, operand);
}

// {byte, thread}: 16-bit registers, or constants in range.
static bool check_scale(struct attempt *attempt, const struct operand *operand) {
    enum { THREADS_A = 2, THREADS_B = 4 };
    uint64_t threads = attempt->pattern->code == CODE_SCALE_A ? THREADS_A : THREADS_B;
    if (operand->kind != OPERAND_VECTOR) return fail(attempt, MISMATCH_KIND, operand);
    attempt->mismatch->wanted = 2;
    if (operand->count != 2) return fail(attempt, MISMATCH_LENGTH, operand);
    const struct operand *elements = elements_of(attempt, operand);
    for (uint32_t i = 0; i < 2; i++) {
        if (elements[i].kind == OPERAND_NAME) continue;
        if (elements[i].kind != OPERAND_INT) {
            if (!check_register(attempt, TYPE_B16, false, &elements[i])) return false;
            continue;
        }
        bool fits = i == 0 ? in_range(attempt, &elements[i])
                           : elements[i].value < threads;
        if (!fits) return fail(attempt, MISMATCH_RANGE, &elements[i]);
    }
    return true;
}

static bool check_lod(struct attempt *attempt, const struct operand *operand) {
    if (is_literal(operand) || operand->kind == OPERAND_NAME) return true;
    enum isa_type type = has_integer_coordinates(attempt->form) ? TYPE_S32 : TYPE_B32;
    return check_register(attempt, type, false, operand);
}

static bool check_constant(struct attempt *attempt, const struct operand *operand) {
    if (operand->kind != OPERAND_INT) return fail(attempt, MISMATCH_KIND, operand);
    return in_range(attempt, operand) || fail(attempt, MISMATCH_RANGE, operand);
}

// mov takes the address of what has one; cvta and mapa of what lies in the window they name.
static bool check_symbol(struct attempt *attempt, const struct operand *operand) {
    if (operand->kind == OPERAND_FUNC)
        return attempt->form->opcode == OP_mov || fail(attempt, MISMATCH_KIND, operand);
    if (operand->kind != OPERAND_VAR) return fail(attempt, MISMATCH_KIND, operand);
    const struct variable *variable = operand_variable(attempt->checker, operand);
    if (variable == NULL) return true;
    bool entry_param = variable->space == SPACE_PARAM && is_entry_param(attempt, variable);
    bool fits;
    if (attempt->form->opcode == OP_mov)
        fits = variable->space != SPACE_PARAM || is_formal_param(attempt, variable);
    else if (attempt->form->space_count == 0)
        fits = false;
    else
        fits = space_takes(attempt, (enum isa_space)attempt->form->spaces[0], variable) &&
               (variable->space != SPACE_PARAM || entry_param);
    return fits || fail(attempt, MISMATCH_SPACE, operand);
}

static bool check_label(struct attempt *attempt, const struct operand *operand) {
    return operand->kind == OPERAND_LABEL || operand->kind == OPERAND_NAME ||
           fail(attempt, MISMATCH_KIND, operand);
}

static bool check_one(struct attempt *attempt, const struct operand *operand) {
    switch (attempt->pattern->code) {
    case CODE_R:
    case CODE_N:
    case CODE_X: return check_scalar(attempt, false, operand);
    case CODE_W: return check_scalar(attempt, true, operand);
    case CODE_P: return check_predicate(attempt, operand);
    case CODE_M: return check_address(attempt, operand);
    case CODE_TMEM:
    case CODE_TADDR: return check_tensor_memory(attempt, operand);
    case CODE_SCALE_A:
    case CODE_SCALE_B: return check_scale(attempt, operand);
    case CODE_LOD: return check_lod(attempt, operand);
    case CODE_TENSOR: return check_tensor(attempt, operand);
    case CODE_IMAGE: return check_image(attempt, operand);
    case CODE_HANDLE: return check_handle_address(attempt, operand);
    case CODE_V: return check_vector(attempt, operand);
    case CODE_I: return check_constant(attempt, operand);
    case CODE_F: return operand->kind == OPERAND_FLOAT || fail(attempt, MISMATCH_KIND, operand);
    case CODE_S:
        return check_sreg(attempt, pattern_type(attempt->match, attempt->pattern), operand);
    case CODE_D: return check_symbol(attempt, operand);
    case CODE_LABEL:
    case CODE_TARGETS: return check_label(attempt, operand);
    case CODE_SINK:
        return operand->kind == OPERAND_SINK || fail(attempt, MISMATCH_KIND, operand);
    default: return true;
    }
}

// The predicate of `r|p`.
static bool check_paired(struct attempt *attempt, const struct operand *operand) {
    if (operand->kind == OPERAND_SINK || operand->kind == OPERAND_NAME) return true;
    if (operand->kind != OPERAND_REG || (operand->flags & OPERAND_NOT))
        return fail(attempt, MISMATCH_KIND, operand);
    enum isa_type reg = operand_type(attempt->checker, operand);
    return reg == TYPE_NONE || same_width(TYPE_PRED, reg) ||
           fail(attempt, MISMATCH_TYPE, operand);
}

static bool check_operand(struct attempt *attempt, const struct operand *operand) {
    const struct isa_operand_pattern *pattern = attempt->pattern;
    if (operand->kind == OPERAND_PAIR) {
        if (pattern->pair == 0 || operand->count != 2)
            return fail(attempt, MISMATCH_KIND, operand);
        const struct operand *elements = elements_of(attempt, operand);
        if (!(elements[0].kind == OPERAND_SINK && pattern->sink) &&
            !check_one(attempt, &elements[0]))
            return false;
        return check_paired(attempt, &elements[1]);
    }
    if (pattern->pair == 1) return fail(attempt, MISMATCH_KIND, operand);
    if (operand->kind == OPERAND_SINK && pattern->sink && pattern->pair == 0) return true;
    return check_one(attempt, operand);
}

static bool stands(const struct row_match *match, const struct isa_operand_pattern *pattern) {
    return pattern->if_slot < 0 || match->filled[pattern->if_slot] != 0;
}

static bool fail_count(struct mismatch *mismatch, uint32_t operand, int8_t pattern,
                       const struct operand *at) {
    mismatch->kind = MISMATCH_COUNT;
    mismatch->operand = operand;
    mismatch->pattern = pattern;
    mismatch->at = at;
    return false;
}

bool operands_match(struct instruction_checker *checker, const struct isa_form *form,
                    const struct row_match *match, const struct instruction *instruction,
                    struct mismatch *mismatch) {
    const struct isa_instruction_row *row = match->row;
    const struct operand *operands = &checker->body->operands.at[instruction->operand_first];
    struct attempt attempt = {checker, form, match, NULL, mismatch};
    uint32_t at = 0;
    *mismatch = (struct mismatch){0};
    for (int i = 0; i < row->operand_count; i++) {
        attempt.pattern = &row->operands[i];
        if (!stands(match, attempt.pattern)) continue;
        if (at == instruction->operand_count) {
            if (attempt.pattern->optional) continue;
            return fail_count(mismatch, at, (int8_t)i, NULL);
        }
        mismatch->operand = at;
        mismatch->pattern = (int8_t)i;
        if (check_operand(&attempt, &operands[at])) at++;
        else if (!attempt.pattern->optional) return false;
    }
    if (at == instruction->operand_count) return true;
    if (mismatch->kind == MISMATCH_NONE || mismatch->operand != at)
        return fail_count(mismatch, at, -1, &operands[at]);
    return false;
}
