#include "cli/inputs.h"

#include <errno.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include "base/file.h"

enum { DEPTH_MOST = 64 };

struct search {
    struct inputs *inputs;
    struct config *config;
    struct arena *arena;
    const char *const *suffixes;
    bool failed;
};

// A pattern stands for a whole path, for its end, or for a name in it: `build`, `*.tmp.ptx`,
// `third_party/*`.
static bool matches(struct arena *arena, struct str pattern, struct str path) {
    const char *glob = str_copy(arena, pattern).data;
    if (fnmatch(glob, path.data, 0) == 0) return true;
    for (const char *at = path.data; at != NULL && *at != '\0'; at = strchr(at, '/')) {
        while (*at == '/') at++;
        const char *end = at + strcspn(at, "/");
        struct str name = {at, (uint32_t)(end - at)};
        if (fnmatch(glob, at, 0) == 0 || fnmatch(glob, str_copy(arena, name).data, 0) == 0)
            return true;
    }
    return false;
}

static bool excluded(const struct search *search, const struct configured *configured,
                     struct str path) {
    const struct option_values *globs = &configured->options.values[OPTION_exclude];
    for (uint32_t i = 0; i < globs->list.n; i++)
        if (matches(search->arena, globs->list.at[i], path)) return true;
    return false;
}

static void add(struct search *search, const struct configured *configured, struct str path,
                struct str shown, int trouble) {
    struct input *input = vec_push(search->arena, &search->inputs->list);
    *input = (struct input){.path = path, .shown = shown, .trouble = trouble,
                            .configured = configured};
}

static bool wanted(const struct search *search, struct str path) {
    for (uint32_t i = 0; search->suffixes[i] != NULL; i++)
        if (str_ends(path, str_from(search->suffixes[i]))) return true;
    return false;
}

static const struct configured *configured_in(struct search *search, struct str folder) {
    const struct configured *configured = config_for(search->config, folder);
    search->failed |= configured == NULL;
    return configured;
}

static void search_folder(struct search *search, struct str folder, uint32_t depth) {
    struct file_names names = {0};
    const char *slash = str_ends(folder, STR("/")) ? "" : "/";
    struct str inside = str_format(search->arena, "%.*s%s", STR_ARG(folder), slash);
    const struct configured *configured = configured_in(search, inside);
    if (search->failed) return;
    int trouble = depth > DEPTH_MOST ? ELOOP : file_list(folder.data, search->arena, &names);
    if (trouble != 0) {
        add(search, configured, folder, folder, trouble);
        return;
    }
    for (uint32_t i = 0; i < names.list.n && !search->failed; i++) {
        struct str path = str_format(search->arena, "%.*s%.*s", STR_ARG(inside),
                                     STR_ARG(names.list.at[i]));
        bool is_file = wanted(search, path);
        struct stat status;
        if (!is_file && (lstat(path.data, &status) != 0 || !S_ISDIR(status.st_mode))) continue;
        if (excluded(search, configured, path)) continue;
        if (is_file && !file_is_folder(path.data)) add(search, configured, path, path, 0);
        else search_folder(search, path, depth + 1);
    }
}

static void collect_operand(struct search *search, struct str operand) {
    const struct options *options = search->config->command_line;
    struct str path = str_copy(search->arena, operand), shown = path;
    bool is_stdin = str_eq(path, STR("-"));
    if (!is_stdin && file_is_folder(path.data)) {
        search_folder(search, path, 0);
        return;
    }
    if (is_stdin) shown = str_copy(search->arena, option_text(options, OPTION_stdin_filename, "-"));
    const struct configured *configured =
        configured_in(search, str_copy(search->arena, path_folder(shown)));
    if (configured == NULL) return;
    bool forced = option_set(&configured->options, OPTION_force_exclude);
    if (!forced || !excluded(search, configured, shown)) add(search, configured, path, shown, 0);
}

bool inputs_collect(struct inputs *inputs, struct config *config, const struct str *operands,
                    uint32_t operand_count, const char *const *suffixes) {
    struct search search = {inputs, config, config->arena, suffixes, false};
    *inputs = (struct inputs){0};
    for (uint32_t i = 0; i < operand_count && !search.failed; i++)
        collect_operand(&search, operands[i]);
    return !search.failed;
}
