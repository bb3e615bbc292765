#include "parser/internal.h"

// Errors, and where to go on after one: behind the next `;`, or before a token that surely begins a
// statement, so that the rest of the text is still judged and nothing is complained of twice.

struct finding *report(struct parser *p, enum rule rule, struct span span, const char *format, ...) {
    struct finding *finding = finding_add(p->findings, rule, (struct place){p->source, span});
    va_list args;
    va_start(args, format);
    if (finding != &p->findings->spare)
        finding->message = str_vformat(p->findings->arena, format, args);
    va_end(args);
    if (p->function != NO_INDEX) {
        const struct function *function = &p->module->functions.at[p->function];
        if (function->kind == FUNCTION_ENTRY)
            finding->kernel = names_text(&p->module->names, function->name);
    }
    return finding;
}

static void report_end(struct parser *p) {
    if (p->ended) return;
    p->ended = true;
    struct span end = {p->source->size, p->source->size};
    if (p->blocks.n == 0 || p->function == NO_INDEX) {
        struct finding *finding =
            report(p, RULE_UNEXPECTED_END, end, "the file ends inside a statement");
        finding_help(p->findings, finding, "the text was cut: export or copy it again, whole");
        return;
    }
    const struct function *function = &p->module->functions.at[p->function];
    struct str name = names_text(&p->module->names, function->name);
    struct finding *finding = report(p, RULE_UNEXPECTED_END, end, "the file ends inside `%.*s`",
                                     STR_ARG(name));
    uint32_t brace = p->blocks.at[p->blocks.n - 1].offset;
    if (p->source->text[brace] == '{')
        finding_label(p->findings, finding, (struct place){p->source, {brace, brace + 1}},
                      "this `{` is never closed");
    finding_help(p->findings, finding, "add the missing `}`, or export or copy the text again, whole");
}

// Source text for a message: cut where it is long.
static struct str shown(struct str text, bool *cut) {
    *cut = text.len > 40;
    return *cut ? (struct str){text.data, 37} : text;
}

// Whether the token at hand is the last one of the text, inside a function: then the text was cut, and
// perhaps the token with it.
static bool at_cut(const struct parser *p) {
    if (at(p, TOK_END)) return true;
    if (p->function == NO_INDEX || at(p, TOK_RBRACE)) return false;
    struct lexer ahead = p->lexer;
    return ahead.end - ahead.cursor < 64 && lex_next(&ahead).kind == TOK_END;
}

void unexpected(struct parser *p, const char *expected) {
    if (at_cut(p)) {
        report_end(p);
        return;
    }
    if (p->token.kind >= TOK_BAD_NUMBER) return;  // the lexer's complaint was reported
    bool cut;
    struct str text = shown(token_text(p), &cut);
    report(p, RULE_UNEXPECTED_TOKEN, token_span(p), "unexpected `%.*s%s`, expected %s",
           STR_ARG(text), cut ? "..." : "", expected);
}

bool expect(struct parser *p, enum token_kind kind, const char *expected) {
    if (accept(p, kind)) return true;
    unexpected(p, expected);
    return false;
}

bool expect_semicolon(struct parser *p) {
    if (accept(p, TOK_SEMICOLON)) return true;
    bool ends_here = on_new_line(p) || at(p, TOK_RBRACE);
    if (!ends_here || p->token.kind >= TOK_BAD_NUMBER || at(p, TOK_END)) {
        unexpected(p, "`;`");
        return false;
    }
    struct span span = {p->previous_end, p->previous_end};
    struct finding *finding = report(p, RULE_MISSING_SEMICOLON, span,
                                     "missing `;` at the end of the statement");
    finding_help(p->findings, finding, "end the statement with `;`");
    return true;
}

static const char *bad_byte_text(unsigned char byte) {
    switch (byte) {
    case '#': return "`#` begins only line markers (`# 1 \"file\"`) in PTX";
    case '\'': return "PTX has no character constants";
    case '\\': return "PTX has no line continuation";
    default: return NULL;
    }
}

static void report_bad_number(struct parser *p) {
    struct str text = token_text(p);
    bool cut;
    struct str part = shown(text, &cut);
    struct finding *finding = report(p, RULE_MALFORMED_NUMBER, token_span(p),
                                     "`%.*s%s` is not a number", STR_ARG(part), cut ? "..." : "");
    char second = text.len > 1 ? text.data[1] : '\0';
    if (text.data[0] == '0' && (second == 'f' || second == 'F' || second == 'd' || second == 'D')) {
        bool single = second == 'f' || second == 'F';
        finding_help(p->findings, finding, "`0%c` takes exactly %d hexadecimal digits; there are %u",
                     second, single ? 8 : 16, text.len - 2);
    } else if (text.data[0] == '0' && second >= '0' && second <= '9')
        finding_help(p->findings, finding,
                     "a leading 0 makes it octal, whose digits are 0 to 7: drop the 0");
    else
        finding_help(p->findings, finding,
                     "integers may be decimal, 0x, 0b or octal, with the suffix `U` only");
}

void lexical_error(struct parser *p) {
    unsigned char byte = (unsigned char)p->source->text[p->token.offset];
    struct finding *finding;
    bool word = p->token.kind == TOK_BAD_NUMBER || byte == '.' || byte == '$';
    if (word && p->lexer.cursor == p->lexer.end && p->function != NO_INDEX)
        return;  // the text was cut inside the token
    switch (p->token.kind) {
    case TOK_BAD_NUMBER: report_bad_number(p); return;
    case TOK_BAD_BYTE:
        finding = report(p, RULE_UNEXPECTED_BYTE, token_span(p),
                         byte > 32 && byte < 127 ? "`%c` begins no token of PTX"
                                                 : "byte 0x%02x begins no token of PTX", byte);
        if (bad_byte_text(byte) != NULL)
            finding_note(p->findings, finding, "%s", bad_byte_text(byte));
        return;
    case TOK_NON_ASCII:
    case TOK_COMMENT_NON_ASCII:
        finding = report(p, RULE_NON_ASCII, token_span(p), "byte 0x%02x is not ASCII", byte);
        finding_note(p->findings, finding,
                     "bytes above 127 are refused everywhere, in comments and strings too");
        finding_help(p->findings, finding, "remove it, or write it in ASCII");
        return;
    case TOK_NUL:
        if (p->nul_reported) return;
        p->nul_reported = true;
        finding = report(p, RULE_NUL_BYTE, token_span(p), "NUL byte inside the text");
        finding_note(p->findings, finding, "the assembler and the driver stop reading here");
        return;
    case TOK_OPEN_COMMENT:
        finding = report(p, RULE_UNTERMINATED_COMMENT, token_span(p), "no `*/` ends this comment");
        finding_help(p->findings, finding, "close the comment, or export or copy the text again, whole");
        p->ended = true;
        return;
    case TOK_OPEN_STRING:
        finding = report(p, RULE_UNTERMINATED_STRING, token_span(p), "no `\"` ends this string");
        finding_help(p->findings, finding, "close the string");
        return;
    default:
        limit_reached(p, (struct span){p->token.offset, p->token.offset + 1}, "token length in bytes",
                      TOKEN_LENGTH_MAX);
    }
}

bool limit_reached(struct parser *p, struct span span, const char *what, uint64_t limit) {
    if (!p->limited) {
        struct finding *finding = report(p, RULE_LIMIT, span, "this exceeds the limit of %s: %llu",
                                         what, (unsigned long long)limit);
        finding_note(p->findings, finding, "the rest of the file was not judged");
    }
    p->limited = true;
    p->ended = true;
    p->lexer.cursor = p->lexer.end;  // what follows is the end
    return false;
}

bool enter(struct parser *p) {
    if (++p->depth <= p->max_nesting) return true;
    return limit_reached(p, token_span(p), "nesting", p->max_nesting);
}

// ---- going on ---------------------------------------------------------------------------------

static bool is_space_byte(char byte) {
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\f';
}

// Whether only blanks stand before the token in its line.
static bool begins_line(const struct parser *p) {
    const char *text = p->source->text;
    uint32_t offset = p->token.offset;
    for (int i = 0; offset > 0 && i < 256 && is_space_byte(text[offset - 1]); i++) offset--;
    return offset == 0 || text[offset - 1] == '\n';
}

bool followed_by_colon(const struct parser *p) {
    const unsigned char *at = p->lexer.cursor;
    while (is_space_byte((char)*at)) at++;
    return *at == ':' && at[1] != ':';
}

bool begins_statement(const struct parser *p) {
    struct str text = token_text(p);
    uint32_t dot = 0;
    if (at(p, TOK_AT)) return true;
    if (at(p, TOK_DOTTED)) return at_word(p) != WORD_NONE;
    if (!at(p, TOK_WORD) && !at(p, TOK_DOTTED_WORD)) return false;
    while (dot < text.len && text.data[dot] != '.') dot++;
    if (isa_opcode_find((struct str){text.data, dot}) != OP_UNKNOWN) return true;
    return at(p, TOK_WORD) && followed_by_colon(p);
}

void skip_statement(struct parser *p, uint32_t begin) {
    uint32_t depth = 0;
    while (!at(p, TOK_END)) {
        bool fresh = p->token.offset > begin && begins_line(p);
        if (fresh && (at(p, TOK_RBRACE) || begins_statement(p))) return;
        if (at(p, TOK_RBRACE) && depth == 0) return;
        if (accept(p, TOK_SEMICOLON)) return;
        if (at(p, TOK_LBRACE)) depth++;
        if (at(p, TOK_RBRACE)) depth--;
        skip_token(p);
    }
}

static bool begins_function(enum directive_word word) {
    return word == WORD_ENTRY || word == WORD_FUNC || word == WORD_VISIBLE ||
           word == WORD_EXTERN || word == WORD_WEAK;
}

static bool begins_module_statement(enum directive_word word) {
    return begins_function(word) || word == WORD_GLOBAL || word == WORD_CONST ||
           word == WORD_COMMON || word == WORD_SECTION || word == WORD_FILE ||
           word == WORD_ALIAS || word == WORD_PRAGMA || word == WORD_VERSION ||
           word == WORD_TARGET || word == WORD_ADDRESS_SIZE || word == WORD_SHARED;
}

bool at_function_start(const struct parser *p) {
    return at(p, TOK_DOTTED) && begins_function(at_word(p)) && begins_line(p);
}

void skip_to_module_level(struct parser *p, bool one_statement) {
    uint32_t depth = 0, begin = p->token.offset;
    for (; !at(p, TOK_END); skip_token(p)) {
        bool fresh = p->token.offset > begin || !one_statement;
        if (fresh && at(p, TOK_DOTTED) && begins_line(p)) {
            enum directive_word word = at_word(p);
            if (begins_function(word) || (depth == 0 && begins_module_statement(word))) return;
        }
        if (at(p, TOK_DWARF) && depth == 0) return;
        bool closed = at(p, TOK_RBRACE) && depth <= 1;
        if (one_statement && (closed || (depth == 0 && at(p, TOK_SEMICOLON)))) {
            advance(p);
            return;
        }
        if (at(p, TOK_LBRACE)) depth++;
        if (at(p, TOK_RBRACE) && depth > 0) depth--;
    }
}
