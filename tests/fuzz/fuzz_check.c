// The whole of check: parser, rules and, with bodies kept, the facts.
#include "analyzer/facts/facts.h"
#include "analyzer/rules/check.h"
#include "tests/fuzz/target.h"

static void check_once(const uint8_t *data, size_t size, bool keep) {
    struct target t;
    target_begin(&t, data, size);
    if (setjmp(t.memory.edge) == 0) {
        struct check_options options = {.keep_bodies = keep, .as = keep ? CHECK_AS_DRIVER : CHECK_AS_ASSEMBLER};
        struct module *module;
        struct module_facts facts;
        target_open(&t, size);
        MUST(check_source(&t.source, &t.arena, keep ? &t.arena : &t.bodies, &options, &t.findings,
                          &module) != PARSE_INTERNAL);
        if (keep) facts_compute(module, &t.arena, &facts);
        target_check_findings(&t);
    }
    target_end(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check_once(data, size, false);
    check_once(data, size, true);
    return 0;
}
