// A launch held against a module, a GPU and a driver: findings, and what the driver would answer.
#ifndef PTXVET_ANALYZER_LAUNCH_JUDGE_H
#define PTXVET_ANALYZER_LAUNCH_JUDGE_H

#include "analyzer/deployment.h"
#include "analyzer/facts/dryrun/dryrun.h"
#include "analyzer/facts/facts.h"
#include "analyzer/launch/launch.h"

enum host { HOST_UNKNOWN, HOST_C, HOST_PYTHON, HOST_CUPY, HOST_NUMBA, HOST_RUST };

struct companion_reader;  // analyzer/launch/companion.h

struct judge_options {
    VEC_OF(struct deployment) deployments;  // none: only what the file itself says
    uint8_t host;             // enum host
    double budget;            // seconds for the dry run; 0: no dry run
    uint32_t threads;
    const struct companion_reader *reader;  // of buffers' `=@file`; NULL: their contents stay unknown
};

enum verdict { VERDICT_OK, VERDICT_FAILS, VERDICT_UNKNOWN };

struct occupancy {
    bool known;
    uint32_t blocks_per_sm, warps_per_sm;
    const char *limiter;      // "registers", "shared", "warps", "blocks", "barriers"
};

struct judgement {
    struct launch launch;
    const struct kernel *kernel;   // NULL when not found
    uint8_t verdict;               // enum verdict
    struct prediction predicted;   // never PHASE_NONE; confidence included
    int also[2];                   // other results where faults race
    uint32_t also_count;
    bool result_unknown;           // predicted.result is null in JSON (too few arguments)
    struct findings findings;      // of this launch
    struct occupancy occupancy;
    bool ran;                      // the dry run was made
    struct dryrun_result dry;      // valid when `ran`
};

// `load_findings`: what checking the module found; errors of phase LOAD decide the prediction.
void launch_judge(struct module_facts *facts, const struct findings *load_findings,
                  const struct launch *launch, const struct judge_options *options,
                  struct arena *arena, struct judgement *judgement);

#endif
