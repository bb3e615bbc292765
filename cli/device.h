// The GPU of this machine, as options name it.
#ifndef PTXVET_CLI_DEVICE_H
#define PTXVET_CLI_DEVICE_H

#include "analyzer/deployment.h"
#include "cli/options.h"
#include "driver/driver.h"

// A request with what --libcuda, --device and --timeout say.
struct driver_request device_request(const struct options *options, struct arena *arena);

// `--gpu auto`: asks the driver here, in a process of its own. False: there is none, or it answers
// nothing; `error` says why.
bool device_deployment(const struct options *options, struct arena *arena,
                       struct deployment *deployment, struct str *error);

#endif
