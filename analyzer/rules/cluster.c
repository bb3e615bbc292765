// Family 06: clusters, cooperative launches, launch attributes.
#include "analyzer/launch/rewrite.h"
#include "analyzer/rules/launch_rules.h"
#include "base/checked.h"

#define U64(n) (unsigned long long)(n)

// Blocks of a cluster that every GPU with clusters takes, and with the attribute (CUDA C++
// Programming Guide, "Thread Block Clusters").
enum { PORTABLE_CLUSTER = 8, LARGEST_CLUSTER = 16 };

// With a cluster attribute a cooperative launch was never given more blocks of an SM (measured on
// an H200).
enum { COOPERATIVE_CLUSTER_BLOCKS = 8 };

static const char axes[] = "xyz";

static struct place cluster_place(const struct launch_case *c) {
    if (c->launch->has_cluster) return case_launch_place(c, c->launch->cluster_span);
    const struct directive_use *use =
        function_directive(c->kernel->decl, DIRECTIVE_REQNCTAPERCLUSTER);
    return case_ptx_place(c, use->span);
}

static void label_directive(struct launch_case *c, struct finding *finding, enum directive directive,
                            const char *text) {
    const struct directive_use *use = function_directive(c->kernel->decl, directive);
    if (use != NULL) finding_label(c->findings, finding, case_ptx_place(c, use->span), "%s", text);
}

static struct str cluster_word(const struct launch_case *c, const uint64_t cluster[3]) {
    return str_format(c->arena, "cluster=(%llu,%llu,%llu)", U64(cluster[0]), U64(cluster[1]),
                      U64(cluster[2]));
}

static void help_cluster(struct launch_case *c, struct finding *finding, const uint64_t cluster[3]) {
    struct str line = rewrite_tail(c->arena, c->launch, c->launch->cluster_span,
                                   cluster_word(c, cluster));
    finding_help(c->findings, finding, "%.*s", STR_ARG(line));
}

static void cluster_zero(struct launch_case *c) {
    struct finding *finding = case_finding(c, RULE_CLUSTER_ZERO, cluster_place(c));
    finding_message(c->findings, finding, "cluster of %.*s: every axis must be at least 1",
                    STR_ARG(rewrite_dimensions(c->arena, c->cluster)));
}

static bool has_clusters(const struct launch_case *c) {
    return c->limits == NULL || c->gpu_assumed || c->limits->cluster_max != 0;
}

static void cluster_unsupported(struct launch_case *c) {
    if (has_clusters(c) || !c->launch->has_cluster) return;
    struct finding *finding = case_finding(c, RULE_CLUSTER_UNSUPPORTED, cluster_place(c));
    finding_message(c->findings, finding,
                    "a cluster on %.*s of compute capability %u.%u, where clusters begin with 9.0",
                    STR_ARG(c->gpu->name), c->limits->capability / 10u, c->limits->capability % 10u);
    finding_help(c->findings, finding, "leave the cluster out");
}

static void cluster_mismatch(struct launch_case *c) {
    if (!c->launch->has_cluster || !c->kernel->has_reqnctapercluster) return;
    if (memcmp(c->launch->cluster, c->kernel->reqnctapercluster, sizeof c->cluster) == 0) return;
    struct finding *finding = case_finding(c, RULE_CLUSTER_MISMATCH, cluster_place(c));
    finding_message(c->findings, finding, "cluster of %.*s where `.reqnctapercluster` requires %.*s",
                    STR_ARG(rewrite_dimensions(c->arena, c->launch->cluster)),
                    STR_ARG(rewrite_dimensions(c->arena, c->kernel->reqnctapercluster)));
    label_directive(c, finding, DIRECTIVE_REQNCTAPERCLUSTER, "compiled for this cluster");
    help_cluster(c, finding, c->kernel->reqnctapercluster);
}

static void cluster_missing(struct launch_case *c) {
    if (!c->kernel->explicit_cluster || c->clustered) return;
    struct finding *finding =
        case_finding(c, RULE_CLUSTER_MISSING, case_launch_place(c, c->launch->grid_span));
    finding_message(c->findings, finding, "no cluster is given, and `.explicitcluster` requires one");
    label_directive(c, finding, DIRECTIVE_EXPLICITCLUSTER, "the launch must state the cluster");
    struct str line = rewrite_tail(c->arena, c->launch, c->launch->cluster_span, STR("cluster=(2,1,1)"));
    finding_help(c->findings, finding, "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, e.g. %.*s", STR_ARG(line));
}

static void cluster_rank(struct launch_case *c) {
    uint64_t most = c->kernel->maxclusterrank;
    if (most == 0 || c->cluster_blocks <= most) return;
    struct finding *finding = case_finding(c, RULE_CLUSTER_RANK, cluster_place(c));
    finding_message(c->findings, finding, "cluster of %llu blocks exceeds `.maxclusterrank %llu`",
                    U64(c->cluster_blocks), U64(most));
    label_directive(c, finding, DIRECTIVE_MAXCLUSTERRANK, "compiled for smaller clusters");
    finding_help(c->findings, finding, "use a cluster of at most %llu blocks", U64(most));
}

static void cluster_size(struct launch_case *c) {
    bool known = c->limits != NULL && !c->gpu_assumed && c->limits->cluster_max != 0;
    uint64_t portable = known ? c->limits->cluster_portable : PORTABLE_CLUSTER;
    uint64_t largest = known ? c->limits->cluster_max : LARGEST_CLUSTER;
    bool unconfirmed = known && c->limits->cluster_max_unconfirmed;
    if (unconfirmed && largest < LARGEST_CLUSTER) largest = LARGEST_CLUSTER;
    uint64_t most = c->launch->nonportable ? largest : portable;
    if (c->cluster_blocks <= most) return;
    struct finding *finding = case_finding(c, RULE_CLUSTER_TOO_LARGE, cluster_place(c));
    if (c->cluster_blocks > largest) {
        finding_message(c->findings, finding, "cluster of %llu blocks, where at most %llu are possible",
                        U64(c->cluster_blocks), U64(largest));
        finding_help(c->findings, finding, "use a cluster of at most %llu blocks", U64(largest));
        return;
    }
    finding_message(c->findings, finding,
                    "cluster of %llu blocks, where at most %llu are allowed without the non-portable attribute",
                    U64(c->cluster_blocks), U64(portable));
    struct str line = rewrite_tail(c->arena, c->launch, c->launch->nonportable_span, STR("nonportable"));
    finding_help(c->findings, finding,
                 "cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1): %.*s",
                 STR_ARG(line));
}

static void cluster_grid(struct launch_case *c) {
    if (c->kernel->blocks_are_clusters) return;
    uint64_t fixed[3];
    int wrong = -1;
    for (int axis = 0; axis < 3; axis++) {
        uint64_t n = c->launch->grid[axis], size = c->cluster[axis];
        fixed[axis] = (n / size + (n % size != 0)) * size;
        if (wrong < 0 && n % size != 0) wrong = axis;
    }
    if (wrong < 0) return;
    struct finding *finding =
        case_finding(c, RULE_CLUSTER_GRID, case_launch_place(c, c->launch->grid_span));
    finding_message(c->findings, finding, "grid of %llu in %c is no multiple of the cluster's %llu",
                    U64(c->launch->grid[wrong]), axes[wrong], U64(c->cluster[wrong]));
    if (c->launch->has_cluster)
        finding_label(c->findings, finding, cluster_place(c), "blocks are launched in clusters of this size");
    else label_directive(c, finding, DIRECTIVE_REQNCTAPERCLUSTER, "compiled for clusters of this size");
    struct str line = rewrite_grid(c->arena, c->launch, fixed);
    finding_help(c->findings, finding, "round the grid up: %.*s", STR_ARG(line));
}

static void grid_counts_clusters(struct launch_case *c) {
    if (!c->kernel->blocks_are_clusters) return;
    struct finding *finding =
        case_finding(c, RULE_GRID_COUNTS_CLUSTERS, case_launch_place(c, c->launch->grid_span));
    finding_message(c->findings, finding, "the grid counts clusters, of %llu blocks each",
                    U64(c->cluster_blocks));
    label_directive(c, finding, DIRECTIVE_BLOCKSARECLUSTERS, "the grid is in units of clusters");
}

// Blocks that are resident at once. `exact`: the registers are known.
struct resident { uint64_t blocks; bool exact; };

static uint64_t resident_per_sm(const struct launch_case *c) {
    uint64_t limit, shared;
    if (!add_u64(c->shared_max, c->kernel->shared_static, &limit)) limit = UINT64_MAX;
    if (!add_u64(c->shared, c->kernel->shared_static, &shared)) shared = UINT64_MAX;
    uint64_t regs = c->regs_known ? c->regs : 1;
    struct occupancy_request request = {c->threads, regs, shared, limit, c->kernel->named_barriers};
    return occupancy_compute(c->limits, &request).blocks_per_sm;
}

static struct resident resident_blocks(const struct launch_case *c) {
    uint64_t per_sm = resident_per_sm(c);
    if (c->launch->has_cluster && per_sm > COOPERATIVE_CLUSTER_BLOCKS) per_sm = COOPERATIVE_CLUSTER_BLOCKS;
    return (struct resident){per_sm * c->gpu->sm_count, c->regs_known};
}

static uint64_t product(const uint64_t n[3]) {
    uint64_t out;
    return mul_u64(n[0], n[1], &out) && mul_u64(out, n[2], &out) ? out : UINT64_MAX;
}

static void cooperative_too_large(struct launch_case *c) {
    if (!c->launch->cooperative || !c->block_known || c->threads == 0) return;
    if (c->limits == NULL || c->threads > c->limits->block_threads) return;
    if (c->gpu->sm_count == 0) {
        struct finding *finding =
            case_finding(c, RULE_GPU_UNKNOWN, case_launch_place(c, c->launch->cooperative_span));
        finding_message(c->findings, finding,
                        "a cooperative grid must be resident at once; how many blocks that is depends on the GPU");
        finding_help(c->findings, finding, "name the product, e.g. --gpu h200");
        return;
    }
    struct resident resident = resident_blocks(c);
    uint64_t blocks = product(c->launch->grid);
    if (blocks <= resident.blocks) return;
    struct finding *finding =
        case_finding(c, RULE_COOPERATIVE_TOO_LARGE, case_launch_place(c, c->launch->grid_span));
    if (c->gpu->sm_unconfirmed) {
        finding->severity = SEVERITY_WARNING;
        finding->confidence = CONFIDENCE_POSSIBLE;
    }
    finding_message(c->findings, finding,
                    "cooperative grid of %llu blocks, where %s%llu are resident at once on %.*s",
                    U64(blocks), resident.exact ? "" : "at most ", U64(resident.blocks),
                    STR_ARG(c->gpu->name));
    finding_note(c->findings, finding, "%u SMs, %llu blocks each", c->gpu->sm_count,
                 U64(resident.blocks / c->gpu->sm_count));
    finding_help(c->findings, finding, resident.blocks == 0
                     ? "make a block fit an SM: fewer threads, registers or bytes of shared memory"
                     : "launch at most %llu blocks and loop over the work in the kernel", U64(resident.blocks));
}

// The blocks of a cluster are on the SMs of one GPC. Eight SMs are there on every GPU with clusters;
// how many more depends on the product and on what was switched off.
static void cluster_does_not_fit(struct launch_case *c) {
    if (c->limits == NULL || !c->block_known || c->cluster_blocks <= PORTABLE_CLUSTER) return;
    if (c->cluster_blocks > LARGEST_CLUSTER) return;
    uint64_t per_sm = resident_per_sm(c);
    if (per_sm == 0 || per_sm * PORTABLE_CLUSTER >= c->cluster_blocks) return;
    struct finding *finding = case_finding(c, RULE_CLUSTER_DOES_NOT_FIT, cluster_place(c));
    finding->severity = SEVERITY_NOTE;
    finding->confidence = finding->predicts.confidence = CONFIDENCE_POSSIBLE;
    finding_message(c->findings, finding,
                    "a cluster of %llu blocks, at most %llu on an SM, needs %llu SMs in one GPC",
                    U64(c->cluster_blocks), U64(per_sm),
                    U64((c->cluster_blocks + per_sm - 1) / per_sm));
    finding_help(c->findings, finding,
                 "cuOccupancyMaxActiveClusters says whether a GPU has them; smaller blocks or clusters always fit");
}

static void cooperative_missing(struct launch_case *c) {
    bool stated = c->kernel->metadata != NULL && c->kernel->metadata->cooperative;
    if (c->launch->cooperative || !(stated || c->kernel->syncs_grid)) return;
    struct finding *finding =
        case_finding(c, RULE_COOPERATIVE_MISSING, case_launch_place(c, c->launch->grid_span));
    finding_message(c->findings, finding, stated ? "the metadata asks for a cooperative launch"
                                                 : "the kernel synchronises its grid, which an ordinary launch does not support");
    struct str line = rewrite_tail(c->arena, c->launch, c->launch->cooperative_span, STR("cooperative"));
    finding_help(c->findings, finding, "CU_LAUNCH_ATTRIBUTE_COOPERATIVE: %.*s", STR_ARG(line));
}

static void pdl_missing(struct launch_case *c) {
    bool stated = c->kernel->metadata != NULL && c->kernel->metadata->pdl;
    if (c->launch->pdl || !(stated || c->kernel->waits_for_grid)) return;
    struct finding *finding =
        case_finding(c, RULE_PDL_MISSING, case_launch_place(c, c->launch->grid_span));
    finding_message(c->findings, finding,
                    "the kernel waits for the grid before it; without the attribute it starts after that grid anyway");
    finding_help(c->findings, finding,
                 "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION lets the two overlap: `pdl`");
}

void rules_cluster(struct launch_case *c) {
    cluster_missing(c);
    cluster_unsupported(c);
    if (c->clustered && c->cluster_blocks == 0) cluster_zero(c);
    else if (c->clustered && has_clusters(c)) {
        cluster_mismatch(c);
        cluster_rank(c);
        cluster_size(c);
        cluster_grid(c);
        cluster_does_not_fit(c);
    }
    grid_counts_clusters(c);
    cooperative_too_large(c);
    cooperative_missing(c);
    pdl_missing(c);
}
