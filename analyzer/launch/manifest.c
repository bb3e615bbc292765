#include "analyzer/launch/manifest.h"

#include "base/file.h"

struct reading {
    struct manifest *manifest;
    struct arena *arena;
    struct findings *findings;
    uint32_t given;            // names of the command line: the first ones
    VEC_OF(struct { struct str name; uint32_t line; }) lets;
    const struct gpu *gpu;     // in force
    struct str gpu_text;
    uint32_t line;
};

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static struct span trim(const char *text, struct span span) {
    while (span.begin < span.end && is_blank(text[span.begin])) span.begin++;
    while (span.end > span.begin && is_blank(text[span.end - 1])) span.end--;
    return span;
}

// A `#` outside quotes ends the line: it begins no token of a launch.
static struct span without_comment(const char *text, struct span span) {
    bool quoted = false;
    for (uint32_t i = span.begin; i < span.end; i++) {
        if (text[i] == '"') quoted = !quoted;
        if (text[i] == '#' && !quoted) span.end = i;
    }
    return span;
}

// Blanks up to the span, so that its columns are those of the file's line.
static struct source *cut_out(struct source *file, struct span span, uint32_t line,
                              struct arena *arena) {
    uint32_t begin = span.begin;
    while (begin > 0 && file->text[begin - 1] != '\n') begin--;
    uint32_t size = span.end - begin, before = span.begin - begin;
    char *text = arena_alloc(arena, (size_t)size + 1, 1);
    for (uint32_t i = 0; i < before; i++) text[i] = file->text[begin + i] == '\t' ? '\t' : ' ';
    memcpy(text + before, file->text + span.begin, size - before);
    text[size] = 0;
    struct source *source = arena_new(arena, struct source);
    source_init(source, arena, file->path, text, size);
    source->line_base = line - 1;
    return source;
}

static struct finding *report(struct reading *reading, enum rule rule, struct span span) {
    return finding_add(reading->findings, rule, (struct place){reading->manifest->source, span});
}

static void report_syntax(struct reading *reading, struct span span, const char *found) {
    struct finding *finding = report(reading, RULE_MANIFEST_SYNTAX, span);
    finding_message(reading->findings, finding, "%s", found);
    finding_help(reading->findings, finding,
                 "a line is `FILE.ptx: LAUNCH`, `let NAME = NUMBER`, `gpu = NAME` or `# comment`");
}

// --- let NAME = EXPRESSION -----------------------------------------------------------------------

static struct span first_word(const char *text, struct span span) {
    struct span word = {span.begin, span.begin};
    while (word.end < span.end && is_name_char(text[word.end])) word.end++;
    return word;
}

static bool is_given(const struct reading *reading, struct str name) {
    for (uint32_t i = 0; i < reading->given; i++)
        if (str_eq(reading->manifest->names.list.at[i].name, name)) return true;
    return false;
}

static bool is_repeated(struct reading *reading, struct str name, struct span span) {
    for (uint32_t i = 0; i < reading->lets.n; i++) {
        if (!str_eq(reading->lets.at[i].name, name)) continue;
        struct finding *finding = report(reading, RULE_MANIFEST_NAME, span);
        finding_message(reading->findings, finding, "`%.*s` was given a value on line %u already",
                        STR_ARG(name), reading->lets.at[i].line);
        finding_help(reading->findings, finding, "use another name for another value");
        return true;
    }
    return false;
}

// Names of one manifest are few; more are refused rather than searched one by one.
#define MOST_NAMES 1000

static void read_let(struct reading *reading, struct span definition) {
    struct source *file = reading->manifest->source;
    struct span name_span = first_word(file->text, definition);
    struct str name = source_text(file, name_span);
    if (name.len == 0) {
        report_syntax(reading, definition, "`let` needs a name: `let N = 4096`");
        return;
    }
    if (is_given(reading, name) || is_repeated(reading, name, name_span)) return;
    if (reading->lets.n >= MOST_NAMES) {
        report_syntax(reading, name_span, "a manifest has at most 1000 names");
        return;
    }
    struct source *source = cut_out(file, definition, reading->line, reading->arena);
    if (!launch_define(source, reading->arena, &reading->manifest->names, reading->findings)) return;
    *vec_push(reading->arena, &reading->lets) =
        (__typeof__(reading->lets.at[0])){name, reading->line};
}

// --- gpu = NAME ----------------------------------------------------------------------------------

static void read_gpu(struct reading *reading, struct span name) {
    struct str text = source_text(reading->manifest->source, name);
    const struct gpu *gpu = isa_gpu_find(text);
    if (gpu == NULL) {
        struct finding *finding = report(reading, RULE_MANIFEST_GPU, name);
        const struct gpu *nearest = isa_gpu_nearest(text);
        finding_message(reading->findings, finding, "unknown GPU `%.*s`", STR_ARG(text));
        if (nearest != NULL)
            finding_help(reading->findings, finding, "did you mean `%.*s`? `ptxvet gpus` lists all",
                         STR_ARG(nearest->name));
        else
            finding_help(reading->findings, finding, "`ptxvet gpus` lists all names");
    }
    reading->gpu = gpu;
    reading->gpu_text = gpu != NULL ? text : STR("");
}

// --- FILE.ptx: LAUNCH ----------------------------------------------------------------------------

// The colon behind the path: the first one that a blank follows, else the first after `.ptx`.
static uint32_t path_colon(const char *text, struct span line) {
    for (uint32_t i = line.begin; i < line.end; i++) {
        if (text[i] != ':') continue;
        bool after_ptx = i - line.begin >= 4 && memcmp(text + i - 4, ".ptx", 4) == 0;
        if (after_ptx || i + 1 == line.end || is_blank(text[i + 1])) return i;
    }
    return line.end;
}

static struct str resolve(struct reading *reading, struct str path) {
    struct str folder = path_folder(reading->manifest->source->path);
    if (path.data[0] == '/' || folder.len == 0) return str_copy(reading->arena, path);
    return str_format(reading->arena, "%.*s%.*s", STR_ARG(folder), STR_ARG(path));
}

static void add_entry(struct reading *reading, struct str ptx_path, struct span path_span,
                      struct span launch) {
    struct manifest_entry *entry = vec_push(reading->arena, &reading->manifest->entries);
    entry->ptx_path = ptx_path;
    entry->path_span = path_span;
    entry->source = cut_out(reading->manifest->source, launch, reading->line, reading->arena);
    entry->text = source_text(reading->manifest->source, launch);
    entry->line = reading->line;
    entry->gpu = reading->gpu;
    entry->gpu_text = reading->gpu_text;
}

static void read_launch(struct reading *reading, struct span line) {
    const char *text = reading->manifest->source->text;
    uint32_t colon = path_colon(text, line);
    struct span path = trim(text, (struct span){line.begin, colon});
    if (colon == line.end) {
        report_syntax(reading, line, "this line is no launch: no `:` follows a path");
        return;
    }
    if (path.end == path.begin) {
        report_syntax(reading, line, "this line is no launch: nothing stands before the `:`");
        return;
    }
    struct span launch = trim(text, (struct span){colon + 1, line.end});
    if (launch.end == launch.begin) {
        report_syntax(reading, line, "no launch follows the path");
        return;
    }
    add_entry(reading, resolve(reading, source_text(reading->manifest->source, path)), path, launch);
}

// --- lines ---------------------------------------------------------------------------------------

// `WORD =`: the span after the `=`, trimmed.
static bool assigns(const char *text, struct span line, struct str word, struct span *value) {
    struct span found = first_word(text, line);
    if (!str_eq((struct str){text + found.begin, found.end - found.begin}, word)) return false;
    uint32_t at = found.end;
    while (at < line.end && is_blank(text[at])) at++;
    if (at == line.end || text[at] != '=') return false;
    *value = trim(text, (struct span){at + 1, line.end});
    return true;
}

static void read_line(struct reading *reading, struct span line) {
    const char *text = reading->manifest->source->text;
    line = trim(text, without_comment(text, line));
    struct span value;
    if (line.begin == line.end) return;
    if (line.end - line.begin > 4 && memcmp(text + line.begin, "let", 3) == 0 &&
        is_blank(text[line.begin + 3]))
        read_let(reading, trim(text, (struct span){line.begin + 4, line.end}));
    else if (assigns(text, line, STR("gpu"), &value))
        read_gpu(reading, value);
    else
        read_launch(reading, line);
}

static void take_names(struct reading *reading, const struct launch_names *given) {
    for (uint32_t i = 0; given != NULL && i < given->list.n; i++)
        *vec_push(reading->arena, &reading->manifest->names.list) = given->list.at[i];
    reading->given = reading->manifest->names.list.n;
}

bool manifest_is(struct str path) { return str_ends(path, STR(".launch")); }

void manifest_read(struct source *source, const struct launch_names *given, struct arena *arena,
                   struct findings *findings, struct manifest *manifest) {
    memset(manifest, 0, sizeof *manifest);
    manifest->source = source;
    struct reading reading = {.manifest = manifest, .arena = arena, .findings = findings};
    take_names(&reading, given);
    uint32_t begin = 0;
    if (source->size >= 3 && memcmp(source->text, "\xef\xbb\xbf", 3) == 0) begin = 3;
    while (begin < source->size) {
        const char *start = source->text + begin;
        const char *newline = memchr(start, '\n', source->size - begin);
        uint32_t end = newline != NULL ? (uint32_t)(newline - source->text) : source->size;
        reading.line++;
        read_line(&reading, (struct span){begin, end});
        begin = end + 1;
    }
}

// `//`, blanks and the word: only then is it a comment of ours, not a text that mentions one.
static bool begins_comment(const struct source *ptx, uint32_t word) {
    while (word > 0 && (ptx->text[word - 1] == ' ' || ptx->text[word - 1] == '\t')) word--;
    return word >= 2 && ptx->text[word - 1] == '/' && ptx->text[word - 2] == '/';
}

void manifest_read_comments(struct source *ptx, const struct launch_names *given,
                            struct arena *arena, struct manifest *manifest) {
    static const char word[] = "ptxvet-launch:";
    memset(manifest, 0, sizeof *manifest);
    manifest->source = ptx;
    struct reading reading = {.manifest = manifest, .arena = arena};
    take_names(&reading, given);
    const char *at = ptx->text, *end = ptx->text + ptx->size;
    while ((at = memmem(at, (size_t)(end - at), word, sizeof word - 1)) != NULL) {
        uint32_t begin = (uint32_t)(at - ptx->text);
        at += sizeof word - 1;
        if (!begins_comment(ptx, begin)) continue;
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        uint32_t line_end = newline != NULL ? (uint32_t)(newline - ptx->text) : ptx->size;
        struct span launch =
            trim(ptx->text, (struct span){(uint32_t)(at - ptx->text), line_end});
        reading.line = source_position(ptx, begin).line;
        if (launch.end > launch.begin) add_entry(&reading, ptx->path, (struct span){0, 0}, launch);
    }
}

struct finding *manifest_report_file(const struct manifest *manifest,
                                     const struct manifest_entry *entry, const char *why,
                                     struct findings *findings) {
    struct place place = {manifest->source, entry->path_span};
    struct finding *finding = finding_add(findings, RULE_MANIFEST_FILE, place);
    finding_message(findings, finding, "cannot read `%.*s`: %s", STR_ARG(entry->ptx_path), why);
    finding_help(findings, finding, "paths are relative to the folder of the manifest");
    return finding;
}
