#include "cli/inputs.h"

#include <errno.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include "base/file.h"

enum { DEPTH_MOST = 64 };

struct search {
    struct inputs *inputs;
    struct arena *arena;
    const struct options *options;
    bool manifests;  // .launch files count too
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

static bool excluded(const struct search *search, struct str path) {
    const struct option_values *globs = &search->options->values[OPTION_exclude];
    for (uint32_t i = 0; i < globs->list.n; i++)
        if (matches(search->arena, globs->list.at[i], path)) return true;
    return false;
}

static void add(const struct search *search, struct str path, int trouble) {
    struct input *input = vec_push(search->arena, &search->inputs->list);
    *input = (struct input){.path = path, .shown = path, .trouble = trouble};
}

static bool wanted(const struct search *search, struct str path) {
    return str_ends(path, STR(".ptx")) || (search->manifests && str_ends(path, STR(".launch")));
}

static void search_folder(const struct search *search, struct str folder, uint32_t depth) {
    struct file_names names = {0};
    int trouble = depth > DEPTH_MOST ? ELOOP : file_list(folder.data, search->arena, &names);
    if (trouble != 0) {
        add(search, folder, trouble);
        return;
    }
    const char *slash = str_ends(folder, STR("/")) ? "" : "/";
    for (uint32_t i = 0; i < names.list.n; i++) {
        struct str path = str_format(search->arena, "%.*s%s%.*s", STR_ARG(folder), slash,
                                     STR_ARG(names.list.at[i]));
        bool is_file = wanted(search, path);
        struct stat status;
        if (!is_file && (lstat(path.data, &status) != 0 || !S_ISDIR(status.st_mode))) continue;
        if (excluded(search, path)) continue;
        if (is_file && !file_is_folder(path.data)) add(search, path, 0);
        else search_folder(search, path, depth + 1);
    }
}

void inputs_collect(struct inputs *inputs, struct arena *arena, const struct options *options,
                    bool manifests) {
    struct search search = {inputs, arena, options, manifests};
    struct str stdin_name = option_text(options, OPTION_stdin_filename, "-");
    *inputs = (struct inputs){0};
    for (uint32_t i = 0; i < options->operands.n; i++) {
        struct str path = str_copy(arena, options->operands.at[i]);
        bool is_stdin = str_eq(path, STR("-"));
        if (option_set(options, OPTION_force_exclude) &&
            excluded(&search, is_stdin ? str_copy(arena, stdin_name) : path))
            continue;
        if (!is_stdin && file_is_folder(path.data)) search_folder(&search, path, 0);
        else {
            add(&search, path, 0);
            if (is_stdin) inputs->list.at[inputs->list.n - 1].shown = stdin_name;
        }
    }
}
