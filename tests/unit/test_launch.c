// The launch language: every form that DESIGN lists, and where mistakes are pointed to.
#include "analyzer/launch/launch.h"
#include "analyzer/launch/scalar.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct memory memory;
static struct arena arena;
static struct findings findings;
static struct launch_names names;
static struct launch launch;

static bool parse(const char *text) {
    struct source *source = arena_new(&arena, struct source);
    source_init(source, &arena, STR("launch"), text, (uint32_t)strlen(text));
    findings_init(&findings, &arena, 0);
    return launch_parse(source, &arena, &names, &findings, &launch);
}

static const struct argument *parsed(const char *text, uint32_t n) {
    if (!parse(text)) fail_msg("%s: %.*s", text, STR_ARG(findings.list.at[0]->message));
    return &launch.arguments.at[n];
}

// `^` stands under the first byte of the finding's span.
static void refused(const char *text, uint32_t column, const char *message) {
    assert_false(parse(text));
    assert_int_equal(findings.list.n, 1);
    struct finding *finding = findings.list.at[0];
    if (!str_eq(finding->message, str_from(message)))
        fail_msg("%s: %.*s", text, STR_ARG(finding->message));
    assert_int_equal(finding->place.span.begin, column);
}

static void test_dimensions(void **state) {
    (void)state;
    assert_true(parse("k<<<dim3(64,1,1), (32,4), 48KiB, stream>>>()"));
    assert_int_equal(launch.grid[0], 64);
    assert_int_equal(launch.block[1], 4);
    assert_int_equal(launch.block[2], 1);
    assert_int_equal(launch.shared, 49152);
    assert_true(launch.has_arguments);
    assert_int_equal(launch.arguments.n, 0);
    assert_true(parse(" k <<< (4096+127)/128 >>> "));
    assert_int_equal(launch.grid[0], 32);
    assert_false(launch.has_block);
    assert_false(launch.has_shared);
    assert_false(launch.has_arguments);
    assert_true(str_eq(launch.kernel, STR("k")));
    assert_true(parse("<<<0, (1,2,3)>>>"));
    assert_int_equal(launch.kernel.len, 0);
    assert_int_equal(launch.grid[0], 0);
    assert_true(parse("f<float>(float*, int)<<<1, 2>>>(null);"));
    assert_true(str_eq(launch.kernel, STR("f<float>(float*, int)")));
    assert_true(parse("k<<<(64,), 1>>>"));
}

static uint64_t grid(const char *expression) {
    struct str text = str_format(&arena, "k<<<%s>>>", expression);
    if (!parse(text.data)) fail_msg("%s: %.*s", expression, STR_ARG(findings.list.at[0]->message));
    return launch.grid[0];
}

static void test_expressions(void **state) {
    (void)state;
    struct source *source = arena_new(&arena, struct source);
    source_init(source, &arena, STR("-D"), "N=1_000", 7);
    assert_true(launch_define(source, &arena, &names, &findings));
    assert_int_equal(grid("cdiv(N, 256)"), 4);
    assert_int_equal(grid("min(N, 7, 9) + max(1, 2)"), 9);
    assert_int_equal(grid("2 + 3 * 4"), 14);
    assert_int_equal(grid("(2 + 3) * 4"), 20);
    assert_int_equal(grid("100 - 10 - 1"), 89);
    assert_int_equal(grid("N % 7 // 2"), 3);
    assert_int_equal(grid("1 << 20 >> 2"), 1 << 18);
    assert_int_equal(grid("0xffff_ffff_ffff_ffff"), UINT64_MAX);
    assert_int_equal(grid("0xffffffffffffffff / 0xffffffff"), 0x100000001);
    assert_int_equal(grid("-(-3)"), 3);
    assert_int_equal(grid("2GiB"), (uint64_t)2 << 30);
    assert_int_equal(grid("128u"), 128);
    refused("k<<<18446744073709551616>>>", 4, "`18446744073709551616` does not fit 64 bits");
    refused("k<<<0xffffffffffffffff + 1>>>", 4,
            "the value does not fit 64 bits: it must be from -2^63 to 2^64 - 1");
    refused("k<<<4 / (2 - 2)>>>", 8, "division by zero");
    refused("k<<<cdiv(4, 0)>>>", 12, "division by zero");
    refused("k<<<1 - 2>>>", 4, "a dimension must not be negative");
    refused("k<<<M>>>", 4, "unknown name `M`");
    refused("k<<<2.5>>>", 4, "a dimension must be an integer");
    refused("k<<<(1,2,3,4)>>>", 11, "more than three dimensions");
    refused("k<<<min(1)>>>", 4, "`min` takes two values");
    refused("k<<<1 << 64>>>", 9, "a shift count must be from 0 to 63");
}

static void test_buffers(void **state) {
    (void)state;
    const struct argument *a = parsed("k<<<1,1>>>(x=f32[4096*2]@4=iota)", 0);
    assert_int_equal(a->kind, ARGUMENT_BUFFER);
    assert_int_equal(a->type, TYPE_F32);
    assert_int_equal(a->count, 8192);
    assert_int_equal(a->size, 32768);
    assert_int_equal(a->align, 4);
    assert_int_equal(a->contents, CONTENTS_IOTA);
    assert_true(str_eq(a->name, STR("x")));
    a = parsed("k<<<1,1>>>(half[3], u8[8MiB]=0, b128[2]=@dir/a-b.bin, unsigned long long[2], f64[0])", 0);
    assert_int_equal(a[0].size, 6);
    assert_int_equal(a[1].size, 8 << 20);
    assert_int_equal(a[1].contents, CONTENTS_ZERO);
    assert_int_equal(a[2].size, 32);
    assert_true(str_eq(a[2].file, STR("dir/a-b.bin")));
    assert_int_equal(a[3].type, TYPE_U64);
    assert_int_equal(a[4].size, 0);
    a = parsed("k<<<1,1>>>(bytes[24]@8, tensormap, _, ptr, ptr@16, null, host, size_t[2],)", 0);
    assert_int_equal(launch.arguments.n, 8);
    assert_int_equal(a[0].kind, ARGUMENT_BYTES);
    assert_int_equal(a[0].size, 24);
    assert_int_equal(a[1].kind, ARGUMENT_TENSORMAP);
    assert_int_equal(a[2].kind, ARGUMENT_UNKNOWN);
    assert_int_equal(a[3].kind, ARGUMENT_POINTER);
    assert_int_equal(a[4].align, 16);
    assert_int_equal(a[5].kind, ARGUMENT_NULL);
    assert_int_equal(a[6].kind, ARGUMENT_HOST);
    refused("k<<<1,1>>>(f32[4]@3)", 18, "an alignment must be a power of two");
    refused("k<<<1,1>>>(f32)", 14, "expected `[N]` or `(value)` after a type, found `)`");
    refused("k<<<1,1>>>(f64[0x2000000000000000])", 14, "the buffer's size does not fit 64 bits");
    refused("k<<<1,1>>>(f32[4]=7)", 18,
            "expected contents: `0`, `iota`, `random` or `@file`, found `7`");
}

static uint64_t bits(const char *argument) {
    struct str text = str_format(&arena, "k<<<1,1>>>(%s)", argument);
    const struct argument *a = parsed(text.data, 0);
    assert_int_equal(a->kind, ARGUMENT_TYPED);
    return a->bits;
}

static void test_scalars(void **state) {
    (void)state;
    const struct argument *a = parsed("k<<<1,1>>>(4096, -1, 2.5, 0x7f0000000000, -0.5e3)", 0);
    assert_int_equal(a[0].kind, ARGUMENT_INT);
    assert_int_equal(a[0].magnitude, 4096);
    assert_true(a[1].negative && a[1].magnitude == 1);
    assert_int_equal(a[2].kind, ARGUMENT_FLOAT);
    assert_true(a[2].number == 2.5);
    assert_true(a[3].hex);
    assert_true(a[4].number == -500);
    assert_int_equal(bits("f16(0.5)"), 0x3800);
    assert_int_equal(bits("f16(65520)"), 0x7c00);
    assert_int_equal(bits("f16(1e-8)"), 0);
    assert_int_equal(bits("f16(6e-8)"), 1);
    assert_int_equal(bits("half(-inf)"), 0xfc00);
    assert_int_equal(bits("bf16(1.0)"), 0x3f80);
    assert_int_equal(bits("f8(0.5)"), 0x30);
    assert_int_equal(bits("f8(1000)"), 0x7e);
    assert_int_equal(bits("f32(1e-05)"), 0x3727c5ac);
    assert_int_equal(bits("f32(nan)"), 0x7fc00000);
    assert_int_equal(bits("double(-2)"), 0xc000000000000000);
    assert_int_equal(bits("i64(-1)"), UINT64_MAX);
    assert_int_equal(bits("i8(-1)"), 0xff);
    assert_int_equal(bits("bool(true)"), 1);
    assert_int_equal(bits("u32(1e3)"), 1000);
    assert_int_equal(bits("true"), 1);
}

static void test_wrapping(void **state) {
    (void)state;
    const struct argument *a = parsed("k<<<1,1>>>(u32(4294967296), i8(128), u8(255), u8(-1), i32(2.5))", 0);
    assert_true(a[0].wrapped && a[0].bits == 0);
    assert_true(a[1].wrapped && a[1].bits == 0x80);
    assert_false(a[2].wrapped);
    assert_true(a[3].wrapped && a[3].bits == 0xff);
    assert_true(a[4].wrapped && a[4].bits == 2);
}

static void test_tail(void **state) {
    (void)state;
    assert_true(parse("k<<<8,1>>>(1) cluster=(2,1) cooperative optin=auto nonportable pdl packed=24 "
                      "regs=40"));
    assert_true(launch.has_cluster && launch.cluster[0] == 2 && launch.cluster[2] == 1);
    assert_true(launch.cooperative && launch.nonportable && launch.pdl);
    assert_true(launch.has_optin && launch.optin_auto);
    assert_true(launch.packed && launch.has_packed_size && launch.packed_size == 24);
    assert_int_equal(launch.regs, 40);
    assert_true(parse("k<<<8,1>>>(1) packed optin=65536 cluster=4"));
    assert_true(launch.packed && !launch.has_packed_size);
    assert_int_equal(launch.optin, 65536);
    assert_int_equal(launch.cluster[0], 4);
    refused("k<<<8,1>>>(1) coperative", 14, "unknown word `coperative` after the launch");
    refused("k<<<8,1>>>(1) pdl pdl", 18, "`pdl` stands here twice");
    refused("k<<<8,1>>>(1) optin", 19, "expected `=BYTES` or `=auto`, found the end of the launch");
    refused("k(1)", 4, "expected `<<<` after the kernel's name");
    refused("k<<<8,1", 7, "expected `,` or `>>>`, found the end of the launch");
    refused("k<<<8,1>>>(1", 12, "expected `,` or `)`, found the end of the launch");
    refused("k<<<8,1>>>(1 2)", 13, "expected `,` or `)`, found `2`");
    refused("k<<<8,1>>>(\x80)", 11, "expected a value, found byte 0x80");
}

static void test_depth_is_bounded(void **state) {
    (void)state;
    char text[3000] = "k<<<";
    memset(text + 4, '(', 2900);
    assert_false(parse(text));
}

static void test_decode_inverts_encode(void **state) {
    (void)state;
    static const uint8_t types[] = {TYPE_F16, TYPE_BF16, TYPE_E4M3, TYPE_E5M2};
    for (size_t i = 0; i < sizeof types; i++)
        for (uint64_t b = 0; b < (uint64_t)1 << isa_types[types[i]].bits; b++) {
            double value;
            uint64_t again;
            assert_true(scalar_decode((enum isa_type)types[i], b, &value));
            assert_true(scalar_encode((enum isa_type)types[i], value, &again));
            if (value == value) assert_int_equal(again, b);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dimensions), cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_buffers), cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_wrapping), cmocka_unit_test(test_tail),
        cmocka_unit_test(test_depth_is_bounded), cmocka_unit_test(test_decode_inverts_encode)};
    if (setjmp(memory.edge) != 0) return 1;
    arena_init(&arena, &memory);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_destroy(&arena);
    return failed;
}
