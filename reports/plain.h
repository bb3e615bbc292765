// What several formats share: text made safe for its reader, places, predictions in words.
#ifndef PTXVET_REPORTS_PLAIN_H
#define PTXVET_REPORTS_PLAIN_H

#include "reports/report.h"

// One code point of UTF-8. What is no UTF-8 is U+FFFD, a byte at a time.
struct glyph {
    uint32_t code;
    uint8_t bytes;  // how many bytes it took, at least 1
    uint8_t width;  // columns on a terminal: 0, 1 or 2; a tab says 1
    bool valid;     // is UTF-8
    bool shown;     // may be printed: valid, and would not steer a terminal or reorder a line
};

struct glyph glyph_at(const char *text, uint32_t size);

// Copies text with what must not be shown replaced by U+FFFD. Newlines and tabs pass.
void plain_text(struct output *out, struct str text);

// The same for a place where only one line may stand: newlines and tabs become blanks.
void plain_line(struct output *out, struct str text);

struct region {
    bool known;
    struct position begin, end;  // end is exclusive; its line is the line of its last byte
    struct str path;
};

struct region finding_region(const struct finding *finding);

// Where a finding stands in a file that a repository holds: its primary place, or, when that is in
// a launch given on the command line, its first place in the file. Line 1 when there is none.
struct region finding_file_region(const struct finding *finding, const struct record_file *file);

// A path as seen from report->root, with `/` and no `.` or `..`; one outside it stays absolute.
struct str repository_path(struct arena *arena, const struct report *report, struct str path);

// The message, then `help` and notes, each on its own line.
void plain_full_message(struct output *out, const struct finding *finding);

// "CUDA_ERROR_INVALID_VALUE (1) from cuLaunchKernel"; our own results in words.
void plain_prediction(struct output *out, const struct prediction *prediction);

// "1 error", "2 errors".
void plain_count(struct output *out, uint64_t n, const char *noun);

// Whether the finding predicts a failure.
static inline bool predicts_failure(const struct finding *finding) {
    return finding->predicts.phase != PHASE_NONE && finding->predicts.result != RESULT_CUDA_SUCCESS;
}

// Calls `each` for every finding of the file: its own, and those of its launches.
typedef void finding_visitor(void *context, const struct finding *finding);
void visit_findings(const struct record_file *file, finding_visitor *each, void *context);

#endif
