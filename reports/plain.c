#include "reports/plain.h"

static bool is_steering(uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x200e || code == 0x200f ||
           (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
           code == 0x2028 || code == 0x2029 || code == 0xfeff;
}

// Ranges of East Asian wide and of combining code points, coarse: Unicode's EastAsianWidth.txt and
// general categories Mn and Me, in the blocks that occur in source text.
static uint8_t glyph_width(uint32_t code) {
    static const struct { uint32_t first, last; uint8_t width; } ranges[] = {
        {0x0300, 0x036f, 0}, {0x0483, 0x0489, 0}, {0x0591, 0x05bd, 0}, {0x064b, 0x065f, 0},
        {0x1100, 0x115f, 2}, {0x1ab0, 0x1aff, 0}, {0x1dc0, 0x1dff, 0}, {0x200b, 0x200d, 0},
        {0x20d0, 0x20ff, 0}, {0x2e80, 0x303e, 2}, {0x3041, 0xa4cf, 2}, {0xa960, 0xa97c, 2},
        {0xac00, 0xd7a3, 2}, {0xf900, 0xfaff, 2}, {0xfe00, 0xfe0f, 0}, {0xfe20, 0xfe2f, 0},
        {0xfe30, 0xfe6f, 2}, {0xff00, 0xff60, 2}, {0xffe0, 0xffe6, 2}, {0x1f300, 0x1f64f, 2},
        {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2}};
    if (code < 0x300) return 1;
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (code >= ranges[i].first && code <= ranges[i].last) return ranges[i].width;
    return 1;
}

static uint32_t sequence_length(unsigned char lead) {
    if (lead < 0x80) return 1;
    if (lead >= 0xc2 && lead < 0xe0) return 2;
    if (lead >= 0xe0 && lead < 0xf0) return 3;
    if (lead >= 0xf0 && lead < 0xf5) return 4;
    return 0;
}

static bool decode(const unsigned char *at, uint32_t length, uint32_t *code) {
    static const uint8_t masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    *code = at[0] & masks[length];
    for (uint32_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) return false;
        *code = *code << 6 | (at[i] & 0x3f);
    }
    return *code >= least[length] && *code <= 0x10ffff && !(*code >= 0xd800 && *code < 0xe000);
}

struct glyph glyph_at(const char *text, uint32_t size) {
    const unsigned char *at = (const unsigned char *)text;
    uint32_t length = sequence_length(at[0]), code;
    if (length == 0 || length > size || !decode(at, length, &code))
        return (struct glyph){0xfffd, 1, 1, false, false};
    if (code == '\t') return (struct glyph){code, 1, 1, true, true};
    bool steering = is_steering(code);
    return (struct glyph){code, (uint8_t)length, steering ? 1 : glyph_width(code), true, !steering};
}

static void safe_text(struct output *out, struct str text, bool one_line) {
    uint32_t begin = 0;  // of the run that is copied as it stands
    for (uint32_t i = 0; i < text.len;) {
        unsigned char byte = (unsigned char)text.data[i];
        bool space = byte == '\n' || byte == '\t';
        if ((byte >= 0x20 && byte < 0x7f) || (space && !one_line)) {
            i++;
            continue;
        }
        struct glyph glyph = glyph_at(text.data + i, text.len - i);
        if (glyph.shown && !space) {
            i += glyph.bytes;
            continue;
        }
        output_bytes(out, text.data + begin, i - begin);
        output_text(out, space ? " " : "\xef\xbf\xbd");
        i += glyph.bytes;
        begin = i;
    }
    output_bytes(out, text.data + begin, text.len - begin);
}

void plain_text(struct output *out, struct str text) { safe_text(out, text, false); }
void plain_line(struct output *out, struct str text) { safe_text(out, text, true); }

struct region finding_region(const struct finding *finding) {
    struct source *source = finding->place.source;
    if (source == NULL) return (struct region){.known = false};
    struct span span = finding->place.span;
    struct region region = {.known = true, .path = source->path};
    region.begin = source_position(source, span.begin);
    region.end = region.begin;
    if (span.end > span.begin) {
        region.end = source_position(source, span.end - 1);
        region.end.column++;
    }
    return region;
}

void plain_prediction(struct output *out, const struct prediction *prediction) {
    if (prediction->result == RESULT_HANG) {
        output_text(out, "the kernel never ends (hang)");
        return;
    }
    if (prediction->result == RESULT_CRASH) {
        output_format(out, "%s crashes the program", phase_call((enum phase)prediction->phase));
        return;
    }
    const char *name = result_text(prediction->result);
    if (name == NULL) output_format(out, "CUresult %d", prediction->result);
    else output_format(out, "%s (%d)", name, prediction->result);
    output_format(out, " from %s", phase_call((enum phase)prediction->phase));
}

void plain_count(struct output *out, uint64_t n, const char *noun) {
    output_format(out, "%llu %s%s", (unsigned long long)n, noun, n == 1 ? "" : "s");
}

void visit_findings(const struct record_file *file, finding_visitor *each, void *context) {
    if (file->findings != NULL)
        for (uint32_t i = 0; i < file->findings->list.n; i++)
            each(context, file->findings->list.at[i]);
    for (uint32_t l = 0; l < file->launches.n; l++) {
        const struct findings *findings = file->launches.at[l].findings;
        for (uint32_t i = 0; findings != NULL && i < findings->list.n; i++)
            each(context, findings->list.at[i]);
    }
}

struct region finding_file_region(const struct finding *finding, const struct record_file *file) {
    struct finding as_finding = *finding;
    for (uint32_t i = 0; i < finding->labels.n && as_finding.place.source != file->source; i++)
        if (finding->labels.at[i].place.source == file->source)
            as_finding.place = finding->labels.at[i].place;
    if (file->source != NULL && as_finding.place.source == file->source)
        return finding_region(&as_finding);
    return (struct region){.known = true, .path = file->path, .begin = {1, 1}, .end = {1, 1}};
}

// Takes `.` and `..` out of an absolute path, by its text alone.
static struct str normal_path(struct arena *arena, struct str path) {
    char *out = arena_alloc(arena, (size_t)path.len + 2, 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < path.len;) {
        while (i < path.len && path.data[i] == '/') i++;
        uint32_t begin = i;
        while (i < path.len && path.data[i] != '/') i++;
        struct str part = {path.data + begin, i - begin};
        if (part.len == 0 || str_eq(part, STR("."))) continue;
        if (str_eq(part, STR(".."))) {
            while (n > 0 && out[--n] != '/') continue;
            continue;
        }
        out[n++] = '/';
        memcpy(out + n, part.data, part.len);
        n += part.len;
    }
    if (n == 0) out[n++] = '/';
    out[n] = '\0';
    return (struct str){out, n};
}

struct str repository_path(struct arena *arena, const struct report *report, struct str path) {
    if (report->folder.len == 0) return path;
    struct str absolute = path;
    if (path.len == 0 || path.data[0] != '/')
        absolute = str_format(arena, "%.*s/%.*s", STR_ARG(report->folder), STR_ARG(path));
    absolute = normal_path(arena, absolute);
    struct str root = report->root;
    if (root.len > 1 && str_starts(absolute, root) && absolute.len > root.len + 1 &&
        absolute.data[root.len] == '/')
        return (struct str){absolute.data + root.len + 1, absolute.len - root.len - 1};
    return absolute;
}

void plain_full_message(struct output *out, const struct finding *finding) {
    plain_line(out, finding->message);
    if (predicts_failure(finding)) {
        output_text(out, "\npredicts ");
        plain_prediction(out, &finding->predicts);
    }
    for (uint32_t i = 0; i < finding->notes.n; i++) {
        output_text(out, "\nnote: ");
        plain_line(out, finding->notes.at[i]);
    }
    if (finding->help.len != 0) {
        output_text(out, "\nhelp: ");
        plain_line(out, finding->help);
    }
}
