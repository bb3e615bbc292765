#include "findings/findings.h"

#include <stdlib.h>

const struct rule_info rule_infos[RULE_COUNT] = {
    [RULE_NONE] = {"", "", 0, 0, 0, 0, 0, ""},
#define RULE(number, id, name, phase, result, severity, confidence, reports)                   \
    [RULE_##id] = {"PTX" #number, name, 1##number - 10000, PHASE_##phase, SEVERITY_##severity, \
                   CONFIDENCE_##confidence, RESULT_##result, reports},
#include "findings/rules.def"
};

const char *phase_text(enum phase phase) {
    static const char *const texts[] = {"", "load", "get-function", "set-attribute", "launch", "run"};
    return texts[phase];
}

const char *phase_call(enum phase phase) {
    static const char *const calls[] = {"", "cuModuleLoadData", "cuModuleGetFunction",
                                        "cuFuncSetAttribute", "cuLaunchKernel",
                                        "cuCtxSynchronize"};
    return calls[phase];
}

const char *severity_text(enum severity severity) {
    static const char *const texts[] = {"note", "warning", "error"};
    return texts[severity];
}

const char *confidence_text(enum confidence confidence) {
    static const char *const texts[] = {"possible", "likely", "certain"};
    return texts[confidence];
}

static const struct {
    int result;
    const char *text;
} results[] = {
#define RESULT(code, name) {code, #name},
#include "findings/results.def"
};

enum { RESULT_ROWS = sizeof results / sizeof results[0] };

const char *result_text(int result) {
    for (int i = 0; i < RESULT_ROWS; i++)
        if (results[i].result == result) return results[i].text;
    return NULL;
}

static bool is_number(struct str text, int *number) {
    if (text.len == 0 || text.len > 6) return false;
    *number = 0;
    for (uint32_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') return false;
        *number = *number * 10 + (text.data[i] - '0');
    }
    return true;
}

bool result_find(struct str text, int *result) {
    int number;
    bool numeric = is_number(text, &number);
    for (int i = 0; i < RESULT_ROWS; i++) {
        struct str name = str_from(results[i].text);
        bool named = str_eq(name, text) ||
                     (str_ends(name, text) && name.len == text.len + 11 &&
                      str_starts(name, STR("CUDA_ERROR_")));
        if (named || (numeric && number == results[i].result)) {
            *result = results[i].result;
            return true;
        }
    }
    return false;
}

enum rule rule_find(struct str text) {
    for (int rule = 1; rule < RULE_COUNT; rule++) {
        struct str code = str_from(rule_infos[rule].code);
        if (str_eq(code, text) || (text.len == 4 && str_ends(code, text))) return (enum rule)rule;
        if (str_eq(str_from(rule_infos[rule].name), text)) return (enum rule)rule;
    }
    return RULE_NONE;
}

void findings_init(struct findings *findings, struct arena *arena, uint32_t limit) {
    *findings = (struct findings){.arena = arena, .limit = limit};
}

struct finding *finding_add(struct findings *findings, enum rule rule, struct place place) {
    struct finding *finding = &findings->spare;
    if (findings->limit != 0 && findings->list.n >= findings->limit) findings->dropped++;
    else {
        finding = arena_alloc(findings->arena, sizeof *finding, _Alignof(struct finding));
        *vec_push(findings->arena, &findings->list) = finding;
    }
    const struct rule_info *info = &rule_infos[rule];
    *finding = (struct finding){.rule = (uint16_t)rule,
                                .severity = info->severity,
                                .confidence = info->confidence,
                                .place = place};
    finding->predicts = (struct prediction){info->phase, info->confidence, info->result};
    return finding;
}

// Texts of findings past the limit are not made: nobody would read them.
#define FORMATTED(findings, finding, target, format)                           \
    do {                                                                       \
        va_list args;                                                          \
        if ((finding) == &(findings)->spare) return;                           \
        va_start(args, format);                                                \
        *(target) = str_vformat((findings)->arena, format, args);              \
        va_end(args);                                                          \
    } while (0)

void finding_message(struct findings *findings, struct finding *finding, const char *format, ...) {
    FORMATTED(findings, finding, &finding->message, format);
}

void finding_caption(struct findings *findings, struct finding *finding, const char *format, ...) {
    FORMATTED(findings, finding, &finding->caption, format);
}

void finding_help(struct findings *findings, struct finding *finding, const char *format, ...) {
    FORMATTED(findings, finding, &finding->help, format);
}

void finding_note(struct findings *findings, struct finding *finding, const char *format, ...) {
    FORMATTED(findings, finding, vec_push(findings->arena, &finding->notes), format);
}

void finding_label(struct findings *findings, struct finding *finding, struct place place,
                   const char *format, ...) {
    if (finding == &findings->spare) return;
    struct secondary *label = vec_push(findings->arena, &finding->labels);
    label->place = place;
    FORMATTED(findings, finding, &label->text, format);
}

uint32_t findings_count(const struct findings *findings, enum severity least) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < findings->list.n; i++) count += findings->list.at[i]->severity >= least;
    return count;
}

struct sort_key {
    uint64_t order;
    uint32_t rule, index;
    struct finding *finding;
};

static int compare_keys(const void *a, const void *b) {
    const struct sort_key *x = a, *y = b;
    if (x->order != y->order) return x->order < y->order ? -1 : 1;
    if (x->rule != y->rule) return x->rule < y->rule ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static uint32_t source_rank(struct findings *findings, struct source **sources, uint32_t *count,
                            uint32_t i) {
    struct source *source = findings->list.at[i]->place.source;
    for (uint32_t rank = 0; rank < *count; rank++)
        if (sources[rank] == source) return rank;
    if (*count < 16) sources[*count] = source;
    return *count < 16 ? (*count)++ : 16;
}

void findings_sort(struct findings *findings) {
    uint32_t n = findings->list.n, count = 0;
    struct source *sources[16];
    struct sort_key *keys = arena_array(findings->arena, struct sort_key, n);
    for (uint32_t i = 0; i < n; i++) {
        struct finding *finding = findings->list.at[i];
        uint64_t rank = source_rank(findings, sources, &count, i);
        keys[i] = (struct sort_key){rank << 32 | finding->place.span.begin,
                                    rule_infos[finding->rule].number, i, finding};
    }
    qsort(keys, n, sizeof *keys, compare_keys);
    for (uint32_t i = 0; i < n; i++) findings->list.at[i] = keys[i].finding;
}
