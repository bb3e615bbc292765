// The launch language's lexer: sentinel method, one NUL behind the text.
#include "analyzer/launch/launch_lexer.h"

static enum launch_token launch_end_or_nul(struct launch_lexer *lexer) {
    if (lexer->cursor <= lexer->end) return LAUNCH_ERROR;  // a NUL inside the text
    lexer->cursor = lexer->end;
    lexer->span.begin = (uint32_t)(lexer->end - lexer->start);
    return LAUNCH_END;
}

static enum launch_token launch_scan(struct launch_lexer *lexer) {
    const unsigned char *marker;
again:
    lexer->span.begin = (uint32_t)(lexer->cursor - lexer->start);
    /*!re2c
    re2c:yyfill:enable = 0;
    re2c:sentinel = 0;
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = lexer->cursor;
    re2c:define:YYMARKER = marker;

    digit = [0-9];
    digits = digit (digit | "_")*;
    suffix = [uU] [lL]? [lL]? | [lL] [lL]? [uU]?;
    exponent = [eE] [+-]? digit+;

    "\x00" { return launch_end_or_nul(lexer); }
    [ \t\r\n]+ { goto again; }
    [A-Za-z_$] [A-Za-z0-9_$]* { return LAUNCH_NAME; }
    digits suffix? | "0" [xX] [0-9a-fA-F_]+ suffix? { return LAUNCH_INT; }
    (digits "." digit* | "." digit+) exponent? [fF]? | digits exponent [fF]? { return LAUNCH_FLOAT; }
    "0" [fF] [0-9a-fA-F]{8} | "0" [dD] [0-9a-fA-F]{16} { return LAUNCH_FLOAT; }
    ["] [^"\x00\n]* ["] { return LAUNCH_STRING; }
    "<<<" { return LAUNCH_OPEN3; }
    ">>>" { return LAUNCH_CLOSE3; }
    "<<" { return LAUNCH_SHL; }
    ">>" { return LAUNCH_SHR; }
    "(" { return LAUNCH_PAREN; }
    ")" { return LAUNCH_PAREN_END; }
    "[" { return LAUNCH_BRACKET; }
    "]" { return LAUNCH_BRACKET_END; }
    "," { return LAUNCH_COMMA; }
    "=" { return LAUNCH_EQUALS; }
    "@" { return LAUNCH_AT; }
    "+" { return LAUNCH_PLUS; }
    "-" { return LAUNCH_MINUS; }
    "*" { return LAUNCH_TIMES; }
    "/" "/"? { return LAUNCH_OVER; }
    "%" { return LAUNCH_MODULO; }
    ";" { return LAUNCH_SEMICOLON; }
    [^\x00] { return LAUNCH_ERROR; }
    */
}

enum launch_token launch_next(struct launch_lexer *lexer) {
    enum launch_token token = launch_scan(lexer);
    lexer->span.end = (uint32_t)(lexer->cursor - lexer->start);
    return token;
}
