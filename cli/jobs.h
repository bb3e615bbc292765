// Files judged by several threads, and their pieces of the reports put together in the order of the
// inputs. At most a fixed number of results wait, so that memory is bounded however many files
// there are.
#ifndef PTXVET_CLI_JOBS_H
#define PTXVET_CLI_JOBS_H

#include "cli/baseline.h"
#include "cli/load.h"
#include "cli/sinks.h"

// What a thread keeps from job to job.
struct worker {
    struct memory memory;    // of everything below
    struct arena module, bodies, records;
    struct loader loader;
    uint32_t threads;        // that this job may use inside
};

// What one job leaves.
struct piece {
    struct memory memory;
    struct arena arena;
    struct output parts[SINKS_MOST];   // one for each sink
    struct output said;                // for stderr
    struct report_totals totals;
    bool found;                        // a finding at or above --fail-on
    bool trouble;                      // exit 2
    struct baseline accepted;          // all findings, for --write-baseline
};

struct jobs {
    uint32_t count, threads;
    size_t memory_limit;               // of a worker; 0: no limit
    // Does job `index`. Runs in any thread. Exhausted memory leaves it by the worker's edge.
    void (*run)(void *context, struct worker *worker, uint32_t index, struct piece *piece);
    // Takes the pieces in order. Runs in the caller's thread.
    void (*commit)(void *context, uint32_t index, struct piece *piece);
    // Says what did not fit into memory.
    void (*exhausted)(void *context, uint32_t index, struct piece *piece, bool at_limit);
    void *context;
};

void jobs_run(const struct jobs *jobs);

#endif
