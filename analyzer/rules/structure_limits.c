#include "analyzer/rules/structure.h"

#include "base/checked.h"
#include "isa/gpus.h"

// What a module may take: constants, static shared memory, parameters; and names that nothing
// defines. Limits as ptxas 13.0 and driver 580 have them.

enum {
    CONST_LIMIT = 65536,  // bytes of .const in a module, unused variables included
    SHARED_LIMIT = 49152, // static bytes of an entry; the driver takes more
    RENAMED_FROM = 101,
    RENAMED_TO = 110,          // sm_101 became sm_110
    PARAMETER_LIMIT_1_4 = 256, // below PTX 1.5
    PARAMETER_LIMIT = 4352,    // below PTX 8.1, and below sm_70
    PARAMETER_LIMIT_8_1 = 32764,
};

// One variable behind another. Saturates.
static uint64_t lay_out(uint64_t offset, uint64_t size, uint32_t align) {
    if (is_power_of_two(align) && !align_u64(offset, align, &offset)) return UINT64_MAX;
    return add_u64(offset, size, &offset) ? offset : UINT64_MAX;
}

void count_constant(struct checker *c, const struct variable *variable) {
    if (variable->space != SPACE_CONST || variable->type == TYPE_NONE || variable->unsized) return;
    uint64_t size;
    if (!variable_size(variable, &size)) size = UINT64_MAX;
    c->const_bytes = lay_out(c->const_bytes, size, variable_align(variable));
    if (c->const_bytes > CONST_LIMIT && c->const_over.end == 0) c->const_over = variable->span;
}

static void check_constants(struct checker *c) {
    if (c->const_over.end == 0) return;
    struct finding *finding = structure_report(c, RULE_CONST_OVER_64K, c->const_over,
                                               "%llu bytes of .const; a module has at most %d",
                                               (unsigned long long)c->const_bytes, CONST_LIMIT);
    structure_help(c, finding, "move %llu bytes or more to .global",
                   (unsigned long long)(c->const_bytes - CONST_LIMIT));
}

void check_parameter_space(struct checker *c, const struct function *function) {
    uint64_t bytes = 0, size;
    for (uint32_t i = 0; i < function->param_count; i++) {
        const struct variable *variable = param_of(function, i);
        if (variable->type == TYPE_NONE) return;
        if (!variable_size(variable, &size)) size = UINT64_MAX;
        bytes = lay_out(bytes, size, variable_align(variable));
    }
    uint32_t limit = PARAMETER_LIMIT_8_1;
    if (c->version != 0 && c->version < 15)
        limit = PARAMETER_LIMIT_1_4;
    else if (c->version != 0 && c->version < isa_features[FEATURE_LARGE_PARAMETERS].version)
        limit = PARAMETER_LIMIT;
    struct str name = structure_name(c, function->name);
    if (bytes > limit) {
        struct finding *finding =
            structure_report(c, RULE_PARAMETER_SPACE, function->span,
                             "`%.*s` takes %llu bytes of parameters; at most %u fit", STR_ARG(name),
                             (unsigned long long)bytes, limit);
        structure_help(c, finding, "pass a pointer to a structure in global memory");
    } else if (bytes > PARAMETER_LIMIT)
        structure_need(c, FEATURE_LARGE_PARAMETERS, function->span);
}

// ---- what an entry reaches --------------------------------------------------------------------

// Visits of functions from entries; past this the sums per entry are not made.
enum { MOST_VISITS = 20000000 };

struct walk {
    struct checker *c;
    uint32_t stamp;
    VEC_OF(uint32_t) stack;
    VEC_OF(uint32_t) shared_stamps; // by module variable
    uint64_t shared_bytes, shared_limit;
    struct span shared_span; // of the variable that passes the limit; empty: none
    struct span cta_group[2], small_argument;
    uint64_t visits;
};

static void push_function(struct walk *walk, name_id name) {
    struct checker *c = walk->c;
    const struct declared *declared = structure_declared(c, name);
    if (declared->alias_of != 0) declared = structure_declared(c, declared->alias_of);
    if (declared->kind != DECLARED_FUNCTION || declared->definition == NO_INDEX) return;
    struct reach *reach = structure_reach(c, declared->definition);
    if (reach->stamp == walk->stamp) return;
    reach->stamp = walk->stamp;
    *vec_push(c->arena, &walk->stack) = declared->definition;
}

static void add_shared(struct walk *walk, const struct shared_use *use) {
    if (use->variable != NO_INDEX) {
        while (walk->shared_stamps.n <= use->variable)
            (void)vec_push(walk->c->arena, &walk->shared_stamps);
        if (walk->shared_stamps.at[use->variable] == walk->stamp) return;
        walk->shared_stamps.at[use->variable] = walk->stamp;
    }
    walk->shared_bytes = lay_out(walk->shared_bytes, use->size, use->align);
    if (walk->shared_bytes > walk->shared_limit && walk->shared_span.end == 0)
        walk->shared_span = use->span;
}

static void visit(struct walk *walk, uint32_t function) {
    struct checker *c = walk->c;
    struct reach reach = *structure_reach(c, function);
    walk->visits += 1 + reach.use_count + reach.shared_count;
    for (uint32_t i = 0; i < reach.shared_count; i++)
        add_shared(walk, &c->shared.at[reach.shared_first + i]);
    for (int i = 0; i < 2; i++)
        if (walk->cta_group[i].end == 0) walk->cta_group[i] = reach.cta_group[i];
    if (walk->small_argument.end == 0) walk->small_argument = reach.small_argument;
    for (uint32_t i = 0; i < reach.use_count; i++) {
        const struct function_use *use = &c->uses.at[reach.use_first + i];
        push_function(walk, use->name);
    }
    if (!reach.calls_indirectly) return;
    for (uint32_t i = 0; i < c->initializer_uses.n; i++)
        push_function(walk, c->uses.at[c->initializer_uses.at[i]].name);
}

static uint64_t optin_of(uint32_t capability, uint64_t otherwise) {
    const struct gpu_limits *limits = isa_limits_find(capability);
    return limits == NULL ? otherwise : limits->optin_shared;
}

// What the driver's compiler allows: all that a block of the GPU can have (measured on sm_90 with
// driver 580). Where no GPU is named, the most that any has.
static uint64_t driver_shared_limit(const struct checker *c) {
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t i = 0; i < c->options->deployment_count; i++) {
        uint32_t capability = c->options->deployments[i].compute_capability;
        uint64_t limit = capability == 0 ? UINT64_MAX : optin_of(capability, UINT64_MAX);
        if (limit < least) least = limit;
    }
    for (uint32_t i = 0; i < isa_limit_count; i++)
        if (isa_limits[i].optin_shared > most) most = isa_limits[i].optin_shared;
    return least != UINT64_MAX ? least : most;
}

// ptxas: a target of one architecture gives all that a block of it can have; every other one 48 KiB
// (measured on ptxas 13.0: sm_90a 232448, sm_120a 101376, sm_100f and sm_90 49152).
static uint64_t shared_limit(const struct checker *c) {
    if (as_driver(c)) return driver_shared_limit(c);
    if (c->target.suffix != 'a') return SHARED_LIMIT;
    return optin_of(c->target.number == RENAMED_FROM ? RENAMED_TO : c->target.number, SHARED_LIMIT);
}

static void walk_from(struct walk *walk, uint32_t entry) {
    walk->stamp++;
    walk->shared_bytes = 0;
    walk->shared_span = walk->small_argument = (struct span){0, 0};
    walk->cta_group[0] = walk->cta_group[1] = (struct span){0, 0};
    structure_reach(walk->c, entry)->stamp = walk->stamp;
    visit(walk, entry);
    while (walk->stack.n > 0) visit(walk, walk->stack.at[--walk->stack.n]);
}

static void report_shared(struct checker *c, const struct walk *walk, struct str name) {
    if (walk->shared_span.end == 0) return;
    struct finding *finding = structure_report(
        c, RULE_STATIC_SHARED_REFUSED, walk->shared_span,
        "`%.*s` takes %llu bytes of static shared memory; %s allows %llu", STR_ARG(name),
        (unsigned long long)walk->shared_bytes, as_driver(c) ? "the driver" : "ptxas",
        (unsigned long long)walk->shared_limit);
    finding->kernel = name;
    if (as_driver(c)) {
        finding->predicts =
            (struct prediction){PHASE_LOAD, CONFIDENCE_CERTAIN, RESULT_CUDA_ERROR_INVALID_PTX};
        structure_help(c, finding, "take %llu bytes or more out",
                       (unsigned long long)(walk->shared_bytes - walk->shared_limit));
        return;
    }
    structure_note(c, finding, "the driver's own compiler allows what a block of the GPU can have");
    structure_help(c, finding,
                   "declare the array `.extern .shared` and give its size at the launch");
}

static void report_cta_groups(struct checker *c, const struct walk *walk, struct str name) {
    if (walk->cta_group[0].end == 0 || walk->cta_group[1].end == 0) return;
    struct finding *finding =
        structure_report(c, RULE_MIXED_CTA_GROUPS, walk->cta_group[1],
                         "`%.*s` uses both .cta_group::1 and .cta_group::2", STR_ARG(name));
    finding->kernel = name;
    structure_label(c, finding, walk->cta_group[0], "the other group");
    structure_help(c, finding, "use one of them in all that the kernel reaches");
}

static void report_small(struct checker *c, const struct walk *walk, uint32_t *reported) {
    if (walk->small_argument.end == 0 || walk->small_argument.begin == *reported) return;
    *reported = walk->small_argument.begin;
    struct finding *finding =
        structure_report(c, RULE_SMALL_REGISTER_ARGUMENT, walk->small_argument,
                         "this call passes a predicate, or an integer of 8 or 16 bits");
    structure_note(c, finding,
                   "the calling convention has no place for them (.b8 and .b16 are passed)");
    structure_help(c, finding, "declare the parameter `.b32`");
}

static void check_entries(struct checker *c) {
    struct walk walk = {.c = c, .shared_limit = shared_limit(c)};
    uint32_t small_reported = UINT32_MAX;
    for (uint32_t i = 0; i < c->reaches.n && i < c->module->functions.n; i++) {
        const struct function *function = &c->module->functions.at[i];
        if (function->kind != FUNCTION_ENTRY || !function->has_body) continue;
        walk_from(&walk, i);
        struct str name = structure_name(c, function->name);
        report_shared(c, &walk, name);
        report_cta_groups(c, &walk, name);
        report_small(c, &walk, &small_reported);
        if (walk.visits < MOST_VISITS) continue;
        structure_report_as(c, RULE_LIMIT, SEVERITY_NOTE, function->span,
                            "too many entries reach too many functions: what the entries below "
                            "reach is not summed");
        return;
    }
}

void check_limits(struct checker *c) {
    check_constants(c);
    check_entries(c);
}

// ---- what nothing defines ---------------------------------------------------------------------

// Functions that the driver supplies (measured).
static bool is_supplied(struct str name) {
    static const char *const supplied[] = {"vprintf", "malloc", "free", "__assertfail"};
    for (uint32_t i = 0; i < sizeof supplied / sizeof *supplied; i++)
        if (str_eq(name, str_from(supplied[i]))) return true;
    return str_starts(name, STR("__cuda_syscall"));
}

static enum rule unresolved_rule(struct str name) {
    if (str_starts(name, STR("__nv_"))) return RULE_UNRESOLVED_LIBDEVICE;
    if (str_starts(name, STR("cuda"))) return RULE_NEEDS_CUDADEVRT;
    return RULE_UNRESOLVED_FUNCTION;
}

static void unresolved_function(struct checker *c, struct str name, struct span span,
                                struct span declaration, bool used) {
    enum severity severity =
        as_driver(c) && !c->options->relocatable ? SEVERITY_ERROR : SEVERITY_WARNING;
    enum rule rule = unresolved_rule(name);
    struct finding *finding = structure_report_as(
        c, rule, severity, span,
        used ? "`%.*s` is used and defined nowhere in this file"
             : "`%.*s` is declared, not as .extern, and defined nowhere in this file",
        STR_ARG(name));
    if (used) structure_label(c, finding, declaration, "declared here");
    if (rule == RULE_UNRESOLVED_LIBDEVICE)
        structure_help(c, finding, "link libdevice.10.bc before the PTX is written");
    else if (rule == RULE_NEEDS_CUDADEVRT)
        structure_help(c, finding, "link the PTX with libcudadevrt.a (cuLinkAddFile)");
    else
        structure_help(c, finding,
                       "link the file that defines it (cuLinkAddData), or define it here");
    structure_note(c, finding, "the driver supplies vprintf, malloc, free and __assertfail only");
}

// cudaDeviceSynchronize left the device with compute capability 9.0. The GPU counts, not .target
// (measured: sm_80 on a GPU of 9.0); where none is named, .target stands in.
static bool is_withdrawn(const struct checker *c, struct str name) {
    if (!str_eq(name, STR("cudaDeviceSynchronize"))) return false;
    for (uint32_t i = 0; i < c->options->deployment_count; i++)
        if (c->options->deployments[i].compute_capability >= 90) return true;
    return c->target.number >= 90;
}

static void check_use(struct checker *c, const struct function_use *use) {
    struct declared *declared = structure_declared(c, use->name);
    struct str name = structure_name(c, use->name);
    if (use->kind == USE_TARGET || declared->kind != DECLARED_FUNCTION || declared->known_missing)
        return;
    if (declared->defined || declared->alias_of != 0 || is_supplied(name)) return;
    declared->known_missing = true;
    const struct function *function = &c->module->functions.at[declared->first];
    struct span span = {use->offset, use->end};
    if (is_withdrawn(c, name)) {
        struct finding *finding = structure_report(
            c, RULE_NEEDS_CUDADEVRT, span,
            "`%.*s` cannot be called on compute capability 9.0 and later", STR_ARG(name));
        finding->predicts.result = RESULT_CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC;
        structure_help(c, finding,
                       "end the kernel where it waits, and launch the rest from the host");
        return;
    }
    unresolved_function(c, name, span, function->span, true);
}

static void check_declared_only(struct checker *c, const struct declared *declared, name_id id) {
    if (declared->kind != DECLARED_FUNCTION || declared->defined || declared->known_missing) return;
    if (declared->linkage == LINKAGE_EXTERN || declared->alias_of != 0) return;
    struct str name = structure_name(c, id);
    const struct function *function = &c->module->functions.at[declared->first];
    if (is_supplied(name)) return;
    if (function->kind != FUNCTION_ENTRY) {
        unresolved_function(c, name, function->span, function->span, false);
        return;
    }
    struct finding *finding = structure_report_as(
        c, RULE_ENTRY_WITHOUT_BODY,
        as_driver(c) && !c->options->relocatable ? SEVERITY_ERROR : SEVERITY_WARNING,
        function->span, "entry `%.*s` is declared and has no body in this file", STR_ARG(name));
    finding->kernel = name;
}

static void check_declared_variable(struct checker *c, const struct declared *declared,
                                    name_id id) {
    if (declared->kind != DECLARED_VARIABLE || declared->defined) return;
    const struct variable *variable = &c->module->variables.at[declared->first];
    struct str name = structure_name(c, id);
    if (variable->unsized && variable->space == SPACE_SHARED) return;
    bool fatal = variable->unsized && as_driver(c) && !c->options->relocatable;
    struct finding *finding = structure_report_as(
        c, RULE_UNRESOLVED_VARIABLE, fatal ? SEVERITY_ERROR : SEVERITY_WARNING, variable->span,
        "`%.*s` is .extern and defined nowhere in this file", STR_ARG(name));
    if (fatal)
        finding->predicts =
            (struct prediction){PHASE_LOAD, CONFIDENCE_CERTAIN, RESULT_CUDA_ERROR_INVALID_PTX};
    else if (!variable->unsized)
        structure_note(c, finding, "the driver gives it memory of its own, zeroed");
    structure_help(c, finding, "define it, or link the file that does");
}

void check_unresolved(struct checker *c) {
    for (uint32_t i = 0; i < c->uses.n; i++) check_use(c, &c->uses.at[i]);
    for (uint32_t i = 0; i < c->names.n; i++) {
        check_declared_only(c, &c->names.at[i], i);
        check_declared_variable(c, &c->names.at[i], i);
    }
}
