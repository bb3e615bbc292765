#include "parser/internal.h"

// Bodies of functions: statements, labels, instructions and their operands. Every instruction is
// read alike: guard, dotted opcode, operands in their shapes; what an opcode takes is not known here.

static bool parse_operand(struct parser *p, const struct form_key *form, struct operand *operand);

// ---- opcodes ----------------------------------------------------------------------------------

static bool vector_misplaced(const struct isa_form *form) {
    for (uint32_t i = 0; i < form->mod_count; i++) {
        enum isa_mod mod = (enum isa_mod)form->mods[i];
        if (mod != MOD_v2 && mod != MOD_v4 && mod != MOD_v8) continue;
        if (i + 1 == form->mod_count || isa_mod_type((enum isa_mod)form->mods[i + 1]) == TYPE_NONE)
            return true;
    }
    return false;
}

static uint32_t new_form(struct parser *p, struct str text, uint32_t hash) {
    struct isa_form *form = vec_push(p->arena, &p->module->forms);
    isa_form_decode(p->arena, text, form);
    struct form_key *key = vec_push(p->arena, &p->form_keys);
    *key = (struct form_key){.text = text, .hash = hash};
    key->vector_misplaced = vector_misplaced(form);
    key->is_call = form->opcode == OP_call;
    key->is_mov = form->opcode == OP_mov;
    return p->module->forms.n - 1;
}

static void widen_forms(struct parser *p) {
    uint32_t wider = p->form_slot_count == 0 ? 1024 : p->form_slot_count * 2;
    uint32_t *slots = arena_array(p->arena, uint32_t, wider);
    for (uint32_t i = 0; i < p->form_keys.n; i++) {
        uint32_t slot = p->form_keys.at[i].hash & (wider - 1);
        while (slots[slot] != 0) slot = (slot + 1) & (wider - 1);
        slots[slot] = i + 1;
    }
    p->form_slots = slots;
    p->form_slot_count = wider;
}

// The form of an opcode as written, decoded on its first use.
static uint32_t find_form(struct parser *p, struct str text) {
    if (p->form_keys.n >= p->form_slot_count / 2) widen_forms(p);
    uint32_t hash = str_hash(text), mask = p->form_slot_count - 1, slot = hash & mask;
    for (; p->form_slots[slot] != 0; slot = (slot + 1) & mask) {
        const struct form_key *key = &p->form_keys.at[p->form_slots[slot] - 1];
        if (key->hash == hash && str_eq(key->text, text)) return p->form_slots[slot] - 1;
    }
    p->form_slots[slot] = p->form_keys.n + 1;
    uint32_t form = new_form(p, text, hash);
    remember_form(p, text, form);
    return form;
}

// Blanks and comments may stand before the dots of an opcode. `ret` and a `.loc` in the next line are
// two statements all the same.
static bool extends_opcode(const struct parser *p) {
    if (!at(p, TOK_DOTTED)) return false;
    struct str text = token_text(p);
    return at_word(p) == WORD_NONE ||
           isa_mod_find((struct str){text.data + 1, text.len - 1}) != MOD_UNKNOWN;
}

// ---- operands ---------------------------------------------------------------------------------

static struct operand blank_operand(const struct parser *p) {
    return (struct operand){.offset = p->token.offset,
                            .end = p->token.offset + p->token.length};
}

// Whether `text` past its first two bytes (`.b`, `.h`) is `count` digits from 0 to `most`.
static bool is_selector(struct str text, uint32_t count, char most) {
    if (text.len != count + 2) return false;
    for (uint32_t i = 2; i < text.len; i++)
        if (text.data[i] < '0' || text.data[i] > most) return false;
    return true;
}

// .x .y .z .w, .r .g .b .a, .b0 to .b3, .h0 and .h1, .b3210 and .h10 and their like; 0 when it is
// none.
static uint8_t component_number(struct str text) {
    static const char letters[] = "xyzwrgba";
    if (text.len == 2) {
        const char *found = memchr(letters, text.data[1], 8);
        return found == NULL ? 0 : (uint8_t)((found - letters) % 4 + 1);
    }
    if (text.data[1] == 'b' && is_selector(text, 4, '7')) return 22;
    if (text.data[1] == 'h' && is_selector(text, 2, '3')) return 23;
    if (text.len != 3) return 0;
    if (text.data[1] == 'b' && text.data[2] >= '0' && text.data[2] <= '3')
        return (uint8_t)(16 + text.data[2] - '0');
    if (text.data[1] == 'h' && (text.data[2] == '0' || text.data[2] == '1'))
        return (uint8_t)(20 + text.data[2] - '0');
    return 0;
}

static void set_constant(struct operand *operand, const struct constant *c) {
    operand->kind = c->is_float ? OPERAND_FLOAT : OPERAND_INT;
    operand->value = c->bits;
    operand->hex = c->hex;
    operand->offset = c->span.begin;
    operand->end = c->span.end;
    if (c->is_unsigned) operand->flags |= OPERAND_UNSIGNED;
    if (c->is_expression) operand->flags |= OPERAND_EXPRESSION;
    if (c->is_warp_size) operand->flags |= OPERAND_WARP_SZ;
}

static bool parse_constant_operand(struct parser *p, struct operand *operand) {
    struct constant c;
    if (!parse_constant(p, &c)) return false;
    set_constant(operand, &c);
    return true;
}

static void push_operand(struct parser *p, const struct operand *operand) {
    *vec_push(p->body_arena, &p->stack) = *operand;
}

// Moves what was read since `base` from the stack to body.elements, as the elements of `operand`.
static void take_elements(struct parser *p, struct operand *operand, uint32_t base) {
    uint32_t count = p->stack.n - base;
    operand->first = p->body.elements.n;
    operand->count = count;
    for (uint32_t i = 0; i < count; i++)
        *vec_push(p->body_arena, &p->body.elements) = p->stack.at[base + i];
    p->stack.n = base;
    operand->end = p->previous_end;
}

// {a, b} and (a, b), up to `closer`; () may be empty.
static bool parse_group(struct parser *p, const struct form_key *form, struct operand *operand,
                        enum operand_kind kind, enum token_kind closer, const char *expected) {
    uint32_t base = p->stack.n;
    advance(p);
    operand->kind = (uint8_t)kind;
    bool good = true;
    if (!(kind == OPERAND_LIST && at(p, closer))) {
        if (!enter(p)) return false;
        do {
            struct operand element;
            good = parse_operand(p, form, &element);
            if (good) push_operand(p, &element);
        } while (good && accept(p, TOK_COMMA));
        leave(p);
    }
    good = good && expect(p, closer, expected);
    take_elements(p, operand, base);
    return good;
}

// Bytes of one element of what is indexed: ptxas scales constants and registers alike.
static uint64_t index_scale(struct parser *p, const struct operand *base) {
    const struct variable *v = NULL;
    if (base->kind == OPERAND_VAR || base->kind == OPERAND_REG)
        v = base->var & VAR_LOCAL ? &p->variables.at[base->var & ~VAR_LOCAL]
                                  : &p->module->variables.at[base->var];
    if (v != NULL && v->is_array) return variable_element_size(v);
    if (base->kind != OPERAND_NAME)
        report(p, RULE_NOT_AN_ARRAY, (struct span){base->offset, base->end},
               "`%.*s` is indexed, but is no array",
               STR_ARG(source_text(p->source, (struct span){base->offset, base->end})));
    return 1;
}

// sym[4], sym[%r1] and sym[%r1+4]: `operand` is the base; becomes an address, or for mov a variable with an offset.
static bool parse_index(struct parser *p, const struct form_key *form, struct operand *operand) {
    struct operand base = *operand, index;
    uint32_t first = p->stack.n;
    advance(p);
    if (at_constant(p)) {
        index = blank_operand(p);
        if (!parse_constant_operand(p, &index)) return false;
    } else if (at(p, TOK_WORD)) {
        struct constant offset;
        index = blank_operand(p);
        resolve(p, token_text(p), &index);
        advance(p);
        if (accept(p, TOK_PLUS)) {
            if (!parse_constant(p, &offset)) return false;
            operand->value = offset.bits;
        }
    } else {
        unexpected(p, "an index");
        return false;
    }
    if (!expect(p, TOK_RBRACKET, "`]`")) return false;
    operand->flags |= OPERAND_INDEXED;
    operand->end = p->previous_end;
    if (index.kind == OPERAND_INT) operand->value = index.value;
    operand->value *= index_scale(p, &base);
    if (form->is_mov && index.kind == OPERAND_INT) return true;
    operand->kind = OPERAND_ADDRESS;
    push_operand(p, &base);
    if (index.kind != OPERAND_INT) push_operand(p, &index);
    take_elements(p, operand, first);
    return true;
}

static bool parse_identifier(struct parser *p, const struct form_key *form, struct operand *operand) {
    struct str text = token_text(p);
    uint32_t dot = text.len;
    if (at(p, TOK_DOTTED_WORD)) {
        dot = 0;
        while (text.data[dot] != '.') dot++;
        operand->component = component_number((struct str){text.data + dot, text.len - dot});
        if (operand->component == 0) {
            unexpected(p, "an operand");
            return false;
        }
    }
    resolve(p, (struct str){text.data, dot}, operand);
    advance(p);
    if (at(p, TOK_SEMICOLON) || at(p, TOK_COMMA)) return true;
    if (at(p, TOK_DOTTED) && operand->component == 0 && !on_new_line(p)) {
        operand->component = component_number(token_text(p));
        if (operand->component == 0) {
            unexpected(p, "`,` or `;`");
            return false;
        }
        advance(p);
        operand->end = p->previous_end;
    }
    if (at(p, TOK_LBRACKET)) return parse_index(p, form, operand);
    if (!accept(p, TOK_PLUS)) return true;
    struct constant addend;
    if (!parse_constant(p, &addend)) return false;
    operand->value = addend.bits;
    operand->end = p->previous_end;
    return true;
}

// Base of an address in brackets: a register, a name or a constant.
static bool parse_address_base(struct parser *p, struct operand *base) {
    *base = blank_operand(p);
    if (at(p, TOK_WORD) && !at_constant(p)) {
        resolve(p, token_text(p), base);
        advance(p);
        return true;
    }
    if (at_constant(p)) return parse_constant_operand(p, base);
    unexpected(p, "a register, a variable or a number");
    return false;
}

// What may follow the base: `+` and a constant, `,` and further operands.
static bool parse_address_rest(struct parser *p, const struct form_key *form,
                               struct operand *operand) {
    if (accept(p, TOK_PLUS)) {
        struct constant offset;
        if (at(p, TOK_WORD) && !at_constant(p)) {
            struct finding *finding = report(p, RULE_UNEXPECTED_TOKEN, token_span(p),
                                             "`%.*s` is added to an address: only a constant may be",
                                             STR_ARG(token_text(p)));
            finding_help(p->findings, finding, "add the two with an instruction of their own before");
            return false;
        }
        if (!parse_constant(p, &offset)) return false;
        operand->value = offset.bits;
    }
    if (at(p, TOK_MINUS)) {
        struct finding *finding = report(p, RULE_UNEXPECTED_TOKEN, token_span(p),
                                         "an address takes `+` only, not `-`");
        finding_help(p->findings, finding, "write the offset as `+-N`");
        return false;
    }
    while (accept(p, TOK_COMMA)) {
        struct operand element;
        if (at_constant(p)) {
            unexpected(p, "a register or coordinates in braces");
            return false;
        }
        if (!enter(p)) return false;
        bool good = parse_operand(p, form, &element);
        leave(p);
        if (!good) return false;
        push_operand(p, &element);
    }
    return true;
}

static bool parse_address(struct parser *p, const struct form_key *form, struct operand *operand) {
    uint32_t first = p->stack.n;
    struct operand base;
    advance(p);
    operand->kind = OPERAND_ADDRESS;
    if (!parse_address_base(p, &base)) return false;
    push_operand(p, &base);
    if (!parse_address_rest(p, form, operand) || !expect(p, TOK_RBRACKET, "`]`")) {
        p->stack.n = first;
        return false;
    }
    take_elements(p, operand, first);
    if (at_word(p) == WORD_UNIFIED) {
        operand->flags |= OPERAND_UNIFIED;
        advance(p);
        operand->end = p->previous_end;
    }
    return true;
}

// Whether a name follows the sign at hand, so that it negates a register, not a constant.
static bool sign_before_name(const struct parser *p) {
    struct lexer ahead = p->lexer;
    struct token next = lex_next(&ahead);
    if (next.kind != TOK_WORD && next.kind != TOK_DOTTED_WORD) return false;
    return !str_eq((struct str){p->source->text + next.offset, next.length}, STR("WARP_SZ"));
}

static bool parse_signed(struct parser *p, const struct form_key *form, struct operand *operand) {
    uint8_t flag = at(p, TOK_NOT) ? OPERAND_NOT : OPERAND_NEGATED;
    uint32_t begin = operand->offset;
    if (!sign_before_name(p)) return parse_constant_operand(p, operand);
    advance(p);
    *operand = blank_operand(p);
    operand->flags = flag;
    bool good = parse_identifier(p, form, operand);
    operand->offset = begin;
    return good;
}

static bool parse_primary(struct parser *p, const struct form_key *form, struct operand *operand) {
    *operand = blank_operand(p);
    switch (p->token.kind) {
    case TOK_WORD:
        if (at_constant(p)) return parse_constant_operand(p, operand);
        return parse_identifier(p, form, operand);
    case TOK_DOTTED_WORD: return parse_identifier(p, form, operand);
    case TOK_INT: case TOK_FLOAT: case TOK_HEX_FLOAT: case TOK_TILDE: case TOK_PLUS:
        return parse_constant_operand(p, operand);
    case TOK_MINUS: case TOK_NOT: return parse_signed(p, form, operand);
    case TOK_LBRACKET: return parse_address(p, form, operand);
    case TOK_LBRACE:
        return parse_group(p, form, operand, OPERAND_VECTOR, TOK_RBRACE, "`,` or `}`");
    case TOK_LPAREN:
        if (form->is_call)
            return parse_group(p, form, operand, OPERAND_LIST, TOK_RPAREN, "`,` or `)`");
        return parse_constant_operand(p, operand);
    case TOK_SINK:
        operand->kind = OPERAND_SINK;
        advance(p);
        return true;
    default: unexpected(p, "an operand"); return false;
    }
}

static bool parse_operand(struct parser *p, const struct form_key *form, struct operand *operand) {
    if (!parse_primary(p, form, operand)) return false;
    if (!at(p, TOK_PIPE)) return true;
    struct operand second;
    uint32_t base = p->stack.n;
    push_operand(p, operand);
    advance(p);
    if (!parse_primary(p, form, &second)) {
        p->stack.n = base;
        return false;
    }
    push_operand(p, &second);
    uint32_t begin = operand->offset;
    *operand = (struct operand){.kind = OPERAND_PAIR, .offset = begin};
    take_elements(p, operand, base);
    return true;
}

// ---- instructions -----------------------------------------------------------------------------

static bool parse_operands(struct parser *p, const struct form_key *form,
                           struct instruction *instruction) {
    uint32_t count = 0;
    if (at(p, TOK_SEMICOLON) && !form->is_call) return true;
    // An instruction without operands that lacks its `;`.
    if (on_new_line(p) && !at(p, TOK_LBRACE) && !at(p, TOK_LBRACKET) && !at(p, TOK_LPAREN) &&
        begins_statement(p))
        return true;
    do {
        struct operand operand;
        if (!parse_operand(p, form, &operand)) return false;
        *vec_push(p->body_arena, &p->body.operands) = operand;
        count++;
    } while (accept(p, TOK_COMMA));
    // A call names what it calls.
    if (form->is_call && count == 1 &&
        p->body.operands.at[p->body.operands.n - 1].kind == OPERAND_LIST) {
        unexpected(p, "`,` and the function's name");
        return false;
    }
    instruction->operand_count = (uint16_t)count;
    return count <= UINT16_MAX || limit_reached(p, token_span(p), "operands", UINT16_MAX);
}

// The opcode is at hand; `begin` is where the statement begins.
static bool parse_instruction(struct parser *p, struct instruction *instruction,
                              uint32_t element_first) {
    uint32_t begin = p->token.offset, operand_first = p->body.operands.n;
    advance(p);
    while (extends_opcode(p)) advance(p);
    struct str text = {p->source->text + begin, p->previous_end - begin};
    instruction->offset = begin;
    instruction->opcode_end = p->previous_end;
    instruction->form = find_form(p, text);
    instruction->operand_first = operand_first;
    instruction->loc = p->loc;
    instruction->scope = p->blocks.at[p->blocks.n - 1].scope;
    struct form_key form = p->form_keys.at[instruction->form];
    instruction->vector_misplaced = form.vector_misplaced;
    if (!parse_operands(p, &form, instruction) || !expect_semicolon(p)) {
        p->body.operands.n = operand_first;
        p->body.elements.n = element_first;
        p->stack.n = 0;
        p->unresolved = false;
        return false;
    }
    instruction->end = p->previous_end;
    if (p->unresolved) note_unresolved(p, operand_first, element_first);
    *vec_push(p->body_arena, &p->body.instructions) = *instruction;
    return true;
}

// @p and @!p
static bool parse_guard(struct parser *p, struct instruction *instruction) {
    advance(p);
    instruction->guard = accept(p, TOK_NOT) ? GUARD_UNLESS : GUARD_IF;
    struct operand guard = blank_operand(p);
    if (!at(p, TOK_WORD) || at_constant(p)) {
        unexpected(p, "a predicate register");
        return false;
    }
    resolve(p, token_text(p), &guard);
    advance(p);
    instruction->guard_operand = p->body.elements.n;
    *vec_push(p->body_arena, &p->body.elements) = guard;
    if (at(p, TOK_WORD) || at(p, TOK_DOTTED_WORD)) return true;
    unexpected(p, "an instruction behind its guard");
    return false;
}

static bool parse_guarded(struct parser *p) {
    struct instruction instruction = {.guard_operand = NO_INDEX};
    uint32_t element_first = p->body.elements.n;
    if (parse_guard(p, &instruction)) return parse_instruction(p, &instruction, element_first);
    p->body.elements.n = element_first;
    p->unresolved = false;
    return false;
}

// ---- labels -----------------------------------------------------------------------------------

// L<3> in a list is L0, L1, L2.
static bool parse_label_range(struct parser *p, struct str prefix, uint32_t offset) {
    uint64_t count;
    advance(p);
    if (!parse_plain_integer(p, &count, "a number of labels") ||
        !expect(p, TOK_GREATER, "`>`"))
        return false;
    if (count > UINT16_MAX) return limit_reached(p, token_span(p), "labels in a range", UINT16_MAX);
    for (uint32_t i = 0; i < count; i++) {
        struct operand operand = {.offset = offset, .end = p->previous_end};
        resolve(p, str_format(p->arena, "%.*s%u", STR_ARG(prefix), i), &operand);
        *vec_push(p->body_arena, &p->body.elements) = operand;
    }
    return true;
}

static bool parse_name_list(struct parser *p, struct label_list *list) {
    list->element_first = p->body.elements.n;
    advance(p);
    do {
        struct operand operand = blank_operand(p);
        struct str text = token_text(p);
        if (!expect(p, TOK_WORD, "a name")) return false;
        if (at(p, TOK_LESS)) {
            if (!parse_label_range(p, text, operand.offset)) return false;
            continue;
        }
        resolve(p, text, &operand);
        *vec_push(p->body_arena, &p->body.elements) = operand;
    } while (accept(p, TOK_COMMA));
    list->element_count = p->body.elements.n - list->element_first;
    return expect_semicolon(p);
}

// .callprototype [(ret)] _ [(params)] [directives];
static bool parse_prototype_parts(struct parser *p) {
    if (at(p, TOK_LPAREN) && !parse_parameters(p, true)) return false;
    if (!expect(p, TOK_SINK, "`_`")) return false;
    if (at(p, TOK_LPAREN) && !parse_parameters(p, false)) return false;
    p->module->functions.at[p->function].parsed = true;
    return parse_header_directives(p) && expect_semicolon(p);
}

static bool parse_prototype(struct parser *p, struct label_list *list) {
    uint32_t outer = p->function, first = p->variables.n;
    list->prototype = new_function(p, FUNCTION_PROTOTYPE, LINKAGE_NONE, p->token.offset);
    advance(p);
    p->function = list->prototype;
    bool good = parse_prototype_parts(p);
    struct function *function = &p->module->functions.at[list->prototype];
    function->header.end = p->previous_end;
    function->variables.n = function->variables.cap = p->variables.n - first;
    if (function->variables.n != 0) {
        size_t size = function->variables.n * sizeof *p->variables.at;
        function->variables.at =
            arena_alloc(p->options->function_done == NULL ? p->arena : p->body_arena, size,
                        _Alignof(struct variable));
        memcpy(function->variables.at, p->variables.at + first, size);
    }
    p->variables.n = first;
    p->function = outer;
    return good;
}

static bool parse_label_list(struct parser *p, struct label *label, enum directive_word word) {
    struct label_list list = {.prototype = NO_INDEX};
    uint32_t element_first = p->body.elements.n;
    label->kind = word == WORD_BRANCHTARGETS ? LABEL_BRANCHTARGETS
                  : word == WORD_CALLTARGETS ? LABEL_CALLTARGETS
                                             : LABEL_CALLPROTOTYPE;
    label->list = p->body.label_lists.n;
    bool good = word == WORD_CALLPROTOTYPE ? parse_prototype(p, &list) : parse_name_list(p, &list);
    if (p->unresolved) note_unresolved(p, p->body.operands.n, element_first);
    *vec_push(p->body_arena, &p->body.label_lists) = list;
    return good;
}

void add_label(struct parser *p, struct str text, struct span span) {
    uint32_t index = p->body.labels.n;
    struct label *label = vec_push(p->body_arena, &p->body.labels);
    *label = (struct label){.offset = span.begin, .instruction = p->body.instructions.n,
                            .scope = p->blocks.at[p->blocks.n - 1].scope, .list = NO_INDEX};
    declare(p, SYMBOL_LABEL, text, index, span);
    p->body.labels.at[index].name = names_find(&p->module->names, text);
}

// NAME: [.branchtargets ... | .calltargets ... | .callprototype ...]
static bool parse_label(struct parser *p, struct str text, struct span span) {
    uint32_t index = p->body.labels.n;
    advance(p);
    add_label(p, text, span);
    enum directive_word word = at_word(p);
    if (word != WORD_BRANCHTARGETS && word != WORD_CALLTARGETS && word != WORD_CALLPROTOTYPE)
        return true;
    struct label with_list = p->body.labels.at[index];
    bool good = parse_label_list(p, &with_list, word);
    p->body.labels.at[index] = with_list;
    return good;
}

// A word: a label, or an instruction's opcode.
static bool parse_word_statement(struct parser *p) {
    if (at(p, TOK_WORD) && followed_by_colon(p)) {
        struct str text = token_text(p);
        struct span span = token_span(p);
        advance(p);
        return parse_label(p, text, span);
    }
    struct instruction instruction = {.guard_operand = NO_INDEX};
    return parse_instruction(p, &instruction, p->body.elements.n);
}

// ---- directives -------------------------------------------------------------------------------

static bool parse_loc_numbers(struct parser *p, uint32_t *file, uint32_t *line, uint32_t *column) {
    uint64_t values[3];
    for (int i = 0; i < 3; i++)
        if (!parse_plain_integer(p, &values[i], "the file, line and column")) return false;
    for (int i = 0; i < 3; i++)
        if (values[i] > UINT32_MAX && values[i] < (uint64_t)INT32_MIN)
            report(p, RULE_BAD_CONSTANT, (struct span){p->previous_end - 1, p->previous_end},
                   "%llu is too large: numbers of `.loc` are below 2^32", (unsigned long long)values[i]);
    *file = (uint32_t)values[0];
    *line = (uint32_t)values[1];
    *column = (uint32_t)values[2];
    return true;
}

static bool expect_word(struct parser *p, struct str word, const char *expected) {
    if (!at(p, TOK_WORD) || !str_eq(token_text(p), word)) {
        unexpected(p, expected);
        return false;
    }
    advance(p);
    return true;
}

// .loc F L C [, function_name LABEL [+ N] [, inlined_at F L C]]: no semicolon.
static bool parse_loc(struct parser *p) {
    struct loc loc = {.offset = p->token.offset};
    uint64_t ignored;
    advance(p);
    if (!parse_loc_numbers(p, &loc.file, &loc.line, &loc.column)) return false;
    if (accept(p, TOK_COMMA)) {
        if (!expect_word(p, STR("function_name"), "`function_name`")) return false;
        if (!at(p, TOK_WORD) && !at(p, TOK_DOTTED)) {
            unexpected(p, "a label of `.debug_str`");
            return false;
        }
        loc.function_name = names_intern(&p->module->names, token_text(p));
        skip_token(p);
        if (accept(p, TOK_PLUS) && !parse_plain_integer(p, &ignored, "a number")) return false;
        if (!expect(p, TOK_COMMA, "`,`") || !expect_word(p, STR("inlined_at"), "`inlined_at`") ||
            !parse_loc_numbers(p, &loc.inlined_file, &loc.inlined_line, &loc.inlined_column))
            return false;
    }
    p->loc = p->body.locs.n;
    *vec_push(p->body_arena, &p->body.locs) = loc;
    return true;
}

static bool parse_directive(struct parser *p) {
    switch (at_word(p)) {
    case WORD_REG: case WORD_LOCAL: case WORD_SHARED: case WORD_GLOBAL:
    case WORD_CONST: case WORD_PARAM: case WORD_TEX:
        return parse_variable_statement(p, LINKAGE_NONE, p->token.offset);
    case WORD_LOC: return parse_loc(p);
    case WORD_PRAGMA: return parse_pragma(p);
    case WORD_NONE: unexpected(p, "a statement"); return false;
    case WORD_BRANCHTARGETS: case WORD_CALLTARGETS: case WORD_CALLPROTOTYPE:
        report(p, RULE_MISPLACED_DIRECTIVE, token_span(p), "`%.*s` needs a label before it",
               STR_ARG(token_text(p)));
        return false;
    default:
        report(p, RULE_MISPLACED_DIRECTIVE, token_span(p), "`%.*s` may not stand in a body",
               STR_ARG(token_text(p)));
        return false;
    }
}

// ---- statements -------------------------------------------------------------------------------

static void report_empty(struct parser *p) {
    struct finding *finding = report(p, RULE_EMPTY_STATEMENT, token_span(p), "empty statement");
    finding_help(p->findings, finding, "remove the `;`");
    advance(p);
}

void report_unclosed(struct parser *p) {
    const struct function *function = &p->module->functions.at[p->function];
    struct str name = names_text(&p->module->names, function->name);
    uint32_t brace = p->blocks.at[p->blocks.n - 1].offset;
    struct finding *finding =
        report(p, RULE_UNCLOSED_BRACE, (struct span){brace, brace + 1},
               "this `{` is not closed before the next function begins");
    finding_label(p->findings, finding, (struct place){p->source, token_span(p)},
                  "still inside `%.*s` here", STR_ARG(name));
    finding_help(p->findings, finding, "add the missing `}`");
}

static bool parse_statement(struct parser *p) {
    switch (p->token.kind) {
    case TOK_WORD: case TOK_DOTTED_WORD: return parse_word_statement(p);
    case TOK_AT: return parse_guarded(p);
    case TOK_DOTTED: return parse_directive(p);
    case TOK_SEMICOLON: report_empty(p); return true;
    default: unexpected(p, "a statement"); return false;
    }
}

void parse_body(struct parser *p) {
    advance(p);
    while (p->blocks.n > 0) {
        if (!p->options->plain && read_fast(p)) continue;
        uint32_t begin = p->token.offset;
        if (at(p, TOK_RBRACE)) {
            advance(p);
            close_block(p);
        } else if (at(p, TOK_LBRACE)) {
            if (p->blocks.n >= p->max_nesting) {
                limit_reached(p, token_span(p), "nesting", p->max_nesting);
                advance(p);
                continue;
            }
            open_block(p, begin);
            advance(p);
        } else if (at(p, TOK_END) || at_function_start(p)) {
            p->body.truncated = true;
            if (at(p, TOK_END)) unexpected(p, "`}`");
            else report_unclosed(p);
            while (p->blocks.n > 0) close_block(p);
        } else if (!parse_statement(p)) skip_statement(p, begin);
    }
}
