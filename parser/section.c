#include "parser/internal.h"

// Data for debuggers. PTX ISA, "Debugging Directives: .section"; what is taken and what is not was
// measured on ptxas 13.0 (tests/probes/sections.tsv):
//   .section .NAME { LABEL:  .b8 1, -2  .b32 LABEL+4  .b64 LABEL-LABEL  .b32 .debug_abbrev }

struct data_type {
    struct str text;
    int64_t least;
    uint64_t most;
    bool addresses; // a label or section may stand there
};

static const struct data_type data_types[] = {
    {{"b8", 2}, INT8_MIN, UINT8_MAX, false},     {{"byte", 4}, INT8_MIN, UINT8_MAX, false},
    {{"b16", 3}, INT16_MIN, UINT16_MAX, false},  {{"b32", 3}, INT32_MIN, UINT64_MAX, true},
    {{"4byte", 5}, INT32_MIN, UINT64_MAX, true}, {{"b64", 3}, -INT64_MAX, UINT64_MAX, true},
    {{"quad", 4}, -INT64_MAX, UINT64_MAX, true},
};

static const struct data_type *find_data_type(struct str dotted) {
    struct str text = {dotted.data + 1, dotted.len - 1};
    for (uint32_t i = 0; i < sizeof data_types / sizeof *data_types; i++)
        if (str_eq(data_types[i].text, text)) return &data_types[i];
    return NULL;
}

static bool parse_data_number(struct parser *p, const struct data_type *type) {
    struct span span = token_span(p);
    bool negative = accept(p, TOK_MINUS), is_unsigned;
    if (negative && p->module->section_negative.end == 0) p->module->section_negative = span;
    if (!at(p, TOK_INT)) {
        unexpected(p, "an integer");
        return false;
    }
    uint64_t value = integer_value(token_text(p), &is_unsigned);
    span.end = p->token.offset + p->token.length;
    advance(p);
    bool fits = negative ? value <= (uint64_t) - (type->least + 1) + 1 : value <= type->most;
    if (!fits)
        report(p, RULE_BAD_CONSTANT, span, "%s%llu does not fit .%.*s", negative ? "-" : "",
               (unsigned long long)value, STR_ARG(type->text));
    return true;
}

static bool parse_numbers(struct parser *p, const struct data_type *type) {
    do {
        if (!parse_data_number(p, type)) return false;
    } while (accept(p, TOK_COMMA));
    return true;
}

static bool expect_integer(struct parser *p) {
    uint64_t ignored;
    return parse_plain_integer(p, &ignored, "an integer");
}

// LABEL, LABEL+4, LABEL-LABEL, .debug_abbrev, .debug_abbrev+4: one, no list.
static bool parse_reference(struct parser *p, const struct data_type *type) {
    struct span span = token_span(p);
    bool is_label = at(p, TOK_WORD);
    if (!is_label && (at_word(p) != WORD_NONE || find_data_type(token_text(p)) != NULL)) {
        unexpected(p, "a label, a section or an integer");
        return false;
    }
    advance(p);
    if (!type->addresses)
        report(p, RULE_BAD_CONSTANT, span, "an address does not fit .%.*s", STR_ARG(type->text));
    if (accept(p, TOK_PLUS)) return expect_integer(p);
    if (!is_label || !accept(p, TOK_MINUS)) return true;
    if (p->module->section_negative.end == 0) p->module->section_negative = span;
    return expect(p, TOK_WORD, "a label");
}

static bool parse_data(struct parser *p) {
    const struct data_type *type = find_data_type(token_text(p));
    if (type == NULL) {
        struct str text = token_text(p);
        if (isa_type_find((struct str){text.data + 1, text.len - 1}) == TYPE_NONE)
            unexpected(p, "a type of debugging data");
        else
            report(p, RULE_UNKNOWN_TYPE, token_span(p),
                   "debugging data is of type .b8, .b16, .b32 or .b64, not `%.*s`", STR_ARG(text));
        return false;
    }
    advance(p);
    if (at(p, TOK_WORD) || at(p, TOK_DOTTED)) return parse_reference(p, type);
    return parse_numbers(p, type);
}

static bool parse_section_label(struct parser *p) {
    if (p->module->section_label.end == 0) p->module->section_label = token_span(p);
    advance(p);
    return expect(p, TOK_COLON, "`:`");
}

static bool parse_items(struct parser *p) {
    while (at(p, TOK_WORD) || at(p, TOK_DOTTED))
        if (!(at(p, TOK_WORD) ? parse_section_label(p) : parse_data(p))) return false;
    return true;
}

bool parse_section(struct parser *p) {
    uint32_t begin = p->token.offset;
    advance(p);
    if (at(p, TOK_DOTTED) && (at_word(p) != WORD_NONE || find_data_type(token_text(p)) != NULL)) {
        unexpected(p, "a section's name");
        return false;
    }
    if (!expect(p, TOK_DOTTED, "a section's name") || !expect(p, TOK_LBRACE, "`{`")) return false;
    if (!parse_items(p) || !expect(p, TOK_RBRACE, "debugging data or `}`")) return false;
    *vec_push(p->arena, &p->module->sections) = (struct span){begin, p->previous_end};
    p->module->has_dwarf = true;
    return true;
}
