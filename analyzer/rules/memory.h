// Family 09: findings of a dry run. They name every fault; what the device answers is the result's.
#ifndef PTXVET_ANALYZER_RULES_MEMORY_H
#define PTXVET_ANALYZER_RULES_MEMORY_H

#include "analyzer/facts/dryrun/dryrun.h"
#include "analyzer/launch/launch.h"

// Adds findings for all faults of `result`, for what stayed unknown, and for what buffers of unknown
// extent need. Primary places are in the PTX; `launch` (may be NULL) gives the places of arguments.
void memory_findings(const struct dryrun_request *request, const struct dryrun_result *result,
                     const struct launch *launch, struct findings *findings);

// The argument of the launch that is for a parameter: by name, else by place. NULL: none.
const struct argument *memory_argument(const struct kernel *kernel, const struct launch *launch,
                                       uint32_t param);

// What was touched through a parameter; NO_INDEX: dynamic shared memory. NULL: nothing.
const struct dryrun_use *memory_use(const struct dryrun_result *result, uint32_t param);

// "at least 65536 bytes, aligned to 16": what an argument needs. Empty when nothing was touched.
struct str memory_needs(struct arena *arena, const struct dryrun_use *use);

#endif
