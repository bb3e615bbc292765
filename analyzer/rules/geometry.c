// Family 06: grid and block against the launch directives and the GPU.
#include "analyzer/launch/rewrite.h"
#include "analyzer/rules/launch_rules.h"
#include "base/checked.h"

#define U64(n) (unsigned long long)(n)

static const char axes[] = "xyz";

static struct str dimensions(const struct launch_case *c, const uint64_t n[3]) {
    return rewrite_dimensions(c->arena, n);
}

static uint64_t product(const uint64_t n[3]) {
    uint64_t out;
    return mul_u64(n[0], n[1], &out) && mul_u64(out, n[2], &out) ? out : UINT64_MAX;
}

static const struct directive_use *last_use(const struct launch_case *c, enum directive directive) {
    const struct function *decl = c->kernel->decl;
    for (uint32_t i = decl->directives.n; i-- > 0;)
        if (decl->directives.at[i].directive == directive) return &decl->directives.at[i];
    return NULL;
}

static struct str directive_text(const struct launch_case *c, const struct directive_use *use) {
    return source_text(c->module->source, use->span);
}

static void label_directive(struct launch_case *c, struct finding *finding,
                            const struct directive_use *use, const char *what, uint64_t n) {
    finding_label(c->findings, finding, case_ptx_place(c, use->span),
                  "compiled for %s%llu threads per block", what, U64(n));
}

// Where the block was written; the grid stands in for what metadata supplied.
static struct place block_place(const struct launch_case *c) {
    const struct launch *launch = c->launch;
    return case_launch_place(c, launch->has_block ? launch->block_span : launch->grid_span);
}

static void triton_note(struct launch_case *c, struct finding *finding, uint64_t threads) {
    if (c->facts->generator != GENERATOR_TRITON) return;
    finding_note(c->findings, finding,
                 "a Triton kernel: BLOCK_SIZE counts elements, not threads; threads = 32 x num_warps = %llu",
                 U64(threads));
}

static void help_block(struct launch_case *c, struct finding *finding, const uint64_t block[3]) {
    struct str line = rewrite_block(c->arena, c->launch, block);
    finding_help(c->findings, finding, "%.*s", STR_ARG(line));
}

static void zero_axis(struct launch_case *c, const char *what, struct span span, const uint64_t n[3]) {
    for (int axis = 0; axis < 3; axis++) {
        if (n[axis] != 0) continue;
        struct finding *finding = case_finding(c, RULE_ZERO_DIMENSION, case_launch_place(c, span));
        finding_message(c->findings, finding, "the %s has 0 in %c", what, axes[axis]);
        finding_caption(c->findings, finding, "must be at least 1");
        finding_help(c->findings, finding, "skip the launch when there is nothing to do");
        return;
    }
}

static void grid_limits(struct launch_case *c) {
    const uint64_t *grid = c->launch->grid;
    const uint64_t most[3] = {c->limits == NULL ? 2147483647 : c->limits->grid_x,
                              c->limits == NULL ? 65535 : c->limits->grid_y,
                              c->limits == NULL ? 65535 : c->limits->grid_z};
    for (int axis = 0; axis < 3; axis++) {
        if (grid[axis] <= most[axis]) continue;
        struct finding *finding =
            case_finding(c, RULE_GRID_AXIS_LIMIT, case_launch_place(c, c->launch->grid_span));
        finding_message(c->findings, finding, "grid of %llu in %c, where at most %llu are allowed",
                        U64(grid[axis]), axes[axis], U64(most[axis]));
        if (axis == 0)
            finding_help(c->findings, finding, "give each block more work, or split the launch");
        else if (grid[0] <= 65535 && grid[axis] <= most[0]) {
            uint64_t turned[3] = {grid[0], grid[1], grid[2]};
            turned[0] = grid[axis];
            turned[axis] = grid[0];
            struct str line = rewrite_grid(c->arena, c->launch, turned);
            finding_help(c->findings, finding,
                         "put the long axis on x, and read it there in the kernel: %.*s", STR_ARG(line));
        } else finding_help(c->findings, finding, "spread the blocks over x, which takes 2147483647");
    }
}

// 32 times the warps that fit in `most` threads: what a launch could use instead.
static void block_of(uint64_t threads, uint64_t out[3]) {
    out[0] = threads;
    out[1] = out[2] = 1;
}

static bool maxntid(struct launch_case *c) {
    const struct directive_use *use = last_use(c, DIRECTIVE_MAXNTID);
    if (use == NULL) return false;
    uint64_t most = product(c->kernel->maxntid), fixed[3];
    if (c->threads <= most || most == 0) return false;
    struct finding *finding = case_finding(c, RULE_MAXNTID_EXCEEDED, block_place(c));
    finding_message(c->findings, finding, "block of %llu threads exceeds `%.*s`", U64(c->threads),
                    STR_ARG(directive_text(c, use)));
    finding_caption(c->findings, finding, "%llu threads", U64(c->threads));
    label_directive(c, finding, use, "at most ", most);
    triton_note(c, finding, most);
    if (most <= 1024) {
        block_of(most, fixed);
        help_block(c, finding, fixed);
    }
    return true;
}

static bool reqntid_possible(const struct launch_case *c) {
    const uint64_t *n = c->kernel->reqntid;
    uint64_t threads = c->limits == NULL ? 1024 : c->limits->block_threads;
    return product(n) <= threads && n[0] <= 1024 && n[1] <= 1024 && n[2] <= 64;
}

static void reqntid_impossible(struct launch_case *c, const struct directive_use *use) {
    struct finding *finding = case_finding(c, RULE_REQNTID_IMPOSSIBLE, case_ptx_place(c, use->span));
    finding_message(c->findings, finding, "`%.*s` asks for a block that no GPU can run",
                    STR_ARG(directive_text(c, use)));
    finding_caption(c->findings, finding, "at most 1024 threads, and 1024, 1024, 64 along the axes");
    finding_help(c->findings, finding, "build the kernel for fewer threads");
}

static void reqntid_taken(struct launch_case *c, const struct directive_use *use) {
    if (!c->block_from_reqntid || c->kernel->blocks_are_clusters) return;
    struct finding *finding = case_finding(c, RULE_REQNTID_TAKEN, block_place(c));
    finding_message(c->findings, finding, "block of (1, 1, 1): the driver runs the %.*s of `%.*s` instead",
                    STR_ARG(dimensions(c, c->block)), STR_ARG(directive_text(c, use)));
    finding_note(c->findings, finding, "measured on driver 580; another may refuse with CUDA_ERROR_INVALID_VALUE");
    help_block(c, finding, c->block);
}

// `.reqntid` is compared axis by axis; a block of one thread stands for the stated one
// (take_required_block).
static bool reqntid(struct launch_case *c) {
    const struct directive_use *use = last_use(c, DIRECTIVE_REQNTID);
    if (use == NULL) return false;
    const uint64_t *want = c->kernel->reqntid;
    if (!reqntid_possible(c)) {
        reqntid_impossible(c, use);
        return true;
    }
    reqntid_taken(c, use);
    if (memcmp(want, c->block, sizeof c->block) == 0) return false;
    struct finding *finding = case_finding(c, RULE_REQNTID_MISMATCH, block_place(c));
    struct str given = dimensions(c, c->block), wanted = dimensions(c, want);
    finding_message(c->findings, finding, "block of %.*s where `%.*s` requires exactly %.*s",
                    STR_ARG(given), STR_ARG(directive_text(c, use)), STR_ARG(wanted));
    finding_caption(c->findings, finding, "%llu threads", U64(c->threads));
    label_directive(c, finding, use, "exactly ", product(want));
    if (c->threads == product(want))
        finding_note(c->findings, finding, "the number of threads agrees, but each axis must");
    triton_note(c, finding, product(want));
    help_block(c, finding, want);
    return true;
}

static bool block_too_large(struct launch_case *c) {
    uint64_t most = c->limits == NULL ? 1024 : c->limits->block_threads;
    if (c->threads <= most) return false;
    struct finding *finding = case_finding(c, RULE_BLOCK_TOO_LARGE, block_place(c));
    finding_message(c->findings, finding, "block of %.*s, which is %llu threads, where at most %llu are allowed",
                    STR_ARG(dimensions(c, c->block)), U64(c->threads), U64(most));
    finding_caption(c->findings, finding, "%llu threads", U64(c->threads));
    finding_help(c->findings, finding, "use at most %llu threads per block, and more blocks", U64(most));
    return true;
}

static void block_axes(struct launch_case *c) {
    const uint64_t most[3] = {c->limits == NULL ? 1024 : c->limits->block_x,
                              c->limits == NULL ? 1024 : c->limits->block_y,
                              c->limits == NULL ? 64 : c->limits->block_z};
    for (int axis = 0; axis < 3; axis++) {
        if (c->block[axis] <= most[axis]) continue;
        struct finding *finding = case_finding(c, RULE_BLOCK_AXIS_LIMIT, block_place(c));
        finding_message(c->findings, finding, "block of %llu in %c, where at most %llu are allowed",
                        U64(c->block[axis]), axes[axis], U64(most[axis]));
        finding_help(c->findings, finding, axis == 2 ? "put the long axis on x or y"
                                                     : "use fewer threads along this axis");
    }
}

// Below `.maxntid` the driver is content, but a Triton kernel divides its work among exactly as many
// threads as it was compiled for.
static void triton_block(struct launch_case *c) {
    const struct directive_use *use = last_use(c, DIRECTIVE_MAXNTID);
    if (use == NULL || c->facts->generator != GENERATOR_TRITON) return;
    uint64_t want = product(c->kernel->maxntid);
    if (c->threads >= want) return;
    struct finding *finding = case_finding(c, RULE_TRITON_BLOCK, block_place(c));
    finding_message(c->findings, finding, "block of %llu threads for a Triton kernel compiled for %llu",
                    U64(c->threads), U64(want));
    label_directive(c, finding, use, "", want);
    finding_note(c->findings, finding, "the driver accepts it; what the missing threads compute is missing");
    help_block(c, finding, c->kernel->maxntid);
}

static void partial_warp(struct launch_case *c) {
    if (!c->kernel->uses_warps || c->threads % 32 == 0) return;
    struct finding *finding = case_finding(c, RULE_PARTIAL_WARP, block_place(c));
    finding_message(c->findings, finding,
                    "block of %llu threads leaves a warp of %llu, and the kernel has instructions for whole warps",
                    U64(c->threads), U64(c->threads % 32));
    struct span at = {c->kernel->warps_offset, c->kernel->warps_offset + 1};
    finding_label(c->findings, finding, case_ptx_place(c, at), "executed by all 32 threads of a warp");
    finding_help(c->findings, finding, "use a multiple of 32 threads, e.g. %llu",
                 U64((c->threads / 32 + 1) * 32));
}

static void block_missing(struct launch_case *c) {
    struct finding *finding =
        case_finding(c, RULE_BLOCK_MISSING, case_launch_place(c, c->launch->grid_span));
    finding_message(c->findings, finding, "no block is given, and neither the PTX nor metadata says which");
    uint64_t block[3] = {128, 1, 1};
    if (c->kernel->has_maxntid && product(c->kernel->maxntid) <= 1024)
        memcpy(block, c->kernel->maxntid, sizeof block);
    help_block(c, finding, block);
}

void rules_geometry(struct launch_case *c) {
    zero_axis(c, "grid", c->launch->grid_span, c->launch->grid);
    grid_limits(c);
    if (!c->block_known) {
        block_missing(c);
        return;
    }
    if (c->threads == 0) zero_axis(c, "block", c->launch->block_span, c->block);
    bool told = reqntid(c);
    if (c->threads == 0) return;
    told |= maxntid(c);
    if (!told && !block_too_large(c)) {
        block_axes(c);
        triton_block(c);
        partial_warp(c);
    }
}
