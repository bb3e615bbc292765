#include "base/source.h"

void source_init(struct source *source, struct arena *arena, struct str path, const char *text,
                 uint32_t size) {
    *source = (struct source){.path = path, .text = text, .size = size, .arena = arena};
}

static uint32_t count_lines(const struct source *source) {
    uint32_t lines = 1;
    const char *at = source->text, *end = at + source->size;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        lines++;
        at++;
    }
    return lines;
}

static void index_lines(struct source *source) {
    source->line_count = count_lines(source);
    source->line_starts = arena_array(source->arena, uint32_t, source->line_count);
    const char *at = source->text, *end = at + source->size;
    for (uint32_t line = 1; line < source->line_count; line++) {
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
        source->line_starts[line] = (uint32_t)(at - source->text);
    }
}

struct position source_position(struct source *source, uint32_t offset) {
    if (source->line_starts == NULL) index_lines(source);
    if (offset > source->size) offset = source->size;
    uint32_t low = 0, high = source->line_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (source->line_starts[middle] <= offset) low = middle;
        else high = middle;
    }
    return (struct position){source->line_base + low + 1, offset - source->line_starts[low] + 1};
}

struct str source_line(struct source *source, uint32_t line) {
    if (source->line_starts == NULL) index_lines(source);
    line = line > source->line_base ? line - source->line_base : 0;
    if (line == 0 || line > source->line_count) return (struct str){NULL, 0};
    uint32_t begin = source->line_starts[line - 1];
    uint32_t end = line == source->line_count ? source->size : source->line_starts[line] - 1;
    if (end > begin && source->text[end - 1] == '\r') end--;
    return source_text(source, (struct span){begin, end});
}
