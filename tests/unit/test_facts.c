// Facts of a module, as ptxas 13.0 and driver 580 have them (tools/shared_order.py): where shared
// variables lie, parameters, barriers, what pointers are for.
#include "analyzer/facts/facts.h"
#include "base/output.h"
#include "parser/parser.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct memory memory;
static struct arena arena;
static struct module_facts facts;

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define REG ".reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b64 %a;\n"
#define T(name) "st.shared.u8 [" name "],0;\n"
#define S(align, name, size) ".shared .align " #align " .b8 " name "[" #size "];\n"

static const struct kernel *kernel_of(const char *ptx) {
    struct source *source = arena_new(&arena, struct source);
    struct parse_options options = {0};
    struct findings findings;
    struct module *module;
    source_init(source, &arena, STR("k.ptx"), ptx, (uint32_t)strlen(ptx));
    findings_init(&findings, &arena, 0);
    parse_module(source, &arena, &arena, &options, &findings, &module);
    if (findings.list.n != 0) fail_msg("%.*s", STR_ARG(findings.list.at[0]->message));
    facts_compute(module, &arena, &facts);
    return facts_kernel(&facts, STR("k"));
}

static void holds(const char *module, const char *body, uint64_t bytes) {
    struct str text = str_format(&arena, "%s%s.visible .entry k(.param .u64 p) {\n%s%s ret;\n}\n", HEAD,
                                 module, REG, body);
    uint64_t got = kernel_of(text.data)->shared_static;
    if (got != bytes) fail_msg("%s%s: %u bytes, not %u", module, body, (unsigned)got, (unsigned)bytes);
}

static void test_shared_order(void **state) {
    (void)state;
    holds(S(1, "d", 3), S(4, "l", 5) T("l") T("d"), 8);
    holds(S(1, "d", 3), S(4, "l", 5) T("d"), 9);
    holds(S(1, "d", 3) S(4, "g", 3), S(4, "l", 5) S(1, "m", 3) T("g") T("m") T("l"), 11);
    holds(S(1, "d", 3) S(4, "g", 3), S(4, "l", 5) S(1, "m", 3) T("d") T("g") T("m") T("l"), 15);
    holds(S(2, "z", 2) S(1, "y", 7) S(2, "x", 10) S(4, "w", 4), T("w") T("x") T("y") T("z"), 24);
    holds(S(1, "unused", 60000), "", 0);
#define F ".func f() {\n" REG S(2, "x", 7) T("x") T("g") "ret;\n}\n"
#define F2 F ".func f2() {\n" REG S(16, "y", 33) "call f;\n" T("y") T("h") "ret;\n}\n"
#define G S(1, "d", 3) S(4, "g", 3) S(4, "h", 100)
    holds(G F2, S(1, "l", 1) "call f2;\n" T("d") T("l"), 161);
    holds(G F, T("d"), 3);
    holds(G F, "call f;\n" T("d") T("h"), 115);
    holds(S(1, "d", 3) ".func f() {\n" REG S(2, "x", 7) T("x") "ret;\n}\n",
          S(1, "u", 1) "call f;\n" T("d"), 12);
}

static void test_dynamic_array_aligns(void **state) {
    (void)state;
    holds(S(1, "d", 3) ".extern .shared .align 1 .b8 e[];\n", T("d") T("e"), 16);
    holds(S(1, "d", 3) ".extern .shared .align 64 .b8 e[];\n", T("d"), 64);
    holds(".extern .shared .align 64 .b8 e[];\n", T("e"), 0);
    assert_true(facts.kernels.at[0].shared_dynamic);
    assert_int_equal(facts.kernels.at[0].shared_dynamic_align, 64);
}

static void test_params(void **state) {
    (void)state;
    const struct kernel *k = kernel_of(
        HEAD ".visible .entry k(.param .u64 p, .param .u8 c, .param .v2 .f32 v, .param .align 64 .b8 m[128],\n"
             ".param .u64 q, .param .u64 n) {\n" REG
             "ld.param.u64 %d1,[p]; cvta.to.global.u64 %d2,%d1; ld.param.u64 %d3,[n];\n"
             "mul.lo.u64 %d4,%d3,4; add.u64 %d5,%d2,%d4; ld.global.v4.u32 {%r1,%r2,%r3,%r4},[%d5+16];\n"
             "ld.param.u64 %d6,[q]; st.global.u16 [%d6],%r1; atom.global.add.u32 %r5,[%d5],1; ret;\n}\n");
    static const uint64_t offsets[] = {0, 8, 16, 48, 176, 184};
    for (uint32_t i = 0; i < 6; i++) assert_int_equal(k->params.at[i].offset, offsets[i]);
    assert_int_equal(k->param_bytes, 192);
    assert_int_equal(k->params.at[0].kind, PARAM_POINTER);
    assert_int_equal(k->params.at[0].access, ACCESS_READWRITE);
    assert_int_equal(k->params.at[0].align_needed, 16);
    assert_int_equal(k->params.at[3].kind, PARAM_TENSORMAP);
    assert_int_equal(k->params.at[4].access, ACCESS_WRITE);
    assert_int_equal(k->params.at[4].align_needed, 2);
    assert_int_equal(k->params.at[5].kind, PARAM_SCALAR);
    assert_true(k->params.at[5].read);
    assert_false(k->params.at[1].read);
    facts_layout_params(&facts.kernels.at[0], 80);
    assert_int_equal(k->params.at[3].offset, 32);
    facts_layout_params(&facts.kernels.at[0], 100);
    assert_int_equal(k->params.at[3].offset, 64);
}

static void test_pointers_through_calls(void **state) {
    (void)state;
    const struct kernel *k = kernel_of(
        HEAD ".func (.param .b64 r) f(.param .b64 a) {\n" REG
             "ld.param.u64 %d1,[a]; st.u32 [%d1],0; st.param.b64 [r],%d1; ret;\n}\n"
             ".visible .entry k(.param .u64 p, .param .u64 q) {\n" REG
             "ld.param.u64 %d1,[p];\n{\n.param .b64 in; .param .b64 out;\nst.param.b64 [in],%d1;\n"
             "call (out), f, (in);\nld.param.b64 %d2,[out];\n}\nld.f64 %d3,[%d2];\n"
             "ld.param.u64 %d4,[q]; st.global.u64 [%d2],%d4; ret;\n}\n");
    assert_int_equal(k->params.at[0].access, ACCESS_READWRITE);
    assert_int_equal(k->params.at[0].align_needed, 8);
    // q goes to memory: who reads it there is not followed.
    assert_int_equal(k->params.at[1].access, ACCESS_UNKNOWN);
}

static uint32_t barriers(const char *body) {
    struct str text = str_format(&arena, "%s.visible .entry k(.param .u32 n) {\n%s%s ret;\n}\n", HEAD, REG,
                                 body);
    return kernel_of(text.data)->named_barriers;
}

static void test_barriers(void **state) {
    (void)state;
    assert_int_equal(barriers(""), 0);
    assert_int_equal(barriers("bar.sync 0;"), 1);
    assert_int_equal(barriers("bar.sync 1,32; bar.arrive 2,64;"), 3);
    assert_int_equal(barriers("bar.sync 15;"), 16);
    assert_int_equal(barriers("mov.u32 %r1,3; barrier.sync %r1;"), 4);
    assert_int_equal(barriers("ld.param.u32 %r1,[n]; barrier.sync %r1;"), 16);
    assert_int_equal(barriers("bar.warp.sync -1;"), 0);
}

static void test_triton_hidden(void **state) {
    (void)state;
#define POINTER(name) ".param .u64 .ptr .global .align 1 " name
    const struct kernel *k = kernel_of(
        "//\n// Generated by LLVM NVPTX Back-End\n//\n" HEAD
        ".visible .entry k(" POINTER("x") ", " POINTER("g") ", " POINTER("h") ") .reqntid 128 {\n" REG
        "ld.param.u64 %d1,[x]; st.global.u32 [%d1],0; ret;\n}\n");
    assert_int_equal(facts.generator, GENERATOR_TRITON);
    assert_int_equal(k->params.at[0].role, PARAM_USER);
    assert_int_equal(k->params.at[1].role, PARAM_HIDDEN);
    assert_int_equal(k->params.at[2].role, PARAM_HIDDEN);
    assert_true(str_eq(k->params.at[2].what, STR("Triton profile scratch")));
}

// Many entries over one function, and calls in a circle: linear, and it ends.
static void test_many_entries(void **state) {
    (void)state;
    struct output out;
    output_init(&out, &arena);
    output_text(&out, HEAD S(4, "g", 4) ".func f() {\n" REG "call f;\n" T("g") "ret;\n}\n");
    for (int i = 0; i < 5000; i++)
        output_format(&out, ".visible .entry k%d() { call f; ret; }\n", i);
    output_byte(&out, '\0');
    kernel_of(out.data);
    assert_int_equal(facts.kernels.n, 5000);
    assert_int_equal(facts.kernels.at[4999].shared_static, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared_order), cmocka_unit_test(test_dynamic_array_aligns),
        cmocka_unit_test(test_params), cmocka_unit_test(test_pointers_through_calls),
        cmocka_unit_test(test_barriers), cmocka_unit_test(test_triton_hidden),
        cmocka_unit_test(test_many_entries)};
    if (setjmp(memory.edge) != 0) return 1;
    arena_init(&arena, &memory);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_destroy(&arena);
    return failed;
}
