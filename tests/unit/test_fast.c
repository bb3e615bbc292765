// The fast reader of bodies and the plain one give the same module and the same findings, for whole
// files, for files cut anywhere and for files with bytes changed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "parser/parser.h"

struct reading {
    struct memory memory;
    struct arena arena;
    struct source source;
    struct findings findings;
    struct module *module;
};

static void read_text(struct reading *r, const char *text, uint32_t size, bool plain) {
    struct parse_options options = {.plain = plain};
    memset(r, 0, sizeof *r);
    if (setjmp(r->memory.edge)) fail_msg("memory");
    arena_init(&r->arena, &r->memory);
    source_init(&r->source, &r->arena, STR("text"), text, size);
    findings_init(&r->findings, &r->arena, 0);
    enum parse_status status = parse_module(&r->source, &r->arena, &r->arena, &options, &r->findings,
                                            &r->module);
    assert_int_not_equal(status, PARSE_INTERNAL);
}

static const struct module *left, *right;  // what is compared: ids of names differ between them

static bool same_name(name_id a, name_id b) {
    return str_eq(names_text(&left->names, a), names_text(&right->names, b));
}

static bool same_operand(const struct operand *a, const struct operand *b) {
    return a->kind == b->kind && a->flags == b->flags && a->component == b->component &&
           a->hex == b->hex && a->offset == b->offset && a->end == b->end &&
           (a->kind == OPERAND_NAME ? same_name(a->name, b->name) : a->var == b->var) &&
           a->number == b->number && a->count == b->count && a->value == b->value;
}

static bool same_instruction(const struct instruction *a, const struct instruction *b) {
    return a->offset == b->offset && a->opcode_end == b->opcode_end && a->end == b->end &&
           a->form == b->form && a->operand_first == b->operand_first &&
           a->operand_count == b->operand_count && a->guard == b->guard &&
           a->vector_misplaced == b->vector_misplaced && a->guard_operand == b->guard_operand &&
           a->loc == b->loc && a->scope == b->scope;
}

static bool same_label(const struct label *a, const struct label *b) {
    return same_name(a->name, b->name) && a->offset == b->offset && a->instruction == b->instruction &&
           a->scope == b->scope && a->kind == b->kind && a->list == b->list;
}

static bool same_loc(const struct loc *a, const struct loc *b) {
    return a->offset == b->offset && a->file == b->file && a->line == b->line &&
           a->column == b->column && a->inlined_file == b->inlined_file;
}

#define SAME_ALL(a, b, field, same)                                                   \
    do {                                                                              \
        assert_int_equal((a)->field.n, (b)->field.n);                                 \
        for (uint32_t i = 0; i < (a)->field.n; i++)                                   \
            assert_true(same(&(a)->field.at[i], &(b)->field.at[i]));                  \
    } while (0)

static void compare_bodies(const struct body *a, const struct body *b) {
    assert_true((a == NULL) == (b == NULL));
    if (a == NULL) return;
    SAME_ALL(a, b, instructions, same_instruction);
    SAME_ALL(a, b, operands, same_operand);
    SAME_ALL(a, b, elements, same_operand);
    SAME_ALL(a, b, labels, same_label);
    SAME_ALL(a, b, locs, same_loc);
    assert_int_equal(a->scope_count, b->scope_count);
    assert_int_equal(a->truncated, b->truncated);
}

static bool same_finding(struct finding *const *a, struct finding *const *b) {
    return (*a)->rule == (*b)->rule && (*a)->place.span.begin == (*b)->place.span.begin &&
           (*a)->place.span.end == (*b)->place.span.end && str_eq((*a)->message, (*b)->message);
}

static void compare(const char *text, uint32_t size) {
    static struct reading fast, plain;
    read_text(&fast, text, size, false);
    read_text(&plain, text, size, true);
    const struct module *a = left = fast.module, *b = right = plain.module;
    assert_int_equal(a->functions.n, b->functions.n);
    assert_int_equal(a->forms.n, b->forms.n);
    for (uint32_t i = 0; i < a->functions.n; i++) {
        assert_int_equal(a->functions.at[i].variables.n, b->functions.at[i].variables.n);
        assert_int_equal(a->functions.at[i].body_span.end, b->functions.at[i].body_span.end);
        compare_bodies(a->functions.at[i].body, b->functions.at[i].body);
    }
    SAME_ALL(&fast.findings, &plain.findings, list, same_finding);
    arena_destroy(&fast.arena);
    arena_destroy(&plain.arena);
}

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

// Changes, removes or doubles a few bytes.
static uint32_t mutate(char *text, uint32_t size, uint32_t *seed) {
    static const char bytes[] = ";,[]{}()@!|%$_.:/\"\n -+0129afx\x80";
    for (uint32_t i = next_random(seed) % 4; i < 4; i++) {
        uint32_t at = next_random(seed) % size, length = next_random(seed) % 40;
        if (at + length >= size) length = size - at;
        switch (next_random(seed) % 3) {
        case 0: text[at] = bytes[next_random(seed) % (sizeof bytes - 1)]; break;
        case 1:
            memmove(text + at, text + at + length, size - at - length);
            size -= length;
            if (size == 0) return 0;
            break;
        default:
            memmove(text + at + length, text + at, size - at);
            size += length;
        }
    }
    text[size] = '\0';
    return size;
}

static void compare_file(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 300000), *copy = calloc(1, 301000);
    uint32_t size = (uint32_t)fread(text, 1, 200000, file), seed = size;
    fclose(file);
    compare(text, size);
    for (int i = 0; i < 12 && size > 0; i++) {
        memcpy(copy, text, size);
        uint32_t length = mutate(copy, size, &seed);
        compare(copy, length);
        memcpy(copy, text, size);
        length = next_random(&seed) % size;
        copy[length] = '\0';
        compare(copy, length);
    }
    free(text);
    free(copy);
}

static int compare_files(const char *pattern) {
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0) return 0;
    for (size_t i = 0; i < found.gl_pathc; i++) compare_file(found.gl_pathv[i]);
    int count = (int)found.gl_pathc;
    globfree(&found);
    return count;
}

static void test_corpus(void **state) {
    (void)state;
    int count = compare_files(PTXVET_SOURCE_DIR "/corpus/*/*.ptx") +
                compare_files(PTXVET_SOURCE_DIR "/corpus/*/*/*.ptx");
    const char *shared = getenv("PTXVET_SHARED");
    char pattern[4096];
    static const char *const more[] = {"isa_bases/*.ptx", "exported/*/*.ptx"};
    for (int i = 0; i < 2 && shared != NULL; i++) {
        snprintf(pattern, sizeof pattern, "%s/ptx/%s", shared, more[i]);
        count += compare_files(pattern);
    }
    printf("%d files read both ways\n", count);
    assert_true(count > 0);
}

// One statement each, in the shapes that the fast reader takes and the ones next to them.
static void test_statements(void **state) {
    (void)state;
    static const char *const statements[] = {
        "add.s32 %r1, %r2, %r3;", "add.s32 %r1,%r2,-3;", "add.s32 %r1, %r2, --3;", "add.s32 %r1, %r2, 3U;",
        "add.s32 %r01, %r2, 010;", "add.s32 %r1, %r2, 08;", "add.s32 %r1, %r2, 0;", "add.s32 %r1, %r9, 0;",
        "add.s32 %r1, %q9, 0;", "@%p1 bra L;", "@!%p1 bra L;", "@%p9 bra L;", "@ %p1 bra L;", "L: ret;",
        "bra L; L:", "bra.uni L;", "mov.u32 %r1, %tid.x;", "mov.u32 %r1, %tid.q;", "mov.u32 %r1, %tid .x;",
        "mov.u32 %r1, %tid.xy;", "mov.u32 %r1, WARP_SZ;", "mov.u32 %r1, _;", "mov.f32 %r1, 0f3F800000;",
        "mov.f32 %r1, 0f3F80000;", "mov.f32 %r1, 0f3F8000000;", "mov.f32 %r1, 0fffc00000;",
        "mov.f64 %rd1, 0d3FF0000000000000;", "mov.f32 %r1, 1.0;", "mov.u32 %r1, 4+4;", "mov.u32 %r1, g+4;",
        "mov.u64 %rd1, g[1];", "ld.global.u32 %r1, [%rd1];", "ld.global.u32 %r1, [%rd1+4];",
        "ld.global.u32 %r1, [ %rd1 + 4 ];", "ld.global.u32 %r1, [%rd1+-4];", "ld.global.u32 %r1, [%rd1-4];",
        "ld.global.u32 %r1, [%rd1+4+4];", "ld.global.u32 %r1, [g+4];", "ld.global.u32 %r1, [8];",
        "ld.global.u32 %r1, [%rd1].unified;", "ld.global.u32 %r1, [%rd1", "ld.global.u32 %r1, g[1];",
        "mov.b64 %rd1, {%r1, %r2};", "mov.b64 %rd1, {%r1, %r2;", "mov.b64 %rd1, {%r1 , 4};", "mov.b64 {%r1,_}, %rd1;",
        "setp.eq.s32 %p1|%p2, %r1, %r2;", "ret", "ret;;", "ret; // x\n", "ret; // \x80\n", "ret; /* x */",
        ".loc 1 2 3", ".loc 1 2", ".loc 1 2 3 4", ".loc\t1 2 3 // x\n", ".loc 1 2 3, function_name L, inlined_at 1 2 3",
        ".loc 1 2 3\n, function_name L, inlined_at 1 2 3", "{ ret; }", "{ .reg .b64 %r<3>; mov.u64 %r1, 5; } mov.u32 %r1, 5;",
        "{ L: bra L; }", "L: L: ret;", "%L: bra %L;", "$: ret;", "L::x ret;", "L:\n.branchtargets M; M:", "L: .loc 1 1 1\n",
        "add .s32 %r1, %r2, 5;", "add.s32\n%r1,\n%r2, 5;", "add.s32 %r1, %r2, 5\nret;", "add.s32%r1,%r2,5;",
        "add.s32 %r1, %r2, 99999999999999999999;", "add.s32 %r1, %r2, 123456789012345;", "add.s32 %r1, %r2, 1234567890123456;",
        "call (%r1), f, (%r2);", "prmt.b32 %r1, %r2, %r3, 0x5410;", ".reg .b32 %r1;", "\x1a ret;", "ret;\r\nret;\r\n"};
    char text[4096];
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        const char *one = statements[i];
        // Thrice: opcodes are known to the fast reader only when they were met before.
        int size = snprintf(text, sizeof text,
                            ".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 g[4];\n.entry k()\n{\n"
                            "\t.reg .b32 %%r<5>;\n\t.reg .b64 %%rd<3>; .reg .pred %%p<3>;\n\t{ %s\n\t}\n\t{ %s\n\t}\n\t"
                            "ret;\n%s\nret;\n}\n// ........................................................\n",
                            one, one, one);
        compare(text, (uint32_t)size);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_statements), cmocka_unit_test(test_corpus)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
