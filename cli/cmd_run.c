#include "cli/confirm.h"
#include "cli/device.h"
#include "driver/plan.h"

struct confirmation {
    struct job *job;
    struct arena *arena;
    struct judged *judged;
    const struct judge_options *options;
    struct judgement *judgement;
    struct driver_request request;
    struct driver_outcome outcome;
    struct plan_notes notes;
};

// ---------------------------------------------------------------------------------------------
// Findings

static struct finding *add(struct confirmation *run, enum rule rule, struct span span) {
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

static void report_notes(struct confirmation *run) {
    struct findings *findings = &run->judgement->findings;
    for (uint32_t i = 0; i < run->notes.list.n; i++)
        finding_message(findings, add(run, RULE_RUN_ASSUMED, run->judgement->launch.arguments_span),
                        "%.*s", STR_ARG(run->notes.list.at[i]));
}

static void report_canaries(struct confirmation *run) {
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

static void report_disagreement(struct confirmation *run) {
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

static void differs(struct confirmation *run, const char *what, uint64_t driver, uint64_t ours) {
    struct findings *findings = &run->judgement->findings;
    finding_message(findings, add(run, RULE_DRIVER_DIFFERS, run->judgement->launch.kernel_span),
                    "%s: the driver says %llu, ptxvet %llu", what, (unsigned long long)driver,
                    (unsigned long long)ours);
}

static void compare_params(struct confirmation *run) {
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

static void compare(struct confirmation *run) {
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

static void row(const struct confirmation *run, struct record_launch *record, const char *name,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

static void row(const struct confirmation *run, struct record_launch *record, const char *name,
                const char *format, ...) {
    va_list args;
    va_start(args, format);
    struct str text = str_vformat(run->arena, format, args);
    va_end(args);
    *vec_push(run->arena, &record->gpu_rows) = (struct record_row){name, text, {NULL, 0}};
}

static void resource_rows(const struct confirmation *run, struct record_launch *record) {
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

static void add_rows(const struct confirmation *run, struct record_launch *record) {
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

// ---------------------------------------------------------------------------------------------
// The launch

static bool plan(struct confirmation *run) {
    const struct device_settings *settings = &run->job->settings->device;
    run->request = device_request(settings);
    struct plan_input input = {
        .launch = &run->judgement->launch, .kernel = run->judgement->kernel,
        .dry = run->judgement->ran ? &run->judgement->dry : NULL, .ptx = run->judged->source,
        .seed = settings->seed};
    return driver_plan(&input, run->arena, &run->request, &run->notes, &run->job->file->failure);
}

// With the registers that the driver told, the launch may turn out to need more than there are.
static void judge_again(struct confirmation *run) {
    struct judgement *judgement = run->judgement;
    int registers = run->outcome.attributes[ATTRIBUTE_REGS];
    if (!run->outcome.has_attributes || registers < 0 || judgement->launch.has_regs ||
        run->judged->module == NULL)
        return;
    struct launch launch = judgement->launch;
    struct judge_options options = *run->options;
    struct judgement *told = arena_new(run->arena, struct judgement);
    launch.has_regs = true;
    launch.regs = (uint64_t)registers;
    options.budget = 0;  // what the kernel does is judged already
    launch_judge(&run->judged->facts, run->judged->load, &launch, &options, run->arena, told);
    if (told->predicted.phase != PHASE_RUN && judgement->predicted.phase == PHASE_RUN) *judgement = *told;
    else judgement->occupancy = told->occupancy;
}

static void conclude(struct confirmation *run) {
    struct judgement *judgement = run->judgement;
    judge_again(run);
    report_notes(run);
    if (has_jit_errors(&run->outcome))
        driver_log_findings(run->outcome.error_log, run->judged->source, RULE_JIT_ERROR,
                            &judgement->findings);
    report_canaries(run);
    compare(run);
    if (!judgement->result_unknown && !agrees(judgement, &run->outcome)) report_disagreement(run);
}

const struct confirmation *confirm_launch(struct job *job, struct judged *judged,
                                          const struct judge_options *options,
                                          struct judgement *judgement) {
    struct arena *arena = &job->worker->records;
    struct confirmation *run = arena_new(arena, struct confirmation);
    *run = (struct confirmation){.job = job, .arena = arena, .judged = judged, .options = options,
                                 .judgement = judgement};
    if (!plan(run)) return NULL;
    driver_launch(&run->request, arena, &run->outcome);
    if (run->outcome.status == DRIVER_ANSWERED) {
        conclude(run);
        return run;
    }
    job->file->failure = str_format(arena, "%.*s: not launched: %.*s", STR_ARG(job->file->path),
                                    STR_ARG(run->outcome.failure));
    return NULL;
}

void confirm_record(const struct confirmation *run, struct arena *arena, struct record_launch *record) {
    bool known = !run->judgement->result_unknown;
    record->has_actual = true;
    record->actual_phase = run->outcome.phase;
    record->actual_result = run->outcome.result;
    record->agrees_known = known;
    record->agrees = known && agrees(run->judgement, &run->outcome);
    record->gpu = device_record(&run->outcome, arena);
    add_rows(run, record);
}
