// Signatures: the `tt.func` line of Triton's intermediate text, and the tuple that the metadata of
// some releases holds. Both are read only as far as names, types and promises go.
#include "analyzer/launch/companion_text.h"

#include <stdlib.h>

struct cursor {
    const char *at, *end;
};

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '.';
}

static void skip_blanks(struct cursor *cursor) {
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t' ||
                                        *cursor->at == '\n' || *cursor->at == '\r'))
        cursor->at++;
}

static bool accept(struct cursor *cursor, char c) {
    skip_blanks(cursor);
    if (cursor->at >= cursor->end || *cursor->at != c) return false;
    cursor->at++;
    return true;
}

static struct str word(struct cursor *cursor) {
    const char *start = cursor->at;
    while (cursor->at < cursor->end && is_word(*cursor->at)) cursor->at++;
    return (struct str){start, (uint32_t)(cursor->at - start)};
}

static struct str trimmed(const char *start, const char *end) {
    while (start < end && (*start == ' ' || *start == '\n' || *start == '\t')) start++;
    while (end > start && (end[-1] == ' ' || end[-1] == '\n' || end[-1] == '\t')) end--;
    return (struct str){start, (uint32_t)(end - start)};
}

static bool find(struct cursor *cursor, struct str text) {
    if (cursor->at >= cursor->end) return false;
    const char *found = memmem(cursor->at, (size_t)(cursor->end - cursor->at), text.data, text.len);
    if (found == NULL) return false;
    cursor->at = found + text.len;
    return true;
}

// Past a quoted text whose first quote is at the cursor. Its inside; false when it is not closed.
static bool quoted(struct cursor *cursor, struct str *inside) {
    char quote = *cursor->at++;
    const char *start = cursor->at;
    while (cursor->at < cursor->end && *cursor->at != quote) {
        if (*cursor->at == '\\' && cursor->at + 1 < cursor->end) cursor->at++;
        cursor->at++;
    }
    if (cursor->at >= cursor->end) return false;
    *inside = (struct str){start, (uint32_t)(cursor->at - start)};
    cursor->at++;
    return true;
}

// To the first of `stops` outside all brackets and quotes, which is not consumed.
static bool skip_to(struct cursor *cursor, const char *stops) {
    unsigned depth = 0;
    struct str ignored;
    while (cursor->at < cursor->end) {
        char c = *cursor->at;
        if (c == '"' || c == '\'') {
            if (!quoted(cursor, &ignored)) return false;
            continue;
        }
        if (depth == 0 && strchr(stops, c) != NULL) return true;
        if (strchr("([{<", c) != NULL) depth++;
        if (strchr(")]}>", c) != NULL && depth > 0) depth--;
        cursor->at++;
    }
    return false;
}

// --- .ttir ---------------------------------------------------------------------------------------

// `loc("a_ptr"(#loc))` names the argument; `loc("kernel.py":10:0)` is only where it stands.
static struct str name_in_loc(struct cursor cursor) {
    struct str text;
    if (!accept(&cursor, '"')) return STR("");
    cursor.at--;
    if (!quoted(&cursor, &text) || !accept(&cursor, '(')) return STR("");
    return text;
}

// `loc(#loc25)` stands for what `#loc25 = loc(...)` says elsewhere in the file.
// Each look-up reads the file: arguments past the first few hundred of a large file stay unnamed.
#define MOST_ALIASES 256
#define LARGEST_TTIR (4u << 20)

static struct str name_of_alias(struct str file, struct str alias, struct arena *arena) {
    struct str definition = str_format(arena, "%.*s = loc(", STR_ARG(alias));
    struct cursor cursor = {file.data, file.data + file.len};
    if (!find(&cursor, definition)) return STR("");
    return name_in_loc(cursor);
}

static uint32_t divisibility(struct str attributes) {
    struct cursor cursor = {attributes.data, attributes.data + attributes.len};
    if (!find(&cursor, STR("tt.divisibility = "))) return 0;
    unsigned long value = strtoul(cursor.at, NULL, 10);  // ends at the ` : i32` that follows
    return value <= 4096 ? (uint32_t)value : 0;
}

// `%x_ptr` names itself, `%arg0` and `%0` name nothing.
static struct str name_of_value(struct str value) {
    struct cursor cursor = {value.data, value.data + value.len};
    if (str_starts(value, STR("arg"))) cursor.at += 3;
    while (cursor.at < cursor.end && *cursor.at >= '0' && *cursor.at <= '9') cursor.at++;
    return cursor.at == cursor.end ? STR("") : value;
}

// What follows the type: `{attributes} loc(...)`, each of which may be missing.
static bool ttir_suffix(struct companion_argument *argument, struct str rest, struct str file,
                        bool may_look_up, struct arena *arena) {
    struct cursor cursor = {rest.data, rest.data + rest.len};
    if (accept(&cursor, '{')) {
        const char *start = cursor.at;
        if (!skip_to(&cursor, "}")) return false;
        argument->divisible_by = divisibility(trimmed(start, cursor.at++));
    }
    if (!find(&cursor, STR("loc("))) return true;
    struct str name = name_in_loc(cursor);
    if (name.len == 0 && may_look_up && cursor.at < cursor.end && *cursor.at == '#') {
        const char *start = cursor.at++;
        word(&cursor);
        name = name_of_alias(file, (struct str){start, (uint32_t)(cursor.at - start)}, arena);
    }
    if (name.len > 0) argument->name = name;
    return true;
}

// One `%name: type {attributes} loc(...)`.
static bool ttir_argument(struct companion *companion, struct cursor *cursor, struct str file,
                          struct arena *arena) {
    if (!accept(cursor, '%')) return false;
    struct companion_argument *argument = vec_push(arena, &companion->arguments);
    argument->name = name_of_value(word(cursor));
    if (!accept(cursor, ':')) return false;
    skip_blanks(cursor);
    const char *type = cursor->at;
    if (!skip_to(cursor, " {,)")) return false;
    argument->type = trimmed(type, cursor->at);
    const char *rest = cursor->at;
    if (!skip_to(cursor, ",)")) return false;
    bool may_look_up = companion->arguments.n <= MOST_ALIASES && file.len <= LARGEST_TTIR;
    return ttir_suffix(argument, trimmed(rest, cursor->at), file, may_look_up, arena);
}

bool companion_read_ttir(struct companion *companion, struct str text, struct arena *arena,
                         struct str *kernel) {
    struct cursor cursor = {text.data, text.data + text.len};
    if (!find(&cursor, STR("tt.func public @"))) return false;
    *kernel = word(&cursor);
    if (!accept(&cursor, '(')) return false;
    if (accept(&cursor, ')')) return true;
    do {
        if (!ttir_argument(companion, &cursor, text, arena)) return false;
    } while (accept(&cursor, ','));
    return accept(&cursor, ')');
}

// --- kernel_signature ----------------------------------------------------------------------------

static bool tuple_text(struct cursor *cursor, struct str *text) {
    skip_blanks(cursor);
    if (cursor->at >= cursor->end || (*cursor->at != '\'' && *cursor->at != '"')) return false;
    return quoted(cursor, text);
}

// The next item of a tuple, as written; empty when there is none.
static struct str tuple_item(struct cursor *cursor) {
    if (!accept(cursor, ',')) return STR("");
    const char *start = cursor->at;
    if (!skip_to(cursor, ",)")) return STR("");
    return trimmed(start, cursor->at);
}

// ('stride_ak', 'constexpr', 1, False): a value is folded; 'D' promises a multiple of 16.
static bool tuple(struct companion *companion, struct cursor *cursor, struct arena *arena) {
    struct companion_argument argument = {0};
    if (!tuple_text(cursor, &argument.name) || !accept(cursor, ',')) return false;
    if (!tuple_text(cursor, &argument.type)) return false;
    struct str third = tuple_item(cursor), fourth = tuple_item(cursor);
    argument.folded = str_eq(argument.type, STR("constexpr"));
    if (argument.folded) {
        argument.value = third;
        struct folded_argument *folded = vec_push(arena, &companion->metadata.folded);
        folded->name = argument.name;
        folded->value = third;
        folded->constexpr_ = !str_eq(fourth, STR("False"));
        folded->index = companion->arguments.n;
    } else if (third.len > 0 && memchr(third.data, 'D', third.len) != NULL) {
        argument.divisible_by = 16;
    }
    *vec_push(arena, &companion->arguments) = argument;
    return skip_to(cursor, ")") && accept(cursor, ')');
}

bool companion_read_signature(struct companion *companion, struct str text, struct arena *arena) {
    struct cursor cursor = {text.data, text.data + text.len};
    if (!accept(&cursor, '(')) return false;  // "None": the launcher kept no signature
    while (accept(&cursor, '(')) {
        if (!tuple(companion, &cursor, arena)) return false;
        accept(&cursor, ',');
    }
    return accept(&cursor, ')');
}
