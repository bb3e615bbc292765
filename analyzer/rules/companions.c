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

static const struct {
    struct str begin;
    const char *note;
} conventions[] = {
    {{"Numba array", 11},
     "Numba spreads an array of n dimensions over 5 + 2n parameters: `ptxvet info` says what each is"},
    {{"CUDA.jl's own state", 19},
     "CUDA.jl puts a state of its own before the arguments: `ptxvet info` says what each is"},
    {{"CuPy ", 5}, "CuPy passes arrays and indexers by value: `ptxvet info` says what each holds"},
    {{"Rust slice", 10}, "a slice of Rust is its pointer and its length: two parameters"},
    {{"tensor map of a descriptor", 26},
     "Triton spreads a tensor descriptor over a map, its sizes (i32) and its strides (i64)"},
};

const char *rules_convention(const struct kernel *kernel) {
    for (uint32_t i = 0; i < kernel->params.n; i++)
        for (size_t k = 0; k < sizeof conventions / sizeof conventions[0]; k++)
            if (str_starts(kernel->params.at[i].what, conventions[k].begin))
                return conventions[k].note;
    return NULL;
}

void rules_companions(struct launch_case *c) {
    if (c->kernel->metadata == NULL) return;
    uint64_t ctas = ctas_of(c->kernel->metadata);
    if (ctas < 2 || ctas > 1024) return;
    if (!c->clustered && !c->kernel->explicit_cluster) no_cluster(c, ctas);
    else if (c->launch->grid[0] % ctas != 0) counts_programs(c, ctas);
}
