// Findings to bytes. One file per format; each sees findings, source text and the plain records
// below, and nothing of parser or analyzer.
#ifndef PTXVET_REPORTS_REPORT_H
#define PTXVET_REPORTS_REPORT_H

#include "base/output.h"
#include "findings/findings.h"

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
    bool read;
};

struct record_occupancy_point { uint32_t block, blocks_per_sm, warps_per_sm; };

struct record_kernel {
    struct str name, linkage, launch, c_call, demangled;
    uint32_t line;
    VEC_OF(struct record_param) params;
    uint64_t param_bytes;
    bool has_maxntid, has_reqntid, has_cluster;
    uint64_t maxntid[3], reqntid[3], cluster[3];
    struct known_u64 minnctapersm, maxnreg, dynamic_align, const_bytes, local_bytes;
    uint64_t shared_static;
    bool shared_dynamic;
    VEC_OF(struct str) remarks;      // "16 from gptq.json", hints for people; text and HTML only
    VEC_OF(struct record_occupancy_point) occupancy;
};

struct record_module {
    struct str ptx_version, target, generator, minimum_driver;  // empty: null
    struct known_u64 address_size;
};

struct record_memory {
    struct str param, name;          // param: index as text, or "shared"
    bool read, written;
    uint64_t read_low, read_high, written_low, written_high;
    struct known_u64 size_needed, align_needed;
};

struct record_launch {
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
    VEC_OF(struct record_memory) memory;
    bool has_coverage, complete;
    uint64_t blocks, blocks_run, unknown_addresses;
    bool has_actual, agrees;
    uint8_t actual_phase;
    int actual_result;
};

struct record_file {
    struct str path;
    struct source *source;           // NULL when it could not be read
    struct record_module *module;    // NULL: null in JSON
    VEC_OF(struct record_kernel) kernels;
    VEC_OF(struct record_launch) launches;
    struct findings *findings;       // of check and info; NULL when none
    struct str failure;              // operational: could not be read, limit; empty when fine
};

enum report_command { REPORT_CHECK, REPORT_INFO, REPORT_LAUNCH, REPORT_RUN };

struct report {
    uint8_t command;                 // enum report_command
    struct str tool_version;
    VEC_OF(struct record_file) files;
    uint32_t errors, warnings, notes;
    uint32_t dropped;                // findings past the limit
};

struct report_style {
    bool colour;
    bool quiet;
    uint32_t width;                  // of the terminal, columns; 0: not a terminal
};

// Writes one whole document.
typedef void report_writer(const struct report *report, const struct report_style *style,
                           struct output *output);

struct report_format {
    const char *name;   // as in --format
    report_writer *write;
    bool machine;       // stdout holds exactly one document
};

extern const struct report_format report_formats[];  // ends with name NULL
const struct report_format *report_format_find(struct str name);  // NULL when there is none

#endif
