// One input judged: from its path to the record that reports see.
#ifndef PTXVET_CLI_JUDGE_H
#define PTXVET_CLI_JUDGE_H

#include "cli/inputs.h"
#include "cli/jobs.h"
#include "cli/records.h"
#include "cli/settings.h"

struct judging {
    enum command command;
    const struct settings *settings;
    const struct options *options;
    bool kernels_wanted;      // some format shows modules and kernels
    struct str launch;        // the launch of the command line; empty: none
};

// Fills `file` (in the worker's arenas, valid until the next job). `found` is set when a finding is
// at or above --fail-on; what keeps the tool from its job is in file->failure.
void judge_input(const struct judging *judging, struct worker *worker, const struct input *input,
                 struct record_file *file, bool *found);

#endif
