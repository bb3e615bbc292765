#include "analyzer/launch/judge.h"

#include "analyzer/launch/case.h"
#include "analyzer/launch/request.h"
#include "analyzer/rules/launch_rules.h"
#include "analyzer/rules/memory.h"

struct judging {
    struct launch_case first;  // of the first deployment, or the only one: what is run
    struct module_facts *facts;
    const struct launch *launch;
    const struct judge_options *options;
    struct arena *arena;
    struct judgement *judgement;
};

// The order in which cuLaunchKernel looks, as launches that were wrong in two ways showed
// (tools/launch_order.py): dimensions and the argument array; clusters; the cooperative grid; shared
// and local memory; registers and the size of a packed buffer. What is read past a short argument
// array comes last.
static uint32_t launch_order(enum rule rule) {
    switch (rule) {
    case RULE_CLUSTER_GRID: case RULE_CLUSTER_UNSUPPORTED: case RULE_CLUSTER_TOO_LARGE:
    case RULE_CLUSTER_MISMATCH: case RULE_CLUSTER_MISSING: case RULE_CLUSTER_RANK:
    case RULE_CLUSTER_ZERO:
        return 1;
    case RULE_COOPERATIVE_TOO_LARGE: return 2;
    case RULE_SHARED_NEEDS_OPTIN: case RULE_SHARED_OVER_DEVICE: case RULE_LOCAL_TOO_LARGE: return 3;
    case RULE_REGISTERS_EXCEEDED: case RULE_PACKED_TOO_LARGE: return 4;
    case RULE_TOO_FEW_ARGUMENTS: return 5;
    default: return 0;
    }
}

// The driver reads the text before it parses it, and .version before the rest.
static uint32_t load_order(int result) {
    switch (result) {
    case RESULT_CUDA_ERROR_INVALID_IMAGE: return 0;
    case RESULT_CUDA_ERROR_UNSUPPORTED_PTX_VERSION: return 1;
    default: return 2;
    }
}

static uint32_t order_of(const struct finding *finding) {
    uint32_t within = 0, phase = finding->predicts.phase;
    if (finding->rule == RULE_TOO_FEW_ARGUMENTS) phase = PHASE_LAUNCH;
    if (phase == PHASE_LOAD) within = load_order(finding->predicts.result);
    if (phase == PHASE_LAUNCH) within = launch_order((enum rule)finding->rule);
    return phase * 16u + within;
}

// Too few arguments predict no result, but the call in which it goes wrong.
static bool decides(const struct finding *finding) {
    if (finding->rule == RULE_TOO_FEW_ARGUMENTS) return true;
    return finding->severity == SEVERITY_ERROR && finding->predicts.phase != PHASE_NONE;
}

// The error that the driver meets first.
static const struct finding *first_failure(const struct findings *findings) {
    const struct finding *first = NULL;
    for (uint32_t i = 0; i < findings->list.n; i++) {
        const struct finding *finding = findings->list.at[i];
        if (decides(finding) && (first == NULL || order_of(finding) < order_of(first))) first = finding;
    }
    return first;
}


static void copy_findings(struct findings *to, const struct findings *from) {
    for (uint32_t i = 0; from != NULL && i < from->list.n; i++)
        *vec_push(to->arena, &to->list) = from->list.at[i];
    if (from != NULL) to->dropped += from->dropped;
}

static void judge_case(struct launch_case *c) {
    rules_visibility(c);
    rules_geometry(c);
    rules_cluster(c);
    rules_companions(c);
    rules_resources(c);
    if (!c->kernel->decl->parsed) return;
    rules_argument_list(c);
    rules_arguments(c);
}

static void take_occupancy(const struct launch_case *c, struct judgement *judgement) {
    judgement->occupancy = (struct occupancy){c->occupancy_known, c->occupancy.blocks_per_sm,
                                              c->occupancy.warps_per_sm, c->occupancy.limiter};
    if (!c->occupancy_known) judgement->occupancy.limiter = NULL;
}

static bool same_finding(const struct finding *a, const struct finding *b) {
    return a->rule == b->rule && a->place.source == b->place.source &&
           a->place.span.begin == b->place.span.begin && a->place.span.end == b->place.span.end &&
           a->severity == b->severity && str_eq(a->message, b->message);
}

static struct finding *find_same(struct findings *findings, const struct finding *wanted) {
    for (uint32_t i = 0; i < findings->list.n; i++)
        if (same_finding(findings->list.at[i], wanted)) return findings->list.at[i];
    return NULL;
}

// Findings of one deployment into those of all: one that is there already gets the other's name.
static void merge(struct judging *judging, struct findings *all, const struct findings *one) {
    for (uint32_t i = 0; i < one->list.n; i++) {
        struct finding *finding = one->list.at[i], *same = find_same(all, finding);
        if (same == NULL) *vec_push(all->arena, &all->list) = finding;
        else
            same->deployment = str_format(judging->arena, "%.*s, %.*s", STR_ARG(same->deployment),
                                          STR_ARG(finding->deployment));
    }
    all->dropped += one->dropped;
}

static struct str deployment_name(struct arena *arena, const struct deployment *deployment) {
    if (deployment->gpu_text.len == 0) return deployment->driver_text;
    if (deployment->driver_text.len == 0) return deployment->gpu_text;
    return str_format(arena, "%.*s with %.*s", STR_ARG(deployment->gpu_text),
                      STR_ARG(deployment->driver_text));
}

// What holds for every deployment names none.
static void clear_common(struct findings *findings, struct str every) {
    for (uint32_t i = 0; i < findings->list.n; i++)
        if (str_eq(findings->list.at[i]->deployment, every))
            findings->list.at[i]->deployment = (struct str){NULL, 0};
}

// What an argument alone makes likely, which a dry run finds for certain or rules out.
static bool foretold(enum rule rule) {
    switch (rule) {
    case RULE_HOST_POINTER: case RULE_NULL_POINTER: case RULE_POINTER_ALIGNMENT:
    case RULE_SCALAR_AS_POINTER: case RULE_DYNAMIC_SHARED_MISSING:
        return true;
    default: return false;
    }
}

static void drop_foretold(struct findings *findings, bool scratch) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < findings->list.n; i++) {
        struct finding *finding = findings->list.at[i];
        enum rule rule = (enum rule)finding->rule;
        if (foretold(rule) || (scratch && rule == RULE_SCRATCH_REQUIRED)) continue;
        findings->list.at[kept++] = finding;
    }
    findings->list.n = kept;
}

// Most blocks on an SM do not matter to what a block does: the first deployment stands for all.
static void run_dry(struct judging *judging) {
    struct judgement *judgement = judging->judgement;
    struct dryrun_request request;
    if (judging->options->budget <= 0 || !request_build(&judging->first, &request)) return;
    struct dryrun_result *dry = &judgement->dry;
    dryrun(&request, judging->arena, dry);
    judgement->ran = true;
    bool all_known = dry->complete && dry->unknown_addresses == 0, faults = dry->faults.n > 0;
    if (all_known || faults) drop_foretold(&judgement->findings, !faults);
    memory_findings(&request, dry, judging->launch, &judgement->findings);
}

static void judge_deployments(struct judging *judging, struct kernel *kernel, struct findings *found) {
    const struct judge_options *options = judging->options;
    struct launch_case c;
    if (options->deployments.n < 2) {
        const struct deployment *only = options->deployments.n == 1 ? &options->deployments.at[0] : NULL;
        case_init(&c, judging->facts, kernel, judging->launch, options, only, judging->arena, found);
        judge_case(&c);
        judging->first = c;
        return;
    }
    struct str every = {NULL, 0};
    for (uint32_t i = 0; i < options->deployments.n; i++) {
        const struct deployment *deployment = &options->deployments.at[i];
        struct findings one;
        findings_init(&one, judging->arena, found->limit);
        case_init(&c, judging->facts, kernel, judging->launch, options, deployment, judging->arena, &one);
        c.deployment = deployment_name(judging->arena, deployment);
        every = i == 0 ? c.deployment
                       : str_format(judging->arena, "%.*s, %.*s", STR_ARG(every), STR_ARG(c.deployment));
        judge_case(&c);
        if (i == 0) judging->first = c;
        merge(judging, found, &one);
    }
    clear_common(found, every);
}

// Parameters that are aligned to more than 16 bytes lie where the GPU's constant bank has them.
static void lay_out(const struct judge_options *options, struct kernel *kernel) {
    if (options->deployments.n == 0) return;
    uint32_t capability = options->deployments.at[0].compute_capability;
    if (options->deployments.at[0].gpu != NULL) capability = options->deployments.at[0].gpu->capability;
    if (capability != 0) facts_layout_params(kernel, capability);
}

static struct kernel *own_kernel(struct module_facts *facts, const struct kernel *kernel) {
    return kernel == NULL ? NULL : &facts->kernels.at[kernel - facts->kernels.at];
}

// What the device answers when the launch was accepted: the dry run's word where it was made.
static void predict_run(struct judgement *judgement) {
    const struct dryrun_result *dry = &judgement->dry;
    judgement->predicted = (struct prediction){PHASE_RUN, dry->confidence, dry->result};
    if (dry->also == 0) return;
    judgement->also[0] = dry->also;
    judgement->also_count = 1;
}

static void predict(struct judging *judging) {
    struct judgement *judgement = judging->judgement;
    const struct finding *first = first_failure(&judgement->findings);
    if (judgement->ran && (first == NULL || first->predicts.phase == PHASE_RUN)) {
        predict_run(judgement);
        return;
    }
    judgement->predicted = (struct prediction){PHASE_RUN, CONFIDENCE_LIKELY, RESULT_CUDA_SUCCESS};
    if (first == NULL) return;
    judgement->predicted = first->predicts;
    judgement->predicted.confidence = first->confidence;
    if (first->rule != RULE_TOO_FEW_ARGUMENTS) return;
    judgement->predicted.phase = PHASE_LAUNCH;
    judgement->result_unknown = true;
}

static bool open_ended(const struct judging *judging) {
    const struct kernel *kernel = judging->judgement->kernel;
    const struct launch *launch = judging->launch;
    if (kernel == NULL) return true;
    bool block = launch->has_block || kernel->has_reqntid ||
                 (kernel->metadata != NULL && kernel->metadata->threads != 0);
    return !block || (!launch->has_arguments && kernel->params.n > 0);
}

static void decide_verdict(const struct judging *judging) {
    struct judgement *judgement = judging->judgement;
    judgement->verdict = VERDICT_OK;
    if (findings_count(&judgement->findings, SEVERITY_ERROR) > 0) judgement->verdict = VERDICT_FAILS;
    else if (open_ended(judging)) judgement->verdict = VERDICT_UNKNOWN;
}

void launch_judge(struct module_facts *facts, const struct findings *load_findings,
                  const struct launch *launch, const struct judge_options *options,
                  struct arena *arena, struct judgement *judgement) {
    *judgement = (struct judgement){.launch = *launch};
    struct judging judging = {.facts = facts, .launch = launch, .options = options, .arena = arena,
                              .judgement = judgement};
    struct findings *found = &judgement->findings;
    findings_init(found, arena, load_findings == NULL ? 0 : load_findings->limit);
    bool loads = load_findings == NULL || first_failure(load_findings) == NULL;
    struct kernel *kernel = own_kernel(facts, rules_kernel(facts, launch, loads, arena, found));
    judgement->kernel = kernel;
    if (kernel != NULL) {
        lay_out(options, kernel);
        judge_deployments(&judging, kernel, found);
        take_occupancy(&judging.first, judgement);
        if (loads && first_failure(found) == NULL) run_dry(&judging);
    }
    copy_findings(found, load_findings);
    findings_sort(found);
    predict(&judging);
    decide_verdict(&judging);
}
