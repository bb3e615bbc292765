// Findings to bytes. One file per format; each sees findings, source text and the plain records
// below, and nothing of parser or analyzer.
//
// A format is written in pieces: a head, one piece a file, a tail. A file's piece depends on that
// file alone, so pieces are made by several threads and each file's records are let go before the
// next; who holds them puts them together in the order of the inputs.
#ifndef PTXVET_REPORTS_REPORT_H
#define PTXVET_REPORTS_REPORT_H

#include "base/output.h"
#include "findings/pages.h"

// Numbers that may be unknown: JSON null.
struct known_u64 {
    bool known;
    uint64_t value;
};

struct record_param {
    uint32_t index;
    struct str name, user_name, type, kind, space, role, access, what;
    uint64_t offset, size, align;
    struct known_u64 align_needed;
    const char *used_text;           // "yes", "no: pass null"; for people
};

// A line of what `info` says of a kernel: "block", "exactly (128, 1, 1)", ".reqntid 128, 4 warps".
struct record_row {
    const char *name;
    struct str text, from;
};

// Of one block size, or of one size of dynamic shared memory in bytes.
struct record_occupancy_point { uint32_t at, blocks_per_sm, warps_per_sm; };
struct record_occupancy_curve { VEC_OF(struct record_occupancy_point) points; };

struct record_gpu;

struct record_kernel {
    struct str name, linkage, launch, demangled;
    uint32_t line;
    VEC_OF(struct record_param) params;
    uint64_t param_bytes;
    bool has_maxntid, has_reqntid, has_cluster;
    uint64_t maxntid[3], reqntid[3], cluster[3];
    struct known_u64 minnctapersm, maxnreg, dynamic_align, const_bytes, local_bytes;
    struct known_u64 shared_static;
    bool shared_dynamic;
    VEC_OF(struct record_row) rows;  // for people: text and HTML only, as the next two
    VEC_OF(struct str) remarks, host_call;
    struct record_occupancy_curve occupancy;         // over block sizes
    struct record_gpu *gpu;          // what the driver here says of it; NULL: it was not asked
};

struct record_module {
    struct str ptx_version, target, generator, minimum_driver;  // empty: null
    struct known_u64 address_size;
};

// What one block touches of a buffer.
struct record_block_use {
    uint64_t block;
    bool read, written;
    uint64_t read_low, read_high, written_low, written_high;
};

struct record_memory {
    bool param_known;                // false: shared memory
    uint32_t param;                  // index of the parameter
    struct str name;
    bool read, written;
    uint64_t read_low, read_high, written_low, written_high;
    struct known_u64 size_needed, align_needed;
    struct known_u64 size;           // of the buffer given, or of the shared memory that the launch has
    VEC_OF(struct record_block_use) blocks;  // by block, where that is known; for pictures
};

struct record_gpu_param { uint64_t offset, size; };

// What the driver told of a launch that was made.
struct record_gpu {
    struct str device;               // "NVIDIA H200"
    struct str capability, cuda;     // "9.0", "13.0"
    struct known_u64 registers, shared, local, constants, max_threads, blocks_per_sm;
    bool has_params, has_time;
    VEC_OF(struct record_gpu_param) params;
    double milliseconds;
};

struct record_launch {
    struct str emitted;              // the launch with sizes filled in; empty: not asked for
    struct str text, kernel, verdict;
    uint32_t line;
    struct prediction predicted;
    bool result_unknown;
    int also[2];
    uint32_t also_count;
    struct findings *findings;
    bool has_occupancy;
    uint32_t blocks_per_sm, warps_per_sm;
    struct str limiter;
    uint32_t sm_warps;                               // that an SM of that GPU holds; 0: not known
    struct record_occupancy_curve over_block, over_shared;  // for pictures; empty: not known
    uint64_t block_threads, shared_dynamic;          // of this launch
    VEC_OF(struct record_memory) memory;
    bool has_coverage, complete;
    uint64_t blocks, blocks_run, unknown_addresses;
    VEC_OF(struct record_row) gpu_rows;  // of run: what the driver reports, for people
    struct record_gpu *gpu;          // of run; NULL: nothing was launched
    bool has_actual;
    bool agrees_known, agrees;       // not known where nothing was predicted
    uint8_t actual_phase;
    int actual_result;
    // `--error`: the CUresult that the user got, and the rules that can give it; NULL: not asked.
    const struct ranking *ranking;
    int asked;
};

// A feature and what it needs, for --requires.
struct record_required {
    struct str feature, ptx_version, target;
    uint32_t line;
};

struct record_requires {
    struct str ptx_version, target, driver;  // the least of each; empty: not known
    bool complete;                           // everything's needs are known
    VEC_OF(struct record_required) features; // that raised them, in the order of the source
};

struct record_file {
    struct str path;
    struct source *source;           // NULL when it could not be read
    struct record_module *module;    // NULL: null in JSON
    struct str about;                // "PTX 8.7 for sm_90a only, ..."; for people
    struct record_requires *requires;  // NULL: not asked for
    VEC_OF(struct record_kernel) kernels;
    VEC_OF(struct record_launch) launches;
    struct findings *findings;       // of check and info; NULL when none
    struct str failure;              // operational: could not be read, limit; empty when fine
    uint32_t suppressed, baselined;  // findings that a comment or the baseline took out
};

enum report_command { REPORT_CHECK, REPORT_INFO, REPORT_LAUNCH, REPORT_RUN };

struct report_style {
    bool colour;
    bool quiet;
    uint32_t width;                  // of the terminal, columns; 0: not a terminal
};

// How often a launch was predicted to answer one thing and did answer another, or the same.
struct report_pair {
    uint8_t predicted_phase, actual_phase;
    int predicted, actual;           // enum result
    bool agrees;
    uint32_t count;
};
enum { REPORT_PAIRS_MOST = 64 };

struct report_totals {
    uint32_t files, failures;        // files seen; how many of them could not be judged
    uint32_t errors, warnings, notes;
    uint32_t launches, launches_failing;
    uint32_t dropped;                // findings past the limit
    uint32_t suppressed, baselined;  // findings that a comment or the baseline took out
    uint32_t by_rule[RULE_COUNT];
    uint32_t made, agreeing;         // launches made on a GPU; how many answered as predicted
    uint32_t pair_count;
    struct report_pair pairs[REPORT_PAIRS_MOST];
};

struct report {
    uint8_t command;                 // enum report_command
    struct str tool_version;
    struct report_style style;
    struct str folder, root;         // the present folder and its repository's, absolute; or empty
    struct report_totals totals;     // complete in `tail`, and in `head` of formats with head_last
};

struct report_format {
    const char *name;       // as in --format
    bool machine;           // stdout holds exactly one document
    bool kernels;           // shows modules and kernels, not findings alone
    bool rooted;            // gives paths as the repository has them: needs folder and root
    bool head_last;         // the head says totals: it is made when all files are, and put in front
    const char *separator;  // between the pieces of two files that are not empty, and in them
    uint32_t most_records;  // in one document; records end in separator and newline. 0: no limit
    void (*head)(const struct report *report, struct output *out);
    void (*file)(const struct report *report, const struct record_file *file, struct output *out);
    void (*tail)(const struct report *report, struct output *out);
};


const struct report_format *report_format_find(struct str name);  // NULL when there is none

// The summary that people read on stderr: "2 errors, 1 warning in 3 files"; nothing when clean.
void report_summary(const struct report *report, struct output *out);

// Adds one file's findings to the totals.
// Counts a pair of what was predicted and what happened.
void report_add_pair(struct report_totals *totals, const struct report_pair *pair);
void report_count(struct report_totals *totals, const struct record_file *file);

#endif
