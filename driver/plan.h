// From a launch in the launch language to what the child is asked to do: each argument's bytes,
// each buffer's size, alignment and contents.
#ifndef PTXVET_DRIVER_PLAN_H
#define PTXVET_DRIVER_PLAN_H

#include "analyzer/facts/dryrun/dryrun.h"
#include "analyzer/facts/facts.h"
#include "driver/driver.h"

// Bytes given to a pointer of unknown extent when the dry run did not learn what it needs.
#define PLAN_POINTER_BYTES (1u << 20)

struct plan_input {
    const struct launch *launch;
    const struct kernel *kernel;       // NULL: the module has none of that name that could be read
    const struct dryrun_result *dry;   // NULL: not made
    struct source *ptx;
    uint64_t seed;                     // of CONTENTS_RANDOM
};

struct plan_notes { VEC_OF(struct str) list; };

// Fills in kernel, dimensions, attributes and arguments of `request`; the rest is the caller's.
// `notes` gets a line for each thing that the launch left open. False: `failure` says why the launch
// cannot be made.
bool driver_plan(const struct plan_input *input, struct arena *arena, struct driver_request *request,
                 struct plan_notes *notes, struct str *failure);

#endif
