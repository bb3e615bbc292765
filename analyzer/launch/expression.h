// Expressions of the launch language, and the parser state that they share with the rest of it.
#ifndef PTXVET_ANALYZER_LAUNCH_EXPRESSION_H
#define PTXVET_ANALYZER_LAUNCH_EXPRESSION_H

#include "analyzer/launch/launch.h"
#include "analyzer/launch/launch_lexer.h"

struct launch_parser {
    struct launch_lexer lexer;
    enum launch_token token;   // the one to be read next; its span is lexer.span
    uint32_t last_end;         // end of the token before it
    struct source *source;
    struct arena *arena;
    const struct launch_names *names;
    struct findings *findings;
    uint32_t depth;
    bool failed;               // the one finding was made; all that follows is false
};

// An integer between -2^63 and 2^64 - 1, or a double.
struct launch_value {
    bool is_float, negative, hex, is_bool;
    uint64_t magnitude;
    double number;             // is_float; else the same value, rounded
    struct span span;
};

void launch_parser_init(struct launch_parser *parser, struct source *source, struct arena *arena,
                        const struct launch_names *names, struct findings *findings);

void launch_advance(struct launch_parser *parser);
struct str launch_token_text(const struct launch_parser *parser);

// Whether the next token is this name.
bool launch_at_name(const struct launch_parser *parser, const char *name);

// Reads the token if it is the next one.
bool launch_accept(struct launch_parser *parser, enum launch_token token);

// The same, and a finding "expected `what`" if it is not.
bool launch_expect(struct launch_parser *parser, enum launch_token token, const char *what);

// Makes the parse fail: the first call makes the finding, later ones nothing. Always false.
bool launch_fail(struct launch_parser *parser, struct span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Adds the help to the finding that launch_fail just made. Always false.
bool launch_fail_help(struct launch_parser *parser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

bool launch_expression(struct launch_parser *parser, struct launch_value *value);

// An integer that is not negative; `what` names it in findings: "the number of elements".
bool launch_unsigned(struct launch_parser *parser, const char *what, uint64_t *out);

#endif
