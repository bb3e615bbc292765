#include "findings/selection.h"

enum { EXACT = 1000 };

uint32_t pattern_matches(struct str pattern, enum rule rule) {
    struct str code = str_from(rule_infos[rule].code);
    if (str_eq(pattern, STR("all"))) return 1;
    if (str_eq(pattern, str_from(rule_infos[rule].name)) || str_eq(pattern, code)) return EXACT;
    if (pattern.len >= 3 && str_starts(code, pattern)) return 1 + pattern.len;
    return 0;
}

// The best match of each rule among patterns. False: one of them matches nothing.
static bool best_matches(const struct str *patterns, uint32_t n, uint32_t best[RULE_COUNT],
                         struct str *wrong) {
    for (uint32_t i = 0; i < n; i++) {
        bool any = false;
        for (int rule = 1; rule < RULE_COUNT; rule++) {
            uint32_t match = pattern_matches(patterns[i], (enum rule)rule);
            any |= match != 0;
            if (match > best[rule]) best[rule] = match;
        }
        if (any) continue;
        *wrong = patterns[i];
        return false;
    }
    return true;
}

static bool severity_named(struct str text, uint8_t *severity) {
    for (uint8_t i = 0; i <= SEVERITY_ERROR; i++)
        if (str_eq(text, str_from(severity_text((enum severity)i)))) {
            *severity = i;
            return true;
        }
    return false;
}

// "PTX0603=warning", "PTX09=off".
static bool set_severity(struct selection *selection, struct str text) {
    const char *equals = memchr(text.data, '=', text.len);
    if (equals == NULL) return false;
    struct str pattern = {text.data, (uint32_t)(equals - text.data)};
    struct str level = {equals + 1, text.len - pattern.len - 1};
    uint8_t severity = SELECTION_AS_FOUND;
    bool off = str_eq(level, STR("off")), any = false;
    if (!off && !severity_named(level, &severity)) return false;
    for (int rule = 1; rule < RULE_COUNT; rule++) {
        if (pattern_matches(pattern, (enum rule)rule) == 0) continue;
        any = true;
        selection->off[rule] |= off;
        selection->severity[rule] = severity;
    }
    return any;
}

bool selection_make(struct selection *selection, const struct selection_texts *texts,
                    struct str *wrong) {
    uint32_t select[RULE_COUNT] = {0}, ignore[RULE_COUNT] = {0};
    *selection = (struct selection){0};
    memset(selection->severity, SELECTION_AS_FOUND, sizeof selection->severity);
    selection->narrows = texts->select_count + texts->ignore_count + texts->severity_count != 0;
    if (!best_matches(texts->select, texts->select_count, select, wrong) ||
        !best_matches(texts->extend, texts->extend_count, select, wrong) ||
        !best_matches(texts->ignore, texts->ignore_count, ignore, wrong))
        return false;
    for (int rule = 1; rule < RULE_COUNT; rule++) {
        uint32_t chosen = texts->select_count == 0 && select[rule] == 0 ? 1 : select[rule];
        selection->off[rule] = chosen <= ignore[rule];
    }
    for (uint32_t i = 0; i < texts->severity_count; i++) {
        *wrong = texts->severity[i];
        if (!set_severity(selection, texts->severity[i])) return false;
    }
    return true;
}

void selection_apply(const struct selection *selection, struct findings *findings) {
    uint32_t kept = 0;
    if (!selection->narrows) return;
    for (uint32_t i = 0; i < findings->list.n; i++) {
        struct finding *finding = findings->list.at[i];
        if (selection->off[finding->rule]) continue;
        if (selection->severity[finding->rule] != SELECTION_AS_FOUND)
            finding->severity = selection->severity[finding->rule];
        findings->list.at[kept++] = finding;
    }
    findings->list.n = kept;
}
