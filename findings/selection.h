// Which rules count, and how much: --select, --extend-select, --ignore, --severity.
#ifndef PTXVET_FINDINGS_SELECTION_H
#define PTXVET_FINDINGS_SELECTION_H

#include "findings/findings.h"

enum { SELECTION_AS_FOUND = 0xff };

struct selection {
    bool off[RULE_COUNT];
    uint8_t severity[RULE_COUNT];  // enum severity, or SELECTION_AS_FOUND
    bool narrows;                  // something differs from the defaults
};

// Patterns: a code or the begin of one (`PTX06`), a name, `all`. The most exact pattern that matches
// a rule decides on it; of two that are equally exact, the one that ignores. `select` empty: all.
// False: a pattern matches no rule, or a severity is none; `wrong` is it.
struct selection_texts {
    const struct str *select, *extend, *ignore, *severity;
    uint32_t select_count, extend_count, ignore_count, severity_count;
};
bool selection_make(struct selection *selection, const struct selection_texts *texts,
                    struct str *wrong);

// How exactly a pattern names a rule: 0 not at all, 1 for `all`, more for longer prefixes, most for
// names and whole codes.
uint32_t pattern_matches(struct str pattern, enum rule rule);

// Takes out what is not selected and sets severities.
void selection_apply(const struct selection *selection, struct findings *findings);

#endif
