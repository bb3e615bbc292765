// What the fuzz targets share. Each target is one file with LLVMFuzzerTestOneInput: libFuzzer and
// AFL++ drive it, and replay.c runs it over files as an ordinary test.
#ifndef PTXVET_TESTS_FUZZ_TARGET_H
#define PTXVET_TESTS_FUZZ_TARGET_H

#include <stdlib.h>

#include "findings/findings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A claim that must hold for every input.
#define MUST(claim) ((claim) ? (void)0 : abort())

enum { TARGET_MEMORY = 64 * 1024 * 1024 };

// One run: a text of its own, so that a byte read behind it is noticed, and bounded memory.
struct target {
    struct memory memory;
    struct arena arena, bodies;
    struct source source;
    struct findings findings;
    char *text;
};

static inline void target_begin(struct target *t, const uint8_t *data, size_t size) {
    memset(t, 0, sizeof *t);
    t->memory.limit = TARGET_MEMORY;
    t->text = malloc(size + 1);
    MUST(t->text != NULL);
    if (size != 0) memcpy(t->text, data, size);
    t->text[size] = '\0';
    arena_init(&t->arena, &t->memory);
    arena_init(&t->bodies, &t->memory);
}

// After setjmp(t->memory.edge): these allocate.
static inline void target_open(struct target *t, size_t size) {
    source_init(&t->source, &t->arena, STR("input"), t->text, (uint32_t)size);
    findings_init(&t->findings, &t->arena, 1000);
}

static inline void target_end(struct target *t) {
    arena_destroy(&t->bodies);
    arena_destroy(&t->arena);
    free(t->text);
}

// Every place lies inside its text, and every finding says something.
static inline void target_check_findings(const struct target *t) {
    for (uint32_t i = 0; i < t->findings.list.n; i++) {
        const struct finding *finding = t->findings.list.at[i];
        MUST(finding->message.len != 0);
        if (finding->place.source == NULL) continue;
        MUST(finding->place.span.begin <= finding->place.span.end);
        MUST(finding->place.span.end <= finding->place.source->size);
    }
}

#endif
