// Launches on a scripted driver (tests/fake_cuda): answers by phase, every call's failure at every
// call, and that nothing is left behind.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/output.h"
#include "driver/driver.h"
#include "driver/protocol.h"

static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                          ".visible .entry k(.param .u64 p, .param .u64 q) { ret; }\n";
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
    unsetenv("FAKE_CUDA");
    unsetenv("FAKE_CUDA_TRACE");
    return 0;
}

static struct driver_request plain_request(void) {
    struct driver_request request = {.library = FAKE_CUDA, .ptx = ptx, .ptx_size = sizeof ptx - 1,
                                     .kernel = "k", .grid = {1, 1, 1}, .block = {32, 1, 1},
                                     .timeout = 5, .preparation = 5, .repeat = 1};
    for (int i = 0; i < 2; i++) {
        struct driver_arg *arg = vec_push(&arena, &request.args);
        *arg = (struct driver_arg){.kind = DRIVER_ARG_BUFFER, .size = 8, .offset = 8 * (uint64_t)i,
                                   .buffer_size = 400 + 100 * (uint64_t)i, .align = 4};
    }
    return request;
}

static struct driver_outcome launch_with(const struct driver_request *request, const char *script) {
    struct driver_outcome outcome;
    setenv("FAKE_CUDA", script, 1);
    driver_launch(request, &arena, &outcome);
    return outcome;
}

static void expect(const struct driver_request *request, const char *script, enum phase phase,
                   int result) {
    struct driver_outcome outcome = launch_with(request, script);
    assert_int_equal(outcome.status, DRIVER_ANSWERED);
    assert_int_equal(outcome.phase, phase);
    assert_int_equal(outcome.result, result);
}

static void a_launch_succeeds(void **state) {
    (void)state;
    struct driver_request request = plain_request();
    struct driver_outcome outcome = launch_with(&request, "params=0:8,8:8;regs=40;shared=16");
    assert_int_equal(outcome.status, DRIVER_ANSWERED);
    assert_int_equal(outcome.phase, PHASE_RUN);
    assert_int_equal(outcome.result, 0);
    assert_true(outcome.has_device && outcome.has_attributes && outcome.has_params);
    assert_string_equal(outcome.device.name, "NVIDIA H200");
    assert_int_equal(outcome.device.major, 9);
    assert_int_equal(outcome.device.processors, 132);
    assert_int_equal(outcome.device.cuda, 13000);
    assert_int_equal(outcome.attributes[ATTRIBUTE_REGS], 40);
    assert_int_equal(outcome.attributes[ATTRIBUTE_SHARED], 16);
    assert_int_equal(outcome.params.n, 2);
    assert_int_equal(outcome.params.at[1].offset, 8);
    assert_int_equal(outcome.blocks_per_sm, 32);
    assert_true(outcome.has_time);
    assert_int_equal(outcome.buffers.n, 2);
}

static void answers_come_by_phase(void **state) {
    (void)state;
    struct driver_request request = plain_request();
    request.has_optin = request.nonportable = true;
    expect(&request, "cuModuleLoadDataEx=218", PHASE_LOAD, 218);
    expect(&request, "cuModuleGetFunction=500", PHASE_GET_FUNCTION, 500);
    expect(&request, "cuFuncSetAttribute=1", PHASE_SET_ATTRIBUTE, 1);
    expect(&request, "cuFuncSetAttribute#2=801", PHASE_SET_ATTRIBUTE, 801);
    expect(&request, "cuLaunchKernel=701", PHASE_LAUNCH, 701);
    expect(&request, "cuCtxSynchronize#2=716", PHASE_RUN, 716);
    expect(&request, "cuCtxSynchronize#2=12345", PHASE_RUN, 12345);
    request.timeout = request.preparation = 0.3;
    expect(&request, "cuLaunchKernel=hang", PHASE_LAUNCH, RESULT_HANG);
}

static void hangs_and_crashes_are_answers(void **state) {
    (void)state;
    struct driver_request request = plain_request();
    request.timeout = request.preparation = 0.2;
    expect(&request, "cuCtxSynchronize#2=hang", PHASE_RUN, RESULT_HANG);
    expect(&request, "cuModuleGetFunction=hang", PHASE_GET_FUNCTION, RESULT_HANG);
    request.timeout = request.preparation = 10;  // a busy machine must not turn a crash into a hang
    expect(&request, "cuCtxSynchronize#2=segv", PHASE_RUN, RESULT_CRASH);
    expect(&request, "cuLaunchKernel=segv", PHASE_LAUNCH, RESULT_CRASH);
    expect(&request, "cuLaunchKernel=exit", PHASE_LAUNCH, RESULT_CRASH);
    expect(&request, "cuModuleLoadDataEx=abort", PHASE_LOAD, RESULT_CRASH);
    expect(&request, "", PHASE_RUN, 0);  // the next launch is unharmed
    struct driver_outcome outcome = launch_with(&request, "cuLaunchKernel=segv");
    assert_int_equal(outcome.signal, SIGSEGV);
}

static void only_the_launch_is_short_of_time(void **state) {
    (void)state;
    struct driver_request request = plain_request();
    request.timeout = 0.05;
    expect(&request, "cuModuleLoadDataEx=slow", PHASE_RUN, 0);
    expect(&request, "cuCtxSynchronize#2=slow", PHASE_RUN, RESULT_HANG);
}

static void a_pointer_past_the_array_crashes(void **state) {
    (void)state;
    struct driver_request request = plain_request();
    expect(&request, "write=2:0", PHASE_LAUNCH, RESULT_CRASH);
    request.null_params = true;
    expect(&request, "write=0:0", PHASE_LAUNCH, RESULT_CRASH);
}

static void there_may_be_no_driver_or_device(void **state) {
    (void)state;
    struct driver_request request = plain_request();
    assert_int_equal(launch_with(&request, "devices=0").status, DRIVER_UNAVAILABLE);
    assert_int_equal(launch_with(&request, "cuInit=100").status, DRIVER_UNAVAILABLE);
    struct driver_outcome outcome = launch_with(&request, "cuInit=803");
    assert_int_equal(outcome.status, DRIVER_UNAVAILABLE);
    assert_true(outcome.failure.len > 0);
    request.library = "/nonexistent/libcuda.so.1";
    assert_int_equal(launch_with(&request, "").status, DRIVER_UNAVAILABLE);
}

static void operational_trouble_is_no_answer(void **state) {
    (void)state;
    struct driver_request request = plain_request();
    request.timeout = request.preparation = 0.2;
    static const char *const scripts[] = {
        "cuMemCreate=2", "cuMemMap=1", "cuMemsetD8=1", "cuMemcpyDtoH=1", "cuInit=segv", "cuInit=hang",
        "cuDevicePrimaryCtxRetain=2", "cuCtxSynchronize#1=999", "cuLaunchKernel=garbage",
        "cuDeviceGetCount=garbage"};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        struct driver_outcome outcome = launch_with(&request, scripts[i]);
        assert_int_equal(outcome.status, DRIVER_FAILED);
        assert_true(outcome.failure.len > 0);
    }
}

static void canaries_catch_what_guards_cannot(void **state) {
    (void)state;
    struct driver_request request = plain_request();
    struct driver_outcome outcome = launch_with(&request, "write=1:-3");
    assert_int_equal(outcome.result, 0);
    assert_int_equal(outcome.buffers.at[0].changed, 0);
    assert_int_equal(outcome.buffers.at[1].changed, 1);
    assert_int_equal(outcome.buffers.at[1].first, -3);
    request.memory = MEMORY_PLAIN;
    outcome = launch_with(&request, "write=1:-1");
    assert_int_equal(outcome.buffers.at[1].first, -1);
    request.memory = MEMORY_GUARD_START;
    outcome = launch_with(&request, "write=0:400");
    assert_int_equal(outcome.buffers.at[0].first, 400);
    outcome = launch_with(&request, "write=0:399");
    assert_int_equal(outcome.buffers.at[0].changed, 0);
}

static void guards_stand_at_the_buffer(void **state) {
    (void)state;
    struct driver_request request = plain_request();
    expect(&request, "write=0:399", PHASE_RUN, 0);
    uint64_t slack = launch_with(&request, "").buffers.at[0].slack;
    char script[64];
    snprintf(script, sizeof script, "write=0:%d", 400 + (int)slack);
    expect(&request, script, PHASE_LAUNCH, RESULT_CRASH);
    request.memory = MEMORY_GUARD_START;
    slack = launch_with(&request, "").buffers.at[0].slack;
    snprintf(script, sizeof script, "write=0:-%d", 1 + (int)slack);
    expect(&request, script, PHASE_LAUNCH, RESULT_CRASH);
}

static void places_have_the_stated_alignment(void **state) {
    (void)state;
    const uint64_t mapped = 2u << 20;
    for (uint64_t size = 0; size < 3000; size++)
        for (uint64_t align = 1; align <= 4096; align *= 2)
            for (int memory_kind = MEMORY_GUARD_END; memory_kind <= MEMORY_GUARD_START; memory_kind++) {
                uint64_t at = driver_place((enum driver_memory)memory_kind, mapped, size, align);
                assert_true(at % align == 0);
                if (align < 256) assert_true(at % (2 * align) != 0);
                assert_true(at <= mapped && size <= mapped - at);
                if (memory_kind == MEMORY_GUARD_END) assert_true(mapped - at - size < 2 * align);
                else assert_true(at <= align);
            }
    assert_int_equal(driver_place(MEMORY_GUARD_END, mapped, 400000, 0), mapped - 400000);
}

static void contents_reach_the_device(void **state) {
    (void)state;
    struct driver_arg arg = {.contents = CONTENTS_FILE, .file = (const uint8_t *)"abc", .file_size = 3};
    uint8_t bytes[4];
    driver_contents(&arg, 1, bytes, sizeof bytes);
    assert_memory_equal(bytes, "bc\0\0", 4);
    driver_contents(&arg, 9, bytes, sizeof bytes);
    assert_memory_equal(bytes, "\0\0\0\0", 4);
}

static void what_the_kernel_prints_is_kept_apart(void **state) {
    (void)state;
    struct driver_request request = plain_request();
    struct driver_outcome outcome = launch_with(&request, "print=hello");
    assert_true(str_eq(outcome.said, STR("hello\n")));
}

static void the_median_of_repeats(void **state) {
    (void)state;
    struct driver_request request = plain_request();
    request.repeat = 5;
    struct driver_outcome outcome = launch_with(&request, "");
    assert_true(outcome.milliseconds == 3.0);
    expect(&request, "cuLaunchKernel#3=700", PHASE_LAUNCH, 700);
    expect(&request, "cuCtxSynchronize#4=700", PHASE_RUN, 700);
}

static void attributes_go_through_launch_kernel_ex(void **state) {
    (void)state;
    struct driver_request request = plain_request();
    request.cooperative = true;
    expect(&request, "cuLaunchKernel=999", PHASE_RUN, 0);
    expect(&request, "cuLaunchKernelEx=720", PHASE_LAUNCH, 720);
    request.packed = true;
    request.packed_size = 16;
    expect(&request, "write=1:0", PHASE_RUN, 0);
}

static void old_drivers_do(void **state) {
    (void)state;
    struct driver_request request = plain_request();
    request.library = FAKE_CUDA_OLD;
    assert_int_equal(launch_with(&request, "").status, DRIVER_FAILED);  // no guarded memory
    request.memory = MEMORY_PLAIN;
    struct driver_outcome outcome = launch_with(&request, "");
    assert_int_equal(outcome.status, DRIVER_ANSWERED);
    assert_int_equal(outcome.result, 0);
    assert_false(outcome.has_params);
    request.has_cluster = true;
    assert_int_equal(launch_with(&request, "").status, DRIVER_FAILED);
}

static void tensor_maps_are_encoded(void **state) {
    (void)state;
    struct driver_request request = plain_request();
    struct driver_arg *arg = vec_push(&arena, &request.args);
    *arg = (struct driver_arg){.kind = DRIVER_ARG_TENSORMAP, .size = 128,
                               .buffer_size = 64, .tensor = {.rank = 1, .dims = {16}, .box = {16}}};
    expect(&request, "", PHASE_RUN, 0);
    assert_int_equal(launch_with(&request, "cuTensorMapEncodeTiled=1").status, DRIVER_FAILED);
    assert_int_equal(launch_with(&request, "write=2:-1").buffers.at[2].changed, 1);  // its own memory
    request.args.at[2].tensor.rank = 0;
    assert_int_equal(launch_with(&request, "").buffers.n, 2);
}

static unsigned open_descriptors(void) {
    unsigned n = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder) != NULL) n++;
    closedir(folder);
    return n;
}

static void nothing_is_left_after_200_launches(void **state) {
    (void)state;
    struct driver_request request = plain_request();
    request.timeout = request.preparation = 0.1;
    static const char *const scripts[] = {"", "cuLaunchKernel=segv", "cuCtxSynchronize#2=700",
                                          "cuInit=fork", "cuModuleLoadDataEx=218", "print=hello"};
    unsigned before = open_descriptors();
    size_t used = memory.used, heap = 0;
    for (int i = 0; i < 200; i++) {
        struct memory own = {.limit = 0};
        struct arena mine;
        arena_init(&mine, &own);
        struct driver_outcome outcome;
        setenv("FAKE_CUDA", i % 50 == 49 ? "cuCtxSynchronize#2=hang" : scripts[i % 6], 1);
        driver_launch(&request, &mine, &outcome);
        arena_destroy(&mine);
        assert_int_equal(own.used, 0);
        if (i == 20) heap = (size_t)mallinfo2().uordblks;
    }
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(memory.used, used);
    assert_true((size_t)mallinfo2().uordblks <= heap + 4096);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);  // no child, not even a dead one
}

// Calls of one good launch, in order.
static unsigned trace_calls(const struct driver_request *request, char names[200][64]) {
    char path[] = "/tmp/ptxvet-trace-XXXXXX", line[64];
    unsigned n = 0;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    setenv("FAKE_CUDA_TRACE", path, 1);
    expect(request, "params=0:8,8:8", PHASE_RUN, 0);
    unsetenv("FAKE_CUDA_TRACE");
    FILE *file = fdopen(fd, "r");
    while (n < 200 && fgets(line, sizeof line, file) != NULL) snprintf(names[n++], 64, "%s", line);
    fclose(file);
    unlink(path);
    return n;
}

static void check_sane(const struct driver_outcome *outcome) {
    if (outcome->status == DRIVER_ANSWERED) {
        assert_true(outcome->phase >= PHASE_LOAD && outcome->phase <= PHASE_RUN);
        return;
    }
    assert_true(outcome->failure.len > 0);
}

static void every_call_may_fail_at_every_call(void **state) {
    (void)state;
    static char names[200][64];
    static const char *const actions[] = {"999", "1", "segv", "exit", "garbage"};
    struct driver_request request = plain_request();
    request.has_optin = request.nonportable = true;
    request.repeat = 2;
    unsigned n = trace_calls(&request, names);
    assert_true(n > 60 && n < 200);
    for (unsigned call = 1; call <= n; call++)
        for (size_t a = 0; a < sizeof actions / sizeof *actions; a++) {
            char script[64];
            snprintf(script, sizeof script, "params=0:8,8:8;@%u=%s", call, actions[a]);
            struct driver_outcome outcome = launch_with(&request, script);
            check_sane(&outcome);
            if (strcmp(actions[a], "garbage") == 0) assert_int_equal(outcome.status, DRIVER_FAILED);
            // A failing query, clock or wish for an address does not spoil the launch; all other failures are seen.
            bool optional = strncmp(names[call - 1], "cuFuncGet", 9) == 0 ||
                            strncmp(names[call - 1], "cuEvent", 7) == 0 ||
                            strncmp(names[call - 1], "cuOccupancy", 11) == 0 ||
                            strncmp(names[call - 1], "cuGetProc", 9) == 0 ||
                            strncmp(names[call - 1], "cuMemAddressReserve", 19) == 0 ||
                            strncmp(names[call - 1], "cuDeviceGetName", 15) == 0 ||
                            strncmp(names[call - 1], "cuDeviceGetAttribute", 20) == 0 ||
                            strncmp(names[call - 1], "cuDriverGetVersion", 18) == 0;
            bool succeeded = outcome.status == DRIVER_ANSWERED && outcome.result == 0;
            assert_int_equal(succeeded, optional && a < 2);
        }
    expect(&request, "", PHASE_RUN, 0);
}

static void every_call_may_hang(void **state) {
    (void)state;
    static char names[200][64];
    struct driver_request request = plain_request();
    unsigned n = trace_calls(&request, names);
    request.timeout = request.preparation = 0.05;
    for (unsigned call = 1; call <= n; call += call < 30 ? 7 : 1) {
        char script[64];
        snprintf(script, sizeof script, "params=0:8,8:8;@%u=hang", call);
        struct driver_outcome outcome = launch_with(&request, script);
        assert_true(outcome.status == DRIVER_FAILED || outcome.result == RESULT_HANG);
    }
}

static void log_lines_become_findings(void **state) {
    (void)state;
    static const char text[] = ".version 8.0\n\tadd.u32 %r1, %q, 1;\n\n  mov x;\n";
    struct source source;
    struct findings findings;
    source_init(&source, &arena, STR("x.ptx"), text, sizeof text - 1);
    findings_init(&findings, &arena, 0);
    driver_log_findings(
        STR("ptxas application ptx input, line 2; error   : Unknown symbol '%q'\n"
            "ptxas application ptx input, line 4; error   : Arguments mismatch\n"
            "ptxas application ptx input, line 99; error   : beyond\n"
            "ptxas application ptx input, line 4; warning : only that\n"
            "ptxas application ptx input, line ; error   : no number\n"
            "ptxas fatal   : Ptx assembly aborted due to errors"),
        &source, RULE_JIT_ERROR, &findings);
    assert_int_equal(findings.list.n, 3);
    struct position position = source_position(&source, findings.list.at[0]->place.span.begin);
    assert_int_equal(position.line, 2);
    assert_int_equal(position.column, 15);
    position = source_position(&source, findings.list.at[1]->place.span.begin);
    assert_int_equal(position.line, 4);
    assert_int_equal(position.column, 3);
}

static void the_reader_takes_nothing_on_trust(void **state) {
    (void)state;
    struct driver_outcome outcome;
    struct record_reader reader;
    unsigned seed = 1;
    for (int round = 0; round < 2000; round++) {
        struct record record = {.kind = (uint16_t)(round % (RECORD_KINDS + 2)), .step = STEP_LOAD};
        record_seal(&record, 0);
        unsigned char bytes[sizeof record];
        memcpy(bytes, &record, sizeof bytes);
        if (round % 3 != 0) bytes[(unsigned)rand_r(&seed) % sizeof bytes] ^= (unsigned char)(1 << rand_r(&seed) % 8);
        memset(&outcome, 0, sizeof outcome);
        record_reader_init(&reader, &outcome, &arena);
        record_reader_feed(&reader, bytes, 100);
        record_reader_feed(&reader, bytes + 100, sizeof bytes - 100);
        if (round % 3 != 0) assert_true(reader.broken);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_launch_succeeds), TEST(answers_come_by_phase), TEST(hangs_and_crashes_are_answers),
        TEST(only_the_launch_is_short_of_time),
        TEST(a_pointer_past_the_array_crashes), TEST(there_may_be_no_driver_or_device),
        TEST(operational_trouble_is_no_answer), TEST(canaries_catch_what_guards_cannot),
        TEST(guards_stand_at_the_buffer), TEST(places_have_the_stated_alignment),
        TEST(contents_reach_the_device), TEST(what_the_kernel_prints_is_kept_apart),
        TEST(the_median_of_repeats), TEST(attributes_go_through_launch_kernel_ex),
        TEST(old_drivers_do), TEST(tensor_maps_are_encoded), TEST(nothing_is_left_after_200_launches),
        TEST(every_call_may_fail_at_every_call), TEST(every_call_may_hang),
        TEST(log_lines_become_findings), TEST(the_reader_takes_nothing_on_trust)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
