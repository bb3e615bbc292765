// One input judged: from its path to the record that reports see.
#ifndef PTXVET_CLI_JUDGE_H
#define PTXVET_CLI_JUDGE_H

#include "analyzer/launch/manifest.h"
#include "analyzer/rules/check.h"
#include "cli/inputs.h"
#include "cli/jobs.h"
#include "library/records.h"

struct judging {
    enum command command;
    const struct options *options;  // of the command line
    struct report *report;          // folder and root of paths
    const struct baseline *baseline;
    bool writes_baseline;
    bool kernels_wanted;            // some format shows modules and kernels
    struct str launch;              // the launch of the command line; empty: none
};

static inline bool is_launching(const struct judging *judging) {
    return judging->command == COMMAND_launch || judging->command == COMMAND_run;
}

// One judgement in the making: what the steps hand on.
struct job {
    const struct judging *judging;
    struct worker *worker;
    const struct input *input;
    const struct settings *settings;
    struct record_file *file;
    struct piece *piece;
};

// A PTX read and checked: what launches are held against.
struct judged {
    struct str path;
    struct source *source;
    struct findings *load;      // what checking it found
    struct module *module;      // NULL: a cubin
    struct module_facts facts;
    bool has_facts;
    struct requirements requirements;
    int trouble;                // errno: it could not be read
};

// Fills `file` (in the worker's arenas, valid until the next job) and piece->found. What keeps the
// tool from its job is in file->failure.
void judge_input(const struct judging *judging, struct worker *worker, const struct input *input,
                 struct record_file *file, struct piece *piece);

// Parses, checks, and computes the facts where they are needed. False: a limit was reached.
bool judge_module(struct job *job, struct judged *judged, bool keep_bodies);

// Takes out of `findings`, which are of `source`, what comments, options and the baseline take out,
// and notes what is left: for --fail-on and for --write-baseline.
void judge_settle(struct job *job, struct source *source, const struct module *module, bool whole,
                  struct findings *findings);

// The launch of the command line.
void judge_launch_line(struct job *job);

// The launches of `info --launch`, held against what was read already.
void judge_shown_launches(struct job *job, struct judged *judged);

// The launches of a manifest, or those in comments of a PTX.
void judge_manifest(struct job *job);

#endif
