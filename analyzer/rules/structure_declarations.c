#include "analyzer/rules/structure.h"

// What is declared at module scope, in source order: each declaration against those of the same
// name before it. Measured on ptxas 13.0 (tests/probes/linking.tsv).

static void earlier(struct checker *c, struct finding *finding, struct span span) {
    structure_label(c, finding, span, "declared here before");
}

static struct span span_of(const struct checker *c, const struct declared *declared) {
    uint32_t index = declared->definition != NO_INDEX ? declared->definition : declared->first;
    return declared->kind == DECLARED_FUNCTION ? c->module->functions.at[index].span
                                               : c->module->variables.at[index].span;
}

static void inconsistent(struct checker *c, const struct declared *declared, struct span span,
                         struct str name, const char *why) {
    struct finding *finding =
        structure_report(c, RULE_REDEFINITION, span, "`%.*s` %s", STR_ARG(name), why);
    earlier(c, finding, span_of(c, declared));
}

static void duplicate(struct checker *c, const struct declared *declared, struct span span,
                      struct str name) {
    struct finding *finding = structure_report(c, RULE_DUPLICATE_DEFINITION, span,
                                               "`%.*s` is already defined", STR_ARG(name));
    structure_label(c, finding, span_of(c, declared), "defined here before");
    structure_help(c, finding, "rename or remove one of them");
}

// ---- functions --------------------------------------------------------------------------------

static bool same_parameter(const struct variable *a, const struct variable *b, const char **what) {
    if (a->type != b->type || a->vec != b->vec || a->is_array != b->is_array ||
        a->unsized != b->unsized || a->count != b->count)
        *what = "type";
    else if (a->space != b->space)
        *what = "state space";
    else if (variable_align(a) != variable_align(b))
        *what = "alignment";
    else
        return true;
    return false;
}

static void prototype_differs(struct checker *c, const struct function *function,
                              const struct function *before, const char *format, uint32_t i,
                              const char *what) {
    struct finding *finding;
    struct str name = structure_name(c, function->name);
    if (what == NULL)
        finding = structure_report(c, RULE_PROTOTYPE_DIFFERS, function->span, "`%.*s` %s",
                                   STR_ARG(name), format);
    else
        finding =
            structure_report(c, RULE_PROTOTYPE_DIFFERS, function->span,
                             "%s of parameter %u of `%.*s` differs from its earlier declaration",
                             what, i, STR_ARG(name));
    earlier(c, finding, before->span);
    structure_help(c, finding, "give both the same parameters");
}

static void compare_prototypes(struct checker *c, const struct function *function,
                               const struct function *before) {
    if (!function->parsed || !before->parsed) return;
    if (function->return_count != before->return_count ||
        function->param_count != before->param_count) {
        prototype_differs(c, function, before, "has another number of parameters than before", 0,
                          NULL);
        return;
    }
    uint32_t count = function->return_count + function->param_count;
    for (uint32_t i = 0; i < count; i++) {
        const char *what;
        const struct variable *now = &function->variables.at[i];
        if (same_parameter(now, &before->variables.at[i], &what)) continue;
        prototype_differs(c, function, before, "", i, what);
        return;
    }
    bool returns = function_directive(function, DIRECTIVE_NORETURN) == NULL;
    if (returns != (function_directive(before, DIRECTIVE_NORETURN) == NULL))
        prototype_differs(c, function, before, "is .noreturn in one declaration only", 0, NULL);
    for (int d = DIRECTIVE_ABI_PRESERVE; d <= DIRECTIVE_ABI_PRESERVE_CONTROL; d++) {
        const struct directive_use *now = function_directive(function, (enum directive)d);
        const struct directive_use *then = function_directive(before, (enum directive)d);
        if ((now == NULL) == (then == NULL) && (now == NULL || now->values[0] == then->values[0]))
            continue;
        prototype_differs(c, function, before, "preserves other registers than before", 0, NULL);
    }
}

// A prototype's linkage is repeated, or left out where it is .visible or .weak.
static bool linkage_agrees(uint8_t before, uint8_t now) {
    return before == now ||
           (now == LINKAGE_NONE && (before == LINKAGE_VISIBLE || before == LINKAGE_WEAK));
}

static void redeclare_function(struct checker *c, struct declared *declared, uint32_t index) {
    const struct function *function = &c->module->functions.at[index];
    struct str name = structure_name(c, function->name);
    if (declared->kind == DECLARED_VARIABLE) {
        inconsistent(c, declared, function->span, name, "is a variable already");
        return;
    }
    const struct function *before = &c->module->functions.at[declared->first];
    if (before->kind != function->kind)
        inconsistent(c, declared, function->span, name, "is both an entry and a function");
    else if (declared->defined)
        duplicate(c, declared, function->span, name);
    else if (!linkage_agrees(declared->linkage, function->linkage))
        inconsistent(c, declared, function->span, name, "has another linkage than before");
    else
        compare_prototypes(c, function, before);
}

static void check_extern_body(struct checker *c, const struct function *function) {
    if (function->linkage != LINKAGE_EXTERN || !function->has_body) return;
    // ptxas says it where the body begins.
    struct span brace = {function->body_span.begin, function->body_span.begin + 1};
    struct finding *finding =
        structure_report(c, RULE_EXTERN_DEFINED, brace, "`%.*s` is .extern and has a body",
                         STR_ARG(structure_name(c, function->name)));
    structure_label(c, finding, function->span, "declared here");
    structure_help(c, finding, "take out `.extern`");
}

static void take_function(struct checker *c, uint32_t index) {
    const struct function *function = &c->module->functions.at[index];
    if (function->linkage == LINKAGE_WEAK) structure_need(c, FEATURE_WEAK, function->span);
    if (function->linkage == LINKAGE_COMMON)
        structure_report(c, RULE_DIRECTIVE_PLACE,
                         (struct span){function->header.begin, function->span.end},
                         "`.common` is for variables");
    check_parameters(c, function);
    check_function_directives(c, function);
    if (function->kind == FUNCTION_PROTOTYPE || function->name == 0) return;
    check_extern_body(c, function);
    struct declared *declared = structure_declared(c, function->name);
    if (declared->kind == DECLARED_NOTHING)
        *declared = (struct declared){.kind = DECLARED_FUNCTION,
                                      .linkage = function->linkage,
                                      .first = index,
                                      .definition = NO_INDEX};
    else
        redeclare_function(c, declared, index);
    if (function->has_body && function->kind == FUNCTION_ENTRY) check_parameter_space(c, function);
    if (function->has_body && declared->kind == DECLARED_FUNCTION && !declared->defined) {
        declared->defined = true;
        declared->definition = index;
    }
}

// ---- variables --------------------------------------------------------------------------------

// State spaces and alignments are not compared (measured); the first dimension may be left open.
static bool same_variable(const struct checker *c, const struct variable *a,
                          const struct variable *b) {
    if (a->type != b->type || a->vec != b->vec || a->is_array != b->is_array) return false;
    if (a->dim_count != b->dim_count) return false;
    for (uint32_t i = 0; i < a->dim_count; i++) {
        bool open = i == 0 && (a->unsized || b->unsized);
        if (!open && c->module->dims.at[a->dim_first + i] != c->module->dims.at[b->dim_first + i])
            return false;
    }
    return true;
}

static void redeclare_variable(struct checker *c, struct declared *declared, uint32_t index) {
    const struct variable *variable = &c->module->variables.at[index];
    struct str name = structure_name(c, variable->name);
    if (declared->kind == DECLARED_FUNCTION) {
        inconsistent(c, declared, variable->span, name, "is a function already");
        return;
    }
    const struct variable *before = &c->module->variables.at[declared->first];
    bool was_extern = declared->linkage == LINKAGE_EXTERN,
         is_extern = variable->linkage == LINKAGE_EXTERN;
    if (!same_variable(c, before, variable))
        inconsistent(c, declared, variable->span, name, "has another type or size than before");
    else if (!was_extern && !is_extern)
        duplicate(c, declared, variable->span, name);
    else if (was_extern && variable->linkage == LINKAGE_NONE) {
        struct finding *finding =
            structure_report(c, RULE_REDEFINITION, variable->span,
                             "`%.*s` was declared .extern and is private here", STR_ARG(name));
        earlier(c, finding, before->span);
        structure_help(c, finding, "define it `.visible`");
    }
}

static void take_variable(struct checker *c, uint32_t index) {
    const struct variable *variable = &c->module->variables.at[index];
    check_variable(c, variable, NULL);
    if (variable->name == 0) return;
    struct declared *declared = structure_declared(c, variable->name);
    if (declared->kind == DECLARED_NOTHING) count_constant(c, variable);
    bool defines = variable->linkage != LINKAGE_EXTERN;
    if (declared->kind == DECLARED_NOTHING) {
        *declared = (struct declared){.kind = DECLARED_VARIABLE,
                                      .linkage = variable->linkage,
                                      .defined = defines,
                                      .first = index,
                                      .definition = defines ? index : NO_INDEX};
        return;
    }
    redeclare_variable(c, declared, index);
    if (declared->kind != DECLARED_VARIABLE || !defines || declared->defined) return;
    declared->defined = true;
    declared->definition = index;
    declared->linkage = variable->linkage;
}

// ---- aliases ----------------------------------------------------------------------------------

static bool alias_side(struct checker *c, const struct alias *alias, name_id name) {
    const struct declared *declared = structure_declared(c, name);
    struct str text = structure_name(c, name);
    if (declared->kind == DECLARED_NOTHING) {
        struct finding *finding =
            structure_report(c, RULE_ALIAS, alias->span,
                             "`%.*s` is declared nowhere before this `.alias`", STR_ARG(text));
        structure_help(c, finding, "declare both names above");
    } else if (declared->kind == DECLARED_VARIABLE)
        structure_report(c, RULE_ALIAS, alias->span,
                         "`%.*s` is a variable; only functions have aliases", STR_ARG(text));
    else if (c->module->functions.at[declared->first].kind == FUNCTION_ENTRY)
        structure_report(c, RULE_ALIAS, alias->span,
                         "`%.*s` is an entry; only functions have aliases", STR_ARG(text));
    else
        return true;
    return false;
}

static void check_alias_pair(struct checker *c, const struct alias *alias) {
    struct declared *name = structure_declared(c, alias->name),
                    *target = structure_declared(c, alias->target);
    struct str text = structure_name(c, alias->name);
    if (name->defined) {
        structure_report(c, RULE_ALIAS, alias->span, "`%.*s` has a body already", STR_ARG(text));
        return;
    }
    if (name->alias_of != 0) {
        structure_report(c, RULE_ALIAS, alias->span, "`%.*s` is an alias of `%.*s` already",
                         STR_ARG(text), STR_ARG(structure_name(c, name->alias_of)));
        return;
    }
    if (target->linkage == LINKAGE_WEAK)
        structure_report(c, RULE_ALIAS, alias->span, "`%.*s` is .weak: it has no aliases",
                         STR_ARG(structure_name(c, alias->target)));
    compare_prototypes(c, &c->module->functions.at[name->first],
                       &c->module->functions.at[target->first]);
    name->alias_of = alias->target;
}

static void take_alias(struct checker *c, uint32_t index) {
    const struct alias *alias = &c->module->aliases.at[index];
    structure_need(c, FEATURE_ALIAS, alias->span);
    (void)structure_declared(c, alias->name > alias->target ? alias->name : alias->target);
    bool good = alias_side(c, alias, alias->name);
    good = alias_side(c, alias, alias->target) && good;
    if (good) check_alias_pair(c, alias);
}

// ---- in source order --------------------------------------------------------------------------

static uint32_t next_offset(bool more, struct span span) { return more ? span.begin : UINT32_MAX; }

void take_declarations(struct checker *c) {
    struct module *m = c->module;
    for (;;) {
        bool f = c->functions_taken < m->functions.n, v = c->variables_taken < m->variables.n,
             a = c->aliases_taken < m->aliases.n;
        if (!f && !v && !a) return;
        uint32_t fo =
            next_offset(f, f ? m->functions.at[c->functions_taken].header : (struct span){0, 0});
        uint32_t vo = next_offset(v, v ? m->variables.at[c->variables_taken].declaration
                                       : (struct span){0, 0});
        uint32_t ao =
            next_offset(a, a ? m->aliases.at[c->aliases_taken].span : (struct span){0, 0});
        if (f && fo <= vo && fo <= ao)
            take_function(c, c->functions_taken++);
        else if (v && vo <= ao)
            take_variable(c, c->variables_taken++);
        else
            take_alias(c, c->aliases_taken++);
    }
}
