#include "cli/judge.h"

#include <errno.h>

#include "analyzer/rules/check.h"
#include "analyzer/launch/sources.h"
#include "cli/awaited.h"
#include "cli/companions.h"
#include "cli/confirm.h"

enum { KEEP_BODIES_MOST = 32 * 1024 * 1024 };

static bool at_or_above(const struct findings *findings, enum severity least) {
    return findings_count(findings, least) != 0;
}

static bool load_input(struct worker *worker, const struct input *input, struct record_file *file) {
    struct str text;
    int trouble = input->trouble;
    file->path = input->shown;
    if (trouble == 0) trouble = load(&worker->loader, input->path.data, &text);
    if (trouble != 0) {
        file->failure = str_format(&worker->records, "cannot read %.*s: %s", STR_ARG(input->shown),
                                   strerror(trouble));
        return false;
    }
    file->source = arena_new(&worker->records, struct source);
    source_init(file->source, &worker->records, input->shown, text.data, text.len);
    return true;
}

// Everything up to the launch: the module, what checking it found, and its facts.
struct judged {
    struct module *module;
    struct module_facts facts;
    bool has_facts;
};

static void check_module(const struct judging *judging, struct worker *worker,
                         struct record_file *file, struct judged *judged) {
    bool launching = judging->command == COMMAND_launch || judging->command == COMMAND_run;
    const struct judge_options *judge = &judging->settings->judge;
    // A check streams: bodies are let go. Formats that show kernels need them, within reason.
    bool keep = judging->command != COMMAND_check ||
                (judging->kernels_wanted && file->source->size <= KEEP_BODIES_MOST);
    struct companion *companion = companion_of(judging, worker, file);
    struct check_options options = {
        .as = launching ? CHECK_AS_DRIVER : CHECK_AS_ASSEMBLER,
        .deployments = judge->deployments.at, .deployment_count = judge->deployments.n,
        .keep_bodies = keep};
#if HAVE_CHECK
    enum parse_status status =
        check_source(file->source, &worker->module, keep ? &worker->module : &worker->bodies,
                     &options, file->findings, &judged->module);
#else
    struct parse_options only_parse = {.max_nesting = options.max_nesting};
    enum parse_status status =
        parse_module(file->source, &worker->module, keep ? &worker->module : &worker->bodies,
                     &only_parse, file->findings, &judged->module);
#endif
    if (status == PARSE_LIMIT)
        file->failure = str_format(&worker->records, "%.*s: a limit was reached, the rest is not judged",
                                   STR_ARG(file->path));
    judged->has_facts = keep || judging->kernels_wanted || companion != NULL;
#if !HAVE_FACTS
    judged->has_facts = false;
#else
    if (!judged->has_facts) return;
    facts_compute(judged->module, &worker->module, &judged->facts);
    sources_apply(&judged->facts, &worker->module);
    if (companion != NULL)
        companion_apply(companion, &judged->facts, &worker->module, file->findings);
#endif
}

static void judge_check(const struct judging *judging, struct worker *worker,
                        struct record_file *file, bool *found) {
    struct judged judged = {0};
    check_module(judging, worker, file, &judged);
    findings_sort(file->findings);
    record_origins(file->findings, &worker->records, judged.module, file->source);
#if HAVE_FACTS
    if (judged.has_facts) record_module(file, &worker->records, &judged.facts);
#endif
    *found = at_or_above(file->findings, (enum severity)judging->settings->fail_on);
}

#if HAVE_JUDGE
static void judge_launch(const struct judging *judging, struct worker *worker,
                         struct record_file *file, bool *found) {
    struct judged judged = {0};
    struct launch launch;
    struct findings parse_findings;
    struct source *text = arena_new(&worker->records, struct source);
    struct judgement *judgement = arena_new(&worker->records, struct judgement);
    check_module(judging, worker, file, &judged);
    findings_sort(file->findings);
    source_init(text, &worker->records, STR("launch"), judging->launch.data, judging->launch.len);
    findings_init(&parse_findings, &worker->records, judging->settings->max_findings);
    if (!launch_parse(text, &worker->records, &judging->settings->names, &parse_findings, &launch)) {
        *file->findings = parse_findings;
        file->failure = STR("the launch does not parse");
        return;
    }
    launch_judge(&judged.facts, file->findings, &launch, &judging->settings->judge, &worker->records,
                 judgement);
    record_origins(&judgement->findings, &worker->records, judged.module, file->source);
    struct record_launch *record = vec_push(&worker->records, &file->launches);
    record_launch(record, &worker->records, judgement, judging->launch, 1);
    if (judging->command == COMMAND_run)
        confirm_launch(judging, worker, file, &judged.facts, judgement, record);
    file->findings = NULL;  // the load's are among the launch's
    *found = at_or_above(&judgement->findings, (enum severity)judging->settings->fail_on);
}

#endif

void judge_input(const struct judging *judging, struct worker *worker, const struct input *input,
                 struct record_file *file, bool *found) {
    arena_reset(&worker->module);
    arena_reset(&worker->bodies);
    arena_reset(&worker->records);
    *file = (struct record_file){0};
    *found = false;
    if (!load_input(worker, input, file)) return;
    file->findings = arena_new(&worker->records, struct findings);
    findings_init(file->findings, &worker->records, judging->settings->max_findings);
#if HAVE_JUDGE
    if (judging->launch.len != 0) {
        judge_launch(judging, worker, file, found);
        return;
    }
#endif
    judge_check(judging, worker, file, found);
}
