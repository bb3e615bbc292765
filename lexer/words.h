// The directives of PTX, as words. A row: WORD(id, text without the dot).
#ifndef PTXVET_LEXER_WORDS_H
#define PTXVET_LEXER_WORDS_H

#include "base/str.h"

enum directive_word {
    WORD_NONE,
#define WORD(id, text) WORD_##id,
#include "lexer/words.def"
    WORD_COUNT
};

// The directive that `text`, with its dot, names; WORD_NONE when it names none.
enum directive_word lex_directive(struct str text);

extern const struct str directive_word_texts[WORD_COUNT];  // without the dot

#endif
