// findings/pages: how rules rank for a CUresult.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "findings/pages.h"

struct fixture {
    struct memory memory;
    struct arena arena;
};

static int start(void **state) {
    static struct fixture fixture;
    memset(&fixture, 0, sizeof fixture);
    arena_init(&fixture.arena, &fixture.memory);
    *state = &fixture;
    return setjmp(fixture.memory.edge);
}

static int stop(void **state) {
    arena_destroy(&((struct fixture *)*state)->arena);
    return 0;
}

static uint32_t position_of(const struct ranking *ranking, enum rule rule) {
    for (uint32_t i = 0; i < ranking->rules.n; i++)
        if (ranking->rules.at[i].rule == rule) return i;
    return UINT32_MAX;
}

static void every_ranked_rule_can_give_the_result(void **state) {
    struct arena *arena = &((struct fixture *)*state)->arena;
    struct ranking ranking;
    rules_rank(RESULT_CUDA_ERROR_NO_BINARY_FOR_GPU, NULL, arena, &ranking);
    assert_true(ranking.rules.n > 0);
    for (uint32_t i = 0; i < ranking.rules.n; i++) {
        const struct ranked_rule *ranked = &ranking.rules.at[i];
        const struct rule_info *info = &rule_infos[ranked->rule];
        assert_int_equal(ranked->standing, STANDING_OPEN);
        assert_int_equal(ranked->secondary, ranked->how != NULL);
        if (!ranked->secondary) assert_int_equal(info->result, RESULT_CUDA_ERROR_NO_BINARY_FOR_GPU);
    }
    assert_int_not_equal(position_of(&ranking, RULE_CUBIN_ARCHITECTURE), UINT32_MAX);
}

static void what_more_reports_had_stands_higher(void **state) {
    struct arena *arena = &((struct fixture *)*state)->arena;
    struct ranking ranking;
    rules_rank(RESULT_CUDA_ERROR_INVALID_VALUE, NULL, arena, &ranking);
    for (uint32_t i = 1; i < ranking.rules.n; i++)
        assert_true(ranking.rules.at[i - 1].reports >= ranking.rules.at[i].reports);
}

static void what_was_found_stands_first(void **state) {
    struct arena *arena = &((struct fixture *)*state)->arena;
    struct findings found;
    findings_init(&found, arena, 0);
    finding_add(&found, RULE_CUBIN_ARCHITECTURE, (struct place){0});
    struct ranking ranking;
    rules_rank(RESULT_CUDA_ERROR_NO_BINARY_FOR_GPU, &found, arena, &ranking);
    assert_int_equal(ranking.rules.at[0].rule, RULE_CUBIN_ARCHITECTURE);
    assert_int_equal(ranking.rules.at[0].standing, STANDING_FOUND);
    assert_non_null(ranking.rules.at[0].finding);
    rules_rank(RESULT_CUDA_ERROR_INVALID_IMAGE, &found, arena, &ranking);
    uint32_t at = position_of(&ranking, RULE_CUBIN_ARCHITECTURE);
    assert_int_not_equal(at, UINT32_MAX);
    assert_int_equal(ranking.rules.at[at].standing, STANDING_RELATED);
    assert_true(ranking.rules.at[at].secondary);
}

static void a_result_that_no_rule_gives_ranks_none(void **state) {
    struct arena *arena = &((struct fixture *)*state)->arena;
    struct ranking ranking;
    rules_rank(RESULT_CUDA_ERROR_DEINITIALIZED, NULL, arena, &ranking);
    assert_int_equal(ranking.rules.n, 0);
}

static void pages_begin_with_their_code(void **state) {
    (void)state;
    for (int rule = 1; rule < RULE_COUNT; rule++) {
        struct str page = rule_page((enum rule)rule);
        if (page.len == 0) continue;  // docs.pages holds that each rule has one
        assert_true(str_starts(page, STR("# ")));
        assert_memory_equal(page.data + 2, rule_infos[rule].code, 7);
    }
    assert_int_equal(rule_page(RULE_NONE).len, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_ranked_rule_can_give_the_result),
        cmocka_unit_test(what_more_reports_had_stands_higher),
        cmocka_unit_test(what_was_found_stands_first),
        cmocka_unit_test(a_result_that_no_rule_gives_ranks_none),
        cmocka_unit_test(pages_begin_with_their_code),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
