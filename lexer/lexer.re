// The scanner of PTX, for re2c 3.0. Included by lexer.c (and by whoever wants it inlined): defines
// lex_scan, which moves the cursor past one token and gives its kind, its begin and its end.
//
// Sentinel method: the text ends with one NUL. Comments are scanned here too, since bytes above 127
// are refused even inside them.

static inline enum token_kind lex_scan(struct lexer *scan, const unsigned char **begin,
                                       const unsigned char **stop) {
    const unsigned char *cursor = scan->cursor, *marker, *token;
#define LEX_GIVE(kind)                    \
    do {                                  \
        *begin = token;                   \
        *stop = scan->cursor = cursor;    \
        return kind;                      \
    } while (0)
// The byte at the cursor, inside a comment or string, is NUL or above 127.
#define LEX_BAD_TAIL(closer)                                        \
    do {                                                            \
        *begin = token;                                             \
        return lex_bad_tail(scan, begin, stop, cursor, closer);     \
    } while (0)
    for (;;) {
        token = cursor;
        /*!re2c
            re2c:define:YYCTYPE = "unsigned char";
            re2c:define:YYCURSOR = cursor;
            re2c:define:YYMARKER = marker;
            re2c:yyfill:enable = 0;
            re2c:sentinel = 0;

            digit = [0-9];
            hex = [0-9a-fA-F];
            letter = [A-Za-z];
            name = [A-Za-z0-9_$];
            word = letter name* | [_$%] name+;
            suffix = "." name+ ("::" name+)*;
            integer = ([1-9] digit* | "0" [0-7]* | "0" [xX] hex+ | "0" [bB] [01]+) "U"?;
            exponent = [eE] [+-]? digit+;
            float = (digit+ "." digit* | "." digit+) exponent? | digit+ exponent;
            hex_float = "0" [fF] hex{8} | "0" [dD] hex{16};
            blank = [ \t\r\n\f\x1a];  // ptxas skips ^Z wherever it stands
            ascii = [\x01-\x7f];

            "\x00" {
                if (token == scan->end) {
                    cursor = token;
                    LEX_GIVE(TOK_END);
                }
                LEX_GIVE(TOK_NUL);
            }
            blank+ { continue; }
            "//" (ascii \ "\n")* {
                if (*cursor == '\n' || cursor == scan->end) continue;
                LEX_BAD_TAIL("\n");
            }
            "/*" { goto comment; }
            "#" [ \t]* digit+ [ \t]+ ["] (ascii \ [\n"])* ["] (ascii \ "\n")* { continue; }

            integer { LEX_GIVE(TOK_INT); }
            float { LEX_GIVE(TOK_FLOAT); }
            hex_float { LEX_GIVE(TOK_HEX_FLOAT); }
            word { LEX_GIVE(TOK_WORD); }
            word suffix+ { LEX_GIVE(TOK_DOTTED_WORD); }
            suffix { LEX_GIVE(TOK_DOTTED); }
            (digit+ | float) name+ { LEX_GIVE(TOK_BAD_NUMBER); }
            ["] { goto string; }
            "@@DWARF" (ascii \ "\n")* { LEX_GIVE(TOK_DWARF); }
            "_" { LEX_GIVE(TOK_SINK); }
            "," { LEX_GIVE(TOK_COMMA); }
            ";" { LEX_GIVE(TOK_SEMICOLON); }
            ":" { LEX_GIVE(TOK_COLON); }
            "@" { LEX_GIVE(TOK_AT); }
            "(" { LEX_GIVE(TOK_LPAREN); }
            ")" { LEX_GIVE(TOK_RPAREN); }
            "[" { LEX_GIVE(TOK_LBRACKET); }
            "]" { LEX_GIVE(TOK_RBRACKET); }
            "{" { LEX_GIVE(TOK_LBRACE); }
            "}" { LEX_GIVE(TOK_RBRACE); }
            "<" { LEX_GIVE(TOK_LESS); }
            ">" { LEX_GIVE(TOK_GREATER); }
            "=" { LEX_GIVE(TOK_ASSIGN); }
            "|" { LEX_GIVE(TOK_PIPE); }
            "&" { LEX_GIVE(TOK_AMPERSAND); }
            "^" { LEX_GIVE(TOK_CARET); }
            "~" { LEX_GIVE(TOK_TILDE); }
            "!" { LEX_GIVE(TOK_NOT); }
            "+" { LEX_GIVE(TOK_PLUS); }
            "-" { LEX_GIVE(TOK_MINUS); }
            "*" { LEX_GIVE(TOK_STAR); }
            "/" { LEX_GIVE(TOK_SLASH); }
            "%" { LEX_GIVE(TOK_PERCENT); }
            "?" { LEX_GIVE(TOK_QUESTION); }
            "&&" { LEX_GIVE(TOK_AND); }
            "||" { LEX_GIVE(TOK_OR); }
            "==" { LEX_GIVE(TOK_EQUAL); }
            "!=" { LEX_GIVE(TOK_NOT_EQUAL); }
            "<=" { LEX_GIVE(TOK_LESS_EQUAL); }
            ">=" { LEX_GIVE(TOK_GREATER_EQUAL); }
            "<<" { LEX_GIVE(TOK_SHIFT_LEFT); }
            ">>" { LEX_GIVE(TOK_SHIFT_RIGHT); }
            [\x80-\xff]+ { LEX_GIVE(TOK_NON_ASCII); }
            * { LEX_GIVE(TOK_BAD_BYTE); }
        */
    comment:
        /*!re2c
            "*" "/" { continue; }
            [\x01-\x7f] { goto comment; }
            * { cursor--; LEX_BAD_TAIL("*/"); }
        */
    string:
        /*!re2c
            ["] { LEX_GIVE(TOK_STRING); }
            [\x01-\x7f] { goto string; }
            * { cursor--; LEX_BAD_TAIL("\""); }
        */
    }
#undef LEX_GIVE
#undef LEX_BAD_TAIL
}
