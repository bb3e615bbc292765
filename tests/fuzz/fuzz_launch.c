// The launch language: what does not parse has a finding, and its place lies inside the text.
#include "analyzer/launch/launch.h"
#include "tests/fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct target t;
    target_begin(&t, data, size);
    if (setjmp(t.memory.edge) == 0) {
        struct launch_names names = {0};
        struct launch launch;
        target_open(&t, size);
        bool good = launch_parse(&t.source, &t.arena, &names, &t.findings, &launch);
        MUST(good || t.findings.list.n > 0);
        target_check_findings(&t);
    }
    target_end(&t);
    return 0;
}
