// From launch text to what the driver is given.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "driver/cuda_api.h"
#include "driver/plan.h"

static struct memory memory;
static struct arena arena;
static struct variable variables[5];
static struct kernel kernel;
static struct plan_notes notes;
static struct str failure;

// k(u64 x, u32 n, f32 alpha, b16 h, bytes[24] s)
static int set_up(void **state) {
    (void)state;
    static const struct { uint8_t type, kind; uint64_t size, offset; const char *name; } rows[] = {
        {TYPE_U64, PARAM_POINTER, 8, 0, "x"}, {TYPE_U32, PARAM_SCALAR, 4, 8, "n"},
        {TYPE_F32, PARAM_SCALAR, 4, 12, "alpha"}, {TYPE_B16, PARAM_SCALAR, 2, 16, "h"},
        {TYPE_B8, PARAM_BYTES, 24, 24, "s"}};
    arena_init(&arena, &memory);
    memset(&kernel, 0, sizeof kernel);
    memset(&notes, 0, sizeof notes);
    kernel.name = STR("k");
    for (uint32_t i = 0; i < 5; i++) {
        struct kernel_param *param = vec_push(&arena, &kernel.params);
        variables[i] = (struct variable){.type = rows[i].type};
        *param = (struct kernel_param){.index = i, .name = str_from(rows[i].name), .size = rows[i].size,
                                       .offset = rows[i].offset, .kind = rows[i].kind,
                                       .variable = &variables[i]};
    }
    kernel.param_bytes = 48;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_destroy(&arena);
    return 0;
}

static bool try_plan(const char *text, const struct kernel *of, const struct dryrun_result *dry,
                     struct driver_request *request) {
    struct source *source = arena_new(&arena, struct source), *ptx = arena_new(&arena, struct source);
    struct launch *launch = arena_new(&arena, struct launch);
    struct launch_names names = {0};
    struct findings findings;
    source_init(source, &arena, STR("launch"), text, (uint32_t)strlen(text));
    source_init(ptx, &arena, STR("k.ptx"), "", 0);
    findings_init(&findings, &arena, 0);
    assert_true(launch_parse(source, &arena, &names, &findings, launch));
    memset(request, 0, sizeof *request);
    struct plan_input input = {.launch = launch, .kernel = of, .dry = dry, .ptx = ptx};
    return driver_plan(&input, &arena, request, &notes, &failure);
}

static struct driver_request plan(const char *text) {
    struct driver_request request;
    assert_true(try_plan(text, &kernel, NULL, &request));
    return request;
}

static void scalars_take_the_type_of_the_parameter(void **state) {
    (void)state;
    struct driver_request r = plan("k<<<1, 32>>>(u8[64], -2, 2.5, 0.5, bytes[24])");
    float alpha;
    assert_int_equal(r.args.n, 5);
    assert_int_equal(r.args.at[1].size, 4);
    assert_memory_equal(r.args.at[1].bytes, "\xfe\xff\xff\xff", 4);
    memcpy(&alpha, r.args.at[2].bytes, 4);
    assert_true(alpha == 2.5f);
    assert_memory_equal(r.args.at[3].bytes, "\x00\x38", 2);  // 0.5 as f16
    assert_int_equal(r.args.at[4].size, 24);
    assert_memory_equal(plan("k<<<1, 32>>>(u8[64], 1, 3)").args.at[2].bytes, "\x00\x00\x40\x40", 4);
}

static void typed_scalars_keep_their_host_size(void **state) {
    (void)state;
    struct driver_request r = plan("k<<<1, 32>>>(u8[64], i64(-1), f64(1.0), bool(true))");
    assert_int_equal(r.args.at[1].size, 8);
    assert_int_equal(r.args.at[2].size, 8);
    assert_int_equal(r.args.at[3].size, 1);
    assert_int_equal(r.args.at[3].bytes[0], 1);
}

static void buffers_carry_what_is_stated(void **state) {
    (void)state;
    struct driver_request r = plan("k<<<1, 32>>>(f32[100]@4=iota)");
    assert_int_equal(r.args.at[0].kind, DRIVER_ARG_BUFFER);
    assert_int_equal(r.args.at[0].buffer_size, 400);
    assert_int_equal(r.args.at[0].align, 4);
    assert_int_equal(r.args.at[0].contents, CONTENTS_IOTA);
    assert_int_equal(r.args.at[0].type, TYPE_F32);
    assert_int_equal(plan("k<<<1, 32>>>(f32[100])").args.at[0].align, 0);
    kernel.params.at[0].align_needed = 64;
    assert_int_equal(plan("k<<<1, 32>>>(f32[100])").args.at[0].align, 256);
}

static void pointers_get_what_the_dry_run_learnt(void **state) {
    (void)state;
    struct driver_request request;
    struct dryrun_result dry = {0};
    struct dryrun_use *use = vec_push(&arena, &dry.uses);
    use->param = 0;
    use->size_needed = 12345;
    assert_true(try_plan("k<<<1, 32>>>(ptr@8)", &kernel, &dry, &request));
    assert_int_equal(request.args.at[0].buffer_size, 12345);
    assert_int_equal(request.args.at[0].align, 8);
    assert_int_equal(notes.list.n, 1);
    assert_int_equal(plan("k<<<1, 32>>>(ptr)").args.at[0].buffer_size, PLAN_POINTER_BYTES);
}

static void names_find_their_parameters(void **state) {
    (void)state;
    struct driver_request r = plan("k<<<1, 32>>>(n=7, x=u8[16])");
    assert_int_equal(r.args.n, 2);
    assert_int_equal(r.args.at[0].kind, DRIVER_ARG_BUFFER);
    assert_int_equal(r.args.at[1].bytes[0], 7);
    r = plan("k<<<1, 32>>>(alpha=1.0)");
    assert_int_equal(r.args.n, 3);
    assert_int_equal(notes.list.n, 2);  // x and n are not stated
}

static void packed_buffers_follow_the_layout(void **state) {
    (void)state;
    struct driver_request r = plan("k<<<1, 32>>>(u8[16], 7, 1.0) packed");
    assert_true(r.packed);
    assert_int_equal(r.packed_size, 16);
    assert_int_equal(r.args.at[2].offset, 12);
    assert_int_equal(plan("k<<<1, 32>>>(u8[16], 7, 1.0, 1.0, bytes[24], null) packed").packed_size, 56);
    assert_int_equal(plan("k<<<1, 32>>>(u8[16]) packed=3").packed_size, 3);
}

static void tensor_maps_are_described_inside_out(void **state) {
    (void)state;
    struct driver_request r = plan("k<<<1, 32>>>(tensormap(f16[512, 256], box=(64, 32), swizzle=64), tensormap)");
    const struct driver_tensor *tensor = &r.args.at[0].tensor;
    assert_int_equal(r.args.at[0].kind, DRIVER_ARG_TENSORMAP);
    assert_int_equal(r.args.at[0].buffer_size, 512 * 256 * 2);
    assert_int_equal(tensor->rank, 2);
    assert_int_equal(tensor->type, DRV_CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
    assert_int_equal(tensor->swizzle, DRV_CU_TENSOR_MAP_SWIZZLE_64B);
    assert_int_equal(tensor->dims[0], 256);
    assert_int_equal(tensor->dims[1], 512);
    assert_int_equal(tensor->strides[0], 512);
    assert_int_equal(tensor->box[0], 32);
    assert_int_equal(tensor->box[1], 64);
    assert_int_equal(r.args.at[1].tensor.rank, 0);
    assert_int_equal(notes.list.n, 1);
}

static bool parses(const char *text) {
    struct source source;
    struct launch launch;
    struct launch_names names = {0};
    struct findings findings;
    source_init(&source, &arena, STR("launch"), text, (uint32_t)strlen(text));
    findings_init(&findings, &arena, 0);
    bool good = launch_parse(&source, &arena, &names, &findings, &launch);
    assert_int_equal(findings.list.n, good ? 0 : 1);
    return good;
}

static void wrong_descriptions_are_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "tensormap()", "tensormap(f16)", "tensormap(f16[4)", "tensormap(f16[4], box=(1, 2))",
        "tensormap(f16[1,2,3,4,5,6])", "tensormap(f16[4], swizzle=16)", "tensormap(f16[4], wide=1)",
        "tensormap(q[4])", "tensormap(f64[1 << 62, 4])", "tensormap(f16[4], box=", "tensormap(f16[4]"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(parses(str_format(&arena, "k<<<1, 1>>>(%s)", wrong[i]).data));
    assert_true(parses("k<<<1, 1>>>(tensormap(f16[4]), tensormap(u8[4], box=2), tensormap)"));
}

static void no_parentheses_and_empty_ones(void **state) {
    (void)state;
    assert_true(plan("k<<<1, 32>>>()").null_params);
    struct driver_request r = plan("k<<<1, 32>>>");
    assert_false(r.null_params);
    assert_int_equal(r.args.n, 5);
    assert_int_equal(r.args.at[0].kind, DRIVER_ARG_BUFFER);
}

static void tail_words_become_attributes(void **state) {
    (void)state;
    struct driver_request r =
        plan("k<<<4, 32, 70000>>>(u8[16]) cluster=(2,1,1) cooperative nonportable pdl optin=auto");
    assert_true(r.has_cluster && r.cooperative && r.nonportable && r.pdl && r.has_optin);
    assert_int_equal(r.cluster[0], 2);
    assert_int_equal(r.optin, 70000);
    assert_int_equal(plan("k<<<4, 32>>>(u8[16]) optin=9").optin, 9);
    assert_false(plan("k<<<4, 32>>>(u8[16])").has_optin);
}

static void a_kernel_that_could_not_be_read_is_planned_all_the_same(void **state) {
    (void)state;
    struct driver_request r;
    assert_true(try_plan("other<<<1, 32>>>(u8[16], 7, 2.5, null)", NULL, NULL, &r));
    assert_string_equal(r.kernel, "other");
    assert_int_equal(r.args.at[1].size, 4);
    assert_int_equal(r.args.at[2].size, 8);
}

static void files_shorter_than_the_buffer_are_said(void **state) {
    (void)state;
    struct driver_request r = plan("k<<<1, 32>>>(f32[4]=@x.bin)");
    assert_int_equal(r.args.at[0].contents, CONTENTS_FILE);
    assert_int_equal(notes.list.n, 1);  // nobody read it
}

static void the_name_is_the_one_that_was_given(void **state) {
    (void)state;
    kernel.name = STR("_Z1kPf");
    assert_string_equal(plan("k<<<1, 32>>>(u8[16])").kernel, "k");
    assert_string_equal(plan("<<<1, 32>>>(u8[16])").kernel, "_Z1kPf");
}

static void absurd_arguments_are_refused(void **state) {
    (void)state;
    struct driver_request r;
    assert_false(try_plan("k<<<1, 32>>>(bytes[1GiB])", &kernel, NULL, &r));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(scalars_take_the_type_of_the_parameter), TEST(typed_scalars_keep_their_host_size),
        TEST(buffers_carry_what_is_stated), TEST(pointers_get_what_the_dry_run_learnt),
        TEST(names_find_their_parameters), TEST(packed_buffers_follow_the_layout),
        TEST(tensor_maps_are_described_inside_out), TEST(wrong_descriptions_are_refused),
        TEST(no_parentheses_and_empty_ones), TEST(tail_words_become_attributes),
        TEST(a_kernel_that_could_not_be_read_is_planned_all_the_same),
        TEST(files_shorter_than_the_buffer_are_said), TEST(the_name_is_the_one_that_was_given),
        TEST(absurd_arguments_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
