// What stands beside a PTX: Triton's metadata (.json) and its intermediate text (.ttir, or the saved
// `tt.func` line, .sig.txt). Read and applied to the facts; findings of family 10 where the pair
// disagrees. The reader is the caller's: this module opens nothing itself.
#ifndef PTXVET_ANALYZER_LAUNCH_COMPANION_H
#define PTXVET_ANALYZER_LAUNCH_COMPANION_H

#include "analyzer/facts/facts.h"
#include "findings/findings.h"

// Gives the whole text of `path`, followed by one NUL, in `arena`. False: it cannot be read.
struct companion_reader {
    bool (*read)(void *context, struct str path, struct arena *arena, struct str *text);
    void *context;
};

// One argument of the source language, in signature order.
struct companion_argument {
    struct str name;        // empty: not stated
    struct str type;        // "*fp32", "i32", "tensordesc<...>", "constexpr", or as .ttir writes it
    uint32_t divisible_by;  // 0: nothing is promised
    bool folded;            // is no parameter of the entry
    struct str value;       // of a folded argument, as written; empty: not known
};

struct companion {
    struct kernel_metadata metadata;
    VEC_OF(struct companion_argument) arguments;  // one for each entry parameter, and folded ones
    bool expanded;  // `arguments` names each parameter of the entry (a .ttir), tensor maps' parts included
};

// Looks for companions of `ptx_path`: STEM.json, STEM.ttir, STEM.sig.txt beside it. NULL when there
// is none. A .json that is not JSON, or no object, is a finding.
struct companion *companion_find(const struct companion_reader *reader, struct str ptx_path,
                                 struct arena *arena, struct findings *findings);

// The same for what the user named, `--triton PATH`: a .json, a .ttir, or a folder that holds
// STEM.json. NULL and a finding when nothing there can be read.
struct companion *companion_open(const struct companion_reader *reader, struct str path,
                                 struct str ptx_path, struct arena *arena,
                                 struct findings *findings);

// Fills in user names, hidden roles, scratch sizes, divisibility and `metadata` of the kernel that
// the companion belongs to, and says where the two disagree (R93). Without a companion, what the PTX
// alone shows of Triton's conventions stays as facts_compute left it.
void companion_apply(const struct companion *companion, struct module_facts *facts,
                     struct arena *arena, struct findings *findings);

#endif
