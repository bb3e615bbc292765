// analyzer/launch/companion: Triton's metadata and signatures as they are read.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyzer/launch/companion.h"

struct fixture {
    struct memory memory;
    struct arena arena;
    struct findings findings;
};

static int start(void **state) {
    static struct fixture fixture;
    memset(&fixture, 0, sizeof fixture);
    arena_init(&fixture.arena, &fixture.memory);
    findings_init(&fixture.findings, &fixture.arena, 0);
    *state = &fixture;
    return setjmp(fixture.memory.edge);
}

static int stop(void **state) {
    arena_destroy(&((struct fixture *)*state)->arena);
    return 0;
}

// Files in memory: path, text, path, text, ..., NULL.
static bool read_listed(void *context, struct str path, struct arena *arena, struct str *text) {
    for (const char *const *file = context; *file != NULL; file += 2) {
        if (!str_eq(path, str_from(file[0]))) continue;
        *text = str_copy(arena, str_from(file[1]));
        return true;
    }
    return false;
}

static struct companion *find(struct fixture *fixture, const char *const *files) {
    struct companion_reader reader = {read_listed, (void *)(uintptr_t)files};
    return companion_find(&reader, STR("d/k.ptx"), &fixture->arena, &fixture->findings);
}

static void assert_text(struct str got, const char *want) {
    assert_int_equal(got.len, strlen(want));
    assert_memory_equal(got.data, want, got.len);
}

static void reads_metadata_of_a_new_release(void **state) {
    struct fixture *f = *state;
    const char *files[] = {
        "d/k.json",
        "{\"name\": \"k\", \"num_warps\": 12, \"warp_size\": 32, \"shared\": 196696, \"num_ctas\": 2,"
        "\"target\": \"GPUTarget(backend='cuda', arch=90, warp_size=32)\", \"maxnreg\": null,"
        "\"global_scratch_size\": 384, \"global_scratch_align\": 128, \"profile_scratch_size\": 0,"
        "\"profile_scratch_align\": 1, \"launch_pdl\": true, \"triton_version\": \"3.6.0\","
        "\"launch_cooperative_grid\": false, \"tensordesc_meta\": [{}, {}]}", NULL};
    const struct companion *companion = find(f, files);
    assert_non_null(companion);
    const struct kernel_metadata *m = &companion->metadata;
    assert_int_equal(m->threads, 384);
    assert_int_equal(m->shared.value, 196696);
    assert_int_equal(m->hidden_params, 2);
    assert_int_equal(m->global_scratch_size.value, 384);
    assert_int_equal(m->global_scratch_align.value, 128);
    assert_int_equal(m->num_ctas.value, 2);
    assert_int_equal(m->tensor_descriptors, 2);
    assert_false(m->maxnreg.known);
    assert_true(m->pdl);
    assert_false(m->cooperative);
    assert_text(m->target, "sm_90");
    assert_text(m->triton_version, "3.6.0");
    struct str value = source_text(m->source, m->shared.span);
    assert_text(value, "196696");
    assert_int_equal(f->findings.list.n, 0);
}

static void hidden_parameters_follow_the_keys(void **state) {
    const char *none[] = {"d/k.json", "{\"num_warps\": 4, \"triton_version\": \"3.9.0\"}", NULL};
    const char *one[] = {"d/k.json", "{\"num_warps\": 4, \"global_scratch_size\": 0}", NULL};
    assert_int_equal(find(*state, none)->metadata.hidden_params, 0);
    assert_int_equal(find(*state, one)->metadata.hidden_params, 1);
}

static void reads_the_target_in_each_form(void **state) {
    const char *object[] = {
        "d/k.json", "{\"num_warps\": 1, \"target\": {\"backend\": \"cuda\", \"arch\": 75}}", NULL};
    const char *list[] = {"d/k.json", "{\"num_warps\": 1, \"target\": [\"cuda\", 80]}", NULL};
    const char *word[] = {"d/k.json", "{\"num_warps\": 1, \"arch\": \"sm120\"}", NULL};
    assert_text(find(*state, object)->metadata.target, "sm_75");
    assert_text(find(*state, list)->metadata.target, "sm_80");
    assert_text(find(*state, word)->metadata.target, "sm_120");
}

static void reads_a_signature_with_folded_arguments(void **state) {
    const char *files[] = {
        "d/k.json",
        "{\"num_warps\": 4, \"kernel_signature\": \"(('a_ptr', '*fp32', 'D', False), "
        "('n', 'i32', None, False), ('stride_ak', 'constexpr', 1, False), "
        "('BLOCK', 'constexpr', (16, 8), True))\"}", NULL};
    const struct companion *companion = find(*state, files);
    assert_int_equal(companion->arguments.n, 4);
    assert_int_equal(companion->arguments.at[0].divisible_by, 16);
    assert_int_equal(companion->arguments.at[1].divisible_by, 0);
    assert_true(companion->arguments.at[2].folded);
    assert_int_equal(companion->metadata.folded.n, 2);
    assert_text(companion->metadata.folded.at[0].name, "stride_ak");
    assert_text(companion->metadata.folded.at[0].value, "1");
    assert_false(companion->metadata.folded.at[0].constexpr_);
    assert_true(companion->metadata.folded.at[1].constexpr_);
    assert_text(companion->metadata.folded.at[1].value, "(16, 8)");
}

static void reads_the_function_line(void **state) {
    const char *files[] = {
        "d/k.sig.txt",
        "  tt.func public @k(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc(\"a\"(#loc)), "
        "%ad_0: !tt.tensordesc<tensor<128x64xf16, #s>> loc(\"ad\"(#loc)), %arg2: i32 "
        "{tt.divisibility = 8 : i32} loc(\"k.py\":10:0), %n: f32) attributes {noinline = false} {",
        NULL};
    const struct companion *companion = find(*state, files);
    assert_non_null(companion);
    assert_text(companion->metadata.name, "k");
    assert_true(companion->expanded);
    assert_int_equal(companion->arguments.n, 4);
    assert_text(companion->arguments.at[0].name, "a");
    assert_text(companion->arguments.at[0].type, "!tt.ptr<f16>");
    assert_text(companion->arguments.at[1].name, "ad");
    assert_text(companion->arguments.at[2].name, "");
    assert_int_equal(companion->arguments.at[2].divisible_by, 8);
    assert_text(companion->arguments.at[3].name, "n");
    assert_text(companion->arguments.at[3].type, "f32");
}

static void follows_location_aliases(void **state) {
    const char *files[] = {"d/k.ttir",
                           "#loc2 = loc(\"x_ptr\"(#loc))\nmodule {\n tt.func public @k(%arg0: "
                           "!tt.ptr<f32> loc(#loc2), %arg1: i32 loc(#loc9)) {\n", NULL};
    const struct companion *companion = find(*state, files);
    assert_text(companion->arguments.at[0].name, "x_ptr");
    assert_text(companion->arguments.at[1].name, "");
}

static void leaves_other_files_alone(void **state) {
    struct fixture *f = *state;
    const char *other[] = {"d/k.json", "{\"compilerOptions\": {}, \"name\": \"web\"}", NULL};
    const char *nothing[] = {NULL};
    assert_null(find(f, other));
    assert_null(find(f, nothing));
    assert_int_equal(f->findings.list.n, 0);
}

static void says_what_cannot_be_read(void **state) {
    struct fixture *f = *state;
    f->findings.list.n = 0;
    const char *broken[] = {"d/k.json", "{\"num_warps\": 4,", NULL};
    const char *array[] = {"d/k.json", "[1, 2]", NULL};
    const char *negative[] = {"d/k.json", "{\"num_warps\": -4, \"shared\": 0}", NULL};
    assert_null(find(f, broken));
    assert_null(find(f, array));
    assert_non_null(find(f, negative));
    assert_int_equal(f->findings.list.n, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(f->findings.list.at[i]->rule, RULE_METADATA_UNREADABLE);
    f->findings.list.n = 0;
}

static void a_cut_signature_is_no_signature(void **state) {
    static const char whole[] =
        "tt.func public @k(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc(\"a\"(#loc)), %n: i32)";
    char cut[sizeof whole];
    for (size_t size = 0; size + 1 < sizeof whole; size++) {
        memcpy(cut, whole, size);
        cut[size] = 0;
        const char *files[] = {"d/k.ttir", cut, NULL};
        assert_null(find(*state, files));
    }
}

static void opens_what_the_user_names(void **state) {
    struct fixture *f = *state;
    const char *files[] = {"cache/AB/k.json", "{\"num_warps\": 8}", NULL};
    struct companion_reader reader = {read_listed, files};
    struct str ptx = STR("d/k.ptx");
    const char *names[] = {"cache/AB/k.json", "cache/AB", "cache/AB/k"};
    for (int i = 0; i < 3; i++) {
        const struct companion *companion =
            companion_open(&reader, str_from(names[i]), ptx, &f->arena, &f->findings);
        assert_non_null(companion);
        assert_int_equal(companion->metadata.threads, 256);
    }
    assert_null(companion_open(&reader, STR("nowhere"), ptx, &f->arena, &f->findings));
    assert_int_equal(f->findings.list.n, 1);
    f->findings.list.n = 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_metadata_of_a_new_release),
        cmocka_unit_test(hidden_parameters_follow_the_keys),
        cmocka_unit_test(reads_the_target_in_each_form),
        cmocka_unit_test(reads_a_signature_with_folded_arguments),
        cmocka_unit_test(reads_the_function_line),
        cmocka_unit_test(follows_location_aliases),
        cmocka_unit_test(leaves_other_files_alone),
        cmocka_unit_test(says_what_cannot_be_read),
        cmocka_unit_test(a_cut_signature_is_no_signature),
        cmocka_unit_test(opens_what_the_user_names),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
