// findings/: the rule table, CUresults, the collector.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "findings/findings.h"

static struct memory memory;
static struct arena arena;

static int set_up(void **state) {
    (void)state;
    memory = (struct memory){0};
    arena_init(&arena, &memory);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_destroy(&arena);
    return 0;
}

static void every_rule_has_a_code_and_a_name_of_its_own(void **state) {
    (void)state;
    for (int rule = 1; rule < RULE_COUNT; rule++) {
        const struct rule_info *info = &rule_infos[rule];
        char code[16];
        snprintf(code, sizeof code, "PTX%04d", info->number);
        assert_string_equal(info->code, code);
        assert_in_range(info->number, 101, 1199);
        assert_int_equal(rule_find(str_from(info->code)), rule);
        assert_int_equal(rule_find(str_from(info->code + 3)), rule);
        assert_int_equal(rule_find(str_from(info->name)), rule);
        assert_non_null(result_text(info->result));
        if (info->phase == PHASE_NONE) assert_int_equal(info->result, RESULT_CUDA_SUCCESS);
    }
    assert_int_equal(rule_find(STR("PTX9999")), RULE_NONE);
    assert_int_equal(rule_find(STR("")), RULE_NONE);
}

static void results_are_found_by_number_and_by_name(void **state) {
    (void)state;
    int result = -1;
    assert_true(result_find(STR("701"), &result));
    assert_int_equal(result, RESULT_CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    assert_true(result_find(STR("CUDA_ERROR_ILLEGAL_ADDRESS"), &result));
    assert_int_equal(result, 700);
    assert_true(result_find(STR("MISALIGNED_ADDRESS"), &result));
    assert_int_equal(result, 716);
    assert_true(result_find(STR("HANG"), &result));
    assert_false(result_find(STR("702x"), &result));
    assert_false(result_find(STR(""), &result));
    assert_false(result_find(STR("ADDRESS"), &result));
    assert_false(result_find(STR("99999999999999999999"), &result));
}

static void past_the_limit_findings_are_counted(void **state) {
    (void)state;
    if (setjmp(memory.edge)) fail_msg("memory exhausted");
    struct findings findings;
    findings_init(&findings, &arena, 3);
    for (int i = 0; i < 10; i++) {
        struct finding *finding = finding_add(&findings, RULE_SUPPRESSION_UNUSED, (struct place){0});
        finding_message(&findings, finding, "number %d", i);
        finding_note(&findings, finding, "a note");
        finding_label(&findings, finding, (struct place){0}, "a label");
    }
    assert_int_equal(findings.list.n, 3);
    assert_int_equal(findings.dropped, 7);
    assert_true(str_eq(findings.list.at[2]->message, STR("number 2")));
    assert_int_equal(findings.list.at[0]->notes.n, 1);
    assert_int_equal(findings.list.at[0]->labels.n, 1);
    assert_int_equal(findings_count(&findings, SEVERITY_WARNING), 3);
    assert_int_equal(findings_count(&findings, SEVERITY_ERROR), 0);
}

static void findings_sort_by_place_and_keep_their_order(void **state) {
    (void)state;
    if (setjmp(memory.edge)) fail_msg("memory exhausted");
    struct source a, b;
    source_init(&a, &arena, STR("a"), "", 0);
    source_init(&b, &arena, STR("b"), "", 0);
    struct findings findings;
    findings_init(&findings, &arena, 0);
    struct place places[] = {{&b, {5, 6}}, {&a, {9, 9}}, {&b, {1, 2}}, {&a, {3, 4}}, {&b, {1, 9}}};
    for (uint32_t i = 0; i < 5; i++)
        finding_message(&findings, finding_add(&findings, RULE_SUPPRESSION_UNUSED, places[i]), "%u", i);
    findings_sort(&findings);
    const char *order = "24031";  // b was met first; equal places keep their order
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(findings.list.at[i]->message.data[0], order[i]);
}

#define FINDINGS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        FINDINGS_TEST(every_rule_has_a_code_and_a_name_of_its_own),
        FINDINGS_TEST(results_are_found_by_number_and_by_name),
        FINDINGS_TEST(past_the_limit_findings_are_counted),
        FINDINGS_TEST(findings_sort_by_place_and_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
