// A text under judgement: a PTX file, a launch expression, a manifest line.
#ifndef PTXVET_BASE_SOURCE_H
#define PTXVET_BASE_SOURCE_H

#include "base/str.h"

// Byte offsets into one source; `end` is exclusive.
struct span {
    uint32_t begin, end;
};

// Where something is written: 1-based; the column counts bytes.
struct position {
    uint32_t line, column;
};

// The text is `size` bytes followed by one NUL (the lexer's sentinel). It is owned by whoever made
// it and outlives all that was read from it. Sizes are below 4 GiB.
struct source {
    struct str path;  // as messages print it: a file's path, "launch", "-"
    const char *text;
    uint32_t size;
    struct arena *arena;    // for the line index; NULL until someone asks
    uint32_t *line_starts;  // built on the first call of source_position
    uint32_t line_count;
    uint32_t line_base;     // lines of the file before this text, when it was cut out of one
};

void source_init(struct source *source, struct arena *arena, struct str path, const char *text,
                 uint32_t size);

// Builds the line index on its first call (linear), then log(lines). An offset past the end is the end.
struct position source_position(struct source *source, uint32_t offset);

// The text of a 1-based line, without its line end. A line past the last is empty.
struct str source_line(struct source *source, uint32_t line);

static inline struct str source_text(const struct source *source, struct span span) {
    return (struct str){source->text + span.begin, span.end - span.begin};
}

// A span in some source; `source` NULL means that there is no place.
struct place {
    struct source *source;
    struct span span;
};

#endif
