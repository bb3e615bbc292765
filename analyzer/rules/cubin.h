// R95: a cubin where a PTX was expected.
#ifndef PTXVET_ANALYZER_RULES_CUBIN_H
#define PTXVET_ANALYZER_RULES_CUBIN_H

#include "analyzer/deployment.h"
#include "findings/findings.h"

// Judges a source that is a whole cubin by the architecture in its header: an error for each
// deployment that it cannot run on, else a note that only PTX is judged further. False, and no
// finding, when it is none; one cut short is not PTX to anybody and none here either.
bool rules_cubin(struct source *source, const struct deployment *deployments, uint32_t count,
                 struct findings *findings);

#endif
