// Tokens lie inside the text, one behind the other, and the end is reached.
#include "lexer/lexer.h"
#include "tests/fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct target t;
    struct lexer lexer;
    target_begin(&t, data, size);
    lex_init(&lexer, t.text, (uint32_t)size);
    const unsigned char *before = lexer.cursor;
    uint64_t past = 0;
    for (;;) {
        struct token token = lex_next(&lexer);
        MUST(token.offset >= past && (uint64_t)token.offset + token.length <= size);
        past = (uint64_t)token.offset + token.length;
        MUST(lexer.cursor >= before && lexer.cursor <= lexer.end);
        if (token.kind == TOK_END) break;
        MUST(token.length > 0 && lexer.cursor > before);
        MUST(token_kind_text((enum token_kind)token.kind) != NULL);
        before = lexer.cursor;
    }
    MUST(lexer.cursor == lexer.end);
    target_end(&t);
    return 0;
}
