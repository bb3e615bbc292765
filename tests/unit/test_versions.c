// Versions, targets, drivers, and what directives need: the rows, and the questions asked of them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/features.h"
#include "isa/versions.h"

static struct memory memory;
static struct arena arena;

static int set_up(void **state) {
    (void)state;
    arena_init(&arena, &memory);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_destroy(&arena);
    return 0;
}

static void rows_are_in_order(void **state) {
    (void)state;
    for (uint32_t i = 1; i < isa_version_count; i++) {
        assert_true(isa_versions[i - 1].version < isa_versions[i].version);
        bool known = isa_versions[i - 1].branch != 0 && isa_versions[i].branch != 0;
        if (known) assert_true(isa_versions[i - 1].branch < isa_versions[i].branch);
    }
    for (int i = 1; i < TARGET_COUNT; i++)
        assert_true(isa_targets[i - 1].number <= isa_targets[i].number);
    assert_int_equal(isa_version_newest_measured(), 90);
}

static void targets_are_found(void **state) {
    (void)state;
    assert_int_equal(isa_target_find(STR("sm_90a")), TARGET_SM_90A);
    assert_int_equal(isa_target_find(STR("compute_90a")), TARGET_SM_90A);
    assert_int_equal(isa_target_find(STR("sm_91")), TARGET_UNKNOWN);
    assert_int_equal(isa_target_find(STR("90")), TARGET_UNKNOWN);
    assert_int_equal(isa_target_find(STR("")), TARGET_UNKNOWN);
    assert_int_not_equal(isa_target_nearest(STR("sm_91")), TARGET_UNKNOWN);
}

static void targets_run_where_they_say(void **state) {
    (void)state;
    assert_true(isa_target_runs_on(TARGET_SM_50, 90));
    assert_false(isa_target_runs_on(TARGET_SM_100, 90));
    assert_true(isa_target_runs_on(TARGET_SM_90A, 90));
    assert_false(isa_target_runs_on(TARGET_SM_90A, 100));
    assert_true(isa_target_runs_on(TARGET_SM_100F, 103));
    assert_false(isa_target_runs_on(TARGET_SM_103F, 100));
    assert_false(isa_target_runs_on(TARGET_SM_100F, 120));
    assert_true(isa_target_runs_on(TARGET_SM_101A, 110));
    assert_true(isa_target_runs_on(TARGET_SM_120F, 121));
}

static void drivers_read_versions(void **state) {
    (void)state;
    assert_int_equal(isa_driver_reads(550054), 84);
    assert_int_equal(isa_driver_reads(560028), 85);
    assert_int_equal(isa_driver_reads(580159), 90);
    assert_int_equal(isa_driver_reads(900000), 0);
    struct driver_row row;
    assert_true(isa_driver_find(STR("550.54"), &row));
    assert_int_equal(row.driver, 550054);
    assert_int_equal(row.reads, 84);
    assert_true(isa_driver_find(STR("550.54.14"), &row));
    assert_true(isa_driver_find(STR("12.4"), &row));
    assert_int_equal(row.driver, 550054);
    assert_int_equal(row.reads, 84);
    assert_true(isa_driver_find(STR("13"), &row));
    assert_int_equal(row.reads, 90);
    assert_true(isa_driver_find(STR("13.4"), &row));
    assert_int_equal(row.reads, 94);
    assert_false(isa_driver_find(STR("99"), &row));
    assert_false(isa_driver_find(STR("latest"), &row));
    assert_false(isa_driver_find(STR(""), &row));
    assert_false(isa_driver_find(STR("12."), &row));
}

static void versions_name_their_driver(void **state) {
    (void)state;
    assert_true(str_eq(isa_version_driver_text(&arena, 84), STR("550.54.14 (CUDA 12.4)")));
    assert_int_equal(isa_version_driver_text(&arena, 95).len, 0);
    assert_null(isa_version_find(89));
    assert_int_equal(isa_version_at_least(89)->version, 90);
}

static void features_exist_in_versions(void **state) {
    (void)state;
    for (int i = 0; i < FEATURE_COUNT; i++) {
        const struct isa_feature_row *row = &isa_features[i];
        assert_non_null(isa_version_find(row->version));
        if (row->gone != 0) assert_true(row->gone > row->version);
        struct isa_floor floor = isa_feature_floor((enum isa_feature)i);
        assert_int_equal(floor.version, row->version);
        assert_int_equal(floor.target, row->target);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_in_order),          cmocka_unit_test(targets_are_found),
        cmocka_unit_test(targets_run_where_they_say), cmocka_unit_test(drivers_read_versions),
        cmocka_unit_test(versions_name_their_driver), cmocka_unit_test(features_exist_in_versions),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
