// The public interface. Each call sets the edge where exhausted memory leaves, and turns it into a
// status; everything that a result holds is in arenas of its own.
#include "ptxvet/ptxvet.h"

#include <stdlib.h>

#include "analyzer/launch/sources.h"
#include "analyzer/rules/check.h"
#include "isa/gpus.h"
#include "library/records.h"

enum { FINDINGS_MOST = 100000 };

// `findings`, `kernels` and `json` are made at once, so that reading a result cannot fail.
struct ptxvet_result {
    struct ptxvet_result *next, **link;  // of the context's results
    struct memory memory;
    struct arena arena;
    ptxvet_context *context;
    size_t counted;                      // bytes that the context counts for this result
    VEC_OF(ptxvet_finding) findings;
    VEC_OF(ptxvet_kernel) kernels;
    VEC_OF(const ptxvet_param *) params; // of each kernel
    bool has_answer;
    ptxvet_answer answer;
    const char *json;
};

struct ptxvet_context {
    struct memory memory;
    struct arena arena;
    struct judge_options options;
    size_t limit, used;
    ptxvet_result *results;
};

const char *ptxvet_version(void) { return PTXVET_VERSION; }

ptxvet_context *ptxvet_context_new(size_t memory_limit) {
    ptxvet_context *context = calloc(1, sizeof *context);
    if (context == NULL) return NULL;
    context->limit = memory_limit;
    context->options.budget = 2;
    context->options.threads = 1;
    arena_init(&context->arena, &context->memory);
    return context;
}

void ptxvet_context_free(ptxvet_context *context) {
    if (context == NULL) return;
    while (context->results != NULL) ptxvet_result_free(context->results);
    arena_destroy(&context->arena);
    free(context);
}

void ptxvet_result_free(ptxvet_result *result) {
    if (result == NULL) return;
    *result->link = result->next;
    if (result->next != NULL) result->next->link = result->link;
    result->context->used -= result->counted;
    arena_destroy(&result->arena);
    free(result);
}

ptxvet_status ptxvet_context_budget(ptxvet_context *context, double seconds) {
    if (context == NULL || !(seconds >= 0)) return PTXVET_INVALID_ARGUMENT;
    context->options.budget = seconds;
    return PTXVET_OK;
}

ptxvet_status ptxvet_context_deploy(ptxvet_context *context, const char *gpu, const char *driver) {
    struct deployment deployment = {0};
    struct driver_row row;
    if (context == NULL || (gpu == NULL && driver == NULL)) return PTXVET_INVALID_ARGUMENT;
    if (gpu != NULL) {
        deployment.gpu = isa_gpu_find(str_from(gpu));
        if (deployment.gpu == NULL) return PTXVET_INVALID_ARGUMENT;
        deployment.compute_capability = deployment.gpu->capability;
    }
    if (driver != NULL && !isa_driver_find(str_from(driver), &row)) return PTXVET_INVALID_ARGUMENT;
    if (setjmp(context->memory.edge) != 0) return PTXVET_OUT_OF_MEMORY;
    if (gpu != NULL) deployment.gpu_text = str_copy(&context->arena, str_from(gpu));
    if (driver != NULL) {
        deployment.driver = row.driver;
        deployment.reads = row.reads;
        deployment.driver_text = str_copy(&context->arena, str_from(driver));
    }
    *vec_push(&context->arena, &context->options.deployments) = deployment;
    return PTXVET_OK;
}

// NUL-terminated, in the result; NULL for nothing.
static const char *text_of(ptxvet_result *result, struct str text) {
    return text.len == 0 ? NULL : str_copy(&result->arena, text).data;
}

static void add_finding(ptxvet_result *result, const struct finding *finding) {
    ptxvet_finding *out = vec_push(&result->arena, &result->findings);
    const struct rule_info *rule = &rule_infos[finding->rule];
    out->code = rule->code;
    out->name = rule->name;
    out->severity = (ptxvet_severity)finding->severity;
    out->confidence = confidence_text((enum confidence)finding->confidence);
    out->message = text_of(result, finding->message);
    out->help = text_of(result, finding->help);
    out->kernel = text_of(result, finding->kernel);
    if (finding->predicts.phase != PHASE_NONE && finding->predicts.result != RESULT_CUDA_SUCCESS) {
        out->phase = phase_text((enum phase)finding->predicts.phase);
        out->result = finding->predicts.result;
    }
    struct source *source = finding->place.source;
    if (source == NULL) return;
    struct span span = finding->place.span;
    struct position begin = source_position(source, span.begin);
    struct position end = source_position(source, span.end > span.begin ? span.end : span.begin);
    out->path = text_of(result, source->path);
    out->line = begin.line;
    out->column = begin.column;
    out->end_line = end.line;
    out->end_column = end.column;
}

static void add_kernel(ptxvet_result *result, const struct record_kernel *kernel) {
    ptxvet_kernel *out = vec_push(&result->arena, &result->kernels);
    ptxvet_param *params = arena_array(&result->arena, ptxvet_param, kernel->params.n);
    out->name = text_of(result, kernel->name);
    out->line = kernel->line;
    out->param_count = kernel->params.n;
    out->param_bytes = kernel->param_bytes;
    for (int i = 0; i < 3 && kernel->has_maxntid; i++) out->maxntid[i] = kernel->maxntid[i];
    for (int i = 0; i < 3 && kernel->has_reqntid; i++) out->reqntid[i] = kernel->reqntid[i];
    out->shared_static = kernel->shared_static.known ? (int64_t)kernel->shared_static.value : -1;
    out->shared_dynamic = kernel->shared_dynamic;
    for (uint32_t i = 0; i < kernel->params.n; i++) {
        const struct record_param *param = &kernel->params.at[i];
        params[i] = (ptxvet_param){
            .name = text_of(result, param->name), .user_name = text_of(result, param->user_name),
            .type = text_of(result, param->type), .kind = text_of(result, param->kind),
            .role = text_of(result, param->role), .offset = param->offset, .size = param->size,
            .align = param->align};
    }
    *vec_push(&result->arena, &result->params) = params;
}

static void write_json(ptxvet_result *result, struct record_file *file, bool launch) {
    const struct report_format *format = report_format_find(STR("json"));
    struct report report = {.command = launch ? REPORT_LAUNCH : REPORT_CHECK,
                            .tool_version = STR(PTXVET_VERSION)};
    struct output out;
    output_init(&out, &result->arena);
    report_count(&report.totals, file);
    format->head(&report, &out);
    format->file(&report, file, &out);
    format->tail(&report, &out);
    output_byte(&out, '\0');
    result->json = out.data;
}

// A text in the result, with the NUL behind it that the lexer wants.
static struct source *source_of(ptxvet_result *result, const char *path, const char *text,
                                size_t size) {
    struct source *source = arena_new(&result->arena, struct source);
    struct str copy = str_copy(&result->arena, (struct str){text, (uint32_t)size});
    struct str name = str_copy(&result->arena, str_from(path));
    source_init(source, &result->arena, name, copy.data, copy.len);
    return source;
}

struct call {
    ptxvet_context *context;
    ptxvet_result *result;
    const char *path, *text, *launch;  // launch NULL: a check
    size_t size;
};

static void add_answer(ptxvet_result *result, const struct judgement *judgement) {
    result->has_answer = true;
    result->answer = (ptxvet_answer){
        .verdict = (ptxvet_verdict)judgement->verdict,
        .phase = phase_text((enum phase)judgement->predicted.phase),
        .result = judgement->predicted.result,
        .confidence = confidence_text((enum confidence)judgement->predicted.confidence)};
    if (!judgement->result_unknown) result->answer.result_name = result_text(judgement->predicted.result);
}

static ptxvet_status judge(const struct call *call, struct module_facts *facts,
                           struct record_file *file, const struct findings *load) {
    ptxvet_result *result = call->result;
    struct source *text = source_of(result, "launch", call->launch, strlen(call->launch));
    struct judgement *judgement = arena_new(&result->arena, struct judgement);
    struct launch_names names = {0};
    struct launch launch;
    struct findings *parsing = arena_new(&result->arena, struct findings);
    findings_init(parsing, &result->arena, FINDINGS_MOST);
    file->findings = parsing;
    if (!launch_parse(text, &result->arena, &names, parsing, &launch)) return PTXVET_BAD_LAUNCH;
    launch_judge(facts, load, &launch, &call->context->options, &result->arena, judgement);
    record_launch(vec_push(&result->arena, &file->launches), &result->arena, judgement,
                  (struct str){text->text, text->size}, 1);
    *file->findings = judgement->findings;
    add_answer(result, judgement);
    return PTXVET_OK;
}

static ptxvet_status work(const struct call *call) {
    ptxvet_result *result = call->result;
    struct arena *arena = &result->arena;
    struct record_file *file = arena_new(arena, struct record_file);
    struct findings *findings = arena_new(arena, struct findings);
    struct module_facts *facts = arena_new(arena, struct module_facts);
    struct module *module = NULL;
    const struct judge_options *judging = &call->context->options;
    findings_init(findings, arena, FINDINGS_MOST);
    file->source = source_of(result, call->path, call->text, call->size);
    file->path = file->source->path;
    file->findings = findings;
    struct check_options options = {
        .as = call->launch == NULL ? CHECK_AS_ASSEMBLER : CHECK_AS_DRIVER,
        .deployments = judging->deployments.at, .deployment_count = judging->deployments.n,
        .keep_bodies = true};
    enum parse_status parsed = check_source(file->source, arena, arena, &options, findings, &module);
    ptxvet_status status = parsed == PARSE_LIMIT ? PTXVET_LIMIT : PTXVET_OK;
    facts_compute(module, arena, facts);
    sources_apply(facts, arena);
    findings_sort(findings);
    if (call->launch != NULL) {
        ptxvet_status judged = judge(call, facts, file, findings);
        if (judged != PTXVET_OK) status = judged;
    }
    record_module(file, arena, facts, NULL, 0);
    for (uint32_t i = 0; i < file->findings->list.n; i++)
        add_finding(result, file->findings->list.at[i]);
    for (uint32_t i = 0; i < file->kernels.n; i++) add_kernel(result, &file->kernels.at[i]);
    if (file->launches.n != 0) file->findings = NULL;  // they are the launch's
    write_json(result, file, call->launch != NULL);
    return status;
}

// A result on the context's list, with what memory the limit leaves.
static ptxvet_result *new_result(ptxvet_context *context) {
    ptxvet_result *result = calloc(1, sizeof *result);
    if (result == NULL) return NULL;
    result->context = context;
    result->next = context->results;
    result->link = &context->results;
    if (result->next != NULL) result->next->link = &result->next;
    context->results = result;
    if (context->limit != 0) result->memory.limit = context->limit - context->used;
    arena_init(&result->arena, &result->memory);
    return result;
}

static ptxvet_status run(struct call call, ptxvet_result **out) {
    if (call.context == NULL || call.path == NULL || out == NULL ||
        (call.text == NULL && call.size != 0) || call.size >= UINT32_MAX)
        return PTXVET_INVALID_ARGUMENT;
    *out = NULL;
    if (call.context->limit != 0 && call.context->used >= call.context->limit)
        return PTXVET_MEMORY_LIMIT;
    call.result = new_result(call.context);
    if (call.result == NULL) return PTXVET_OUT_OF_MEMORY;
    ptxvet_result *result = call.result;
    if (setjmp(result->memory.edge) != 0) {
        bool at_limit = result->memory.at_limit;
        ptxvet_result_free(result);
        return at_limit ? PTXVET_MEMORY_LIMIT : PTXVET_OUT_OF_MEMORY;
    }
    ptxvet_status status = work(&call);
    result->counted = result->memory.used;
    result->context->used += result->counted;
    *out = result;
    return status;
}

ptxvet_status ptxvet_check(ptxvet_context *context, const char *path, const char *text, size_t size,
                           ptxvet_result **result) {
    struct call call = {.context = context, .path = path, .text = text, .size = size};
    return run(call, result);
}

ptxvet_status ptxvet_launch(ptxvet_context *context, const char *path, const char *text, size_t size,
                            const char *launch, ptxvet_result **result) {
    struct call call = {.context = context, .path = path, .text = text, .size = size,
                        .launch = launch};
    if (launch == NULL || strlen(launch) >= UINT32_MAX) return PTXVET_INVALID_ARGUMENT;
    return run(call, result);
}

size_t ptxvet_finding_count(const ptxvet_result *result) {
    return result == NULL ? 0 : result->findings.n;
}

const ptxvet_finding *ptxvet_finding_at(const ptxvet_result *result, size_t index) {
    return index < ptxvet_finding_count(result) ? &result->findings.at[index] : NULL;
}

size_t ptxvet_kernel_count(const ptxvet_result *result) {
    return result == NULL ? 0 : result->kernels.n;
}

const ptxvet_kernel *ptxvet_kernel_at(const ptxvet_result *result, size_t index) {
    return index < ptxvet_kernel_count(result) ? &result->kernels.at[index] : NULL;
}

const ptxvet_param *ptxvet_param_at(const ptxvet_result *result, size_t kernel, size_t index) {
    const ptxvet_kernel *of = ptxvet_kernel_at(result, kernel);
    return of != NULL && index < of->param_count ? &result->params.at[kernel][index] : NULL;
}

const ptxvet_answer *ptxvet_answer_of(const ptxvet_result *result) {
    return result != NULL && result->has_answer ? &result->answer : NULL;
}

const char *ptxvet_result_json(const ptxvet_result *result) {
    return result == NULL ? NULL : result->json;
}
