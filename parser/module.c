#include "parser/module.h"

uint32_t variable_element_size(const struct variable *variable) {
    return (isa_types[variable->type].bits + 7u) / 8u * variable->vec;
}

uint32_t variable_align(const struct variable *variable) {
    uint32_t natural = variable_element_size(variable);
    if (natural == 0) natural = 1;
    return variable->align != 0 ? variable->align : natural;
}

bool variable_size(const struct variable *variable, uint64_t *bytes) {
    uint64_t size;
    if (__builtin_mul_overflow(variable->count, (uint64_t)variable_element_size(variable), &size))
        return false;
    *bytes = size;
    return true;
}

const struct directive_use *function_directive(const struct function *function,
                                               enum directive directive) {
    for (uint32_t i = 0; i < function->directives.n; i++)
        if (function->directives.at[i].directive == directive) return &function->directives.at[i];
    return NULL;
}
