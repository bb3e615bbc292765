// Each launch rule of families 06 to 08: a launch that it finds, and one just inside the limit.
// What the driver answers was measured (facts of the driver, tools/launch_order.py).
#include "analyzer/launch/judge.h"
#include "analyzer/rules/check.h"
#include "isa/gpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct memory memory;
static struct arena arena;
static struct findings load;
static struct judgement judgement;
static struct module_facts facts;

#define HEAD ".version 9.0\n.target sm_90\n.address_size 64\n"
#define ENTRY(params, directives, body) ".visible .entry k(" params ")\n" directives "\n{\n" body "ret;\n}\n"
#define PTR ".param .u64 p"
// A kernel that stores through p, so that p is a pointer.
#define STORE ".reg .b64 %a; ld.param.u64 %a,[p]; st.global.u32 [%a],0;\n"
#define PLAIN HEAD ENTRY(PTR, "", STORE)

static void judge_on(const char *ptx, const char *line, const char *gpu) {
    struct source *source = arena_new(&arena, struct source), *text = arena_new(&arena, struct source);
    struct module *module;
    struct check_options options = {.as = CHECK_AS_DRIVER, .keep_bodies = true};
    struct launch launch;
    struct findings parse;
    source_init(source, &arena, STR("k.ptx"), ptx, (uint32_t)strlen(ptx));
    source_init(text, &arena, STR("launch"), line, (uint32_t)strlen(line));
    findings_init(&load, &arena, 0);
    findings_init(&parse, &arena, 0);
    check_source(source, &arena, &arena, &options, &load, &module);
    facts_compute(module, &arena, &facts);
    if (!launch_parse(text, &arena, NULL, &parse, &launch)) fail_msg("%s does not parse", line);
    struct judge_options judge = {.threads = 1};
    if (gpu != NULL) {
        struct deployment *deployment = vec_push(&arena, &judge.deployments);
        deployment->gpu = isa_gpu_find(str_from(gpu));
        deployment->gpu_text = str_from(gpu);
    }
    launch_judge(&facts, &load, &launch, &judge, &arena, &judgement);
}

static bool found(enum rule rule) {
    for (uint32_t i = 0; i < judgement.findings.list.n; i++)
        if (judgement.findings.list.at[i]->rule == rule) return true;
    return false;
}

// The rule fires, and the driver answers `result` in `phase`; PHASE_RUN: it is content.
static void fires_on(const char *gpu, const char *ptx, const char *line, enum rule rule,
                     enum phase phase, int result) {
    judge_on(ptx, line, gpu);
    if (!found(rule)) fail_msg("%s: no %s", line, rule_infos[rule].name);
    if (judgement.predicted.phase != phase || judgement.predicted.result != result)
        fail_msg("%s: predicted %s, %s", line, phase_text((enum phase)judgement.predicted.phase),
                 result_text(judgement.predicted.result));
}

static void quiet_on(const char *gpu, const char *ptx, const char *line, enum rule rule) {
    judge_on(ptx, line, gpu);
    if (found(rule)) fail_msg("%s: %s", line, rule_infos[rule].name);
}

#define FIRES(ptx, line, rule, phase, result) \
    fires_on("h200", ptx, line, RULE_##rule, PHASE_##phase, RESULT_CUDA_ERROR_##result)
#define WARNS(ptx, line, rule) \
    fires_on("h200", ptx, line, RULE_##rule, PHASE_RUN, RESULT_CUDA_SUCCESS)
#define QUIET(ptx, line, rule) quiet_on("h200", ptx, line, RULE_##rule)

static void test_grid_and_block(void **state) {
    (void)state;
    FIRES(PLAIN, "k<<<0, 1>>>(ptr)", ZERO_DIMENSION, LAUNCH, INVALID_VALUE);
    FIRES(PLAIN, "k<<<1, (1,0)>>>(ptr)", ZERO_DIMENSION, LAUNCH, INVALID_VALUE);
    QUIET(PLAIN, "k<<<1, 1>>>(ptr)", ZERO_DIMENSION);
    FIRES(PLAIN, "k<<<(1,65536), 1>>>(ptr)", GRID_AXIS_LIMIT, LAUNCH, INVALID_VALUE);
    FIRES(PLAIN, "k<<<2147483648, 1>>>(ptr)", GRID_AXIS_LIMIT, LAUNCH, INVALID_VALUE);
    QUIET(PLAIN, "k<<<(2147483647,65535,65535), 1>>>(ptr)", GRID_AXIS_LIMIT);
    FIRES(PLAIN, "k<<<1, (33,32)>>>(ptr)", BLOCK_TOO_LARGE, LAUNCH, INVALID_VALUE);
    QUIET(PLAIN, "k<<<1, (32,32)>>>(ptr)", BLOCK_TOO_LARGE);
    FIRES(PLAIN, "k<<<1, (1,1,65)>>>(ptr)", BLOCK_AXIS_LIMIT, LAUNCH, INVALID_VALUE);
    QUIET(PLAIN, "k<<<1, (1,1,64)>>>(ptr)", BLOCK_AXIS_LIMIT);
    FIRES(PLAIN, "k<<<1, (4294967296,4294967296,4294967296)>>>(ptr)", BLOCK_TOO_LARGE, LAUNCH,
          INVALID_VALUE);
}

#define BOUND(directives) HEAD ENTRY(PTR, directives, STORE)

static void test_launch_bounds(void **state) {
    (void)state;
    FIRES(BOUND(".maxntid 8, 8, 2"), "k<<<1, 129>>>(ptr)", MAXNTID_EXCEEDED, LAUNCH, INVALID_VALUE);
    QUIET(BOUND(".maxntid 8, 8, 2"), "k<<<1, 128>>>(ptr)", MAXNTID_EXCEEDED);
    QUIET(BOUND(".maxntid 128 .maxntid 256"), "k<<<1, 256>>>(ptr)", MAXNTID_EXCEEDED);
    FIRES(BOUND(".reqntid 128"), "k<<<1, (32,4)>>>(ptr)", REQNTID_MISMATCH, LAUNCH, INVALID_VALUE);
    QUIET(BOUND(".reqntid 128"), "k<<<1, 128>>>(ptr)", REQNTID_MISMATCH);
    QUIET(BOUND(".reqntid 128"), "k<<<1>>>(ptr)", REQNTID_MISMATCH);
    QUIET(BOUND(".reqntid 128"), "k<<<1, 1>>>(ptr)", REQNTID_MISMATCH);
    FIRES(BOUND(".reqntid 128"), "k<<<1, (1,1,2)>>>(ptr)", REQNTID_MISMATCH, LAUNCH, INVALID_VALUE);
    WARNS(BOUND(".reqntid 128"), "k<<<1, 1>>>(ptr)", REQNTID_TAKEN);
    QUIET(BOUND(".reqntid 128"), "k<<<1, 128>>>(ptr)", REQNTID_TAKEN);
    QUIET(BOUND(".reqntid 1"), "k<<<1, 1>>>(ptr)", REQNTID_TAKEN);
    FIRES(BOUND(".reqntid 2048"), "k<<<1, 128>>>(ptr)", REQNTID_IMPOSSIBLE, LAUNCH, INVALID_VALUE);
    FIRES(BOUND(".reqntid 1, 1, 65"), "k<<<1, (1,1,64)>>>(ptr)", REQNTID_IMPOSSIBLE, LAUNCH, INVALID_VALUE);
    QUIET(BOUND(".reqntid 1024"), "k<<<1, 1024>>>(ptr)", REQNTID_IMPOSSIBLE);
#define CLUSTERS ".reqntid 128, 2 .reqnctapercluster 2 .blocksareclusters"
    QUIET(BOUND(CLUSTERS), "k<<<3, 1>>>(ptr)", REQNTID_MISMATCH);
    QUIET(BOUND(CLUSTERS), "k<<<3, (128,2)>>>(ptr)", REQNTID_MISMATCH);
    FIRES(BOUND(CLUSTERS), "k<<<3, 128>>>(ptr)", REQNTID_MISMATCH, LAUNCH, INVALID_VALUE);
    WARNS(BOUND(CLUSTERS), "k<<<3, 1>>>(ptr)", GRID_COUNTS_CLUSTERS);
    judge_on(PLAIN, "k<<<1>>>(ptr)", "h200");
    assert_true(found(RULE_BLOCK_MISSING));
    assert_int_equal(judgement.verdict, VERDICT_UNKNOWN);
}

#define WARP ".reg .b32 %r<5>; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1},[%r2];\n"

static void test_triton_and_warps(void **state) {
    (void)state;
#define TRITON HEAD ".extern .shared .align 16 .b8 global_smem[];\n" \
               ENTRY(".param .u64 .ptr .global .align 1 p", ".maxntid 128, 1, 1", STORE)
#define LLVM "// Generated by LLVM NVPTX Back-End\n"
    WARNS(LLVM TRITON, "k<<<1, 64>>>(ptr)", TRITON_BLOCK);
    QUIET(LLVM TRITON, "k<<<1, 128>>>(ptr)", TRITON_BLOCK);
    WARNS(HEAD ENTRY("", "", WARP), "k<<<1, 48>>>()", PARTIAL_WARP);
    QUIET(HEAD ENTRY("", "", WARP), "k<<<1, 64>>>()", PARTIAL_WARP);
    QUIET(PLAIN, "k<<<1, 48>>>(ptr)", PARTIAL_WARP);
}

#define DYNAMIC ".extern .shared .align 16 .b8 d[];\n"
#define STATIC(n) ".shared .align 16 .b8 s[" #n "];\n"
#define TOUCH(what) ".reg .b32 %r; mov.u32 %r," what "; st.shared.u32 [%r],%r;\n"
#define SHARED HEAD DYNAMIC ENTRY("", "", TOUCH("d"))
#define BOTH(n) HEAD DYNAMIC STATIC(n) ENTRY("", "", TOUCH("d") "st.shared.u32 [s],0;\n")

static void test_clusters(void **state) {
    (void)state;
    FIRES(PLAIN, "k<<<6, 1>>>(ptr) cluster=4", CLUSTER_GRID, LAUNCH, INVALID_CLUSTER_SIZE);
    QUIET(PLAIN, "k<<<9, 1>>>(ptr) cluster=3", CLUSTER_GRID);
    FIRES(PLAIN, "k<<<16, 1>>>(ptr) cluster=16", CLUSTER_TOO_LARGE, LAUNCH, INVALID_CLUSTER_SIZE);
    FIRES(PLAIN, "k<<<17, 1>>>(ptr) cluster=17 nonportable", CLUSTER_TOO_LARGE, LAUNCH, INVALID_CLUSTER_SIZE);
    QUIET(PLAIN, "k<<<16, 1>>>(ptr) cluster=16 nonportable", CLUSTER_TOO_LARGE);
    QUIET(PLAIN, "k<<<8, 1>>>(ptr) cluster=8", CLUSTER_TOO_LARGE);
    FIRES(PLAIN, "k<<<4, 1>>>(ptr) cluster=(2,0,1)", CLUSTER_ZERO, LAUNCH, INVALID_CLUSTER_SIZE);
    FIRES(BOUND(".reqnctapercluster 2"), "k<<<4, 1>>>(ptr) cluster=1", CLUSTER_MISMATCH, LAUNCH,
          INVALID_CLUSTER_SIZE);
    QUIET(BOUND(".reqnctapercluster 2"), "k<<<4, 1>>>(ptr) cluster=2", CLUSTER_MISMATCH);
    FIRES(BOUND(".reqnctapercluster 2"), "k<<<3, 1>>>(ptr)", CLUSTER_GRID, LAUNCH, INVALID_CLUSTER_SIZE);
    FIRES(BOUND(".explicitcluster"), "k<<<4, 1>>>(ptr)", CLUSTER_MISSING, LAUNCH, INVALID_CLUSTER_SIZE);
    QUIET(BOUND(".explicitcluster"), "k<<<4, 1>>>(ptr) cluster=1", CLUSTER_MISSING);
    FIRES(BOUND(".maxclusterrank 4"), "k<<<8, 1>>>(ptr) cluster=8", CLUSTER_RANK, LAUNCH, INVALID_CLUSTER_SIZE);
    QUIET(BOUND(".maxclusterrank 4"), "k<<<8, 1>>>(ptr) cluster=4", CLUSTER_RANK);
    WARNS(SHARED, "k<<<16, 64, 200000>>>() optin=auto cluster=16 nonportable", CLUSTER_DOES_NOT_FIT);
    QUIET(SHARED, "k<<<16, 64, 64>>>() cluster=16 nonportable", CLUSTER_DOES_NOT_FIT);
#define OLD ".version 8.0\n.target sm_80\n.address_size 64\n" ENTRY(PTR, "", STORE)
    fires_on("a100", OLD, "k<<<4, 1>>>(ptr) cluster=2", RULE_CLUSTER_UNSUPPORTED, PHASE_LAUNCH,
             RESULT_CUDA_ERROR_INVALID_VALUE);
    quiet_on("h200", OLD, "k<<<4, 1>>>(ptr) cluster=2", RULE_CLUSTER_UNSUPPORTED);
}

static void test_cooperative(void **state) {
    (void)state;
    FIRES(PLAIN, "k<<<4225, 64>>>(ptr) cooperative regs=8", COOPERATIVE_TOO_LARGE, LAUNCH,
          COOPERATIVE_LAUNCH_TOO_LARGE);
    QUIET(PLAIN, "k<<<4224, 64>>>(ptr) cooperative regs=8", COOPERATIVE_TOO_LARGE);
    FIRES(PLAIN, "k<<<265, 1024>>>(ptr) cooperative regs=8", COOPERATIVE_TOO_LARGE, LAUNCH,
          COOPERATIVE_LAUNCH_TOO_LARGE);
    FIRES(PLAIN, "k<<<397, 128>>>(ptr) cooperative regs=168", COOPERATIVE_TOO_LARGE, LAUNCH,
          COOPERATIVE_LAUNCH_TOO_LARGE);
    QUIET(PLAIN, "k<<<396, 128>>>(ptr) cooperative regs=168", COOPERATIVE_TOO_LARGE);
    FIRES(PLAIN, "k<<<1, 64, 49153>>>(ptr) cooperative regs=8", COOPERATIVE_TOO_LARGE, LAUNCH,
          COOPERATIVE_LAUNCH_TOO_LARGE);
    fires_on(NULL, PLAIN, "k<<<4225, 64>>>(ptr) cooperative", RULE_GPU_UNKNOWN, PHASE_RUN, RESULT_CUDA_SUCCESS);
#define SYNC HEAD ENTRY("", "", ".reg .b32 %r; mov.u32 %r,%envreg1;\n")
    WARNS(SYNC, "k<<<1, 32>>>()", COOPERATIVE_MISSING);
    QUIET(SYNC, "k<<<1, 32>>>() cooperative", COOPERATIVE_MISSING);
#define WAIT HEAD ENTRY("", "", "griddepcontrol.wait;\n")
    WARNS(WAIT, "k<<<1, 32>>>()", PDL_MISSING);
    QUIET(WAIT, "k<<<1, 32>>>() pdl", PDL_MISSING);
}

static void test_kernels(void **state) {
    (void)state;
    FIRES(PLAIN, "K<<<1, 1>>>(ptr)", KERNEL_NOT_FOUND, GET_FUNCTION, NOT_FOUND);
    QUIET(PLAIN, "k<<<1, 1>>>(ptr)", KERNEL_NOT_FOUND);
    QUIET(PLAIN, "<<<1, 1>>>(ptr)", KERNEL_AMBIGUOUS);
#define TWO PLAIN ".visible .entry l() { ret; }\n"
    FIRES(TWO, "<<<1, 1>>>(ptr)", KERNEL_AMBIGUOUS, GET_FUNCTION, NOT_FOUND);
    FIRES(HEAD ".visible .func f() { ret; }\n" ENTRY("", "", ""), "f<<<1, 1>>>()", KERNEL_IS_FUNCTION,
          GET_FUNCTION, NOT_FOUND);
    FIRES(HEAD ".visible .func f() { ret; }\n", "k<<<1, 1>>>()", NO_ENTRY, GET_FUNCTION, NOT_FOUND);
}

static void test_shared_memory(void **state) {
    (void)state;
    FIRES(SHARED, "k<<<1, 1, 49153>>>()", SHARED_NEEDS_OPTIN, LAUNCH, INVALID_VALUE);
    QUIET(SHARED, "k<<<1, 1, 49152>>>()", SHARED_NEEDS_OPTIN);
    QUIET(SHARED, "k<<<1, 1, 49153>>>() optin=auto", SHARED_NEEDS_OPTIN);
    FIRES(BOTH(1), "k<<<1, 1, 49137>>>()", SHARED_NEEDS_OPTIN, LAUNCH, INVALID_VALUE);
    QUIET(BOTH(1), "k<<<1, 1, 49136>>>()", SHARED_NEEDS_OPTIN);
    FIRES(SHARED, "k<<<1, 1, 1024>>>() optin=0", SHARED_NEEDS_OPTIN, LAUNCH, INVALID_VALUE);
    FIRES(SHARED, "k<<<1, 1, 232449>>>() optin=232448", SHARED_OVER_DEVICE, LAUNCH, INVALID_VALUE);
    FIRES(SHARED, "k<<<1, 1, 0xffffffffffffffff>>>()", SHARED_OVER_DEVICE, LAUNCH, INVALID_VALUE);
    QUIET(SHARED, "k<<<1, 1, 232448>>>() optin=232448", SHARED_OVER_DEVICE);
    FIRES(SHARED, "k<<<1, 1, 16>>>() optin=232449", OPTIN_OVER_DEVICE, SET_ATTRIBUTE, INVALID_VALUE);
    FIRES(BOTH(16), "k<<<1, 1, 16>>>() optin=232433", OPTIN_OVER_DEVICE, SET_ATTRIBUTE, INVALID_VALUE);
    QUIET(BOTH(16), "k<<<1, 1, 16>>>() optin=232432", OPTIN_OVER_DEVICE);
    FIRES(SHARED, "k<<<1, 1, 16>>>() optin=4294967296", OPTIN_OVER_DEVICE, SET_ATTRIBUTE, INVALID_VALUE);
    // Static memory above 48 KiB lets the function have all of the GPU's (measured).
    QUIET(BOTH(60000), "k<<<1, 1, 172448>>>()", SHARED_NEEDS_OPTIN);
    FIRES(BOTH(60000), "k<<<1, 1, 172449>>>()", SHARED_OVER_DEVICE, LAUNCH, INVALID_VALUE);
    FIRES(BOTH(60000), "k<<<1, 1, 1001>>>() optin=1000", SHARED_NEEDS_OPTIN, LAUNCH, INVALID_VALUE);
    fires_on(NULL, OLD, "k<<<1, 1, 200000>>>(ptr) optin=200000", RULE_GPU_UNKNOWN, PHASE_RUN,
             RESULT_CUDA_SUCCESS);
    WARNS(SHARED, "k<<<1, 1>>>()", DYNAMIC_SHARED_MISSING);
    QUIET(SHARED, "k<<<1, 1, 16>>>()", DYNAMIC_SHARED_MISSING);
    WARNS(PLAIN, "k<<<1, 1, 16>>>(ptr)", DYNAMIC_SHARED_UNUSED);
    QUIET(PLAIN, "k<<<1, 1>>>(ptr)", DYNAMIC_SHARED_UNUSED);
#define FIXED HEAD STATIC(1024) ENTRY("", "", TOUCH("s"))
    WARNS(FIXED, "k<<<1, 1, 1024>>>()", STATIC_COUNTED_TWICE);
    QUIET(FIXED, "k<<<1, 1, 1000>>>()", STATIC_COUNTED_TWICE);
    WARNS(HEAD DYNAMIC ".extern .shared .align 16 .b8 e[];\n" ENTRY("", "", TOUCH("d") "st.shared.u32 [e],0;\n"),
          "k<<<1, 1, 16>>>()", DYNAMIC_SHARED_ALIAS);
    QUIET(SHARED, "k<<<1, 1, 16>>>()", DYNAMIC_SHARED_ALIAS);
}

static void test_registers_and_local(void **state) {
    (void)state;
    FIRES(PLAIN, "k<<<1, 641>>>(ptr) regs=96", REGISTERS_EXCEEDED, LAUNCH, LAUNCH_OUT_OF_RESOURCES);
    QUIET(PLAIN, "k<<<1, 640>>>(ptr) regs=96", REGISTERS_EXCEEDED);
    QUIET(PLAIN, "k<<<1, 1024>>>(ptr) regs=64", REGISTERS_EXCEEDED);
    FIRES(PLAIN, "k<<<1, 1>>>(ptr) regs=18446744073709551615", REGISTERS_EXCEEDED, LAUNCH,
          LAUNCH_OUT_OF_RESOURCES);
    WARNS(PLAIN, "k<<<1, 512>>>(ptr)", REGISTERS_UNKNOWN);
    QUIET(PLAIN, "k<<<1, 256>>>(ptr)", REGISTERS_UNKNOWN);
    QUIET(BOUND(".maxntid 1024"), "k<<<1, 1024>>>(ptr)", REGISTERS_UNKNOWN);
#define LOCAL(n) HEAD ENTRY("", "", ".local .align 8 .b8 l[" #n "]; .reg .b32 %r; ld.local.u8 %r,[l];\n")
    FIRES(LOCAL(523713), "k<<<1, 1>>>()", LOCAL_TOO_LARGE, LAUNCH, INVALID_VALUE);
    QUIET(LOCAL(523712), "k<<<1, 1>>>()", LOCAL_TOO_LARGE);
}

#define PAIR HEAD ENTRY(".param .u64 p, .param .u32 n", "", STORE ".reg .b32 %r; ld.param.u32 %r,[n];\n")

static void test_argument_lists(void **state) {
    (void)state;
    judge_on(PAIR, "k<<<1, 1>>>(ptr)", "h200");
    assert_true(found(RULE_TOO_FEW_ARGUMENTS));
    assert_int_equal(judgement.predicted.phase, PHASE_LAUNCH);
    assert_true(judgement.result_unknown);
    QUIET(PAIR, "k<<<1, 1>>>(ptr, 1)", TOO_FEW_ARGUMENTS);
    QUIET(PAIR, "k<<<1, 1>>>(n=1, p=ptr)", TOO_FEW_ARGUMENTS);
    WARNS(PAIR, "k<<<1, 1>>>(ptr, 1, 2)", TOO_MANY_ARGUMENTS);
    QUIET(PAIR, "k<<<1, 1>>>(ptr, 1)", TOO_MANY_ARGUMENTS);
    FIRES(PAIR, "k<<<1, 1>>>()", ARGUMENTS_NULL, LAUNCH, INVALID_VALUE);
    QUIET(HEAD ENTRY("", "", ""), "k<<<1, 1>>>()", ARGUMENTS_NULL);
    judge_on(PAIR, "k<<<1, 1>>>", "h200");
    assert_int_equal(judgement.verdict, VERDICT_UNKNOWN);
    FIRES(PAIR, "k<<<1, 1>>>(ptr, 1) packed=13", PACKED_TOO_LARGE, LAUNCH, LAUNCH_OUT_OF_RESOURCES);
    FIRES(PAIR, "k<<<1, 1>>>(ptr, 1, 2) packed", PACKED_TOO_LARGE, LAUNCH, LAUNCH_OUT_OF_RESOURCES);
    QUIET(PAIR, "k<<<1, 1>>>(ptr, 1) packed=12", PACKED_TOO_LARGE);
    FIRES(PAIR, "k<<<1, 1>>>(ptr, 1) packed=0", PACKED_EMPTY, LAUNCH, INVALID_VALUE);
    FIRES(HEAD ENTRY("", "", ""), "k<<<1, 1>>>() packed=4", PACKED_TOO_LARGE, LAUNCH, LAUNCH_OUT_OF_RESOURCES);
    QUIET(HEAD ENTRY("", "", ""), "k<<<1, 1>>>() packed=0", PACKED_EMPTY);
    WARNS(PAIR, "k<<<1, 1>>>(ptr, 1) packed=11", PACKED_SHORT);
    QUIET(PAIR, "k<<<1, 1>>>(ptr, 1) packed", PACKED_SHORT);
#define MAP HEAD ENTRY(".param .align 64 .b8 m[128], .param .u32 n", "", "")
    WARNS(MAP, "k<<<1, 1>>>(tensormap, 1) packed", PACKED_LAYOUT);
    assert_int_equal(facts.kernels.at[0].params.at[0].offset, 48);
    QUIET(PAIR, "k<<<1, 1>>>(ptr, 1) packed", PACKED_LAYOUT);
    WARNS(PAIR, "k<<<1, 1>>>(ptr, n=1, n=2)", ARGUMENT_NAME);
}

#define ONE(type) HEAD ENTRY(".param " type " p", "", "")

static void test_arguments(void **state) {
    (void)state;
    WARNS(ONE(".u32"), "k<<<1, 1>>>(ptr)", ARGUMENT_SIZE);
    WARNS(ONE(".f32"), "k<<<1, 1>>>(f64(1))", ARGUMENT_SIZE);
    WARNS(ONE(".u64"), "k<<<1, 1>>>(i32(1))", ARGUMENT_SIZE);
    QUIET(ONE(".u64"), "k<<<1, 1>>>(i64(1))", ARGUMENT_SIZE);
    WARNS(ONE(".f32"), "k<<<1, 1>>>(i32(1))", ARGUMENT_KIND);
    QUIET(ONE(".b32"), "k<<<1, 1>>>(f32(1))", ARGUMENT_KIND);
    WARNS(ONE(".b16"), "k<<<1, 1>>>(f32(1))", ARGUMENT_HALF);
    WARNS(ONE(".f32"), "k<<<1, 1>>>(f16(1))", ARGUMENT_HALF);
    QUIET(ONE(".b16"), "k<<<1, 1>>>(f16(1))", ARGUMENT_HALF);
    WARNS(ONE(".u32"), "k<<<1, 1>>>(bool(true))", ARGUMENT_BOOL);
    QUIET(ONE(".u8"), "k<<<1, 1>>>(bool(true))", ARGUMENT_BOOL);
    WARNS(HEAD ENTRY(".param .align 8 .b8 p[24]", "", ""), "k<<<1, 1>>>(bytes[20])", ARGUMENT_STRUCT);
    WARNS(HEAD ENTRY(".param .align 8 .b8 p[24]", "", ""), "k<<<1, 1>>>(ptr)", ARGUMENT_STRUCT);
    QUIET(HEAD ENTRY(".param .align 8 .b8 p[24]", "", ""), "k<<<1, 1>>>(bytes[24]@8)", ARGUMENT_STRUCT);
    WARNS(ONE(".u32"), "k<<<1, 1>>>(4294967296)", LITERAL_RANGE);
    WARNS(ONE(".u8"), "k<<<1, 1>>>(-129)", LITERAL_RANGE);
    WARNS(ONE(".u32"), "k<<<1, 1>>>(2.5)", LITERAL_RANGE);
    WARNS(ONE(".f32"), "k<<<1, 1>>>(0.1)", LITERAL_RANGE);
    WARNS(ONE(".f32"), "k<<<1, 1>>>(16777217)", LITERAL_RANGE);
    QUIET(ONE(".u32"), "k<<<1, 1>>>(4294967295)", LITERAL_RANGE);
    QUIET(ONE(".u32"), "k<<<1, 1>>>(-1)", LITERAL_RANGE);
    QUIET(ONE(".f32"), "k<<<1, 1>>>(0.5)", LITERAL_RANGE);
    QUIET(ONE(".f32"), "k<<<1, 1>>>(16777216)", LITERAL_RANGE);
    WARNS(ONE(".u32"), "k<<<1, 1>>>(u32(4294967296))", ARGUMENT_WRAPPED);
    QUIET(ONE(".u32"), "k<<<1, 1>>>(u32(4294967295))", ARGUMENT_WRAPPED);
    WARNS(PLAIN, "k<<<1, 1>>>(host)", HOST_POINTER);
    WARNS(PLAIN, "k<<<1, 1>>>(null)", NULL_POINTER);
    WARNS(PLAIN, "k<<<1, 1>>>(u64(0))", NULL_POINTER);
    QUIET(ONE(".u64"), "k<<<1, 1>>>(null)", NULL_POINTER);
    WARNS(PLAIN, "k<<<1, 1>>>(4096)", SCALAR_AS_POINTER);
    QUIET(PLAIN, "k<<<1, 1>>>(0x7f0000000000)", SCALAR_AS_POINTER);
    WARNS(PLAIN, "k<<<1, 1>>>(ptr@2)", POINTER_ALIGNMENT);
    WARNS(PLAIN, "k<<<1, 1>>>(0x7f0000000002)", POINTER_ALIGNMENT);
    QUIET(PLAIN, "k<<<1, 1>>>(ptr@4)", POINTER_ALIGNMENT);
    WARNS(ONE(".u64 .ptr .global .align 16"), "k<<<1, 1>>>(u8[64]@8)", POINTER_PROMISE);
    QUIET(ONE(".u64 .ptr .global .align 16"), "k<<<1, 1>>>(u8[64]@16)", POINTER_PROMISE);
    WARNS(MAP, "k<<<1, 1>>>(ptr, 1)", TENSORMAP_ARGUMENT);
    QUIET(MAP, "k<<<1, 1>>>(tensormap, 1)", TENSORMAP_ARGUMENT);
    QUIET(MAP, "k<<<1, 1>>>(bytes[128], 1)", TENSORMAP_ARGUMENT);
#define NUMBER HEAD ENTRY(".param .u64 p", "", ".reg .b64 %a; ld.param.u64 %a,[p];\n")
    WARNS(NUMBER, "k<<<1, 1>>>(u8[4])", POINTER_AS_SCALAR);
    QUIET(PLAIN, "k<<<1, 1>>>(u8[4])", POINTER_AS_SCALAR);
}

// What is wrong twice is answered by what the driver looks at first (tools/launch_order.py).
static void test_order_of_answers(void **state) {
    (void)state;
    FIRES(PLAIN, "k<<<1, 1025>>>(ptr) regs=168 packed=16", BLOCK_TOO_LARGE, LAUNCH, INVALID_VALUE);
    FIRES(PLAIN, "k<<<1, 1024, 49153>>>(ptr) regs=168", REGISTERS_EXCEEDED, LAUNCH, INVALID_VALUE);
    FIRES(PLAIN, "k<<<3, 1, 49153>>>(ptr) cluster=2", CLUSTER_GRID, LAUNCH, INVALID_CLUSTER_SIZE);
    FIRES(PLAIN, "k<<<3, 1>>>() cluster=2", ARGUMENTS_NULL, LAUNCH, INVALID_VALUE);
    FIRES(PLAIN, "k<<<100001, 1>>>(ptr) cluster=2 cooperative regs=8", COOPERATIVE_TOO_LARGE, LAUNCH,
          INVALID_CLUSTER_SIZE);
    FIRES(PLAIN, "k<<<100000, 1, 49153>>>(ptr) cooperative regs=8", SHARED_NEEDS_OPTIN, LAUNCH,
          COOPERATIVE_LAUNCH_TOO_LARGE);
    FIRES(PLAIN, "k<<<100000, 1024>>>(ptr) cooperative regs=168", REGISTERS_EXCEEDED, LAUNCH,
          COOPERATIVE_LAUNCH_TOO_LARGE);
    FIRES(PLAIN, "k<<<1, 1, 49153>>>(ptr) packed=16", PACKED_TOO_LARGE, LAUNCH, INVALID_VALUE);
}

static void test_deployments(void **state) {
    (void)state;
    struct source *source = arena_new(&arena, struct source), *text = arena_new(&arena, struct source);
    struct judge_options judge = {.threads = 1};
    struct module *module;
    struct launch launch;
    struct findings parse;
    struct check_options options = {.as = CHECK_AS_DRIVER, .keep_bodies = true};
    const char *line = "k<<<1, 1025, 150000>>>(ptr) optin=auto", *names[] = {"h200", "rtx 4090"};
    source_init(source, &arena, STR("k.ptx"), OLD, sizeof OLD - 1);
    source_init(text, &arena, STR("launch"), line, (uint32_t)strlen(line));
    findings_init(&load, &arena, 0);
    findings_init(&parse, &arena, 0);
    check_source(source, &arena, &arena, &options, &load, &module);
    facts_compute(module, &arena, &facts);
    assert_true(launch_parse(text, &arena, NULL, &parse, &launch));
    for (int i = 0; i < 2; i++) {
        struct deployment *deployment = vec_push(&arena, &judge.deployments);
        deployment->gpu = isa_gpu_find(str_from(names[i]));
        deployment->gpu_text = str_from(names[i]);
    }
    launch_judge(&facts, &load, &launch, &judge, &arena, &judgement);
    assert_true(found(RULE_BLOCK_TOO_LARGE));
    for (uint32_t i = 0; i < judgement.findings.list.n; i++) {
        const struct finding *finding = judgement.findings.list.at[i];
        if (finding->rule == RULE_BLOCK_TOO_LARGE) assert_int_equal(finding->deployment.len, 0);
        if (finding->rule == RULE_OPTIN_OVER_DEVICE)
            assert_true(str_eq(finding->deployment, STR("rtx 4090")));
    }
    assert_true(found(RULE_OPTIN_OVER_DEVICE));
    assert_int_equal(judgement.predicted.phase, PHASE_SET_ATTRIBUTE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid_and_block), cmocka_unit_test(test_launch_bounds),
        cmocka_unit_test(test_triton_and_warps), cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_cooperative), cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_shared_memory), cmocka_unit_test(test_registers_and_local),
        cmocka_unit_test(test_argument_lists), cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_order_of_answers), cmocka_unit_test(test_deployments)};
    if (setjmp(memory.edge) != 0) return 1;
    arena_init(&arena, &memory);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_destroy(&arena);
    return failed;
}
