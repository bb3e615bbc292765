// Parameters of an entry: layout, kind, and which of them a compiler added on its own.
#include "analyzer/facts/parts.h"
#include "base/checked.h"
#include "isa/gpus.h"
#include "isa/floor.h"

// A CUtensorMap by value: 128 bytes, aligned to 64 (to 128 from CUDA 13's headers on).
enum { TENSORMAP_BYTES = 128, TENSORMAP_ALIGN = 64 };

static enum param_kind declared_kind(const struct variable *variable, uint64_t size) {
    if (isa_types[variable->type].class == TYPE_CLASS_O) return PARAM_OPAQUE;
    if (variable->is_ptr) return PARAM_POINTER;
    if (!variable->is_array && variable->vec <= 1) return PARAM_SCALAR;
    if (size == TENSORMAP_BYTES && variable_align(variable) >= TENSORMAP_ALIGN)
        return PARAM_TENSORMAP;
    return PARAM_BYTES;
}

void facts_layout_params(struct kernel *kernel, uint32_t capability) {
    const struct gpu_limits *limits = isa_limits_find(capability);
    uint64_t base = limits == NULL ? 0 : limits->param_base, at = base;
    for (uint32_t i = 0; i < kernel->params.n; i++) {
        struct kernel_param *param = &kernel->params.at[i];
        uint64_t offset = at, end = at;
        align_u64(at, param->align, &offset);
        add_u64(offset, param->size, &end);
        param->offset = offset - base;
        at = end;
    }
    kernel->param_bytes = at - base;
}

void facts_params(struct module *module, struct kernel *kernel, struct arena *arena) {
    const struct function *decl = kernel->decl;
    for (uint32_t i = 0; i < decl->param_count; i++) {
        const struct variable *variable = &decl->variables.at[decl->return_count + i];
        struct kernel_param *param = vec_push(arena, &kernel->params);
        param->index = i;
        param->variable = variable;
        param->name = module_name(module, variable->name);
        param->align = variable_align(variable);
        if (param->align == 0) param->align = 1;
        if (!variable_size(variable, &param->size)) param->size = 0;
        param->kind = (uint8_t)declared_kind(variable, param->size);
        param->space = variable->ptr_space;
    }
    facts_layout_params(kernel, isa_target_parse(module->target).number);
}

static bool is_scratch_shape(const struct kernel_param *param) {
    return param->kind == PARAM_POINTER && param->size == 8 &&
           param->variable->ptr_space == SPACE_GLOBAL && param->variable->ptr_align <= 1;
}

// Triton adds one pointer (3.3, 3.4) or two (since 3.5) behind the user's parameters; its metadata
// says how many. Without it: a trailing pointer that is never read is one of them, since a scratch
// buffer is read exactly where it is needed. A user's pointer that goes unread looks the same;
// passing null for it is as right.
void facts_hidden_params(const struct module_facts *facts, struct kernel *kernel) {
    if (facts->generator != GENERATOR_TRITON || !kernel->has_reqntid || !kernel->bodies_known) return;
    uint32_t n = kernel->params.n, hidden = 0;
    while (hidden < 2 && hidden < n) {
        const struct kernel_param *param = &kernel->params.at[n - 1 - hidden];
        if (!is_scratch_shape(param) || param->read) break;
        hidden++;
    }
    static const struct { const char *text; uint32_t len; } what[] = {
        {"Triton global scratch", 21}, {"Triton profile scratch", 22}};
    for (uint32_t i = 0; i < hidden; i++) {
        struct kernel_param *param = &kernel->params.at[n - hidden + i];
        param->role = PARAM_HIDDEN;
        param->what = (struct str){what[i].text, what[i].len};
    }
}
