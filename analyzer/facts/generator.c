// Where a text comes from, by what it says itself and by the names that its compiler gives.
#include "analyzer/facts/parts.h"

static bool contains(struct str text, const char *part) {
    return text.len > 0 && memmem(text.data, text.len, part, strlen(part)) != NULL;
}

// What follows `marker` up to the end of its line or a comma.
static struct str after(struct str text, const char *marker) {
    const char *at = text.len > 0 ? memmem(text.data, text.len, marker, strlen(marker)) : NULL;
    if (at == NULL) return (struct str){NULL, 0};
    at += strlen(marker);
    uint32_t left = (uint32_t)(text.data + text.len - at), n = 0;
    while (n < left && at[n] != '\n' && at[n] != '\r' && at[n] != ',') n++;
    return (struct str){at, n};
}

static bool any_function(const struct module *module, bool (*test)(struct str name)) {
    for (uint32_t i = 0; i < module->functions.n; i++)
        if (test(module_name(module, module->functions.at[i].name))) return true;
    return false;
}

static bool any_variable(const struct module *module, const char *part) {
    for (uint32_t i = 0; i < module->variables.n; i++)
        if (contains(module_name(module, module->variables.at[i].name), part)) return true;
    return false;
}

static bool is_numba_name(struct str name) {
    return contains(name, "_3clocals_3e") || contains(name, "cudapy") ||
           (str_starts(name, STR("_ZN")) && contains(name, "B2v")) || contains(name, "numba");
}

static bool is_cupy_name(struct str name) { return str_starts(name, STR("cupy_")); }

static bool is_julia_name(struct str name) {
    return contains(name, "julia_") || str_starts(name, STR("gpu_report_exception")) ||
           str_starts(name, STR("ptxcall_"));
}

static bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// `..17h0123456789abcdefE`: a Rust symbol's hash; or the newer scheme, `_R`.
static bool is_rust_name(struct str name) {
    if (str_starts(name, STR("_RN"))) return true;
    const char *at = name.len > 20 ? memmem(name.data, name.len, "17h", 3) : NULL;
    if (at == NULL || name.data + name.len - at < 20 || at[19] != 'E') return false;
    for (int i = 3; i < 19; i++)
        if (!is_hex(at[i])) return false;
    return true;
}

static bool is_xla_name(struct str name) {
    static const char *const parts[] = {"loop_", "input_", "wrapped_"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (str_starts(name, str_from(parts[i])) &&
            (i == 2 || contains(name, "fusion")))
            return true;
    return str_starts(name, STR("fusion_")) || str_starts(name, STR("gemm_fusion")) ||
           contains(name, "_fusion");
}

// Triton's entries state the exact block, take `.ptr .global .align 1` pointers (since 3.2), name
// dynamic shared memory `global_smem`, and carry `.loc` lines of a Python file.
static bool looks_like_triton(const struct module *module) {
    if (any_variable(module, "global_smem")) return true;
    bool python = false, shape = false;
    for (uint32_t i = 0; i < module->files.n; i++)
        python |= str_ends(module->files.at[i].name, STR(".py"));
    for (uint32_t i = 0; i < module->functions.n && !shape; i++) {
        const struct function *function = &module->functions.at[i];
        if (function->kind != FUNCTION_ENTRY || function->param_count == 0) continue;
        const struct variable *first = &function->variables.at[function->return_count];
        const struct directive_use *block = function_directive(function, DIRECTIVE_REQNTID);
        if (block == NULL) block = function_directive(function, DIRECTIVE_MAXNTID);
        bool one_axis = block != NULL && block->values[0] % 32 == 0 && block->values[1] <= 1;
        shape = one_axis && ((first->is_ptr && first->ptr_space == SPACE_GLOBAL &&
                              first->ptr_align == 1) || python);
    }
    return shape;
}

static enum generator llvm_generator(const struct module *module) {
    if (any_function(module, is_rust_name)) return GENERATOR_RUST;
    if (any_function(module, is_julia_name)) return GENERATOR_JULIA;
    if (any_function(module, is_xla_name) && !any_variable(module, "global_smem"))
        return GENERATOR_XLA;
    if (looks_like_triton(module)) return GENERATOR_TRITON;
    for (uint32_t i = 0; i < module->functions.n; i++)
        if (str_starts(module_name(module, module->functions.at[i].name), STR("_Z")))
            return GENERATOR_CLANG;
    return GENERATOR_LLVM;
}

static enum generator nvvm_generator(const struct module *module) {
    if (any_function(module, is_numba_name)) return GENERATOR_NUMBA;
    if (any_function(module, is_cupy_name)) return GENERATOR_CUPY;
    if (any_function(module, is_rust_name)) return GENERATOR_RUST;
    return GENERATOR_NVVM;
}

void facts_generator(struct module_facts *facts, struct arena *arena) {
    const struct module *module = facts->module;
    struct str comment = module->first_comment, cuda = after(comment, "tools, release ");
    struct str nvvm = after(comment, "Based on NVVM ");
    if (nvvm.len == 0) nvvm = after(comment, "Based on LLVM ");
    if (contains(comment, "NVVM Compiler")) facts->generator = (uint8_t)nvvm_generator(module);
    else if (contains(comment, "LLVM NVPTX")) facts->generator = (uint8_t)llvm_generator(module);
    else if (looks_like_triton(module) && any_variable(module, "global_smem"))
        facts->generator = GENERATOR_TRITON;
    if (facts->generator == GENERATOR_UNKNOWN) return;
    const char *name = generator_name((enum generator)facts->generator);
    if (facts->generator == GENERATOR_NVVM && nvvm.len > 0)
        facts->generator_text = str_format(arena, "NVVM %.*s", STR_ARG(nvvm));
    else facts->generator_text = str_format(arena, "%s", name);
    if (cuda.len > 0)
        facts->generator_text = str_format(arena, "%.*s (CUDA %.*s)",
                                           STR_ARG(facts->generator_text), STR_ARG(cuda));
}
