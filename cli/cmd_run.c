#include "library/awaited.h"
#include "cli/confirm.h"
#include "cli/device.h"
#include "driver/plan.h"

#if HAVE_JUDGE
struct confirming {
    const struct judging *judging;
    struct arena *arena;
    struct record_file *file;
    struct module_facts *facts;
    struct judgement *judgement;
    struct driver_request request;
    struct driver_outcome outcome;
    struct plan_notes notes;
};

// ---------------------------------------------------------------------------------------------
// Findings

static struct finding *add(struct confirming *run, enum rule rule, struct span span) {
    struct place place = {run->judgement->launch.source, span};
    struct finding *finding = finding_add(&run->judgement->findings, rule, place);
    if (run->judgement->kernel != NULL) finding->kernel = run->judgement->kernel->name;
    return finding;
}

static struct str result_words(struct arena *arena, int phase, int result) {
    const char *name = result_text(result);
    struct str said = name != NULL ? str_from(name) : str_format(arena, "CUresult %d", result);
    if (result == RESULT_HANG) said = STR("nothing: it hung");
    if (result == RESULT_CRASH) said = STR("nothing: the process died");
    return result == RESULT_CUDA_SUCCESS
               ? said
               : str_format(arena, "%.*s from %s", STR_ARG(said), phase_call((enum phase)phase));
}

static struct span argument_span(const struct launch *launch, uint32_t index) {
    return index < launch->arguments.n ? launch->arguments.at[index].span : launch->arguments_span;
}

static void report_notes(struct confirming *run) {
    struct findings *findings = &run->judgement->findings;
    for (uint32_t i = 0; i < run->notes.list.n; i++)
        finding_message(findings, add(run, RULE_RUN_ASSUMED, run->judgement->launch.arguments_span),
                        "%.*s", STR_ARG(run->notes.list.at[i]));
}

static void report_canaries(struct confirming *run) {
    struct findings *findings = &run->judgement->findings;
    for (uint32_t i = 0; i < run->outcome.buffers.n; i++) {
        const struct driver_buffer *buffer = &run->outcome.buffers.at[i];
        if (buffer->changed == 0) continue;
        bool before = buffer->first < 0;
        uint64_t distance = before ? (uint64_t)-buffer->first : (uint64_t)buffer->first - buffer->size;
        struct finding *finding = add(run, RULE_CANARY_OVERWRITTEN,
                                      argument_span(&run->judgement->launch, buffer->arg));
        finding_message(findings, finding,
                        "the launch wrote %llu bytes outside this buffer of %llu, the first %llu %s",
                        (unsigned long long)buffer->changed, (unsigned long long)buffer->size,
                        (unsigned long long)distance,
                        before ? "before its start" : "past its end");
        finding_note(findings, finding, "seen by canaries on the GPU; the driver reports no error");
    }
}

// Whether the GPU's answer is one that was predicted.
static bool agrees(const struct judgement *judgement, const struct driver_outcome *outcome) {
    if (judgement->predicted.phase == outcome->phase && judgement->predicted.result == outcome->result)
        return true;
    for (uint32_t i = 0; i < judgement->also_count; i++)
        if (outcome->phase == PHASE_RUN && judgement->also[i] == outcome->result) return true;
    return false;
}

static void report_disagreement(struct confirming *run) {
    const struct prediction *predicted = &run->judgement->predicted;
    struct findings *findings = &run->judgement->findings;
    struct span whole = {0, run->judgement->launch.source->size};
    struct finding *finding = add(run, RULE_RUN_DISAGREES, whole);
    struct str actual = result_words(run->arena, run->outcome.phase, run->outcome.result);
    struct str expected = result_words(run->arena, predicted->phase, predicted->result);
    finding_message(findings, finding, "the GPU answered %.*s; predicted was %.*s", STR_ARG(actual),
                    STR_ARG(expected));
    if (predicted->confidence != CONFIDENCE_CERTAIN)
        finding_note(findings, finding, "the prediction was %s, not certain",
                     confidence_text((enum confidence)predicted->confidence));
    finding_help(findings, finding,
                 "believe the GPU; a launch that is predicted wrongly is a fault of ptxvet worth reporting");
}

static void differs(struct confirming *run, const char *what, uint64_t driver, uint64_t ours) {
    struct findings *findings = &run->judgement->findings;
    finding_message(findings, add(run, RULE_DRIVER_DIFFERS, run->judgement->launch.kernel_span),
                    "%s: the driver says %llu, ptxvet %llu", what, (unsigned long long)driver,
                    (unsigned long long)ours);
}

static void compare_params(struct confirming *run) {
    const struct kernel *kernel = run->judgement->kernel;
    const struct driver_outcome *outcome = &run->outcome;
    if (!outcome->has_params) return;
    if (outcome->params.n != kernel->params.n) {
        differs(run, "number of parameters", outcome->params.n, kernel->params.n);
        return;
    }
    for (uint32_t i = 0; i < kernel->params.n; i++) {
        const struct kernel_param *ours = &kernel->params.at[i];
        if (outcome->params.at[i].offset != ours->offset)
            differs(run, "offset of a parameter", outcome->params.at[i].offset, ours->offset);
        if (outcome->params.at[i].size != ours->size)
            differs(run, "size of a parameter", outcome->params.at[i].size, ours->size);
    }
}

static void compare(struct confirming *run) {
    const struct kernel *kernel = run->judgement->kernel;
    const struct driver_outcome *outcome = &run->outcome;
    if (kernel == NULL || !outcome->has_attributes) return;
    compare_params(run);
    int shared = outcome->attributes[ATTRIBUTE_SHARED];
    if (shared >= 0 && !kernel->calls_unknown && (uint64_t)shared != kernel->shared_static)
        differs(run, "static shared memory", (uint64_t)shared, kernel->shared_static);
    const struct occupancy *occupancy = &run->judgement->occupancy;
    if (outcome->has_occupancy && occupancy->known && outcome->blocks_per_sm >= 0 &&
        (uint32_t)outcome->blocks_per_sm != occupancy->blocks_per_sm)
        differs(run, "resident blocks per SM", (uint64_t)outcome->blocks_per_sm, occupancy->blocks_per_sm);
}

static bool has_jit_errors(const struct driver_outcome *outcome) {
    return outcome->phase == PHASE_LOAD && outcome->result != RESULT_CUDA_SUCCESS;
}

// ---------------------------------------------------------------------------------------------
// Rows for people

static void row(struct confirming *run, struct record_launch *record, const char *name,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

static void row(struct confirming *run, struct record_launch *record, const char *name,
                const char *format, ...) {
    va_list args;
    va_start(args, format);
    struct str text = str_vformat(run->arena, format, args);
    va_end(args);
    *vec_push(run->arena, &record->gpu_rows) = (struct record_row){name, text, {NULL, 0}};
}

static void resource_rows(struct confirming *run, struct record_launch *record) {
    const int *attributes = run->outcome.attributes;
    if (!run->outcome.has_attributes) return;
    row(run, record, "registers", "%d per thread; at most %d threads per block",
        attributes[ATTRIBUTE_REGS], attributes[ATTRIBUTE_MAX_THREADS]);
    row(run, record, "memory", "%d bytes static shared, %d local, %d constant",
        attributes[ATTRIBUTE_SHARED], attributes[ATTRIBUTE_LOCAL], attributes[ATTRIBUTE_CONST]);
    if (run->outcome.has_params) {
        uint32_t n = run->outcome.params.n;
        const struct driver_param *last = n > 0 ? &run->outcome.params.at[n - 1] : NULL;
        row(run, record, "params", "%u, %llu bytes", n,
            last != NULL ? (unsigned long long)(last->offset + last->size) : 0);
    }
    if (run->outcome.has_occupancy)
        row(run, record, "occupancy", "%d blocks per SM", run->outcome.blocks_per_sm);
}

static void add_rows(struct confirming *run, struct record_launch *record) {
    const struct driver_outcome *outcome = &run->outcome;
    if (outcome->has_device)
        row(run, record, "device", "%s, compute capability %d.%d, %d SMs; driver of CUDA %d.%d",
            outcome->device.name, outcome->device.major, outcome->device.minor,
            outcome->device.processors, outcome->device.cuda / 1000, outcome->device.cuda % 1000 / 10);
    resource_rows(run, record);
    if (outcome->has_time && run->request.repeat > 1)
        row(run, record, "time", "%.4f ms, the median of %u", outcome->milliseconds, run->request.repeat);
    else if (outcome->has_time)
        row(run, record, "time", "%.4f ms", outcome->milliseconds);
    if (outcome->signal != 0)
        row(run, record, "process", "ended by signal %d", outcome->signal);
    if (outcome->said.len > 0) row(run, record, "printed", "%.*s", STR_ARG(outcome->said));
}

static struct known_u64 attribute(const struct driver_outcome *outcome, enum driver_attribute which) {
    int value = outcome->attributes[which];
    return (struct known_u64){value >= 0, value >= 0 ? (uint64_t)value : 0};
}

static struct record_gpu *gpu_record(struct confirming *run) {
    const struct driver_outcome *outcome = &run->outcome;
    const struct driver_device *device = &outcome->device;
    struct record_gpu *gpu = arena_new(run->arena, struct record_gpu);
    if (outcome->has_device) {
        gpu->device = str_from(device->name);
        gpu->capability = str_format(run->arena, "%d.%d", device->major, device->minor);
        gpu->cuda = str_format(run->arena, "%d.%d", device->cuda / 1000, device->cuda % 1000 / 10);
    }
    gpu->registers = attribute(outcome, ATTRIBUTE_REGS);
    gpu->shared = attribute(outcome, ATTRIBUTE_SHARED);
    gpu->local = attribute(outcome, ATTRIBUTE_LOCAL);
    gpu->constants = attribute(outcome, ATTRIBUTE_CONST);
    gpu->max_threads = attribute(outcome, ATTRIBUTE_MAX_THREADS);
    if (outcome->has_occupancy && outcome->blocks_per_sm >= 0)
        gpu->blocks_per_sm = (struct known_u64){true, (uint64_t)outcome->blocks_per_sm};
    gpu->has_params = outcome->has_params;
    for (uint32_t i = 0; outcome->has_params && i < outcome->params.n; i++) {
        vec_push(run->arena, &gpu->params);
        gpu->params.at[i].offset = outcome->params.at[i].offset;
        gpu->params.at[i].size = outcome->params.at[i].size;
    }
    gpu->has_time = outcome->has_time;
    gpu->milliseconds = outcome->milliseconds;
    return gpu;
}

// ---------------------------------------------------------------------------------------------
// The launch

static bool plan(struct confirming *run) {
    const struct device_settings *settings = &run->judging->settings->device;
    run->request = device_request(settings);
    struct plan_input input = {
        .launch = &run->judgement->launch, .kernel = run->judgement->kernel,
        .dry = run->judgement->ran ? &run->judgement->dry : NULL, .ptx = run->file->source,
        .seed = settings->seed};
    return driver_plan(&input, run->arena, &run->request, &run->notes, &run->file->failure);
}

// With the registers that the driver told, the launch may turn out to need more than there are.
static void judge_again(struct confirming *run) {
    struct judgement *judgement = run->judgement;
    int registers = run->outcome.attributes[ATTRIBUTE_REGS];
    if (!run->outcome.has_attributes || registers < 0 || judgement->launch.has_regs) return;
    struct launch launch = judgement->launch;
    launch.has_regs = true;
    launch.regs = (uint64_t)registers;
    memset(judgement, 0, sizeof *judgement);
    launch_judge(run->facts, run->file->findings, &launch, &run->judging->settings->judge, run->arena,
                 judgement);
}

static void conclude(struct confirming *run, struct record_launch *record) {
    struct judgement *judgement = run->judgement;
    struct driver_outcome *outcome = &run->outcome;
    struct str text = record->text;
    uint32_t line = record->line;
    judge_again(run);
    bool known = !judgement->result_unknown;
    report_notes(run);
    if (has_jit_errors(outcome))
        driver_log_findings(outcome->error_log, run->file->source, RULE_JIT_ERROR, &judgement->findings);
    report_canaries(run);
    compare(run);
    if (known && !agrees(judgement, outcome)) report_disagreement(run);
    record_launch(record, run->arena, judgement, text, line);
    record->has_actual = true;
    record->actual_phase = outcome->phase;
    record->actual_result = outcome->result;
    record->agrees_known = known;
    record->agrees = known && agrees(judgement, outcome);
    record->gpu = gpu_record(run);
    add_rows(run, record);
}

void confirm_launch(const struct judging *judging, struct worker *worker, struct record_file *file,
                    struct module_facts *facts, struct judgement *judgement,
                    struct record_launch *record) {
    struct confirming run = {.judging = judging, .arena = &worker->records, .file = file,
                             .facts = facts, .judgement = judgement};
    if (!plan(&run)) return;
    driver_launch(&run.request, run.arena, &run.outcome);
    if (run.outcome.status == DRIVER_ANSWERED) {
        conclude(&run, record);
        return;
    }
    file->failure = str_format(run.arena, "%.*s: not launched: %.*s", STR_ARG(file->path),
                               STR_ARG(run.outcome.failure));
}
#endif
