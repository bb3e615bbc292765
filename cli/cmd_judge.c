// The commands that judge files: check, info, launch, run.
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/judge.h"
#include "cli/progress.h"

struct run {
    struct cli *cli;
    struct config config;
    const struct configured *main;   // of the first input's folder: what holds for the whole run
    struct judging judging;
    struct inputs inputs;
    struct sinks sinks;
    struct report report;            // totals grow as pieces are committed
    struct baseline baseline, accepted;
    struct progress progress;
    bool found, trouble;
};

static void run_one(void *context, struct worker *worker, uint32_t index, struct piece *piece) {
    struct run *run = context;
    struct record_file file;
    judge_input(&run->judging, worker, &run->inputs.list.at[index], &file, piece);
    report_count(&piece->totals, &file);
    for (uint32_t i = 0; i < run->sinks.count; i++) {
        struct report styled = {.command = run->report.command, .style = run->sinks.at[i].style,
                                .tool_version = run->report.tool_version,
                                .folder = run->report.folder, .root = run->report.root};
        run->sinks.at[i].format->file(&styled, &file, &piece->parts[i]);
    }
    if (file.failure.len == 0) return;
    piece->trouble = true;
    output_str(&piece->said, file.failure);
}

static void add_totals(struct report_totals *sum, const struct report_totals *part) {
    sum->files += part->files;
    sum->failures += part->failures;
    sum->errors += part->errors;
    sum->warnings += part->warnings;
    sum->notes += part->notes;
    sum->launches += part->launches;
    sum->launches_failing += part->launches_failing;
    sum->dropped += part->dropped;
    sum->suppressed += part->suppressed;
    sum->baselined += part->baselined;
    for (uint32_t i = 0; i < part->pair_count; i++) report_add_pair(sum, &part->pairs[i]);
    for (int i = 0; i < RULE_COUNT; i++) sum->by_rule[i] += part->by_rule[i];
}

static void commit(void *context, uint32_t index, struct piece *piece) {
    struct run *run = context;
    if (piece->parts[0].size != 0 || piece->said.size != 0) progress_end(&run->progress);
    add_totals(&run->report.totals, &piece->totals);
    for (uint32_t i = 0; i < run->sinks.count; i++)
        sink_piece(&run->sinks.at[i], piece->parts[i].data, piece->parts[i].size);
    if (piece->said.size != 0) complain("%.*s", (int)piece->said.size, piece->said.data);
    for (uint32_t i = 0; i < piece->accepted.list.n; i++) {
        struct baseline_entry *entry = vec_push(&run->cli->arena, &run->accepted.list);
        memcpy(entry, &piece->accepted.list.at[i], sizeof *entry);
        entry->path = str_copy(&run->cli->arena, entry->path);
        entry->message = str_copy(&run->cli->arena, entry->message);
    }
    run->found |= piece->found;
    run->trouble |= piece->trouble;
    progress_step(&run->progress, index + 1, run->inputs.list.n);
}

static void exhausted(void *context, uint32_t index, struct piece *piece, bool at_limit) {
    struct run *run = context;
    struct str path = run->inputs.list.at[index].shown;
    piece->trouble = true;
    piece->totals.files = piece->totals.failures = 1;
    output_format(&piece->said, "%.*s: %s", STR_ARG(path),
                  at_limit ? "needs more memory than --memory-limit allows" : "out of memory");
}

static uint8_t report_command_of(enum command command) {
    switch (command) {
    case COMMAND_info: return REPORT_INFO;
    case COMMAND_launch: return REPORT_LAUNCH;
    case COMMAND_run: return REPORT_RUN;
    default: return REPORT_CHECK;
    }
}

// The folder that holds `.git`, upwards from here; without one, the present folder.
static void find_root(struct run *run) {
    char here[4096], *slash;
    struct stat status;
    if (getcwd(here, sizeof here) == NULL) return;
    run->report.folder = run->report.root = str_copy(&run->cli->arena, str_from(here));
    for (;;) {
        struct str git = str_format(&run->cli->arena, "%s/.git", here);
        if (stat(git.data, &status) == 0) {
            run->report.root = str_copy(&run->cli->arena, str_from(here));
            return;
        }
        if ((slash = strrchr(here, '/')) == NULL || slash == here) return;
        *slash = '\0';
    }
}

static bool any_rooted(const struct sinks *sinks) {
    for (uint32_t i = 0; i < sinks->count; i++)
        if (sinks->at[i].format->rooted) return true;
    return false;
}

static void say_summary(const struct run *run) {
    struct output out;
    if (run->report.style.quiet || run->report.command == REPORT_INFO) return;
    // The text of a single launch ends with its verdict.
    bool launch_text = run->judging.launch.len != 0 && run->sinks.at[0].format == report_format_find(STR("text"));
    if (launch_text && !run->trouble) return;
    output_init(&out, &run->cli->arena);
    report_summary(&run->report, &out);
    write_all(STDERR_FILENO, out.data, out.size);
}

// Which baseline is read, and whether one is made. False after a complaint.
static bool open_baseline(struct run *run) {
    const struct options *options = &run->main->options;
    bool named = option_set(options, OPTION_baseline);
    run->judging.writes_baseline = option_set(options, OPTION_write_baseline);
    if (option_set(options, OPTION_prune_baseline) && !named) {
        complain("--prune-baseline needs --baseline FILE");
        return false;
    }
    if (!named || run->judging.writes_baseline) return true;
    struct str path = str_copy(&run->cli->arena, option_text(options, OPTION_baseline, ""));
    run->judging.baseline = &run->baseline;
    return baseline_read(&run->baseline, &run->cli->arena, path);
}

static bool close_baseline(struct run *run) {
    const struct options *options = &run->main->options;
    struct arena *arena = &run->cli->arena;
    if (run->judging.writes_baseline) {
        baseline_settle(&run->accepted);
        run->found = false;  // all of it is accepted now
        return baseline_write(&run->accepted, arena, option_text(options, OPTION_write_baseline, ""));
    }
    if (!option_set(options, OPTION_prune_baseline)) return true;
    baseline_prune(&run->baseline);
    return baseline_write(&run->baseline, arena, option_text(options, OPTION_baseline, ""));
}

static int show_config(struct run *run) {
    struct output out;
    output_init(&out, &run->cli->arena);
    config_show(run->main, &out);
    return print(&out) ? EXIT_CLEAN : EXIT_TROUBLE;
}

static bool prepare(struct run *run) {
    struct cli *cli = run->cli;
    const struct options *options = &run->main->options;
    run->report.command = report_command_of(cli->options.command);
    run->report.tool_version = STR(PTXVET_VERSION);
    run->judging.command = cli->options.command;
    run->judging.options = options;
    run->judging.report = &run->report;
    if (!open_baseline(run) || !sinks_open(&run->sinks, &cli->arena, options)) return false;
    run->report.style = run->sinks.at[0].style;
    for (uint32_t i = 0; i < run->sinks.count; i++)
        run->judging.kernels_wanted |= run->sinks.at[i].format->kernels;
    if (any_rooted(&run->sinks) || run->judging.baseline != NULL || run->judging.writes_baseline)
        find_root(run);
    progress_start(&run->progress, options);
    return true;
}

// The folder whose configuration holds for the whole run: that of the first operand.
static struct str first_folder(struct run *run) {
    const struct options *options = &run->cli->options;
    struct arena *arena = &run->cli->arena;
    if (options->operands.n == 0) return (struct str){NULL, 0};
    struct str first = str_copy(arena, options->operands.at[0]);
    if (str_eq(first, STR("-"))) first = option_text(options, OPTION_stdin_filename, "-");
    if (!file_is_folder(first.data)) return str_copy(arena, path_folder(first));
    return str_ends(first, STR("/")) ? first : str_format(arena, "%.*s/", STR_ARG(first));
}

static int judge_all(struct run *run, const char *const *suffixes) {
    struct cli *cli = run->cli;
    if (!config_init(&run->config, &cli->arena, &cli->options)) return EXIT_TROUBLE;
    if (!inputs_collect(&run->inputs, &run->config, cli->options.operands.at,
                        cli->options.operands.n, suffixes))
        return EXIT_TROUBLE;
    run->main = config_for(&run->config, first_folder(run));
    if (run->main == NULL) return EXIT_TROUBLE;
    if (option_set(&cli->options, OPTION_show_config)) return show_config(run);
    if (!prepare(run)) return EXIT_TROUBLE;
    sinks_head(&run->sinks, &run->report);
    // Launches do not share the GPU, unless asked to.
    bool alone = cli->options.command == COMMAND_run && !option_set(&cli->options, OPTION_jobs);
    struct jobs jobs = {.count = run->inputs.list.n,
                        .threads = alone ? 1 : run->main->settings.jobs,
                        .memory_limit = run->main->settings.memory_limit, .run = run_one,
                        .commit = commit, .exhausted = exhausted, .context = run};
    jobs_run(&jobs);
    progress_end(&run->progress);
    run->trouble |= !sinks_finish(&run->sinks, &run->report);
    run->trouble |= !close_baseline(run);
    say_summary(run);
    if (run->trouble) return EXIT_TROUBLE;
    return run->found && !run->main->settings.exit_zero ? EXIT_FOUND : EXIT_CLEAN;
}

static int usage(enum command command, const char *what) {
    complain("%s\nUsage: ptxvet %s [OPTION]... %s\nTry `ptxvet help %s`.", what,
             command_infos[command].name, command_infos[command].operands,
             command_infos[command].name);
    return EXIT_TROUBLE;
}

int command_check(struct cli *cli) {
    static const char *const suffixes[] = {".ptx", NULL};
    struct run run = {.cli = cli};
    if (cli->options.operands.n == 0 && !option_set(&cli->options, OPTION_show_config))
        return usage(cli->options.command, "no files are named");
    return judge_all(&run, suffixes);
}

int command_info(struct cli *cli) { return command_check(cli); }

// FILE 'LAUNCH', when the second of two operands is neither a manifest nor a file; else manifests,
// and PTX files with launches in comments.
static bool is_launch_line(const struct options *options, struct arena *arena) {
    struct stat status;
    if (options->operands.n != 2) return false;
    struct str second = str_copy(arena, options->operands.at[1]);
    return !manifest_is(second) && !str_ends(second, STR(".ptx")) && stat(second.data, &status) != 0;
}

int command_launch(struct cli *cli) {
    static const char *const suffixes[] = {".launch", NULL};
    struct run run = {.cli = cli};
    if (cli->options.operands.n == 0 && !option_set(&cli->options, OPTION_show_config))
        return usage(cli->options.command, "a file and a launch, or a manifest, must be given");
    if (is_launch_line(&cli->options, &cli->arena)) {
        run.judging.launch = str_copy(&cli->arena, cli->options.operands.at[1]);
        cli->options.operands.n = 1;
    }
    return judge_all(&run, suffixes);
}

int command_run(struct cli *cli) { return command_launch(cli); }
