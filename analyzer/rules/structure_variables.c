#include "analyzer/rules/structure.h"

#include "base/checked.h"

// Variables and parameters: where each may be declared, of which type, how aligned, how large.
// Every refusal here was measured on ptxas 13.0 (tests/probes/variables.tsv).

static const char *type_text(const struct checker *c, uint8_t type) {
    return str_format(c->findings->arena, "%.*s", STR_ARG(isa_types[type].text)).data;
}

static bool is_opaque(const struct variable *variable) {
    return isa_types[variable->type].class == TYPE_CLASS_O;
}

static bool is_small_float_or_packed(uint8_t type) {
    switch (type) {
    case TYPE_E4M3:
    case TYPE_E5M2:
    case TYPE_E3M2:
    case TYPE_E2M3:
    case TYPE_E2M1:
    case TYPE_UE4M3:
    case TYPE_UE8M0: return true;
    default: return false;
    }
}

// An array of no elements, or of an unstated number without an initialiser that states it.
static bool is_incomplete(const struct variable *variable) {
    if (variable->unsized) return !variable->has_init;
    return variable->is_array && variable->count == 0;
}

static void bad_space(struct checker *c, const struct variable *variable, const char *why) {
    struct str name = structure_name(c, variable->name);
    structure_report(c, RULE_VARIABLE_SPACE, variable->span, "`%.*s`: %s", STR_ARG(name), why);
}

// ---- types ------------------------------------------------------------------------------------

static bool check_vector(struct checker *c, const struct variable *variable) {
    if (variable->vec <= 1) return true;
    uint32_t bits = isa_types[variable->type].bits * (uint32_t)variable->vec;
    struct str name = structure_name(c, variable->name);
    if (is_opaque(variable))
        structure_report(c, RULE_VARIABLE_TYPE, variable->span, "`%.*s`: .%s has no vectors",
                         STR_ARG(name), type_text(c, variable->type));
    else if (variable->type == TYPE_PRED)
        structure_report(c, RULE_VARIABLE_TYPE, variable->span,
                         "`%.*s`: predicates have no vectors", STR_ARG(name));
    else if (bits > 128)
        structure_report(c, RULE_VARIABLE_TYPE, variable->span,
                         "`%.*s`: .v%u of .%s is %u bits; a vector has at most 128", STR_ARG(name),
                         variable->vec, type_text(c, variable->type), bits);
    else
        return true;
    return false;
}

static bool check_type(struct checker *c, const struct variable *variable) {
    // Of arrays ptxas does not ask (measured).
    if (variable->type == TYPE_B128 && !variable->is_array)
        structure_need(c, FEATURE_TYPE_B128, variable->span);
    if (variable->type == TYPE_F16X2) structure_need(c, FEATURE_TYPE_F16X2, variable->span);
    if (is_opaque(variable)) structure_need(c, FEATURE_OPAQUE, variable->span);
    if (is_small_float_or_packed(variable->type)) {
        structure_report(c, RULE_VARIABLE_TYPE, variable->span,
                         "`%.*s`: .%s is a type of instructions only",
                         STR_ARG(structure_name(c, variable->name)), type_text(c, variable->type));
        return false;
    }
    return check_vector(c, variable);
}

static void check_alignment(struct checker *c, const struct variable *variable, uint32_t align,
                            bool stated) {
    if (!stated || is_power_of_two(align)) return;
    struct finding *finding = structure_report(c, RULE_ALIGNMENT, variable->span,
                                               "alignment %u of `%.*s` is not a power of two",
                                               align, STR_ARG(structure_name(c, variable->name)));
    uint64_t up = 1;
    while (up < align) up *= 2;
    structure_help(c, finding, "state `.align %llu`", (unsigned long long)up);
}

// ---- spaces -----------------------------------------------------------------------------------

static void check_opaque(struct checker *c, const struct variable *variable, bool in_function) {
    if (in_function)
        bad_space(c, variable, "texture, sampler and surface references belong at module scope");
    else if (variable->space == SPACE_REG)
        bad_space(c, variable, "texture, sampler and surface references do not fit a register");
    else if (variable->space != SPACE_GLOBAL)
        bad_space(c, variable, "texture, sampler and surface references must be in .global");
}

static void check_sampler_mode(struct checker *c, const struct variable *variable) {
    if (variable->type != TYPE_SAMPLERREF || c->module->texmode_independent) return;
    struct finding *finding =
        structure_report(c, RULE_VARIABLE_TYPE, variable->span,
                         "`%.*s`: samplers need `.target` with texmode_independent",
                         STR_ARG(structure_name(c, variable->name)));
    structure_help(c, finding, "add `, texmode_independent` to `.target`");
}

static void check_register(struct checker *c, const struct variable *variable, bool in_function) {
    if (variable->is_array || variable->unsized)
        bad_space(c, variable, "an array does not fit a register");
    else if (!in_function)
        structure_need(c, FEATURE_MODULE_REGISTERS, variable->span);
}

static void check_tex(struct checker *c, const struct variable *variable, bool in_function) {
    if ((variable->type != TYPE_U32 && variable->type != TYPE_U64) || variable->is_array ||
        variable->vec > 1)
        bad_space(c, variable, ".tex variables are of type .u32 or .u64");
    else if (in_function)
        bad_space(c, variable, ".tex variables belong at module scope");
    else
        structure_need(c, FEATURE_TEX_SPACE, variable->span);
}

static void check_memory(struct checker *c, const struct variable *variable, bool in_function) {
    bool is_extern = variable->linkage == LINKAGE_EXTERN;
    if (variable->type == TYPE_PRED)
        bad_space(c, variable, "a predicate must be in .reg");
    else if (variable->space == SPACE_PARAM && (variable->vec > 1 || variable->type == TYPE_F16X2))
        bad_space(c, variable, "vectors do not fit .param");
    else if (is_incomplete(variable) && !is_extern) {
        struct finding *finding =
            structure_report(c, RULE_INCOMPLETE_ARRAY, variable->span, "`%.*s` has no size",
                             STR_ARG(structure_name(c, variable->name)));
        structure_help(c, finding,
                       variable->space == SPACE_SHARED && !in_function
                           ? "state a size, or declare it `.extern .shared`"
                           : "state a size");
    } else if (variable->space == SPACE_PARAM && !in_function)
        bad_space(c, variable, ".param variables belong in a function");
    else if (variable->space == SPACE_LOCAL && !in_function)
        structure_need(c, FEATURE_MODULE_REGISTERS, variable->span);
}

static void check_space(struct checker *c, const struct variable *variable, bool in_function) {
    if (is_opaque(variable))
        check_opaque(c, variable, in_function);
    else if (variable->space == SPACE_REG)
        check_register(c, variable, in_function);
    else if (variable->space == SPACE_TEX)
        check_tex(c, variable, in_function);
    else if (variable->space != SPACE_NONE)
        check_memory(c, variable, in_function);
}

// ---- linkage, banks, attributes ---------------------------------------------------------------

static void check_linkage(struct checker *c, const struct variable *variable) {
    if (variable->linkage == LINKAGE_WEAK) structure_need(c, FEATURE_WEAK, variable->span);
    if (variable->linkage != LINKAGE_COMMON) return;
    if (variable->space != SPACE_GLOBAL) {
        bad_space(c, variable, ".common variables must be in .global");
        return;
    }
    structure_need(c, FEATURE_COMMON, variable->span);
}

enum { BANKS = 11 };

static void check_bank(struct checker *c, const struct variable *variable) {
    if (variable->bank == NO_INDEX || variable->space != SPACE_CONST) return;
    if (!structure_need(c, FEATURE_CONST_BANK, variable->span)) return;
    if (variable->bank >= BANKS)
        structure_report(c, RULE_VARIABLE_SPACE, variable->span,
                         "constant bank %u: there are banks 0 to %d", variable->bank, BANKS - 1);
    else if (variable->bank > 0 && !(variable->linkage == LINKAGE_EXTERN && variable->unsized))
        structure_report(c, RULE_VARIABLE_SPACE, variable->span,
                         "constant bank %u holds `.extern` arrays without size only",
                         variable->bank);
}

static void check_attributes(struct checker *c, const struct variable *variable) {
    if (!variable->managed && !variable->unified) return;
    struct str name = structure_name(c, variable->name);
    if (variable->space != SPACE_GLOBAL) {
        structure_report(c, RULE_ATTRIBUTE, variable->span,
                         "`%.*s`: only .global variables have .attribute(%s)", STR_ARG(name),
                         variable->managed ? ".managed" : ".unified");
        return;
    }
    if (variable->managed) structure_need(c, FEATURE_MANAGED, variable->span);
    if (!variable->unified) return;
    structure_need(c, FEATURE_UNIFIED, variable->span);
    if (!c->options->relocatable)
        structure_report(c, RULE_ATTRIBUTE, variable->span,
                         "`%.*s`: .attribute(.unified) needs relocatable compilation (`ptxas -c`)",
                         STR_ARG(name));
}

void check_variable(struct checker *c, const struct variable *variable,
                    const struct function *function) {
    if (variable->type == TYPE_NONE || variable->space == SPACE_NONE) return;
    check_alignment(c, variable, variable->align, variable->align_stated);
    if (check_type(c, variable)) check_space(c, variable, function != NULL);
    check_sampler_mode(c, variable);
    check_linkage(c, variable);
    check_bank(c, variable);
    check_attributes(c, variable);
    if (variable->has_init) check_initializer(c, variable, function);
}

// ---- parameters -------------------------------------------------------------------------------

static void bad_parameter(struct checker *c, const struct variable *variable, const char *why) {
    structure_report(c, RULE_PARAMETER, variable->span, "parameter `%.*s`: %s",
                     STR_ARG(structure_name(c, variable->name)), why);
}

static void check_entry_parameter(struct checker *c, const struct variable *variable) {
    if (variable->space != SPACE_PARAM)
        bad_parameter(c, variable, "parameters of an entry must be in .param");
    else if (variable->type == TYPE_PRED)
        bad_parameter(c, variable, "a predicate must be in .reg");
    else if (variable->vec > 1 || variable->type == TYPE_F16X2)
        bad_parameter(c, variable, "vectors do not fit .param");
    else if (variable->unsized || (variable->is_array && variable->count == 0))
        bad_parameter(c, variable, "an array parameter of an entry needs a size");
}

// What the ABI can align a function's parameter to.
enum { MOST_PARAMETER_ALIGN = 128 };

static void check_function_parameter(struct checker *c, const struct function *function,
                                     const struct variable *variable) {
    bool prototype = function->kind == FUNCTION_PROTOTYPE;
    if (variable->space != SPACE_PARAM && variable->space != SPACE_REG)
        bad_parameter(c, variable, "parameters of a function are in .param or .reg");
    else if (variable->space == SPACE_REG && (variable->is_array || variable->unsized))
        bad_parameter(c, variable, "an array does not fit a register");
    else if (variable->space == SPACE_REG || prototype)
        return;
    else if (variable->type == TYPE_PRED)
        bad_parameter(c, variable, "a predicate must be in .reg");
    else if (variable->vec > 1 || variable->type == TYPE_F16X2 || is_opaque(variable))
        bad_parameter(c, variable, "vectors and opaque types do not fit .param of a function");
    else if (variable->is_ptr)
        bad_parameter(c, variable, ".ptr belongs to parameters of entries");
    else if (is_power_of_two(variable->align) && variable->align > MOST_PARAMETER_ALIGN)
        bad_parameter(c, variable, "parameters of functions are aligned to at most 128 bytes");
}

static void check_unsized_parameters(struct checker *c, const struct function *function) {
    uint32_t count = function->return_count + function->param_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct variable *variable = &function->variables.at[i];
        bool zero = variable->is_array && variable->count == 0;
        if (!variable->unsized && !zero) continue;
        if (i < function->return_count)
            bad_parameter(c, variable, "a return parameter needs a size");
        else if (i + 1 < count)
            bad_parameter(c, variable, "only the last parameter may be an array without size");
        else
            structure_need(c, FEATURE_UNSIZED_PARAM, variable->span);
    }
}

static void check_returns(struct checker *c, const struct function *function) {
    if (function->return_count < 2) return;
    for (uint32_t i = 0; i < function->return_count; i++) {
        if (return_of(function, i)->space != SPACE_PARAM) continue;
        bad_parameter(c, return_of(function, i), "several return parameters must all be in .reg");
        return;
    }
}

static void check_parameter(struct checker *c, const struct function *function,
                            const struct variable *variable) {
    if (variable->type == TYPE_NONE) return;
    check_alignment(c, variable, variable->align, variable->align_stated);
    check_alignment(c, variable, variable->ptr_align, variable->ptr_align_stated);
    bool typed = check_type(c, variable);
    check_sampler_mode(c, variable);
    if (variable->is_ptr) structure_need(c, FEATURE_PTR, variable->span);
    if (variable->managed || variable->unified)
        structure_report(c, RULE_ATTRIBUTE, variable->span,
                         "parameter `%.*s` cannot have .attribute",
                         STR_ARG(structure_name(c, variable->name)));
    if (!typed) return;
    if (function->kind == FUNCTION_ENTRY) {
        check_entry_parameter(c, variable);
        return;
    }
    if (variable->space == SPACE_PARAM && function->kind == FUNCTION_FUNC)
        structure_need(c, FEATURE_FUNCTION_PARAM, variable->span);
    check_function_parameter(c, function, variable);
}

void check_parameters(struct checker *c, const struct function *function) {
    uint32_t count = function->return_count + function->param_count;
    for (uint32_t i = 0; i < count; i++) check_parameter(c, function, &function->variables.at[i]);
    if (function->kind == FUNCTION_ENTRY) {
        if (function->param_count > 0)
            structure_need(c, FEATURE_KERNEL_PARAMETERS, param_of(function, 0)->span);
        return;
    }
    check_unsized_parameters(c, function);
    check_returns(c, function);
}
