// Findings: what every part of ptxvet reports with. Data only: nothing here prints.
#ifndef PTXVET_FINDINGS_FINDINGS_H
#define PTXVET_FINDINGS_FINDINGS_H

#include "base/source.h"

// Where in the life of a launch the driver answers.
enum phase { PHASE_NONE, PHASE_LOAD, PHASE_GET_FUNCTION, PHASE_SET_ATTRIBUTE, PHASE_LAUNCH, PHASE_RUN };

enum severity { SEVERITY_NOTE, SEVERITY_WARNING, SEVERITY_ERROR };

enum confidence { CONFIDENCE_POSSIBLE, CONFIDENCE_LIKELY, CONFIDENCE_CERTAIN };

// CUresult values (names of cuda.h) and ours.
enum result {
#define RESULT(code, name) RESULT_##name = code,
#include "findings/results.def"
};

enum rule {
    RULE_NONE,
#define RULE(number, id, name, phase, result, severity, confidence, reports) RULE_##id,
#include "findings/rules.def"
    RULE_COUNT
};

struct rule_info {
    const char *code;  // "PTX0603"
    const char *name;  // "maxntid-exceeded"
    uint16_t number;
    uint8_t phase;       // enum phase
    uint8_t severity;    // enum severity
    uint8_t confidence;  // enum confidence
    int result;          // enum result
    const char *reports;
};

extern const struct rule_info rule_infos[RULE_COUNT];  // rule_infos[RULE_NONE] is empty

const char *phase_text(enum phase phase);                 // "get-function"; "" for NONE
const char *severity_text(enum severity severity);        // "error"
const char *confidence_text(enum confidence confidence);  // "certain"
const char *result_text(int result);                      // "CUDA_ERROR_INVALID_VALUE"; NULL if unknown
const char *phase_call(enum phase phase);                 // "cuLaunchKernel": the driver call that answers

// A CUresult by number ("701"), name, or name without its prefix. False when it is none.
bool result_find(struct str text, int *result);

// A rule by code ("PTX0603", "0603") or name. RULE_NONE when it is none.
enum rule rule_find(struct str text);

// A second place that a finding points to.
struct secondary {
    struct place place;
    struct str text;
};

// What the driver would answer because of a finding. phase PHASE_NONE: nothing predicted.
struct prediction {
    uint8_t phase;       // enum phase
    uint8_t confidence;  // enum confidence
    int result;          // enum result
};

struct finding {
    uint16_t rule;       // enum rule
    uint8_t severity;    // enum severity
    uint8_t confidence;  // enum confidence
    struct place place;  // the primary place; source NULL when there is none
    struct str message;  // the fact, lower case, no full stop
    struct str caption;  // what stands beside the carets; may be empty
    struct str help;     // what to do; may be empty
    struct str kernel;   // the entry concerned; may be empty
    struct str origin;      // "kernel.py:55", by .loc; filled in by who prints; may be empty
    struct str deployment;  // which --gpu or --driver it holds for; empty: all
    struct prediction predicts;
    VEC_OF(struct str) notes;
    VEC_OF(struct secondary) labels;
};

// Collects findings in the order in which they are found. Past `limit` they are only counted.
struct findings {
    struct arena *arena;
    VEC_OF(struct finding *) list;
    uint32_t limit;         // 0 means no limit
    uint32_t dropped;       // how many were counted and not kept
    struct finding spare;   // what finding_add gives past the limit
};

void findings_init(struct findings *findings, struct arena *arena, uint32_t limit);

// Adds a finding of `rule` with the row's severity, confidence and prediction. Never NULL.
struct finding *finding_add(struct findings *findings, enum rule rule, struct place place);

// Texts are formatted into the collector's arena. Each sets or appends; each may be left out.
void finding_message(struct findings *findings, struct finding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void finding_caption(struct findings *findings, struct finding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void finding_help(struct findings *findings, struct finding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void finding_note(struct findings *findings, struct finding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void finding_label(struct findings *findings, struct finding *finding, struct place place,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

// How many of the kept findings have at least this severity.
uint32_t findings_count(const struct findings *findings, enum severity least);

// Sorts by source (in order of first appearance), then by place, then by rule; stable.
void findings_sort(struct findings *findings);

#endif
