#include "reports/excerpt.h"

enum { MARKS_MOST = 16, WIDTH_UNKNOWN = 140, WIDTH_LEAST = 40, TAB_COLUMNS = 8 };

void ink(struct output *out, const struct report_style *style, enum ink which) {
    static const char *const codes[] = {"\033[0m",    "\033[1;31m", "\033[1;33m", "\033[1;36m",
                                        "\033[1;34m", "\033[1;32m", "\033[1m"};
    if (style->colour) output_text(out, codes[which]);
}

enum ink severity_ink(uint8_t severity) {
    return severity == SEVERITY_ERROR ? INK_ERROR
           : severity == SEVERITY_WARNING ? INK_WARNING : INK_NOTE;
}

// One place on one line.
struct mark {
    struct source *source;
    uint32_t line, begin, end;  // bytes within the line, from 0; end is exclusive
    bool primary, goes_on;      // goes_on: the span ends on a later line
    struct str caption;
};

static struct mark make_mark(struct place place, struct str caption, bool primary) {
    struct position begin = source_position(place.source, place.span.begin);
    struct str line = source_line(place.source, begin.line);
    struct mark mark = {.source = place.source, .line = begin.line, .begin = begin.column - 1,
                        .primary = primary, .caption = caption};
    uint32_t length = place.span.end > place.span.begin ? place.span.end - place.span.begin : 0;
    mark.goes_on = mark.begin + length > line.len + 1;
    mark.end = mark.goes_on ? line.len : mark.begin + length;
    if (mark.begin > line.len) mark.begin = line.len;
    if (mark.end <= mark.begin) mark.end = mark.begin + 1;  // an empty span: one caret
    return mark;
}

static uint32_t collect(const struct finding *finding, struct mark *marks) {
    uint32_t n = 0;
    if (finding->place.source != NULL) marks[n++] = make_mark(finding->place, finding->caption, true);
    for (uint32_t i = 0; i < finding->labels.n && n < MARKS_MOST; i++)
        if (finding->labels.at[i].place.source != NULL)
            marks[n++] = make_mark(finding->labels.at[i].place, finding->labels.at[i].text, false);
    return n;
}

static uint32_t digits(uint32_t n) {
    uint32_t count = 1;
    while (n >= 10) {
        n /= 10;
        count++;
    }
    return count;
}

uint32_t excerpt_gutter(const struct finding *finding) {
    struct mark marks[MARKS_MOST];
    uint32_t n = collect(finding, marks), widest = 1;
    for (uint32_t i = 0; i < n; i++)
        if (digits(marks[i].line) > widest) widest = digits(marks[i].line);
    return widest;
}

struct canvas {
    struct output *out;
    const struct report_style *style;
    uint8_t severity;
    uint32_t gutter;
};

static void margin(const struct canvas *canvas, uint32_t line) {
    ink(canvas->out, canvas->style, INK_FRAME);
    if (line == 0) output_repeat(canvas->out, ' ', canvas->gutter + 1);
    else output_format(canvas->out, "%*u ", (int)canvas->gutter, line);
    output_byte(canvas->out, '|');
    ink(canvas->out, canvas->style, INK_PLAIN);
}

// The part of a line that fits, so that the span is in it.
struct view {
    struct str text;
    uint32_t begin, end;  // bytes of the line that are shown
    bool cut_left, cut_right;
};

static uint32_t columns_of(struct str line, uint32_t begin, uint32_t end) {
    uint32_t columns = 0;
    for (uint32_t i = begin; i < end;) {
        struct glyph glyph = glyph_at(line.data + i, line.len - i);
        columns += glyph.code == '\t' ? TAB_COLUMNS : glyph.width;
        i += glyph.bytes;
    }
    return columns;
}

static uint32_t forward(struct str line, uint32_t from, uint32_t columns) {
    uint32_t at = from, used = 0;
    while (at < line.len) {
        struct glyph glyph = glyph_at(line.data + at, line.len - at);
        used += glyph.code == '\t' ? TAB_COLUMNS : glyph.width;
        if (used > columns) break;
        at += glyph.bytes;
    }
    return at;
}

// The begin of a code point at or before `at`.
static uint32_t boundary(struct str line, uint32_t at) {
    uint32_t back = 0;
    while (at > 0 && back++ < 3 && ((unsigned char)line.data[at] & 0xc0) == 0x80) at--;
    return at;
}

static struct view view_of(struct str line, uint32_t mark_begin, uint32_t room) {
    struct view view = {.text = line};
    // Lines of megabytes occur: nothing here may walk more than what is shown.
    bool fits = line.len <= room || (line.len <= 4 * room && columns_of(line, 0, line.len) <= room);
    if (!fits && mark_begin > room / 2) {
        uint32_t left = mark_begin - (room / 3 < mark_begin ? room / 3 : mark_begin);
        view.begin = boundary(line, left);
        view.cut_left = view.begin != 0;
    }
    view.end = fits ? line.len : forward(line, view.begin, room);
    view.cut_right = view.end < line.len;
    return view;
}

static void draw_text(struct output *out, const struct view *view) {
    if (view->cut_left) output_text(out, "...");
    for (uint32_t i = view->begin; i < view->end;) {
        struct glyph glyph = glyph_at(view->text.data + i, view->text.len - i);
        if (glyph.shown) output_bytes(out, view->text.data + i, glyph.bytes);
        else output_text(out, "\xef\xbf\xbd");
        i += glyph.bytes;
    }
    if (view->cut_right) output_text(out, "...");
}

static void draw_carets(const struct canvas *canvas, const struct view *view,
                        const struct mark *mark) {
    struct output *out = canvas->out;
    uint32_t end = mark->end < view->end ? mark->end : view->end;
    margin(canvas, 0);
    output_byte(out, ' ');
    if (view->cut_left) output_text(out, "   ");
    uint32_t i = view->begin;
    while (i < mark->begin && i < view->end) {
        struct glyph glyph = glyph_at(view->text.data + i, view->text.len - i);
        if (glyph.code == '\t') output_byte(out, '\t');
        else output_repeat(out, ' ', glyph.width);
        i += glyph.bytes;
    }
    ink(out, canvas->style, mark->primary ? severity_ink(canvas->severity) : INK_FRAME);
    uint32_t columns = i < end ? columns_of(view->text, i, end) : 0;
    output_repeat(out, mark->primary ? '^' : '-', columns == 0 ? 1 : columns);
    if (mark->goes_on) output_text(out, "...");
    if (mark->caption.len != 0) {
        output_byte(out, ' ');
        plain_line(out, mark->caption);
    }
    ink(out, canvas->style, INK_PLAIN);
    output_byte(out, '\n');
}

static void draw_line(const struct canvas *canvas, const struct mark *marks, uint32_t n) {
    uint32_t first = marks[0].begin;
    for (uint32_t i = 1; i < n; i++)
        if (marks[i].begin < first && marks[0].begin - marks[i].begin < 40) first = marks[i].begin;
    uint32_t width = canvas->style->width == 0 ? WIDTH_UNKNOWN : canvas->style->width;
    uint32_t used = canvas->gutter + 10;
    uint32_t room = width > used + WIDTH_LEAST ? width - used : WIDTH_LEAST;
    struct view view = view_of(source_line(marks[0].source, marks[0].line), first, room);
    margin(canvas, marks[0].line);
    if (view.text.len != 0) output_byte(canvas->out, ' ');
    draw_text(canvas->out, &view);
    output_byte(canvas->out, '\n');
    for (uint32_t i = 0; i < n; i++) draw_carets(canvas, &view, &marks[i]);
}

static void draw_place(const struct canvas *canvas, const struct mark *mark, const char *arrow,
                       struct str origin) {
    output_repeat(canvas->out, ' ', canvas->gutter);
    ink(canvas->out, canvas->style, INK_FRAME);
    output_text(canvas->out, arrow);
    ink(canvas->out, canvas->style, INK_PLAIN);
    output_byte(canvas->out, ' ');
    plain_line(canvas->out, mark->source->path);
    output_format(canvas->out, ":%u:%u", mark->line, mark->begin + 1);
    if (origin.len != 0) {
        output_text(canvas->out, " (from ");
        plain_line(canvas->out, origin);
        output_byte(canvas->out, ')');
    }
    output_byte(canvas->out, '\n');
    margin(canvas, 0);
    output_byte(canvas->out, '\n');
}

// Insertion sort by line: there are at most MARKS_MOST. The primary mark stays before others of its line.
static void sort_by_line(struct mark *marks, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) {
        struct mark mark = marks[i];
        uint32_t at = i;
        while (at > 0 && marks[at - 1].line > mark.line) {
            marks[at] = marks[at - 1];
            at--;
        }
        marks[at] = mark;
    }
}

static void draw_source(const struct canvas *canvas, struct mark *marks, uint32_t n,
                        const char *arrow, struct str origin) {
    draw_place(canvas, &marks[0], arrow, origin);
    sort_by_line(marks, n);
    for (uint32_t i = 0, next; i < n; i = next) {
        next = i + 1;
        while (next < n && marks[next].line == marks[i].line) next++;
        if (i > 0 && marks[i].line > marks[i - 1].line + 1) {
            ink(canvas->out, canvas->style, INK_FRAME);
            output_text(canvas->out, "...\n");
            ink(canvas->out, canvas->style, INK_PLAIN);
        }
        draw_line(canvas, marks + i, next - i);
    }
}

void excerpt(struct output *out, const struct report_style *style, const struct finding *finding) {
    struct mark marks[MARKS_MOST], group[MARKS_MOST];
    struct canvas canvas = {out, style, finding->severity, excerpt_gutter(finding)};
    uint32_t n = collect(finding, marks);
    for (uint32_t first = 0; first < n; first++) {
        if (marks[first].source == NULL) continue;
        struct source *source = marks[first].source;
        uint32_t in_group = 0;
        for (uint32_t i = first; i < n; i++) {
            if (marks[i].source != source) continue;
            group[in_group++] = marks[i];
            marks[i].source = NULL;  // drawn
        }
        draw_source(&canvas, group, in_group, first == 0 ? "-->" : ":::",
                    first == 0 ? finding->origin : (struct str){NULL, 0});
    }
}
