#include "analyzer/facts/facts.h"

#include "analyzer/facts/parts.h"
#include "base/checked.h"

static void copy_values(uint64_t out[3], const struct directive_use *use) {
    for (int i = 0; i < 3; i++) out[i] = use->values[i];
}

static bool first_values(const struct function *function, enum directive directive, uint64_t out[3]) {
    const struct directive_use *use = function_directive(function, directive);
    if (use != NULL) copy_values(out, use);
    return use != NULL;
}

// The last of repeated directives counts: `.maxntid 128` then `.maxntid 256` runs 256 threads.
static bool last_values(const struct function *function, enum directive directive, uint64_t out[3]) {
    bool found = false;
    for (uint32_t i = 0; i < function->directives.n; i++) {
        if (function->directives.at[i].directive != directive) continue;
        copy_values(out, &function->directives.at[i]);
        found = true;
    }
    return found;
}

static uint64_t first_value(const struct function *function, enum directive directive) {
    uint64_t values[3];
    return first_values(function, directive, values) ? values[0] : 0;
}

static void facts_directives(struct kernel *kernel) {
    const struct function *decl = kernel->decl;
    kernel->has_maxntid = last_values(decl, DIRECTIVE_MAXNTID, kernel->maxntid);
    kernel->has_reqntid = last_values(decl, DIRECTIVE_REQNTID, kernel->reqntid);
    kernel->has_reqnctapercluster =
        first_values(decl, DIRECTIVE_REQNCTAPERCLUSTER, kernel->reqnctapercluster);
    kernel->explicit_cluster = function_directive(decl, DIRECTIVE_EXPLICITCLUSTER) != NULL;
    kernel->blocks_are_clusters = function_directive(decl, DIRECTIVE_BLOCKSARECLUSTERS) != NULL;
    kernel->minnctapersm = first_value(decl, DIRECTIVE_MINNCTAPERSM);
    kernel->maxnreg = first_value(decl, DIRECTIVE_MAXNREG);
    kernel->maxclusterrank = first_value(decl, DIRECTIVE_MAXCLUSTERRANK);
}

// Constants are placed file by file: what the entry names does not change how much is taken.
static uint64_t const_bytes(const struct module *module) {
    uint64_t at = 0, size;
    for (uint32_t i = 0; i < module->variables.n; i++) {
        const struct variable *variable = &module->variables.at[i];
        if (variable->space != SPACE_CONST || !variable_size(variable, &size)) continue;
        uint32_t align = variable_align(variable);
        align_u64(at, align == 0 ? 1 : align, &at);
        add_u64(at, size, &at);
    }
    return at;
}

static void facts_memory(const struct reach_module *shared, const struct reach *reach,
                         struct kernel *kernel) {
    struct shared_layout layout;
    reach_layout(shared, reach, &layout);
    kernel->shared_static = layout.reported;
    kernel->calls_unknown = reach->calls_unknown;
    kernel->bodies_known = reach->bodies_known;
    for (uint32_t i = 0; i < reach->variables.n; i++) {
        const struct variable *variable = &shared->module->variables.at[reach->variables.at[i]];
        if (variable->space != SPACE_SHARED || !variable->unsized) continue;
        kernel->shared_dynamic = true;
        kernel->dynamic_arrays++;
        if (variable_align(variable) > kernel->shared_dynamic_align)
            kernel->shared_dynamic_align = variable_align(variable);
    }
    // The frames of the entry and of one function below it: what is certainly taken at once.
    uint64_t deepest = 0;
    for (uint32_t i = 1; i < reach->functions.n; i++) {
        uint64_t frame = shared->uses[reach->functions.at[i]].local_bytes;
        if (frame > deepest) deepest = frame;
    }
    add_u64(shared->uses[reach->functions.at[0]].local_bytes, deepest, &kernel->local_bytes);
}

// The most that a register can hold when every instruction that writes it moves a constant into it;
// UINT64_MAX: something else writes it, or it is a parameter's.
static uint64_t most_moved(const struct module *module, const struct body *body,
                           const struct operand *reg) {
    uint64_t most = 0;
    bool any = false;
    for (uint32_t i = 0; i < body->instructions.n; i++) {
        const struct instruction *instruction = &body->instructions.at[i];
        if (instruction->operand_count == 0) continue;
        const struct operand *to = &body->operands.at[instruction->operand_first];
        if (to->kind != OPERAND_REG || to->var != reg->var || to->number != reg->number) continue;
        enum isa_opcode opcode = (enum isa_opcode)module->forms.at[instruction->form].opcode;
        if (opcode == OP_bar || opcode == OP_barrier) continue;  // read, not written
        if (opcode != OP_mov || instruction->operand_count < 2 || to[1].kind != OPERAND_INT)
            return UINT64_MAX;
        if (to[1].value > most) most = to[1].value;
        any = true;
    }
    return any ? most : UINT64_MAX;
}

// A barrier number that is not known when it is assembled takes all sixteen (measured).
enum { BARRIER_SCANS = 64 };  // of a kernel's bodies; further registers count as not known

static void note_barrier(const struct module *module, const struct body *body,
                         const struct instruction *instruction, struct kernel *kernel,
                         uint32_t *scans) {
    if (instruction->operand_count == 0 || kernel->named_barriers == 16) return;
    const struct operand *operand = &body->operands.at[instruction->operand_first];
    uint64_t number = UINT64_MAX;
    // bar.red writes its first operand; the barrier is the second.
    if (isa_form_has(&module->forms.at[instruction->form], MOD_red) && instruction->operand_count > 1)
        operand++;
    if (operand->kind == OPERAND_INT) number = operand->value;
    else if (operand->kind == OPERAND_REG && (*scans)++ < BARRIER_SCANS)
        number = most_moved(module, body, operand);
    uint32_t used = number < 16 ? (uint32_t)number + 1 : 16;
    if (used > kernel->named_barriers) kernel->named_barriers = used;
}

static void note_instruction(const struct module *module, const struct body *body,
                             const struct instruction *instruction, struct kernel *kernel,
                             uint32_t *scans) {
    const struct isa_form *form = &module->forms.at[instruction->form];
    switch (form->opcode) {
    case OP_mma: case OP_wmma: case OP_ldmatrix: case OP_stmatrix: case OP_movmatrix:
    case OP_tcgen05: case OP_wgmma:
        if (!kernel->uses_warps) kernel->warps_offset = instruction->offset;
        kernel->uses_warps = true;
        kernel->uses_warpgroups |= form->opcode == OP_wgmma;
        break;
    case OP_griddepcontrol: kernel->waits_for_grid |= isa_form_has(form, MOD_wait); break;
    case OP_bar: case OP_barrier:
        if (!isa_form_has(form, MOD_cluster) && !isa_form_has(form, MOD_warp))
            note_barrier(module, body, instruction, kernel, scans);
        break;
    default: break;
    }
}

// Cooperative groups find the grid's barrier through %envreg1 and %envreg2.
static bool reads_grid_barrier(const struct body *body) {
    for (uint32_t i = 0; i < body->operands.n; i++) {
        const struct operand *operand = &body->operands.at[i];
        if (operand->kind != OPERAND_SREG) continue;
        if (operand->sreg == SREG_ENVREG1 || operand->sreg == SREG_ENVREG2) return true;
    }
    return false;
}

void facts_instructions(const struct reach_module *shared, const struct reach *reach,
                        struct kernel *kernel) {
    const struct module *module = shared->module;
    uint32_t scans = 0;
    for (uint32_t f = 0; f < reach->functions.n; f++) {
        const struct body *body = module->functions.at[reach->functions.at[f]].body;
        if (body == NULL) continue;
        for (uint32_t i = 0; i < body->instructions.n; i++)
            note_instruction(module, body, &body->instructions.at[i], kernel, &scans);
        kernel->syncs_grid |= reads_grid_barrier(body);
    }
}

static void facts_of_kernel(struct module_facts *facts, struct reach_module *shared,
                            struct kernel *kernel) {
    struct reach reach;
    facts_directives(kernel);
    facts_params(facts->module, kernel, shared->arena);
    reach_compute(shared, kernel->function, &reach);
    facts_memory(shared, &reach, kernel);
    facts_access(shared, &reach, kernel);
    if (shared->work <= FACTS_WORK_LIMIT) facts_instructions(shared, &reach, kernel);
    facts_hidden_params(facts, kernel);
}

void facts_compute(struct module *module, struct arena *arena, struct module_facts *facts) {
    struct reach_module shared;
    *facts = (struct module_facts){.module = module};
    facts_generator(facts, arena);
    reach_module_init(&shared, module, arena);
    bool *seen = arena_array(arena, bool, module->names.texts.n);
    uint64_t constants = const_bytes(module);
    for (uint32_t i = 0; i < module->functions.n; i++) {
        const struct function *function = &module->functions.at[i];
        if (function->kind != FUNCTION_ENTRY || !function->has_body || seen[function->name]) continue;
        seen[function->name] = true;
        struct kernel *kernel = vec_push(arena, &facts->kernels);
        kernel->function = i;
        kernel->decl = function;
        kernel->name = module_name(module, function->name);
        kernel->const_bytes = constants;
    }
    for (uint32_t i = 0; i < facts->kernels.n; i++)
        facts_of_kernel(facts, &shared, &facts->kernels.at[i]);
}

struct kernel *facts_kernel(struct module_facts *facts, struct str name) {
    for (uint32_t i = 0; i < facts->kernels.n; i++)
        if (str_eq(facts->kernels.at[i].name, name)) return &facts->kernels.at[i];
    return NULL;
}

const char *generator_name(enum generator generator) {
    static const char *const names[] = {"unknown", "Triton", "NVVM", "LLVM", "Clang", "Numba",
                                        "CuPy", "XLA", "Rust", "Julia"};
    return names[generator];
}

const char *param_kind_text(enum param_kind kind) {
    static const char *const texts[] = {"scalar", "pointer", "bytes", "tensormap", "opaque"};
    return texts[kind];
}

const char *param_role_text(enum param_role role) { return role == PARAM_USER ? "user" : "hidden"; }

const char *param_access_text(enum param_access access) {
    static const char *const texts[] = {"unknown", "none", "read", "write", "readwrite"};
    return texts[access];
}
