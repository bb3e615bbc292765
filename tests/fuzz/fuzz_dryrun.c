// A launch judged and run dry: the first line is the launch, the rest is the PTX.
#include "analyzer/launch/judge.h"
#include "analyzer/rules/check.h"
#include "tests/fuzz/target.h"

static void judge(struct target *t, const char *line, uint32_t line_size) {
    struct check_options options = {.keep_bodies = true, .as = CHECK_AS_DRIVER};
    struct judge_options judging = {.budget = 0.02, .threads = 1};
    struct launch_names names = {0};
    struct module *module;
    struct module_facts facts;
    struct launch launch;
    struct judgement judgement;
    struct findings parsing;
    struct source *text = arena_new(&t->arena, struct source);
    struct str copy = str_copy(&t->arena, (struct str){line, line_size});
    source_init(text, &t->arena, STR("launch"), copy.data, copy.len);
    findings_init(&parsing, &t->arena, 10);
    if (!launch_parse(text, &t->arena, &names, &parsing, &launch)) return;
    check_source(&t->source, &t->arena, &t->arena, &options, &t->findings, &module);
    facts_compute(module, &t->arena, &facts);
    launch_judge(&facts, &t->findings, &launch, &judging, &t->arena, &judgement);
    MUST(judgement.predicted.phase != PHASE_NONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct target t;
    const uint8_t *end = size == 0 ? NULL : memchr(data, '\n', size);
    if (end == NULL) return 0;
    size_t line = (size_t)(end - data);
    target_begin(&t, end + 1, size - line - 1);
    if (setjmp(t.memory.edge) == 0) {
        target_open(&t, size - line - 1);
        judge(&t, (const char *)data, (uint32_t)line);
        target_check_findings(&t);
    }
    target_end(&t);
    return 0;
}
