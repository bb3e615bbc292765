// The commands that judge files: check, info, launch.
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/judge.h"

struct run {
    struct cli *cli;
    struct judging judging;
    struct inputs inputs;
    struct sinks sinks;
    struct report report;   // totals grow as pieces are committed
    bool found, trouble;
};

static void run_one(void *context, struct worker *worker, uint32_t index, struct piece *piece) {
    struct run *run = context;
    struct record_file file;
    judge_input(&run->judging, worker, &run->inputs.list.at[index], &file, &piece->found);
    report_count(&piece->totals, &file);
    for (uint32_t i = 0; i < run->sinks.count; i++) {
        struct report styled = {.command = run->report.command, .style = run->sinks.at[i].style,
                                .tool_version = run->report.tool_version, .folder = run->report.folder, .root = run->report.root};
        run->sinks.at[i].format->file(&styled, &file, &piece->parts[i]);
    }
    if (file.failure.len != 0) {
        piece->trouble = true;
        output_str(&piece->said, file.failure);
    }
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
    for (int i = 0; i < RULE_COUNT; i++) sum->by_rule[i] += part->by_rule[i];
}

static void commit(void *context, uint32_t index, struct piece *piece) {
    struct run *run = context;
    (void)index;
    add_totals(&run->report.totals, &piece->totals);
    for (uint32_t i = 0; i < run->sinks.count; i++)
        sink_piece(&run->sinks.at[i], piece->parts[i].data, piece->parts[i].size);
    if (piece->said.size != 0) complain("%.*s", (int)piece->said.size, piece->said.data);
    run->found |= piece->found;
    run->trouble |= piece->trouble;
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
    output_init(&out, &run->cli->arena);
    report_summary(&run->report, &out);
    write_all(STDERR_FILENO, out.data, out.size);
}

static int judge_all(struct run *run) {
    struct cli *cli = run->cli;
    if (!sinks_open(&run->sinks, &cli->arena, &cli->options)) return EXIT_TROUBLE;
    run->report.command = report_command_of(cli->options.command);
    run->report.tool_version = STR(PTXVET_VERSION);
    run->report.style = run->sinks.at[0].style;
    run->judging.command = cli->options.command;
    run->judging.settings = &cli->settings;
    run->judging.options = &cli->options;
    for (uint32_t i = 0; i < run->sinks.count; i++)
        run->judging.kernels_wanted |= run->sinks.at[i].format->kernels;
    if (any_rooted(&run->sinks)) find_root(run);
    sinks_head(&run->sinks, &run->report);
    struct jobs jobs = {.count = run->inputs.list.n, .threads = cli->settings.jobs,
                        .memory_limit = cli->settings.memory_limit, .run = run_one,
                        .commit = commit, .exhausted = exhausted, .context = run};
    jobs_run(&jobs);
    run->trouble |= !sinks_finish(&run->sinks, &run->report);
    say_summary(run);
    if (run->trouble) return EXIT_TROUBLE;
    return run->found && !cli->settings.exit_zero ? EXIT_FOUND : EXIT_CLEAN;
}

static int usage(enum command command, const char *what) {
    complain("%s\nUsage: ptxvet %s [OPTION]... %s\nTry `ptxvet help %s`.", what,
             command_infos[command].name, command_infos[command].operands,
             command_infos[command].name);
    return EXIT_TROUBLE;
}

int command_check(struct cli *cli) {
    struct run run = {.cli = cli};
    if (cli->options.operands.n == 0) return usage(cli->options.command, "no files are named");
    inputs_collect(&run.inputs, &cli->arena, &cli->options, false);
    return judge_all(&run);
}

int command_info(struct cli *cli) { return command_check(cli); }

// FILE 'LAUNCH': the launch is the second operand.
int command_launch(struct cli *cli) {
    struct run run = {.cli = cli};
    if (cli->options.operands.n != 2)
        return usage(cli->options.command, "a file and a launch must be given");
    run.judging.launch = str_copy(&cli->arena, cli->options.operands.at[1]);
    cli->options.operands.n = 1;
    inputs_collect(&run.inputs, &cli->arena, &cli->options, false);
    return judge_all(&run);
}

int command_run(struct cli *cli) {
    // Launches do not share the GPU, unless asked to.
    if (!option_set(&cli->options, OPTION_jobs)) cli->settings.jobs = 1;
    return command_launch(cli);
}
