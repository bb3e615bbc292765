// Prints the words of PTX and of the launch language as a fuzzer's dictionary, from the tables.
#include <stdio.h>

#include "isa/isa.h"
#include "lexer/words.h"

static void print_word(const char *before, struct str text, const char *after) {
    if (text.len != 0) printf("\"%s%.*s%s\"\n", before, STR_ARG(text), after);
}

int main(void) {
    static const char *const pieces[] = {
        "{", "}", ";", "[", "]", "(", ")", "%r1", "%rd1", "%p1", "@%p1 ", "@!%p1 ", "%r<5>", "L:", "bra L;",
        "ret;", ", ", "+-4", "0f3F800000", "0d3FF0000000000000", "0x10", "WARP_SZ", "_", "|", "// x\\x0a",
        "/*", "*/", "\\\"", ".version 8.7\\x0a", ".target sm_90a\\x0a", ".address_size 64\\x0a", ".param .u64 x",
        "<<<1, 128, 0>>>", "f32[4096]@16", "null", "cluster=(2,1,1)", "optin=auto", "dim3(1,1,1)", "KiB",
        "cdiv(4,2)", "bytes[24]@8", "=iota", "cooperative", "ptr@8", "i64(1)", "packed=8"};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) printf("\"%s\"\n", pieces[i]);
    for (int i = 1; i < WORD_COUNT; i++) print_word(".", directive_word_texts[i], " ");
    for (int i = 1; i < OP_COUNT; i++) print_word("", isa_opcode_texts[i], "");
    for (int i = 1; i < MOD_COUNT; i++) print_word(".", isa_mod_texts[i], "");
    for (int i = 1; i < TYPE_COUNT; i++) print_word(".", isa_types[i].text, " ");
    for (int i = 0; i < SREG_COUNT; i++) print_word("", isa_sregs[i].text, "");
    return 0;
}
