// The GPU of this machine, as options name it.
#ifndef PTXVET_CLI_DEVICE_H
#define PTXVET_CLI_DEVICE_H

#include "analyzer/deployment.h"
#include "analyzer/facts/facts.h"
#include "cli/settings.h"
#include "driver/driver.h"

// A request with what the settings say.
struct driver_request device_request(const struct device_settings *settings);

// `--gpu auto`: asks the driver here, in a process of its own. False: there is none, or it answers
// nothing; `error` says why.
bool device_deployment(const struct device_settings *settings, struct arena *arena,
                       struct deployment *deployment, struct str *error);

// What the driver told, as reports see it.
struct record_gpu *device_record(const struct driver_outcome *outcome, struct arena *arena);

// Adds to each kernel's record what the driver here knows of it, beside what the PTX says.
void device_describe(const struct device_settings *settings, struct record_file *file,
                     const struct module_facts *facts, struct arena *arena);

#endif
