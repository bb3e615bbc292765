// Launches judged: that of the command line, those of manifests and of comments.
#include "cli/confirm.h"

#include "base/file.h"
#include "cli/ptxas.h"
#include "isa/versions.h"

// A launch of what never becomes a module: a cubin is judged by its header alone.
static void judge_without_module(struct job *job, const struct judged *judged,
                                 struct judgement *judgement) {
    bool refused = findings_count(judged->load, SEVERITY_ERROR) != 0;
    judgement->findings = *judged->load;
    judgement->verdict = refused ? VERDICT_FAILS : VERDICT_UNKNOWN;
    judgement->predicted = (struct prediction){PHASE_RUN, CONFIDENCE_POSSIBLE, RESULT_CUDA_SUCCESS};
    if (refused)
        judgement->predicted = (struct prediction){PHASE_LOAD, CONFIDENCE_CERTAIN,
                                                   RESULT_CUDA_ERROR_NO_BINARY_FOR_GPU};
    (void)job;
}

// Contents that a launch takes from files, for those that can be read; the others stay unknown and
// are said.
static void read_contents(struct job *job, struct launch *launch) {
    struct arena *arena = &job->worker->records;
    for (uint32_t i = 0; i < launch->arguments.n; i++) {
        struct argument *argument = &launch->arguments.at[i];
        if (argument->contents != CONTENTS_FILE) continue;
        struct str path = argument->file, folder = path_folder(launch->source->path);
        if (path.len != 0 && path.data[0] != '/' && folder.len != 0)
            path = str_format(arena, "%.*s%.*s", STR_ARG(folder), STR_ARG(path));
        int trouble = file_read(str_copy(arena, path).data, arena, &argument->file_data);
        if (trouble != 0)
            job->file->failure = str_format(arena, "cannot read %.*s: %s", STR_ARG(path),
                                            strerror(trouble));
    }
}

// `--error CURESULT`: the rules that can give it, held against what was found.
static void rank_rules(struct job *job, const struct findings *found, struct record_launch *record) {
    const struct options *options = job->judging->options;
    if (!option_set(options, OPTION_error)) return;
    struct str text = option_text(options, OPTION_error, "");
    struct ranking *ranking = arena_new(&job->worker->records, struct ranking);
    if (!result_find(text, &record->asked)) {
        job->file->failure = str_format(&job->worker->records, "--error: `%.*s` is no CUresult",
                                        STR_ARG(text));
        return;
    }
    rules_rank(record->asked, found, &job->worker->records, ranking);
    record->ranking = ranking;
}

// `--ptxas`: what the assembler allots, where neither the launch nor the PTX says it. For the first
// GPU named, when the PTX is for it, else for the PTX's own target.
static void ask_ptxas(struct job *job, struct judged *judged, struct launch *launch,
                      const struct judge_options *options) {
    const struct options *given = job->judging->options;
    struct arena *arena = &job->worker->records;
    struct str target = judged->module->target, error;
    if (!option_set(given, OPTION_ptxas) || launch->has_regs || target.len == 0) return;
    const struct kernel *kernel = facts_kernel(&judged->facts, launch->kernel);
    if (launch->kernel.len == 0 && judged->facts.kernels.n == 1) kernel = judged->facts.kernels.at;
    if (kernel == NULL) return;  // the judgement says so
    enum isa_target_id id = isa_target_find(target);
    bool generic = id != TARGET_UNKNOWN && isa_targets[id].kind == TARGET_GENERIC;
    if (generic && options->deployments.n != 0 && options->deployments.at[0].compute_capability != 0)
        target = str_format(arena, "sm_%u", options->deployments.at[0].compute_capability);
    launch->has_regs = ptxas_registers(option_text(given, OPTION_ptxas, ""), judged->path, target,
                                       kernel->name, arena, &launch->regs, &error);
    if (!launch->has_regs) job->file->failure = error;
}

// Judges one launch; `text` is as the report shows it.
static void judge_one(struct job *job, struct judged *judged, struct launch *launch,
                      const struct judge_options *options, struct str text, uint32_t line) {
    struct arena *records = &job->worker->records;
    struct judgement *judgement = arena_new(records, struct judgement);
    read_contents(job, launch);
    if (judged->module != NULL) ask_ptxas(job, judged, launch, options);
    judgement->launch = *launch;
    if (judged->module == NULL) judge_without_module(job, judged, judgement);
    else launch_judge(&judged->facts, judged->load, launch, options, records, judgement);
    const struct confirmation *confirmation = NULL;
    if (job->judging->command == COMMAND_run)
        confirmation = confirm_launch(job, judged, options, judgement);
    judge_settle(job, judged->source, judged->module, false, &judgement->findings);
    struct record_launch *record = vec_push(records, &job->file->launches);
    record_launch(record, records, judgement, text, line);
    if (option_set(job->judging->options, OPTION_emit_launch))
        record->emitted = record_emitted(records, judgement);
    rank_rules(job, &judgement->findings, record);
    if (confirmation != NULL) confirm_record(confirmation, records, record);
}

void judge_launch_line(struct job *job) {
    struct arena *records = &job->worker->records;
    struct judged judged = {.path = job->input->path, .source = job->file->source};
    struct findings *parsing = arena_new(records, struct findings);
    struct source *text = arena_new(records, struct source);
    struct launch launch;
    struct str line = job->judging->launch;
    source_init(text, records, STR("launch"), line.data, line.len);
    findings_init(parsing, records, job->settings->max_findings);
    if (!launch_parse(text, records, &job->settings->names, parsing, &launch)) {
        job->file->findings = parsing;
        job->file->failure = STR("the launch cannot be read");
        return;
    }
    if (!judge_module(job, &judged, true))
        job->file->failure = str_format(records, "%.*s: a limit was reached, the rest is not judged",
                                        STR_ARG(job->file->path));
    judge_one(job, &judged, &launch, &job->settings->judge, line, 1);
}

// What the launches of `info --launch` need: the same judgement, shown with the kernels.
void judge_shown_launches(struct job *job, struct judged *judged) {
    struct arena *records = &job->worker->records;
    const struct option_values *launches = &job->judging->options->values[OPTION_launch];
    for (uint32_t i = 0; i < launches->list.n; i++) {
        struct str line = str_copy(records, launches->list.at[i]);
        struct source *text = arena_new(records, struct source);
        struct launch launch;
        source_init(text, records, STR("launch"), line.data, line.len);
        if (!launch_parse(text, records, &job->settings->names, job->file->findings, &launch)) {
            job->file->failure = STR("the launch cannot be read");
            return;
        }
        judge_one(job, judged, &launch, &job->settings->judge, line, 1);
    }
}

// PTX files that launches of one manifest name, each read once.
struct read_files { VEC_OF(struct judged *) list; };

static struct judged *file_of(struct job *job, struct read_files *files, struct str path) {
    struct arena *records = &job->worker->records;
    for (uint32_t i = files->list.n; i-- > 0;)
        if (str_eq(files->list.at[i]->path, path)) return files->list.at[i];
    struct judged *judged = arena_new(records, struct judged);
    *vec_push(records, &files->list) = judged;
    judged->path = str_copy(records, path);
    judged->source = job->file->source;  // of comments in the PTX itself
    if (!str_eq(path, job->file->path)) {
        struct str text;
        judged->trouble = file_read(judged->path.data, records, &text);
        if (judged->trouble != 0) return judged;
        judged->source = arena_new(records, struct source);
        source_init(judged->source, records, judged->path, text.data, text.len);
    }
    if (!judge_module(job, judged, true))
        job->file->failure = str_format(records, "%.*s: a limit was reached, the rest is not judged",
                                        STR_ARG(path));
    return judged;
}

// The GPU of a manifest's `gpu =` holds where the command line names none.
static struct judge_options options_of(struct job *job, const struct manifest_entry *entry) {
    struct judge_options options = job->settings->judge;
    if (entry->gpu == NULL || options.deployments.n != 0) return options;
    memset(&options.deployments, 0, sizeof options.deployments);
    struct deployment *deployment = vec_push(&job->worker->records, &options.deployments);
    deployment->gpu = entry->gpu;
    deployment->gpu_text = entry->gpu_text;
    deployment->compute_capability = entry->gpu->capability;
    return options;
}

static void judge_entry(struct job *job, struct read_files *files, const struct manifest *manifest,
                        const struct manifest_entry *entry) {
    struct launch launch;
    struct findings *own = job->file->findings;
    struct judged *judged = file_of(job, files, entry->ptx_path);
    if (judged->trouble != 0) {
        manifest_report_file(manifest, entry, strerror(judged->trouble), own);
        return;
    }
    if (!launch_parse(entry->source, &job->worker->records, &manifest->names, own, &launch)) return;
    struct judge_options options = options_of(job, entry);
    judge_one(job, judged, &launch, &options, entry->text, entry->line);
}

// A check says what is wrong with a manifest's launches, and no more.
static void launches_as_findings(struct record_file *file) {
    struct findings *all = file->findings;
    for (uint32_t i = 0; i < file->launches.n; i++) {
        struct findings *some = file->launches.at[i].findings;
        for (uint32_t f = 0; f < some->list.n; f++)
            *vec_push(all->arena, &all->list) = some->list.at[f];
        all->dropped += some->dropped;
    }
    file->launches.n = 0;
}

void judge_manifest(struct job *job) {
    struct arena *records = &job->worker->records;
    struct manifest manifest = {0};
    struct read_files files = {0};
    const struct launch_names *names = &job->settings->names;
    job->file->findings = arena_new(records, struct findings);
    findings_init(job->file->findings, records, job->settings->max_findings);
    if (manifest_is(job->file->path))
        manifest_read(job->file->source, names, records, job->file->findings, &manifest);
    else manifest_read_comments(job->file->source, names, records, &manifest);
    for (uint32_t i = 0; i < manifest.entries.n; i++)
        judge_entry(job, &files, &manifest, &manifest.entries.at[i]);
    judge_settle(job, job->file->source, NULL, false, job->file->findings);
    if (!is_launching(job->judging)) launches_as_findings(job->file);
    findings_sort(job->file->findings);
    if (manifest.entries.n == 0 && job->file->findings->list.n == 0)
        job->file->failure = str_format(records, "%.*s holds no launches", STR_ARG(job->file->path));
}
