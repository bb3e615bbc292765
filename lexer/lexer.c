#include "lexer/lexer.h"

// The end of the run of bytes above 127 that begins at `at`, or `at` + 1.
static const unsigned char *bad_run(const unsigned char *at) {
    const unsigned char *past = at + 1;
    while (*at > 127 && *past > 127) past++;
    return past;
}

// A comment or string holds a byte that it may not hold, at `bad`, or the text ends inside. The token
// given is that byte (or its run); the cursor moves past the closer, so that what stands behind the
// byte is not read as program text. Where no closer follows, the opening is the token.
static enum token_kind lex_bad_tail(struct lexer *scan, const unsigned char **begin,
                                    const unsigned char **stop, const unsigned char *bad,
                                    const char *closer) {
    size_t closer_length = strlen(closer);
    bool line = closer[0] == '\n';
    const unsigned char *found =
        memmem(bad, (size_t)(scan->end - bad), closer, closer_length);
    if (bad == scan->end && !line) {
        bool string = closer[0] == '"';
        *stop = *begin + (string ? 1 : 2);
        // An open string is taken to end with its line: more of the text is then read.
        const unsigned char *eol = memchr(*begin, '\n', (size_t)(scan->end - *begin));
        scan->cursor = string && eol != NULL ? eol : scan->end;
        return string ? TOK_OPEN_STRING : TOK_OPEN_COMMENT;
    }
    *begin = bad;
    *stop = bad_run(bad);
    scan->cursor = found == NULL ? scan->end : found + (line ? 0 : closer_length);
    if (*bad == '\0') return TOK_NUL;
    return closer[0] == '"' ? TOK_NON_ASCII : TOK_COMMENT_NON_ASCII;
}

#include "lexer/lexer.re.h"

void lex_init(struct lexer *lexer, const char *text, uint32_t size) {
    lexer->text = (const unsigned char *)text;
    lexer->cursor = lexer->text;
    lexer->end = lexer->text + size;
}

struct token lex_next(struct lexer *lexer) {
    const unsigned char *begin, *stop;
    enum token_kind kind = lex_scan(lexer, &begin, &stop);
    size_t length = (size_t)(stop - begin);
    if (length > TOKEN_LENGTH_MAX) {
        kind = TOK_TOO_LONG;
        length = TOKEN_LENGTH_MAX;
    }
    return (struct token){(uint32_t)(begin - lexer->text), length & TOKEN_LENGTH_MAX,
                          (unsigned)kind & 0xff};
}

const char *token_kind_text(enum token_kind kind) {
    static const char *const texts[TOK_COUNT] = {
        [TOK_END] = "the end of the file", [TOK_WORD] = "an identifier",
        [TOK_DOTTED_WORD] = "an identifier", [TOK_DOTTED] = "a directive",
        [TOK_INT] = "an integer", [TOK_FLOAT] = "a number", [TOK_HEX_FLOAT] = "a number",
        [TOK_STRING] = "a string", [TOK_DWARF] = "`@@DWARF`", [TOK_SINK] = "`_`",
        [TOK_COMMA] = "`,`", [TOK_SEMICOLON] = "`;`", [TOK_COLON] = "`:`", [TOK_AT] = "`@`",
        [TOK_LPAREN] = "`(`", [TOK_RPAREN] = "`)`", [TOK_LBRACKET] = "`[`",
        [TOK_RBRACKET] = "`]`", [TOK_LBRACE] = "`{`", [TOK_RBRACE] = "`}`", [TOK_LESS] = "`<`",
        [TOK_GREATER] = "`>`", [TOK_ASSIGN] = "`=`", [TOK_PIPE] = "`|`",
        [TOK_AMPERSAND] = "`&`", [TOK_CARET] = "`^`", [TOK_TILDE] = "`~`", [TOK_NOT] = "`!`",
        [TOK_PLUS] = "`+`", [TOK_MINUS] = "`-`", [TOK_STAR] = "`*`", [TOK_SLASH] = "`/`",
        [TOK_PERCENT] = "`%`", [TOK_QUESTION] = "`?`", [TOK_AND] = "`&&`", [TOK_OR] = "`||`",
        [TOK_EQUAL] = "`==`", [TOK_NOT_EQUAL] = "`!=`", [TOK_LESS_EQUAL] = "`<=`",
        [TOK_GREATER_EQUAL] = "`>=`", [TOK_SHIFT_LEFT] = "`<<`", [TOK_SHIFT_RIGHT] = "`>>`",
    };
    return texts[kind] == NULL ? "text" : texts[kind];
}
