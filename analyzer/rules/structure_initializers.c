#include "analyzer/rules/structure.h"

// Initialisers: where they may stand, how their braces fit, what each value may be. Measured on
// ptxas 13.0 (tests/probes/variables.tsv).

static struct span value_span(const struct checker *c, const struct init_value *value) {
    uint32_t end = value->offset + 1;
    if (value->kind == INIT_SYMBOL && !value->generic && value->mask_shift == 255)
        end = value->offset + structure_name(c, value->symbol).len;
    return (struct span){value->offset, end};
}

static bool takes_integer(uint8_t type) {
    uint8_t class = isa_types[type].class;
    return class == TYPE_CLASS_U || class == TYPE_CLASS_S || class == TYPE_CLASS_B;
}

static bool takes_float(uint8_t type) {
    return type == TYPE_F32 || type == TYPE_F64 || isa_types[type].class == TYPE_CLASS_B;
}

// Addresses go into u32 and u64; single bytes of them (a mask) into u8 as well.
static bool takes_address(uint8_t type, bool masked) {
    return type == TYPE_U32 || type == TYPE_U64 || (masked && type == TYPE_U8);
}

static void wrong_type(struct checker *c, const struct variable *variable,
                       const struct init_value *value) {
    static const char *const kinds[] = {[INIT_INT] = "an integer",
                                        [INIT_FLOAT] = "a floating-point number",
                                        [INIT_SYMBOL] = "an address"};
    struct finding *finding = structure_report(
        c, RULE_INITIALIZER_TYPE, value_span(c, value), "%s cannot initialise `%.*s` of type .%.*s",
        kinds[value->kind], STR_ARG(structure_name(c, variable->name)),
        STR_ARG(isa_types[variable->type].text));
    if (value->kind == INIT_INT) structure_help(c, finding, "write it with a point: 1.0");
    if (value->kind == INIT_FLOAT)
        structure_help(c, finding, "write an integer, or declare the variable as .b%u",
                       isa_types[variable->type].bits);
    if (value->kind == INIT_SYMBOL) structure_help(c, finding, "declare the variable as .u64");
}

// A name in an initialiser: a variable of .global or .const, or a function, declared before.
static const struct variable *local_symbol(const struct checker *c, const struct function *function,
                                           const struct init_value *value) {
    if (function == NULL) return NULL;
    for (uint32_t i = function->return_count + function->param_count; i < function->variables.n;
         i++) {
        const struct variable *variable = &function->variables.at[i];
        if (variable->name == value->symbol && variable->span.begin < value->offset)
            return variable;
    }
    (void)c;
    return NULL;
}

static bool in_memory(const struct variable *variable) {
    return variable->space == SPACE_GLOBAL || variable->space == SPACE_CONST;
}

static bool check_variable_symbol(struct checker *c, const struct variable *target,
                                  const struct init_value *value) {
    if (in_memory(target)) return true;
    structure_report(c, RULE_INITIALIZER_SYMBOL, value_span(c, value),
                     "`%.*s` is in .%.*s; initialisers take addresses of .global and .const only",
                     STR_ARG(structure_name(c, value->symbol)),
                     STR_ARG(isa_space_texts[target->space]));
    return false;
}

static bool check_symbol(struct checker *c, const struct function *function,
                         const struct init_value *value) {
    const struct variable *local = local_symbol(c, function, value);
    if (local != NULL) return check_variable_symbol(c, local, value);
    const struct declared *declared = structure_declared(c, value->symbol);
    struct str name = structure_name(c, value->symbol);
    if (declared->kind == DECLARED_VARIABLE)
        return check_variable_symbol(c, &c->module->variables.at[declared->first], value);
    bool plain = !value->generic && (value->bits == 0 || value->mask_shift != 255);
    if (declared->kind == DECLARED_FUNCTION && plain) return true;
    if (declared->kind == DECLARED_FUNCTION)
        structure_report(c, RULE_INITIALIZER_SYMBOL, value_span(c, value),
                         "`%.*s` is a function: neither generic() nor an offset applies",
                         STR_ARG(name));
    else {
        struct finding *finding =
            structure_report(c, RULE_INITIALIZER_SYMBOL, value_span(c, value),
                             "`%.*s` is declared nowhere before this initialiser", STR_ARG(name));
        structure_help(c, finding, "declare it above");
    }
    return false;
}

static void note_use(struct checker *c, const struct init_value *value) {
    if (structure_declared(c, value->symbol)->kind != DECLARED_FUNCTION) return;
    *vec_push(c->arena, &c->uses) = (struct function_use){
        value->symbol, value->offset, value_span(c, value).end, USE_INITIALIZER};
    *vec_push(c->arena, &c->initializer_uses) = c->uses.n - 1;
}

static void check_value(struct checker *c, const struct variable *variable,
                        const struct function *function, const struct init_value *value) {
    bool masked = value->mask_shift != 255;
    struct span span = value_span(c, value);
    if (masked) structure_need(c, FEATURE_MASK_INITIALIZER, span);
    if (masked && value->kind == INIT_INT) structure_need(c, FEATURE_MASK_CONSTANT, span);
    if (value->mask_shift == 254) {
        structure_report(c, RULE_INITIALIZER_TYPE, span,
                         "the mask must select one whole byte: 0xff, 0xff00, ...");
        return;
    }
    if (value->generic) structure_need(c, FEATURE_GENERIC_INITIALIZER, span);
    if (value->kind == INIT_SYMBOL && !check_symbol(c, function, value)) return;
    if (value->kind == INIT_SYMBOL) note_use(c, value);
    bool fits = value->kind == INIT_INT     ? takes_integer(variable->type)
                : value->kind == INIT_FLOAT ? takes_float(variable->type)
                                            : takes_address(variable->type, masked);
    if (!fits) wrong_type(c, variable, value);
}

// ---- opaque types -----------------------------------------------------------------------------

// PTX ISA, "Texture Sampler and Surface Types", the fields that ptxas takes.
static const char *const opaque_fields[] = {"width",
                                            "height",
                                            "depth",
                                            "channel_data_type",
                                            "channel_order",
                                            "normalized_coords",
                                            "force_unnormalized_coords",
                                            "filter_mode",
                                            "addr_mode_0",
                                            "addr_mode_1",
                                            "addr_mode_2",
                                            "array_size",
                                            "num_mipmap_levels",
                                            "num_samples",
                                            "memory_layout"};

static void check_fields(struct checker *c, const struct variable *variable) {
    for (uint32_t i = 0; i < variable->init_count; i++) {
        const struct init_value *value = &c->module->inits.at[variable->init_first + i];
        if (value->kind != INIT_SYMBOL) {
            structure_report(c, RULE_INITIALIZER_TYPE, value_span(c, value),
                             "`%.*s` is initialised by named fields: { width = 4 }",
                             STR_ARG(structure_name(c, variable->name)));
            return;
        }
        struct str name = structure_name(c, value->symbol);
        bool known = false;
        for (uint32_t f = 0; f < sizeof opaque_fields / sizeof *opaque_fields; f++)
            known = known || str_eq(name, str_from(opaque_fields[f]));
        if (!known)
            structure_report(c, RULE_INITIALIZER_SYMBOL, value_span(c, value),
                             "there is no field `%.*s`", STR_ARG(name));
    }
}

// ---- the whole --------------------------------------------------------------------------------

static bool check_place(struct checker *c, const struct variable *variable) {
    struct str name = structure_name(c, variable->name);
    if (variable->type == TYPE_F16)
        structure_report(c, RULE_INITIALIZER_PLACE, variable->span,
                         "`%.*s`: variables of type .f16 take no initialiser", STR_ARG(name));
    else if (variable->linkage == LINKAGE_EXTERN)
        structure_report(c, RULE_INITIALIZER_PLACE, variable->span,
                         "`%.*s` is .extern: its definition elsewhere initialises it",
                         STR_ARG(name));
    else if (!in_memory(variable))
        structure_report(c, RULE_INITIALIZER_PLACE, variable->span,
                         "`%.*s` is in .%.*s; only .global and .const variables are initialised",
                         STR_ARG(name), STR_ARG(isa_space_texts[variable->space]));
    else
        return true;
    return false;
}

static bool check_shape(struct checker *c, const struct variable *variable) {
    struct str name = structure_name(c, variable->name);
    struct span span = {variable->init_misfit, variable->init_misfit + 1};
    switch (variable->init_shape) {
    case INIT_TOO_MANY:
        structure_report(c, RULE_INITIALIZER_COUNT, span, "more values than `%.*s` has elements",
                         STR_ARG(name));
        return false;
    case INIT_NESTING:
        structure_report(c, RULE_INITIALIZER_TYPE, span,
                         "the braces do not follow the dimensions of `%.*s`", STR_ARG(name));
        return false;
    case INIT_VECTOR_PARTS:
        structure_report(c, RULE_INITIALIZER_COUNT, span, "each vector of `%.*s` needs %u values",
                         STR_ARG(name), variable->vec);
        return false;
    default: return true;
    }
}

// A scalar of two halves takes a list in braces, whatever is in it, and nothing else (measured).
static void check_halves(struct checker *c, const struct variable *variable) {
    if (variable->is_array || variable->init_shape == INIT_NESTING) return;
    struct finding *finding = structure_report(c, RULE_INITIALIZER_TYPE, variable->span,
                                               "`%.*s` of type .f16x2 is initialised by a list",
                                               STR_ARG(structure_name(c, variable->name)));
    structure_help(c, finding, "declare it .b32 and write its bits");
}

void check_initializer(struct checker *c, const struct variable *variable,
                       const struct function *function) {
    if (isa_types[variable->type].class == TYPE_CLASS_O) {
        check_fields(c, variable);
        return;
    }
    if (!check_place(c, variable)) return;
    if (variable->type == TYPE_F16X2) {
        check_halves(c, variable);
        return;
    }
    if (!check_shape(c, variable)) return;
    for (uint32_t i = 0; i < variable->init_count; i++)
        check_value(c, variable, function, &c->module->inits.at[variable->init_first + i]);
}
