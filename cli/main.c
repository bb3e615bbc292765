#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "reports/plain.h"

void complain(const char *format, ...) {
    struct memory memory = {0};
    struct arena arena;
    struct output out;
    va_list args;
    if (setjmp(memory.edge) != 0) return;
    arena_init(&arena, &memory);
    output_init(&out, &arena);
    va_start(args, format);
    struct str text = str_vformat(&arena, format, args);
    va_end(args);
    output_text(&out, "ptxvet: ");
    plain_text(&out, text);
    output_byte(&out, '\n');
    write_all(STDERR_FILENO, out.data, out.size);
    arena_destroy(&arena);
}

bool print(const struct output *out) {
    int trouble = write_all(STDOUT_FILENO, out->data, out->size);
    if (trouble != 0) complain("cannot write standard output: %s", strerror(trouble));
    return trouble == 0;
}

static int show_help(struct cli *cli) {
    struct output out;
    output_init(&out, &cli->arena);
    help_command(&out, cli->options.command, cli->options.command_named);
    return print(&out) ? EXIT_CLEAN : EXIT_TROUBLE;
}

static int show_version(struct cli *cli) {
    struct output out;
    output_init(&out, &cli->arena);
    output_format(&out, "ptxvet %s\n", PTXVET_VERSION);
    return print(&out) ? EXIT_CLEAN : EXIT_TROUBLE;
}

int command_help(struct cli *cli) {
    static const struct { const char *name; void (*write)(struct output *); } pages[] = {
        {"man", help_man}, {"bash", help_bash}, {"zsh", help_zsh}, {"fish", help_fish}};
    struct output out;
    output_init(&out, &cli->arena);
    struct str topic = cli->options.operands.n == 0 ? (struct str){NULL, 0} : cli->options.operands.at[0];
    enum command command = command_find(topic);
    void (*page)(struct output *) = topic.len == 0 ? help_overview : NULL;
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++)
        if (str_eq(str_from(pages[i].name), topic)) page = pages[i].write;
    if (command != COMMAND_COUNT) help_command(&out, command, true);
    else if (page != NULL) page(&out);
    else {
        complain("no help on `%.*s`", STR_ARG(topic));
        return EXIT_TROUBLE;
    }
    return print(&out) ? EXIT_CLEAN : EXIT_TROUBLE;
}

static int run(struct cli *cli, int argc, char **argv) {
    static int (*const commands[])(struct cli *) = {
#define COMMAND(id, name, operands, summary) command_##id,
#include "cli/commands.def"
    };
    struct str error;
    if (argc <= 1) {
        cli->options = (struct options){.command = COMMAND_check};
        show_help(cli);
        return EXIT_TROUBLE;
    }
    bool parsed = options_parse(&cli->options, &cli->arena, argc, argv, &error);
    if (parsed && option_set(&cli->options, OPTION_help)) return show_help(cli);
    if (parsed && option_set(&cli->options, OPTION_version)) return show_version(cli);
    if (!parsed) {
        complain("%.*s", STR_ARG(error));
        return EXIT_TROUBLE;
    }
    return commands[cli->options.command](cli);
}

int main(int argc, char **argv) {
    static struct cli cli;
    signal(SIGPIPE, SIG_IGN);  // a closed pipe is a failed write: exit 2, with a message
    if (setjmp(cli.memory.edge) != 0) {
        complain("out of memory");
        return EXIT_TROUBLE;
    }
    arena_init(&cli.arena, &cli.memory);
    int status = run(&cli, argc, argv);
    arena_destroy(&cli.arena);
    return status;
}
