// Contents of buffers: the encodings, and that any part can be asked for by itself.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/launch/contents.h"

static void iota_of_f32_is_exact(void **state) {
    (void)state;
    float values[1000];
    contents_fill(CONTENTS_IOTA, TYPE_F32, 0, 0, (uint8_t *)values, sizeof values);
    for (int i = 0; i < 1000; i++) assert_true(values[i] == (float)i);
}

static void iota_of_f64_is_exact(void **state) {
    (void)state;
    double values[1000];
    contents_fill(CONTENTS_IOTA, TYPE_F64, 0, 0, (uint8_t *)values, sizeof values);
    for (int i = 0; i < 1000; i++) assert_true(values[i] == (double)i);
}

static void iota_of_halves(void **state) {
    (void)state;
    uint16_t half[2050], brain[300];
    contents_fill(CONTENTS_IOTA, TYPE_F16, 0, 0, (uint8_t *)half, sizeof half);
    contents_fill(CONTENTS_IOTA, TYPE_BF16, 0, 0, (uint8_t *)brain, sizeof brain);
    assert_int_equal(half[0], 0);
    assert_int_equal(half[1], 0x3c00);
    assert_int_equal(half[3], 0x4200);
    assert_int_equal(half[2047], 0x67ff);
    assert_int_equal(half[2048], 0);  // it starts anew where 2048 and 2049 would be one
    assert_int_equal(brain[1], 0x3f80);
    assert_int_equal(brain[255], 0x437f);
    assert_int_equal(brain[256], 0);
}

static void iota_of_bytes_wraps(void **state) {
    (void)state;
    uint8_t bytes[600];
    contents_fill(CONTENTS_IOTA, TYPE_U8, 0, 0, bytes, sizeof bytes);
    for (int i = 0; i < 600; i++) assert_int_equal(bytes[i], i & 255);
}

static void random_floats_are_in_one_to_two(void **state) {
    (void)state;
    float values[1000];
    contents_fill(CONTENTS_RANDOM, TYPE_F32, 7, 0, (uint8_t *)values, sizeof values);
    for (int i = 0; i < 1000; i++) assert_true(values[i] >= 1 && values[i] < 2);
}

static void any_part_stands_alone(void **state) {
    (void)state;
    static const enum isa_type types[] = {TYPE_U8, TYPE_F16, TYPE_S32, TYPE_F64, TYPE_B128, TYPE_NONE};
    static const enum contents kinds[] = {CONTENTS_ZERO, CONTENTS_IOTA, CONTENTS_RANDOM};
    uint8_t whole[200], part[40];
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t k = 0; k < 3; k++)
            for (uint64_t at = 0; at < 160; at++) {
                contents_fill(kinds[k], types[t], 3, 0, whole, sizeof whole);
                contents_fill(kinds[k], types[t], 3, at, part, sizeof part);
                assert_memory_equal(whole + at, part, sizeof part);
            }
}

static void seeds_differ(void **state) {
    (void)state;
    uint8_t a[64], b[64];
    contents_fill(CONTENTS_RANDOM, TYPE_U32, 1, 0, a, sizeof a);
    contents_fill(CONTENTS_RANDOM, TYPE_U32, 2, 0, b, sizeof b);
    assert_memory_not_equal(a, b, sizeof a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iota_of_f32_is_exact), cmocka_unit_test(iota_of_f64_is_exact),
        cmocka_unit_test(iota_of_halves), cmocka_unit_test(iota_of_bytes_wraps),
        cmocka_unit_test(random_floats_are_in_one_to_two), cmocka_unit_test(any_part_stands_alone),
        cmocka_unit_test(seeds_differ)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
