// Family 10, of launches: what a compiler's metadata says of how its kernel is launched.
#include "analyzer/launch/rewrite.h"
#include "analyzer/rules/launch_rules.h"

#define U64(n) (unsigned long long)(n)

static uint64_t ctas_of(const struct kernel_metadata *metadata) {
    uint64_t dims = 1;
    for (int i = 0; i < 3; i++)
        if (metadata->cluster[i].known && metadata->cluster[i].value <= 1024)
            dims *= metadata->cluster[i].value;
    uint64_t ctas = metadata->num_ctas.known ? metadata->num_ctas.value : 1;
    return ctas > dims ? ctas : dims;
}

static void label_ctas(struct launch_case *c, struct finding *finding) {
    const struct kernel_metadata *metadata = c->kernel->metadata;
    if (metadata->source == NULL || metadata->num_ctas.span.end == 0) return;
    struct place place = {metadata->source, metadata->num_ctas.span};
    finding_label(c->findings, finding, place, "blocks of a cluster");
}

// Releases that leave the cluster out of the PTX rely on the launch attribute.
static void no_cluster(struct launch_case *c, uint64_t ctas) {
    struct finding *finding =
        case_finding(c, RULE_TRITON_GRID_CTAS, case_launch_place(c, c->launch->grid_span));
    finding_message(c->findings, finding,
                    "no cluster is given; the kernel was compiled for clusters of %llu", U64(ctas));
    label_ctas(c, finding);
    finding_help(c->findings, finding,
                 "add cluster=(%llu,1,1), and multiply the programs on x by %llu", U64(ctas),
                 U64(ctas));
}

static void counts_programs(struct launch_case *c, uint64_t ctas) {
    struct finding *finding =
        case_finding(c, RULE_TRITON_GRID_CTAS, case_launch_place(c, c->launch->grid_span));
    finding_message(c->findings, finding,
                    "a grid of %llu on x counts no whole clusters of %llu: Triton's grid counts "
                    "programs, the launch blocks", U64(c->launch->grid[0]), U64(ctas));
    label_ctas(c, finding);
    uint64_t grid[3] = {c->launch->grid[0], c->launch->grid[1], c->launch->grid[2]};
    if (__builtin_mul_overflow(grid[0], ctas, &grid[0])) return;
    finding_help(c->findings, finding, "%llu programs are a grid of %.*s", U64(c->launch->grid[0]),
                 STR_ARG(rewrite_dimensions(c->arena, grid)));
}

void rules_companions(struct launch_case *c) {
    if (c->kernel->metadata == NULL) return;
    uint64_t ctas = ctas_of(c->kernel->metadata);
    if (ctas < 2 || ctas > 1024) return;
    if (!c->clustered && !c->kernel->explicit_cluster) no_cluster(c, ctas);
    else if (c->launch->grid[0] % ctas != 0) counts_programs(c, ctas);
}
