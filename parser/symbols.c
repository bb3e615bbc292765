#include "parser/internal.h"

// Names of a function: variables and register ranges, labels, what the module declares. Blocks
// nest; a name is in force from its declaration to the end of its block, a label in its whole
// block. ptxas keeps variables and labels in one name space.

void symbols_init(struct parser *p) {
    (void)vec_push(p->arena, &p->symbols);
    (void)vec_push(p->body_arena, &p->pendings);
}

struct binding *binding_of(struct parser *p, name_id name) {
    while (name >= p->bindings.n) (void)vec_push(p->arena, &p->bindings);
    return &p->bindings.at[name];
}

// What stands before the digits at the end of `text`: all of it when there are none, nothing when
// all are digits.
static uint32_t prefix_length(struct str text) {
    uint32_t len = text.len;
    while (len > 0 && text.data[len - 1] >= '0' && text.data[len - 1] <= '9') len--;
    return len;
}

static bool suffix_number(struct str text, uint32_t prefix, uint32_t *number) {
    uint64_t value = 0;
    for (uint32_t i = prefix; i < text.len; i++) {
        value = value * 10 + (uint64_t)(text.data[i] - '0');
        if (value > UINT32_MAX) return false;
    }
    *number = (uint32_t)value;
    return true;
}

static uint32_t current_scope(const struct parser *p) {
    return p->blocks.n == 0 ? 0 : p->blocks.at[p->blocks.n - 1].scope;
}

static struct span symbol_span(const struct parser *p, const struct symbol *symbol) {
    return (struct span){symbol->offset, symbol->offset + names_text(&p->module->names, symbol->name).len};
}

static void report_duplicate(struct parser *p, enum symbol_kind kind, struct str text,
                             struct span span, const struct symbol *earlier) {
    enum rule rule = kind == SYMBOL_LABEL ? RULE_DUPLICATE_LABEL : RULE_DUPLICATE_NAME;
    struct finding *finding = report(p, rule, span, "`%.*s` is already declared in this block",
                                     STR_ARG(text));
    struct place place = {p->source, symbol_span(p, earlier)};
    finding_label(p->findings, finding, place, "first declared here");
    finding_help(p->findings, finding, "give one of them another name");
}

// Whether the declaration `symbol` belongs to the function being read and to its innermost block.
static bool in_this_scope(const struct parser *p, uint32_t symbol) {
    uint32_t first = p->blocks.n == 0 ? 0 : p->blocks.at[p->blocks.n - 1].symbols;
    return symbol != 0 && symbol >= first && p->symbols.at[symbol].scope == current_scope(p) &&
           p->function != NO_INDEX;
}

static void forget_hints(struct parser *p) { memset(p->hints, 0, sizeof p->hints); }

static struct symbol *new_symbol(struct parser *p, enum symbol_kind kind, name_id name,
                                 uint32_t index, struct span span) {
    struct symbol *symbol = vec_push(p->arena, &p->symbols);
    *symbol = (struct symbol){.kind = (uint8_t)kind, .index = index, .name = name,
                              .scope = current_scope(p), .offset = span.begin};
    return symbol;
}

bool declare(struct parser *p, enum symbol_kind kind, struct str text, uint32_t index,
             struct span span) {
    name_id name = names_intern(&p->module->names, text);
    struct binding *binding = binding_of(p, name);
    uint32_t taken = in_this_scope(p, binding->symbol) ? binding->symbol : 0;
    uint32_t length = prefix_length(text), number;
    name_id prefix = 0;
    if (length < text.len && length > 0 && p->function != NO_INDEX) {
        prefix = names_intern(&p->module->names, (struct str){text.data, length});
        struct binding *of_prefix = binding_of(p, prefix);
        uint32_t range = of_prefix->range;
        if (range != 0) forget_hints(p);
        if (in_this_scope(p, range) && suffix_number(text, length, &number) &&
            number < p->variables.at[p->symbols.at[range].index & ~VAR_LOCAL].range)
            taken = range;
        binding = binding_of(p, name);
    }
    if (taken != 0) report_duplicate(p, kind, text, span, &p->symbols.at[taken]);
    struct symbol *symbol = new_symbol(p, kind, name, index, span);
    symbol->prefix = prefix;
    if (prefix != 0) {
        symbol->older_exact = p->bindings.at[prefix].exact;
        p->bindings.at[prefix].exact = p->symbols.n - 1;
    }
    symbol->shadowed = binding->symbol;
    binding->symbol = p->symbols.n - 1;
    return taken == 0;
}

// A name that is `prefix` and digits below `count`, declared in this block.
static uint32_t find_member(struct parser *p, name_id prefix, uint32_t count) {
    uint32_t first = p->blocks.n == 0 ? 0 : p->blocks.at[p->blocks.n - 1].symbols;
    uint32_t i = binding_of(p, prefix)->exact;
    for (; i >= first && i != 0; i = p->symbols.at[i].older_exact) {
        struct str text = names_text(&p->module->names, p->symbols.at[i].name);
        uint32_t number;
        if (suffix_number(text, prefix_length(text), &number) && number < count) return i;
    }
    return 0;
}

bool declare_range(struct parser *p, struct str prefix, var_ref var, uint32_t count,
                   struct span span) {
    name_id name = names_intern(&p->module->names, prefix);
    struct binding *binding = binding_of(p, name);
    uint32_t taken = in_this_scope(p, binding->range) ? binding->range : 0;
    if (taken == 0) taken = find_member(p, name, count);
    forget_hints(p);
    if (taken != 0) {
        struct symbol earlier = p->symbols.at[taken];
        report_duplicate(p, SYMBOL_RANGE, prefix, span, &earlier);
    }
    struct symbol *symbol = new_symbol(p, SYMBOL_RANGE, name, var, span);
    symbol->shadowed = binding->range;
    binding->range = p->symbols.n - 1;
    return taken == 0;
}

static void pop_symbols(struct parser *p, uint32_t count) {
    if (p->symbols.n > count) forget_hints(p);
    while (p->symbols.n > count) {
        const struct symbol *symbol = &p->symbols.at[--p->symbols.n];
        struct binding *binding = &p->bindings.at[symbol->name];
        if (symbol->kind == SYMBOL_RANGE) binding->range = symbol->shadowed;
        else binding->symbol = symbol->shadowed;
        if (symbol->prefix != 0) p->bindings.at[symbol->prefix].exact = symbol->older_exact;
    }
}

void open_block(struct parser *p, uint32_t offset) {
    uint32_t scope = p->scope_parents.n;
    uint32_t parent = p->blocks.n == 0 ? NO_INDEX : current_scope(p);
    *vec_push(p->body_arena, &p->scope_parents) = parent;
    struct block *block = vec_push(p->body_arena, &p->blocks);
    *block = (struct block){scope, offset, p->symbols.n, p->pendings.n};
}

// A label of the closing block answers the uses of its name that were met inside that block and
// found nothing. They are the newest ones, since uses are chained newest first.
static void settle_pending(struct parser *p, name_id name, uint32_t label, uint32_t since) {
    struct binding *binding = &p->bindings.at[name];
    while (binding->pending >= since && binding->pending != 0) {
        struct pending *use = &p->pendings.at[binding->pending];
        struct operand *operand = use->is_element ? &p->body.elements.at[use->operand]
                                                  : &p->body.operands.at[use->operand];
        operand->kind = OPERAND_LABEL;
        operand->label = label;
        use->done = true;
        binding->pending = use->older;
    }
}

void close_block(struct parser *p) {
    struct block block = p->blocks.at[--p->blocks.n];
    for (uint32_t i = p->symbols.n; i-- > block.symbols;) {
        const struct symbol *symbol = &p->symbols.at[i];
        // Lists of targets and prototypes must stand before their use.
        if (symbol->kind == SYMBOL_LABEL && p->body.labels.at[symbol->index].kind == LABEL_PLAIN)
            settle_pending(p, symbol->name, symbol->index, block.pending);
    }
    pop_symbols(p, block.symbols);
}

// Nearest declared name of the function, for the help of a finding.
static struct str nearest_name(struct parser *p, struct str text) {
    struct str best = {NULL, 0};
    uint32_t distance = text.len < 4 ? 1 : 2, looked = 0;
    for (uint32_t i = 0; i < p->body.labels.n && looked < 256; i++, looked++) {
        struct str name = names_text(&p->module->names, p->body.labels.at[i].name);
        uint32_t d = str_distance(text, name, distance);
        if (d > 0 && d <= distance) { best = name; distance = d; }
    }
    looked = 0;
    for (uint32_t i = 0; i < p->variables.n && looked < 256; i++, looked++) {
        if (p->variables.at[i].is_range) continue;
        struct str name = names_text(&p->module->names, p->variables.at[i].name);
        uint32_t d = str_distance(text, name, distance);
        if (d > 0 && d <= distance) { best = name; distance = d; }
    }
    return best;
}

static const struct variable *range_of_prefix(const struct parser *p, struct str text) {
    uint32_t length = prefix_length(text);
    for (uint32_t i = 0; i < p->variables.n && i < 256; i++) {
        const struct variable *variable = &p->variables.at[i];
        struct str prefix = names_text(&p->module->names, variable->name);
        if (variable->is_range && length < text.len && str_eq(prefix, (struct str){text.data, length}))
            return variable;
    }
    return NULL;
}

static void help_unknown(struct parser *p, struct finding *finding, struct str text) {
    const struct variable *range = range_of_prefix(p, text);
    struct str near = nearest_name(p, text);
    if (range != NULL) {
        struct str prefix = names_text(&p->module->names, range->name);
        struct place place = {p->source, range->span};
        finding_label(p->findings, finding, place, "declares `%.*s0` to `%.*s%u`", STR_ARG(prefix),
                      STR_ARG(prefix), range->range == 0 ? 0 : range->range - 1);
        finding_help(p->findings, finding, "enlarge the range, or use a register inside it");
    } else if (near.len != 0)
        finding_help(p->findings, finding, "did you mean `%.*s`?", STR_ARG(near));
    else
        finding_help(p->findings, finding, "declare `%.*s` before its first use", STR_ARG(text));
}

// What is still pending when the function ends is declared nowhere that it could be seen. One
// finding for each name, at its first use.
static void report_unknown(struct parser *p, uint32_t use_index, uint32_t more) {
    const struct pending *use = &p->pendings.at[use_index];
    const struct operand *operand = use->is_element ? &p->body.elements.at[use->operand]
                                                    : &p->body.operands.at[use->operand];
    struct str text = names_text(&p->module->names, use->name);
    struct span span = {operand->offset, operand->offset + text.len};
    struct finding *finding = report(p, RULE_UNKNOWN_SYMBOL, span,
                                     "`%.*s` is declared nowhere that this statement can see",
                                     STR_ARG(text));
    if (more > 0) finding_note(p->findings, finding, "used %u more times", more);
    help_unknown(p, finding, text);
}

void symbols_end_function(struct parser *p) {
    for (uint32_t i = 1; i < p->pendings.n; i++) {
        struct pending *use = &p->pendings.at[i];
        if (use->done) continue;
        struct binding *binding = &p->bindings.at[use->name];
        uint32_t more = 0;
        for (uint32_t other = binding->pending; other != i && other != 0;) {
            p->pendings.at[other].done = true;
            other = p->pendings.at[other].older;
            more++;
        }
        binding->pending = 0;
        // What was not read may declare it.
        if (!p->header_broken && !p->body.truncated) report_unknown(p, i, more);
    }
    p->pendings.n = 1;
}

void note_unresolved(struct parser *p, uint32_t operand_first, uint32_t element_first) {
    for (int pass = 0; pass < 2; pass++) {
        bool is_element = pass == 0;
        uint32_t n = is_element ? p->body.elements.n : p->body.operands.n;
        for (uint32_t i = is_element ? element_first : operand_first; i < n; i++) {
            struct operand *operand = is_element ? &p->body.elements.at[i] : &p->body.operands.at[i];
            if (operand->kind != OPERAND_NAME || operand->name == 0) continue;
            struct binding *binding = binding_of(p, operand->name);
            struct pending *use = vec_push(p->body_arena, &p->pendings);
            *use = (struct pending){operand->name, binding->pending, i, is_element, false};
            binding->pending = p->pendings.n - 1;
        }
    }
    p->unresolved = false;
}

// ---- looking up -------------------------------------------------------------------------------

static uint64_t prefix_key(const char *data, uint32_t length) {
    uint64_t key = 0;
    memcpy(&key, data, length);
    return key | (uint64_t)length << 56;
}

static void set_variable(struct parser *p, var_ref var, struct operand *operand) {
    const struct variable *variable =
        var & VAR_LOCAL ? &p->variables.at[var & ~VAR_LOCAL] : &p->module->variables.at[var];
    operand->kind = variable->space == SPACE_REG ? OPERAND_REG : OPERAND_VAR;
    operand->var = var;
}

static void set_symbol(struct parser *p, const struct symbol *symbol, struct operand *operand) {
    if (symbol->kind == SYMBOL_VARIABLE) set_variable(p, symbol->index, operand);
    else if (symbol->kind == SYMBOL_FUNCTION) {
        operand->kind = OPERAND_FUNC;
        operand->function = symbol->index;
    } else {
        operand->kind = OPERAND_LABEL;
        operand->label = symbol->index;
    }
}

static void resolve_slowly(struct parser *p, struct str text, uint32_t length, uint32_t number,
                           bool numbered, struct operand *operand) {
    name_id name = names_intern(&p->module->names, text);
    uint32_t exact = binding_of(p, name)->symbol, range = 0;
    struct binding *of_prefix = NULL;
    if (numbered) {
        name_id prefix = names_find(&p->module->names, (struct str){text.data, length});
        if (prefix != 0) of_prefix = binding_of(p, prefix);
        if (of_prefix != NULL) range = of_prefix->range;
    }
    const struct symbol *in_range = range == 0 ? NULL : &p->symbols.at[range];
    while (in_range != NULL) {
        const struct variable *variable =
            in_range->index & VAR_LOCAL ? &p->variables.at[in_range->index & ~VAR_LOCAL]
                                        : &p->module->variables.at[in_range->index];
        if (number < variable->range) break;
        in_range = in_range->shadowed == 0 ? NULL : &p->symbols.at[in_range->shadowed];
    }
    const struct symbol *symbol = exact == 0 ? NULL : &p->symbols.at[exact];
    if (in_range != NULL && (symbol == NULL || symbol < in_range)) {
        set_variable(p, in_range->index, operand);
        operand->number = number;
        bool only = of_prefix->exact == 0 && in_range->shadowed == 0 && length < 7 &&
                    in_range->index & VAR_LOCAL;
        if (only) {
            uint64_t key = prefix_key(text.data, length);
            *range_hint_slot(p, key) = (struct range_hint){
                key, in_range->index, p->variables.at[in_range->index & ~VAR_LOCAL].range,
                operand->kind};
        }
    } else if (symbol != NULL) set_symbol(p, symbol, operand);
    else {
        enum isa_sreg sreg = text.data[0] == '%' ? isa_sreg_find(text) : SREG_COUNT;
        if (sreg != SREG_COUNT) {
            operand->kind = OPERAND_SREG;
            operand->sreg = sreg;
        } else {
            operand->kind = OPERAND_NAME;
            operand->name = name;
            p->unresolved = true;
        }
    }
}

void resolve(struct parser *p, struct str text, struct operand *operand) {
    uint32_t length = prefix_length(text), number = 0;
    bool numbered = length < text.len && length > 0 && suffix_number(text, length, &number);
    if (numbered && length < 7) {
        uint64_t key = prefix_key(text.data, length);
        const struct range_hint *hint = range_hint_slot(p, key);
        if (hint->key == key && number < hint->count) {
            operand->kind = hint->kind;
            operand->var = hint->var;
            operand->number = number;
            return;
        }
    }
    resolve_slowly(p, text, length, number, numbered, operand);
}
