// What the program can say about a rule besides its row: its page, and how it ranks among the rules
// that give a CUresult.
#ifndef PTXVET_FINDINGS_PAGES_H
#define PTXVET_FINDINGS_PAGES_H

#include "findings/findings.h"

// docs/rules/CODE.md, Markdown; empty when there is no page. It lives as long as the program.
struct str rule_page(enum rule rule);

// Why a rule stands where it does in a ranking.
enum standing {
    STANDING_FOUND,     // found for this launch, and it predicts the very result
    STANDING_RELATED,   // found for this launch; it can give the result, but predicts another or none
    STANDING_OPEN,      // could give it; nothing was held against it (no launch, or not judged)
    STANDING_EXCLUDED   // could give it; this launch was judged and the rule did not fire
};

struct ranked_rule {
    uint16_t rule;                  // enum rule
    uint8_t standing;               // enum standing
    bool secondary;                 // gives the result only along with something else (causes.def)
    uint16_t reports;               // public reports with this cause, of 110
    const struct finding *finding;  // of STANDING_FOUND and STANDING_RELATED; else NULL
    const char *how;                // for secondary causes: how it comes to this result; else NULL
};

struct ranking {
    VEC_OF(struct ranked_rule) rules;  // likeliest first
};

// The rules that can give `result`. `found` (may be NULL) are the findings of a judged launch: what
// was found stands first, then what cannot be judged without more input, then what was excluded.
void rules_rank(int result, const struct findings *found, struct arena *arena,
                struct ranking *ranking);

// Rows of the generated table; the last has number 0.
struct rule_page_row {
    uint16_t number;
    const unsigned char *text;
    uint32_t size;
};
extern const struct rule_page_row rule_page_rows[];

#endif
