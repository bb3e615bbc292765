// Whether a PTX text loads: every check of the load phase, behind one call. It parses the source
// and holds each part against the rules as soon as it is read; a body is checked and let go.
#ifndef PTXVET_ANALYZER_RULES_CHECK_H
#define PTXVET_ANALYZER_RULES_CHECK_H

#include "analyzer/deployment.h"
#include "isa/floor.h"
#include "isa/versions.h"
#include "parser/parser.h"

// Whose word counts where the assembler and the driver differ (DESIGN, "Whose word").
enum check_as {
    CHECK_AS_ASSEMBLER, // `ptxas -arch=sm_NN`; unresolved externs are warnings
    CHECK_AS_DRIVER,    // cuModuleLoadData: an unresolved call is INVALID_PTX, static shared above
                        // 49152 bytes is a warning
};

// What the features of a file need: the least PTX version and the targets that have them all. A row
// stands for each feature that raised one of the two beyond what came before it, in the order met.
struct required {
    struct isa_floor floor;
    struct str feature; // for people: `.reqnctapercluster`, `ld.global.nc.v8.f32`
    struct span span;   // the directive or instruction that needs it
};
struct requirements {
    VEC_OF(struct required) rows;
    struct isa_floor floor; // both together
    bool incomplete;        // something was met of which the needs are not known
};

struct check_options {
    uint8_t as;                           // enum check_as
    const struct deployment *deployments; // held against each; none: only what the file itself says
    uint32_t deployment_count;
    bool keep_bodies;     // leave function.body in place for `info` and `launch`; else they stream
    bool relocatable;     // as `ptxas -c`: externs are someone else's to resolve
    uint32_t max_nesting; // as in parse_options
    struct requirements *requirements; // filled when not NULL; its rows are in the module's arena
};

// Parses and checks. The module lives in `arena`, bodies in `body_arena` (the same when they are
// kept). Findings of families 01 to 05 and the load limits of 07 are added. Never NULL in *module.
enum parse_status check_source(struct source *source, struct arena *arena, struct arena *body_arena,
                               const struct check_options *options, struct findings *findings,
                               struct module **module);

// The checks without the parser, for who drives it: each body while it is there, then the rest.
struct checker;
struct checker *checker_new(struct module *module, struct arena *arena,
                            const struct check_options *options, struct findings *findings);
void checker_function(struct checker *checker, uint32_t function);
void checker_finish(struct checker *checker);

#endif
