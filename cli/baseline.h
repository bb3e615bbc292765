// Findings that were accepted earlier: a JSON file of fingerprints with counts.
#ifndef PTXVET_CLI_BASELINE_H
#define PTXVET_CLI_BASELINE_H

#include "findings/findings.h"

struct baseline_entry {
    struct str path, code, message;  // path as the repository has it
    uint64_t fingerprint;
    uint32_t count;                  // so many equal findings are accepted
    _Atomic uint32_t found;          // so many were met in this run
    _Atomic bool judged;             // its file was judged in this run
};

struct baseline {
    VEC_OF(struct baseline_entry) list;  // by path, then fingerprint
};

// Reads `path`. False, after a complaint, when it is no baseline.
bool baseline_read(struct baseline *baseline, struct arena *arena, struct str path);

// Takes out of `findings` what is accepted for that path, and gives how many. Threads may call it at
// the same time.
uint32_t baseline_apply(const struct baseline *baseline, struct str path,
                        struct findings *findings);

// Adds findings of a path to a baseline that is being made.
void baseline_add(struct baseline *baseline, struct arena *arena, struct str path,
                  const struct findings *findings);

// Sorts, and makes one entry of equal ones.
void baseline_settle(struct baseline *baseline);

// Drops what was not found in files that were judged.
void baseline_prune(struct baseline *baseline);

// Writes it, whole or not at all. False after a complaint.
bool baseline_write(const struct baseline *baseline, struct arena *arena, struct str path);

#endif
