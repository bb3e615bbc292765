// base/file: whole files, folders and the parts of a path.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <unistd.h>

#include "base/file.h"

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

static void reads_a_file_and_ends_it_with_nul(void **state) {
    struct arena *arena = &((struct fixture *)*state)->arena;
    struct str text;
    assert_int_equal(file_read(PTXVET_SOURCE_DIR "/findings/rules.def", arena, &text), 0);
    assert_true(text.len > 100);
    assert_true(str_starts(text, STR("// ")));
    assert_int_equal(text.data[text.len], 0);
}

static void says_why_it_cannot(void **state) {
    struct arena *arena = &((struct fixture *)*state)->arena;
    struct str text;
    assert_int_equal(file_read(PTXVET_SOURCE_DIR "/no-such-file", arena, &text), ENOENT);
    assert_int_equal(file_read(PTXVET_SOURCE_DIR, arena, &text), EISDIR);
    assert_true(file_is_folder(PTXVET_SOURCE_DIR));
    assert_false(file_is_folder(PTXVET_SOURCE_DIR "/LICENSE"));
}

static void reads_a_pipe_of_unknown_size(void **state) {
    struct arena *arena = &((struct fixture *)*state)->arena;
    static char block[9000];
    memset(block, 'x', sizeof block);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], block, sizeof block), sizeof block);
    close(ends[1]);
    struct str text;
    assert_int_equal(file_read_descriptor(ends[0], arena, &text), 0);
    close(ends[0]);
    assert_int_equal(text.len, sizeof block);
    assert_int_equal(text.data[text.len - 1], 'x');
    assert_int_equal(text.data[text.len], 0);
}

static void lists_a_folder_in_order(void **state) {
    struct arena *arena = &((struct fixture *)*state)->arena;
    struct file_names names;
    assert_int_equal(file_list(PTXVET_SOURCE_DIR "/base", arena, &names), 0);
    assert_true(names.list.n >= 4);
    for (uint32_t i = 1; i < names.list.n; i++)
        assert_true(str_compare(names.list.at[i - 1], names.list.at[i]) < 0);
    assert_int_equal(file_list(PTXVET_SOURCE_DIR "/no-such-folder", arena, &names), ENOENT);
}

static void cuts_paths(void **state) {
    (void)state;
    assert_true(str_eq(path_folder(STR("a/b.ptx")), STR("a/")));
    assert_true(str_eq(path_file(STR("a/b.ptx")), STR("b.ptx")));
    assert_true(str_eq(path_stem(STR("a/b.x.ptx")), STR("b.x")));
    assert_true(str_eq(path_stem(STR(".ptx")), STR(".ptx")));
    assert_true(str_eq(path_folder(STR("b")), STR("")));
    assert_true(str_eq(path_stem(STR("")), STR("")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_file_and_ends_it_with_nul),
        cmocka_unit_test(says_why_it_cannot),
        cmocka_unit_test(reads_a_pipe_of_unknown_size),
        cmocka_unit_test(lists_a_folder_in_order),
        cmocka_unit_test(cuts_paths),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
