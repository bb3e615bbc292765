// Judges many small PTX texts in one process: what tools/instances.py and tools/forms.py drive.
//
// Standard input: texts, each ended by a NUL. Standard output, a line each: how many errors, and
// with -v the line, code and message of each.
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/rules/check.h"

static char *read_all(size_t *size) {
    size_t capacity = 1 << 20;
    char *data = malloc(capacity);
    *size = 0;
    while (data != NULL) {
        size_t got = fread(data + *size, 1, capacity - *size, stdin);
        if (got == 0) break;
        *size += got;
        if (*size == capacity) data = realloc(data, capacity *= 2);
    }
    return data;
}

static void print_findings(struct source *source, const struct findings *findings) {
    for (uint32_t i = 0; i < findings->list.n; i++) {
        const struct finding *finding = findings->list.at[i];
        if (finding->severity != SEVERITY_ERROR) continue;
        struct position at = source_position(source, finding->place.span.begin);
        printf("\t%u %s %.*s", at.line, rule_infos[finding->rule].code,
               STR_ARG(finding->message));
        if (finding->help.len != 0) printf(" [%.*s]", STR_ARG(finding->help));
    }
}

static void judge(struct memory *memory, const char *text, uint32_t size, bool verbose) {
    struct arena arena, body;
    struct source source;
    struct findings findings;
    struct module *module;
    struct check_options options = {.as = CHECK_AS_ASSEMBLER};
    arena_init(&arena, memory);
    arena_init(&body, memory);
    source_init(&source, &arena, STR("-"), text, size);
    findings_init(&findings, &arena, 0);
    check_source(&source, &arena, &body, &options, &findings, &module);
    printf("%u", findings_count(&findings, SEVERITY_ERROR));
    if (verbose) print_findings(&source, &findings);
    putchar('\n');
    arena_destroy(&body);
    arena_destroy(&arena);
}

// False when memory ran out.
static bool judge_all(struct memory *memory, const char *data, size_t size, bool verbose) {
    if (setjmp(memory->edge) != 0) return false;
    for (size_t at = 0; at < size;) {
        size_t length = strnlen(data + at, size - at);
        judge(memory, data + at, (uint32_t)length, verbose);
        at += length + 1;
    }
    return true;
}

int main(int argc, char **argv) {
    static struct memory memory;
    size_t size;
    char *data = read_all(&size);
    bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    bool done = data != NULL && judge_all(&memory, data, size, verbose);
    free(data);
    if (!done) fputs("isa_batch: out of memory\n", stderr);
    return done ? 0 : 2;
}
