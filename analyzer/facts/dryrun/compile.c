#include "analyzer/facts/dryrun/build.h"

#define INSNS_LIMIT 400000u   // instructions in all
#define DEPTH_LIMIT 24u       // calls in one another
#define RECURSION_LIMIT 6u    // times that a function is followed inside itself

// Slots -----------------------------------------------------------------------------------------

static uint32_t add_slot(struct builder *builder, enum slot_kind kind, uint32_t bits) {
    struct code_slot *slot = vec_push(builder->arena, &builder->code->slots);
    slot->kind = (uint8_t)kind;
    slot->bits = (uint8_t)bits;
    return builder->code->slots.n - 1;
}

static uint32_t constant_hash(uint64_t value) {
    return (uint32_t)((value * 0x9e3779b97f4a7c15u) >> 32);
}

static void grow_constants(struct builder *builder) {
    uint32_t old_count = builder->constant_count, *old = builder->constant_slots;
    builder->constant_count = old_count ? old_count * 2 : 64;
    builder->constant_slots = arena_array(builder->arena, uint32_t, builder->constant_count);
    for (uint32_t i = 0; i < old_count; i++) {
        if (old[i] == 0) continue;
        uint32_t mask = builder->constant_count - 1;
        uint32_t at = constant_hash(builder->code->slots.at[old[i] - 1].value) & mask;
        while (builder->constant_slots[at] != 0) at = (at + 1) & mask;
        builder->constant_slots[at] = old[i];
    }
}

uint32_t build_constant(struct builder *builder, uint64_t value) {
    if (builder->constant_used * 2 >= builder->constant_count) grow_constants(builder);
    uint32_t mask = builder->constant_count - 1, at = constant_hash(value) & mask;
    for (; builder->constant_slots[at] != 0; at = (at + 1) & mask)
        if (builder->code->slots.at[builder->constant_slots[at] - 1].value == value)
            return builder->constant_slots[at] - 1;
    uint32_t slot = add_slot(builder, SLOT_CONST, 64);
    builder->code->slots.at[slot].value = value;
    builder->code->slots.at[slot].invariant = true;
    builder->constant_slots[at] = slot + 1;
    builder->constant_used++;
    return slot;
}

uint32_t build_unknown_slot(struct builder *builder, uint32_t bits) {
    uint32_t *slot = &builder->unknown_slots[bits];
    if (*slot == 0) {
        *slot = add_slot(builder, SLOT_CONST, bits);
        builder->code->slots.at[*slot].unknown = true;
        builder->code->slots.at[*slot].invariant = true;
    }
    return *slot;
}

uint32_t build_temporary(struct builder *builder, uint32_t bits) {
    return add_slot(builder, SLOT_REG, bits);
}

uint32_t build_reg(struct builder *builder, const struct operand *operand, uint8_t *bits) {
    struct instance *instance = builder->instance;
    uint32_t reg = slice_reg(instance->function, operand);
    if (reg == NO_INDEX) return NO_INDEX;
    *bits = instance->function->regs.at[reg].bits;
    if (instance->slots[reg] == 0) instance->slots[reg] = add_slot(builder, SLOT_REG, *bits);
    return instance->slots[reg];
}

// Instructions ----------------------------------------------------------------------------------

struct code_insn *build_insn(struct builder *builder, enum code_op op) {
    struct code_insn *insn = vec_push(builder->arena, &builder->code->insns);
    insn->op = (uint8_t)op;
    insn->guard_kind = builder->guard_kind;
    insn->guard = builder->guard;
    insn->target = insn->reconverge = NO_TARGET;
    insn->function = builder->instance->function->function;
    insn->instruction = builder->instruction;
    return insn;
}

static void wrote(struct builder *builder, uint32_t slot) { builder->code->slots.at[slot].defs++; }

void build_lane(struct builder *builder, enum lane_op op, uint32_t bits, uint32_t d, uint32_t a,
                uint32_t b, uint32_t c, uint64_t imm) {
    struct code_insn *insn = build_insn(builder, CODE_LANE);
    insn->lane = (uint16_t)op;
    insn->bits = (uint8_t)bits;
    insn->d = d, insn->a = a, insn->b = b, insn->c = c, insn->imm = imm;
    wrote(builder, d);
}

uint32_t build_value(struct builder *builder, enum lane_op op, uint32_t bits, uint32_t a, uint32_t b,
                     uint32_t c, uint64_t imm) {
    uint8_t kind = builder->guard_kind;
    uint32_t slot = build_temporary(builder, bits);
    builder->guard_kind = GUARD_NONE;
    build_lane(builder, op, bits, slot, a, b, c, imm);
    builder->guard_kind = kind;
    return slot;
}

// Control flow of one instance ------------------------------------------------------------------

static uint32_t pc_of(const struct builder *builder) { return builder->code->insns.n; }

static void set_guard(struct builder *builder, const struct instruction *instruction) {
    builder->guard_kind = instruction->guard;
    builder->guard = 0;
    if (instruction->guard == GUARD_NONE) return;
    uint8_t bits;
    const struct operand *guard =
        &builder->instance->function->body->elements.at[instruction->guard_operand];
    uint32_t slot = build_reg(builder, guard, &bits);
    builder->guard = slot == NO_INDEX ? build_unknown_slot(builder, 1) : slot;
}

// Until all blocks are placed, targets are block numbers; `end` is one past the last block.
static void jump_to_block(struct builder *builder, uint32_t block) {
    struct code_insn *insn = build_insn(builder, builder->guard_kind ? CODE_BRANCH : CODE_JUMP);
    insn->target = block;
}

static uint32_t target_block(const struct slice_function *function, const struct operand *operand) {
    uint32_t instruction = cfg_target(function->body, operand);
    return instruction >= function->body->instructions.n ? function->cfg.blocks.n
                                                         : function->cfg.block_of[instruction];
}

static void build_indirect(struct builder *builder, const struct instruction *instruction) {
    const struct slice_function *function = builder->instance->function;
    const struct body *body = function->body;
    uint32_t first = 0, count = 0;
    if (!cfg_indirect_targets(body, instruction, &first, &count) || count == 0) {
        build_insn(builder, CODE_STOP);
        return;
    }
    uint32_t index =
        build_source(builder, &body->operands.at[instruction->operand_first], 32, false);
    uint32_t table = builder->code->tables.n;
    for (uint32_t i = 0; i < count; i++)
        *vec_push(builder->arena, &builder->code->tables) =
            target_block(function, &body->elements.at[first + i]);
    struct code_insn *insn = build_insn(builder, CODE_INDIRECT);
    insn->a = index;
    insn->target = table;
    insn->imm = count;
}

static bool name_is(const struct builder *builder, const struct operand *operand, const char *text) {
    if (operand->kind != OPERAND_FUNC) return false;
    struct str name = module_name(builder->module,
                                  builder->module->functions.at[operand->function].name);
    return str_eq(name, str_from(text));
}

// Calls -----------------------------------------------------------------------------------------

struct call {
    const struct operand *results, *target, *arguments;
    uint32_t f;  // in slice.functions; NO_INDEX: not followed
};

static struct call read_call(const struct builder *builder, const struct instruction *instruction) {
    const struct body *body = builder->instance->function->body;
    struct call call = {NULL, NULL, NULL, NO_INDEX};
    for (uint32_t i = 0; i < instruction->operand_count; i++) {
        const struct operand *operand = &body->operands.at[instruction->operand_first + i];
        if (operand->kind != OPERAND_LIST) {
            if (call.target == NULL) call.target = operand;
        } else if (call.target == NULL) {
            call.results = operand;
        } else if (call.arguments == NULL) {
            call.arguments = operand;
        }
    }
    if (call.target != NULL && call.target->kind == OPERAND_FUNC &&
        call.target->function < builder->module->functions.n)
        call.f = builder->slice->by_function[call.target->function];
    return call;
}

static void forget(struct builder *builder, const struct operand *operand) {
    uint8_t bits;
    if (operand->kind != OPERAND_REG) return;
    uint32_t slot = build_reg(builder, operand, &bits);
    if (slot == NO_INDEX) return;
    struct code_insn *insn = build_insn(builder, CODE_UNKNOWN);
    insn->d = slot;
    insn->bits = bits;
    wrote(builder, slot);
}

// A call that is not followed: what it returns is not known.
static void build_opaque_call(struct builder *builder, const struct call *call) {
    const struct body *body = builder->instance->function->body;
    for (uint32_t i = 0; call->results && i < call->results->count; i++)
        forget(builder, &body->elements.at[call->results->first + i]);
    if (call->target == NULL || name_is(builder, call->target, "vprintf")) return;
    builder->code->unknown_effects++;
}

static struct instance *new_instance(struct builder *builder, uint32_t f) {
    struct instance *instance = arena_new(builder->arena, struct instance);
    const struct slice_function *function = &builder->slice->functions.at[f];
    instance->caller = builder->instance;
    instance->depth = builder->instance ? builder->instance->depth + 1 : 0;
    instance->f = f;
    instance->function = function;
    instance->slots = arena_array(builder->arena, uint32_t, function->regs.n + 1);
    instance->private_at = arena_array(builder->arena, uint64_t, function->decl->variables.n + 1);
    instance->block_pcs = arena_array(builder->arena, uint32_t, function->cfg.blocks.n + 1);
    for (uint32_t v = 0; v < function->decl->variables.n; v++) {
        const struct variable *variable = &function->decl->variables.at[v];
        uint64_t size, *at = NULL;
        instance->private_at[v] = UINT64_MAX;
        if (variable->space == SPACE_LOCAL) at = &builder->map->local_size;
        else if (variable->space == SPACE_PARAM && (f != 0 || v >= function->decl->param_count))
            at = &builder->params_at;
        if (at == NULL || !variable_size(variable, &size) || size > (uint64_t)1 << 24) continue;
        uint64_t align = variable_align(variable);
        *at = (*at + align - 1) & ~(align - 1);
        instance->private_at[v] = *at;
        *at += size;
    }
    return instance;
}

// Copies `size` bytes of private memory, by pieces that registers hold.
static void copy_param(struct builder *builder, uint64_t to, uint64_t from, uint64_t size);

static void build_body(struct builder *builder);

static uint64_t param_at(const struct instance *instance, uint32_t variable) {
    return instance->private_at[variable];
}

static void private_access(struct builder *builder, enum access_kind kind, uint64_t at, uint32_t bytes,
                           uint32_t slot, uint32_t bits) {
    struct code_access *access = vec_push(builder->arena, &builder->code->accesses);
    *access = (struct code_access){.kind = (uint8_t)kind, .space = SPACE_PARAM, .elements = 1,
                                   .element_bytes = (uint8_t)bytes, .width = bytes, .align = 1,
                                   .narrow_width = bytes, .lanes = UINT32_MAX, .contents = true};
    access->bits[0] = (uint8_t)bits;
    access->slots[0] = slot;
    uint32_t address = build_constant(builder, PARAM_FUNC_ORIGIN + at);
    struct code_insn *insn = build_insn(builder, CODE_ACCESS);
    insn->a = address;
    insn->target = builder->code->accesses.n - 1;
    builder->code->accesses.at[insn->target].insn = builder->code->insns.n - 1;
    if (kind == ACCESS_OP_LOAD) wrote(builder, slot);
}

static void copy_param(struct builder *builder, uint64_t to, uint64_t from, uint64_t size) {
    if (to == UINT64_MAX || from == UINT64_MAX || size > 4096) return;
    for (uint64_t at = 0; at < size;) {
        uint32_t step = size - at >= 8 ? 8 : size - at >= 4 ? 4 : size - at >= 2 ? 2 : 1;
        uint32_t slot = build_temporary(builder, 64);
        private_access(builder, ACCESS_OP_LOAD, from + at, step, slot, 64);
        private_access(builder, ACCESS_OP_STORE, to + at, step, slot, 64);
        at += step;
    }
}

// Moves a value between a caller's operand and a callee's parameter.
static void bind(struct builder *builder, struct instance *caller, const struct operand *operand,
                 struct instance *callee, uint32_t variable, bool back) {
    const struct variable *decl = &callee->function->decl->variables.at[variable];
    uint32_t bits = isa_types[decl->type].bits;
    uint64_t size;
    if (!variable_size(decl, &size)) return;
    if (decl->space == SPACE_REG) {
        struct operand named = {.kind = OPERAND_REG, .var = variable | VAR_LOCAL};
        uint8_t width = 64, outer_width = 64;
        builder->instance = callee;
        uint32_t inner = build_reg(builder, &named, &width);
        builder->instance = caller;
        if (inner == NO_INDEX) return;
        uint32_t outer = back ? build_reg(builder, operand, &outer_width)
                              : build_source(builder, operand, bits, isa_types[decl->type].class == TYPE_CLASS_F);
        if (outer == NO_INDEX) return;
        build_lane(builder, LANE_mov, back ? outer_width : width, back ? outer : inner,
                   back ? inner : outer, 0, 0, 0);
        return;
    }
    uint64_t inner = param_at(callee, variable);
    if (operand->kind == OPERAND_VAR && operand->var & VAR_LOCAL) {
        uint64_t outer = caller->private_at[operand->var & ~VAR_LOCAL];
        copy_param(builder, back ? outer : inner, back ? inner : outer, size);
    } else if (inner != UINT64_MAX && size <= 8) {
        uint8_t width = 64;
        uint32_t slot = back ? build_reg(builder, operand, &width)
                             : build_source(builder, operand, (uint32_t)size * 8, false);
        if (slot != NO_INDEX)
            private_access(builder, back ? ACCESS_OP_LOAD : ACCESS_OP_STORE, inner, (uint32_t)size, slot, width);
    }
}

static bool may_follow(struct builder *builder, uint32_t f, bool *endless) {
    uint32_t inside = 0;
    for (const struct instance *at = builder->instance; at != NULL; at = at->caller)
        inside += at->f == f;
    *endless = inside > 0 && builder->slice->functions.at[f].always_recursive;
    if (builder->code->insns.n > INSNS_LIMIT) builder->code->truncated = true;
    return inside <= RECURSION_LIMIT && builder->instance->depth < DEPTH_LIMIT &&
           builder->code->insns.n <= INSNS_LIMIT && !*endless;
}

// The guard of a call becomes a branch round it.
static void build_call(struct builder *builder, const struct instruction *instruction) {
    struct call call = read_call(builder, instruction);
    if (call.target != NULL && name_is(builder, call.target, "__assertfail")) {
        build_insn(builder, CODE_TRAP)->sub = 2;
        return;
    }
    bool endless = false;
    if (call.f != NO_INDEX && !may_follow(builder, call.f, &endless)) {
        build_insn(builder, endless ? CODE_STACK : CODE_STOP);
        return;
    }
    if (call.f == NO_INDEX) {
        build_opaque_call(builder, &call);
        return;
    }
    struct instance *caller = builder->instance, *callee = new_instance(builder, call.f);
    const struct function *decl = callee->function->decl;
    uint32_t skip = NO_TARGET, at = builder->instruction;
    if (builder->guard_kind != GUARD_NONE) {
        struct code_insn *branch = build_insn(builder, CODE_BRANCH);
        branch->guard_kind = branch->guard_kind == GUARD_IF ? GUARD_UNLESS : GUARD_IF;
        skip = builder->code->insns.n - 1;
        builder->guard_kind = GUARD_NONE;
    }
    const struct body *body = caller->function->body;
    for (uint32_t i = 0; call.arguments && i < call.arguments->count && i < decl->param_count; i++)
        bind(builder, caller, &body->elements.at[call.arguments->first + i], callee,
             decl->return_count + i, false);
    builder->instance = callee;
    build_body(builder);
    builder->instance = caller;
    builder->instruction = at;
    builder->guard_kind = GUARD_NONE;
    for (uint32_t i = 0; call.results && i < call.results->count && i < decl->return_count; i++)
        bind(builder, caller, &body->elements.at[call.results->first + i], callee, i, true);
    if (skip == NO_TARGET) return;
    // Already code addresses, not blocks: marked so that fixing blocks leaves them alone.
    struct code_insn *branch = &builder->code->insns.at[skip];
    branch->target = branch->reconverge = pc_of(builder);
    branch->sub = 1;
    build_insn(builder, CODE_JOIN);
}

// Blocks ----------------------------------------------------------------------------------------

static void build_control(struct builder *builder, enum cfg_kind kind,
                          const struct instruction *instruction) {
    const struct slice_function *function = builder->instance->function;
    switch (kind) {
    case CFG_BRANCH:
        if (instruction->operand_count == 0) return;
        jump_to_block(builder, target_block(function, &function->body->operands.at[instruction->operand_first]));
        return;
    case CFG_INDIRECT: build_indirect(builder, instruction); return;
    case CFG_RETURN: jump_to_block(builder, function->cfg.blocks.n); return;
    case CFG_EXIT:
        if (builder->instance->caller == NULL) jump_to_block(builder, function->cfg.blocks.n);
        else build_insn(builder, CODE_EXIT);
        return;
    case CFG_TRAP: build_insn(builder, CODE_TRAP); return;
    default: build_call(builder, instruction); return;
    }
}

static void build_block(struct builder *builder, uint32_t b, bool joins) {
    const struct slice_function *function = builder->instance->function;
    const struct cfg_block *block = &function->cfg.blocks.at[b];
    builder->guard_kind = GUARD_NONE;
    builder->instruction = block->first;
    builder->instance->block_pcs[b] = pc_of(builder);
    if (joins) build_insn(builder, CODE_JOIN);
    if (!block->can_leave && block->order != NO_INDEX) {
        build_insn(builder, CODE_HANG);
        return;
    }
    for (uint32_t i = block->first; i < block->end; i++) {
        const struct instruction *instruction = &function->body->instructions.at[i];
        builder->instruction = i;
        set_guard(builder, instruction);
        enum cfg_kind kind = cfg_kind(builder->module, function->body, instruction);
        if (kind != CFG_NONE) build_control(builder, kind, instruction);
        else if (builder->module->forms.at[instruction->form].opcode == OP_call) build_call(builder, instruction);
        else build_instruction(builder, i);
    }
    builder->guard_kind = GUARD_NONE;
}

static uint32_t block_pc(const struct instance *instance, uint32_t block) {
    return instance->block_pcs[block];
}

// Turns block numbers of this instance's own instructions into code addresses.
static void fix_targets(struct builder *builder, uint32_t first, uint32_t table_first) {
    struct instance *instance = builder->instance;
    const struct cfg *cfg = &instance->function->cfg;
    uint32_t end = cfg->blocks.n;
    for (uint32_t pc = first; pc < builder->code->insns.n; pc++) {
        struct code_insn *insn = &builder->code->insns.at[pc];
        bool control = insn->op == CODE_JUMP || insn->op == CODE_BRANCH || insn->op == CODE_INDIRECT;
        if (!control || insn->sub != 0) continue;
        insn->sub = 1;
        const struct cfg_block *block = &cfg->blocks.at[cfg->block_of[insn->instruction]];
        insn->reconverge = !block->can_leave ? NO_TARGET
                           : block_pc(instance, block->ipdom == NO_INDEX ? end : block->ipdom);
        if (insn->op != CODE_INDIRECT) {
            insn->target = block_pc(instance, insn->target);
            continue;
        }
        for (uint32_t i = 0; i < insn->imm && insn->target >= table_first; i++) {
            uint32_t *target = &builder->code->tables.at[insn->target + i];
            *target = block_pc(instance, *target);
        }
    }
}

static void build_body(struct builder *builder) {
    struct instance *instance = builder->instance;
    const struct cfg *cfg = &instance->function->cfg;
    uint32_t n = cfg->blocks.n, first = pc_of(builder), tables = builder->code->tables.n;
    bool *joins = arena_array(builder->arena, bool, n + 1);
    for (uint32_t b = 0; b < n; b++)
        if (cfg->blocks.at[b].ipdom != NO_INDEX) joins[cfg->blocks.at[b].ipdom] = true;
    for (uint32_t b = 0; b < n; b++) build_block(builder, b, joins[b]);
    builder->instance->block_pcs[n] = pc_of(builder);
    builder->guard_kind = GUARD_NONE;
    builder->instruction = instance->function->body->instructions.n
                               ? instance->function->body->instructions.n - 1 : 0;
    build_insn(builder, CODE_JOIN);
    fix_targets(builder, first, tables);
}

// What is the same in every block ---------------------------------------------------------------

static bool sreg_invariant(const struct code_slot *slot) {
    switch (slot->sreg) {
    case SREG_CTAID: case SREG_CLUSTERID: case SREG_CLUSTER_CTAID: case SREG_CLUSTER_CTARANK:
    case SREG_SMID: case SREG_GRIDID: case SREG_CLOCK: case SREG_CLOCK_HI: case SREG_CLOCK64:
    case SREG_GLOBALTIMER: case SREG_GLOBALTIMER_LO: case SREG_GLOBALTIMER_HI:
        return false;
    default: return true;
    }
}

static void find_hoisted(struct builder *builder) {
    struct code *code = builder->code;
    for (uint32_t s = 0; s < code->slots.n; s++) {
        struct code_slot *slot = &code->slots.at[s];
        if (slot->kind == SLOT_SREG) slot->invariant = sreg_invariant(slot);
    }
    // Definitions come before their uses in most code; what comes later is simply not hoisted.
    for (uint32_t pc = 0; pc < code->insns.n; pc++) {
        struct code_insn *insn = &code->insns.at[pc];
        if (insn->op != CODE_LANE || insn->guard_kind != GUARD_NONE) continue;
        struct code_slot *d = &code->slots.at[insn->d];
        if (d->defs != 1 || !code->slots.at[insn->a].invariant || !code->slots.at[insn->b].invariant ||
            !code->slots.at[insn->c].invariant)
            continue;
        d->invariant = insn->hoisted = true;
        *vec_push(builder->arena, &code->hoisted) = pc;
    }
}

// Takes the hoisted instructions out of the code, so that running it does not even skip them.
static void remove_hoisted(struct builder *builder) {
    struct code *code = builder->code;
    uint32_t n = code->insns.n, kept = 0;
    uint32_t *moved = arena_array(builder->arena, uint32_t, n + 1);
    for (uint32_t pc = 0; pc < n; pc++) {
        moved[pc] = kept;
        kept += !code->insns.at[pc].hoisted;
    }
    moved[n] = kept;
    struct code_insn *hoisted = arena_array(builder->arena, struct code_insn, code->hoisted.n + 1);
    for (uint32_t i = 0; i < code->hoisted.n; i++) hoisted[i] = code->insns.at[code->hoisted.at[i]];
    for (uint32_t pc = 0; pc < n; pc++) {
        struct code_insn insn = code->insns.at[pc];
        if (insn.hoisted) continue;
        if (insn.op == CODE_JUMP || insn.op == CODE_BRANCH) insn.target = moved[insn.target];
        if (insn.reconverge != NO_TARGET) insn.reconverge = moved[insn.reconverge];
        if (insn.op == CODE_ACCESS) code->accesses.at[insn.target].insn = moved[pc];
        code->insns.at[moved[pc]] = insn;
    }
    for (uint32_t i = 0; i < code->tables.n; i++) code->tables.at[i] = moved[code->tables.at[i]];
    code->insns.n = kept;
    // They follow the code proper; code.hoisted lists them there.
    for (uint32_t i = 0; i < code->hoisted.n; i++) {
        code->hoisted.at[i] = code->insns.n;
        *vec_push(builder->arena, &code->insns) = hoisted[i];
    }
}

// Follows pointer arguments through arithmetic, as far as one alone is met.
static void follow_pointers(struct code *code) {
    for (uint32_t pc = 0; pc < code->insns.n; pc++) {
        const struct code_insn *insn = &code->insns.at[pc];
        if (insn->op != CODE_LANE || insn->bits != 64 || code->slots.at[insn->d].param != 0) continue;
        uint32_t sources[3] = {insn->a, insn->b, insn->c}, param = 0;
        for (int i = 0; i < 3; i++) {
            uint32_t from = code->slots.at[sources[i]].param;
            if (from == 0) continue;
            if (param != 0 && param != from) {
                param = 0;
                break;
            }
            param = from;
        }
        code->slots.at[insn->d].param = param;
    }
}

// Which block coordinates matter.
static void find_dims(struct code *code) {
    for (uint32_t s = 0; s < code->slots.n; s++) {
        const struct code_slot *slot = &code->slots.at[s];
        if (slot->kind != SLOT_SREG || sreg_invariant(slot)) continue;
        if (slot->sreg == SREG_CTAID && slot->component >= 1 && slot->component <= 3)
            code->dims_used[slot->component - 1] = true;
        else if (slot->sreg == SREG_CLUSTERID || slot->sreg == SREG_CLUSTER_CTAID ||
                 slot->sreg == SREG_CLUSTER_CTARANK)
            code->dims_used[0] = code->dims_used[1] = code->dims_used[2] = true;
    }
    code->block_dependent = code->dims_used[0] || code->dims_used[1] || code->dims_used[2];
}

void code_compile(const struct dryrun_request *request, const struct slice *slice, struct map *map,
                  struct arena *arena, struct code *code) {
    memset(code, 0, sizeof *code);
    struct builder builder = {.request = request, .module = request->module, .slice = slice,
                              .map = map, .arena = arena, .code = code};
    code->stores_global = slice->stores_global;
    code->shared_needed = slice->shared_needed;
    builder.unknown_slots = arena_array(arena, uint32_t, 65);
    build_constant(&builder, 0);
    builder.instance = new_instance(&builder, 0);
    build_body(&builder);
    build_insn(&builder, CODE_EXIT);
    follow_pointers(code);
    find_hoisted(&builder);
    remove_hoisted(&builder);
    find_dims(code);
    map->private_size = map->local_size + builder.params_at;
}
