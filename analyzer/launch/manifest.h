// Many launches in one text: a manifest (*.launch) and `// ptxvet-launch:` comments of a PTX.
//
//   # a comment
//   let N = 4096
//   gpu = h200
//   kernels/add.ptx: add<<<cdiv(N, 256), 256>>>(f32[N], f32[N], N)
//
// Splits and resolves; parsing a launch is launch_parse's, reading a file its caller's.
#ifndef PTXVET_ANALYZER_LAUNCH_MANIFEST_H
#define PTXVET_ANALYZER_LAUNCH_MANIFEST_H

#include "analyzer/launch/launch.h"
#include "isa/gpus.h"

struct manifest_entry {
    struct str ptx_path;     // resolved: relative to the manifest's folder
    struct span path_span;   // in the manifest; empty for a comment
    // The launch alone, blanks standing in for what is before it on its line, so that columns and
    // lines are those of the file. Its path is the file's.
    struct source *source;
    struct str text;         // the launch, trimmed
    uint32_t line;           // in the manifest or PTX, from 1
    const struct gpu *gpu;   // of the `gpu =` line in force; NULL: none
    struct str gpu_text;     // as written; empty: none
};

struct manifest {
    struct source *source;
    struct launch_names names;            // those given, then those of `let`
    VEC_OF(struct manifest_entry) entries;
};

// Whether a path names a manifest: it ends in `.launch`.
bool manifest_is(struct str path);

// Reads a manifest. `given` (may be NULL) are names of the command line; they stand above `let`.
// A line that is none of the four kinds is a finding, and the others are still read.
void manifest_read(struct source *source, const struct launch_names *given, struct arena *arena,
                   struct findings *findings, struct manifest *manifest);

// The launches that comments of a PTX hold. `ptx->path` becomes each entry's ptx_path.
void manifest_read_comments(struct source *ptx, const struct launch_names *given,
                            struct arena *arena, struct manifest *manifest);

// Says that an entry's PTX cannot be read: `why` is the system's text.
struct finding *manifest_report_file(const struct manifest *manifest,
                                     const struct manifest_entry *entry, const char *why,
                                     struct findings *findings);

#endif
