// The dry run on small kernels: what the device answers, what is said, what is learned.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyzer/facts/dryrun/dryrun.h"
#include "parser/parser.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define ENTRY HEAD ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n) {\n" \
    ".reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %d<30>; .reg .b16 %h<9>; .reg .f32 %f<9>;\n"

// A kernel of two buffers and a number.
struct row {
    const char *ptx;
    uint32_t grid, block;
    uint64_t shared;
    uint64_t p_size, p_align, q_size;  // q_size 0: null
    bool zeroed;
    uint32_t n;
    int result;
};

static struct memory memory;
static struct arena arena;
static struct module *module;
static struct dryrun_result result;

static void run(const struct row *row, uint32_t threads, bool portable, bool pointers) {
    static uint8_t zeros[1 << 16];
    struct source *source = arena_new(&arena, struct source);
    struct findings findings;
    struct module_facts facts;
    findings_init(&findings, &arena, 10);
    source_init(source, &arena, STR("test.ptx"), row->ptx, (uint32_t)strlen(row->ptx));
    (void)parse_module(source, &arena, &arena, &(struct parse_options){0}, &findings, &module);
    facts_compute(module, &arena, &facts);
    assert_int_equal(facts.kernels.n, 1);
    struct dryrun_arg args[3] = {
        {.kind = DRYRUN_ARG_BUFFER, .size = row->p_size, .align = row->p_align, .contents = row->zeroed ? zeros : NULL,
         .contents_size = row->p_size},
        {.kind = row->q_size ? DRYRUN_ARG_BUFFER : DRYRUN_ARG_NULL, .size = row->q_size},
        {.kind = DRYRUN_ARG_VALUE, .value = row->n}};
    if (pointers) args[0].kind = args[1].kind = DRYRUN_ARG_POINTER;
    struct dryrun_request request = {.module = module, .kernel = &facts.kernels.at[0], .grid = {row->grid, 1, 1},
        .block = {row->block, 1, 1}, .cluster = {1, 1, 1}, .shared_dynamic = row->shared, .shared_dynamic_known = true,
        .args = args, .budget = 20, .threads = threads, .no_simd = portable};
    dryrun(&request, &arena, &result);
}

#define GLOBAL_INDEX                                                                            \
    "ld.param.u64 %d1,[p]; ld.param.u64 %d9,[q]; ld.param.u32 %r9,[n];\n"                       \
    "mov.u32 %r1,%tid.x; mov.u32 %r2,%ctaid.x; mov.u32 %r3,%ntid.x; mad.lo.u32 %r4,%r2,%r3,%r1;\n" \
    "mul.wide.u32 %d2,%r4,4; add.u64 %d3,%d1,%d2;\n"
#define OK RESULT_CUDA_SUCCESS
#define ILLEGAL RESULT_CUDA_ERROR_ILLEGAL_ADDRESS
#define MISALIGNED RESULT_CUDA_ERROR_MISALIGNED_ADDRESS

static const struct row rows[] = {
    // Bounds and alignment of global memory.
    {ENTRY GLOBAL_INDEX "st.global.u32 [%d3],1; ret; }", 8, 128, 0, 4096, 256, 0, false, 0, OK},
    {ENTRY GLOBAL_INDEX "st.global.u32 [%d3],1; ret; }", 9, 128, 0, 4096, 256, 0, false, 0, ILLEGAL},
    {ENTRY GLOBAL_INDEX "st.global.u32 [%d3],1; ret; }", 8, 128, 0, 4096, 2, 0, false, 0, MISALIGNED},
    {ENTRY GLOBAL_INDEX "st.global.u32 [%d3+-4],1; ret; }", 8, 128, 0, 4096, 256, 0, false, 0, OK},
    {ENTRY GLOBAL_INDEX "setp.ge.u32 %p1,%r4,%r9; @%p1 bra E; st.global.u32 [%d3],1; E: ret; }", 9, 128, 0, 4000, 256, 0,
     false, 1000, OK},
    {ENTRY GLOBAL_INDEX "setp.lt.u32 %p1,%r4,%r9; @%p1 st.global.u32 [%d3],1; ret; }", 9, 128, 0, 4000, 256, 0, false, 1001,
     ILLEGAL},
    {ENTRY GLOBAL_INDEX "st.global.u32 [%d9],1; ret; }", 1, 1, 0, 4096, 256, 0, false, 0, ILLEGAL},
    // Loads that the assembler drops or narrows do not decide.
    {ENTRY GLOBAL_INDEX "ld.global.u32 %r5,[%d3]; ret; }", 9, 128, 0, 4096, 256, 0, false, 0, OK},
    {ENTRY GLOBAL_INDEX "ld.global.v4.u32 {%r5,%r6,%r7,%r8},[%d1+4]; st.global.u32 [%d1],%r5; ret; }", 1, 1, 0, 4096, 256, 0,
     false, 0, OK},
    {ENTRY GLOBAL_INDEX "ld.global.v4.u32 {%r5,%r6,%r7,%r8},[%d1+4]; add.u32 %r5,%r5,%r8; st.global.u32 [%d1],%r5; ret; }",
     1, 1, 0, 4096, 256, 0, false, 0, MISALIGNED},
    // An index that is loaded: known contents are followed, unknown ones accuse nobody.
    {ENTRY GLOBAL_INDEX "ld.global.u32 %r5,[%d3]; mul.wide.u32 %d4,%r5,4; add.u64 %d5,%d9,%d4; st.global.u32 [%d5],1; ret; }",
     1, 128, 0, 4096, 256, 4, true, 0, OK},
    {ENTRY GLOBAL_INDEX "ld.global.u32 %r5,[%d3]; mul.wide.u32 %d4,%r5,4; add.u64 %d5,%d9,%d4; st.global.u32 [%d5],1; ret; }",
     1, 128, 0, 4096, 256, 4, false, 0, OK},
    {ENTRY GLOBAL_INDEX "ld.global.u32 %r5,[%d3]; and.b32 %r5,%r5,15; add.u32 %r5,%r5,16; mul.wide.u32 %d4,%r5,4;"
     "add.u64 %d5,%d9,%d4; st.global.u32 [%d5],1; ret; }", 1, 128, 0, 4096, 256, 64, false, 0, ILLEGAL},
    // A branch that is not known: both sides are run, neither is certain.
    {ENTRY GLOBAL_INDEX "ld.global.u32 %r5,[%d3]; setp.eq.u32 %p1,%r5,7; @!%p1 bra E; trap; E: ret; }", 1, 128, 0, 4096, 256,
     0, false, 0, OK},
    {ENTRY GLOBAL_INDEX "mov.u32 %r6,0; L: ld.global.u32 %r5,[%d3]; add.u32 %r6,%r6,1; setp.ne.u32 %p1,%r5,%r6; @%p1 bra L;"
     "st.global.u32 [%d3+4096],1; ret; }", 1, 128, 0, 4096, 256, 0, false, 0, ILLEGAL},
    // Shared memory: its granule hides what is less than 128 bytes beyond.
    {".version 8.0\n.target sm_90\n.address_size 64\n.extern .shared .align 16 .b8 s[];\n"
     ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n) { .reg .b32 %r<9>; ld.param.u32 %r1,[n]; mov.u32 %r2,s;"
     "add.u32 %r2,%r2,%r1; st.shared.u32 [%r2],1; ret; }", 1, 1, 100, 64, 256, 0, false, 124, OK},
    {".version 8.0\n.target sm_90\n.address_size 64\n.extern .shared .align 16 .b8 s[];\n"
     ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n) { .reg .b32 %r<9>; ld.param.u32 %r1,[n]; mov.u32 %r2,s;"
     "add.u32 %r2,%r2,%r1; st.shared.u32 [%r2],1; ret; }", 1, 1, 100, 64, 256, 0, false, 128, ILLEGAL},
    // A pointer through shared memory, in barrier order.
    {HEAD ".shared .align 8 .b64 s;\n.visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n) {\n"
     ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %d<9>; ld.param.u64 %d1,[p]; mov.u32 %r1,%tid.x; setp.ne.u32 %p1,%r1,64;"
     "@%p1 bra W; add.u64 %d1,%d1,4096; st.shared.u64 [s],%d1; W: bar.sync 0; ld.shared.u64 %d2,[s];"
     "st.global.u32 [%d2],1; ret; }", 1, 128, 0, 4096, 256, 0, false, 0, ILLEGAL},
    // Barriers.
    {ENTRY "bar.sync 1, 96; ret; }", 1, 64, 0, 64, 256, 0, false, 0, RESULT_HANG},
    {ENTRY "bar.sync 0, 64; ret; }", 1, 64, 0, 64, 256, 0, false, 0, OK},
    {ENTRY "mov.u32 %r1,%tid.x; setp.lt.u32 %p1,%r1,32; @!%p1 bra E; bar.sync 0; bra F; E: bar.sync 1; F: ret; }", 1, 64, 0,
     64, 256, 0, false, 0, RESULT_HANG},
    {ENTRY "mov.u32 %r1,%tid.x; setp.lt.u32 %p1,%r1,40; @!%p1 bra F; bar.sync 0; F: ret; }", 1, 64, 0, 64, 256, 0, false, 0, OK},
    {ENTRY "mov.u32 %r1,%tid.x; setp.lt.u32 %p1,%r1,16; @%p1 bra A; bar.sync 0; A: bar.sync 0; ret; }", 1, 64, 0, 64, 256, 0,
     false, 0, OK},
    // What ends otherwise.
    {ENTRY "L: bra L; }", 1, 1, 0, 64, 256, 0, false, 0, RESULT_HANG},
    {ENTRY "trap; }", 1, 1, 0, 64, 256, 0, false, 0, RESULT_CUDA_ERROR_LAUNCH_FAILED},
    {ENTRY "ld.param.u32 %r9,[n]; setp.eq.u32 %p1,%r9,3; @%p1 trap; ret; }", 1, 1, 0, 64, 256, 0, false, 4, OK},
    {HEAD ".func f(.param .b32 x) { .reg .b32 %r<3>; ld.param.b32 %r1,[x]; { .param .b32 a; st.param.b32 [a],%r1;"
     "call.uni f,(a); } ret; }\n.visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n) { { .param .b32 a;"
     "st.param.b32 [a],1; call.uni f,(a); } ret; }", 1, 1, 0, 64, 256, 0, false, 0, ILLEGAL},
    // Calls: values in and out, registers and parameters.
    {HEAD ".func (.param .b64 o) f(.param .b64 x, .param .b32 i) { .reg .b64 %d<4>; .reg .b32 %r<3>; ld.param.b64 %d1,[x];"
     "ld.param.b32 %r1,[i]; mul.wide.u32 %d2,%r1,4; add.u64 %d3,%d1,%d2; st.param.b64 [o],%d3; ret; }\n"
     ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n) { .reg .b64 %d<4>; .reg .b32 %r<3>; ld.param.u64 %d1,[p];"
     "mov.u32 %r1,%tid.x; { .param .b64 r; .param .b64 a; .param .b32 b; st.param.b64 [a],%d1; st.param.b32 [b],%r1;"
     "call.uni (r),f,(a,b); ld.param.b64 %d2,[r]; } st.global.u32 [%d2],1; ret; }", 1, 33, 0, 128, 256, 0, false, 0, ILLEGAL},
    // Constants: an initialised one is followed; where an array has no size, nothing is beyond it.
    {HEAD ".const .align 4 .b32 c[2] = {0, 64};\n.visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n) {"
     ".reg .b64 %d<6>; .reg .b32 %r<3>; ld.param.u64 %d1,[p]; ld.const.u32 %r1,[c+4]; cvt.u64.u32 %d2,%r1;"
     "add.u64 %d3,%d1,%d2; st.global.u32 [%d3],1; ret; }", 1, 1, 0, 64, 256, 0, false, 0, ILLEGAL},
    {HEAD ".extern .const .align 4 .b32 c[];\n.visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n) {"
     ".reg .b64 %d<6>; .reg .b32 %r<3>; ld.param.u64 %d1,[p]; ld.const.u32 %r1,[c+400]; st.global.u32 [%d1],%r1; ret; }", 1, 1,
     0, 64, 256, 0, false, 0, OK},
    // Local memory, brx.idx, generic addresses.
    {HEAD ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n) { .local .align 8 .b8 l[16]; .reg .b64 %d<6>;"
     ".reg .b32 %r<3>; ld.param.u64 %d1,[p]; mov.u64 %d2,l; st.local.u64 [%d2+8],%d1; cvta.local.u64 %d3,%d2;"
     "ld.u64 %d4,[%d3+8]; st.global.u32 [%d4+64],1; ret; }", 1, 1, 0, 64, 256, 0, false, 0, ILLEGAL},
    {ENTRY "ld.param.u64 %d1,[p]; ld.param.u32 %r1,[n]; T: .branchtargets A, B; brx.idx %r1, T; A: ret;"
     "B: st.global.u32 [%d1+64],1; ret; }", 1, 32, 0, 64, 256, 0, false, 1, ILLEGAL},
};

static int begin(void **unused) {
    (void)unused;
    memory = (struct memory){0};
    arena_init(&arena, &memory);
    return 0;
}

static int end(void **unused) {
    (void)unused;
    arena_destroy(&arena);
    return 0;
}

static void device_answers(void **unused) {
    (void)unused;
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        run(&rows[i], 1, false, false);
        if (result.result != rows[i].result)
            fail_msg("row %u: %s, expected %s\n%s", i, result_text(result.result), result_text(rows[i].result), rows[i].ptx);
    }
}

static void assert_same(const struct dryrun_result *a, const struct dryrun_result *b) {
    assert_int_equal(a->result, b->result);
    assert_int_equal(a->also, b->also);
    assert_int_equal(a->unknown_addresses, b->unknown_addresses);
    assert_int_equal(a->lane_instructions, b->lane_instructions);
    assert_int_equal(a->faults.n, b->faults.n);
    for (uint32_t i = 0; i < a->faults.n; i++) {
        assert_int_equal(a->faults.at[i].threads, b->faults.at[i].threads);
        assert_int_equal(a->faults.at[i].byte_offset, b->faults.at[i].byte_offset);
        assert_memory_equal(a->faults.at[i].ctaid, b->faults.at[i].ctaid, sizeof a->faults.at[i].ctaid);
        assert_memory_equal(a->faults.at[i].tid, b->faults.at[i].tid, sizeof a->faults.at[i].tid);
    }
}

static void threads_and_builds_agree(void **unused) {
    (void)unused;
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct row row = rows[i];
        row.grid *= 40;
        run(&row, 1, false, false);
        struct dryrun_result one = result;
        run(&row, 3, false, false);
        assert_same(&one, &result);
        run(&row, 1, true, false);
        assert_same(&one, &result);
    }
}

static const struct dryrun_use *use_of(uint32_t param) {
    for (uint32_t i = 0; i < result.uses.n; i++)
        if (result.uses.at[i].param == param) return &result.uses.at[i];
    return NULL;
}

static void sizes_are_learned(void **unused) {
    (void)unused;
    struct row row = {ENTRY GLOBAL_INDEX "setp.ge.u32 %p1,%r4,%r9; @%p1 bra E; ld.global.u32 %r5,[%d3];"
                      "st.global.v2.u32 [%d9+8],{%r5,%r5}; E: ret; }", 8, 128, 0, 0, 256, 0, false, 1000, OK};
    run(&row, 1, false, true);
    assert_int_equal(result.result, OK);
    assert_int_equal(use_of(0)->size_needed, 4000);
    assert_int_equal(use_of(0)->align_needed, 4);
    assert_true(use_of(0)->read && !use_of(0)->written);
    assert_int_equal(use_of(1)->size_needed, 16);
    assert_int_equal(use_of(1)->written_low, 8);
    assert_int_equal(use_of(1)->align_needed, 8);
    assert_true(result.complete && result.blocks_run == 8);
}

static void first_thread_is_named(void **unused) {
    (void)unused;
    struct row row = {ENTRY GLOBAL_INDEX "st.global.u32 [%d3],1; ret; }", 20, 128, 0, 4100, 4, 0, false, 0, ILLEGAL};
    run(&row, 2, false, false);
    assert_int_equal(result.faults.n, 1);
    const struct dryrun_fault *fault = &result.faults.at[0];
    assert_int_equal(fault->kind, FAULT_OUT_OF_BOUNDS);
    assert_int_equal(fault->confidence, CONFIDENCE_CERTAIN);
    assert_int_equal(fault->ctaid[0], 8);
    assert_int_equal(fault->tid[0], 1);
    assert_int_equal(fault->byte_offset, 4100);
    assert_int_equal(fault->furthest, 20 * 512);
    assert_int_equal(fault->threads, 20 * 128 - 1025);
}

static void doubt_is_possible_only(void **unused) {
    (void)unused;
    struct row row = {ENTRY GLOBAL_INDEX "ld.global.u32 %r5,[%d3]; setp.eq.u32 %p1,%r5,7; @!%p1 bra E;"
                      "st.global.u32 [%d3+4096],1; E: ret; }", 1, 128, 0, 4096, 256, 0, false, 0, OK};
    run(&row, 1, false, false);
    assert_int_equal(result.result, OK);
    assert_int_equal(result.faults.n, 1);
    assert_int_equal(result.faults.at[0].confidence, CONFIDENCE_POSSIBLE);
    assert_int_equal(result.confidence, CONFIDENCE_POSSIBLE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(device_answers, begin, end),
        cmocka_unit_test_setup_teardown(threads_and_builds_agree, begin, end),
        cmocka_unit_test_setup_teardown(sizes_are_learned, begin, end),
        cmocka_unit_test_setup_teardown(first_thread_is_named, begin, end),
        cmocka_unit_test_setup_teardown(doubt_is_possible_only, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
