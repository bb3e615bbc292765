#include "findings/suppress.h"

enum { PATTERNS_MOST = 16, COMMENTS_MOST = 4096, STATEMENT_LINES = 64 };

struct suppression {
    struct span span;          // of `ptxvet: ignore[...]`
    uint32_t line;             // whose findings it takes out; 0: of all lines
    uint32_t pattern_count;
    struct str patterns[PATTERNS_MOST];
    bool used[PATTERNS_MOST];
    bool malformed;
};

struct suppressions {
    VEC_OF(struct suppression) of_lines;  // by line
    VEC_OF(struct suppression) of_file;
    uint8_t file_takes[RULE_COUNT];       // 0: not asked yet, 1: no, 2: yes
    struct span past_limit;               // the first that does not count any more
};

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// The begin of a comment in front of `at` on the same line, only blanks between; NULL when none.
static const char *comment_before(const char *text, const char *at) {
    while (at > text && is_blank(at[-1])) at--;
    if (at >= text + 2 && at[-1] == '/' && at[-2] == '/') return at - 2;
    if (at >= text + 1 && at[-1] == '#') return at - 1;
    return NULL;
}

static bool alone_on_line(const char *text, const char *comment) {
    while (comment > text && is_blank(comment[-1])) comment--;
    return comment == text || comment[-1] == '\n';
}

// The line that a comment alone on `line` speaks of: the next that is neither blank nor a comment.
static uint32_t next_statement(struct source *source, uint32_t line) {
    for (uint32_t next = line + 1; next <= line + 32; next++) {
        struct str text = source_line(source, next);
        while (text.len != 0 && is_blank(text.data[0])) {
            text.data++;
            text.len--;
        }
        bool comment = str_starts(text, STR("//")) || str_starts(text, STR("#"));
        if (text.len != 0 && !comment) return next;
    }
    return line + 1;
}

static void read_patterns(struct suppression *found, const char *at, const char *end) {
    while (at < end) {
        while (at < end && (is_blank(*at) || *at == ',')) at++;
        const char *begin = at;
        while (at < end && !is_blank(*at) && *at != ',') at++;
        if (at == begin) continue;
        if (found->pattern_count == PATTERNS_MOST) {
            found->malformed = true;
            return;
        }
        found->patterns[found->pattern_count++] = (struct str){begin, (uint32_t)(at - begin)};
    }
    if (found->pattern_count == 0) found->malformed = true;
}

// Reads what stands at `at`, past `ptxvet:`. False: it is something else (`ptxvet-launch`).
static bool read_suppression(struct source *source, const char *mark, const char *comment,
                             struct suppression *found) {
    const char *end = source->text + source->size, *at = mark + 7;
    while (at < end && is_blank(*at)) at++;
    bool of_file = (size_t)(end - at) >= 11 && memcmp(at, "ignore-file", 11) == 0;
    if (!of_file && ((size_t)(end - at) < 6 || memcmp(at, "ignore", 6) != 0)) return false;
    at += of_file ? 11 : 6;
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    if (line_end == NULL) line_end = end;
    const char *close = at < line_end && *at == '[' ? memchr(at, ']', (size_t)(line_end - at)) : NULL;
    *found = (struct suppression){.malformed = close == NULL};
    if (close != NULL) read_patterns(found, at + 1, close);
    const char *last = close != NULL ? close + 1 : at;
    found->span = (struct span){(uint32_t)(mark - source->text), (uint32_t)(last - source->text)};
    if (of_file) return true;
    found->line = source_position(source, found->span.begin).line;
    if (alone_on_line(source->text, comment)) found->line = next_statement(source, found->line);
    return true;
}

static void find_suppressions(struct source *source, struct arena *arena,
                              struct suppressions *all) {
    const char *at = source->text, *end = at + source->size;
    while ((at = memmem(at, (size_t)(end - at), "ptxvet:", 7)) != NULL) {
        struct suppression found;
        const char *comment = comment_before(source->text, at);
        if (comment != NULL && read_suppression(source, at, comment, &found)) {
            if (all->of_lines.n + all->of_file.n == COMMENTS_MOST) {
                all->past_limit = found.span;
                return;
            }
            if (found.line == 0) *vec_push(arena, &all->of_file) = found;
            else *vec_push(arena, &all->of_lines) = found;
        }
        at += 7;
    }
}

static bool takes_out(struct suppression *suppression, enum rule rule) {
    bool any = false;
    for (uint32_t i = 0; i < suppression->pattern_count; i++) {
        if (pattern_matches(suppression->patterns[i], rule) == 0) continue;
        suppression->used[i] = any = true;
    }
    return any;
}

static bool file_takes(struct suppressions *all, enum rule rule) {
    if (all->file_takes[rule] == 0) {
        bool any = false;
        for (uint32_t i = 0; i < all->of_file.n; i++) any |= takes_out(&all->of_file.at[i], rule);
        all->file_takes[rule] = any ? 2 : 1;
    }
    return all->file_takes[rule] == 2;
}

static uint32_t first_of_line(const struct suppressions *all, uint32_t line) {
    uint32_t low = 0, high = all->of_lines.n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (all->of_lines.at[middle].line < line) low = middle + 1;
        else high = middle;
    }
    return low;
}

static bool is_suppressed(struct suppressions *all, struct source *source,
                          const struct finding *finding) {
    if (finding->place.source != source) return false;
    bool suppressed = file_takes(all, (enum rule)finding->rule);
    uint32_t first = source_position(source, finding->place.span.begin).line, last = first;
    if (finding->place.span.end > finding->place.span.begin)
        last = source_position(source, finding->place.span.end - 1).line;
    if (last > first + STATEMENT_LINES) last = first;  // a whole body: its first line speaks for it
    for (uint32_t i = first_of_line(all, first); i < all->of_lines.n; i++) {
        if (all->of_lines.at[i].line > last) break;
        suppressed |= takes_out(&all->of_lines.at[i], (enum rule)finding->rule);
    }
    return suppressed;
}

static bool names_a_rule(struct str pattern) {
    for (int rule = 1; rule < RULE_COUNT; rule++)
        if (pattern_matches(pattern, (enum rule)rule) != 0) return true;
    return false;
}

// Whether a check of the file alone tries every rule that the pattern names: those of launches are
// only tried with a launch.
static bool was_tried(struct str pattern, const struct selection *selection) {
    for (int rule = 1; rule < RULE_COUNT; rule++) {
        if (pattern_matches(pattern, (enum rule)rule) == 0) continue;
        if (selection->off[rule] || rule_infos[rule].number >= 600) return false;
    }
    return true;
}

static void report_one(const struct suppression *one, struct source *source,
                       const struct selection *selection, bool whole, struct findings *findings) {
    struct place place = {source, one->span};
    if (one->malformed) {
        struct finding *finding = finding_add(findings, RULE_SUPPRESSION_UNKNOWN, place);
        finding_message(findings, finding, "this comment names no rules");
        finding_help(findings, finding, "write `// ptxvet: ignore[PTX0905] reason`, at most %d codes",
                     PATTERNS_MOST);
        return;
    }
    for (uint32_t i = 0; i < one->pattern_count; i++) {
        struct str pattern = one->patterns[i];
        if (!names_a_rule(pattern)) {
            struct finding *finding = finding_add(findings, RULE_SUPPRESSION_UNKNOWN, place);
            finding_message(findings, finding, "`%.*s` is no rule's code or name", STR_ARG(pattern));
            finding_help(findings, finding, "`ptxvet rules` lists them");
        } else if (!one->used[i] && whole && was_tried(pattern, selection)) {
            struct finding *finding = finding_add(findings, RULE_SUPPRESSION_UNUSED, place);
            finding_message(findings, finding, "no finding of `%.*s` here to ignore",
                            STR_ARG(pattern));
            finding_help(findings, finding, "remove `%.*s` from the comment", STR_ARG(pattern));
        }
    }
}

static void report_all(const struct suppressions *all, struct source *source,
                       const struct selection *selection, bool whole, struct findings *findings) {
    for (uint32_t i = 0; i < all->of_file.n; i++)
        report_one(&all->of_file.at[i], source, selection, whole, findings);
    for (uint32_t i = 0; i < all->of_lines.n; i++)
        report_one(&all->of_lines.at[i], source, selection, whole, findings);
    if (all->past_limit.end == 0) return;
    struct finding *finding = finding_add(findings, RULE_SUPPRESSION_UNKNOWN,
                                          (struct place){source, all->past_limit});
    finding_message(findings, finding,
                    "more than %d such comments in one file: from here on they do not count",
                    COMMENTS_MOST);
    finding_help(findings, finding, "use ignore-file, or a baseline");
}

uint32_t suppress(struct source *source, const struct selection *selection, bool whole,
                  struct findings *findings) {
    struct suppressions all = {0};
    find_suppressions(source, findings->arena, &all);
    if (all.of_lines.n + all.of_file.n == 0) return 0;
    uint32_t kept = 0, n = findings->list.n;
    for (uint32_t i = 0; i < n; i++)
        if (!is_suppressed(&all, source, findings->list.at[i]))
            findings->list.at[kept++] = findings->list.at[i];
    findings->list.n = kept;
    report_all(&all, source, selection, whole, findings);
    return n - kept;
}
