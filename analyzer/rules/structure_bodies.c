#include "analyzer/rules/structure.h"

// Bodies: their variables, labels and targets, and what they reach of the module.

enum {
    FORM_KNOWN = 1,
    FORM_CALL = 2,
    FORM_BRX = 4,
    FORM_BRA = 8,
    FORM_MOVES_32 = 16,    // mov of 32 bits
    FORM_ADDRESS = 32,     // its address is generic or of .global
    FORM_CONVERTS_32 = 64, // cvta of 32 bits
    FORM_CTA_GROUP_1 = 128,
    FORM_CTA_GROUP_2 = 256,
    FORM_READS_PARAM = 512, // ld.param
    FORM_WRITES_PARAM = 1024,
};

static bool opcode_takes_address(const struct isa_form *form) {
    switch (form->opcode) {
    case OP_ld:
    case OP_ldu:
    case OP_st:
    case OP_atom:
    case OP_red:
    case OP_prefetch:
    case OP_prefetchu:
    case OP_discard:
    case OP_applypriority:
    case OP_mbarrier:
    case OP_multimem: return form->space_count == 0 || form->spaces[0] == SPACE_GLOBAL;
    default: return false;
    }
}

static uint16_t flags_of(const struct isa_form *form) {
    unsigned flags = FORM_KNOWN;
    bool of_32_bits = form->type_count > 0 && isa_types[form->types[0]].bits == 32;
    if (form->opcode == OP_call) flags |= FORM_CALL;
    if (form->opcode == OP_brx) flags |= FORM_BRX;
    if (form->opcode == OP_bra) flags |= FORM_BRA;
    if (form->opcode == OP_mov && of_32_bits) flags |= FORM_MOVES_32;
    if (form->opcode == OP_cvta && of_32_bits) flags |= FORM_CONVERTS_32;
    if (opcode_takes_address(form)) flags |= FORM_ADDRESS;
    bool of_param = form->space_count > 0 &&
                    (form->spaces[0] == SPACE_PARAM || form->spaces[0] == SPACE_PARAM_FUNC ||
                     form->spaces[0] == SPACE_PARAM_ENTRY);
    if (of_param && form->opcode == OP_ld) flags |= FORM_READS_PARAM;
    if (of_param && form->opcode == OP_st) flags |= FORM_WRITES_PARAM;
    if (isa_form_has(form, MOD_cta_group__1)) flags |= FORM_CTA_GROUP_1;
    if (isa_form_has(form, MOD_cta_group__2)) flags |= FORM_CTA_GROUP_2;
    return (uint16_t)flags;
}

static uint16_t form_flags(struct checker *c, uint32_t form) {
    while (c->form_flags.n <= form) (void)vec_push(c->arena, &c->form_flags);
    uint16_t *flags = &c->form_flags.at[form];
    if (*flags == 0) *flags = flags_of(&c->module->forms.at[form]);
    return *flags;
}

static struct span opcode_span(const struct instruction *instruction) {
    return (struct span){instruction->offset, instruction->opcode_end};
}

static struct span operand_span(const struct operand *operand) {
    return (struct span){operand->offset, operand->end};
}

struct reach *structure_reach(struct checker *c, uint32_t function) {
    while (c->reaches.n <= function) (void)vec_push(c->arena, &c->reaches);
    return &c->reaches.at[function];
}

// ---- what is used -----------------------------------------------------------------------------

static bool first_use(struct checker *c, name_id name, uint32_t function, uint8_t kind) {
    // A call after an address is worth noting once more; calls are what most uses are.
    while (c->function_stamps.n <= name) (void)vec_push(c->arena, &c->function_stamps);
    uint32_t stamp = function + 1;
    if (c->function_stamps.at[name] == stamp && kind != USE_CALL) return false;
    bool repeated = c->function_stamps.at[name] == stamp;
    c->function_stamps.at[name] = stamp;
    if (!repeated) return true;
    const struct reach *reach = structure_reach(c, function);
    for (uint32_t i = c->uses.n; i-- > reach->use_first && c->uses.n - i < 16;)
        if (c->uses.at[i].name == name && c->uses.at[i].kind == kind) return false;
    return true;
}

static void use_function(struct checker *c, uint32_t function, const struct operand *operand,
                         uint8_t kind) {
    const struct function *callee = &c->module->functions.at[operand->function];
    if (callee->kind == FUNCTION_PROTOTYPE || !first_use(c, callee->name, function, kind)) return;
    *vec_push(c->arena, &c->uses) =
        (struct function_use){callee->name, operand->offset, operand->end, kind};
}

static void use_shared(struct checker *c, uint32_t function, const struct operand *operand) {
    const struct variable *variable = &c->module->variables.at[operand->var];
    while (c->variable_stamps.n <= operand->var) (void)vec_push(c->arena, &c->variable_stamps);
    if (c->variable_stamps.at[operand->var] == function + 1) return;
    c->variable_stamps.at[operand->var] = function + 1;
    uint64_t size = 0;
    if (variable->linkage == LINKAGE_EXTERN && variable->unsized) return;
    (void)variable_size(variable, &size);
    *vec_push(c->arena, &c->shared) =
        (struct shared_use){size, variable_align(variable), operand->var, variable->span};
}

static void use_operand(struct checker *c, uint32_t function, const struct operand *operand,
                        uint8_t kind) {
    if (operand->kind == OPERAND_FUNC)
        use_function(c, function, operand, kind);
    else if (operand->kind == OPERAND_VAR && !(operand->var & VAR_LOCAL) &&
             c->module->variables.at[operand->var].space == SPACE_SHARED)
        use_shared(c, function, operand);
}

static void declare_shared(struct checker *c, const struct variable *variable) {
    uint64_t size;
    if (variable->space != SPACE_SHARED || !variable_size(variable, &size)) return;
    *vec_push(c->arena, &c->shared) =
        (struct shared_use){size, variable_align(variable), NO_INDEX, variable->span};
}

// ---- 32-bit addresses -------------------------------------------------------------------------

static void address_32(struct checker *c, struct span span) {
    if (c->address_32_reported || c->module->address_size == 32) return;
    c->address_32_reported = true; // one is enough: the whole file is refused
    struct finding *finding =
        structure_report(c, RULE_ADDRESS_32_BIT, span, "a global or generic address of 32 bits");
    structure_note(c, finding, "compilation with 32-bit addresses ended with CUDA 13 and sm_90");
    structure_help(c, finding, "use a 64-bit register");
}

static bool is_register_32(struct checker *c, struct function *function,
                           const struct operand *operand) {
    if (operand->kind != OPERAND_REG) return false;
    const struct variable *variable = module_variable(c->module, function, operand->var);
    return variable->vec == 1 && isa_types[variable->type].bits == 32;
}

static void check_address(struct checker *c, struct function *function,
                          const struct operand *operand) {
    if (operand->kind != OPERAND_ADDRESS || operand->count == 0) return;
    const struct operand *base = &function->body->elements.at[operand->first];
    if (is_register_32(c, function, base) && !(base->flags & OPERAND_INDEXED))
        address_32(c, operand_span(base));
}

static void check_moved_address(struct checker *c, struct function *function,
                                const struct operand *operands, uint32_t count) {
    if (count != 2 || operands[1].kind != OPERAND_VAR || operands[1].value != 0) return;
    const struct variable *variable = module_variable(c->module, function, operands[1].var);
    if (variable->space == SPACE_GLOBAL && isa_types[variable->type].class != TYPE_CLASS_O)
        address_32(c, operand_span(&operands[1]));
}

// ---- parameters -------------------------------------------------------------------------------

static void check_parameter_access(struct checker *c, const struct function *function,
                                   const struct operand *operands, uint32_t count, bool writes) {
    if (count < 2) return;
    const struct operand *operand = &operands[writes ? 0 : 1];
    if (operand->kind != OPERAND_ADDRESS || operand->count == 0) return;
    const struct operand *base = &function->body->elements.at[operand->first];
    if (base->kind != OPERAND_VAR || !(base->var & VAR_LOCAL)) return;
    uint32_t index = base->var & ~VAR_LOCAL;
    bool is_return = index < function->return_count;
    if (index >= function->return_count + function->param_count || is_return == writes) return;
    const struct variable *variable = &function->variables.at[index];
    if (variable->space != SPACE_PARAM) return;
    structure_report(c, RULE_PARAMETER_ACCESS, operand_span(operand),
                     writes ? "`%.*s` is a parameter of this function: it is read only"
                            : "`%.*s` is what this function returns: it is written only",
                     STR_ARG(structure_name(c, variable->name)));
}

// ---- labels -----------------------------------------------------------------------------------

static void check_branch(struct checker *c, const struct body *body,
                         const struct operand *operand) {
    if (operand->kind != OPERAND_LABEL || body->labels.at[operand->label].kind == LABEL_PLAIN)
        return;
    structure_report(
        c, RULE_CALL_TARGET, operand_span(operand), "`%.*s` is no place to branch to: it names %s",
        STR_ARG(structure_name(c, body->labels.at[operand->label].name)),
        body->labels.at[operand->label].kind == LABEL_BRANCHTARGETS ? "a list of branch targets"
                                                                    : "call targets");
}

static void check_indexed_branch(struct checker *c, const struct body *body,
                                 const struct instruction *instruction,
                                 const struct operand *operand) {
    if (operand->kind == OPERAND_NAME) return;
    bool good = operand->kind == OPERAND_LABEL &&
                body->labels.at[operand->label].kind == LABEL_BRANCHTARGETS &&
                body->labels.at[operand->label].offset < instruction->offset;
    if (good) return;
    struct finding *finding =
        structure_report(c, RULE_CALL_TARGET, operand_span(operand),
                         "brx.idx needs the label of a `.branchtargets` list above it");
    structure_help(c, finding, "write `LABEL: .branchtargets A, B;` before this instruction");
}

static void check_list(struct checker *c, uint32_t function, const struct body *body,
                       const struct label *label) {
    const struct label_list *list = &body->label_lists.at[label->list];
    for (uint32_t i = 0; i < list->element_count; i++) {
        const struct operand *element = &body->elements.at[list->element_first + i];
        if (element->kind == OPERAND_NAME) continue;
        if (label->kind == LABEL_CALLTARGETS) {
            if (element->kind == OPERAND_FUNC)
                use_function(c, function, element, USE_TARGET);
            else
                structure_report(c, RULE_CALL_TARGET, operand_span(element),
                                 "`.calltargets` lists functions");
        } else if (element->kind != OPERAND_LABEL)
            structure_report(c, RULE_CALL_TARGET, operand_span(element),
                             "`.branchtargets` lists labels");
    }
}

static void check_body_labels(struct checker *c, uint32_t function, const struct body *body) {
    static const uint8_t features[] = {[LABEL_BRANCHTARGETS] = FEATURE_BRANCHTARGETS,
                                       [LABEL_CALLTARGETS] = FEATURE_CALLTARGETS,
                                       [LABEL_CALLPROTOTYPE] = FEATURE_CALLPROTOTYPE};
    for (uint32_t i = 0; i < body->labels.n; i++) {
        const struct label *label = &body->labels.at[i];
        if (label->kind == LABEL_PLAIN) continue;
        struct span span = {label->offset, label->offset + structure_name(c, label->name).len};
        structure_need(c, (enum isa_feature)features[label->kind], span);
        if (label->list != NO_INDEX && label->kind != LABEL_CALLPROTOTYPE)
            check_list(c, function, body, label);
    }
}

// ---- instructions -----------------------------------------------------------------------------

static void check_flags(struct checker *c, struct function *function,
                        const struct instruction *instruction, uint16_t flags,
                        struct reach *reach) {
    const struct body *body = function->body;
    const struct operand *operands = &body->operands.at[instruction->operand_first];
    uint32_t count = instruction->operand_count;
    if (flags & FORM_CALL) check_call(c, function, instruction, reach);
    if (flags & FORM_BRA && count == 1) check_branch(c, body, &operands[0]);
    if (flags & FORM_BRX && count == 2) check_indexed_branch(c, body, instruction, &operands[1]);
    if (flags & FORM_ADDRESS)
        for (uint32_t i = 0; i < count; i++) check_address(c, function, &operands[i]);
    if (flags & FORM_MOVES_32) check_moved_address(c, function, operands, count);
    if (flags & (FORM_READS_PARAM | FORM_WRITES_PARAM))
        check_parameter_access(c, function, operands, count, (flags & FORM_WRITES_PARAM) != 0);
    if (flags & FORM_CONVERTS_32) address_32(c, opcode_span(instruction));
    if (flags & FORM_CTA_GROUP_1 && reach->cta_group[0].end == 0)
        reach->cta_group[0] = opcode_span(instruction);
    if (flags & FORM_CTA_GROUP_2 && reach->cta_group[1].end == 0)
        reach->cta_group[1] = opcode_span(instruction);
}

static void use_operands(struct checker *c, uint32_t function, const struct body *body,
                         const struct instruction *instruction, bool is_call) {
    const struct operand *operands = &body->operands.at[instruction->operand_first];
    for (uint32_t i = 0; i < instruction->operand_count; i++)
        use_operand(c, function, &operands[i], is_call ? USE_CALL : USE_ADDRESS);
}

static void check_instructions(struct checker *c, uint32_t index) {
    struct function *function = &c->module->functions.at[index];
    const struct body *body = function->body;
    struct reach reach = *structure_reach(c, index);
    for (uint32_t i = 0; i < body->instructions.n; i++) {
        const struct instruction *instruction = &body->instructions.at[i];
        uint16_t flags = form_flags(c, instruction->form);
        use_operands(c, index, body, instruction, (flags & FORM_CALL) != 0);
        if (flags != FORM_KNOWN) check_flags(c, function, instruction, flags, &reach);
    }
    for (uint32_t i = 0; i < body->elements.n; i++)
        use_operand(c, index, &body->elements.at[i], USE_ADDRESS);
    *structure_reach(c, index) = reach;
}

// An inlined_at names a place that a .loc before it has.
static bool has_location(const struct body *body, uint32_t before, const struct loc *loc) {
    // Compilers name a place soon after it was stated; what is further back is taken on trust.
    enum { LOOK_BACK = 4096 };
    for (uint32_t i = before, looked = 0; i-- > 0; looked++) {
        if (looked == LOOK_BACK) return true;
        const struct loc *other = &body->locs.at[i];
        if (other->file == loc->inlined_file && other->line == loc->inlined_line &&
            other->column == loc->inlined_column)
            return true;
    }
    return false;
}

static void check_locations(struct checker *c, const struct body *body) {
    uint32_t reported = 0;
    for (uint32_t i = 0; i < body->locs.n && reported < 16; i++) {
        const struct loc *loc = &body->locs.at[i];
        if (loc->function_name == 0) continue;
        struct span span = {loc->offset, loc->offset + 4};
        if (reported == 0 && !structure_need(c, FEATURE_INLINED_AT, span)) return;
        if (has_location(body, i, loc)) continue;
        reported++;
        structure_report(c, RULE_INLINED_AT, span, "no `.loc %u %u %u` stands before this one",
                         loc->inlined_file, loc->inlined_line, loc->inlined_column);
    }
}

static void check_variables(struct checker *c, const struct function *function) {
    for (uint32_t i = function->return_count + function->param_count; i < function->variables.n;
         i++) {
        const struct variable *variable = &function->variables.at[i];
        check_variable(c, variable, function);
        declare_shared(c, variable);
        count_constant(c, variable);
    }
}

void check_body(struct checker *c, uint32_t index) {
    const struct function *function = &c->module->functions.at[index];
    if (function->body == NULL) return;
    struct reach *reach = structure_reach(c, index);
    reach->use_first = c->uses.n;
    reach->shared_first = c->shared.n;
    check_variables(c, function);
    check_body_labels(c, index, function->body);
    check_locations(c, function->body);
    check_instructions(c, index);
    reach = structure_reach(c, index);
    reach->use_count = c->uses.n - reach->use_first;
    reach->shared_count = c->shared.n - reach->shared_first;
}
