#include "cli/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <yaml.h>

#include "base/file.h"
#include "cli/cli.h"

enum { FOLDERS_UP_MOST = 64 };

static const char *const config_name = ".ptxvet.yaml";

struct config_reader {
    struct arena *arena;
    struct options *options;
    struct str path;
    yaml_parser_t parser;
    yaml_event_t event;
};

static void complain_at(struct config_reader *reader, size_t line, struct str what) {
    complain("%.*s:%zu: %.*s", STR_ARG(reader->path), line + 1, STR_ARG(what));
}

static bool next_event(struct config_reader *reader) {
    yaml_event_delete(&reader->event);
    if (yaml_parser_parse(&reader->parser, &reader->event)) return true;
    complain_at(reader, reader->parser.problem_mark.line,
                str_format(reader->arena, "%s", reader->parser.problem == NULL
                                                    ? "not YAML" : reader->parser.problem));
    return false;
}

static bool wrong(struct config_reader *reader, struct str what) {
    complain_at(reader, reader->event.start_mark.line, what);
    return false;
}

static struct str scalar(struct config_reader *reader) {
    struct str text = {(const char *)reader->event.data.scalar.value,
                       (uint32_t)reader->event.data.scalar.length};
    return str_copy(reader->arena, text);
}

// A relative path of a configuration starts at its folder.
static struct str beside_config(struct config_reader *reader, struct str value) {
    struct str folder = path_folder(reader->path);
    if (folder.len == 0 || value.len == 0 || value.data[0] == '/') return value;
    return str_format(reader->arena, "%.*s%.*s", STR_ARG(folder), STR_ARG(value));
}

static bool add_value(struct config_reader *reader, enum option option, struct str value) {
    const struct option_info *info = &option_infos[option];
    struct str error;
    if (reader->options->values[option].origin == ORIGIN_COMMAND_LINE) return true;
    if (info->arg[0] == '\0') {
        bool yes = str_eq(value, STR("true")), no = str_eq(value, STR("false"));
        if (!yes && !no)
            return wrong(reader, str_format(reader->arena, "`%s` is true or false, not `%.*s`",
                                            info->name, STR_ARG(value)));
        if (no) return true;
    }
    if (option == OPTION_baseline) value = beside_config(reader, value);
    return options_add(reader->options, reader->arena, option, value, ORIGIN_CONFIG, &error) ||
           wrong(reader, error);
}

// `severity:` may be written as a mapping, CODE: level.
static bool read_mapping(struct config_reader *reader, enum option option) {
    while (next_event(reader) && reader->event.type != YAML_MAPPING_END_EVENT) {
        if (reader->event.type != YAML_SCALAR_EVENT) return wrong(reader, STR("a key is expected"));
        struct str key = scalar(reader);
        if (!next_event(reader)) return false;
        if (reader->event.type != YAML_SCALAR_EVENT)
            return wrong(reader, STR("a value is expected"));
        struct str value = scalar(reader);
        struct str pair = str_format(reader->arena, "%.*s=%.*s", STR_ARG(key), STR_ARG(value));
        if (!add_value(reader, option, pair)) return false;
    }
    return reader->event.type == YAML_MAPPING_END_EVENT;
}

static bool read_sequence(struct config_reader *reader, enum option option) {
    if (option_infos[option].use == OPTION_ONE)
        return wrong(reader, str_format(reader->arena, "`%s` takes one value, not a list",
                                        option_infos[option].name));
    while (next_event(reader) && reader->event.type != YAML_SEQUENCE_END_EVENT) {
        if (reader->event.type != YAML_SCALAR_EVENT)
            return wrong(reader, STR("a plain value is expected"));
        if (!add_value(reader, option, scalar(reader))) return false;
    }
    return reader->event.type == YAML_SEQUENCE_END_EVENT;
}

static struct str unknown_key(struct config_reader *reader, struct str key) {
    uint32_t best = 3;
    const char *near = NULL;
    for (int i = 0; i < OPTION_COUNT; i++) {
        uint32_t distance = str_distance(key, str_from(option_infos[i].name), best);
        if (!option_infos[i].config || distance >= best) continue;
        best = distance;
        near = option_infos[i].name;
    }
    return str_format(reader->arena, "unknown key `%.*s`%s%s%s", STR_ARG(key),
                      near == NULL ? "" : "; did you mean `", near == NULL ? "" : near,
                      near == NULL ? "" : "`?");
}

static bool read_entry(struct config_reader *reader) {
    if (reader->event.type != YAML_SCALAR_EVENT) return wrong(reader, STR("a key is expected"));
    struct str key = scalar(reader);
    enum option option = option_find(key, IN_ALL);
    if (option == OPTION_COUNT || !option_infos[option].config)
        return wrong(reader, unknown_key(reader, key));
    if (!next_event(reader)) return false;
    if (reader->event.type == YAML_SCALAR_EVENT) return add_value(reader, option, scalar(reader));
    if (reader->event.type == YAML_SEQUENCE_START_EVENT) return read_sequence(reader, option);
    if (reader->event.type == YAML_MAPPING_START_EVENT && option == OPTION_severity)
        return read_mapping(reader, option);
    return wrong(reader, str_format(reader->arena, "`%s` takes a value or a list",
                                    option_infos[option].name));
}

static bool read_document(struct config_reader *reader) {
    for (;;) {
        if (!next_event(reader)) return false;
        yaml_event_type_t type = reader->event.type;
        if (type == YAML_STREAM_END_EVENT) return true;
        if (type == YAML_STREAM_START_EVENT || type == YAML_DOCUMENT_START_EVENT ||
            type == YAML_DOCUMENT_END_EVENT)
            continue;
        // An empty file is an empty scalar.
        if (type == YAML_SCALAR_EVENT && reader->event.data.scalar.length == 0) continue;
        if (type != YAML_MAPPING_START_EVENT)
            return wrong(reader, STR("a mapping of option names to values is expected"));
        while (next_event(reader) && reader->event.type != YAML_MAPPING_END_EVENT)
            if (!read_entry(reader)) return false;
        if (reader->event.type != YAML_MAPPING_END_EVENT) return false;
    }
}

static bool read_config(struct arena *arena, struct str path, struct options *options) {
    struct config_reader reader = {.arena = arena, .options = options, .path = path};
    struct str text;
    int trouble = file_read(path.data, arena, &text);
    if (trouble != 0) {
        complain("cannot read %.*s: %s", STR_ARG(path), strerror(trouble));
        return false;
    }
    if (!yaml_parser_initialize(&reader.parser)) return false;
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text.data, text.len);
    bool good = read_document(&reader);
    yaml_event_delete(&reader.event);
    yaml_parser_delete(&reader.parser);
    return good;
}

// The options of the command line, in lists of their own: those of a configuration are added to them.
static void copy_options(struct options *to, const struct options *from, struct arena *arena) {
    *to = *from;
    for (int i = 0; i < OPTION_COUNT; i++) {
        memset(&to->values[i].list, 0, sizeof to->values[i].list);
        for (uint32_t v = 0; v < from->values[i].list.n; v++)
            *vec_push(arena, &to->values[i].list) = from->values[i].list.at[v];
    }
}

static const struct configured *configured_by(struct config *config, struct str path) {
    for (uint32_t i = 0; i < config->files.n; i++)
        if (str_eq(config->files.at[i]->file, path)) return config->files.at[i];
    struct configured *made = arena_new(config->arena, struct configured);
    struct str error;
    made->file = path;
    copy_options(&made->options, config->command_line, config->arena);
    if (!read_config(config->arena, path, &made->options)) return NULL;
    if (!settings_make(&made->settings, config->arena, &made->options, &error)) {
        complain("%.*s: %.*s", STR_ARG(path), STR_ARG(error));
        return NULL;
    }
    *vec_push(config->arena, &config->files) = made;
    return made;
}

bool config_init(struct config *config, struct arena *arena, const struct options *command_line) {
    struct str error;
    *config = (struct config){.arena = arena, .command_line = command_line};
    config->plain.options = *command_line;
    if (!settings_make(&config->plain.settings, arena, command_line, &error)) {
        complain("%.*s", STR_ARG(error));
        return false;
    }
    if (!option_set(command_line, OPTION_config)) return true;
    const struct configured *named =
        configured_by(config, str_copy(arena, option_text(command_line, OPTION_config, "")));
    if (named == NULL) return false;
    config->plain = *named;
    return true;
}

// "a/b/" has the parent "a/"; the present folder and what starts with `..` have "../" more.
static struct str parent_of(struct arena *arena, struct str folder) {
    struct str path = folder;
    while (path.len != 0 && path.data[path.len - 1] == '/') path.len--;
    if (path.len == 0 && folder.len != 0) return folder;  // the root
    struct str name = path_file(path);
    if (path.len == 0) return STR("../");
    if (str_eq(name, STR("..")) || str_eq(name, STR(".")))
        return str_format(arena, "%.*s/../", STR_ARG(path));
    return path_folder(path);
}

static struct str find_file(struct arena *arena, struct str folder) {
    char absolute[4096];
    struct str none = {NULL, 0};
    // How far up the root is: no further can a configuration be.
    struct str place = folder.len == 0 ? STR(".") : str_copy(arena, folder);
    if (realpath(place.data, absolute) == NULL) return none;
    uint32_t depth = 0;
    for (const char *at = absolute; *at != '\0'; at++) depth += *at == '/' && at[1] != '\0';
    for (uint32_t i = 0; i <= depth && i < FOLDERS_UP_MOST; i++) {
        struct str path = str_format(arena, "%.*s%s", STR_ARG(folder), config_name);
        if (access(path.data, F_OK) == 0) return path;
        folder = parent_of(arena, folder);
    }
    return none;
}

const struct configured *config_for(struct config *config, struct str folder) {
    if (option_set(config->command_line, OPTION_config) ||
        option_set(config->command_line, OPTION_no_config))
        return &config->plain;
    for (uint32_t i = config->folders.n; i-- > 0;)  // the last is likeliest
        if (str_eq(config->folders.at[i].folder, folder)) return config->folders.at[i].configured;
    struct str file = find_file(config->arena, folder);
    const struct configured *found = file.len == 0 ? &config->plain : configured_by(config, file);
    if (found == NULL) return NULL;
    struct config_folder *row = vec_push(config->arena, &config->folders);
    row->folder = folder;
    row->configured = found;
    return found;
}

static void show_value(struct output *out, struct str value) {
    output_byte(out, '"');
    for (uint32_t i = 0; i < value.len; i++) {
        if (value.data[i] == '"' || value.data[i] == '\\') output_byte(out, '\\');
        output_byte(out, value.data[i]);
    }
    output_byte(out, '"');
}

static void show_option(const struct options *options, int option, struct output *out) {
    const struct option_values *values = &options->values[option];
    const struct option_info *info = &option_infos[option];
    if (values->list.n == 0) {
        output_format(out, "# %s: not set\n", info->name);
        return;
    }
    output_format(out, "%s: ", info->name);
    if (info->arg[0] == '\0') output_text(out, "true");
    else if (info->use == OPTION_ONE) show_value(out, values->list.at[values->list.n - 1]);
    else {
        output_byte(out, '[');
        for (uint32_t i = 0; i < values->list.n; i++) {
            if (i != 0) output_text(out, ", ");
            show_value(out, values->list.at[i]);
        }
        output_byte(out, ']');
    }
    output_format(out, "  # from %s\n",
                  values->origin == ORIGIN_CONFIG ? "the configuration" : "the command line");
}

void config_show(const struct configured *configured, struct output *out) {
    if (configured->file.len != 0)
        output_format(out, "# configuration: %.*s\n", STR_ARG(configured->file));
    else output_text(out, "# no configuration found\n");
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_infos[i].config) show_option(&configured->options, i, out);
}
