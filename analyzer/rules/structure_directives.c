#include "analyzer/rules/structure.h"

// Performance, cluster and function directives; pragmas; debugging directives.

struct directive_rule {
    const char *text;
    uint8_t feature; // enum isa_feature
    bool positive;   // every number must be above 0
};

static const struct directive_rule directive_rules[DIRECTIVE_COUNT] = {
    [DIRECTIVE_MAXNTID] = {".maxntid", FEATURE_MAXNTID, true},
    [DIRECTIVE_REQNTID] = {".reqntid", FEATURE_REQNTID, true},
    [DIRECTIVE_MINNCTAPERSM] = {".minnctapersm", FEATURE_MINNCTAPERSM, true},
    [DIRECTIVE_MAXNCTAPERSM] = {".maxnctapersm", FEATURE_MAXNCTAPERSM, true},
    [DIRECTIVE_MAXNREG] = {".maxnreg", FEATURE_MAXNREG, true},
    [DIRECTIVE_REQNCTAPERCLUSTER] = {".reqnctapercluster", FEATURE_REQNCTAPERCLUSTER, false},
    [DIRECTIVE_MAXCLUSTERRANK] = {".maxclusterrank", FEATURE_MAXCLUSTERRANK, false},
    [DIRECTIVE_EXPLICITCLUSTER] = {".explicitcluster", FEATURE_EXPLICITCLUSTER, false},
    [DIRECTIVE_BLOCKSARECLUSTERS] = {".blocksareclusters", FEATURE_BLOCKSARECLUSTERS, false},
    [DIRECTIVE_NORETURN] = {".noreturn", FEATURE_NORETURN, false},
    [DIRECTIVE_ABI_PRESERVE] = {".abi_preserve", FEATURE_ABI_PRESERVE, false},
    [DIRECTIVE_ABI_PRESERVE_CONTROL] = {".abi_preserve_control", FEATURE_ABI_PRESERVE_CONTROL,
                                        false},
};

enum { MOST_REGISTERS = 255, LEAST_REGISTERS = 24, MOST_PRESERVED = 250 };

static void check_numbers(struct checker *c, const struct directive_use *use) {
    const struct directive_rule *rule = &directive_rules[use->directive];
    for (uint32_t i = 0; i < use->value_count; i++) {
        if (use->values[i] > UINT32_MAX) {
            structure_report(c, RULE_DIRECTIVE_ARGUMENT, use->span, "`%s` takes numbers below 2^32",
                             rule->text);
            return;
        }
        if (!rule->positive || use->values[i] != 0) continue;
        struct finding *finding = structure_report(c, RULE_DIRECTIVE_ARGUMENT, use->span,
                                                   "`%s` of 0: must be 1 or more", rule->text);
        structure_help(c, finding, "state a number above 0, or take the directive out");
        return;
    }
}

static void check_ignored(struct checker *c, const struct function *function,
                          const struct directive_use *use) {
    if (use->directive == DIRECTIVE_MAXNREG && use->values[0] > MOST_REGISTERS)
        structure_report(c, RULE_DIRECTIVE_IGNORED, use->span,
                         "`.maxnreg` of %llu is ignored: a thread has at most %d registers",
                         (unsigned long long)use->values[0], MOST_REGISTERS);
    bool bound = function_directive(function, DIRECTIVE_MAXNTID) != NULL ||
                 function_directive(function, DIRECTIVE_REQNTID) != NULL;
    if (use->directive == DIRECTIVE_MINNCTAPERSM && !bound && use->values[0] != 0) {
        struct finding *finding =
            structure_report(c, RULE_DIRECTIVE_IGNORED, use->span,
                             "`.minnctapersm` is ignored without `.maxntid` or `.reqntid`");
        structure_help(c, finding, "add `.maxntid`");
    }
}

static void check_preserved(struct checker *c, const struct function *function,
                            const struct directive_use *use) {
    bool preserve = use->directive == DIRECTIVE_ABI_PRESERVE;
    if (!preserve && use->directive != DIRECTIVE_ABI_PRESERVE_CONTROL) return;
    if (function_directive(function, (enum directive)use->directive) != use) {
        structure_report(c, RULE_DIRECTIVE_CONFLICT, use->span, "`%s` is stated twice",
                         directive_rules[use->directive].text);
        return;
    }
    if (use->values[0] > MOST_PRESERVED || (!preserve && use->values[0] > MOST_PRESERVED - 100))
        structure_report(c, RULE_DIRECTIVE_ARGUMENT, use->span,
                         "`%s` of %llu is more than there are",
                         directive_rules[use->directive].text, (unsigned long long)use->values[0]);
}

static void conflict(struct checker *c, const struct function *function, enum directive a,
                     enum directive b) {
    const struct directive_use *first = function_directive(function, a);
    const struct directive_use *second = function_directive(function, b);
    if (first == NULL || second == NULL) return;
    if (first->span.begin > second->span.begin) {
        const struct directive_use *swap = first;
        first = second;
        second = swap;
    }
    struct finding *finding = structure_report(c, RULE_DIRECTIVE_CONFLICT, second->span,
                                               "`%s` and `%s` exclude each other",
                                               directive_rules[a].text, directive_rules[b].text);
    structure_label(c, finding, first->span, "the other one");
    structure_help(c, finding, "keep one");
}

static void check_blocks_are_clusters(struct checker *c, const struct function *function) {
    const struct directive_use *use = function_directive(function, DIRECTIVE_BLOCKSARECLUSTERS);
    if (use == NULL) return;
    bool block = function_directive(function, DIRECTIVE_REQNTID) != NULL;
    bool cluster = function_directive(function, DIRECTIVE_REQNCTAPERCLUSTER) != NULL;
    if (block && cluster) return;
    struct finding *finding =
        structure_report(c, RULE_DIRECTIVE_CONFLICT, use->span,
                         "`.blocksareclusters` needs `.reqntid` and `.reqnctapercluster`");
    structure_help(c, finding, "add %s",
                   block     ? "`.reqnctapercluster`"
                   : cluster ? "`.reqntid`"
                             : "both");
}

static void check_noreturn(struct checker *c, const struct function *function) {
    const struct directive_use *use = function_directive(function, DIRECTIVE_NORETURN);
    if (use == NULL || function->return_count == 0) return;
    struct finding *finding =
        structure_report(c, RULE_DIRECTIVE_CONFLICT, use->span,
                         "a function that returns a value cannot be `.noreturn`");
    structure_help(c, finding, "take out `.noreturn` or the return parameter");
}

void check_function_directives(struct checker *c, const struct function *function) {
    for (uint32_t i = 0; i < function->directives.n; i++) {
        const struct directive_use *use = &function->directives.at[i];
        structure_need(c, (enum isa_feature)directive_rules[use->directive].feature, use->span);
        check_numbers(c, use);
        check_ignored(c, function, use);
        check_preserved(c, function, use);
    }
    conflict(c, function, DIRECTIVE_MAXNTID, DIRECTIVE_REQNTID);
    conflict(c, function, DIRECTIVE_REQNCTAPERCLUSTER, DIRECTIVE_MAXCLUSTERRANK);
    check_blocks_are_clusters(c, function);
    check_noreturn(c, function);
    if (function->unified && !c->options->relocatable)
        structure_report(c, RULE_ATTRIBUTE, function->span,
                         "`.attribute(.unified)` needs relocatable compilation (`ptxas -c`)");
}

// ---- pragmas ----------------------------------------------------------------------------------

// What ptxas 13.0 takes at module scope; `word` alone or with arguments.
static const char *const module_pragmas[] = {"abi_param_reg"};
// What it takes within a body only.
static const char *const body_pragmas[] = {"enable_smem_spilling", "used_bytes_mask", "frequency"};

static bool starts_with_word(struct str text, const char *word) {
    struct str w = str_from(word);
    return str_starts(text, w) && (text.len == w.len || text.data[w.len] == ' ');
}

static bool any_word(struct str text, const char *const *words, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (starts_with_word(text, words[i])) return true;
    return false;
}

static void check_pragma(struct checker *c, const struct pragma *pragma) {
    structure_need(c, FEATURE_PRAGMA, pragma->span);
    const struct function *function =
        pragma->function == NO_INDEX ? NULL : &c->module->functions.at[pragma->function];
    bool in_body = function != NULL && pragma->span.begin >= function->body_span.begin;
    if (!in_body && any_word(pragma->text, body_pragmas, 3)) {
        structure_report(c, RULE_DIRECTIVE_PLACE, pragma->span,
                         "pragma \"%.*s\" belongs inside a body", STR_ARG(pragma->text));
        return;
    }
    if (function != NULL) return;
    if (str_eq(pragma->text, STR("nounroll")) || any_word(pragma->text, module_pragmas, 1)) return;
    structure_report(c, RULE_PRAGMA_UNKNOWN, pragma->span,
                     "pragma \"%.*s\" is not known at module scope", STR_ARG(pragma->text));
}

void take_pragmas(struct checker *c) {
    while (c->pragmas_taken < c->module->pragmas.n)
        check_pragma(c, &c->module->pragmas.at[c->pragmas_taken++]);
}

// ---- debugging --------------------------------------------------------------------------------

static void check_files(struct checker *c) {
    struct module *m = c->module;
    // Indices are few and mostly in order: a stamp for each small one, and the list for the rest.
    enum { STAMPS = 4096 };
    uint32_t *stamps = arena_array(c->arena, uint32_t, STAMPS);
    for (uint32_t i = 0; i < m->files.n; i++) {
        const struct file_entry *file = &m->files.at[i];
        if (file->index >= STAMPS) continue;
        if (stamps[file->index] == 0) {
            stamps[file->index] = i + 1;
            continue;
        }
        const struct file_entry *first = &m->files.at[stamps[file->index] - 1];
        struct finding *finding =
            structure_report(c, RULE_FILE_INDEX, (struct span){file->offset, file->offset + 5},
                             "`.file` index %u is taken", file->index);
        structure_label(c, finding, (struct span){first->offset, first->offset + 5}, "by this one");
    }
}

void check_debugging(struct checker *c) {
    struct module *m = c->module;
    check_files(c);
    if (m->debug && !m->has_dwarf && m->sections.n == 0) {
        struct finding *finding =
            structure_report(c, RULE_DEBUG_WITHOUT_DWARF, m->target_span,
                             "`.target` says debug, and there is no debugging section");
        structure_help(c, finding, "take `, debug` out of `.target`");
    }
    if (m->sections.n > 0) structure_need(c, FEATURE_SECTION, m->sections.at[0]);
    if (m->section_label.end != 0) structure_need(c, FEATURE_SECTION_LABEL, m->section_label);
    if (m->section_negative.end != 0)
        structure_need(c, FEATURE_SECTION_NEGATIVE, m->section_negative);
    if (m->file_timestamp.end != 0) structure_need(c, FEATURE_FILE_TIMESTAMP, m->file_timestamp);
}
