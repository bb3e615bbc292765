// The command line as data: which command, which options with which values, which operands.
#ifndef PTXVET_CLI_OPTIONS_H
#define PTXVET_CLI_OPTIONS_H

#include "base/output.h"

enum command {
#define COMMAND(id, name, operands, summary) COMMAND_##id,
#include "cli/commands.def"
    COMMAND_COUNT
};

struct command_info {
    const char *name, *operands, *summary;
};

extern const struct command_info command_infos[COMMAND_COUNT];

enum {
#define COMMAND(id, name, operands, summary) IN_##id = 1 << COMMAND_##id,
#include "cli/commands.def"
    IN_ALL = (1 << COMMAND_COUNT) - 1,
    IN_LAUNCHING = IN_launch | IN_run,
    IN_JUDGING = IN_check | IN_info | IN_LAUNCHING,
    IN_TABLES = IN_rules | IN_gpus | IN_explain
};

enum option_use { OPTION_ONE, OPTION_MANY, OPTION_LIST };

enum option_group {
    GROUP_TARGET, GROUP_JUDGING, GROUP_FINDINGS, GROUP_OUTPUT, GROUP_RUNNING, GROUP_COUNT
};

extern const char *const option_group_titles[GROUP_COUNT];

enum option {
#define OPTION(id, letter, name, arg, use, commands, group, config, help) OPTION_##id,
#include "cli/options.def"
    OPTION_COUNT
};

struct option_info {
    const char *name, *arg, *help;  // arg "": a flag
    unsigned commands;              // IN_... bits
    char letter;
    uint8_t use, group;             // enum option_use, enum option_group
    bool config;
};

extern const struct option_info option_infos[OPTION_COUNT];

// Where an option's values come from, for --show-config.
enum option_origin { ORIGIN_DEFAULT, ORIGIN_CONFIG, ORIGIN_COMMAND_LINE };

struct option_values {
    VEC_OF(struct str) list;
    uint8_t origin;  // enum option_origin
};

struct options {
    enum command command;
    bool command_named;       // false: `check` was understood
    struct option_values values[OPTION_COUNT];
    VEC_OF(struct str) operands;
};

// Reads the command line. False: it is wrong, and `error` says how (one line, no newline).
bool options_parse(struct options *options, struct arena *arena, int argc, char **argv,
                   struct str *error);

// Adds one value, as parsing does; used for the configuration's keys too. False: the value is not
// one of those allowed, and `error` says so.
bool options_add(struct options *options, struct arena *arena, enum option option, struct str value,
                 enum option_origin origin, struct str *error);

// The option of that long name that `commands` have; OPTION_COUNT when there is none.
enum option option_find(struct str name, unsigned commands);

// The command of that name; COMMAND_COUNT when there is none.
enum command command_find(struct str name);

static inline bool option_set(const struct options *options, enum option option) {
    return options->values[option].list.n != 0;
}

// The last value given, or `otherwise`.
struct str option_text(const struct options *options, enum option option, const char *otherwise);

// The last value as a number. False: it is none, or below `least`; `error` says so.
bool option_number(const struct options *options, struct arena *arena, enum option option,
                   double least, double *value, struct str *error);

// Help, man page, completions: all from the tables.
void help_command(struct output *out, enum command command, bool command_named);
void help_overview(struct output *out);
void help_man(struct output *out);
void help_bash(struct output *out);
void help_zsh(struct output *out);
void help_fish(struct output *out);

#endif
