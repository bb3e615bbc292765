// The options as values that the commands work with. Each input may have its own, since a
// .ptxvet.yaml is found upwards from it.
#ifndef PTXVET_CLI_SETTINGS_H
#define PTXVET_CLI_SETTINGS_H

#include "analyzer/launch/judge.h"
#include "cli/options.h"
#include "findings/selection.h"
#include "reports/report.h"

// Of `run`, and of `--gpu auto`.
struct device_settings {
    const char *library;      // NULL: libcuda.so.1
    int device;               // ordinal
    double timeout;           // seconds, for each step
    uint8_t memory;           // enum driver_memory
    uint32_t repeat;
    uint64_t seed;
    bool asked;               // --gpu auto was given: `info` asks it about kernels
};

struct settings {
    struct judge_options judge;
    struct launch_names names;
    struct selection selection;
    uint8_t fail_on;          // enum severity
    bool exit_zero;
    uint32_t max_findings;    // 0: no limit
    size_t memory_limit;      // bytes; 0: no limit
    uint32_t jobs;
    struct device_settings device;
};

// False: a value is wrong, and `error` says which and why.
bool settings_make(struct settings *settings, struct arena *arena, const struct options *options,
                   struct str *error);

// What --color, --quiet and the environment come to for a stream.
struct report_style settings_style(const struct options *options, int descriptor);

#endif
