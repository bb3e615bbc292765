// base/: arenas, strings, names, sources, output, checked arithmetic.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/checked.h"
#include "base/output.h"
#include "base/source.h"

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
    return memory.used == 0 ? 0 : -1;
}

#define REFUSE_EXHAUSTION() \
    if (setjmp(memory.edge)) fail_msg("memory exhausted")

static void arena_grows_in_place_and_resets(void **state) {
    (void)state;
    REFUSE_EXHAUSTION();
    char *a = arena_alloc(&arena, 10, 1);
    memcpy(a, "0123456789", 10);
    char *b = arena_grow(&arena, a, 10, 1000, 1);
    assert_ptr_equal(a, b);
    char *c = arena_alloc(&arena, 8, 64);
    assert_int_equal((uintptr_t)c % 64, 0);
    char *d = arena_grow(&arena, b, 1000, 2000, 1);
    assert_ptr_not_equal(b, d);
    assert_memory_equal(d, "0123456789", 10);
    for (int i = 0; i < 100; i++) memset(arena_alloc(&arena, 100000, 16), 1, 100000);
    assert_true(memory.used > 10000000);
    arena_reset(&arena);
    assert_true(memory.used < 100000);
    assert_true(memory.peak > 10000000);
}

static void a_limit_leaves_by_the_edge(void **state) {
    (void)state;
    memory.limit = 1000000;
    if (setjmp(memory.edge) == 0) {
        for (;;) (void)arena_alloc(&arena, 1000, 8);
    }
    assert_true(memory.at_limit);
    assert_true(memory.peak <= 1000000);
}

static void a_product_that_overflows_is_exhaustion(void **state) {
    (void)state;
    if (setjmp(memory.edge) == 0) {
        (void)arena_calloc(&arena, SIZE_MAX / 2, 16, 8);
        fail_msg("an array of 2^67 bytes was allocated");
    }
    assert_false(memory.at_limit);
}

static void vectors_keep_their_elements(void **state) {
    (void)state;
    REFUSE_EXHAUSTION();
    VEC_OF(uint32_t) numbers = {0};
    for (uint32_t i = 0; i < 100000; i++) {
        *vec_push(&arena, &numbers) = i;
        if (i % 1000 == 0) (void)arena_alloc(&arena, 24, 8);
    }
    assert_int_equal(numbers.n, 100000);
    for (uint32_t i = 0; i < numbers.n; i++) assert_int_equal(numbers.at[i], i);
}

static void names_are_interned_once(void **state) {
    (void)state;
    REFUSE_EXHAUSTION();
    struct names names;
    names_init(&names, &arena);
    name_id ids[5000];
    for (uint32_t i = 0; i < 5000; i++)
        ids[i] = names_intern(&names, str_format(&arena, "name_%u", i));
    for (uint32_t i = 0; i < 5000; i++) {
        struct str text = str_format(&arena, "name_%u", i);
        assert_int_equal(names_intern(&names, text), ids[i]);
        assert_int_equal(names_find(&names, text), ids[i]);
        assert_true(str_eq(names_text(&names, ids[i]), text));
    }
    assert_int_equal(names_find(&names, STR("name_5000")), 0);
    assert_int_equal(names.texts.n, 5001);
}

static void distances_count_single_edits(void **state) {
    (void)state;
    assert_int_equal(str_distance(STR("maxntid"), STR("maxntid"), 3), 0);
    assert_int_equal(str_distance(STR("maxntid"), STR("maxnitd"), 3), 1);  // neighbours swapped
    assert_int_equal(str_distance(STR("global"), STR("globl"), 3), 1);
    assert_int_equal(str_distance(STR(""), STR("abc"), 5), 3);
    assert_int_equal(str_distance(STR("kitten"), STR("sitting"), 5), 3);
    assert_int_equal(str_distance(STR("abcdef"), STR("uvwxyz"), 2), 3);
}

static void views_compare_by_bytes(void **state) {
    (void)state;
    assert_true(str_starts(STR("global_smem"), STR("global")));
    assert_false(str_starts(STR("glo"), STR("global")));
    assert_true(str_ends(STR("global_smem"), STR("smem")));
    assert_true(str_compare(STR("a"), STR("ab")) < 0);
    assert_true(str_compare(STR("b"), STR("ab")) > 0);
    assert_int_equal(str_from(NULL).len, 0);
}

static void positions_are_lines_and_byte_columns(void **state) {
    (void)state;
    REFUSE_EXHAUSTION();
    static const char text[] = "first\r\n\tsecond\n\nlast";
    struct source source;
    source_init(&source, &arena, STR("x.ptx"), text, sizeof text - 1);
    struct position p = source_position(&source, 0);
    assert_int_equal(p.line, 1);
    assert_int_equal(p.column, 1);
    p = source_position(&source, 8);  // the s of second
    assert_int_equal(p.line, 2);
    assert_int_equal(p.column, 2);
    assert_int_equal(source_position(&source, 15).line, 3);
    p = source_position(&source, 1000);  // past the end: the end
    assert_int_equal(p.line, 4);
    assert_int_equal(p.column, 5);
    assert_true(str_eq(source_line(&source, 1), STR("first")));
    assert_true(str_eq(source_line(&source, 2), STR("\tsecond")));
    assert_int_equal(source_line(&source, 3).len, 0);
    assert_true(str_eq(source_line(&source, 4), STR("last")));
    assert_int_equal(source_line(&source, 5).len, 0);
}

static void output_holds_what_was_written(void **state) {
    (void)state;
    REFUSE_EXHAUSTION();
    struct output output;
    output_init(&output, &arena);
    char wide[600];
    memset(wide, 'w', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    output_text(&output, "a");
    output_format(&output, "%d-%s", 42, wide);
    output_repeat(&output, ' ', 3);
    output_byte(&output, '!');
    assert_int_equal(output.size, 1 + 3 + 599 + 3 + 1);
    assert_memory_equal(output.data, "a42-www", 7);
    assert_memory_equal(output.data + output.size - 4, "   !", 4);
}

static void sums_and_products_are_checked(void **state) {
    (void)state;
    uint64_t out = 7;
    assert_false(add_u64(UINT64_MAX, 1, &out));
    assert_false(mul_u64(UINT64_C(1) << 63, 2, &out));
    assert_false(align_u64(UINT64_MAX - 3, 16, &out));
    assert_int_equal(out, 7);
    assert_true(align_u64(17, 16, &out));
    assert_int_equal(out, 32);
    assert_true(is_power_of_two(64));
    assert_false(is_power_of_two(0));
    assert_false(is_power_of_two(96));
}

#define BASE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        BASE_TEST(arena_grows_in_place_and_resets),
        BASE_TEST(a_limit_leaves_by_the_edge),
        BASE_TEST(a_product_that_overflows_is_exhaustion),
        BASE_TEST(vectors_keep_their_elements),
        BASE_TEST(names_are_interned_once),
        BASE_TEST(distances_count_single_edits),
        BASE_TEST(views_compare_by_bytes),
        BASE_TEST(positions_are_lines_and_byte_columns),
        BASE_TEST(output_holds_what_was_written),
        BASE_TEST(sums_and_products_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
