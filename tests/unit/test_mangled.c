// analyzer/launch/sources_mangled: names as compilers of PTX write them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "analyzer/launch/sources_mangled.h"

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

// As `c++filt` gives them, without return types, tags and the blank of `> >`.
static const struct {
    const char *symbol, *text, *plain, *scoped;
    uint32_t types;
} names[] = {
    {"_Z4fillPff", "fill(float*, float)", "fill", "fill", 2},
    {"_Z4nonev", "none()", "none", "none", 0},
    {"_ZN4blas4axpyIfLi4EEEviT_PKS1_PS1_", "blas::axpy<float, 4>(int, float, float const*, float*)",
     "axpy", "blas::axpy", 4},
    {"_Z3addIfEvPT_S1_S1_i", "add<float>(float*, float*, float*, int)", "add", "add", 4},
    {"_ZN12_GLOBAL__N_16kernelEi", "(anonymous namespace)::kernel(int)", "kernel",
     "(anonymous namespace)::kernel", 1},
    {"_Z1fPFvifEPA4_i", "f(void (*)(int, float), int(*)[4])", "f", "f", 2},
    {"_Z1gILb1ELj7ELln2EEvv", "g<true, 7u, -2l>()", "g", "g", 0},
    {"_Z1hIJifdEEvDpT_", "h<int, float, double>(int, float, double)", "h", "h", 1},
    {"_Z1kSt6vectorIiSaIiEE", "k(std::vector<int, std::allocator<int>>)", "k", "k", 1},
    {"_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()(int)", "operator()",
     "main::{lambda(int)#1}::operator()", 1},
    {"_ZN8__main__1fB2v1B4abcdE5ArrayIfLi2E1A7mutable7alignedEx",
     "__main__::f(Array<float, 2, A, mutable, aligned>, long long)", "f", "__main__::f", 2},
    {"_ZN1a12_3clocals_3e1fEi", "a::<locals>::f(int)", "f", "a::<locals>::f", 1},
    {"_Z4vadd13CuDeviceArrayI7Float32Li1ELi1EES1_",
     "vadd(CuDeviceArray<Float32, 1, 1>, CuDeviceArray<Float32, 1, 1>)", "vadd", "vadd", 2},
    {"_Z1fRKDF16_OS_", "f(_Float16 const&, _Float16 const&&)", "f", "f", 2},
    {"_Z1fPVKc.1", "f(char const volatile*)", "f", "f", 1},
};

static void reads_names(void **state) {
    struct arena *arena = &((struct fixture *)*state)->arena;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct mangled_name name;
        if (!mangled_read(str_from(names[i].symbol), arena, &name))
            fail_msg("%s is not read", names[i].symbol);
        if (!str_eq(name.text, str_from(names[i].text)) ||
            !str_eq(name.plain, str_from(names[i].plain)) ||
            !str_eq(name.scoped, str_from(names[i].scoped)) ||
            name.types.n < (names[i].types ? 1u : 0u))
            fail_msg("%s: %.*s, plainly %.*s, scoped %.*s", names[i].symbol, STR_ARG(name.text),
                     STR_ARG(name.plain), STR_ARG(name.scoped));
    }
}

static void refuses_what_is_none(void **state) {
    static const char *const bad[] = {"saxpy", "_Z", "_Z9short", "_ZN3abcE4", "_Z1fT_", "_Z1fS9_",
                                      "_Z1fIXaaE", "_Z1fi!", "_Z0", "_Z99999999999f", "_ZNE"};
    struct arena *arena = &((struct fixture *)*state)->arena;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct mangled_name name;
        if (mangled_read(str_from(bad[i]), arena, &name)) fail_msg("%s was read", bad[i]);
    }
}

// Every prefix of a name ends somehow; doubling by substitution does not take the machine down.
static void is_bounded(void **state) {
    struct fixture *f = *state;
    struct mangled_name name;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (uint32_t n = 0; n < strlen(names[i].symbol); n++)
            mangled_read((struct str){names[i].symbol, n}, &f->arena, &name);
    char doubling[2048] = "_Z1f1aIiE";
    for (int i = 0; i < 200; i++) {
        char step[64];
        static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        snprintf(step, sizeof step, "1aIS%c_S%c_E", digits[i % 36], digits[i % 36]);
        strcat(doubling, step);
    }
    mangled_read(str_from(doubling), &f->arena, &name);
    char deep[4000];
    memset(deep, 'P', sizeof deep);
    memcpy(deep, "_Z1f", 4);
    assert_false(mangled_read((struct str){deep, sizeof deep}, &f->arena, &name));
    assert_true(f->memory.peak < 4u << 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_names),
        cmocka_unit_test(refuses_what_is_none),
        cmocka_unit_test(is_bounded),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
