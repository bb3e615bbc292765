#include "analyzer/launch/case.h"

#include "base/checked.h"
#include "isa/floor.h"

struct place case_launch_place(const struct launch_case *c, struct span span) {
    return (struct place){c->launch->source, span};
}

struct place case_ptx_place(const struct launch_case *c, struct span span) {
    return (struct place){c->module->source, span};
}

struct finding *case_finding(struct launch_case *c, enum rule rule, struct place place) {
    struct finding *finding = finding_add(c->findings, rule, place);
    finding->kernel = c->kernel->name;
    finding->deployment = c->deployment;
    return finding;
}

static uint64_t product(const uint64_t n[3]) {
    uint64_t out;
    if (!mul_u64(n[0], n[1], &out) || !mul_u64(out, n[2], &out)) return UINT64_MAX;
    return out;
}

static void choose_gpu(struct launch_case *c, const struct deployment *deployment) {
    if (deployment != NULL) c->gpu = deployment->gpu;
    if (c->gpu == NULL && deployment != NULL && deployment->compute_capability != 0)
        c->gpu = isa_gpu_architecture(deployment->compute_capability);
    if (c->gpu == NULL) {
        struct isa_target target = isa_target_parse(c->module->target);
        c->gpu = isa_gpu_architecture(target.number);
        c->gpu_assumed = true;
    }
    if (c->gpu != NULL) c->limits = c->gpu->limits;
}

// A launch of (1, 1, 1) runs the block that `.reqntid` states: measured on driver 580.159 (an H200),
// where a one-element buffer is overrun by the other threads. Every other block must be the stated one.
static void take_required_block(struct launch_case *c) {
    const uint64_t *want = c->kernel->reqntid;
    if (!c->launch->has_block || !c->kernel->has_reqntid || c->threads != 1) return;
    c->block_from_reqntid = product(want) != 1;
    memcpy(c->block, want, sizeof c->block);
    c->threads = product(want);
}

static void choose_block(struct launch_case *c) {
    const struct kernel_metadata *metadata = c->kernel->metadata;
    c->block[0] = c->block[1] = c->block[2] = 1;
    c->block_known = true;
    if (c->launch->has_block) memcpy(c->block, c->launch->block, sizeof c->block);
    else if (c->kernel->has_reqntid) memcpy(c->block, c->kernel->reqntid, sizeof c->block);
    else if (metadata != NULL && metadata->threads != 0) {
        c->block[0] = metadata->threads;
        c->block_from_metadata = true;
    } else c->block_known = false;
    c->threads = product(c->block);
    take_required_block(c);
}

static void choose_shared(struct launch_case *c) {
    const struct kernel_metadata *metadata = c->kernel->metadata;
    c->shared = c->launch->shared;
    if (c->launch->has_shared || c->launch->has_block) return;
    if (metadata == NULL || !metadata->shared.known) return;
    c->shared = metadata->shared.value;
    c->shared_from_metadata = true;
}

// Static + dynamic that any GPU on which the file loads allows.
static uint64_t loosest_optin(const struct launch_case *c) {
    if (!c->gpu_assumed) return c->limits->optin_shared;
    uint64_t most = 0;
    for (uint32_t i = 0; i < isa_limit_count; i++)
        if (isa_limits[i].capability >= c->limits->capability && isa_limits[i].optin_shared > most)
            most = isa_limits[i].optin_shared;
    return most;
}

static uint64_t least_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }

// As the driver has it (measured): without the attribute the function allows 49152 bytes with its
// static part, or, where that part alone is more, all that the GPU has. The attribute replaces that,
// upwards and downwards.
static void choose_shared_max(struct launch_case *c) {
    const struct launch *launch = c->launch;
    uint64_t fixed = c->kernel->shared_static, plain = 49152;
    c->optin_max = c->limits == NULL ? UINT64_MAX : loosest_optin(c);
    if (c->limits != NULL) plain = c->limits->block_shared;
    uint64_t whole = fixed <= plain ? plain : c->optin_max;
    c->shared_max = whole > fixed ? whole - fixed : 0;
    if (!launch->has_optin && !(c->shared_from_metadata && c->shared > c->shared_max)) return;
    uint64_t room = c->optin_max > fixed ? c->optin_max - fixed : 0;
    bool automatic = launch->optin_auto || !launch->has_optin;
    c->shared_max = automatic ? least_u64(c->shared, room) : launch->optin;
}

static void choose_cluster(struct launch_case *c) {
    c->cluster[0] = c->cluster[1] = c->cluster[2] = 1;
    c->clustered = c->launch->has_cluster || c->kernel->has_reqnctapercluster;
    if (c->launch->has_cluster) memcpy(c->cluster, c->launch->cluster, sizeof c->cluster);
    else if (c->kernel->has_reqnctapercluster)
        memcpy(c->cluster, c->kernel->reqnctapercluster, sizeof c->cluster);
    c->cluster_blocks = product(c->cluster);
}

// Launch bounds make ptxas fit the registers to a block of that size.
static void bound_registers(struct launch_case *c, const uint64_t block[3], const char *why) {
    uint64_t threads = product(block);
    if (c->limits == NULL || threads == 0) return;
    if (threads > c->limits->block_threads) threads = c->limits->block_threads;
    uint64_t regs = c->limits->thread_registers;
    while (regs > 1 && occupancy_register_threads(c->limits, regs) < threads) regs--;
    if (c->regs_bounded && c->regs_most <= regs) return;
    c->regs_bounded = true;
    c->regs_most = regs;
    c->regs_why = why;
}

static void choose_registers(struct launch_case *c) {
    c->regs_known = c->launch->has_regs;
    c->regs = least_u64(c->launch->regs, 1 << 20);  // none has so many; sums below cannot overflow
    if (c->regs_known) return;
    if (c->kernel->maxnreg != 0) {
        c->regs_bounded = true;
        c->regs_most = c->kernel->maxnreg > 255 ? 255 : c->kernel->maxnreg;
        c->regs_why = ".maxnreg";
    }
    if (c->kernel->has_maxntid) bound_registers(c, c->kernel->maxntid, ".maxntid");
    if (c->kernel->has_reqntid) bound_registers(c, c->kernel->reqntid, ".reqntid");
}

static void choose_occupancy(struct launch_case *c) {
    if (!c->regs_known || c->limits == NULL || !c->block_known) return;
    uint64_t limit, shared;
    if (!add_u64(c->shared_max, c->kernel->shared_static, &limit)) limit = UINT64_MAX;
    if (!add_u64(c->shared, c->kernel->shared_static, &shared)) shared = UINT64_MAX;
    struct occupancy_request request = {c->threads, c->regs, shared, limit, c->kernel->named_barriers};
    c->occupancy = occupancy_compute(c->limits, &request);
    c->occupancy_known = true;
}

static struct str param_user_name(const struct kernel_param *param) {
    return param->user_name.len != 0 ? param->user_name : param->name;
}

uint32_t case_param_of(const struct launch_case *c, uint32_t index) {
    const struct argument *argument = &c->launch->arguments.at[index];
    if (argument->name.len == 0) return index < c->kernel->params.n ? index : NO_INDEX;
    for (uint32_t i = 0; i < c->kernel->params.n; i++) {
        const struct kernel_param *param = &c->kernel->params.at[i];
        if (str_eq(argument->name, param->name) || str_eq(argument->name, param_user_name(param)))
            return i;
    }
    // Names are known only where metadata gives them; elsewhere a name is a remark.
    return index < c->kernel->params.n ? index : NO_INDEX;
}

uint64_t case_argument_size(const struct launch_case *c, const struct argument *argument,
                            const struct kernel_param *param) {
    switch (argument->kind) {
    case ARGUMENT_BUFFER: case ARGUMENT_POINTER: case ARGUMENT_NULL: case ARGUMENT_HOST: return 8;
    case ARGUMENT_TYPED: return argument->is_bool ? 1 : isa_types[argument->type].bits / 8u;
    case ARGUMENT_BYTES: return argument->size;
    case ARGUMENT_TENSORMAP: return 128;
    case ARGUMENT_INT:
        if (c->options->host == HOST_CUPY) return 8;
        return param != NULL ? param->size : 0;
    default: return param != NULL ? param->size : 0;
    }
}

// The packed buffer ends with its last argument, each at its parameter's offset.
static uint64_t packed_size(const struct launch_case *c) {
    if (c->launch->has_packed_size) return c->launch->packed_size;
    uint64_t end = 0;
    for (uint32_t i = 0; i < c->launch->arguments.n; i++) {
        const struct argument *argument = &c->launch->arguments.at[i];
        const struct kernel_param *param = i < c->kernel->params.n ? &c->kernel->params.at[i] : NULL;
        uint64_t size = case_argument_size(c, argument, param), at = end;
        if (param != NULL) {
            end = param->offset + param->size;
            continue;
        }
        if (size == 0) size = 8;
        uint64_t align = size <= 16 && is_power_of_two(size) ? size : 8;
        if (!align_u64(end, align, &at) || !add_u64(at, size, &end)) return UINT64_MAX;
    }
    return end;
}

void case_init(struct launch_case *c, struct module_facts *facts, const struct kernel *kernel,
               const struct launch *launch, const struct judge_options *options,
               const struct deployment *deployment, struct arena *arena, struct findings *findings) {
    *c = (struct launch_case){.facts = facts, .module = facts->module, .kernel = kernel,
                              .launch = launch, .options = options, .findings = findings,
                              .arena = arena};
    choose_gpu(c, deployment);
    choose_block(c);
    choose_shared(c);
    choose_shared_max(c);
    choose_cluster(c);
    choose_registers(c);
    choose_occupancy(c);
    c->packed_size = packed_size(c);
}
