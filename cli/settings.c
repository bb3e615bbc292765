#include "cli/settings.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/device.h"
#include "isa/gpus.h"
#include "isa/versions.h"

enum { MAX_FINDINGS = 10000, MEMORY_LIMIT_MIB = 4096, JOBS_MOST = 256 };

static bool add_gpu(struct settings *settings, struct arena *arena, struct str text,
                    struct str *error) {
    const struct gpu *gpu = isa_gpu_find(text);
    if (gpu == NULL) {
        const struct gpu *nearest = isa_gpu_nearest(text);
        *error = str_format(arena, "unknown GPU `%.*s`%s%.*s%s (`ptxvet gpus` lists them)",
                            STR_ARG(text), nearest == NULL ? "" : "; did you mean `",
                            nearest == NULL ? 0 : (int)nearest->name.len,
                            nearest == NULL ? "" : nearest->name.data, nearest == NULL ? "" : "`?");
        return false;
    }
    struct deployment *deployment = vec_push(arena, &settings->judge.deployments);
    deployment->gpu = gpu;
    deployment->gpu_text = text;
    deployment->compute_capability = gpu->capability;
    return true;
}

static bool find_driver(struct arena *arena, struct str text, struct deployment *deployment,
                        struct str *error) {
    struct driver_row row;
    if (!isa_driver_find(text, &row)) {
        *error = str_format(arena, "`%.*s` is neither a driver (550.54) nor a CUDA release (12.4)",
                            STR_ARG(text));
        return false;
    }
    deployment->driver = row.driver;
    deployment->reads = row.reads;
    deployment->driver_text = text;
    return true;
}

static bool add_device(struct settings *settings, struct arena *arena, struct str *error) {
    struct deployment deployment;
    if (!device_deployment(&settings->device, arena, &deployment, error)) return false;
    *vec_push(arena, &settings->judge.deployments) = deployment;
    return true;
}

// Every GPU with every driver: a file is held against each machine that these can be.
static bool deployments(struct settings *settings, struct arena *arena,
                        const struct options *options, struct str *error) {
    const struct option_values *gpus = &options->values[OPTION_gpu];
    const struct option_values *drivers = &options->values[OPTION_driver];
    for (uint32_t i = 0; i < gpus->list.n; i++) {
        if (str_eq(gpus->list.at[i], STR("auto"))) {
            settings->device.asked = true;
            if (!add_device(settings, arena, error)) return false;
        } else if (!add_gpu(settings, arena, gpus->list.at[i], error)) return false;
    }
    // `run` is about the GPU here. Where there is none, that is said when the launch is tried.
    struct str unavailable;
    if (options->command == COMMAND_run && gpus->list.n == 0)
        add_device(settings, arena, &unavailable);
    uint32_t named = settings->judge.deployments.n;
    for (uint32_t i = 0; i < drivers->list.n; i++) {
        struct deployment driver = {0};
        if (!find_driver(arena, drivers->list.at[i], &driver, error)) return false;
        if (named == 0) {
            *vec_push(arena, &settings->judge.deployments) = driver;
            continue;
        }
        for (uint32_t g = 0; g < named; g++) {
            struct deployment both = settings->judge.deployments.at[g];
            both.driver = driver.driver;
            both.reads = driver.reads;
            both.driver_text = driver.driver_text;
            if (i == 0) settings->judge.deployments.at[g] = both;
            else *vec_push(arena, &settings->judge.deployments) = both;
        }
    }
    return true;
}

static uint8_t host_of(struct str text) {
    static const char *const hosts[] = {"", "c", "python", "cupy", "numba", "rust"};
    for (uint8_t i = 1; i < sizeof hosts / sizeof hosts[0]; i++)
        if (str_eq(str_from(hosts[i]), text)) return i;
    return HOST_UNKNOWN;
}

static uint8_t severity_of(struct str text) {
    for (uint8_t i = 0; i <= SEVERITY_ERROR; i++)
        if (str_eq(str_from(severity_text((enum severity)i)), text)) return i;
    return SEVERITY_ERROR;
}

// `-D N=4096`, `-D N=0x1000`.
static bool define_name(struct settings *settings, struct arena *arena, struct str text,
                        struct str *error) {
    struct str copy = str_copy(arena, text);
    const char *equals = memchr(copy.data, '=', copy.len);
    char *end = NULL;
    uint64_t value = equals == NULL ? 0 : strtoull(equals + 1, &end, 0);
    if (equals == NULL || equals == copy.data || end == equals + 1 ||
        end != copy.data + copy.len || equals[1] == '-') {
        *error = str_format(arena, "-D takes NAME=NUMBER, not `%.*s`", STR_ARG(text));
        return false;
    }
    struct str name = {copy.data, (uint32_t)(equals - copy.data)};
    *vec_push(arena, &settings->names.list) =
        (__typeof__(*settings->names.list.at)){.name = name, .value = value};
    return true;
}

static uint8_t memory_of(const struct options *options) {
    if (str_eq(option_text(options, OPTION_memory, ""), STR("plain"))) return MEMORY_PLAIN;
    return str_eq(option_text(options, OPTION_guard, ""), STR("start")) ? MEMORY_GUARD_START
                                                                       : MEMORY_GUARD_END;
}

static bool device_numbers(struct settings *settings, struct arena *arena,
                           const struct options *options, struct str *error) {
    double device = 0, timeout = 10, repeat = 1, seed = 1;
    if (!option_number(options, arena, OPTION_device, 0, &device, error) ||
        !option_number(options, arena, OPTION_timeout, 0.001, &timeout, error) ||
        !option_number(options, arena, OPTION_repeat, 1, &repeat, error) ||
        !option_number(options, arena, OPTION_seed, 0, &seed, error))
        return false;
    settings->device.device = device > INT32_MAX ? INT32_MAX : (int)device;
    settings->device.timeout = timeout;
    settings->device.repeat = repeat > 1e6 ? 1000000 : (uint32_t)repeat;
    settings->device.seed = seed > 1e15 ? 1000000000000000 : (uint64_t)seed;
    settings->device.memory = memory_of(options);
    if (option_set(options, OPTION_libcuda))
        settings->device.library = str_copy(arena, option_text(options, OPTION_libcuda, "")).data;
    return true;
}

static bool numbers(struct settings *settings, struct arena *arena, const struct options *options,
                    struct str *error) {
    double budget = 2, findings = MAX_FINDINGS, memory = MEMORY_LIMIT_MIB;
    double jobs = (double)sysconf(_SC_NPROCESSORS_ONLN);
    if (!option_number(options, arena, OPTION_budget, 0, &budget, error) ||
        !option_number(options, arena, OPTION_max_findings, 0, &findings, error) ||
        !option_number(options, arena, OPTION_memory_limit, 0, &memory, error) ||
        !option_number(options, arena, OPTION_jobs, 1, &jobs, error))
        return false;
    settings->judge.budget = budget;
    settings->max_findings = findings > UINT32_MAX ? UINT32_MAX : (uint32_t)findings;
    settings->memory_limit = memory > 1e9 ? 0 : (size_t)memory << 20;
    settings->jobs = jobs > JOBS_MOST ? JOBS_MOST : jobs < 1 ? 1 : (uint32_t)jobs;
    settings->judge.threads = settings->jobs;
    return true;
}

static bool select_rules(struct settings *settings, struct arena *arena,
                         const struct options *options, struct str *error) {
    const struct option_values *values = options->values;
    struct selection_texts texts = {
        .select = values[OPTION_select].list.at, .select_count = values[OPTION_select].list.n,
        .extend = values[OPTION_extend_select].list.at,
        .extend_count = values[OPTION_extend_select].list.n,
        .ignore = values[OPTION_ignore].list.at, .ignore_count = values[OPTION_ignore].list.n,
        .severity = values[OPTION_severity].list.at,
        .severity_count = values[OPTION_severity].list.n};
    struct str wrong;
    if (selection_make(&settings->selection, &texts, &wrong)) return true;
    *error = str_format(arena, "`%.*s` names no rule%s (`ptxvet rules` lists them)", STR_ARG(wrong),
                        memchr(wrong.data, '=', wrong.len) == NULL
                            ? "" : ", or its level is not error, warning, note or off");
    return false;
}

bool settings_make(struct settings *settings, struct arena *arena, const struct options *options,
                   struct str *error) {
    *settings = (struct settings){.exit_zero = option_set(options, OPTION_exit_zero)};
    settings->fail_on = severity_of(option_text(options, OPTION_fail_on, "error"));
    settings->judge.host = host_of(option_text(options, OPTION_host, ""));
    const struct option_values *defines = &options->values[OPTION_define];
    for (uint32_t i = 0; i < defines->list.n; i++)
        if (!define_name(settings, arena, defines->list.at[i], error)) return false;
    return numbers(settings, arena, options, error) &&
           select_rules(settings, arena, options, error) &&
           device_numbers(settings, arena, options, error) &&
           deployments(settings, arena, options, error);
}

static bool environment_says(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0;
}

// --color, then NO_COLOR, then FORCE_COLOR and CLICOLOR_FORCE, then whether it is a terminal.
static bool wants_colour(const struct options *options, bool terminal) {
    struct str choice = option_text(options, OPTION_color, "auto");
    if (!str_eq(choice, STR("auto"))) return str_eq(choice, STR("always"));
    const char *no_colour = getenv("NO_COLOR");
    if (no_colour != NULL && no_colour[0] != '\0') return false;
    if (environment_says("FORCE_COLOR") || environment_says("CLICOLOR_FORCE")) return true;
    const char *term = getenv("TERM");
    return terminal && term != NULL && strcmp(term, "dumb") != 0;
}

static uint32_t terminal_width(int descriptor) {
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (columns != NULL && atoi(columns) > 0) return (uint32_t)atoi(columns);
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 0;
}

struct report_style settings_style(const struct options *options, int descriptor) {
    bool terminal = isatty(descriptor) == 1;
    return (struct report_style){.colour = wants_colour(options, terminal),
                                 .quiet = option_set(options, OPTION_quiet),
                                 .width = terminal_width(descriptor)};
}
