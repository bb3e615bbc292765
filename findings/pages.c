#include "findings/pages.h"

#include <stdlib.h>

struct str rule_page(enum rule rule) {
    uint16_t number = rule_infos[rule].number;
    for (const struct rule_page_row *row = rule_page_rows; row->number != 0; row++)
        if (row->number == number) return (struct str){(const char *)row->text, row->size};
    return STR("");
}

static const struct {
    uint16_t number, reports;
} report_counts[] = {
#define REPORT(number, name, reports) {number, reports},
#include "findings/reports.def"
};

static const struct {
    int result;
    uint16_t report;
    const char *how;
} causes[] = {
#define CAUSE(result, report, how) {RESULT_##result, report, how},
#include "findings/causes.def"
};

// The next number of a list such as "R66, R68"; 0 at its end.
static unsigned next_report(const char **list) {
    while (**list != '\0' && **list != 'R') ++*list;
    if (**list == '\0') return 0;
    char *end;
    unsigned long number = strtoul(*list + 1, &end, 10);
    *list = end;
    return (unsigned)number;
}

static uint16_t reports_of(enum rule rule) {
    unsigned sum = 0, number;
    for (const char *list = rule_infos[rule].reports; (number = next_report(&list)) != 0;)
        for (size_t i = 0; i < sizeof report_counts / sizeof report_counts[0]; i++)
            if (report_counts[i].number == number) sum += report_counts[i].reports;
    return (uint16_t)sum;
}

static const char *cause_of(enum rule rule, int result) {
    unsigned number;
    for (const char *list = rule_infos[rule].reports; (number = next_report(&list)) != 0;)
        for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
            if (causes[i].report == number && causes[i].result == result) return causes[i].how;
    return NULL;
}

static const struct finding *find_rule(const struct findings *found, enum rule rule, int result) {
    const struct finding *any = NULL;
    for (uint32_t i = 0; i < found->list.n; i++) {
        const struct finding *finding = found->list.at[i];
        if (finding->rule != rule) continue;
        if (finding->predicts.phase != PHASE_NONE && finding->predicts.result == result)
            return finding;
        if (any == NULL) any = finding;
    }
    return any;
}

static bool predicts(const struct finding *finding, int result) {
    return finding->predicts.phase != PHASE_NONE && finding->predicts.result == result;
}

// What the tool only ever mentions (a possible note) it cannot rule out either.
static bool is_undecidable(enum rule rule) {
    return rule_infos[rule].severity == SEVERITY_NOTE &&
           rule_infos[rule].confidence == CONFIDENCE_POSSIBLE;
}

static enum standing standing_of(const struct ranked_rule *ranked, const struct findings *found,
                                 int result) {
    if (ranked->finding != NULL)
        return predicts(ranked->finding, result) ? STANDING_FOUND : STANDING_RELATED;
    if (found == NULL || is_undecidable(ranked->rule)) return STANDING_OPEN;
    return STANDING_EXCLUDED;
}

static int compare_ranked(const void *left, const void *right) {
    const struct ranked_rule *a = left, *b = right;
    if (a->standing != b->standing) return a->standing < b->standing ? -1 : 1;
    if (a->finding != NULL && b->finding != NULL && a->finding->severity != b->finding->severity)
        return a->finding->severity > b->finding->severity ? -1 : 1;
    if (a->reports != b->reports) return a->reports > b->reports ? -1 : 1;
    if (a->secondary != b->secondary) return a->secondary ? 1 : -1;
    return a->rule < b->rule ? -1 : a->rule > b->rule;
}

void rules_rank(int result, const struct findings *found, struct arena *arena,
                struct ranking *ranking) {
    memset(ranking, 0, sizeof *ranking);
    for (int rule = 1; rule < RULE_COUNT; rule++) {
        const struct rule_info *info = &rule_infos[rule];
        const struct finding *finding = found ? find_rule(found, (enum rule)rule, result) : NULL;
        bool primary = info->phase != PHASE_NONE && info->result == result;
        const char *how = primary ? NULL : cause_of((enum rule)rule, result);
        bool found_here = finding != NULL && predicts(finding, result);
        if (!primary && how == NULL && !found_here) continue;
        struct ranked_rule *ranked = vec_push(arena, &ranking->rules);
        ranked->rule = (uint16_t)rule;
        ranked->secondary = !primary;
        ranked->reports = reports_of((enum rule)rule);
        ranked->finding = finding;
        ranked->how = how;
        ranked->standing = (uint8_t)standing_of(ranked, found, result);
    }
    if (ranking->rules.n > 1)
        qsort(ranking->rules.at, ranking->rules.n, sizeof ranking->rules.at[0], compare_ranked);
}
