// The GPU of this machine, as options name it.
#ifndef PTXVET_CLI_DEVICE_H
#define PTXVET_CLI_DEVICE_H

#include "analyzer/deployment.h"
#include "cli/settings.h"
#include "driver/driver.h"

// A request with what the settings say.
struct driver_request device_request(const struct device_settings *settings);

// `--gpu auto`: asks the driver here, in a process of its own. False: there is none, or it answers
// nothing; `error` says why.
bool device_deployment(const struct device_settings *settings, struct arena *arena,
                       struct deployment *deployment, struct str *error);

#endif
