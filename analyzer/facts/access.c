// Which parameters an entry's addresses come from, and what is done at them.
//
// A flow-insensitive graph over registers and .param variables of all reached functions: an edge
// says that a value reaches another as an address does, by copying, adding and choosing. Values of
// the entry's parameters are pushed along it; each address then names its parameters. Scaling
// (mul, shl) ends a value: what is scaled is an index.
#include "analyzer/facts/parts.h"

enum { MAX_WORDS = 8 };

struct edge {
    uint32_t from, to;
    bool loads;   // what `from` points to reaches `to`: parameters whose address was taken
};

struct node_key {
    uint32_t function, variable, number;
    uint32_t node;  // plus one; 0: free
};

struct graph {
    const struct module *module;
    const struct reach_module *shared;
    struct kernel *kernel;
    struct arena *arena;
    struct node_key *keys;
    uint32_t key_slots, nodes;
    VEC_OF(struct edge) edges;
    uint32_t *edge_of, *edge_list;    // edges by their `from`, in one array
    uint32_t words;                   // of a set
    uint64_t *values, *addresses;     // sets by node: values of parameters, their addresses
    VEC_OF(struct edge) seeds;        // from: parameter; loads: its address
    VEC_OF(uint32_t) escapes;         // nodes whose value goes where it is not followed
    uint64_t strong[MAX_WORDS];       // parameters that are certainly pointers
    uint64_t escaped[MAX_WORDS];
};

static uint32_t key_hash(uint32_t function, uint32_t variable, uint32_t number) {
    uint64_t hash = ((uint64_t)function << 32 | variable) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ number) * 0xff51afd7ed558ccdu;
    return (uint32_t)(hash >> 32);
}

static void insert_key(struct graph *graph, struct node_key key) {
    uint32_t mask = graph->key_slots - 1;
    uint32_t slot = key_hash(key.function, key.variable, key.number) & mask;
    while (graph->keys[slot].node != 0) slot = (slot + 1) & mask;
    graph->keys[slot] = key;
}

static void widen_keys(struct graph *graph) {
    struct node_key *old = graph->keys;
    uint32_t old_slots = graph->key_slots;
    graph->key_slots = old_slots == 0 ? 1024 : old_slots * 2;
    graph->keys = arena_array(graph->arena, struct node_key, graph->key_slots);
    for (uint32_t i = 0; i < old_slots; i++)
        if (old[i].node != 0) insert_key(graph, old[i]);
}

static uint32_t node_of(struct graph *graph, uint32_t function, uint32_t variable, uint32_t number) {
    if (graph->nodes >= graph->key_slots / 2) widen_keys(graph);
    uint32_t mask = graph->key_slots - 1, slot = key_hash(function, variable, number) & mask;
    for (; graph->keys[slot].node != 0; slot = (slot + 1) & mask) {
        const struct node_key *key = &graph->keys[slot];
        if (key->function == function && key->variable == variable && key->number == number)
            return key->node - 1;
    }
    graph->keys[slot] = (struct node_key){function, variable, number, ++graph->nodes};
    return graph->nodes - 1;
}

// The node of a register, or NO_INDEX. Registers may be declared at module scope.
static uint32_t register_node(struct graph *graph, uint32_t function, const struct operand *operand) {
    if (operand->kind != OPERAND_REG) return NO_INDEX;
    bool own = (operand->var & VAR_LOCAL) != 0;
    return node_of(graph, own ? function : NO_INDEX, operand->var, operand->number);
}

static void add_edge(struct graph *graph, uint32_t from, uint32_t to, bool loads) {
    if (from == NO_INDEX || to == NO_INDEX) return;
    *vec_push(graph->arena, &graph->edges) = (struct edge){from, to, loads};
}

struct at {
    struct graph *graph;
    uint32_t function;
    const struct body *body;
    const struct instruction *instruction;
    const struct isa_form *form;
};

static const struct operand *operand_at(const struct at *at, uint32_t i) {
    return i < at->instruction->operand_count
               ? &at->body->operands.at[at->instruction->operand_first + i] : NULL;
}

static bool is_entry(const struct at *at) { return at->function == at->graph->kernel->function; }

// The entry parameter that an operand names, or NO_INDEX.
static uint32_t entry_param(const struct at *at, const struct operand *operand) {
    const struct function *decl = at->graph->kernel->decl;
    if (!is_entry(at) || operand->kind != OPERAND_VAR || !(operand->var & VAR_LOCAL)) return NO_INDEX;
    uint32_t variable = operand->var & ~VAR_LOCAL;
    if (variable < decl->return_count || variable >= decl->return_count + decl->param_count)
        return NO_INDEX;
    return variable - decl->return_count;
}

typedef void visit(struct at *at, const struct operand *operand, uint32_t to);

// Calls `fn` for an operand or for each element of a vector, list or pair.
static void each_value(struct at *at, const struct operand *operand, uint32_t to, visit *fn) {
    bool many = operand->kind == OPERAND_VECTOR || operand->kind == OPERAND_PAIR ||
                operand->kind == OPERAND_LIST;
    if (!many) fn(at, operand, to);
    for (uint32_t i = 0; many && i < operand->count; i++)
        fn(at, &at->body->elements.at[operand->first + i], to);
}

static void seed(struct at *at, uint32_t param, bool address, uint32_t to) {
    if (to == NO_INDEX) return;
    *vec_push(at->graph->arena, &at->graph->seeds) = (struct edge){param, to, address};
}

// A value into the node `to`: a register, or the address of a parameter.
static void value_into(struct at *at, const struct operand *operand, uint32_t to) {
    uint32_t param = entry_param(at, operand);
    if (param != NO_INDEX) seed(at, param, true, to);
    else if (operand->kind == OPERAND_VAR && operand->var != VAR_NONE && (operand->var & VAR_LOCAL))
        add_edge(at->graph, node_of(at->graph, at->function, operand->var, 0), to, false);
    else add_edge(at->graph, register_node(at->graph, at->function, operand), to, false);
}

static const struct operand *address_base(const struct at *at, const struct operand *address) {
    if (address == NULL || address->kind != OPERAND_ADDRESS || address->count == 0) return NULL;
    return &at->body->elements.at[address->first];
}

// What is loaded through a base reaches the destination.
static void load_into(struct at *at, const struct operand *destination, uint32_t unused) {
    (void)unused;
    uint32_t to = register_node(at->graph, at->function, destination);
    const struct operand *base = address_base(at, operand_at(at, 1));
    if (base == NULL || to == NO_INDEX) return;
    uint32_t param = entry_param(at, base);
    if (param != NO_INDEX) seed(at, param, false, to);
    else if (base->kind == OPERAND_VAR && (base->var & VAR_LOCAL) &&
             at->graph->module->functions.at[at->function].variables.at[base->var & ~VAR_LOCAL].space ==
                 SPACE_PARAM)
        add_edge(at->graph, node_of(at->graph, at->function, base->var, 0), to, false);
    else add_edge(at->graph, register_node(at->graph, at->function, base), to, true);
}

static void escape(struct at *at, const struct operand *operand, uint32_t unused) {
    (void)unused;
    uint32_t node = register_node(at->graph, at->function, operand);
    if (node == NO_INDEX && operand->kind == OPERAND_VAR && operand->var != VAR_NONE &&
        (operand->var & VAR_LOCAL))
        node = node_of(at->graph, at->function, operand->var, 0);
    if (node != NO_INDEX) *vec_push(at->graph->arena, &at->graph->escapes) = node;
}

// st.param writes the variable of a call to come; any other store lets the value go.
static void store(struct at *at) {
    const struct operand *base = address_base(at, operand_at(at, 0)), *value = operand_at(at, 1);
    if (base == NULL || value == NULL) return;
    const struct function *function = &at->graph->module->functions.at[at->function];
    bool param = base->kind == OPERAND_VAR && (base->var & VAR_LOCAL) &&
                 function->variables.at[base->var & ~VAR_LOCAL].space == SPACE_PARAM;
    if (param) each_value(at, value, node_of(at->graph, at->function, base->var, 0), value_into);
    else each_value(at, value, 0, escape);
}

// Arguments or results of a call against a run of the callee's variables.
static void bind(struct at *at, const struct operand *list, uint32_t callee, uint32_t first,
                 uint32_t count, bool results) {
    for (uint32_t i = 0; i < list->count && i < count; i++) {
        const struct operand *element = &at->body->elements.at[list->first + i];
        uint32_t theirs = node_of(at->graph, callee, (first + i) | VAR_LOCAL, 0);
        if (!results) value_into(at, element, theirs);
        else if (element->kind == OPERAND_REG)
            add_edge(at->graph, theirs, register_node(at->graph, at->function, element), false);
        else if (element->kind == OPERAND_VAR && element->var != VAR_NONE && (element->var & VAR_LOCAL))
            add_edge(at->graph, theirs, node_of(at->graph, at->function, element->var, 0), false);
    }
}

static void call(struct at *at) {
    uint32_t callee = NO_INDEX, callee_at = 0;
    for (uint32_t i = 0; i < at->instruction->operand_count && callee == NO_INDEX; i++)
        if (operand_at(at, i)->kind == OPERAND_FUNC) {
            callee = at->graph->shared->definition[operand_at(at, i)->function];
            callee_at = i;
        }
    const struct function *function = callee == NO_INDEX ? NULL : &at->graph->module->functions.at[callee];
    for (uint32_t i = 0; i < at->instruction->operand_count; i++) {
        const struct operand *operand = operand_at(at, i);
        if (operand->kind != OPERAND_LIST) continue;
        if (function == NULL || function->body == NULL) each_value(at, operand, 0, escape);
        else if (i < callee_at) bind(at, operand, callee, 0, function->return_count, true);
        else bind(at, operand, callee, function->return_count, function->param_count, false);
    }
}

// Which operands of an instruction its result is copied, added or chosen from: a bit each.
static uint32_t flow_operands(const struct isa_form *form) {
    switch (form->opcode) {
    case OP_mov: case OP_cvta: case OP_cvt: case OP_sub: case OP_shfl: case OP_subc: return 1u << 1;
    case OP_add: case OP_addc: case OP_and: case OP_or: case OP_xor: case OP_min: case OP_max:
    case OP_selp: case OP_slct: return 1u << 1 | 1u << 2;
    case OP_mad: case OP_mad24: case OP_fma: case OP_madc: return 1u << 3;
    case OP_lop3: return 1u << 1 | 1u << 2 | 1u << 3;
    default: return 0;
    }
}

static void flow_into(struct at *at, const struct operand *destination, uint32_t operands) {
    uint32_t to = register_node(at->graph, at->function, destination);
    if (to == NO_INDEX) return;
    for (uint32_t i = 1; i < at->instruction->operand_count; i++)
        if (operands >> i & 1) each_value(at, operand_at(at, i), to, value_into);
}

static void instruction_edges(struct at *at) {
    const struct operand *destination = operand_at(at, 0);
    if (destination == NULL) return;
    switch (at->form->opcode) {
    case OP_ld: each_value(at, destination, 0, load_into); return;
    case OP_st: store(at); return;
    case OP_call: call(at); return;
    default: break;
    }
    uint32_t operands = flow_operands(at->form);
    if (operands != 0) each_value(at, destination, operands, flow_into);
}

static void each_instruction(struct graph *graph, const struct reach *reach, void (*fn)(struct at *)) {
    for (uint32_t f = 0; f < reach->functions.n; f++) {
        uint32_t index = reach->functions.at[f];
        const struct body *body = graph->module->functions.at[index].body;
        if (body == NULL) continue;
        for (uint32_t i = 0; i < body->instructions.n; i++) {
            const struct instruction *instruction = &body->instructions.at[i];
            struct at at = {graph, index, body, instruction,
                            &graph->module->forms.at[instruction->form]};
            fn(&at);
        }
    }
}

// Edges sorted by where they come from, by counting.
static void index_edges(struct graph *graph) {
    graph->edge_of = arena_array(graph->arena, uint32_t, (size_t)graph->nodes + 2);
    graph->edge_list = arena_array(graph->arena, uint32_t, (size_t)graph->edges.n + 1);
    for (uint32_t i = 0; i < graph->edges.n; i++) graph->edge_of[graph->edges.at[i].from + 2]++;
    for (uint32_t i = 2; i < graph->nodes + 2; i++) graph->edge_of[i] += graph->edge_of[i - 1];
    for (uint32_t i = 0; i < graph->edges.n; i++)
        graph->edge_list[graph->edge_of[graph->edges.at[i].from + 1]++] = i;
}

static uint64_t *set_of(const struct graph *graph, uint64_t *sets, uint32_t node) {
    return sets + (size_t)node * graph->words;
}

static bool unite(const struct graph *graph, uint64_t *into, const uint64_t *from) {
    bool grew = false;
    for (uint32_t w = 0; w < graph->words; w++) {
        grew |= (from[w] & ~into[w]) != 0;
        into[w] |= from[w];
    }
    return grew;
}

// Each node is visited again only when its sets grew: at most one visit a parameter.
static void propagate(struct graph *graph) {
    index_edges(graph);
    size_t cells = (size_t)graph->nodes * graph->words;
    graph->values = arena_array(graph->arena, uint64_t, cells + 1);
    graph->addresses = arena_array(graph->arena, uint64_t, cells + 1);
    bool *queued = arena_array(graph->arena, bool, (size_t)graph->nodes + 1);
    VEC_OF(uint32_t) pending = {0};
    for (uint32_t i = 0; i < graph->seeds.n; i++) {
        const struct edge *seed = &graph->seeds.at[i];
        if (seed->from / 64 >= graph->words) continue;
        uint64_t *sets = seed->loads ? graph->addresses : graph->values;
        set_of(graph, sets, seed->to)[seed->from / 64] |= (uint64_t)1 << seed->from % 64;
        if (!queued[seed->to]) *vec_push(graph->arena, &pending) = seed->to;
        queued[seed->to] = true;
    }
    while (pending.n > 0) {
        uint32_t node = pending.at[--pending.n];
        queued[node] = false;
        for (uint32_t e = graph->edge_of[node]; e < graph->edge_of[node + 1]; e++) {
            const struct edge *edge = &graph->edges.at[graph->edge_list[e]];
            uint64_t *values = set_of(graph, graph->values, node);
            uint64_t *addresses = set_of(graph, graph->addresses, node);
            bool grew = unite(graph, set_of(graph, graph->values, edge->to),
                              edge->loads ? addresses : values);
            if (!edge->loads)
                grew |= unite(graph, set_of(graph, graph->addresses, edge->to), addresses);
            if (!grew || queued[edge->to]) continue;
            queued[edge->to] = true;
            *vec_push(graph->arena, &pending) = edge->to;
        }
    }
}

// What is converted by cvta and comes from one parameter alone is a pointer, whatever is added later.
static void note_strong(struct at *at) {
    struct graph *graph = at->graph;
    if (at->form->opcode != OP_cvta || operand_at(at, 1) == NULL) return;
    uint32_t node = register_node(graph, at->function, operand_at(at, 1));
    if (node == NO_INDEX) return;
    const uint64_t *set = set_of(graph, graph->values, node);
    uint32_t bits = 0;
    for (uint32_t w = 0; w < graph->words; w++) bits += (uint32_t)__builtin_popcountll(set[w]);
    if (bits == 1) unite(graph, graph->strong, set);
}

enum touch { TOUCH_NONE, TOUCH_READ = 1, TOUCH_WRITE = 2, TOUCH_BOTH = 3, TOUCH_TENSORMAP = 4 };

static bool is_tensor_address(const struct at *at, const struct operand *address) {
    return isa_form_has(at->form, MOD_tensor) && address->count > 1 &&
           at->body->elements.at[address->first + 1].kind == OPERAND_VECTOR;
}

static enum touch copy_touch(const struct at *at, uint32_t index, const struct operand *address) {
    if (is_tensor_address(at, address)) return TOUCH_TENSORMAP;
    if (isa_form_has(at->form, MOD_prefetch)) return TOUCH_NONE;
    if (index == 0) return isa_form_has(at->form, MOD_reduce) ? TOUCH_BOTH : TOUCH_WRITE;
    return index == 1 ? TOUCH_READ : TOUCH_NONE;
}

// What an instruction does at its address operand `index`.
static enum touch touch_of(const struct at *at, uint32_t index, const struct operand *address) {
    switch (at->form->opcode) {
    case OP_ld: case OP_ldu: return TOUCH_READ;
    case OP_st: return TOUCH_WRITE;
    case OP_atom: case OP_red: return TOUCH_BOTH;
    case OP_cp: return copy_touch(at, index, address);
    case OP_wmma: return isa_form_has(at->form, MOD_store) ? TOUCH_WRITE : TOUCH_READ;
    case OP_multimem:
        if (isa_form_has(at->form, MOD_ld_reduce)) return TOUCH_READ;
        return isa_form_has(at->form, MOD_st) ? TOUCH_WRITE : TOUCH_BOTH;
    case OP_tensormap: return TOUCH_BOTH;
    case OP_prefetch: return isa_form_has(at->form, MOD_tensormap) ? TOUCH_TENSORMAP : TOUCH_NONE;
    default: return TOUCH_NONE;
    }
}

static uint32_t copy_width(const struct at *at) {
    if (isa_form_has(at->form, MOD_bulk)) return 16;
    const struct operand *size = operand_at(at, 2);
    bool known = size != NULL && size->kind == OPERAND_INT && size->value <= 16;
    return known ? (uint32_t)size->value : 4;
}

// Bytes that one thread's access must be aligned to; 0: not known.
static uint32_t access_width(const struct at *at) {
    if (at->form->opcode == OP_cp) return copy_width(at);
    if (at->form->opcode == OP_wmma) return 32;
    if (at->form->opcode == OP_tensormap) return 64;
    if (at->form->type_count == 0) return 0;
    uint32_t bits = isa_types[at->form->types[0]].bits, vec = at->form->vec == 0 ? 1 : at->form->vec;
    return bits * vec / 8;
}

static bool off_chip(const struct isa_form *form, uint32_t index) {
    uint8_t space = form->space_count > 1 && index == 1 ? form->spaces[1] : form->spaces[0];
    return form->space_count == 0 || space == SPACE_GLOBAL || space == SPACE_CONST;
}

static void touch_param(struct kernel_param *param, const struct at *at, enum touch touch,
                        uint32_t index, uint64_t displacement) {
    if (touch == TOUCH_TENSORMAP) {
        if (param->kind == PARAM_BYTES) param->kind = PARAM_TENSORMAP;
        return;
    }
    bool reads = param->access == ACCESS_READ || param->access == ACCESS_READWRITE;
    bool writes = param->access == ACCESS_WRITE || param->access == ACCESS_READWRITE;
    reads |= (touch & TOUCH_READ) != 0;
    writes |= (touch & TOUCH_WRITE) != 0;
    param->access = reads && writes ? ACCESS_READWRITE : reads ? ACCESS_READ : ACCESS_WRITE;
    param->dereferenced = true;
    if (param->space == SPACE_NONE && at->form->space_count > 0)
        param->space = index == 1 && at->form->space_count > 1 ? at->form->spaces[1] : at->form->spaces[0];
    if (param->kind == PARAM_BYTES) return;  // the pointer is somewhere inside: nothing is said of it
    uint32_t width = access_width(at);
    bool whole = width != 0 && displacement % width == 0 && (width & (width - 1)) == 0;
    if (whole && width > param->align_needed) param->align_needed = width;
}

static void touch_set(struct at *at, const uint64_t *set, enum touch touch, uint32_t index,
                      uint64_t displacement) {
    struct graph *graph = at->graph;
    uint64_t certain = 0;
    for (uint32_t w = 0; w < graph->words; w++) certain |= set[w] & graph->strong[w];
    for (uint32_t w = 0; w < graph->words; w++) {
        uint64_t bits = certain != 0 ? set[w] & graph->strong[w] : set[w];
        for (; bits != 0; bits &= bits - 1) {
            uint32_t param = w * 64 + (uint32_t)__builtin_ctzll(bits);
            touch_param(&graph->kernel->params.at[param], at, touch, index, displacement);
        }
    }
}

static void record(struct at *at) {
    for (uint32_t i = 0; i < at->instruction->operand_count; i++) {
        const struct operand *address = operand_at(at, i), *base = address_base(at, address);
        if (base == NULL) continue;
        enum touch touch = touch_of(at, i, address);
        if (touch == TOUCH_NONE) continue;
        uint32_t param = entry_param(at, base);
        if (param != NO_INDEX && touch == TOUCH_TENSORMAP)
            touch_param(&at->graph->kernel->params.at[param], at, touch, i, 0);
        uint32_t node = register_node(at->graph, at->function, base);
        if (node == NO_INDEX) continue;
        if (touch == TOUCH_TENSORMAP)
            touch_set(at, set_of(at->graph, at->graph->addresses, node), touch, i, 0);
        else if (off_chip(at->form, i))
            touch_set(at, set_of(at->graph, at->graph->values, node), touch, i, address->value);
    }
}

// A parameter is read where its value or its address is taken at all.
static void note_reads(struct graph *graph) {
    const struct body *body = graph->kernel->decl->body;
    struct at at = {.graph = graph, .function = graph->kernel->function, .body = body};
    for (int list = 0; list < 2; list++) {
        const struct operand *operands = list == 0 ? body->operands.at : body->elements.at;
        uint32_t n = list == 0 ? body->operands.n : body->elements.n;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t param = entry_param(&at, &operands[i]);
            if (param != NO_INDEX) graph->kernel->params.at[param].read = true;
        }
    }
}

// Only 64-bit values, and structs that may hold some, can be addresses.
static void drop_narrow(struct graph *graph) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < graph->seeds.n; i++) {
        const struct kernel_param *param = &graph->kernel->params.at[graph->seeds.at[i].from];
        bool real = isa_types[param->variable->type].class == TYPE_CLASS_F;
        if (param->size >= 8 && !real) graph->seeds.at[kept++] = graph->seeds.at[i];
    }
    graph->seeds.n = kept;
}

static void declared_pointers(struct graph *graph) {
    for (uint32_t i = 0; i < graph->kernel->params.n && i / 64 < graph->words; i++)
        if (graph->kernel->params.at[i].variable->is_ptr)
            graph->strong[i / 64] |= (uint64_t)1 << i % 64;
}

static void conclude(struct graph *graph) {
    for (uint32_t i = 0; i < graph->escapes.n; i++) {
        unite(graph, graph->escaped, set_of(graph, graph->values, graph->escapes.at[i]));
        unite(graph, graph->escaped, set_of(graph, graph->addresses, graph->escapes.at[i]));
    }
    for (uint32_t i = 0; i < graph->kernel->params.n; i++) {
        struct kernel_param *param = &graph->kernel->params.at[i];
        bool tracked = i / 64 < graph->words;
        bool lost = !tracked || (graph->escaped[i / 64] >> i % 64 & 1) != 0;
        if (param->dereferenced && param->kind == PARAM_SCALAR) param->kind = PARAM_POINTER;
        if (lost) param->access = param->access == ACCESS_READWRITE ? ACCESS_READWRITE : ACCESS_UNKNOWN;
        else if (!param->dereferenced) param->access = ACCESS_NONE;
    }
}

static uint64_t instructions_reached(const struct module *module, const struct reach *reach) {
    uint64_t count = 0;
    for (uint32_t f = 0; f < reach->functions.n; f++) {
        const struct body *body = module->functions.at[reach->functions.at[f]].body;
        if (body != NULL) count += body->instructions.n;
    }
    return count;
}

void facts_access(struct reach_module *shared, const struct reach *reach, struct kernel *kernel) {
    if (kernel->decl->body == NULL || kernel->params.n == 0) return;
    struct arena scratch;
    arena_init(&scratch, shared->arena->memory);
    struct graph graph = {.module = shared->module, .shared = shared, .kernel = kernel,
                          .arena = &scratch};
    note_reads(&graph);
    shared->work += instructions_reached(shared->module, reach);
    if (reach->bodies_known && shared->work <= FACTS_WORK_LIMIT) {
        graph.words = (kernel->params.n + 63) / 64;
        if (graph.words > MAX_WORDS) graph.words = MAX_WORDS;
        each_instruction(&graph, reach, instruction_edges);
        drop_narrow(&graph);
        propagate(&graph);
        declared_pointers(&graph);
        each_instruction(&graph, reach, note_strong);
        each_instruction(&graph, reach, record);
        conclude(&graph);
    }
    arena_destroy(&scratch);
}
