#include "lexer/words.h"

const struct str directive_word_texts[WORD_COUNT] = {
    [WORD_NONE] = {"", 0},
#define WORD(id, text) [WORD_##id] = {text, sizeof(text) - 1},
#include "lexer/words.def"
};

enum directive_word lex_directive(struct str text) {
    if (text.len < 4) return WORD_NONE;
    struct str name = {text.data + 1, text.len - 1};
    for (int word = 1; word < WORD_COUNT; word++) {
        struct str known = directive_word_texts[word];
        if (known.len == name.len && known.data[0] == name.data[0] && str_eq(known, name))
            return (enum directive_word)word;
    }
    return WORD_NONE;
}
