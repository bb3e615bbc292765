// Launches that nobody means: mutations of good ones, parsed and judged. Nothing may crash, and every
// judgement has a prediction. The generator is seeded, so a failure repeats.
#include "analyzer/launch/judge.h"
#include "analyzer/rules/check.h"
#include "isa/gpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct memory memory;
static uint64_t seed = 0x2545f4914f6cdd1d;

static uint32_t draw(uint32_t below) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 33) % below;
}

static const char *const lines[] = {
    "k<<<dim3(64,1,1), (32,4), 48KiB, s>>>(x=f32[4096*2]@4=0, 5, half(0.5), bytes[24]@8, tensormap) "
    "cluster=(2,1,1) optin=65536 cooperative regs=40",
    "k<<<cdiv(1000, 256), 256>>>(u8[8MiB]@16, -1, 2.5, _, null, host) packed=64 nonportable pdl",
    "k<<<18446744073709551615, 4294967295, 18446744073709551615>>>(ptr, 0x7f00, true) optin=auto packed",
    "<<<1>>>(unsigned long long[4]=iota, f8(448), i8(-128), u64(0), b128(1))",
};

static const char *const pieces[] = {"<<<", ">>>", "(", ")", "[", "]", ",", "=", "@", "0", "1", "-",
                                     "18446744073709551615", "f32", "f32[", "bytes[", "ptr", "null",
                                     "1e400", "nan", "dim3(", "cdiv(", "KiB", "GiB", "_", "%", "/",
                                     "cluster=", "packed=", "optin=", "regs=", "\x80", "\"", ";"};

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.extern .shared .align 64 .b8 d[];\n"
    ".visible .entry k(.param .u64 p, .param .u32 n, .param .b16 h, .param .align 8 .b8 s[24],\n"
    ".param .align 64 .b8 m[128]) .maxntid 256 {\n.reg .b64 %a; .reg .b32 %r;\n"
    "ld.param.u64 %a,[p]; mov.u32 %r,d; st.shared.u32 [%r],%r; st.global.v2.u32 [%a],{%r,%r}; ret;\n}\n";

static void mutate(char *text, size_t room) {
    for (uint32_t n = 1 + draw(4); n > 0; n--) {
        size_t len = strlen(text), at = draw((uint32_t)len + 1);
        const char *piece = pieces[draw(sizeof pieces / sizeof pieces[0])];
        size_t cut = draw(6), add = strlen(piece);
        if (cut > len - at) cut = len - at;
        if (draw(3) == 0) add = 0;
        if (len - cut + add + 1 > room) continue;
        memmove(text + at + add, text + at + cut, len - at - cut + 1);
        memcpy(text + at, piece, add);
    }
}

static void judge_line(struct module_facts *facts, const struct findings *load, struct arena *arena,
                       const char *line) {
    struct source *text = arena_new(arena, struct source);
    struct findings findings;
    struct launch launch;
    struct judgement judgement;
    struct judge_options options = {.threads = 1, .host = (uint8_t)draw(6)};
    source_init(text, arena, STR("launch"), line, (uint32_t)strlen(line));
    findings_init(&findings, arena, 0);
    if (draw(2) == 0) vec_push(arena, &options.deployments)->gpu = isa_gpu_find(STR("h200"));
    if (!launch_parse(text, arena, NULL, &findings, &launch)) {
        assert_int_equal(findings.list.n, 1);
        assert_true(findings.list.at[0]->place.span.end <= text->size);
        return;
    }
    launch_judge(facts, load, &launch, &options, arena, &judgement);
    assert_true(judgement.predicted.phase != PHASE_NONE);
}

static void test_mutated_launches(void **state) {
    (void)state;
    struct arena kept, scratch;
    arena_init(&kept, &memory);
    arena_init(&scratch, &memory);
    struct source source;
    struct module *module;
    struct module_facts facts;
    struct findings load;
    struct check_options options = {.as = CHECK_AS_DRIVER, .keep_bodies = true};
    source_init(&source, &kept, STR("k.ptx"), ptx, sizeof ptx - 1);
    findings_init(&load, &kept, 0);
    check_source(&source, &kept, &kept, &options, &load, &module);
    facts_compute(module, &kept, &facts);
    assert_int_equal(facts.kernels.n, 1);
    for (int i = 0; i < 20000; i++) {
        char text[400];
        strcpy(text, lines[draw(sizeof lines / sizeof lines[0])]);
        mutate(text, sizeof text);
        judge_line(&facts, &load, &scratch, text);
        arena_reset(&scratch);
    }
    arena_destroy(&scratch);
    arena_destroy(&kept);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mutated_launches)};
    if (setjmp(memory.edge) != 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
