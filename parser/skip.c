#include "parser/internal.h"

// Where a body ends, without reading it: braces are matched, comments and strings jumped over.

// Past the comment or string that begins at `at`, or NULL when it does not end.
static const unsigned char *skip_opaque(const unsigned char *at, const unsigned char *end) {
    const unsigned char *found;
    if (*at == '"') {
        found = memchr(at + 1, '"', (size_t)(end - at) - 1);
        return found == NULL ? NULL : found + 1;
    }
    if (at + 1 == end) return at + 1;
    if (at[1] == '/') {
        found = memchr(at, '\n', (size_t)(end - at));
        return found == NULL ? end : found;
    }
    if (at[1] != '*') return at + 1;
    found = memmem(at + 2, (size_t)(end - at) - 2, "*/", 2);
    return found == NULL ? NULL : found + 2;
}

// Past the brace that matches the one at `at`; NULL when there is none.
static const unsigned char *match_brace(const unsigned char *at, const unsigned char *end) {
    uint64_t depth = 0;
    while (at < end) {
        switch (*at) {
        case '{': depth++; at++; break;
        case '}':
            at++;
            if (--depth == 0) return at;
            break;
        case '"': case '/':
            at = skip_opaque(at, end);
            if (at == NULL) return NULL;
            break;
        default: at++;
        }
    }
    return NULL;
}

// The brace is never closed: to the end, or to the line that begins the next function.
static void skip_unclosed_body(struct parser *p) {
    advance(p);
    p->quiet = true;
    while (!at(p, TOK_END) && !at_function_start(p)) skip_token(p);
    p->quiet = false;
    if (at(p, TOK_END)) unexpected(p, "`}`");
    else report_unclosed(p);
}

void skip_body(struct parser *p) {
    const unsigned char *brace = p->lexer.text + p->token.offset;
    const unsigned char *past = match_brace(brace, p->lexer.end);
    if (past == NULL) {
        skip_unclosed_body(p);
        return;
    }
    p->lexer.cursor = past;
    p->token.offset = (uint32_t)(past - p->lexer.text) - 1;
    p->token.length = 1;
    advance(p);
}
