#include "cli/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

const struct command_info command_infos[COMMAND_COUNT] = {
#define COMMAND(id, name, operands, summary) {name, operands, summary},
#include "cli/commands.def"
};

enum { YES = 1, NO = 0, USE_ONE = OPTION_ONE, USE_MANY = OPTION_MANY, USE_LIST = OPTION_LIST };

const struct option_info option_infos[OPTION_COUNT] = {
#define OPTION(id, letter, name, arg, use, commands, group, config, help) \
    {name, arg, help, commands, letter, USE_##use, GROUP_##group, config},
#include "cli/options.def"
};

const char *const option_group_titles[GROUP_COUNT] = {
    "What is judged", "How it is judged", "Which findings count", "What is written", "How it runs"};

enum command command_find(struct str name) {
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (str_eq(str_from(command_infos[i].name), name)) return (enum command)i;
    return COMMAND_COUNT;
}

enum option option_find(struct str name, unsigned commands) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_infos[i].commands & commands && str_eq(str_from(option_infos[i].name), name))
            return (enum option)i;
    return OPTION_COUNT;
}

static enum option find_letter(char letter, unsigned commands) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_infos[i].letter == letter && option_infos[i].commands & commands)
            return (enum option)i;
    return OPTION_COUNT;
}

static bool is_flag(enum option option) { return option_infos[option].arg[0] == '\0'; }

// "A|B|C": the values allowed. A value name in capitals allows any.
static bool value_allowed(const char *arg, struct str value) {
    if (strchr(arg, '|') == NULL) return true;
    for (const char *at = arg;; at++) {
        const char *end = at + strcspn(at, "|");
        if (str_eq((struct str){at, (uint32_t)(end - at)}, value)) return true;
        if (*end == '\0') return false;
        at = end;
    }
}

static void add_list(struct options *options, struct arena *arena, enum option option,
                     struct str value) {
    uint32_t begin = 0;
    for (uint32_t i = 0; i <= value.len; i++) {
        if (i < value.len && value.data[i] != ',') continue;
        while (begin < i && value.data[begin] == ' ') begin++;
        if (i > begin)
            *vec_push(arena, &options->values[option].list) =
                (struct str){value.data + begin, i - begin};
        begin = i + 1;
    }
}

bool options_add(struct options *options, struct arena *arena, enum option option, struct str value,
                 enum option_origin origin, struct str *error) {
    const struct option_info *info = &option_infos[option];
    if (!value_allowed(info->arg, value)) {
        *error = str_format(arena, "--%s must be one of %s, not `%.*s`", info->name, info->arg,
                            STR_ARG(value));
        return false;
    }
    options->values[option].origin = (uint8_t)origin;
    if (info->use == OPTION_LIST) add_list(options, arena, option, value);
    else *vec_push(arena, &options->values[option].list) = value;
    return true;
}

// The long option nearest to a misspelt one, for the message.
static struct str nearest_option(struct arena *arena, struct str name, unsigned commands) {
    uint32_t best = 3;
    struct str found = {NULL, 0};
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!(option_infos[i].commands & commands)) continue;
        uint32_t distance = str_distance(name, str_from(option_infos[i].name), best);
        if (distance >= best) continue;
        best = distance;
        found = str_format(arena, "; did you mean --%s?", option_infos[i].name);
    }
    return found;
}

static struct str unknown_option(struct arena *arena, struct str name, enum command command) {
    enum option elsewhere = option_find(name, IN_ALL);
    if (elsewhere != OPTION_COUNT)
        return str_format(arena, "`ptxvet %s` has no option --%.*s", command_infos[command].name,
                          STR_ARG(name));
    struct str hint = nearest_option(arena, name, 1u << command);
    return str_format(arena, "unknown option --%.*s%.*s", STR_ARG(name), STR_ARG(hint));
}

struct reader {
    struct options *options;
    struct arena *arena;
    int argc, at;
    char **argv;
    struct str *error;
};

static bool take(struct reader *reader, enum option option, const char *attached) {
    const struct option_info *info = &option_infos[option];
    if (is_flag(option)) {
        if (attached != NULL) {
            *reader->error = str_format(reader->arena, "--%s takes no value", info->name);
            return false;
        }
        return options_add(reader->options, reader->arena, option, STR("true"),
                           ORIGIN_COMMAND_LINE, reader->error);
    }
    if (attached == NULL && reader->at + 1 < reader->argc) attached = reader->argv[++reader->at];
    if (attached == NULL) {
        *reader->error = str_format(reader->arena, "--%s needs a value: %s", info->name, info->arg);
        return false;
    }
    return options_add(reader->options, reader->arena, option, str_from(attached),
                       ORIGIN_COMMAND_LINE, reader->error);
}

static bool take_long(struct reader *reader, const char *text) {
    const char *equals = strchr(text, '=');
    struct str name = equals == NULL ? str_from(text)
                                     : (struct str){text, (uint32_t)(equals - text)};
    enum option option = option_find(name, 1u << reader->options->command);
    if (option == OPTION_COUNT) {
        *reader->error = unknown_option(reader->arena, name, reader->options->command);
        return false;
    }
    return take(reader, option, equals == NULL ? NULL : equals + 1);
}

// `-qj2`: flags may stand together; the first that takes a value takes the rest.
static bool take_short(struct reader *reader, const char *letters) {
    for (; *letters != '\0'; letters++) {
        enum option option = find_letter(*letters, 1u << reader->options->command);
        if (option == OPTION_COUNT) {
            *reader->error = str_format(reader->arena, "unknown option -%c", *letters);
            return false;
        }
        if (!is_flag(option)) {
            const char *rest = letters + 1;
            if (*rest == '=') rest++;
            return take(reader, option, *rest == '\0' ? NULL : rest);
        }
        if (!take(reader, option, NULL)) return false;
    }
    return true;
}

// The command is the first word that is no option. A file of a command's name is written `./check`;
// an option in front of the command has its value attached: `--format=json launch`.
static int find_command(struct options *options, int argc, char **argv) {
    int at = 1;
    while (at < argc && argv[at][0] == '-' && argv[at][1] != '\0') at++;
    enum command command = at < argc ? command_find(str_from(argv[at])) : COMMAND_COUNT;
    options->command_named = command != COMMAND_COUNT;
    options->command = options->command_named ? command : COMMAND_check;
    return options->command_named ? at : 0;
}

bool options_parse(struct options *options, struct arena *arena, int argc, char **argv,
                   struct str *error) {
    struct reader reader = {options, arena, argc, 0, argv, error};
    *options = (struct options){0};
    int command_at = find_command(options, argc, argv);
    bool only_operands = false;
    for (reader.at = 1; reader.at < argc; reader.at++) {
        const char *text = argv[reader.at];
        if (reader.at == command_at) continue;
        if (only_operands || text[0] != '-' || text[1] == '\0')
            *vec_push(arena, &options->operands) = str_from(text);
        else if (strcmp(text, "--") == 0) only_operands = true;
        else if (text[1] == '-' ? !take_long(&reader, text + 2) : !take_short(&reader, text + 1))
            return false;
    }
    return true;
}

struct str option_text(const struct options *options, enum option option, const char *otherwise) {
    const struct option_values *values = &options->values[option];
    return values->list.n == 0 ? str_from(otherwise) : values->list.at[values->list.n - 1];
}

bool option_number(const struct options *options, struct arena *arena, enum option option,
                   double least, double *value, struct str *error) {
    if (!option_set(options, option)) return true;
    struct str text = str_copy(arena, option_text(options, option, ""));
    char *end;
    errno = 0;
    double number = strtod(text.data, &end);
    if (text.len == 0 || end != text.data + text.len || errno != 0 || !isfinite(number) ||
        number < least || number > 1e15) {
        *error = str_format(arena, "--%s must be a number of at least %g, not `%.*s`",
                            option_infos[option].name, least, STR_ARG(text));
        return false;
    }
    *value = number;
    return true;
}
