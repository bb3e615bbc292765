// Where reports go: standard output, and the files of -o. A file is written under another name and
// takes its own when it is whole.
#ifndef PTXVET_CLI_SINKS_H
#define PTXVET_CLI_SINKS_H

#include "cli/options.h"
#include "cli/whole_file.h"
#include "reports/report.h"

enum { SINKS_MOST = 16 };

struct sink {
    const struct report_format *format;
    bool is_file;             // of -o; else standard output
    struct whole_file file;
    int trouble;              // errno of the first failed write; nothing is written after it
    bool any_piece;
    uint32_t records;         // written so far, where the format has a limit
    struct output held;       // head_last: pieces wait for the head
    struct report_style style;
};

struct sinks {
    struct arena *arena;
    uint32_t count;
    struct sink at[SINKS_MOST];
};

// Opens what --format and -o name. False, after a complaint: exit 2.
bool sinks_open(struct sinks *sinks, struct arena *arena, const struct options *options);

void sinks_head(struct sinks *sinks, const struct report *report);
void sink_piece(struct sink *sink, const char *data, size_t size);

// Writes tails and gives files their names. False, after a complaint, when something could not be
// written; then no half of it stands anywhere.
bool sinks_finish(struct sinks *sinks, const struct report *report);

// Takes unfinished files away.
void sinks_abandon(struct sinks *sinks);

#endif
