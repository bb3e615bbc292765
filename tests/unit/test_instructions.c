// The instruction checker: each rule of family 04, and the floors of 05, by examples that ptxas
// 13.0 was seen to take or refuse.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analyzer/rules/instructions.h"
#include "parser/parser.h"

struct judged {
    struct memory memory;
    struct arena arena;
    struct findings findings;
    struct module *module;
    struct instruction_checker *checker;
};

static void check_function(void *context, struct module *module, uint32_t function) {
    struct judged *judged = context;
    judged->module = module;
    if (judged->checker == NULL)
        judged->checker = instruction_checker_new(&judged->arena, module, &judged->findings);
    instruction_check_function(judged->checker, function);
}

static const char declarations[] =
    ".reg .b8 %b<2>; .reg .b16 %h<5>; .reg .u16 %us<2>; .reg .b32 %r<9>; .reg .u32 %u<9>;\n"
    ".reg .s32 %s<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .f64 %fd<3>; .reg .pred %p<4>;\n"
    ".reg .f16x2 %hh<2>; .reg .v4 .u32 %v4;\n";

static void judge(struct judged *judged, const char *version, const char *target,
                  const char *instructions) {
    memset(judged, 0, sizeof *judged);
    arena_init(&judged->arena, &judged->memory);
    findings_init(&judged->findings, &judged->arena, 0);
    struct str text = str_format(
        &judged->arena,
        ".version %s\n.target %s\n.address_size 64\n.global .u32 gvar;\n.shared .u32 svar;\n"
        ".const .u32 cvar;\n.func dfunc() { ret; }\n.entry k(.param .u64 kp) {\n%s%s\nret;\n}\n",
        version, target, declarations, instructions);
    struct source *source = arena_new(&judged->arena, struct source);
    source_init(source, &judged->arena, STR("-"), text.data, text.len);
    struct parse_options options = {.function_done = check_function, .context = judged};
    parse_module(source, &judged->arena, &judged->arena, &options, &judged->findings,
                 &judged->module);
}

static void done(struct judged *judged) { arena_destroy(&judged->arena); }

// The first finding's code must be `code`; empty: there is none.
static void expect(const char *version, const char *target, const char *instruction,
                   const char *code) {
    struct judged judged;
    judge(&judged, version, target, instruction);
    const char *found = judged.findings.list.n == 0
                            ? ""
                            : rule_infos[judged.findings.list.at[0]->rule].code;
    if (strcmp(found, code) != 0)
        fail_msg("%s at %s %s: `%s`, expected `%s`", instruction, version, target, found, code);
    done(&judged);
}

struct example {
    const char *instruction, *code;
};

static void expect_all(const char *version, const char *target, const struct example *examples,
                       size_t count) {
    for (size_t i = 0; i < count; i++)
        expect(version, target, examples[i].instruction, examples[i].code);
}

#define EXPECT_ALL(version, target, examples) \
    expect_all(version, target, examples, sizeof(examples) / sizeof *(examples))

static void words_are_known_and_go_together(void **state) {
    (void)state;
    static const struct example examples[] = {
        {"add.u32 %u1, %u2, %u3;", ""},
        {"ad.u32 %u1, %u2, %u3;", "PTX0401"},
        {"add.u33 %u1, %u2, %u3;", "PTX0402"},
        {"add.wide.u32 %u1, %u2, %u3;", "PTX0403"},
        {"add.rn.rz.f32 %f1, %f2, %f3;", "PTX0403"},
        {"add.ftz.ftz.f32 %f1, %f2, %f3;", "PTX0403"},
        {"add.sat.sat.f32 %f1, %f2, %f3;", ""},
        {"add.f32.rn %f1, %f2, %f3;", ""},
        {"ld.u32.global %u1, [%rd1];", ""},
        {"fma.f32 %f1, %f2, %f3, %f4;", "PTX0404"},
        {"mul.u32 %u1, %u2, %u3;", "PTX0404"},
        {"cvt.f32.u32.rn %f1, %u1;", ""},
        {"cvt.u32.f32.rn %u1, %f1;", "PTX0403"},
        {"setp.lo.s32 %p1, %s1, %s2;", "PTX0403"},
        {"setp.lt.b32 %p1, %r1, %r2;", "PTX0403"},
        {"max.xorsign.f32 %f1, %f2, %f3;", "PTX0403"},
        {"ld .global.u32 %u1, [%rd1];", ""},
        {"cvta .to.global.u64 %rd1, %rd2;", "PTX0403"},
        {"bar .sync 0;", ""},
    };
    EXPECT_ALL("9.0", "sm_90", examples);
}

static void operands_have_shape_class_and_width(void **state) {
    (void)state;
    static const struct example examples[] = {
        {"add.u32 %u1, %u2;", "PTX0405"},
        {"add.u32 %u1, %u2, %u3, %u4;", "PTX0405"},
        {"add.u32 5, %u2, %u3;", "PTX0406"},
        {"add.u32 %u1, [%rd1], %u3;", "PTX0406"},
        {"add.u32 %u1, %u2, %tid.x;", "PTX0406"},
        {"mov.u32 %u1, %tid.x;", ""},
        {"mov.u32 %u1, %tid;", "PTX0406"},
        {"mov.v4.u32 {%u1, %u2, %u3, %u4}, %tid;", ""},
        {"add.u32 %u1, %u2, %f3;", "PTX0407"},
        {"add.u32 %u1, %u2, %rd3;", "PTX0407"},
        {"add.u32 %s1, %r2, %u3;", ""},
        {"add.f32 %f1, %r2, %f3;", ""},
        {"add.f32 %f1, %u2, %f3;", "PTX0407"},
        {"add.u32 %hh1, %u2, %u3;", ""},
        {"shl.b32 %r1, %r2, %hh1;", "PTX0407"},
        {"ld.global.u8 %rd1, [%rd2];", ""},
        {"ld.global.u64 %u1, [%rd2];", "PTX0407"},
        {"ld.global.u32 %u1, [%f1];", "PTX0407"},
        {"add.f32 %f1, %f2, 5;", "PTX0408"},
        {"add.u32 %u1, %u2, 1.5;", "PTX0408"},
        {"add.f16 %h1, %h2, 1.0;", "PTX0408"},
        {"mov.b32 %r1, 0f3f800000;", ""},
        {"mov.b64 %rd1, {%r1, %r2};", ""},
        {"mov.b64 %rd1, {%r1, %r2, %r3};", "PTX0409"},
        {"mov.b64 %rd1, {%r1, %rd2};", "PTX0407"},
        {"ld.global.v2.u32 {%u1, %f1}, [%rd1];", "PTX0407"},
        {"ld.global.v2.b32 {%r1, %f1}, [%rd1];", ""},
        {"ld.global.v2.u32 {%u1, _}, [%rd1];", ""},
        {"st.global.v2.u32 [%rd1], {%u1, _};", "PTX0406"},
        {"ld.global.v4.u32 %v4, [%rd1];", ""},
        {"add.u32 %v4.x, %v4.y, 1;", ""},
        {"add.u32 %v4, %v4, 1;", "PTX0406"},
        {"setp.eq.u32 %p1|%p2, %u1, %u2;", ""},
        {"setp.eq.u32 %u1, %u1, %u2;", "PTX0407"},
        {"vadd.u32.u32.u32 %u1, %u2.b0, %u3.h1;", ""},
        {"add.u32 %u1, %u2.b0, %u3;", "PTX0406"},
    };
    EXPECT_ALL("9.0", "sm_90", examples);
}

static void spaces_constants_and_guards_fit(void **state) {
    (void)state;
    static const struct example examples[] = {
        {"ld.global.u32 %u1, [gvar];", ""},
        {"ld.global.u32 %u1, [svar];", "PTX0410"},
        {"ld.u32 %u1, [cvar];", "PTX0410"},
        {"ld.param.u64 %rd1, [kp];", ""},
        {"st.param.u64 [kp], %rd1;", "PTX0410"},
        {"ld.local.u32 %u1, [8];", ""},
        {"ld.global.u32 %u1, [8];", "PTX0406"},
        {"bar.sync 16;", "PTX0411"},
        {"bar.sync 1, 33;", "PTX0411"},
        {"cp.async.ca.shared.global [%rd1], [%rd2], 12;", "PTX0411"},
        {"cp.async.ca.shared.global [%rd1], [%rd2], 4, 7;", "PTX0411"},
        {"bfe.u32 %u1, %u2, 300, 1;", "PTX0411"},
        {"@%p1 add.u32 %u1, %u2, %u3;", ""},
        {"@%u1 add.u32 %u1, %u2, %u3;", "PTX0412"},
    };
    EXPECT_ALL("9.0", "sm_90", examples);
}

static void floors_name_version_and_target(void **state) {
    (void)state;
    expect("7.0", "sm_80", "add.bf16 %h1, %h2, %h3;", "PTX0520");
    expect("7.8", "sm_80", "add.bf16 %h1, %h2, %h3;", "PTX0521");
    expect("7.8", "sm_90", "add.bf16 %h1, %h2, %h3;", "");
    expect("6.4", "sm_70", "vote.all.pred %p1, %p2;", "PTX0522");
    expect("6.3", "sm_70", "vote.all.pred %p1, %p2;", "");
    expect("1.3", "sm_13", "rcp.f32 %f1, %f2;", "");
    expect("2.0", "sm_20", "rcp.f32 %f1, %f2;", "PTX0522");
    expect("9.0", "sm_100", "tcgen05.wait::ld.sync.aligned;", "PTX0521");
    expect("9.0", "sm_100f", "tcgen05.wait::ld.sync.aligned;", "");
    expect("3.0", "sm_20", "mov.u64 %rd1, k;", "PTX0520");
    expect("7.0", "sm_80", "mov.u32 %u1, %clusterid.x;", "PTX0520");
}

static void later_versions_are_not_judged_by_older_tables(void **state) {
    (void)state;
    expect("9.3", "sm_90", "frobnicate.u32 %u1, %u2;", "PTX0413");
    expect("9.3", "sm_90", "add.sparkling.u32 %u1, %u2, %u3;", "PTX0413");
    expect("9.3", "sm_90", "add.u32 %u1, %u2, %f3;", "PTX0407");
    expect("9.2", "sm_120f", "add.u8x4 %r1, %r2, %r3;", "");
}

static void matrix_fragments_have_their_length(void **state) {
    (void)state;
    static const struct example examples[] = {
        {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4},"
         "{%r5,%r6}, {%f1,%f2,%f3,%f4};", ""},
        {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2},"
         "{%r5,%r6}, {%f1,%f2,%f3,%f4};", "PTX0409"},
        {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4},"
         "{%r5,%r6}, {%r1,%r2};", "PTX0403"},
        {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%rd1];", ""},
        {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1}, [%rd1];", "PTX0409"},
        {"wmma.load.a.sync.aligned.row.m16n16k16.s8 {%r1, %r2}, [%rd1];", ""},
    };
    EXPECT_ALL("9.0", "sm_90", examples);
}

// Verdicts are remembered by form and operand shape, the clean ones only: each mistake is told.
static void each_mistake_is_told(void **state) {
    (void)state;
    struct judged judged;
    judge(&judged, "9.0", "sm_90",
          "add.u32 %u1, %u2, %u3; add.u32 %u1, %u2, %f3; add.u32 %u4, %u5, %u6;"
          "add.u32 %u1, %u2, %f4; bar.sync 1; bar.sync 99; bar.sync 2;");
    assert_int_equal(judged.findings.list.n, 3);
    done(&judged);
}

static void requirements_name_what_sets_them(void **state) {
    (void)state;
    struct judged judged;
    judge(&judged, "9.0", "sm_100a",
          "add.u32 %u1, %u2, %u3; cp.async.wait_all; cp.async.commit_group;"
          "add.bf16 %h1, %h2, %h3;");
    uint32_t count;
    const struct requirement *requirements =
        instruction_checker_requirements(judged.checker, &count);
    uint16_t version = 0, target = 0;
    uint32_t of_version = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (requirements[i].floor.version > version) of_version = i;
        if (requirements[i].floor.version > version) version = requirements[i].floor.version;
        if (requirements[i].floor.target > target) target = requirements[i].floor.target;
    }
    assert_int_equal(version, 78);
    assert_int_equal(target, 90);
    struct str text = judged.module->forms.at[requirements[of_version].form].text;
    assert_true(str_eq(text, STR("add.bf16")));
    done(&judged);
}

static void messages_say_which_operand_and_what_it_must_be(void **state) {
    (void)state;
    struct judged judged;
    judge(&judged, "9.0", "sm_90", "add.u32 %u1, %u2, %f3;");
    const struct finding *finding = judged.findings.list.at[0];
    assert_true(str_eq(finding->message,
                       STR("operand 3 of `add.u32`, `%f3`, is a .f32 register; it must be a .u32, "
                           ".s32 or .b32 register")));
    struct str at = source_text(finding->place.source, finding->place.span);
    assert_true(str_eq(at, STR("%f3")));
    done(&judged);
    judge(&judged, "7.0", "sm_80", "add.rn.bf16 %h1, %h2, %h3;");
    finding = judged.findings.list.at[0];
    assert_true(
        str_eq(finding->message, STR("`add.rn.bf16` needs PTX 7.8; the file says 7.0")));
    assert_true(str_eq(finding->help, STR("write `.version 7.8` or later")));
    done(&judged);
}

static void floors_read_and_combine(void **state) {
    (void)state;
    struct isa_floor sm80 = isa_floor_parse("sm_80@7.0");
    struct isa_floor special = isa_floor_parse("100a,103f@8.6");
    struct isa_floor both = isa_floor_both(sm80, special);
    assert_int_equal(both.version, 86);
    assert_true(isa_floor_has_target(&both, isa_target_parse(STR("sm_100a"))));
    assert_false(isa_floor_has_target(&both, isa_target_parse(STR("sm_100"))));
    assert_true(isa_floor_met(&sm80, 70, isa_target_parse(STR("compute_90a"))));
    assert_false(isa_floor_met(&sm80, 70, isa_target_parse(STR("sm_75"))));
    struct isa_floor late = isa_floor_parse("sm_89@7.8+8.1/90");
    assert_false(isa_floor_met(&late, 80, isa_target_parse(STR("sm_89"))));
    assert_true(isa_floor_met(&late, 80, isa_target_parse(STR("sm_90"))));
    assert_int_equal(isa_target_parse(STR("sm_x")).number, 0);
}

// Every row of every opcode can be read: tables with mistakes in them do not pass (asserts).
static void all_rows_can_be_read(void **state) {
    (void)state;
    expect("9.0", "sm_90", "nop;", "PTX0401");
    struct judged judged;
    for (int opcode = 1; opcode < OP_COUNT; opcode++) {
        struct str name = isa_opcode_texts[opcode];
        char text[64];
        snprintf(text, sizeof text, "%.*s.u33;", STR_ARG(name));
        judge(&judged, "9.0", "sm_90", text);
        assert_true(judged.findings.list.n > 0);
        done(&judged);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_known_and_go_together),
        cmocka_unit_test(operands_have_shape_class_and_width),
        cmocka_unit_test(spaces_constants_and_guards_fit),
        cmocka_unit_test(floors_name_version_and_target),
        cmocka_unit_test(later_versions_are_not_judged_by_older_tables),
        cmocka_unit_test(matrix_fragments_have_their_length),
        cmocka_unit_test(each_mistake_is_told),
        cmocka_unit_test(requirements_name_what_sets_them),
        cmocka_unit_test(messages_say_which_operand_and_what_it_must_be),
        cmocka_unit_test(floors_read_and_combine),
        cmocka_unit_test(all_rows_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
