// PTX text to tokens, one at a time, without copying. PTX ISA, "Syntax"; where the text of the manual
// and ptxas 13.0 differ, as ptxas reads it.
//
// The lexer knows no keywords and reports nothing: what is no token is one of the error kinds, and
// the parser says what that means. A word and the dotted words that follow it without a blank are
// one token, so that `ld.global.v4.u32` and `%tid.x` need one step.
#ifndef PTXVET_LEXER_LEXER_H
#define PTXVET_LEXER_LEXER_H

#include "base/source.h"

enum token_kind {
    TOK_END,           // the end of the text, with no length
    TOK_WORD,          // an identifier: ret, %r1, $L__BB0_1
    TOK_DOTTED_WORD,   // an identifier and its suffixes: add.s32, %tid.x
    TOK_DOTTED,        // .reg, .shared::cluster, .2d
    TOK_INT,           // decimal, 0x, 0b, octal; with or without U
    TOK_FLOAT,         // 1.0, .5, 5., 1e10
    TOK_HEX_FLOAT,     // 0f and 8 hexadecimal digits, 0d and 16
    TOK_STRING,        // with its quotes; may span lines
    TOK_DWARF,         // a line of `@@DWARF`
    TOK_SINK,          // _
    TOK_COMMA, TOK_SEMICOLON, TOK_COLON, TOK_AT,
    TOK_LPAREN, TOK_RPAREN, TOK_LBRACKET, TOK_RBRACKET, TOK_LBRACE, TOK_RBRACE,
    TOK_LESS, TOK_GREATER, TOK_ASSIGN, TOK_PIPE, TOK_AMPERSAND, TOK_CARET, TOK_TILDE, TOK_NOT,
    TOK_PLUS, TOK_MINUS, TOK_STAR, TOK_SLASH, TOK_PERCENT, TOK_QUESTION,
    TOK_AND, TOK_OR, TOK_EQUAL, TOK_NOT_EQUAL, TOK_LESS_EQUAL, TOK_GREATER_EQUAL,
    TOK_SHIFT_LEFT, TOK_SHIFT_RIGHT,
    // Errors.
    TOK_BAD_NUMBER,    // a number that runs into letters or digits: 08, 0f3F80, 1u
    TOK_BAD_BYTE,      // a byte that begins no token: #, ', \, a control character
    TOK_NON_ASCII,     // a run of bytes above 127, in program text or in a string
    TOK_COMMENT_NON_ASCII,  // the same in a comment; the next token is the one behind the comment
    TOK_NUL,           // a NUL byte inside the text
    TOK_OPEN_COMMENT,  // a comment that no */ ends
    TOK_OPEN_STRING,   // a string that no quote ends
    TOK_TOO_LONG,      // a token of more than TOKEN_LENGTH_MAX bytes
    TOK_COUNT
};

enum { TOKEN_LENGTH_MAX = (1 << 24) - 1 };

struct token {
    uint32_t offset;
    uint32_t length : 24;
    uint32_t kind : 8;  // enum token_kind
};

struct lexer {
    const unsigned char *text;    // followed by a NUL at `end`
    const unsigned char *cursor;  // where the next token is looked for
    const unsigned char *end;
};

void lex_init(struct lexer *lexer, const char *text, uint32_t size);

// The next token. At the end it gives TOK_END, again and again.
struct token lex_next(struct lexer *lexer);

// What a token is called in messages: "`;`", "identifier"; never NULL.
const char *token_kind_text(enum token_kind kind);

#endif
