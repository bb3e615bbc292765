#include "parser/internal.h"

// Variables, register ranges, parameters, initialisers; PTX ISA, "Variables". The order of words is
// ptxas's: alignment and attributes, the vector word, the type; behind the type of an entry's
// parameter `.ptr`, a state space and an alignment.

// Types that variables may have: the others are written on instructions only.
static bool is_variable_type(enum isa_type type) {
    switch (type) {
    case TYPE_PRED: case TYPE_B8: case TYPE_U8: case TYPE_S8: case TYPE_B16: case TYPE_U16:
    case TYPE_S16: case TYPE_F16: case TYPE_B32: case TYPE_U32: case TYPE_S32: case TYPE_F32:
    case TYPE_F16X2: case TYPE_B64: case TYPE_U64: case TYPE_S64: case TYPE_F64: case TYPE_B128:
    case TYPE_TEXREF: case TYPE_SAMPLERREF: case TYPE_SURFREF: return true;
    default: return false;
    }
}

static enum isa_space word_space(enum directive_word word) {
    switch (word) {
    case WORD_REG: return SPACE_REG;
    case WORD_LOCAL: return SPACE_LOCAL;
    case WORD_SHARED: return SPACE_SHARED;
    case WORD_GLOBAL: return SPACE_GLOBAL;
    case WORD_CONST: return SPACE_CONST;
    case WORD_PARAM: return SPACE_PARAM;
    case WORD_TEX: return SPACE_TEX;
    default: return SPACE_NONE;
    }
}

static bool to_u32(struct parser *p, uint64_t value, uint32_t *out) {
    // What fits 32 bits with a sign does, too: 18446744073709551615 is -1 (measured).
    bool negative = value >= (uint64_t)INT32_MIN;
    *out = value > UINT32_MAX && !negative ? UINT32_MAX : (uint32_t)value;
    if (value <= UINT32_MAX || negative) return true;
    report(p, RULE_BAD_CONSTANT, (struct span){p->previous_end - 1, p->previous_end},
           "%llu is too large: numbers of declarations are below 2^32", (unsigned long long)value);
    return true;
}

static bool parse_align(struct parser *p, uint32_t *align) {
    uint64_t value;
    advance(p);
    return parse_plain_integer(p, &value, "an alignment in bytes") && to_u32(p, value, align);
}

// [.ptr [.space]] [.align N] behind the type of an entry's parameter.
static bool parse_ptr(struct parser *p, struct variable *v) {
    const struct function *function = &p->module->functions.at[p->function];
    if (function->kind != FUNCTION_ENTRY) {
        struct finding *finding = report(p, RULE_MISPLACED_DIRECTIVE, token_span(p),
                                         "`%.*s` stands behind the type of entry parameters only",
                                         STR_ARG(token_text(p)));
        finding_help(p->findings, finding, "write `.align` before the type");
    }
    enum directive_word word = at_word(p);
    if (word == WORD_PTR) {
        v->is_ptr = true;
        advance(p);
        word = at_word(p);
    } else if (word != WORD_ALIGN) {
        unexpected(p, "a name");
        return false;
    }
    if (word == WORD_GLOBAL || word == WORD_CONST || word == WORD_SHARED || word == WORD_LOCAL) {
        v->ptr_space = (uint8_t)word_space(word);
        advance(p);
    }
    v->ptr_align_stated = at_word(p) == WORD_ALIGN;
    return !v->ptr_align_stated || parse_align(p, &v->ptr_align);
}

// .attribute(.managed, .unified(uuid1, uuid2))
static bool parse_attribute(struct parser *p, bool *managed, bool *unified) {
    uint64_t ignored;
    advance(p);
    if (!expect(p, TOK_LPAREN, "`(`")) return false;
    do {
        enum directive_word word = at_word(p);
        if (word == WORD_MANAGED) {
            *managed = true;
            advance(p);
        } else if (word == WORD_UNIFIED) {
            *unified = true;
            advance(p);
            if (!expect(p, TOK_LPAREN, "`(`") || !parse_plain_integer(p, &ignored, "an integer") ||
                !expect(p, TOK_COMMA, "`,`") || !parse_plain_integer(p, &ignored, "an integer") ||
                !expect(p, TOK_RPAREN, "`)`"))
                return false;
        } else {
            unexpected(p, "`.managed` or `.unified`");
            return false;
        }
    } while (accept(p, TOK_COMMA));
    return expect(p, TOK_RPAREN, "`)`");
}

bool parse_function_attribute(struct parser *p, struct function *function) {
    bool managed = false;
    return parse_attribute(p, &managed, &function->unified);
}

static bool take_type(struct parser *p, struct variable *v, enum isa_type type) {
    struct str text = token_text(p);
    if (!is_variable_type(type)) {
        struct finding *finding = report(p, RULE_UNKNOWN_TYPE, token_span(p),
                                         "`%.*s` is not a type that variables have", STR_ARG(text));
        uint32_t bits = isa_types[type].bits;
        if (bits >= 8)
            finding_help(p->findings, finding, "declare it `.b%u`: the instruction says what it holds",
                         bits);
    }
    v->type = (uint8_t)type;
    advance(p);
    return true;
}

// One word between the state space and the name. `stage` is how far the order has come.
enum word_stage { STAGE_ALIGN, STAGE_VECTOR, STAGE_TYPE, STAGE_DONE };

static bool parse_word(struct parser *p, struct variable *v, bool is_param, enum word_stage *stage) {
    struct str text = token_text(p);
    struct str name = {text.data + 1, text.len - 1};
    enum directive_word word = at_word(p);
    enum isa_type type = isa_type_find(name);
    bool vector = str_eq(name, STR("v2")) || str_eq(name, STR("v4"));
    if (*stage == STAGE_TYPE && is_param && type == TYPE_NONE && !vector) {
        *stage = STAGE_DONE;
        return parse_ptr(p, v);
    }
    if (type != TYPE_NONE && *stage < STAGE_TYPE) {
        *stage = STAGE_TYPE;
        return take_type(p, v, type);
    }
    if (word == WORD_ALIGN && *stage == STAGE_ALIGN) {
        v->align_stated = true;
        return parse_align(p, &v->align);
    }
    if (word == WORD_ATTRIBUTE && *stage == STAGE_ALIGN && !is_param)
        return parse_attribute(p, &v->managed, &v->unified);
    if (vector && *stage == STAGE_ALIGN) {
        v->vec = (uint8_t)(name.data[1] - '0');
        *stage = STAGE_VECTOR;
        advance(p);
        return true;
    }
    unexpected(p, *stage < STAGE_TYPE ? "a type" : "a name");
    if (word != WORD_NONE || *stage >= STAGE_TYPE) return false;
    *stage = STAGE_TYPE;  // a misspelt type: the names behind it are still declared
    advance(p);
    return true;
}

// The words between the state space and the name. False: reported, and the statement is skipped.
static bool parse_words(struct parser *p, struct variable *v, bool is_param) {
    enum word_stage stage = STAGE_ALIGN;
    while (at(p, TOK_DOTTED))
        if (!parse_word(p, v, is_param, &stage)) return false;
    if (stage >= STAGE_TYPE) return true;
    unexpected(p, "a type");
    return false;
}

// [N][M]... An empty first dimension is unsized.
static bool parse_dimensions(struct parser *p, struct variable *v, uint32_t most) {
    struct module *module = p->module;
    v->dim_first = module->dims.n;
    v->is_array = true;
    while (at(p, TOK_LBRACKET) && v->dim_count < most) {
        uint64_t size = 0;
        advance(p);
        if (at(p, TOK_RBRACKET) && v->dim_count == 0) v->unsized = true;
        else if (!parse_plain_integer(p, &size, "a number of elements")) return false;
        if (!expect(p, TOK_RBRACKET, "`]`")) return false;
        *vec_push(p->arena, &module->dims) = size;
        v->dim_count++;
        bool counted = !(v->unsized && v->dim_count == 1);
        if (counted && !__builtin_mul_overflow(v->count, size, &v->count)) continue;
        if (counted) v->count = UINT64_MAX;
    }
    if (v->unsized) v->count = 0;
    return true;
}

static bool parse_range(struct parser *p, struct variable *v) {
    uint64_t count;
    advance(p);
    if (!parse_plain_integer(p, &count, "a number of registers")) return false;
    v->is_range = true;
    return to_u32(p, count, &v->range) && expect(p, TOK_GREATER, "`>`");
}

// ---- initialisers -----------------------------------------------------------------------------

struct init_cursor {
    const struct variable *variable;
    uint32_t depth;
};

// How many scalars one item of a list at this depth covers: of `[2][3]`, 3 at depth 0 and 1 at
// depth 1. The parts of a vector are one dimension more.
static uint64_t init_stride(struct parser *p, const struct variable *v, uint32_t depth) {
    uint64_t stride = depth < v->dim_count ? v->vec : 1;
    for (uint32_t i = depth + 1; i < v->dim_count; i++)
        if (__builtin_mul_overflow(stride, p->module->dims.at[v->dim_first + i], &stride))
            return UINT64_MAX / 2;
    return stride;
}

static struct init_value *add_init(struct parser *p, uint64_t index, enum init_kind kind) {
    struct init_value *value = vec_push(p->arena, &p->module->inits);
    *value = (struct init_value){.index = index, .kind = (uint8_t)kind,
                                 .offset = p->token.offset, .mask_shift = 255};
    return value;
}

static bool parse_addend(struct parser *p, struct init_value *value) {
    struct constant addend;
    if (!accept(p, TOK_PLUS)) return true;
    if (!parse_constant(p, &addend)) return false;
    value->bits += addend.bits;
    return true;
}

static bool parse_init_symbol(struct parser *p, struct init_value *value) {
    struct str text = token_text(p);
    value->kind = INIT_SYMBOL;
    advance(p);
    if (str_eq(text, STR("generic")) && accept(p, TOK_LPAREN)) {
        value->generic = true;
        text = token_text(p);
        if (!expect(p, TOK_WORD, "a variable's name") || !expect(p, TOK_RPAREN, "`)`")) return false;
    }
    value->symbol = names_intern(&p->module->names, text);
    return parse_addend(p, value);
}

// 0xff00(symbol+4): one byte of an address or constant.
static bool parse_masked(struct parser *p, struct init_value *value, uint64_t mask) {
    advance(p);
    value->mask_shift = mask == 0 ? 254 : (uint8_t)(__builtin_ctzll(mask) / 8);
    if (value->mask_shift != 254 && mask != (uint64_t)0xff << (value->mask_shift * 8))
        value->mask_shift = 254;
    if (at(p, TOK_WORD) && !at_constant(p)) {
        if (!parse_init_symbol(p, value)) return false;
    } else {
        struct constant c;
        if (!parse_constant(p, &c)) return false;
        value->kind = INIT_INT;
        value->bits = value->mask_shift == 254 ? 0 : (c.bits & mask) >> (value->mask_shift * 8);
    }
    return expect(p, TOK_RPAREN, "`)`");
}

static bool parse_init_value(struct parser *p, uint64_t index) {
    struct init_value value = {.index = index, .offset = p->token.offset, .mask_shift = 255};
    if (at(p, TOK_WORD) && !at_constant(p)) {
        if (!parse_init_symbol(p, &value)) return false;
    } else {
        struct constant c;
        if (!parse_constant(p, &c)) return false;
        value.kind = c.is_float ? INIT_FLOAT : INIT_INT;
        value.float_bits = c.hex != 0;
        value.bits = c.bits;
        if (at(p, TOK_LPAREN) && !c.is_float && !parse_masked(p, &value, c.bits)) return false;
    }
    *add_init(p, index, INIT_INT) = value;
    return true;
}

// A field of a texture's or sampler's initialiser: filter_mode = nearest. Kept as a symbol.
static bool parse_field(struct parser *p, uint64_t index) {
    struct init_value *value = add_init(p, index, INIT_SYMBOL);
    value->symbol = names_intern(&p->module->names, token_text(p));
    advance(p);
    if (!expect(p, TOK_ASSIGN, "`=`")) return false;
    if (accept(p, TOK_WORD)) return true;
    struct constant c;
    return parse_constant(p, &c);
}

// Braces and values follow the dimensions, and the parts of a vector are one more. The first misfit
// is kept for the rules; too many items outweigh what is wrong inside them, as in ptxas.
static void misfit(struct variable *v, enum init_shape shape, uint32_t offset) {
    if (v->init_shape != INIT_FITS && !(shape == INIT_TOO_MANY && v->init_shape == INIT_NESTING)) return;
    v->init_shape = (uint8_t)shape;
    v->init_misfit = offset;
}

static void check_items(struct parser *p, struct variable *v, uint32_t depth, uint64_t items,
                        uint32_t offset) {
    if (depth < v->dim_count) {
        bool open = depth == 0 && v->unsized;
        if (!open && items > p->module->dims.at[v->dim_first + depth]) misfit(v, INIT_TOO_MANY, offset);
        if (open && items == 0) misfit(v, INIT_NESTING, offset);
    } else if (depth == v->dim_count && v->vec > 1 && items != v->vec)
        misfit(v, INIT_VECTOR_PARTS, offset);
}

static bool parse_init(struct parser *p, struct variable *v, uint32_t depth, uint64_t index) {
    bool opaque = isa_types[v->type].class == TYPE_CLASS_O;
    uint32_t levels = v->dim_count + (v->vec > 1), offset = p->token.offset;
    if (!at(p, TOK_LBRACE)) {
        if (opaque && depth > 0 && at(p, TOK_WORD)) return parse_field(p, index);
        if (depth != levels) misfit(v, INIT_NESTING, offset);
        return parse_init_value(p, index);
    }
    if (depth >= levels) misfit(v, INIT_NESTING, offset);
    uint64_t stride = init_stride(p, v, depth), items = 0;
    advance(p);
    if (accept(p, TOK_RBRACE)) {
        check_items(p, v, depth, 0, offset);
        return true;
    }
    if (!enter(p)) return false;
    bool good;
    do {
        good = parse_init(p, v, depth + 1, index);
        items++;
        if (__builtin_add_overflow(index, stride, &index)) index = UINT64_MAX;
    } while (good && accept(p, TOK_COMMA));
    leave(p);
    check_items(p, v, depth, items, offset);
    return good && expect(p, TOK_RBRACE, "`,` or `}`");
}

// ---- statements -------------------------------------------------------------------------------

static bool parse_name(struct parser *p, struct variable *v) {
    struct str text = token_text(p);
    if (!at(p, TOK_WORD) || str_eq(text, STR("WARP_SZ"))) {
        unexpected(p, "a name");
        return false;
    }
    v->name = names_intern(&p->module->names, text);
    v->span = token_span(p);
    advance(p);
    return true;
}

static var_ref add_variable(struct parser *p, const struct variable *v) {
    if (p->function == NO_INDEX) {
        *vec_push(p->arena, &p->module->variables) = *v;
        return p->module->variables.n - 1;
    }
    *vec_push(p->body_arena, &p->variables) = *v;
    return (p->variables.n - 1) | VAR_LOCAL;
}

static void declare_variable(struct parser *p, const struct variable *v) {
    struct str text = names_text(&p->module->names, v->name);
    struct span span = {v->span.begin, v->span.begin + text.len};
    var_ref var = add_variable(p, v);
    if (v->is_range) declare_range(p, text, var, v->range, span);
    else declare(p, SYMBOL_VARIABLE, text, var, span);
}

static bool parse_declarator(struct parser *p, const struct variable *common) {
    struct variable v = *common;
    if (!parse_name(p, &v)) return false;
    if (at(p, TOK_LESS) && !parse_range(p, &v)) return false;
    if (at(p, TOK_LBRACKET) && !parse_dimensions(p, &v, UINT32_MAX)) return false;
    v.span.end = p->previous_end;
    bool good = true;
    if (!v.is_range && accept(p, TOK_ASSIGN)) {
        v.has_init = true;
        v.init_first = p->module->inits.n;
        // The variable is in force in its own initialiser only for the assembler's message.
        good = parse_init(p, &v, 0, 0);
        v.init_count = p->module->inits.n - v.init_first;
        if (v.unsized && v.dim_count == 1 && v.init_count != 0)
            v.count = p->module->inits.at[v.init_first + v.init_count - 1].index / v.vec + 1;
    }
    v.declaration.end = p->previous_end;
    declare_variable(p, &v);
    return good;
}

static struct variable blank_variable(struct parser *p, uint32_t begin) {
    return (struct variable){.vec = 1, .count = 1, .bank = NO_INDEX, .function = p->function,
                             .declaration = {begin, begin},
                             .scope = p->blocks.n == 0 ? 0 : p->blocks.at[p->blocks.n - 1].scope};
}

bool parse_variable_statement(struct parser *p, enum linkage linkage, uint32_t begin) {
    struct variable v = blank_variable(p, begin);
    v.space = (uint8_t)word_space(at_word(p));
    v.linkage = (uint8_t)linkage;
    advance(p);
    if (v.space == SPACE_CONST && accept(p, TOK_LBRACKET)) {
        uint64_t bank;
        if (!parse_plain_integer(p, &bank, "a bank number") || !to_u32(p, bank, &v.bank) ||
            !expect(p, TOK_RBRACKET, "`]`"))
            return false;
    }
    if (!parse_words(p, &v, false)) return false;
    if (accept(p, TOK_SEMICOLON)) return true;  // declares nothing, and ptxas takes it
    do {
        if (!parse_declarator(p, &v)) return false;
    } while (accept(p, TOK_COMMA));
    return expect_semicolon(p);
}

// One parameter. In a call prototype `_` may stand for the name.
static bool parse_parameter(struct parser *p, bool is_return, bool *unsized) {
    struct variable v = blank_variable(p, p->token.offset);
    bool prototype = p->module->functions.at[p->function].kind == FUNCTION_PROTOTYPE;
    v.is_return = is_return;
    v.space = (uint8_t)word_space(at_word(p));
    if (v.space == SPACE_NONE && at(p, TOK_DOTTED)) {
        // ptxas says that no storage was specified.
        struct finding *finding = report(p, RULE_UNEXPECTED_TOKEN, token_span(p),
                                         "a parameter begins with `.param`");
        finding_help(p->findings, finding, "write `.param` before the type");
        v.space = SPACE_PARAM;
    } else if (v.space == SPACE_NONE) {
        unexpected(p, "`.param`");
        return false;
    } else
        advance(p);
    if (!parse_words(p, &v, true)) return false;
    v.span = token_span(p);
    bool named = at(p, TOK_WORD);
    if (named) {
        if (!parse_name(p, &v)) return false;
    } else {
        if (!prototype || !accept(p, TOK_SINK)) {
            unexpected(p, "a name");
            return false;
        }
    }
    if (at(p, TOK_LBRACKET) && !parse_dimensions(p, &v, 1)) return false;
    v.span.end = v.declaration.end = p->previous_end;
    *unsized = v.unsized;
    if (prototype) add_variable(p, &v);
    else declare_variable(p, &v);
    return true;
}

bool parse_parameter_list(struct parser *p, bool is_return, uint32_t *count, bool *unsized) {
    *unsized = false;
    advance(p);
    if (accept(p, TOK_RPAREN)) return true;
    do {
        if (!parse_parameter(p, is_return, unsized)) return false;
        ++*count;
    } while (accept(p, TOK_COMMA));
    return expect(p, TOK_RPAREN, "`,` or `)`");
}

bool parse_pragma(struct parser *p) {
    advance(p);
    do {
        struct str text = token_text(p);
        struct span span = token_span(p);
        if (!expect(p, TOK_STRING, "a string")) return false;
        struct pragma *pragma = vec_push(p->arena, &p->module->pragmas);
        *pragma = (struct pragma){{text.data + 1, text.len - 2}, span, p->function};
    } while (accept(p, TOK_COMMA));
    return expect_semicolon(p);
}
