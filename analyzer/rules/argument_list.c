// Family 08: how many arguments there are, their names, and the packed form.
#include "analyzer/launch/rewrite.h"
#include "analyzer/rules/launch_rules.h"
#include "base/checked.h"

#define U64(n) (unsigned long long)(n)

enum { NAMES_SHOWN = 6 };

static struct place arguments_place(const struct launch_case *c) {
    return case_launch_place(c, c->launch->arguments_span);
}

static struct str joined(struct arena *arena, struct str list, struct str item) {
    return list.len == 0 ? item : str_format(arena, "%.*s, %.*s", STR_ARG(list), STR_ARG(item));
}

// What to write for a parameter whose value is not known.
static struct str placeholder(const struct kernel_param *param) {
    bool scratch = param->scratch_known && param->scratch_size > 0;
    if (param->role == PARAM_HIDDEN) return scratch || param->read ? STR("ptr") : STR("null");
    if (param->kind == PARAM_POINTER) return STR("ptr");
    return param->kind == PARAM_TENSORMAP ? STR("tensormap") : STR("_");
}

static struct str param_label(struct arena *arena, const struct kernel_param *param) {
    struct str name = rules_param_name(param);
    if (param->what.len > 0)
        return str_format(arena, "`%.*s` (%.*s)", STR_ARG(name), STR_ARG(param->what));
    return str_format(arena, "`%.*s`", STR_ARG(name));
}

struct missing {
    uint32_t count, hidden;
    struct str names, placeholders;
    const struct kernel_param *first;
};

static struct missing find_missing(const struct launch_case *c) {
    struct missing missing = {0};
    bool *given = arena_array(c->arena, bool, c->kernel->params.n);
    for (uint32_t i = 0; i < c->launch->arguments.n; i++) {
        uint32_t param = case_param_of(c, i);
        if (param != NO_INDEX) given[param] = true;
    }
    for (uint32_t i = 0; i < c->kernel->params.n; i++) {
        const struct kernel_param *param = &c->kernel->params.at[i];
        if (given[i]) continue;
        if (missing.first == NULL) missing.first = param;
        missing.hidden += param->role == PARAM_HIDDEN;
        if (missing.count < NAMES_SHOWN) {
            missing.names = joined(c->arena, missing.names, param_label(c->arena, param));
            missing.placeholders = joined(c->arena, missing.placeholders, placeholder(param));
        }
        missing.count++;
    }
    if (missing.count > NAMES_SHOWN) {
        missing.names = joined(c->arena, missing.names, STR("..."));
        missing.placeholders = joined(c->arena, missing.placeholders, STR("..."));
    }
    return missing;
}

static void label_param(struct launch_case *c, struct finding *finding,
                        const struct kernel_param *param, const char *text) {
    finding_label(c->findings, finding, case_ptx_place(c, param->variable->span), "%s", text);
}

static void too_few(struct launch_case *c) {
    struct missing missing = find_missing(c);
    if (missing.count == 0) return;
    struct finding *finding = case_finding(c, RULE_TOO_FEW_ARGUMENTS, arguments_place(c));
    const char *hidden = missing.hidden == missing.count ? " hidden" : "";
    finding_message(c->findings, finding, "%u arguments for the %u parameters of `%.*s`: missing%s %.*s",
                    c->launch->arguments.n, c->kernel->params.n,
                    STR_ARG(rules_kernel_name(c->kernel)), hidden, STR_ARG(missing.names));
    label_param(c, finding, missing.first, "the first one that is not given");
    if (missing.hidden > 0)
        finding_note(c->findings, finding,
                     "Triton adds these behind the arguments of the source: null where their size is 0");
    const char *convention = rules_convention(c->kernel);
    if (convention != NULL) finding_note(c->findings, finding, "%s", convention);
    finding_note(c->findings, finding,
                 "the driver reads one entry of kernelParams for each parameter: it reads past the array");
    struct str line = rewrite_arguments_more(c->arena, c->launch, missing.placeholders);
    finding_help(c->findings, finding, "%.*s", STR_ARG(line));
}

static void arguments_null(struct launch_case *c) {
    struct finding *finding = case_finding(c, RULE_ARGUMENTS_NULL, arguments_place(c));
    struct missing missing = find_missing(c);
    finding_message(c->findings, finding, "no arguments for a kernel of %u parameters: kernelParams is NULL",
                    c->kernel->params.n);
    label_param(c, finding, missing.first, "the first parameter");
    struct str line = rewrite_arguments_more(c->arena, c->launch, missing.placeholders);
    finding_help(c->findings, finding, "%.*s", STR_ARG(line));
}

// Arguments of the source that were compiled into the kernel are what people pass too many of.
static void folded_note(struct launch_case *c, struct finding *finding) {
    const struct kernel_metadata *metadata = c->kernel->metadata;
    if (metadata == NULL || metadata->folded.n == 0) return;
    struct str list = {NULL, 0};
    for (uint32_t i = 0; i < metadata->folded.n && i < NAMES_SHOWN; i++) {
        const struct folded_argument *folded = &metadata->folded.at[i];
        struct str item = folded->value.len == 0
                              ? str_format(c->arena, "`%.*s`", STR_ARG(folded->name))
                              : str_format(c->arena, "`%.*s` = %.*s", STR_ARG(folded->name),
                                           STR_ARG(folded->value));
        list = joined(c->arena, list, item);
    }
    finding_note(c->findings, finding, "compiled into the kernel, not to be passed: %.*s", STR_ARG(list));
}

static void too_many(struct launch_case *c) {
    if (c->launch->arguments.n <= c->kernel->params.n) return;
    struct span span = c->launch->arguments.at[c->kernel->params.n].span;
    span.end = c->launch->arguments.at[c->launch->arguments.n - 1].span.end;
    struct finding *finding = case_finding(c, RULE_TOO_MANY_ARGUMENTS, case_launch_place(c, span));
    finding_message(c->findings, finding, "%u arguments for the %u parameters of `%.*s`",
                    c->launch->arguments.n, c->kernel->params.n, STR_ARG(c->kernel->name));
    finding_caption(c->findings, finding, "ignored by the driver");
    folded_note(c, finding);
    finding_help(c->findings, finding, "check that none before them is one too many: all behind it would be shifted");
}

static struct str nearest_name(const struct launch_case *c, struct str name) {
    struct str nearest = {NULL, 0};
    uint32_t best = 4;
    for (uint32_t i = 0; i < c->kernel->params.n; i++) {
        struct str known = rules_param_name(&c->kernel->params.at[i]);
        uint32_t distance = str_distance(name, known, 3);
        if (distance >= best) continue;
        best = distance;
        nearest = known;
    }
    return nearest;
}

static bool names_known(const struct launch_case *c) {
    for (uint32_t i = 0; i < c->kernel->params.n; i++)
        if (c->kernel->params.at[i].user_name.len > 0) return true;
    return false;
}

static bool names_param(const struct launch_case *c, const struct argument *argument, uint32_t param) {
    if (param == NO_INDEX) return false;
    const struct kernel_param *p = &c->kernel->params.at[param];
    return str_eq(argument->name, p->name) || str_eq(argument->name, p->user_name);
}

static void check_names(struct launch_case *c) {
    bool known = names_known(c);
    bool *given = arena_array(c->arena, bool, c->kernel->params.n);
    for (uint32_t i = 0; i < c->launch->arguments.n; i++) {
        const struct argument *argument = &c->launch->arguments.at[i];
        uint32_t param = case_param_of(c, i);
        struct place place = case_launch_place(c, argument->span);
        if (argument->name.len > 0 && known && !names_param(c, argument, param)) {
            struct finding *finding = case_finding(c, RULE_ARGUMENT_NAME, place);
            struct str nearest = nearest_name(c, argument->name);
            finding_message(c->findings, finding, "`%.*s` has no parameter `%.*s`",
                            STR_ARG(c->kernel->name), STR_ARG(argument->name));
            if (nearest.len > 0)
                finding_help(c->findings, finding, "did you mean `%.*s`?", STR_ARG(nearest));
            continue;
        }
        if (param == NO_INDEX) continue;
        if (given[param]) {
            struct finding *finding = case_finding(c, RULE_ARGUMENT_NAME, place);
            finding_message(c->findings, finding, "parameter %.*s is given twice",
                            STR_ARG(param_label(c->arena, &c->kernel->params.at[param])));
        }
        given[param] = true;
    }
}

static void packed_too_large(struct launch_case *c) {
    struct finding *finding =
        case_finding(c, RULE_PACKED_TOO_LARGE, case_launch_place(c, c->launch->packed_span));
    finding_message(c->findings, finding, "a packed buffer of %llu bytes, where the parameters end at %llu",
                    U64(c->packed_size), U64(c->kernel->param_bytes));
    finding_note(c->findings, finding, "the size must not count padding behind the last parameter");
    struct str word = str_format(c->arena, "packed=%llu", U64(c->kernel->param_bytes));
    struct str line = rewrite_tail(c->arena, c->launch, c->launch->packed_span, word);
    finding_help(c->findings, finding, "%.*s", STR_ARG(line));
}

static void packed_empty(struct launch_case *c) {
    struct finding *finding =
        case_finding(c, RULE_PACKED_EMPTY, case_launch_place(c, c->launch->packed_span));
    finding_message(c->findings, finding, "a packed buffer of 0 bytes for %u parameters",
                    c->kernel->params.n);
    finding_help(c->findings, finding, "packed=%llu", U64(c->kernel->param_bytes));
}

// Parameters behind the end were 0 in every launch that was measured; nothing promises it.
static void packed_short(struct launch_case *c) {
    struct str names = {NULL, 0};
    bool read = !c->kernel->bodies_known;
    for (uint32_t i = 0, shown = 0; i < c->kernel->params.n; i++) {
        const struct kernel_param *param = &c->kernel->params.at[i];
        if (param->offset + param->size <= c->packed_size) continue;
        read |= param->read;
        if (shown++ < NAMES_SHOWN) names = joined(c->arena, names, param_label(c->arena, param));
    }
    struct finding *finding =
        case_finding(c, RULE_PACKED_SHORT, case_launch_place(c, c->launch->packed_span));
    if (!read || !c->kernel->bodies_known) finding->severity = SEVERITY_WARNING;
    finding_message(c->findings, finding,
                    "a packed buffer of %llu bytes ends before %.*s: the parameters end at %llu",
                    U64(c->packed_size), STR_ARG(names), U64(c->kernel->param_bytes));
    if (!read) finding_note(c->findings, finding, "the kernel reads none of these");
    finding_help(c->findings, finding, "give all parameters: packed=%llu", U64(c->kernel->param_bytes));
}

// Where a C struct of the same members would put them elsewhere.
static void packed_layout(struct launch_case *c) {
    uint64_t at = 0;
    bool differs = false;
    struct str offsets = {NULL, 0};
    for (uint32_t i = 0; i < c->kernel->params.n; i++) {
        const struct kernel_param *param = &c->kernel->params.at[i];
        uint64_t align = param->align == 0 ? 1 : param->align;
        align_u64(at, align, &at);
        differs |= at != param->offset;
        at += param->size;
        if (i < 2 * NAMES_SHOWN)
            offsets = joined(c->arena, offsets, str_format(c->arena, "%llu", U64(param->offset)));
    }
    if (!differs) return;
    struct finding *finding =
        case_finding(c, RULE_PACKED_LAYOUT, case_launch_place(c, c->launch->packed_span));
    finding_message(c->findings, finding,
                    "the parameters are at offsets %.*s, not where a C struct has its members", STR_ARG(offsets));
    finding_note(c->findings, finding,
                 "alignments above 16 count from the start of the constant bank, where parameters begin at %u on this architecture",
                 c->limits == NULL ? 0 : c->limits->param_base);
}

static void packed(struct launch_case *c) {
    bool known = c->launch->has_packed_size || c->launch->has_arguments;
    if (!known) return;
    if (c->packed_size > c->kernel->param_bytes) packed_too_large(c);
    else if (c->packed_size == 0 && c->kernel->params.n > 0) packed_empty(c);
    else if (c->packed_size < c->kernel->param_bytes) packed_short(c);
    packed_layout(c);
}

void rules_argument_list(struct launch_case *c) {
    check_names(c);
    if (c->launch->packed) {
        packed(c);
        return;
    }
    if (!c->launch->has_arguments) return;
    if (c->launch->arguments.n == 0 && c->kernel->params.n > 0) arguments_null(c);
    else too_few(c);
    too_many(c);
}
