// What an entry reaches through calls, and where static shared memory lies because of it.
#include "analyzer/facts/parts.h"
#include "base/checked.h"

#include <stdlib.h>

static bool has_body(const struct function *function) {
    return function->kind != FUNCTION_PROTOTYPE && function->has_body;
}

static void definitions(struct reach_module *out) {
    const struct module *module = out->module;
    uint32_t n = module->functions.n, names = module->names.texts.n;
    uint32_t *defined = arena_array(out->arena, uint32_t, names);
    uint32_t *first = arena_array(out->arena, uint32_t, names);
    for (uint32_t i = 0; i < names; i++) defined[i] = first[i] = NO_INDEX;
    for (uint32_t i = 0; i < n; i++) {
        const struct function *function = &module->functions.at[i];
        if (function->kind == FUNCTION_PROTOTYPE) continue;
        if (first[function->name] == NO_INDEX) first[function->name] = i;
        if (has_body(function) && defined[function->name] == NO_INDEX) defined[function->name] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct function *function = &module->functions.at[i];
        bool named = function->kind != FUNCTION_PROTOTYPE && function->name != 0;
        out->definition[i] = named && defined[function->name] != NO_INDEX ? defined[function->name] : i;
        out->rank[i] = named ? first[function->name] : i;
    }
}

static bool is_call(const struct module *module, const struct instruction *instruction) {
    return module->forms.at[instruction->form].opcode == OP_call;
}

static void take_address(struct reach_module *out, uint32_t function) {
    function = out->definition[function];
    if (out->address_marked[function]) return;
    out->address_marked[function] = true;
    *vec_push(out->arena, &out->address_taken) = function;
}

// The callee of a call is a FUNC operand; any other FUNC is an address.
static void body_addresses(struct reach_module *out, const struct body *body) {
    for (uint32_t i = 0; i < body->instructions.n; i++) {
        const struct instruction *instruction = &body->instructions.at[i];
        if (is_call(out->module, instruction)) continue;
        for (uint32_t o = 0; o < instruction->operand_count; o++) {
            const struct operand *operand = &body->operands.at[instruction->operand_first + o];
            if (operand->kind == OPERAND_FUNC) take_address(out, operand->function);
        }
    }
}

static void initialiser_addresses(struct reach_module *out) {
    const struct module *module = out->module;
    uint32_t *by_name = arena_array(out->arena, uint32_t, module->names.texts.n);
    for (uint32_t i = 0; i < module->functions.n; i++)
        if (module->functions.at[i].kind != FUNCTION_PROTOTYPE)
            by_name[module->functions.at[i].name] = i + 1;
    for (uint32_t i = 0; i < module->inits.n; i++) {
        const struct init_value *value = &module->inits.at[i];
        if (value->kind == INIT_SYMBOL && by_name[value->symbol] != 0)
            take_address(out, by_name[value->symbol] - 1);
    }
}

static bool is_shared(const struct variable *variable) {
    return variable->space == SPACE_SHARED || variable->space == SPACE_SHARED_CTA;
}

// Every unsized array of the module aligns the end of static memory, whether the kernel names it
// or not, and each to 16 bytes at least (measured with ptxas 13.0 and driver 580).
static void dynamic_arrays(struct reach_module *out) {
    out->dynamic_align = 16;
    for (uint32_t i = 0; i < out->module->variables.n; i++) {
        const struct variable *variable = &out->module->variables.at[i];
        if (!is_shared(variable) || !variable->unsized) continue;
        out->any_dynamic = true;
        if (variable_align(variable) > out->dynamic_align)
            out->dynamic_align = variable_align(variable);
    }
}

struct scan {
    struct reach_module *out;
    struct function_uses *uses;
    bool *own_used;   // by index of the function's variables
};

// Each name is kept once: stamps of a scan of their own.
static void scan_operand(struct scan *scan, const struct operand *operand) {
    struct reach_module *out = scan->out;
    if (operand->kind == OPERAND_FUNC) {
        uint32_t callee = out->definition[operand->function];
        if (out->function_stamp[callee] == out->stamp) return;
        out->function_stamp[callee] = out->stamp;
        *vec_push(out->arena, &scan->uses->callees) = callee;
    } else if (operand->kind == OPERAND_VAR && operand->var != VAR_NONE) {
        if (operand->var & VAR_LOCAL) {
            scan->own_used[operand->var & ~VAR_LOCAL] = true;
            return;
        }
        if (out->variable_stamp[operand->var] == out->stamp) return;
        out->variable_stamp[operand->var] = out->stamp;
        *vec_push(out->arena, &scan->uses->variables) = operand->var;
    }
}

static bool calls_by_name(const struct body *body, const struct instruction *instruction) {
    for (uint32_t o = 0; o < instruction->operand_count; o++)
        if (body->operands.at[instruction->operand_first + o].kind == OPERAND_FUNC) return true;
    return false;
}

static void scan_body(struct scan *scan, const struct body *body) {
    for (uint32_t i = 0; i < body->operands.n; i++) scan_operand(scan, &body->operands.at[i]);
    for (uint32_t i = 0; i < body->elements.n; i++) scan_operand(scan, &body->elements.at[i]);
    for (uint32_t i = 0; i < body->instructions.n; i++) {
        const struct instruction *instruction = &body->instructions.at[i];
        if (is_call(scan->out->module, instruction) && !calls_by_name(body, instruction))
            scan->uses->indirect = true;
    }
}

static void scan_variables(struct scan *scan, const struct function *function) {
    struct arena *arena = scan->out->arena;
    for (uint32_t i = 0; i < function->variables.n; i++) {
        const struct variable *variable = &function->variables.at[i];
        uint64_t size;
        if (is_shared(variable) && !variable->unsized)
            *vec_push(arena, scan->own_used[i] ? &scan->uses->shared_used
                                               : &scan->uses->shared_unused) = i;
        // What is never named takes no room in the frame.
        if (variable->space == SPACE_LOCAL && scan->own_used[i] && variable_size(variable, &size)) {
            align_u64(scan->uses->local_bytes, variable_align(variable), &scan->uses->local_bytes);
            add_u64(scan->uses->local_bytes, size, &scan->uses->local_bytes);
        }
    }
}

static void gather_uses(struct reach_module *out, uint32_t index) {
    struct function_uses *uses = &out->uses[index];
    const struct function *function = &out->module->functions.at[index];
    struct scan scan = {out, uses, arena_array(out->arena, bool, function->variables.n)};
    out->stamp++;
    if (function->body != NULL) scan_body(&scan, function->body);
    scan_variables(&scan, function);
}

void reach_module_init(struct reach_module *out, struct module *module, struct arena *arena) {
    uint32_t n = module->functions.n;
    *out = (struct reach_module){.module = module, .arena = arena};
    out->definition = arena_array(arena, uint32_t, n);
    out->rank = arena_array(arena, uint32_t, n);
    out->address_marked = arena_array(arena, bool, n);
    out->uses = arena_array(arena, struct function_uses, n);
    out->function_stamp = arena_array(arena, uint32_t, n);
    out->variable_stamp = arena_array(arena, uint32_t, module->variables.n);
    definitions(out);
    initialiser_addresses(out);
    for (uint32_t i = 0; i < n; i++)
        if (module->functions.at[i].body != NULL) body_addresses(out, module->functions.at[i].body);
    dynamic_arrays(out);
    for (uint32_t i = 0; i < n; i++) gather_uses(out, i);
}

static int by_value(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

struct ranked { uint32_t rank, function; };

static int by_rank(const void *a, const void *b) {
    return by_value(&((const struct ranked *)a)->rank, &((const struct ranked *)b)->rank);
}

// All but the entry, by declaration.
static void sort_functions(const struct reach_module *out, index_list *list) {
    if (list->n < 3) return;
    uint32_t n = list->n - 1;
    struct ranked *keys = arena_array(out->arena, struct ranked, n);
    for (uint32_t i = 0; i < n; i++)
        keys[i] = (struct ranked){out->rank[list->at[i + 1]], list->at[i + 1]};
    qsort(keys, n, sizeof *keys, by_rank);
    for (uint32_t i = 0; i < n; i++) list->at[i + 1] = keys[i].function;
}

static void body_state(const struct function *function, struct reach *reach) {
    if (function->body == NULL && function->has_body) reach->bodies_known = false;
    else if (function->body == NULL) reach->calls_unknown = true;
    else if (function->body->truncated) reach->bodies_known = false;
}

static void reach_list(struct reach_module *out, struct reach *reach, const index_list *list) {
    for (uint32_t i = 0; i < list->n; i++) {
        if (out->function_stamp[list->at[i]] == out->stamp) continue;
        out->function_stamp[list->at[i]] = out->stamp;
        *vec_push(out->arena, &reach->functions) = list->at[i];
    }
}

void reach_compute(struct reach_module *out, uint32_t entry, struct reach *reach) {
    *reach = (struct reach){.bodies_known = true};
    uint32_t stamp = ++out->stamp;
    out->function_stamp[entry] = stamp;
    *vec_push(out->arena, &reach->functions) = entry;
    for (uint32_t i = 0; i < reach->functions.n; i++) {
        uint32_t index = reach->functions.at[i];
        const struct function_uses *uses = &out->uses[index];
        body_state(&out->module->functions.at[index], reach);
        reach_list(out, reach, &uses->callees);
        if (uses->indirect) {
            reach->calls_unknown = true;
            reach_list(out, reach, &out->address_taken);
        }
        for (uint32_t v = 0; v < uses->variables.n; v++) {
            if (out->variable_stamp[uses->variables.at[v]] == stamp) continue;
            out->variable_stamp[uses->variables.at[v]] = stamp;
            *vec_push(out->arena, &reach->variables) = uses->variables.at[v];
        }
    }
    sort_functions(out, &reach->functions);
    if (reach->variables.n > 1)
        qsort(reach->variables.at, reach->variables.n, sizeof *reach->variables.at, by_value);
}

static void place(struct shared_layout *layout, struct arena *arena,
                  const struct variable *variable) {
    uint64_t offset = layout->end, size = 0, end;
    uint32_t align = variable_align(variable);
    if (!variable_size(variable, &size)) size = 0;
    if (!align_u64(layout->end, align == 0 ? 1 : align, &offset) || !add_u64(offset, size, &end)) return;
    *vec_push(arena, &layout->places) = (struct shared_place){variable, offset};
    layout->end = end;
}

static void place_own(const struct reach_module *out, uint32_t function, bool used,
                      struct shared_layout *layout) {
    const struct function_uses *uses = &out->uses[function];
    const index_list *list = used ? &uses->shared_used : &uses->shared_unused;
    for (uint32_t i = 0; i < list->n; i++)
        place(layout, out->arena, &out->module->functions.at[function].variables.at[list->at[i]]);
}

void reach_layout(const struct reach_module *out, const struct reach *reach,
                  struct shared_layout *layout) {
    *layout = (struct shared_layout){.end = 0};
    place_own(out, reach->functions.at[0], true, layout);
    for (uint32_t i = 0; i < reach->variables.n; i++) {
        const struct variable *variable = &out->module->variables.at[reach->variables.at[i]];
        if (is_shared(variable) && !variable->unsized) place(layout, out->arena, variable);
    }
    for (uint32_t i = 1; i < reach->functions.n; i++)
        place_own(out, reach->functions.at[i], true, layout);
    for (uint32_t i = 0; i < reach->functions.n; i++)
        place_own(out, reach->functions.at[i], false, layout);
    layout->reported = layout->end;
    if (out->any_dynamic && layout->end > 0)
        align_u64(layout->end, out->dynamic_align, &layout->reported);
}

uint64_t facts_dynamic_offset(const struct shared_layout *layout, const struct variable *array) {
    uint64_t align = variable_align(array) > 16 ? variable_align(array) : 16, offset = layout->end;
    align_u64(layout->end, align, &offset);
    return offset;
}

void facts_shared_layout(struct module *module, uint32_t function, struct arena *arena,
                         struct shared_layout *layout) {
    struct reach_module shared;
    struct reach reach;
    reach_module_init(&shared, module, arena);
    reach_compute(&shared, function, &reach);
    reach_layout(&shared, &reach, layout);
}
