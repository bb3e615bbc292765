// analyzer/launch/manifest: manifests and launch comments are cut into launches with their places.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyzer/launch/manifest.h"

struct fixture {
    struct memory memory;
    struct arena arena;
    struct findings findings;
    struct source source;
    struct manifest manifest;
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

static struct manifest *read(struct fixture *f, const char *text, const struct launch_names *given) {
    findings_init(&f->findings, &f->arena, 0);
    source_init(&f->source, &f->arena, STR("dir/all.launch"), text, (uint32_t)strlen(text));
    manifest_read(&f->source, given, &f->arena, &f->findings, &f->manifest);
    return &f->manifest;
}

static void assert_text(struct str got, const char *want) {
    assert_int_equal(got.len, strlen(want));
    assert_memory_equal(got.data, want, got.len);
}

static void reads_launches_with_names_and_gpu(void **state) {
    struct fixture *f = *state;
    struct manifest *m = read(f,
                              "# all of them\n"
                              "a.ptx: k<<<1, 32>>>()\n"
                              "let N = 4 * 1024   # elements\n"
                              "gpu = h200\r\n"
                              "\n"
                              "  /abs/b.ptx :  k<<<N, 128>>>(f32[N]) # the second\n", NULL);
    assert_int_equal(f->findings.list.n, 0);
    assert_int_equal(m->entries.n, 2);
    assert_text(m->entries.at[0].ptx_path, "dir/a.ptx");
    assert_null(m->entries.at[0].gpu);
    assert_int_equal(m->entries.at[0].line, 2);
    assert_text(m->entries.at[1].ptx_path, "/abs/b.ptx");
    assert_text(m->entries.at[1].text, "k<<<N, 128>>>(f32[N])");
    assert_text(m->entries.at[1].gpu_text, "h200");
    assert_int_equal(m->entries.at[1].gpu->capability, 90);
    assert_int_equal(m->names.list.n, 1);
    assert_int_equal(m->names.list.at[0].value, 4096);
}

static void places_are_those_of_the_file(void **state) {
    struct fixture *f = *state;
    struct manifest *m = read(f, "\n\na.ptx: k<<<0, 32>>>()\n", NULL);
    struct source *launch = m->entries.at[0].source;
    struct launch parsed;
    assert_true(launch_parse(launch, &f->arena, &m->names, &f->findings, &parsed));
    struct position position = source_position(launch, parsed.grid_span.begin);
    assert_int_equal(position.line, 3);
    assert_int_equal(position.column, 12);
    assert_text(source_line(launch, 3), "       k<<<0, 32>>>()");
    assert_int_equal(source_line(launch, 1).len, 0);
    assert_text(launch->path, "dir/all.launch");
}

static void given_names_stand_above_let(void **state) {
    struct fixture *f = *state;
    static const char definition[] = "N=7";
    struct source source;
    source_init(&source, &f->arena, STR("-D"), definition, 3);
    struct launch_names given = {0};
    findings_init(&f->findings, &f->arena, 0);
    assert_true(launch_define(&source, &f->arena, &given, &f->findings));
    struct manifest *m = read(f, "let N = 4096\nlet M = N + 1\n", &given);
    assert_int_equal(f->findings.list.n, 0);
    assert_int_equal(m->names.list.at[0].value, 7);
    assert_int_equal(m->names.list.at[1].value, 8);
}

static void each_bad_line_is_one_finding(void **state) {
    struct fixture *f = *state;
    struct manifest *m = read(f,
                              "no colon here\n"
                              "a.ptx:\n"
                              ": k<<<1,1>>>()\n"
                              "let = 4\n"
                              "gpu = h9000\n"
                              "let N = 1\n"
                              "let N = 2\n"
                              "let M = missing\n"
                              "good.ptx: k<<<1, 1>>>()\n", NULL);
    static const int want[] = {RULE_MANIFEST_SYNTAX, RULE_MANIFEST_SYNTAX, RULE_MANIFEST_SYNTAX,
                               RULE_MANIFEST_SYNTAX, RULE_MANIFEST_GPU, RULE_MANIFEST_NAME,
                               RULE_LAUNCH_SYNTAX};
    assert_int_equal(f->findings.list.n, 7);
    for (uint32_t i = 0; i < 7; i++) assert_int_equal(f->findings.list.at[i]->rule, want[i]);
    assert_int_equal(m->entries.n, 1);
    struct place place = f->findings.list.at[6]->place;
    assert_int_equal(source_position(place.source, place.span.begin).line, 8);
}

static void hashes_in_quotes_are_kept(void **state) {
    struct manifest *m = read(*state, "a.ptx: k<<<1,1>>>(f32[4]=@\"a#b.bin\") # c\n", NULL);
    assert_text(m->entries.at[0].text, "k<<<1,1>>>(f32[4]=@\"a#b.bin\")");
}

static void reads_comments_of_a_ptx(void **state) {
    struct fixture *f = *state;
    static const char text[] = "// ptxvet-launch: k<<<1, 32>>>()\n"
                               "// see ptxvet-launch: this is no launch\n"
                               ".version 8.0 //\tptxvet-launch:k<<<2, 32>>>()";
    struct source source;
    source_init(&source, &f->arena, STR("k.ptx"), text, sizeof text - 1);
    manifest_read_comments(&source, NULL, &f->arena, &f->manifest);
    assert_int_equal(f->manifest.entries.n, 2);
    assert_text(f->manifest.entries.at[0].text, "k<<<1, 32>>>()");
    assert_text(f->manifest.entries.at[1].text, "k<<<2, 32>>>()");
    assert_int_equal(f->manifest.entries.at[1].line, 3);
    assert_text(f->manifest.entries.at[1].ptx_path, "k.ptx");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_launches_with_names_and_gpu),
        cmocka_unit_test(places_are_those_of_the_file),
        cmocka_unit_test(given_names_stand_above_let),
        cmocka_unit_test(each_bad_line_is_one_finding),
        cmocka_unit_test(hashes_in_quotes_are_kept),
        cmocka_unit_test(reads_comments_of_a_ptx),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
