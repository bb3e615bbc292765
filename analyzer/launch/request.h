// From a case to what the dry run is asked: each parameter's bytes, buffers with their contents.
#ifndef PTXVET_ANALYZER_LAUNCH_REQUEST_H
#define PTXVET_ANALYZER_LAUNCH_REQUEST_H

#include "analyzer/launch/case.h"

// False: the launch leaves something open without which there is nothing to run (no block, no
// arguments for parameters that there are, dimensions past 32 bits).
bool request_build(const struct launch_case *c, struct dryrun_request *request);

#endif
