// Which kernel a launch means (cuModuleGetFunction).
#include <stdlib.h>

#include "analyzer/launch/rewrite.h"
#include "analyzer/launch/sources.h"
#include "analyzer/rules/launch_rules.h"

enum { NAMES_SHOWN = 3 };

struct lookup {
    struct module_facts *facts;
    const struct launch *launch;
    struct arena *arena;
    struct findings *findings;
};

static struct finding *report(const struct lookup *lookup, enum rule rule) {
    struct place place = {lookup->launch->source, lookup->launch->kernel_span};
    return finding_add(lookup->findings, rule, place);
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool same_but_case(struct str a, struct str b) {
    if (a.len != b.len) return false;
    for (uint32_t i = 0; i < a.len; i++)
        if (lower(a.data[i]) != lower(b.data[i])) return false;
    return true;
}

// How far a kernel's name is from the one asked for; UINT32_MAX: it is no candidate. Triton 2 adds
// a specialisation behind the name, compilers add prefixes.
static uint32_t name_distance(struct str asked, struct str name) {
    if (same_but_case(asked, name)) return 0;
    if (asked.len >= 3 && (str_starts(name, asked) || str_ends(name, asked))) return 1;
    if (name.len >= 3 && (str_starts(asked, name) || str_ends(asked, name))) return 1;
    uint32_t limit = asked.len / 3 < 3 ? asked.len / 3 : 3;
    uint32_t distance = str_distance(asked, name, limit);
    return distance <= limit ? distance + 1 : UINT32_MAX;
}

struct candidate { uint32_t distance; const struct kernel *kernel; };

static void keep_nearest(struct candidate *kept, uint32_t *count, struct candidate candidate) {
    uint32_t at = *count < NAMES_SHOWN ? (*count)++ : NAMES_SHOWN - 1;
    if (*count == NAMES_SHOWN && kept[at].kernel != NULL && kept[at].distance <= candidate.distance)
        return;
    kept[at] = candidate;
    for (; at > 0 && kept[at].distance < kept[at - 1].distance; at--) {
        struct candidate swap = kept[at];
        kept[at] = kept[at - 1];
        kept[at - 1] = swap;
    }
}

static struct str quoted(struct arena *arena, struct str list, struct str name) {
    return list.len == 0 ? str_format(arena, "`%.*s`", STR_ARG(name))
                         : str_format(arena, "%.*s, `%.*s`", STR_ARG(list), STR_ARG(name));
}

static void help_names(const struct lookup *lookup, struct finding *finding) {
    struct candidate kept[NAMES_SHOWN] = {{0, NULL}};
    uint32_t count = 0;
    for (uint32_t i = 0; i < lookup->facts->kernels.n; i++) {
        const struct kernel *kernel = &lookup->facts->kernels.at[i];
        uint32_t distance = name_distance(lookup->launch->kernel, kernel->name);
        if (distance != UINT32_MAX) keep_nearest(kept, &count, (struct candidate){distance, kernel});
    }
    struct str list = {NULL, 0};
    bool near = count > 0;
    uint32_t shown = near ? count : lookup->facts->kernels.n;
    for (uint32_t i = 0; i < shown && i < NAMES_SHOWN; i++)
        list = quoted(lookup->arena, list, near ? kept[i].kernel->name : lookup->facts->kernels.at[i].name);
    const char *more = !near && lookup->facts->kernels.n > NAMES_SHOWN ? ", ..." : "";
    finding_help(lookup->findings, finding, near ? "did you mean %.*s%s?" : "the module has %.*s%s",
                 STR_ARG(list), more);
}

static void ambiguous(const struct lookup *lookup) {
    struct finding *finding = report(lookup, RULE_KERNEL_AMBIGUOUS);
    finding_message(lookup->findings, finding, "the module has %u kernels and the launch names none",
                    lookup->facts->kernels.n);
    help_names(lookup, finding);
}

static void no_entry(const struct lookup *lookup) {
    struct finding *finding = report(lookup, RULE_NO_ENTRY);
    finding_message(lookup->findings, finding, "the module has no `.entry` with a body: nothing to launch");
    finding_help(lookup->findings, finding,
                 "declare the kernel `extern \"C\" __global__`, or `ptx_kernel`, and export again");
}

static const struct function *device_function(const struct lookup *lookup) {
    const struct module *module = lookup->facts->module;
    name_id name = names_find(&module->names, lookup->launch->kernel);
    for (uint32_t i = 0; name != 0 && i < module->functions.n; i++)
        if (module->functions.at[i].name == name && module->functions.at[i].kind == FUNCTION_FUNC)
            return &module->functions.at[i];
    return NULL;
}

static void is_function(const struct lookup *lookup, const struct function *function) {
    struct finding *finding = report(lookup, RULE_KERNEL_IS_FUNCTION);
    struct str name = lookup->launch->kernel;
    finding_message(lookup->findings, finding, "`%.*s` is a device function, not a kernel", STR_ARG(name));
    finding_label(lookup->findings, finding, (struct place){lookup->facts->module->source, function->span},
                  "declared `.func` here");
    finding_help(lookup->findings, finding, "only an `.entry` can be launched: declare it `__global__`");
}

static void mangled(const struct lookup *lookup, const struct kernel *kernel, uint32_t count) {
    struct finding *finding = report(lookup, RULE_KERNEL_MANGLED);
    struct str asked = lookup->launch->kernel;
    struct str line = rewrite_kernel(lookup->arena, lookup->launch, kernel->name);
    finding_message(lookup->findings, finding, "the module has `%.*s` only under its mangled name `%.*s`",
                    STR_ARG(asked), STR_ARG(kernel->name));
    finding_label(lookup->findings, finding,
                  (struct place){lookup->facts->module->source, kernel->decl->span}, "%s",
                  kernel->demangled.len > 0 ? kernel->demangled.data : "this kernel");
    if (count > 1)
        finding_note(lookup->findings, finding, "%u kernels have that plain name", count);
    finding_note(lookup->findings, finding,
                 "`extern \"C\"` keeps the name plain; nvrtcGetLoweredName gives the mangled one");
    finding_help(lookup->findings, finding, "%.*s", STR_ARG(line));
}

static const struct kernel *not_found(const struct lookup *lookup) {
    struct kernel *kernel = NULL;
    uint32_t count = sources_find(lookup->facts, lookup->launch->kernel, &kernel);
    if (count > 0) {
        mangled(lookup, kernel, count);
        return count == 1 ? kernel : NULL;
    }
    const struct function *function = device_function(lookup);
    if (function != NULL) {
        is_function(lookup, function);
        return NULL;
    }
    if (lookup->facts->kernels.n == 0) {
        no_entry(lookup);
        return NULL;
    }
    struct finding *finding = report(lookup, RULE_KERNEL_NOT_FOUND);
    finding_message(lookup->findings, finding, "the module has no kernel `%.*s`",
                    STR_ARG(lookup->launch->kernel));
    help_names(lookup, finding);
    return NULL;
}

const struct kernel *rules_kernel(struct module_facts *facts, const struct launch *launch,
                                  bool loads, struct arena *arena, struct findings *findings) {
    struct lookup lookup = {facts, launch, arena, findings};
    if (launch->kernel.len > 0) {
        const struct kernel *kernel = facts_kernel(facts, launch->kernel);
        if (kernel != NULL) return kernel;
        // What does not load may have lost its kernels to what is wrong with it.
        return loads ? not_found(&lookup) : NULL;
    }
    if (facts->kernels.n == 1) return &facts->kernels.at[0];
    if (!loads) return NULL;
    if (facts->kernels.n == 0) no_entry(&lookup);
    else ambiguous(&lookup);
    return NULL;
}

// The driver takes any entry (measured: an H200 with driver 580); linkers and other loaders may not.
void rules_visibility(struct launch_case *c) {
    const struct function *decl = c->kernel->decl;
    if (decl->linkage != LINKAGE_NONE) return;
    struct finding *finding = case_finding(c, RULE_ENTRY_NOT_VISIBLE, case_ptx_place(c, decl->span));
    finding_message(c->findings, finding,
                    "entry `%.*s` is not `.visible`: the driver finds it, other loaders may not",
                    STR_ARG(c->kernel->name));
    finding_help(c->findings, finding, "write `.visible .entry`");
}

// Names longer than this are mangled, and say nothing to people.
enum { LONG_NAME = 48 };

struct str rules_param_name(const struct kernel_param *param) {
    struct str name = param->user_name.len > 0 ? param->user_name : param->name;
    if (name.len <= LONG_NAME) return name;
    static const char mark[] = "_param_";  // compilers name parameters after their kernel
    for (uint32_t i = name.len - (uint32_t)sizeof mark; i > 0; i--)
        if (memcmp(name.data + i, mark, sizeof mark - 1) == 0)
            return (struct str){name.data + i + 1, name.len - i - 1};
    return name;
}

struct str rules_kernel_name(const struct kernel *kernel) {
    return kernel->name.len > LONG_NAME && kernel->plain.len > 0 ? kernel->plain : kernel->name;
}
