// Tokens of the launch language.
#ifndef PTXVET_ANALYZER_LAUNCH_LAUNCH_LEXER_H
#define PTXVET_ANALYZER_LAUNCH_LAUNCH_LEXER_H

#include "base/source.h"

enum launch_token {
    LAUNCH_END,
    LAUNCH_NAME,      // x, f32, _
    LAUNCH_INT,       // 4096, 4_096, 0x10, 16u
    LAUNCH_FLOAT,     // 2.5, 1e-05, .5f, 0f3F800000, 0d...
    LAUNCH_STRING,    // "a b.bin"
    LAUNCH_OPEN3,     // <<<
    LAUNCH_CLOSE3,    // >>>
    LAUNCH_SHL, LAUNCH_SHR,
    LAUNCH_PAREN, LAUNCH_PAREN_END,
    LAUNCH_BRACKET, LAUNCH_BRACKET_END,
    LAUNCH_COMMA, LAUNCH_EQUALS, LAUNCH_AT,
    LAUNCH_PLUS, LAUNCH_MINUS, LAUNCH_TIMES, LAUNCH_OVER, LAUNCH_MODULO,
    LAUNCH_SEMICOLON,
    LAUNCH_ERROR      // a byte, or an unfinished string, that begins no token
};

struct launch_lexer {
    const unsigned char *start, *cursor, *end;
    struct span span;  // of the newest token
};

// The text must be followed by a NUL, as a source's is.
enum launch_token launch_next(struct launch_lexer *lexer);

#endif
