// One launch of one kernel on one deployment, with everything that rules ask about worked out: what
// was left open is filled in from metadata and directives, what is unknown stays so.
#ifndef PTXVET_ANALYZER_LAUNCH_CASE_H
#define PTXVET_ANALYZER_LAUNCH_CASE_H

#include "analyzer/launch/judge.h"
#include "analyzer/launch/occupancy.h"
#include "isa/gpus.h"

struct launch_case {
    struct module_facts *facts;
    struct module *module;
    const struct kernel *kernel;
    const struct launch *launch;
    const struct judge_options *options;
    struct findings *findings;
    struct arena *arena;
    struct str deployment;        // as findings name it; empty where there is only one
    const struct gpu *gpu;        // as named, or the .target's architecture; NULL: neither is known
    const struct gpu_limits *limits;  // of gpu; NULL with it
    bool gpu_assumed;             // taken from .target: the file may run on later ones, too
    bool block_known;
    uint64_t block[3], threads;   // threads: the product, UINT64_MAX on overflow
    bool block_from_metadata;
    bool block_from_reqntid;  // (1, 1, 1) was given, and the driver puts the required block in its place
    uint64_t shared;              // dynamic bytes
    bool shared_from_metadata;
    uint64_t shared_max;          // dynamic bytes that the function allows as the launch sets it
    uint64_t optin_max;           // static + dynamic that the GPU allows at most
    bool clustered;
    uint64_t cluster[3], cluster_blocks;  // cluster_blocks: the product, UINT64_MAX on overflow
    bool regs_known;
    uint64_t regs;                // per thread
    bool regs_bounded;            // not known, but at most `regs_most`
    uint64_t regs_most;
    const char *regs_why;         // ".maxnreg", ".reqntid", ...
    bool occupancy_known;
    struct occupancy_answer occupancy;
    uint64_t packed_size;         // of the packed form, as said or as the arguments fill it
};

void case_init(struct launch_case *c, struct module_facts *facts, const struct kernel *kernel,
               const struct launch *launch, const struct judge_options *options,
               const struct deployment *deployment, struct arena *arena, struct findings *findings);

// Which parameter an argument is for: its name decides where it has one, else its place.
// NO_INDEX: none.
uint32_t case_param_of(const struct launch_case *c, uint32_t argument);

// The size in bytes of what the host passes; 0: not known.
uint64_t case_argument_size(const struct launch_case *c, const struct argument *argument,
                            const struct kernel_param *param);

// The place of a span of the launch, and of a span of the PTX.
struct place case_launch_place(const struct launch_case *c, struct span span);
struct place case_ptx_place(const struct launch_case *c, struct span span);

// A finding of this case.
struct finding *case_finding(struct launch_case *c, enum rule rule, struct place place);

#endif
