// Family 07: shared memory, registers and local memory at launch.
#include "analyzer/launch/rewrite.h"
#include "analyzer/rules/launch_rules.h"
#include "base/checked.h"

#define U64(n) (unsigned long long)(n)

// A thread has 512 KiB of local memory, less 576 bytes that the driver keeps (measured on an H200,
// driver 580: a frame of 523712 bytes was launched, one of 523720 was not).
enum { LOCAL_LAUNCHED = 523712, LOCAL_WHOLE = 524288 };

static struct place shared_place(const struct launch_case *c) {
    const struct launch *launch = c->launch;
    struct span span = launch->has_shared ? launch->shared_span
                       : launch->has_block ? launch->block_span : launch->grid_span;
    return case_launch_place(c, span);
}

static uint64_t total_shared(const struct launch_case *c, uint64_t dynamic) {
    uint64_t total;
    return add_u64(dynamic, c->kernel->shared_static, &total) ? total : UINT64_MAX;
}

static struct str amount(const struct launch_case *c, uint64_t dynamic) {
    if (c->kernel->shared_static == 0) return str_format(c->arena, "%llu bytes", U64(dynamic));
    return str_format(c->arena, "%llu static + %llu dynamic = %llu bytes", U64(c->kernel->shared_static),
                      U64(dynamic), U64(total_shared(c, dynamic)));
}

static struct str gpu_name(const struct launch_case *c) {
    if (c->gpu == NULL) return STR("any GPU");
    if (!c->gpu_assumed) return c->gpu->name;
    return str_format(c->arena, "%.*s and later", STR_ARG(c->gpu->name));
}

// The value that cuFuncSetAttribute is called with; false: it is not called.
static bool attribute_value(const struct launch_case *c, uint64_t *value) {
    *value = c->launch->optin_auto ? c->shared : c->launch->optin;
    return c->launch->has_optin;
}

static bool optin_over_device(struct launch_case *c) {
    uint64_t value;
    if (!attribute_value(c, &value)) return false;
    uint64_t most = c->limits == NULL ? INT32_MAX : c->optin_max;
    if (value <= INT32_MAX && total_shared(c, value) <= most) return false;
    uint64_t room = most > c->kernel->shared_static ? most - c->kernel->shared_static : 0;
    struct finding *finding =
        case_finding(c, RULE_OPTIN_OVER_DEVICE, case_launch_place(c, c->launch->optin_span));
    finding_message(c->findings, finding,
                    "a dynamic shared memory maximum of %.*s exceeds the %llu of %.*s",
                    STR_ARG(amount(c, value)), U64(most), STR_ARG(gpu_name(c)));
    if (c->kernel->shared_static > 0)
        finding_note(c->findings, finding, "static shared memory counts, too: the attribute may be %llu at most",
                     U64(room));
    if (room >= c->shared) {
        struct str word = str_format(c->arena, "optin=%llu", U64(c->shared));
        struct str line = rewrite_tail(c->arena, c->launch, c->launch->optin_span, word);
        finding_help(c->findings, finding, "%.*s", STR_ARG(line));
    } else finding_help(c->findings, finding, "use at most %llu bytes: fewer stages or a smaller tile", U64(room));
    return true;
}

static void over_device(struct launch_case *c) {
    struct finding *finding = case_finding(c, RULE_SHARED_OVER_DEVICE, shared_place(c));
    finding_message(c->findings, finding, "shared memory of %.*s exceeds the %llu of %.*s",
                    STR_ARG(amount(c, c->shared)), U64(c->optin_max), STR_ARG(gpu_name(c)));
    uint64_t room = c->optin_max > c->kernel->shared_static ? c->optin_max - c->kernel->shared_static : 0;
    finding_help(c->findings, finding, "use at most %llu dynamic bytes: fewer stages or a smaller tile",
                 U64(room));
}

static void needs_optin(struct launch_case *c) {
    struct finding *finding = case_finding(c, RULE_SHARED_NEEDS_OPTIN, shared_place(c));
    if (c->launch->has_optin) {
        finding_message(c->findings, finding,
                        "%llu bytes of dynamic shared memory, where the attribute was set to %llu",
                        U64(c->shared), U64(c->shared_max));
        finding_label(c->findings, finding, case_launch_place(c, c->launch->optin_span),
                      "the function now allows this much");
    } else {
        finding_message(c->findings, finding,
                        "shared memory of %.*s exceeds the %u allowed without opting in",
                        STR_ARG(amount(c, c->shared)), c->limits == NULL ? 49152u : c->limits->block_shared);
        finding_note(c->findings, finding,
                     "cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, %llu) before the launch",
                     U64(c->shared));
    }
    struct str word = str_format(c->arena, "optin=%llu", U64(c->shared));
    struct str line = rewrite_tail(c->arena, c->launch, c->launch->optin_span, word);
    finding_help(c->findings, finding, "%.*s", STR_ARG(line));
}

static void shared_amount(struct launch_case *c) {
    if (c->shared <= c->shared_max) return;
    if (total_shared(c, c->shared) > c->optin_max) over_device(c);
    else needs_optin(c);
}

// On the GPU that .target names it would not do, on a later one it does.
static void shared_note(struct launch_case *c) {
    uint64_t total = total_shared(c, c->shared);
    if (!c->gpu_assumed || c->limits == NULL) return;
    if (total <= c->limits->optin_shared || total > c->optin_max) return;
    struct finding *finding = case_finding(c, RULE_GPU_UNKNOWN, shared_place(c));
    finding_message(c->findings, finding, "shared memory of %.*s: %.*s has %u at most",
                    STR_ARG(amount(c, c->shared)), STR_ARG(c->gpu->name), c->limits->optin_shared);
    finding_help(c->findings, finding, "name the GPU it will run on, e.g. --gpu h200");
}

static void dynamic_missing(struct launch_case *c) {
    if (!c->kernel->shared_dynamic || c->shared != 0 || !c->kernel->bodies_known) return;
    struct finding *finding = case_finding(c, RULE_DYNAMIC_SHARED_MISSING, shared_place(c));
    finding_message(c->findings, finding,
                    "no dynamic shared memory is given, and the kernel uses an `.extern .shared` array");
    const struct kernel_metadata *metadata = c->kernel->metadata;
    bool stated = metadata != NULL && metadata->shared.known;
    if (stated && metadata->shared.value == 0) finding->severity = SEVERITY_NOTE;
    if (stated && metadata->shared.value != 0) {
        struct str line = rewrite_shared(c->arena, c->launch, metadata->shared.value);
        finding_help(c->findings, finding, "the metadata says %llu bytes: %.*s",
                     U64(metadata->shared.value), STR_ARG(line));
    } else finding_help(c->findings, finding, "pass the bytes it needs as the third launch parameter");
}

static bool names_dynamic(const struct launch_case *c) {
    return c->kernel->shared_dynamic || c->kernel->calls_unknown || !c->kernel->bodies_known;
}

static void dynamic_unused(struct launch_case *c) {
    if (c->shared == 0 || c->shared_from_metadata || names_dynamic(c)) return;
    bool counted = c->shared == c->kernel->shared_static;
    struct finding *finding =
        case_finding(c, counted ? RULE_STATIC_COUNTED_TWICE : RULE_DYNAMIC_SHARED_UNUSED, shared_place(c));
    if (counted)
        finding_message(c->findings, finding,
                        "%llu dynamic bytes beside as many static ones, which the driver adds itself",
                        U64(c->shared));
    else finding_message(c->findings, finding,
                         "%llu bytes of dynamic shared memory for a kernel that has no `.extern .shared` array",
                         U64(c->shared));
    struct str line = rewrite_shared(c->arena, c->launch, 0);
    finding_help(c->findings, finding, "%.*s", STR_ARG(line));
}

static void dynamic_alias(struct launch_case *c) {
    if (c->kernel->dynamic_arrays < 2) return;
    struct finding *finding =
        case_finding(c, RULE_DYNAMIC_SHARED_ALIAS, case_ptx_place(c, c->kernel->decl->span));
    finding_message(c->findings, finding, "%u `.extern .shared` arrays share one address",
                    c->kernel->dynamic_arrays);
    finding_help(c->findings, finding, "declare one array and use offsets in it");
}

static uint32_t whole_warps(uint64_t threads) { return (uint32_t)(threads - threads % 32); }

static void registers_exceeded(struct launch_case *c) {
    if (c->limits == NULL || !c->regs_known || !c->block_known) return;
    uint32_t most = occupancy_register_threads(c->limits, c->regs);
    if (c->threads <= most || c->threads > c->limits->block_threads) return;
    struct span span = c->launch->has_block ? c->launch->block_span : c->launch->grid_span;
    struct finding *finding = case_finding(c, RULE_REGISTERS_EXCEEDED, case_launch_place(c, span));
    finding_message(c->findings, finding,
                    "block of %llu threads with %llu registers each, where %.*s has room for %u threads",
                    U64(c->threads), U64(c->regs), STR_ARG(c->gpu->name), most);
    finding_label(c->findings, finding, case_launch_place(c, c->launch->regs_span), "registers per thread");
    finding_note(c->findings, finding,
                 "built with `__launch_bounds__(%llu)` (`.maxntid`) or --maxrregcount it would fit",
                 U64(c->threads));
    uint64_t block[3] = {whole_warps(most), 1, 1};
    struct str line = rewrite_block(c->arena, c->launch, block);
    if (most > 0) finding_help(c->findings, finding, "%.*s", STR_ARG(line));
}

static uint64_t rounded_warps(uint64_t threads) { return (threads + 31) / 32 * 32; }

// Without launch bounds ptxas may give a thread up to 255 registers: 256 threads always fit. With
// them it makes the block fit that they allow.
static void registers_unknown(struct launch_case *c) {
    if (c->limits == NULL || c->regs_known || !c->block_known) return;
    if (c->kernel->has_maxntid || c->kernel->has_reqntid) return;
    uint64_t regs = c->regs_bounded ? c->regs_most : c->limits->thread_registers;
    uint32_t most = occupancy_register_threads(c->limits, regs);
    if (rounded_warps(c->threads) <= most || c->threads > c->limits->block_threads) return;
    struct span span = c->launch->has_block ? c->launch->block_span : c->launch->grid_span;
    struct finding *finding = case_finding(c, RULE_REGISTERS_UNKNOWN, case_launch_place(c, span));
    if (c->regs_bounded)
        finding_message(c->findings, finding,
                        "block of %llu threads: fits if a thread has fewer than the %llu registers that `%s` allows",
                        U64(c->threads), U64(regs), c->regs_why);
    else finding_message(c->findings, finding,
                         "block of %llu threads without launch bounds: fits only if a thread has few registers",
                         U64(c->threads));
    while (regs > 1 && occupancy_register_threads(c->limits, regs) < c->threads) regs--;
    finding_note(c->findings, finding, "%.*s has room for it at %llu registers per thread or fewer",
                 STR_ARG(c->gpu->name), U64(regs));
    finding_help(c->findings, finding, "say what `ptxas -v` reports: regs=N");
}

static void local_too_large(struct launch_case *c) {
    if (c->kernel->local_bytes <= LOCAL_LAUNCHED) return;
    struct finding *finding =
        case_finding(c, RULE_LOCAL_TOO_LARGE, case_ptx_place(c, c->kernel->decl->span));
    bool measured = c->limits != NULL && !c->gpu_assumed && c->limits->capability == 90;
    if (c->kernel->local_bytes <= LOCAL_WHOLE && !measured) {
        finding->severity = SEVERITY_WARNING;
        finding->confidence = CONFIDENCE_POSSIBLE;
    }
    finding_message(c->findings, finding, "%llu bytes of local memory per thread, where a launch takes at most %d",
                    U64(c->kernel->local_bytes), LOCAL_LAUNCHED);
    finding_help(c->findings, finding, "move the arrays to global memory");
}

void rules_resources(struct launch_case *c) {
    if (!optin_over_device(c)) {
        shared_amount(c);
        shared_note(c);
    }
    dynamic_missing(c);
    dynamic_unused(c);
    dynamic_alias(c);
    registers_exceeded(c);
    registers_unknown(c);
    local_too_large(c);
}
