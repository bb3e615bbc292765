#include "analyzer/rules/structure.h"

// Calls against what they call. Measured on ptxas 13.0 (tests/probes/calls.tsv).

struct call {
    const struct operand *returns, *callee, *arguments, *prototype; // NULL where not written
    struct span span;
};

static struct span operand_span(const struct operand *operand) {
    return (struct span){operand->offset, operand->end};
}

// call[.uni] [(returns),] callee [, (arguments)] [, prototype];
static struct call take_apart(const struct body *body, const struct instruction *instruction) {
    const struct operand *operand = &body->operands.at[instruction->operand_first];
    const struct operand *end = operand + instruction->operand_count;
    struct call call = {.span = {instruction->offset, instruction->opcode_end}};
    if (operand < end && operand->kind == OPERAND_LIST) call.returns = operand++;
    if (operand < end) call.callee = operand++;
    if (operand < end && operand->kind == OPERAND_LIST) call.arguments = operand++;
    if (operand < end) call.prototype = operand;
    return call;
}

// ---- types ------------------------------------------------------------------------------------

// Untyped bits go with everything of their size, integers with integers; .f16x2 goes with all of 32
// bits, predicates included (measured).
static bool same_kind(uint8_t formal, uint8_t actual) {
    if (formal == actual) return true;
    if (actual == TYPE_F16X2) return isa_types[formal].bits == 32 || formal == TYPE_PRED;
    if (formal == TYPE_F16X2) return isa_types[actual].bits == 32 || actual == TYPE_PRED;
    uint8_t a = isa_types[formal].class, b = isa_types[actual].class;
    if (isa_types[formal].bits != isa_types[actual].bits || a == TYPE_CLASS_P || b == TYPE_CLASS_P)
        return false;
    if (a == TYPE_CLASS_B || b == TYPE_CLASS_B) return true;
    return (a == TYPE_CLASS_U || a == TYPE_CLASS_S) && (b == TYPE_CLASS_U || b == TYPE_CLASS_S);
}

static uint32_t bits_of(const struct variable *variable) {
    return isa_types[variable->type].bits * (uint32_t)variable->vec;
}

static bool is_array(const struct variable *variable) {
    return variable->is_array || variable->unsized;
}

static bool same_type(const struct variable *formal, const struct variable *actual) {
    uint64_t a, b;
    if (formal->unsized) return is_array(actual);
    if (is_array(formal) != is_array(actual)) return false;
    if (is_array(formal)) return variable_size(formal, &a) && variable_size(actual, &b) && a == b;
    if (formal->vec > 1 || actual->vec > 1) return bits_of(formal) == bits_of(actual);
    return same_kind(formal->type, actual->type);
}

static struct str type_of(const struct checker *c, const struct variable *variable) {
    struct arena *arena = c->findings->arena;
    struct str text = isa_types[variable->type].text;
    struct str vector = variable->vec > 1 ? str_format(arena, ".v%u ", variable->vec) : STR("");
    uint32_t align = variable_align(variable);
    if (variable->unsized) return str_format(arena, ".align %u .%.*s[]", align, STR_ARG(text));
    if (variable->is_array)
        return str_format(arena, ".align %u .%.*s[%llu]", align, STR_ARG(text),
                          (unsigned long long)variable->count);
    return str_format(arena, "%.*s.%.*s", STR_ARG(vector), STR_ARG(text));
}

static void wrong_type(struct checker *c, const struct operand *argument, struct str is,
                       const struct variable *formal) {
    struct str name = structure_name(c, formal->name);
    struct finding *finding = structure_report(
        c, RULE_CALL_TYPE, operand_span(argument), "parameter `%.*s` is %.*s; the argument is %.*s",
        STR_ARG(name), STR_ARG(type_of(c, formal)), STR_ARG(is));
    structure_label(c, finding, formal->span, "the parameter");
}

static void check_literal(struct checker *c, const struct operand *argument,
                          const struct variable *formal) {
    uint8_t class = isa_types[formal->type].class;
    bool is_float = argument->kind == OPERAND_FLOAT;
    if (formal->vec > 1) return;
    if (formal->type == TYPE_F16X2) class = TYPE_CLASS_NONE;
    bool fits =
        !is_array(formal) &&
        (class == TYPE_CLASS_B ||
         (is_float ? class == TYPE_CLASS_F : class == TYPE_CLASS_U || class == TYPE_CLASS_S));
    if (!fits)
        wrong_type(c, argument, is_float ? STR("a floating-point number") : STR("an integer"),
                   formal);
}

// A formal parameter of the enclosing function that lies in .param cannot be passed on.
static bool is_formal(const struct function *function, var_ref ref) {
    return (ref & VAR_LOCAL) && (ref & ~VAR_LOCAL) < function->return_count + function->param_count;
}

static void check_variable_argument(struct checker *c, struct function *function,
                                    const struct operand *argument, const struct variable *formal) {
    const struct variable *actual = module_variable(c->module, function, argument->var);
    struct str name = structure_name(c, actual->name);
    if (actual->space != SPACE_REG && actual->space != SPACE_PARAM)
        structure_report(
            c, RULE_CALL_TYPE, operand_span(argument),
            "arguments are registers, .param variables or constants; `%.*s` is in .%.*s",
            STR_ARG(name), STR_ARG(isa_space_texts[actual->space]));
    else if (actual->space == SPACE_PARAM && is_formal(function, argument->var)) {
        struct finding *finding = structure_report(
            c, RULE_CALL_TYPE, operand_span(argument),
            "`%.*s` is a parameter of this function and cannot be passed on", STR_ARG(name));
        structure_help(c, finding, "load it, and store it to a .param variable of the body");
    } else if (!same_type(formal, actual))
        wrong_type(c, argument, type_of(c, actual), formal);
    else if (actual->space != formal->space && (is_array(actual) || is_array(formal)))
        structure_report(c, RULE_CALL_TYPE, operand_span(argument),
                         "an array is passed in .param, not in a register");
    else if (variable_align(actual) != variable_align(formal))
        structure_report(c, RULE_CALL_TYPE, operand_span(argument),
                         "`%.*s` is aligned to %u bytes, its parameter `%.*s` to %u", STR_ARG(name),
                         variable_align(actual), STR_ARG(structure_name(c, formal->name)),
                         variable_align(formal));
}

// `-x`, `x+4`: arguments are plain.
static bool is_plain(const struct operand *argument) {
    if (argument->kind != OPERAND_REG && argument->kind != OPERAND_VAR) return true;
    return argument->value == 0 && argument->flags == 0 && argument->component == 0;
}

static void check_argument(struct checker *c, struct function *function,
                           const struct operand *argument, const struct variable *formal,
                           bool is_return) {
    if (formal->type == TYPE_NONE) return;
    if (!is_plain(argument)) {
        structure_report(c, RULE_CALL_TYPE, operand_span(argument),
                         "an argument is a register or variable as it is");
        return;
    }
    switch (argument->kind) {
    case OPERAND_REG:
    case OPERAND_VAR: check_variable_argument(c, function, argument, formal); return;
    case OPERAND_INT:
    case OPERAND_FLOAT:
        if (is_return)
            structure_report(c, RULE_CALL_TYPE, operand_span(argument),
                             "a constant cannot take a result");
        else
            check_literal(c, argument, formal);
        return;
    case OPERAND_SINK:
        if (!is_return)
            structure_report(c, RULE_CALL_TYPE, operand_span(argument), "`_` takes results only");
        return;
    case OPERAND_NAME:
    case OPERAND_NONE: return; // reported where names are resolved
    default:
        structure_report(c, RULE_CALL_TYPE, operand_span(argument),
                         "arguments are registers, .param variables or constants");
    }
}

// ---- counts -----------------------------------------------------------------------------------

static uint32_t count_of(const struct operand *list) { return list == NULL ? 0 : list->count; }

static void wrong_count(struct checker *c, const struct call *call, const struct function *callee,
                        const char *what, uint32_t want, uint32_t got) {
    struct span span = call->callee == NULL ? call->span : operand_span(call->callee);
    struct str name =
        callee->kind == FUNCTION_PROTOTYPE ? STR("the prototype") : structure_name(c, callee->name);
    struct finding *finding =
        structure_report(c, RULE_CALL_COUNT, span, "`%.*s` has %u %s%s; the call has %u",
                         STR_ARG(name), want, what, want == 1 ? "" : "s", got);
    structure_label(c, finding, callee->name != 0 ? callee->span : callee->header, "declared here");
}

static bool passes_small(const struct variable *formal) {
    switch (formal->type) {
    case TYPE_PRED:
    case TYPE_U8:
    case TYPE_S8:
    case TYPE_U16:
    case TYPE_S16: return !is_array(formal) && formal->vec == 1;
    default: return false;
    }
}

static void note_small(const struct call *call, const struct function *callee,
                       struct reach *reach) {
    if (reach->small_argument.end != 0) return;
    for (uint32_t i = 0; i < callee->return_count + callee->param_count; i++)
        if (passes_small(&callee->variables.at[i])) {
            reach->small_argument = call->span;
            return;
        }
}

static void check_against(struct checker *c, struct function *function, const struct call *call,
                          const struct function *callee, struct reach *reach) {
    if (!callee->parsed) return;
    uint32_t returns = count_of(call->returns), arguments = count_of(call->arguments);
    bool open =
        callee->unsized_param && call->arguments != NULL && arguments + 1 == callee->param_count;
    if (returns != callee->return_count) {
        wrong_count(c, call, callee, "return parameter", callee->return_count, returns);
        return;
    }
    if (arguments != callee->param_count && !open) {
        wrong_count(c, call, callee, "parameter", callee->param_count, arguments);
        return;
    }
    const struct operand *elements = function->body->elements.at;
    for (uint32_t i = 0; i < returns; i++)
        check_argument(c, function, &elements[call->returns->first + i], return_of(callee, i),
                       true);
    for (uint32_t i = 0; i < arguments; i++)
        check_argument(c, function, &elements[call->arguments->first + i], param_of(callee, i),
                       false);
    note_small(call, callee, reach);
}

// ---- what is called ---------------------------------------------------------------------------

static void check_targets(struct checker *c, struct function *function, const struct call *call,
                          const struct label *label, struct reach *reach) {
    const struct body *body = function->body;
    const struct label_list *list = &body->label_lists.at[label->list];
    if (label->kind == LABEL_CALLPROTOTYPE) {
        if (list->prototype != NO_INDEX)
            check_against(c, function, call, &c->module->functions.at[list->prototype], reach);
        return;
    }
    for (uint32_t i = 0; i < list->element_count; i++) {
        const struct operand *element = &body->elements.at[list->element_first + i];
        if (element->kind == OPERAND_FUNC)
            check_against(c, function, call, &c->module->functions.at[element->function], reach);
    }
}

static void check_indirect(struct checker *c, struct function *function, const struct call *call,
                           struct reach *reach) {
    reach->calls_indirectly = true;
    const struct operand *prototype = call->prototype;
    const struct variable *target = module_variable(c->module, function, call->callee->var);
    if (target->type == TYPE_PRED) {
        structure_report(c, RULE_CALL_TARGET, operand_span(call->callee),
                         "a predicate holds no address to call");
        return;
    }
    if (prototype != NULL && prototype->kind == OPERAND_NAME) return;
    if (prototype == NULL || prototype->kind != OPERAND_LABEL) {
        struct finding *finding = structure_report(c, RULE_CALL_PROTOTYPE, call->span,
                                                   "a call through a register needs a prototype");
        structure_help(
            c, finding,
            "write `LABEL: .callprototype _ (...);` above, and `, LABEL` at the end of the call");
        return;
    }
    const struct label *label = &function->body->labels.at[prototype->label];
    bool above = label->offset < call->span.begin;
    if (label->list == NO_INDEX || label->kind == LABEL_BRANCHTARGETS || !above)
        structure_report(c, RULE_CALL_PROTOTYPE, operand_span(prototype),
                         "`%.*s` is not a `.callprototype` or `.calltargets` above this call",
                         STR_ARG(structure_name(c, label->name)));
    else
        check_targets(c, function, call, label, reach);
}

static void check_direct(struct checker *c, struct function *function, const struct call *call,
                         struct reach *reach) {
    const struct function *callee = &c->module->functions.at[call->callee->function];
    struct str name = structure_name(c, callee->name);
    if (callee->kind == FUNCTION_ENTRY) {
        struct finding *finding =
            structure_report(c, RULE_CALL_TARGET, operand_span(call->callee),
                             "`%.*s` is an entry; only functions are called", STR_ARG(name));
        structure_label(c, finding, callee->span, "declared here");
    } else if (call->prototype != NULL)
        structure_report(c, RULE_CALL_PROTOTYPE, operand_span(call->prototype),
                         "a call by name takes no prototype");
    else
        check_against(c, function, call, callee, reach);
}

void check_call(struct checker *c, struct function *function, const struct instruction *instruction,
                struct reach *reach) {
    struct call call = take_apart(function->body, instruction);
    if (call.callee == NULL) return;
    switch (call.callee->kind) {
    case OPERAND_FUNC: check_direct(c, function, &call, reach); return;
    case OPERAND_REG: check_indirect(c, function, &call, reach); return;
    case OPERAND_NAME: return; // reported where names are resolved
    default:
        structure_report(c, RULE_CALL_TARGET, operand_span(call.callee),
                         "only a function or a register that holds its address is called");
    }
}
