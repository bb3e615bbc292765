// Tokens to a module, with recovery: all independent mistakes of a text in one run, one finding for
// each broken statement.
#ifndef PTXVET_PARSER_PARSER_H
#define PTXVET_PARSER_PARSER_H

#include "findings/findings.h"
#include "parser/module.h"

struct parse_options {
    bool signatures_only;  // skip the bodies: function.body stays NULL
    // Called after each function's body was parsed. With it set, what the body added to the module
    // is taken back when it returns, and its memory used again (function->body becomes NULL, and
    // function->variables holds the parameters only); else bodies are kept. May be NULL.
    void (*function_done)(void *context, struct module *module, uint32_t function);
    void *context;
    bool plain;  // read every statement token by token: slow, with the same outcome; for tests
    // Nesting of blocks, parentheses and braces past which the text is refused; 0: the default.
    uint32_t max_nesting;
};

enum parse_status {
    PARSE_DONE,        // findings say what was wrong, if anything
    PARSE_LIMIT,       // a stated limit was reached; a finding names it; the tool ends with exit 2
    PARSE_INTERNAL,    // an `.entry` is neither a function nor inside anything reported: a bug of ours
};

// Parses `source`. The module lives in `arena`; bodies live in `body_arena` (which may be the same
// arena when bodies are kept). Findings of families 01 to 03 are added to `findings`.
enum parse_status parse_module(struct source *source, struct arena *arena,
                               struct arena *body_arena, const struct parse_options *options,
                               struct findings *findings, struct module **module);

#endif
