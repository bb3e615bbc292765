#include "cli/judge.h"

#include "analyzer/launch/sources.h"
#include "analyzer/rules/check.h"
#include "analyzer/rules/cubin.h"
#include "cli/companions.h"
#include "cli/device.h"
#include "findings/suppress.h"
#include "reports/plain.h"

// Past this size a check lets bodies go even where a format shows kernels.
enum { KEEP_BODIES_MOST = 32 * 1024 * 1024 };

static bool load_input(struct job *job) {
    struct arena *records = &job->worker->records;
    struct str shown = job->input->shown, text;
    int trouble = job->input->trouble;
    job->file->path = shown;
    if (trouble == 0) trouble = load(&job->worker->loader, job->input->path.data, &text);
    if (trouble != 0) {
        job->file->failure = str_format(records, "cannot read %.*s: %s", STR_ARG(shown),
                                        strerror(trouble));
        return false;
    }
    job->file->source = arena_new(records, struct source);
    source_init(job->file->source, records, shown, text.data, text.len);
    return true;
}

static enum parse_status check(struct job *job, struct judged *judged, bool keep_bodies) {
    struct worker *worker = job->worker;
    const struct judge_options *judge = &job->settings->judge;
    struct check_options options = {
        .as = is_launching(job->judging) || manifest_is(job->file->path) ? CHECK_AS_DRIVER
                                                                          : CHECK_AS_ASSEMBLER,
        .deployments = judge->deployments.at, .deployment_count = judge->deployments.n,
        .keep_bodies = keep_bodies,
        .requirements = option_set(job->judging->options, OPTION_requires) ? &judged->requirements
                                                                           : NULL};
    struct arena *bodies = keep_bodies ? &worker->module : &worker->bodies;
    return check_source(judged->source, &worker->module, bodies, &options, judged->load,
                        &judged->module);
}

bool judge_module(struct job *job, struct judged *judged, bool keep_bodies) {
    const struct judge_options *judge = &job->settings->judge;
    judged->load = arena_new(&job->worker->records, struct findings);
    findings_init(judged->load, &job->worker->records, job->settings->max_findings);
    if (rules_cubin(judged->source, judge->deployments.at, judge->deployments.n, judged->load))
        return true;
    struct companion *companion = companion_of(job, judged);
    // What a kernel reaches of shared memory is held against its metadata.
    if (companion != NULL && judged->source->size <= KEEP_BODIES_MOST) keep_bodies = true;
    enum parse_status status = check(job, judged, keep_bodies);
    judged->has_facts = keep_bodies || job->judging->kernels_wanted || companion != NULL;
    if (judged->has_facts) {
        facts_compute(judged->module, &job->worker->module, &judged->facts);
        sources_apply(&judged->facts, &job->worker->module);
        if (companion != NULL)
            companion_apply(companion, &judged->facts, &job->worker->module, judged->load);
    }
    findings_sort(judged->load);
    return status != PARSE_LIMIT;
}

void judge_settle(struct job *job, struct source *source, const struct module *module, bool whole,
                  struct findings *findings) {
    const struct judging *judging = job->judging;
    const struct selection *selection = &job->settings->selection;
    job->file->suppressed += suppress(source, selection, whole, findings);
    selection_apply(selection, findings);
    if (judging->baseline != NULL || judging->writes_baseline) {
        struct str path = repository_path(&job->worker->records, judging->report, job->file->path);
        if (judging->writes_baseline)
            baseline_add(&job->piece->accepted, &job->piece->arena, path, findings);
        if (judging->baseline != NULL)
            job->file->baselined += baseline_apply(judging->baseline, path, findings);
    }
    if (module != NULL) record_origins(findings, &job->worker->records, module, module->source);
    job->piece->found |= findings_count(findings, (enum severity)job->settings->fail_on) != 0;
}

static void limit_reached(struct job *job) {
    job->file->failure = str_format(&job->worker->records,
                                    "%.*s: a limit was reached, the rest is not judged",
                                    STR_ARG(job->file->path));
}

static void judge_check(struct job *job) {
    struct judged judged = {.path = job->input->path, .source = job->file->source};
    bool small = job->file->source->size <= KEEP_BODIES_MOST;
    bool keep = job->judging->command != COMMAND_check || (job->judging->kernels_wanted && small);
    if (!judge_module(job, &judged, keep)) limit_reached(job);
    job->file->findings = judged.load;
    judge_settle(job, judged.source, judged.module, true, judged.load);
    findings_sort(judged.load);
    const struct option_values *kernels = &job->judging->options->values[OPTION_kernel];
    if (judged.has_facts)
        record_module(job->file, &job->worker->records, &judged.facts, kernels->list.at,
                      kernels->list.n);
    if (option_set(job->judging->options, OPTION_requires) && judged.module != NULL)
        record_requires(job->file, &job->worker->records, &judged.requirements, judged.source);
    if (judged.has_facts) judge_shown_launches(job, &judged);
    if (job->judging->command == COMMAND_info && job->settings->device.asked)
        device_describe(&job->settings->device, job->file, &judged.facts, &job->worker->records);
}

void judge_input(const struct judging *judging, struct worker *worker, const struct input *input,
                 struct record_file *file, struct piece *piece) {
    struct job job = {judging, worker, input, &input->configured->settings, file, piece};
    arena_reset(&worker->module);
    arena_reset(&worker->bodies);
    arena_reset(&worker->records);
    *file = (struct record_file){0};
    if (!load_input(&job)) return;
    if (judging->launch.len != 0) judge_launch_line(&job);
    else if (is_launching(judging) || manifest_is(file->path)) judge_manifest(&job);
    else judge_check(&job);
}
