// The same launches on a real GPU, where there is one: what the driver answers to each kind of
// mistake, and that no launch harms the next.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "driver/cuda_api.h"
#include "driver/driver.h"

#define HEAD ".version 8.0\n.target sm_70\n.address_size 64\n"
#define ENTRY(body) HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %a; .reg .b32 %r<4>; " \
                         ".reg .pred %q;\nld.param.u64 %a, [p];\n" body "\n}\n"

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

static struct driver_request request_of(const char *ptx, uint64_t size) {
    struct driver_request request = {.ptx = ptx, .ptx_size = (uint32_t)strlen(ptx), .kernel = "k",
                                     .grid = {1, 1, 1}, .block = {1, 1, 1}, .timeout = 20, .repeat = 1};
    *vec_push(&arena, &request.args) =
        (struct driver_arg){.kind = DRIVER_ARG_BUFFER, .size = 8, .buffer_size = size, .align = 4};
    return request;
}

static struct driver_outcome launch(const struct driver_request *request) {
    struct driver_outcome outcome;
    driver_launch(request, &arena, &outcome);
    if (outcome.status != DRIVER_ANSWERED) print_error("%.*s\n", STR_ARG(outcome.failure));
    assert_int_equal(outcome.status, DRIVER_ANSWERED);
    return outcome;
}

static void expect(const char *ptx, uint64_t size, enum phase phase, int result) {
    struct driver_request request = request_of(ptx, size);
    struct driver_outcome outcome = launch(&request);
    assert_int_equal(outcome.phase, phase);
    assert_int_equal(outcome.result, result);
}

static void guards_are_where_the_buffer_ends(void **state) {
    (void)state;
    expect(ENTRY("st.global.u32 [%a+396], 1; ret;"), 400, PHASE_RUN, 0);
    // 400 = 16 * 25: @4 exactly leaves 4 bytes of slack.
    expect(ENTRY("st.global.u32 [%a+412], 1; ret;"), 400, PHASE_RUN, RESULT_CUDA_ERROR_ILLEGAL_ADDRESS);
    expect(ENTRY("st.global.u32 [%a+404], 1; ret;"), 404, PHASE_RUN, RESULT_CUDA_ERROR_ILLEGAL_ADDRESS);
    struct driver_request request = request_of(ENTRY("st.global.u32 [%a+-8], 1; ret;"), 400);
    request.memory = MEMORY_GUARD_START;
    assert_int_equal(launch(&request).result, RESULT_CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void canaries_see_what_guards_do_not(void **state) {
    (void)state;
    struct driver_request request = request_of(ENTRY("st.global.u32 [%a+-8], 1; ret;"), 400);
    for (int kind = MEMORY_GUARD_END; kind <= MEMORY_PLAIN; kind += MEMORY_PLAIN) {
        request.memory = (uint8_t)kind;
        request.args.at[0].align = 16;
        struct driver_outcome outcome = launch(&request);
        assert_int_equal(outcome.result, 0);
        assert_int_equal(outcome.buffers.at[0].changed, 4);
        assert_true(outcome.buffers.at[0].first == -8);
    }
}

static void alignment_is_exact(void **state) {
    (void)state;
    const char *ptx = ENTRY("ld.global.v2.u32 {%r0, %r1}, [%a]; st.global.v2.u32 [%a], {%r1, %r0}; ret;");
    struct driver_request request = request_of(ptx, 400);
    assert_int_equal(launch(&request).result, RESULT_CUDA_ERROR_MISALIGNED_ADDRESS);
    request.args.at[0].align = 8;
    assert_int_equal(launch(&request).result, 0);
}

static void no_launch_harms_the_next(void **state) {
    (void)state;
    const char *good = ENTRY("st.global.u32 [%a], 1; ret;");
    struct driver_request hang = request_of(ENTRY("L: ld.volatile.global.u32 %r0, [%a]; "
                                                  "setp.eq.u32 %q, %r0, 0; @%q bra L; ret;"), 64);
    hang.timeout = 3;
    struct driver_outcome outcome = launch(&hang);
    assert_int_equal(outcome.phase, PHASE_RUN);
    assert_int_equal(outcome.result, RESULT_HANG);
    expect(good, 64, PHASE_RUN, 0);
    expect(ENTRY("trap; ret;"), 64, PHASE_RUN, RESULT_CUDA_ERROR_LAUNCH_FAILED);
    expect(good, 64, PHASE_RUN, 0);
    expect(ENTRY("mov.u64 %a, 0; st.global.u32 [%a], 1; ret;"), 64, PHASE_RUN,
           RESULT_CUDA_ERROR_ILLEGAL_ADDRESS);
    expect(good, 64, PHASE_RUN, 0);
    // Fewer arguments than parameters: the driver reads past the array, in the child.
    struct driver_request few = request_of(
        HEAD ".visible .entry k(.param .u64 p, .param .u64 q) { ret; }\n", 64);
    outcome = launch(&few);
    assert_int_equal(outcome.phase, PHASE_LAUNCH);
    assert_int_equal(outcome.result, RESULT_CRASH);
    expect(good, 64, PHASE_RUN, 0);
}

static void answers_come_by_phase(void **state) {
    (void)state;
    struct driver_request request = request_of(HEAD ".visible .entry k(.param .u64 p)\n{\nbroken;\n}\n", 64);
    struct driver_outcome outcome = launch(&request);
    assert_int_equal(outcome.phase, PHASE_LOAD);
    assert_int_equal(outcome.result, RESULT_CUDA_ERROR_INVALID_PTX);
    assert_non_null(memmem(outcome.error_log.data, outcome.error_log.len, "line 6", 6));
    request = request_of(ENTRY("ret;"), 64);
    request.kernel = "other";
    assert_int_equal(launch(&request).phase, PHASE_GET_FUNCTION);
    request.kernel = "k";
    request.has_optin = true;
    request.optin = 1u << 30;
    assert_int_equal(launch(&request).phase, PHASE_SET_ATTRIBUTE);
    request.has_optin = false;
    request.block[0] = 1025;
    outcome = launch(&request);
    assert_int_equal(outcome.phase, PHASE_LAUNCH);
    assert_int_equal(outcome.result, RESULT_CUDA_ERROR_INVALID_VALUE);
}

static void the_driver_tells_what_it_knows(void **state) {
    (void)state;
    struct driver_request request = request_of(
        HEAD ".visible .entry k(.param .u64 p, .param .u8 c, .param .align 16 .b8 s[20])\n"
             "{ .shared .align 4 .b8 m[1000]; .reg .b32 %r; mov.u32 %r, m; st.volatile.shared.u32 [%r], 1; ret; }\n", 64);
    static const uint8_t zeros[20];
    *vec_push(&arena, &request.args) = (struct driver_arg){.size = 1, .bytes = zeros};
    *vec_push(&arena, &request.args) = (struct driver_arg){.size = 20, .bytes = zeros};
    request.repeat = 5;
    struct driver_outcome outcome = launch(&request);
    assert_int_equal(outcome.result, 0);
    assert_true(outcome.has_attributes && outcome.has_occupancy && outcome.has_time);
    assert_int_equal(outcome.attributes[ATTRIBUTE_SHARED], 1000);
    assert_true(outcome.attributes[ATTRIBUTE_REGS] > 0);
    assert_true(outcome.blocks_per_sm > 0);
    assert_true(outcome.milliseconds > 0 && outcome.milliseconds < 1000);
    if (outcome.has_params) {  // CUDA 12.4 and later
        assert_int_equal(outcome.params.n, 3);
        assert_int_equal(outcome.params.at[2].offset, 16);
        assert_int_equal(outcome.params.at[2].size, 20);
    }
}

static void contents_arrive(void **state) {
    (void)state;
    struct driver_request request = request_of(
        ENTRY("ld.global.u32 %r0, [%a+4092]; setp.eq.u32 %q, %r0, 1023; @%q ret; trap;"), 4096);
    request.args.at[0].contents = CONTENTS_IOTA;
    request.args.at[0].type = TYPE_U32;
    assert_int_equal(launch(&request).result, 0);
    request.args.at[0].contents = CONTENTS_ZERO;
    assert_int_equal(launch(&request).result, RESULT_CUDA_ERROR_LAUNCH_FAILED);
}

static void attributes_and_packed_buffers(void **state) {
    (void)state;
    struct driver_request request = request_of(ENTRY("st.global.u32 [%a], 1; ret;"), 64);
    request.packed = true;
    request.packed_size = 8;
    assert_int_equal(launch(&request).result, 0);
    request.packed_size = 9;
    assert_int_equal(launch(&request).result, RESULT_CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    request.packed = false;
    request.cooperative = true;
    assert_int_equal(launch(&request).result, 0);
    request.grid[0] = 1000000;
    assert_int_equal(launch(&request).result, RESULT_CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

static void what_a_kernel_prints_is_kept(void **state) {
    (void)state;
    struct driver_request request = request_of(
        HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n"
             ".global .align 1 .b8 t[4] = {104, 105, 10, 0};\n"
             ".visible .entry k(.param .u64 p) { .reg .b64 %a; mov.u64 %a, t; cvta.global.u64 %a, %a;\n"
             "{ .param .b64 f; .param .b64 v; .param .b32 r; st.param.b64 [f], %a; st.param.b64 [v], 0;\n"
             "call.uni (r), vprintf, (f, v); } ret; }\n", 64);
    struct driver_outcome outcome = launch(&request);
    assert_int_equal(outcome.result, 0);
    assert_true(str_eq(outcome.said, STR("hi\n")));
}

static void tensor_maps_reach_the_kernel(void **state) {
    (void)state;
    // A 16 x 4 tile of f32 into shared memory; the first word is 0, as the buffer is.
    const char *ptx =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 p, .param .align 64 .b8 t[128])\n{\n"
        ".reg .b64 %a, %m; .reg .b32 %r<8>; .reg .pred %q;\n"
        ".shared .align 128 .b8 s[256]; .shared .align 8 .b64 b;\n"
        "mov.b64 %m, t; cvta.param.u64 %m, %m; mov.u32 %r0, s; mov.u32 %r1, b; mov.u32 %r2, 0;\n"
        "mbarrier.init.shared.b64 [%r1], 1;\nfence.proxy.async.shared::cta;\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%r0], [%m, {%r2, %r2}], [%r1];\n"
        "mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 256;\n"
        "L: mbarrier.try_wait.parity.shared.b64 %q, [%r1], 0; @!%q bra L;\n"
        "ld.shared.u32 %r3, [s+252]; ld.param.u64 %a, [p]; st.global.u32 [%a], %r3; ret;\n}\n";
    struct driver_request request = request_of(ptx, 64);
    *vec_push(&arena, &request.args) = (struct driver_arg){
        .kind = DRIVER_ARG_TENSORMAP, .size = 128, .buffer_size = 16 * 4 * 4,
        .tensor = {.rank = 2, .type = DRV_CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                   .dims = {16, 4}, .strides = {64}, .box = {16, 4}}};
    struct driver_outcome outcome;
    driver_launch(&request, &arena, &outcome);
    if (outcome.has_device && outcome.device.major < 9) skip();
    assert_int_equal(outcome.status, DRIVER_ANSWERED);
    assert_int_equal(outcome.result, 0);
}

int main(void) {
    struct driver_request probe = {.probe = true, .timeout = 20};
    struct driver_outcome outcome;
    arena_init(&arena, &memory);
    driver_launch(&probe, &arena, &outcome);
    if (outcome.status != DRIVER_FAILED && outcome.has_device) {
        printf("%s, compute capability %d.%d, %d SMs, CUDA %d\n", outcome.device.name,
               outcome.device.major, outcome.device.minor, outcome.device.processors, outcome.device.cuda);
    } else {
        printf("skipped: %.*s\n", STR_ARG(outcome.failure));
        arena_destroy(&arena);
        return 77;
    }
    arena_destroy(&arena);
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(guards_are_where_the_buffer_ends), TEST(canaries_see_what_guards_do_not),
        TEST(alignment_is_exact), TEST(no_launch_harms_the_next), TEST(answers_come_by_phase),
        TEST(the_driver_tells_what_it_knows), TEST(contents_arrive), TEST(attributes_and_packed_buffers),
        TEST(what_a_kernel_prints_is_kept), TEST(tensor_maps_reach_the_kernel)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
