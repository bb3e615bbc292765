// Help, man page and completions, from the command and option tables.
#include "cli/options.h"

struct example {
    enum command command;
    const char *line, *says;
};

static const struct example examples[] = {
    {COMMAND_check, "ptxvet kernels/", "every .ptx below a folder"},
    {COMMAND_check, "ptxvet check --gpu sm_90 --driver 550.54 a.ptx", "will it load there?"},
    {COMMAND_check, "ptxvet check -o sarif:out.sarif -o junit:out.xml kernels/", "several reports"},
    {COMMAND_check, "nvcc -ptx -o - a.cu | ptxvet check - --stdin-filename a.ptx", "from a pipe"},
    {COMMAND_info, "ptxvet info gptq.ptx", "what must be passed"},
    {COMMAND_info, "ptxvet info --requires gptq.ptx", "least PTX version, target and driver"},
    {COMMAND_launch, "ptxvet launch gptq.ptx 'gptq<<<16384, 128, 16>>>(ptr, ptr, 4096)'", "one launch"},
    {COMMAND_launch, "ptxvet launch --error 701 k.ptx 'k<<<64, 1024>>>(ptr)'", "why did it give 701?"},
    {COMMAND_launch, "ptxvet launch -D N=4096 k.ptx 'k<<<cdiv(N,256), 256>>>(f32[N], N)'", "names"},
    {COMMAND_launch, "ptxvet launch tests/*.launch", "the launches in manifests"},
    {COMMAND_run, "ptxvet run k.ptx 'k<<<64, 256>>>(f32[16384]=0, 16384)'", "and on the GPU"},
    {COMMAND_explain, "ptxvet explain PTX0603", "a rule's page"},
    {COMMAND_explain, "ptxvet explain CUDA_ERROR_INVALID_VALUE", "the rules that predict it"},
    {COMMAND_rules, "ptxvet rules --format json", ""},
    {COMMAND_gpus, "ptxvet gpus h200", ""},
    {COMMAND_help, "ptxvet help launch", ""},
    {COMMAND_help, "ptxvet help bash > /etc/bash_completion.d/ptxvet", ""},
};

enum { EXAMPLE_COUNT = sizeof examples / sizeof examples[0], HELP_WIDTH = 98, HELP_INDENT = 32 };

static bool has_option(enum command command, int option) {
    return (option_infos[option].commands & (1u << command)) != 0;
}

static bool has_group(enum command command, int group) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_infos[i].group == group && has_option(command, i)) return true;
    return false;
}

// Words of `text` from the column HELP_INDENT on, wrapped.
static void wrapped(struct output *out, const char *text, size_t column) {
    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        if (column > HELP_INDENT && column + 1 + word > HELP_WIDTH) {
            output_byte(out, '\n');
            output_repeat(out, ' ', HELP_INDENT);
            column = HELP_INDENT;
        } else if (column > HELP_INDENT) {
            output_byte(out, ' ');
            column++;
        }
        output_bytes(out, text, word);
        column += word;
        text += word;
        while (*text == ' ') text++;
    }
    output_byte(out, '\n');
}

static void option_line(struct output *out, const struct option_info *info) {
    size_t begin = out->size;
    if (info->letter != 0) output_format(out, "  -%c, --%s", info->letter, info->name);
    else output_format(out, "      --%s", info->name);
    if (info->arg[0] != '\0') output_format(out, " %s", info->arg);
    size_t column = out->size - begin;
    if (column + 2 > HELP_INDENT) {
        output_byte(out, '\n');
        column = 0;
    }
    output_repeat(out, ' ', HELP_INDENT - column);
    wrapped(out, info->help, HELP_INDENT);
}

static void option_groups(struct output *out, enum command command) {
    for (int group = 0; group < GROUP_COUNT; group++) {
        if (!has_group(command, group)) continue;
        output_format(out, "\n%s\n", option_group_titles[group]);
        for (int i = 0; i < OPTION_COUNT; i++)
            if (option_infos[i].group == group && has_option(command, i))
                option_line(out, &option_infos[i]);
    }
}

static void command_examples(struct output *out, enum command command) {
    bool any = false;
    for (int i = 0; i < EXAMPLE_COUNT; i++) {
        if (examples[i].command != command) continue;
        if (!any) output_text(out, "\nExamples\n");
        any = true;
        if (examples[i].says[0] != '\0') output_format(out, "  # %s\n", examples[i].says);
        output_format(out, "  %s\n", examples[i].line);
    }
}

static void exit_status(struct output *out) {
    output_text(out, "\nExit status\n"
                     "  0  nothing found at or above --fail-on\n"
                     "  1  a finding at or above --fail-on (default error)\n"
                     "  2  the tool could not do its job: usage, unreadable file, bad "
                     "configuration, a limit\n");
}

void help_command(struct output *out, enum command command, bool command_named) {
    const struct command_info *info = &command_infos[command];
    if (!command_named) {
        help_overview(out);
        return;
    }
    output_format(out, "ptxvet %s: %s\n\nUsage: ptxvet %s [OPTION]... %s\n", info->name,
                  info->summary, info->name, info->operands);
    command_examples(out, command);
    option_groups(out, command);
    if (IN_JUDGING & (1u << command)) exit_status(out);
}

void help_overview(struct output *out) {
    output_format(out,
                  "ptxvet %s: will this PTX load, what must be passed, will this launch work?\n\n"
                  "Usage: ptxvet [COMMAND] [OPTION]... [OPERAND]...\n\nCommands\n",
                  PTXVET_VERSION);
    for (int i = 0; i < COMMAND_COUNT; i++)
        output_format(out, "  %-9s %s\n", command_infos[i].name, command_infos[i].summary);
    output_text(out, "\nExamples\n"
                     "  ptxvet kernels/                       # does every .ptx load?\n"
                     "  ptxvet info gptq.ptx                  # what must I pass?\n"
                     "  ptxvet launch gptq.ptx 'gptq<<<16384, 128, 16>>>(ptr, ptr, 4096)'\n"
                     "  ptxvet explain 701                    # what can give this error?\n"
                     "\n`ptxvet help COMMAND` or `ptxvet COMMAND --help` lists a command's options.\n");
    exit_status(out);
}

// roff: a leading dot or quote would be a request, a backslash an escape, a hyphen a hyphen.
static void roff(struct output *out, const char *text) {
    if (*text == '.' || *text == '\'') output_text(out, "\\&");
    for (; *text != '\0'; text++) {
        if (*text == '\\') output_text(out, "\\e");
        else if (*text == '-') output_text(out, "\\-");
        else if (*text == '`') output_text(out, "\\(ga");
        else if (*text == '\'') output_text(out, "\\(aq");
        else if (*text == '~') output_text(out, "\\(ti");
        else if (*text == '^') output_text(out, "\\(ha");
        else output_byte(out, *text);
    }
}

static void roff_item(struct output *out, const char *term, const char *text) {
    output_text(out, ".TP\n.B ");
    roff(out, term);
    output_byte(out, '\n');
    roff(out, text);
    output_byte(out, '\n');
}

static void man_option(struct output *out, const struct option_info *info) {
    output_text(out, ".TP\n");
    if (info->letter != 0) output_format(out, "\\fB\\-%c\\fR, ", info->letter);
    output_text(out, "\\fB\\-\\-");
    roff(out, info->name);
    output_text(out, "\\fR");
    if (info->arg[0] != '\0') {
        output_text(out, " \\fI");
        roff(out, info->arg);
        output_text(out, "\\fR");
    }
    output_byte(out, '\n');
    roff(out, info->help);
    bool all = info->commands == IN_ALL;
    output_text(out, all ? "\n" : "\n(");
    const char *separator = "";
    for (int i = 0; i < COMMAND_COUNT && !all; i++)
        if (info->commands & (1u << i)) {
            output_format(out, "%s%s", separator, command_infos[i].name);
            separator = ", ";
        }
    if (!all) output_text(out, ")\n");
}

void help_man(struct output *out) {
    output_format(out, ".TH PTXVET 1 \"\" \"ptxvet %s\" \"User Commands\"\n", PTXVET_VERSION);
    output_text(out, ".SH NAME\nptxvet \\- check PTX and judge its launches without a GPU\n"
                     ".SH SYNOPSIS\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        output_format(out, ".B ptxvet %s\n.RI [ OPTION ]...\n", command_infos[i].name);
        roff(out, command_infos[i].operands[0] == '\0' ? "" : command_infos[i].operands);
        output_text(out, command_infos[i].operands[0] == '\0' ? ".br\n" : "\n.br\n");
    }
    output_text(out, ".SH DESCRIPTION\nReads NVIDIA PTX and says whether it will load, what its "
                     "kernels must be given, and whether a launch will work, with the answer that "
                     "the driver will give.\n.SH COMMANDS\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        roff_item(out, command_infos[i].name, command_infos[i].summary);
    output_text(out, ".SH OPTIONS\n");
    for (int group = 0; group < GROUP_COUNT; group++) {
        output_format(out, ".SS %s\n", option_group_titles[group]);
        for (int i = 0; i < OPTION_COUNT; i++)
            if (option_infos[i].group == group) man_option(out, &option_infos[i]);
    }
    output_text(out, ".SH EXIT STATUS\n");
    roff_item(out, "0", "Nothing found at or above --fail-on.");
    roff_item(out, "1", "A finding at or above --fail-on (default error).");
    roff_item(out, "2", "The tool could not do its job: usage, unreadable file, bad configuration, "
                        "a limit reached.");
    output_text(out, ".SH FILES\n");
    roff_item(out, ".ptxvet.yaml", "Configuration, found upwards from each input. Its keys are the "
                                   "names of options.");
    output_text(out, ".SH ENVIRONMENT\n");
    roff_item(out, "NO_COLOR", "No colour, unless --color says otherwise.");
    roff_item(out, "FORCE_COLOR, CLICOLOR_FORCE", "Colour even where output is no terminal.");
    output_text(out, ".SH EXAMPLES\n.EX\n");
    for (int i = 0; i < EXAMPLE_COUNT; i++) {
        roff(out, examples[i].line);
        output_byte(out, '\n');
    }
    output_text(out, ".EE\n");
}

static bool takes_file(int option) {
    return option == OPTION_config || option == OPTION_baseline ||
           option == OPTION_write_baseline || option == OPTION_triton || option == OPTION_ptxas ||
           option == OPTION_stdin_filename;
}

static void words_of_arg(struct output *out, const char *arg) {
    for (; *arg != '\0'; arg++) output_byte(out, *arg == '|' ? ' ' : *arg);
}

static void bash_values(struct output *out) {
    output_text(out, "    case $prev in\n");
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct option_info *info = &option_infos[i];
        if (info->arg[0] == '\0') continue;
        output_format(out, "        --%s", info->name);
        if (info->letter != 0) output_format(out, "|-%c", info->letter);
        output_text(out, ")\n");
        if (strchr(info->arg, '|') != NULL) {
            output_text(out, "            mapfile -t COMPREPLY < <(compgen -W '");
            words_of_arg(out, info->arg);
            output_text(out, "' -- \"$cur\")\n");
        } else if (takes_file(i)) {
            output_text(out, "            mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n");
        }
        output_text(out, "            return ;;\n");
    }
    output_text(out, "    esac\n");
}

void help_bash(struct output *out) {
    output_text(out, "# shellcheck shell=bash\n# bash completion for ptxvet; made by `ptxvet help bash`\n"
                     "_ptxvet() {\n    local cur prev command word\n    COMPREPLY=()\n"
                     "    cur=${COMP_WORDS[COMP_CWORD]}\n    prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                     "    command=check\n    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
                     "        case $word in\n            -*) ;;\n            ");
    for (int i = 0; i < COMMAND_COUNT; i++)
        output_format(out, "%s%s", i == 0 ? "" : "|", command_infos[i].name);
    output_text(out, ") command=$word; break ;;\n            *) break ;;\n        esac\n    done\n");
    bash_values(out);
    output_text(out, "    if [[ $cur == -* ]]; then\n        case $command in\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        output_format(out, "            %s) word='", command_infos[i].name);
        for (int o = 0; o < OPTION_COUNT; o++)
            if (has_option((enum command)i, o)) output_format(out, "--%s ", option_infos[o].name);
        output_text(out, "' ;;\n");
    }
    output_text(out, "            *) word='' ;;\n        esac\n"
                     "        mapfile -t COMPREPLY < <(compgen -W \"$word\" -- \"$cur\")\n"
                     "        return\n    fi\n    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
                     "    if [[ $COMP_CWORD -eq 1 ]]; then\n"
                     "        mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -W '");
    for (int i = 0; i < COMMAND_COUNT; i++) output_format(out, "%s ", command_infos[i].name);
    output_text(out, "' -- \"$cur\")\n    fi\n}\ncomplete -o filenames -F _ptxvet ptxvet\n");
}

// In single quotes for zsh's _arguments, where brackets and colons are special too.
static void zsh_text(struct output *out, const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '\'') output_text(out, "'\\''");
        else if (*text == '[' || *text == ']' || *text == ':' || *text == '\\')
            output_format(out, "\\%c", *text);
        else output_byte(out, *text);
    }
}

static void zsh_option(struct output *out, int option) {
    const struct option_info *info = &option_infos[option];
    output_format(out, "        '*--%s%s[", info->name, info->arg[0] == '\0' ? "" : "=");
    zsh_text(out, info->help);
    output_text(out, "]");
    if (strchr(info->arg, '|') != NULL) {
        output_text(out, ":value:(");
        words_of_arg(out, info->arg);
        output_text(out, ")");
    } else if (info->arg[0] != '\0') {
        output_format(out, ":%s:%s", info->arg, takes_file(option) ? "_files" : " ");
    }
    output_text(out, "'\n");
}

void help_zsh(struct output *out) {
    output_text(out, "#compdef ptxvet\n# zsh completion for ptxvet; made by `ptxvet help zsh`\n"
                     "_ptxvet() {\n    local command=check\n    local -a commands args\n"
                     "    commands=(\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        output_format(out, "        '%s:", command_infos[i].name);
        zsh_text(out, command_infos[i].summary);
        output_text(out, "'\n");
    }
    output_text(out, "    )\n    if (( CURRENT == 2 )) && [[ ${words[2]} != -* ]]; then\n"
                     "        _describe command commands\n        _files\n        return\n    fi\n"
                     "    (( ${commands[(I)${words[2]}:*]} )) && command=${words[2]}\n"
                     "    case $command in\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        output_format(out, "    %s) args=(\n", command_infos[i].name);
        for (int o = 0; o < OPTION_COUNT; o++)
            if (has_option((enum command)i, o)) zsh_option(out, o);
        output_text(out, "        ) ;;\n");
    }
    output_text(out, "    esac\n    _arguments $args '*:file:_files'\n}\n_ptxvet \"$@\"\n");
}

static void fish_text(struct output *out, const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\') output_byte(out, '\\');
        output_byte(out, *text);
    }
}

static void fish_option(struct output *out, int option) {
    const struct option_info *info = &option_infos[option];
    output_text(out, "complete -c ptxvet");
    if (info->commands != IN_ALL) {
        output_text(out, " -n '__fish_seen_subcommand_from");
        for (int i = 0; i < COMMAND_COUNT; i++)
            if (info->commands & (1u << i)) output_format(out, " %s", command_infos[i].name);
        output_text(out, info->commands & IN_check ? "; or __ptxvet_no_command'" : "'");
    }
    output_format(out, " -l %s", info->name);
    if (info->letter != 0) output_format(out, " -s %c", info->letter);
    if (strchr(info->arg, '|') != NULL) {
        output_text(out, " -x -a '");
        words_of_arg(out, info->arg);
        output_text(out, "'");
    } else if (info->arg[0] != '\0') output_text(out, takes_file(option) ? " -r" : " -x");
    output_text(out, " -d '");
    fish_text(out, info->help);
    output_text(out, "'\n");
}

void help_fish(struct output *out) {
    output_text(out, "# fish completion for ptxvet; made by `ptxvet help fish`\n"
                     "function __ptxvet_no_command\n    not __fish_seen_subcommand_from");
    for (int i = 0; i < COMMAND_COUNT; i++) output_format(out, " %s", command_infos[i].name);
    output_text(out, "\nend\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        output_format(out, "complete -c ptxvet -n __fish_use_subcommand -a %s -d '",
                      command_infos[i].name);
        fish_text(out, command_infos[i].summary);
        output_text(out, "'\n");
    }
    for (int o = 0; o < OPTION_COUNT; o++) fish_option(out, o);
}
