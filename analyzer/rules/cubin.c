#include "analyzer/rules/cubin.h"

#include "analyzer/facts/cubin.h"

static void report_mismatch(struct source *source, uint32_t cubin,
                            const struct deployment *deployment, struct findings *findings) {
    struct place place = {source, {0, 4}};
    struct finding *finding = finding_add(findings, RULE_CUBIN_ARCHITECTURE, place);
    uint32_t device = deployment->compute_capability;
    finding_message(findings, finding,
                    "a cubin for compute capability %u.%u cannot run on %.*s (%u.%u)", cubin / 10,
                    cubin % 10, STR_ARG(deployment->gpu_text), device / 10, device % 10);
    finding_note(findings, finding,
                 "machine code runs on GPUs of its own major capability and no lower minor one");
    finding_help(findings, finding,
                 "load the `.ptx`, which the driver compiles, or compile with -arch=sm_%u", device);
    finding->deployment = deployment->gpu_text;
}

static void report_limits(struct source *source, uint32_t cubin, struct findings *findings) {
    struct place place = {source, {0, 4}};
    struct finding *finding = finding_add(findings, RULE_CUBIN_NOT_JUDGED, place);
    finding_message(findings, finding,
                    "a cubin for compute capability %u.%u: only its header was read", cubin / 10,
                    cubin % 10);
    finding_help(findings, finding, "give the `.ptx` that it was made from to have it judged");
}

bool rules_cubin(struct source *source, const struct deployment *deployments, uint32_t count,
                 struct findings *findings) {
    struct cubin cubin;
    cubin_read((struct str){source->text, source->size}, &cubin);
    if (cubin.state != CUBIN_WHOLE) return false;
    bool refused = false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t device = deployments[i].compute_capability;
        if (device == 0 || cubin_runs_on(cubin.capability, device)) continue;
        report_mismatch(source, cubin.capability, &deployments[i], findings);
        refused = true;
    }
    if (!refused) report_limits(source, cubin.capability, findings);
    return true;
}
