// The launch as it should have been written, for `help` lines: the user's own text with one part put
// right.
#ifndef PTXVET_ANALYZER_LAUNCH_REWRITE_H
#define PTXVET_ANALYZER_LAUNCH_REWRITE_H

#include "analyzer/launch/launch.h"

// "128", "(32, 4)", "(8, 8, 2)".
struct str rewrite_dimensions(struct arena *arena, const uint64_t n[3]);

struct str rewrite_grid(struct arena *arena, const struct launch *launch, const uint64_t grid[3]);
struct str rewrite_block(struct arena *arena, const struct launch *launch, const uint64_t block[3]);
struct str rewrite_shared(struct arena *arena, const struct launch *launch, uint64_t bytes);
struct str rewrite_kernel(struct arena *arena, const struct launch *launch, struct str name);

// The text with `span` replaced.
struct str rewrite_span(struct arena *arena, const struct launch *launch, struct span span,
                        struct str by);

// The text with ", more" put in front of the arguments' closing parenthesis.
struct str rewrite_arguments_more(struct arena *arena, const struct launch *launch, struct str more);

// The text with a word of the tail set: its span replaced where it stands (span not empty), else
// added at the end.
struct str rewrite_tail(struct arena *arena, const struct launch *launch, struct span span,
                        struct str word);

#endif
