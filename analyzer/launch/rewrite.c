#include "analyzer/launch/rewrite.h"

#define U64(n) (unsigned long long)(n)

struct str rewrite_dimensions(struct arena *arena, const uint64_t n[3]) {
    if (n[2] != 1) return str_format(arena, "(%llu, %llu, %llu)", U64(n[0]), U64(n[1]), U64(n[2]));
    if (n[1] != 1) return str_format(arena, "(%llu, %llu)", U64(n[0]), U64(n[1]));
    return str_format(arena, "%llu", U64(n[0]));
}

// Without blanks and a semicolon behind.
static struct str whole(const struct launch *launch) {
    struct str text = {launch->source->text, launch->source->size};
    while (text.len > 0 && strchr(" \t\r\n;", text.data[text.len - 1]) != NULL) text.len--;
    while (text.len > 0 && strchr(" \t\r\n", text.data[0]) != NULL) {
        text.data++;
        text.len--;
    }
    return text;
}

struct str rewrite_span(struct arena *arena, const struct launch *launch, struct span span,
                        struct str by) {
    struct str text = whole(launch);
    uint32_t skipped = (uint32_t)(text.data - launch->source->text), end = skipped + text.len;
    struct str before = {text.data, span.begin > skipped ? span.begin - skipped : 0};
    struct str after = {launch->source->text + span.end, span.end < end ? end - span.end : 0};
    return str_format(arena, "%.*s%.*s%.*s", STR_ARG(before), STR_ARG(by), STR_ARG(after));
}

struct str rewrite_kernel(struct arena *arena, const struct launch *launch, struct str name) {
    return rewrite_span(arena, launch, launch->kernel_span, name);
}

struct str rewrite_grid(struct arena *arena, const struct launch *launch, const uint64_t grid[3]) {
    return rewrite_span(arena, launch, launch->grid_span, rewrite_dimensions(arena, grid));
}

static struct span behind(struct span span) { return (struct span){span.end, span.end}; }

struct str rewrite_block(struct arena *arena, const struct launch *launch, const uint64_t block[3]) {
    struct str text = rewrite_dimensions(arena, block);
    if (launch->has_block) return rewrite_span(arena, launch, launch->block_span, text);
    return rewrite_span(arena, launch, behind(launch->grid_span),
                        str_format(arena, ", %.*s", STR_ARG(text)));
}

struct str rewrite_shared(struct arena *arena, const struct launch *launch, uint64_t bytes) {
    struct str text = str_format(arena, "%llu", U64(bytes));
    if (launch->has_shared) return rewrite_span(arena, launch, launch->shared_span, text);
    struct span at = behind(launch->has_block ? launch->block_span : launch->grid_span);
    return rewrite_span(arena, launch, at, str_format(arena, ", %.*s", STR_ARG(text)));
}

struct str rewrite_arguments_more(struct arena *arena, const struct launch *launch, struct str more) {
    uint32_t close = launch->arguments_span.end - 1;
    const char *comma = launch->arguments.n > 0 ? ", " : "";
    if (launch->arguments.n > 0) {  // a trailing comma is there already
        uint32_t last = launch->arguments.at[launch->arguments.n - 1].span.end;
        close = last;
    }
    return rewrite_span(arena, launch, (struct span){close, launch->arguments_span.end - 1},
                        str_format(arena, "%s%.*s", comma, STR_ARG(more)));
}

struct str rewrite_tail(struct arena *arena, const struct launch *launch, struct span span,
                        struct str word) {
    if (span.end > span.begin) return rewrite_span(arena, launch, span, word);
    struct str text = whole(launch);
    return str_format(arena, "%.*s %.*s", STR_ARG(text), STR_ARG(word));
}
