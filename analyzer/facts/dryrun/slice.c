#include "analyzer/facts/dryrun/slice.h"

enum memory_kind slice_memory_kind(const struct isa_form *form) {
    switch (form->opcode) {
    case OP_ld: case OP_ldu: return MEMORY_LOAD;
    case OP_st: return MEMORY_STORE;
    case OP_atom: return MEMORY_ATOMIC;
    case OP_red: return MEMORY_REDUCE;
    case OP_cp: case OP_ldmatrix: case OP_stmatrix: case OP_mbarrier: case OP_wmma:
    case OP_multimem: return MEMORY_OTHER;
    default: return MEMORY_NONE;
    }
}

bool slice_defines(const struct isa_form *form, const struct instruction *instruction,
                   const struct body *body) {
    if (instruction->operand_count == 0) return false;
    switch (form->opcode) {
    case OP_st: case OP_red: case OP_bra: case OP_brx: case OP_call: case OP_membar: case OP_fence:
    case OP_ret: case OP_exit: case OP_trap: case OP_brkpt: case OP_prefetch: case OP_prefetchu:
    case OP_nanosleep: case OP_setmaxnreg: case OP_pmevent: case OP_griddepcontrol: case OP_cp:
    case OP_stackrestore: case OP_stmatrix: case OP_sust: case OP_sured: case OP_tensormap:
    case OP_discard: case OP_applypriority:
        return false;
    case OP_bar: case OP_barrier:
        if (!isa_form_has(form, MOD_red)) return false;
        break;
    case OP_tcgen05:
        if (!isa_form_has(form, MOD_ld)) return false;
        break;
    default: break;
    }
    uint8_t kind = body->operands.at[instruction->operand_first].kind;
    return kind == OPERAND_REG || kind == OPERAND_VECTOR || kind == OPERAND_PAIR || kind == OPERAND_SINK;
}

// Registers -------------------------------------------------------------------------------------

static uint32_t reg_hash(var_ref var, uint32_t number, uint32_t component) {
    uint64_t h = ((uint64_t)var << 32 | number) * 0x9e3779b97f4a7c15u + component;
    return (uint32_t)((h * 0x9e3779b97f4a7c15u) >> 32);
}

static uint32_t find_reg(const struct slice_function *function, var_ref var, uint32_t number,
                         uint32_t component, uint32_t *slot) {
    uint32_t mask = function->slot_count - 1, at = reg_hash(var, number, component) & mask;
    for (;; at = (at + 1) & mask) {
        *slot = at;
        if (function->slots[at] == 0) return NO_INDEX;
        const struct slice_reg *reg = &function->regs.at[function->slots[at] - 1];
        if (reg->var == var && reg->number == number && reg->component == component)
            return function->slots[at] - 1;
    }
}

uint32_t slice_reg(const struct slice_function *function, const struct operand *operand) {
    uint32_t slot;
    if (operand->kind != OPERAND_REG || function->slot_count == 0) return NO_INDEX;
    return find_reg(function, operand->var, operand->number, operand->component, &slot);
}

static void grow_slots(struct slice_function *function, struct arena *arena) {
    uint32_t count = function->slot_count ? function->slot_count * 2 : 64, slot;
    function->slots = arena_array(arena, uint32_t, count);
    function->slot_count = count;
    for (uint32_t i = 0; i < function->regs.n; i++) {
        const struct slice_reg *reg = &function->regs.at[i];
        (void)find_reg(function, reg->var, reg->number, reg->component, &slot);
        function->slots[slot] = i + 1;
    }
}

static uint32_t add_reg(const struct module *module, struct slice_function *function,
                        struct arena *arena, const struct operand *operand) {
    if (function->regs.n * 2 >= function->slot_count) grow_slots(function, arena);
    uint32_t slot;
    uint32_t found = find_reg(function, operand->var, operand->number, operand->component, &slot);
    if (found != NO_INDEX) return found;
    const struct variable *variable = operand->var & VAR_LOCAL
                                          ? &function->decl->variables.at[operand->var & ~VAR_LOCAL]
                                          : &module->variables.at[operand->var];
    struct slice_reg *reg = vec_push(arena, &function->regs);
    reg->var = operand->var;
    reg->number = operand->number;
    reg->component = operand->component;
    uint32_t bits = isa_types[variable->type].bits;
    reg->bits = (uint8_t)(bits == 1 ? 1 : bits <= 16 ? 16 : bits <= 32 ? 32 : 64);
    function->slots[slot] = function->regs.n;
    return function->regs.n - 1;
}

// Mentions --------------------------------------------------------------------------------------

struct collector {
    const struct module *module;
    struct slice_function *function;
    struct arena *arena;
};

static void collect(const struct collector *to, const struct operand *operand, enum ref_role role,
                    uint8_t index, uint32_t depth) {
    const struct body *body = to->function->body;
    switch (operand->kind) {
    case OPERAND_REG: {
        if (operand->var == VAR_NONE) return;
        uint32_t reg = add_reg(to->module, to->function, to->arena, operand);
        *vec_push(to->arena, &to->function->refs) = (struct slice_ref){reg, (uint8_t)role, index};
        return;
    }
    case OPERAND_VECTOR: case OPERAND_LIST: case OPERAND_PAIR: case OPERAND_ADDRESS:
        if (depth > 4) return;
        for (uint32_t i = 0; i < operand->count; i++) {
            bool address = operand->kind == OPERAND_ADDRESS;
            collect(to, &body->elements.at[operand->first + i], address ? REF_ADDRESS : role, index,
                    depth + 1);
        }
        return;
    default: return;
    }
}

static void collect_instruction(const struct collector *to, const struct instruction *instruction) {
    const struct body *body = to->function->body;
    const struct isa_form *form = &to->module->forms.at[instruction->form];
    bool defines = slice_defines(form, instruction, body);
    if (instruction->guard != GUARD_NONE)
        collect(to, &body->elements.at[instruction->guard_operand], REF_GUARD, 255, 0);
    for (uint32_t i = 0; i < instruction->operand_count; i++) {
        const struct operand *operand = &body->operands.at[instruction->operand_first + i];
        enum ref_role role = i == 0 && defines ? REF_DEF : REF_USE;
        // (results), function, (arguments): with one list only, it is the arguments.
        if (form->opcode == OP_call)
            role = i == 0 && operand->kind == OPERAND_LIST && instruction->operand_count > 1 ? REF_DEF
                                                                                            : REF_USE;
        collect(to, operand, role, (uint8_t)(i < 254 ? i : 254), 0);
    }
}

static void collect_function(struct module *module, struct slice_function *function,
                             struct arena *arena) {
    const struct body *body = function->body;
    uint32_t n = body->instructions.n;
    struct collector to = {module, function, arena};
    function->ref_first = arena_array(arena, uint32_t, n + 1);
    function->marks = arena_array(arena, uint8_t, n + 1);
    function->var_needed = arena_array(arena, uint8_t, function->decl->variables.n + 1);
    grow_slots(function, arena);
    for (uint32_t i = 0; i < n; i++) {
        function->ref_first[i] = function->refs.n;
        collect_instruction(&to, &body->instructions.at[i]);
    }
    function->ref_first[n] = function->refs.n;
}

static void list_definitions(struct slice_function *function, struct arena *arena) {
    uint32_t n = function->body->instructions.n, at = 0;
    for (uint32_t i = 0; i < function->refs.n; i++)
        if (function->refs.at[i].role == REF_DEF)
            function->regs.at[function->refs.at[i].reg].def_count++;
    for (uint32_t r = 0; r < function->regs.n; r++) {
        function->regs.at[r].def_first = at;
        at += function->regs.at[r].def_count;
        function->regs.at[r].def_count = 0;
    }
    function->defs = arena_array(arena, uint32_t, at ? at : 1);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = function->ref_first[i]; j < function->ref_first[i + 1]; j++) {
            if (function->refs.at[j].role != REF_DEF) continue;
            struct slice_reg *reg = &function->regs.at[function->refs.at[j].reg];
            function->defs[reg->def_first + reg->def_count++] = i;
        }
}

// Reachable functions ---------------------------------------------------------------------------

static const struct operand *called(const struct body *body, const struct instruction *instruction) {
    for (uint32_t i = 0; i < instruction->operand_count; i++) {
        const struct operand *operand = &body->operands.at[instruction->operand_first + i];
        if (operand->kind == OPERAND_FUNC) return operand;
    }
    return NULL;
}

static void add_function(struct slice *slice, struct arena *arena, uint32_t function) {
    const struct function *decl = &slice->module->functions.at[function];
    if (slice->by_function[function] != NO_INDEX || !decl->has_body || decl->body == NULL) return;
    slice->by_function[function] = slice->functions.n;
    struct slice_function *added = vec_push(arena, &slice->functions);
    added->function = function;
    added->decl = decl;
    added->body = decl->body;
}

static void reach(struct slice *slice, struct arena *arena, uint32_t entry) {
    add_function(slice, arena, entry);
    for (uint32_t f = 0; f < slice->functions.n; f++) {
        const struct body *body = slice->functions.at[f].body;
        for (uint32_t i = 0; i < body->instructions.n; i++) {
            const struct instruction *instruction = &body->instructions.at[i];
            if (slice->module->forms.at[instruction->form].opcode != OP_call) continue;
            *vec_push(arena, &slice->functions.at[f].calls) = i;
            const struct operand *target = called(body, instruction);
            if (target == NULL || target->function >= slice->module->functions.n) continue;
            add_function(slice, arena, target->function);
            uint32_t callee = slice->by_function[target->function];
            if (callee != NO_INDEX)
                *vec_push(arena, &slice->functions.at[callee].callers) = (struct slice_caller){f, i};
        }
    }
}

// Whether every path from the entry of `function` to its end passes a call of itself: blocks without
// such a call, walked from the first, never reach one that leaves.
static bool recurs_always(const struct slice *slice, const struct slice_function *function,
                          struct arena *arena) {
    const struct cfg *cfg = &function->cfg;
    uint32_t n = cfg->blocks.n, depth = 0;
    uint32_t *stack = arena_array(arena, uint32_t, n + 1);
    bool *seen = arena_array(arena, bool, n + 1);
    if (n == 0) return false;
    stack[depth++] = 0;
    seen[0] = true;
    while (depth > 0) {
        const struct cfg_block *block = &cfg->blocks.at[stack[--depth]];
        bool calls = false;
        for (uint32_t i = block->first; i < block->end && !calls; i++) {
            const struct instruction *instruction = &function->body->instructions.at[i];
            if (slice->module->forms.at[instruction->form].opcode != OP_call) continue;
            const struct operand *target = called(function->body, instruction);
            calls = target != NULL && target->function == function->function &&
                    instruction->guard == GUARD_NONE;
        }
        if (calls) continue;
        if (block->leaves) return false;
        for (uint32_t i = 0; i < block->succ_count; i++) {
            uint32_t to = cfg->edges.at[block->succ_first + i];
            if (!seen[to]) seen[to] = true, stack[depth++] = to;
        }
    }
    return true;
}

// Marking ---------------------------------------------------------------------------------------

struct work { uint32_t function, reg; };
struct marker {
    struct slice *slice;
    struct arena *arena;
    uint8_t mark;
    VEC_OF(struct work) work;
};

static void mark_reg(struct marker *marker, uint32_t function, uint32_t reg) {
    struct slice_reg *r = &marker->slice->functions.at[function].regs.at[reg];
    if (r->marks & marker->mark) return;
    r->marks |= marker->mark;
    *vec_push(marker->arena, &marker->work) = (struct work){function, reg};
}

static const struct isa_form *form_of(const struct slice *slice, const struct slice_function *function,
                                      uint32_t instruction) {
    return &slice->module->forms.at[function->body->instructions.at[instruction].form];
}

// The space of a load or store; SPACE_NONE is generic.
static uint8_t space_of(const struct isa_form *form) {
    return form->space_count ? form->spaces[0] : (uint8_t)SPACE_NONE;
}

static bool is_param_space(uint8_t space) {
    return space == SPACE_PARAM || space == SPACE_PARAM_FUNC || space == SPACE_PARAM_ENTRY;
}

// Marks a set of refs of one instruction.
static void mark_refs(struct marker *marker, uint32_t f, uint32_t instruction, uint32_t roles) {
    const struct slice_function *function = &marker->slice->functions.at[f];
    for (uint32_t j = function->ref_first[instruction]; j < function->ref_first[instruction + 1]; j++)
        if (roles >> function->refs.at[j].role & 1) mark_reg(marker, f, function->refs.at[j].reg);
}

#define ROLES_SOURCES (1u << REF_USE | 1u << REF_ADDRESS | 1u << REF_GUARD)
#define ROLES_ADDRESS (1u << REF_ADDRESS | 1u << REF_GUARD)
#define ROLES_GUARD (1u << REF_GUARD)

// Results that depend on nothing the dry run knows: their sources are not needed.
static bool is_opaque(const struct isa_form *form) {
    switch (form->opcode) {
    case OP_atom: case OP_mma: case OP_wmma: case OP_wgmma: case OP_tex: case OP_tld4: case OP_txq:
    case OP_suld: case OP_suq: case OP_ldmatrix: case OP_movmatrix: case OP_tcgen05:
    case OP_createpolicy: case OP_mbarrier: case OP_clusterlaunchcontrol: case OP_alloca:
    case OP_stacksave: case OP_multimem: case OP_bar: case OP_barrier: case OP_fns: case OP_sin:
    case OP_cos: case OP_lg2: case OP_ex2: case OP_tanh: case OP_testp: case OP_copysign:
        return true;
    default: return false;
    }
}

// A .param variable whose contents are needed: stores to it, and what calls bind to it.
static void need_param(struct marker *marker, uint32_t f, uint32_t variable);

static void need_argument(struct marker *marker, uint32_t f, const struct operand *operand) {
    if (operand->kind == OPERAND_REG) {
        uint32_t reg = slice_reg(&marker->slice->functions.at[f], operand);
        if (reg != NO_INDEX) mark_reg(marker, f, reg);
    } else if (operand->kind == OPERAND_VAR && operand->var & VAR_LOCAL) {
        need_param(marker, f, operand->var & ~VAR_LOCAL);
    }
}

static void need_returned(struct marker *marker, uint32_t callee, uint32_t index) {
    const struct slice_function *function = &marker->slice->functions.at[callee];
    if (index >= function->decl->return_count) return;
    const struct variable *variable = &function->decl->variables.at[index];
    if (variable->space != SPACE_REG) {
        need_param(marker, callee, index);
        return;
    }
    struct operand reg = {.kind = OPERAND_REG, .var = index | VAR_LOCAL};
    uint32_t found = slice_reg(function, &reg);
    if (found != NO_INDEX) mark_reg(marker, callee, found);
}

// Operands of a call: its result list and its argument list, where they stand.
struct call_parts { const struct operand *results, *arguments; uint32_t callee; };

static struct call_parts call_parts(const struct slice *slice, const struct body *body,
                                    const struct instruction *instruction) {
    struct call_parts parts = {NULL, NULL, NO_INDEX};
    bool target = false;
    for (uint32_t i = 0; i < instruction->operand_count; i++) {
        const struct operand *operand = &body->operands.at[instruction->operand_first + i];
        if (operand->kind == OPERAND_LIST) {
            if (!target) parts.results = operand;
            else parts.arguments = operand;
        } else {
            target = true;
            if (operand->kind == OPERAND_FUNC && operand->function < slice->module->functions.n)
                parts.callee = slice->by_function[operand->function];
        }
    }
    return parts;
}

// What callers pass for a parameter.
static void need_in_callers(struct marker *marker, uint32_t f, uint32_t variable) {
    const struct slice_function *function = &marker->slice->functions.at[f];
    const struct function *decl = function->decl;
    if (variable < decl->return_count || variable >= decl->return_count + decl->param_count) return;
    uint32_t index = variable - decl->return_count;
    for (uint32_t i = 0; i < function->callers.n; i++) {
        struct slice_caller caller = function->callers.at[i];
        const struct body *body = marker->slice->functions.at[caller.function].body;
        struct call_parts parts =
            call_parts(marker->slice, body, &body->instructions.at[caller.instruction]);
        if (parts.arguments && index < parts.arguments->count)
            need_argument(marker, caller.function, &body->elements.at[parts.arguments->first + index]);
    }
}

// All stores to .param variables of a function, and all that its calls return: they are few, and
// which of them meet is not worth telling apart.
static void need_params_of(struct marker *marker, uint32_t f) {
    struct slice_function *function = &marker->slice->functions.at[f];
    if (function->params_needed) return;
    function->params_needed = true;
    for (uint32_t i = 0; i < function->body->instructions.n; i++) {
        const struct isa_form *form = form_of(marker->slice, function, i);
        if (form->opcode == OP_st && is_param_space(space_of(form)))
            mark_refs(marker, f, i, ROLES_SOURCES);
    }
    for (uint32_t i = 0; i < function->calls.n; i++) {
        const struct instruction *at = &function->body->instructions.at[function->calls.at[i]];
        struct call_parts parts = call_parts(marker->slice, function->body, at);
        for (uint32_t j = 0; parts.callee != NO_INDEX && parts.results && j < parts.results->count; j++)
            need_returned(marker, parts.callee, j);
    }
}

static void need_param(struct marker *marker, uint32_t f, uint32_t variable) {
    struct slice_function *function = &marker->slice->functions.at[f];
    if (variable >= function->decl->variables.n || function->var_needed[variable]) return;
    function->var_needed[variable] = 1;
    need_params_of(marker, f);
    need_in_callers(marker, f, variable);
}

static void need_all_params(struct marker *marker, uint32_t f) {
    const struct function *decl = marker->slice->functions.at[f].decl;
    for (uint32_t v = 0; v < decl->variables.n; v++)
        if (is_param_space(decl->variables.at[v].space)) need_param(marker, f, v);
}

// Stores that may write a space whose contents are now needed.
static void need_stores(struct marker *marker, bool shared, bool global, bool local) {
    struct slice *slice = marker->slice;
    for (uint32_t f = 0; f < slice->functions.n; f++) {
        const struct slice_function *function = &slice->functions.at[f];
        for (uint32_t i = 0; i < function->body->instructions.n; i++) {
            const struct isa_form *form = form_of(slice, function, i);
            if (slice_memory_kind(form) != MEMORY_STORE) continue;
            uint8_t space = space_of(form);
            bool is_shared = space == SPACE_SHARED || space == SPACE_SHARED_CTA || space == SPACE_SHARED_CLUSTER;
            if (space == SPACE_NONE || (shared && is_shared) || (global && space == SPACE_GLOBAL) ||
                (local && space == SPACE_LOCAL))
                mark_refs(marker, f, i, ROLES_SOURCES);
        }
    }
}

static void need_contents(struct marker *marker, uint32_t f, uint32_t instruction) {
    struct slice *slice = marker->slice;
    const struct slice_function *function = &slice->functions.at[f];
    const struct isa_form *form = form_of(slice, function, instruction);
    uint8_t space = space_of(form);
    if (is_param_space(space)) {
        const struct instruction *at = &function->body->instructions.at[instruction];
        if (at->operand_count < 2) return;
        const struct operand *address = &function->body->operands.at[at->operand_first + 1];
        if (address->kind != OPERAND_ADDRESS || address->count == 0) return;
        const struct operand *base = &function->body->elements.at[address->first];
        if (base->kind == OPERAND_VAR && base->var & VAR_LOCAL) need_param(marker, f, base->var & ~VAR_LOCAL);
        else need_all_params(marker, f);
        return;
    }
    bool generic = space == SPACE_NONE;
    bool shared = generic || space == SPACE_SHARED || space == SPACE_SHARED_CTA || space == SPACE_SHARED_CLUSTER;
    bool global = generic || space == SPACE_GLOBAL, local = generic || space == SPACE_LOCAL;
    shared = shared && !slice->shared_needed;
    global = global && !slice->global_needed;
    local = local && !slice->local_needed;
    slice->shared_needed |= shared;
    slice->global_needed |= global;
    slice->local_needed |= local;
    if (shared || global || local) need_stores(marker, shared, global, local);
}

// A needed definition: its sources are needed too.
static void need_definition(struct marker *marker, uint32_t f, uint32_t instruction) {
    struct slice_function *function = &marker->slice->functions.at[f];
    if (function->marks[instruction] & MARK_NEEDED) return;
    function->marks[instruction] |= MARK_NEEDED;
    const struct isa_form *form = form_of(marker->slice, function, instruction);
    if (form->opcode == OP_call) {
        const struct instruction *at = &function->body->instructions.at[instruction];
        struct call_parts parts = call_parts(marker->slice, function->body, at);
        for (uint32_t j = 0; parts.callee != NO_INDEX && parts.results && j < parts.results->count; j++)
            need_returned(marker, parts.callee, j);
        return;
    }
    if (slice_memory_kind(form) == MEMORY_LOAD) {
        mark_refs(marker, f, instruction, ROLES_ADDRESS);
        need_contents(marker, f, instruction);
    } else {
        mark_refs(marker, f, instruction, is_opaque(form) ? ROLES_GUARD : ROLES_SOURCES);
    }
}

// A register parameter of a function that takes registers: what calls pass for it.
static void need_register_param(struct marker *marker, uint32_t f, const struct slice_reg *reg) {
    const struct function *decl = marker->slice->functions.at[f].decl;
    if (!(reg->var & VAR_LOCAL)) return;
    uint32_t variable = reg->var & ~VAR_LOCAL;
    if (variable < decl->return_count || variable >= decl->return_count + decl->param_count) return;
    if (marker->slice->functions.at[f].var_needed[variable]) return;
    marker->slice->functions.at[f].var_needed[variable] = 1;
    need_in_callers(marker, f, variable);
}

static void need_roots(struct marker *marker) {
    struct slice *slice = marker->slice;
    for (uint32_t f = 0; f < slice->functions.n; f++) {
        const struct slice_function *function = &slice->functions.at[f];
        for (uint32_t i = 0; i < function->body->instructions.n; i++) {
            const struct isa_form *form = form_of(slice, function, i);
            switch (form->opcode) {
            case OP_ld: case OP_ldu: case OP_st: case OP_atom: case OP_red: case OP_ldmatrix:
            case OP_stmatrix: case OP_multimem:
                mark_refs(marker, f, i, ROLES_ADDRESS);
                break;
            case OP_wmma: mark_refs(marker, f, i, ROLES_ADDRESS); break;
            case OP_bra: case OP_brx: case OP_bar: case OP_barrier: case OP_cp: case OP_mbarrier:
            case OP_mapa:
                mark_refs(marker, f, i, ROLES_SOURCES);
                break;
            case OP_ret: case OP_exit: case OP_trap: case OP_brkpt: case OP_call:
                mark_refs(marker, f, i, ROLES_GUARD);
                break;
            default: break;
            }
        }
    }
}

static void drain(struct marker *marker) {
    while (marker->work.n > 0) {
        struct work work = marker->work.at[--marker->work.n];
        const struct slice_function *function = &marker->slice->functions.at[work.function];
        const struct slice_reg reg = function->regs.at[work.reg];
        for (uint32_t i = 0; i < reg.def_count; i++)
            need_definition(marker, work.function, function->defs[reg.def_first + i]);
        need_register_param(marker, work.function, &reg);
    }
}

// What has an effect ----------------------------------------------------------------------------

// Loads through parameter variables of calls are taken as used: only loads of memory are asked for.
static bool has_effect(const struct slice *slice, const struct slice_function *function,
                       uint32_t instruction) {
    const struct isa_form *form = form_of(slice, function, instruction);
    const struct instruction *at = &function->body->instructions.at[instruction];
    switch (form->opcode) {
    case OP_ld:
        return isa_form_has(form, MOD_volatile) || isa_form_has(form, MOD_acquire) ||
               isa_form_has(form, MOD_relaxed) || isa_form_has(form, MOD_mmio);
    case OP_atom: case OP_wgmma: case OP_mbarrier: case OP_bar: case OP_barrier: case OP_call:
    case OP_tcgen05: return true;
    default: return !slice_defines(form, at, function->body);
    }
}

static void use_instruction(struct marker *marker, uint32_t f, uint32_t instruction) {
    struct slice_function *function = &marker->slice->functions.at[f];
    if (function->marks[instruction] & MARK_USED) return;
    function->marks[instruction] |= MARK_USED;
    mark_refs(marker, f, instruction, ROLES_SOURCES);
}

static void mark_used(struct marker *marker) {
    struct slice *slice = marker->slice;
    for (uint32_t f = 0; f < slice->functions.n; f++) {
        const struct slice_function *function = &slice->functions.at[f];
        for (uint32_t i = 0; i < function->body->instructions.n; i++)
            if (has_effect(slice, function, i)) use_instruction(marker, f, i);
    }
    while (marker->work.n > 0) {
        struct work work = marker->work.at[--marker->work.n];
        const struct slice_function *function = &slice->functions.at[work.function];
        const struct slice_reg reg = function->regs.at[work.reg];
        for (uint32_t i = 0; i < reg.def_count; i++)
            use_instruction(marker, work.function, function->defs[reg.def_first + i]);
    }
}

static void note_stores(struct slice *slice) {
    for (uint32_t f = 0; f < slice->functions.n; f++) {
        const struct slice_function *function = &slice->functions.at[f];
        for (uint32_t i = 0; i < function->body->instructions.n; i++) {
            const struct isa_form *form = form_of(slice, function, i);
            enum memory_kind kind = slice_memory_kind(form);
            if (kind == MEMORY_NONE || kind == MEMORY_LOAD) continue;
            uint8_t space = space_of(form);
            if (space == SPACE_GLOBAL || space == SPACE_NONE) slice->stores_global = true;
        }
    }
}

void slice_compute(struct module *module, uint32_t entry, struct arena *arena, struct slice *slice) {
    memset(slice, 0, sizeof *slice);
    slice->module = module;
    slice->by_function = arena_array(arena, uint32_t, module->functions.n + 1);
    memset(slice->by_function, 0xff, module->functions.n * sizeof *slice->by_function);
    reach(slice, arena, entry);
    for (uint32_t f = 0; f < slice->functions.n; f++) {
        struct slice_function *function = &slice->functions.at[f];
        cfg_build(module, function->body, arena, &function->cfg);
        collect_function(module, function, arena);
        list_definitions(function, arena);
        function->always_recursive = recurs_always(slice, function, arena);
    }
    struct marker need = {.slice = slice, .arena = arena, .mark = MARK_NEEDED};
    need_roots(&need);
    drain(&need);
    struct marker use = {.slice = slice, .arena = arena, .mark = MARK_USED};
    mark_used(&use);
    note_stores(slice);
}
