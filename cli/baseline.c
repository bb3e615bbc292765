#include "cli/baseline.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/whole_file.h"
#include "findings/fingerprint.h"
#include "reports/json_text.h"

static int compare_entries(const void *a, const void *b) {
    const struct baseline_entry *x = a, *y = b;
    int order = str_compare(x->path, y->path);
    if (order != 0) return order;
    return (x->fingerprint > y->fingerprint) - (x->fingerprint < y->fingerprint);
}

static struct str text_of(struct arena *arena, json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return str_copy(arena, str_from(text));
}

static bool read_entry(struct baseline *baseline, struct arena *arena, json_t *object) {
    struct baseline_entry entry = {.path = text_of(arena, object, "path"),
                                   .code = text_of(arena, object, "code"),
                                   .message = text_of(arena, object, "message")};
    const char *fingerprint = json_string_value(json_object_get(object, "fingerprint"));
    json_int_t count = json_integer_value(json_object_get(object, "count"));
    char *end = NULL;
    if (fingerprint == NULL || count < 1 || count > UINT32_MAX) return false;
    entry.fingerprint = strtoull(fingerprint, &end, 16);
    entry.count = (uint32_t)count;
    if (end == fingerprint || *end != '\0') return false;
    memcpy(vec_push(arena, &baseline->list), &entry, sizeof entry);
    return true;
}

static bool read_all(struct baseline *baseline, struct arena *arena, json_t *root) {
    json_t *findings = json_object_get(root, "findings"), *one;
    size_t i;
    if (json_integer_value(json_object_get(root, "version")) != 1 || !json_is_array(findings))
        return false;
    json_array_foreach(findings, i, one) if (!read_entry(baseline, arena, one)) return false;
    return true;
}

bool baseline_read(struct baseline *baseline, struct arena *arena, struct str path) {
    struct str text;
    json_error_t error;
    *baseline = (struct baseline){0};
    int trouble = file_read(path.data, arena, &text);
    if (trouble != 0) {
        complain("cannot read the baseline %.*s: %s", STR_ARG(path), strerror(trouble));
        return false;
    }
    json_t *root = json_loadb(text.data, text.len, 0, &error);
    bool good = root != NULL && read_all(baseline, arena, root);
    if (root == NULL) complain("%.*s:%d: %s", STR_ARG(path), error.line, error.text);
    else if (!good) complain("%.*s is no baseline of ptxvet, version 1", STR_ARG(path));
    json_decref(root);
    baseline_settle(baseline);
    return good;
}

// The entries of a path: [*first, gives the end).
static uint32_t entries_of(const struct baseline *baseline, struct str path, uint32_t *first) {
    uint32_t low = 0, high = baseline->list.n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (str_compare(baseline->list.at[middle].path, path) < 0) low = middle + 1;
        else high = middle;
    }
    *first = low;
    while (low < baseline->list.n && str_eq(baseline->list.at[low].path, path)) low++;
    return low;
}

static struct baseline_entry *find_entry(const struct baseline *baseline, uint32_t low,
                                         uint32_t end, uint64_t fingerprint) {
    uint32_t high = end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (baseline->list.at[middle].fingerprint < fingerprint) low = middle + 1;
        else high = middle;
    }
    bool found = low < end && baseline->list.at[low].fingerprint == fingerprint;
    return found ? &baseline->list.at[low] : NULL;
}

uint32_t baseline_apply(const struct baseline *baseline, struct str path,
                        struct findings *findings) {
    uint32_t first, end = entries_of(baseline, path, &first), kept = 0, n = findings->list.n;
    for (uint32_t i = first; i < end; i++) baseline->list.at[i].judged = true;
    if (first == end) return 0;
    for (uint32_t i = 0; i < n; i++) {
        struct finding *finding = findings->list.at[i];
        struct baseline_entry *entry =
            find_entry(baseline, first, end, finding_fingerprint(finding, path));
        if (entry == NULL || entry->found++ >= entry->count) findings->list.at[kept++] = finding;
    }
    findings->list.n = kept;
    return n - kept;
}

void baseline_add(struct baseline *baseline, struct arena *arena, struct str path,
                  const struct findings *findings) {
    for (uint32_t i = 0; i < findings->list.n; i++) {
        const struct finding *finding = findings->list.at[i];
        struct baseline_entry *entry = vec_push(arena, &baseline->list);
        entry->path = str_copy(arena, path);
        entry->code = str_from(rule_infos[finding->rule].code);
        entry->message = str_copy(arena, finding->message);
        entry->fingerprint = finding_fingerprint(finding, path);
        entry->count = 1;
    }
}

void baseline_settle(struct baseline *baseline) {
    uint32_t kept = 0;
    struct baseline_entry *at = baseline->list.at;
    if (baseline->list.n == 0) return;
    qsort(at, baseline->list.n, sizeof *at, compare_entries);
    for (uint32_t i = 1; i < baseline->list.n; i++) {
        if (compare_entries(&at[kept], &at[i]) == 0) at[kept].count += at[i].count;
        else memmove(&at[++kept], &at[i], sizeof *at);
    }
    baseline->list.n = kept + 1;
}

void baseline_prune(struct baseline *baseline) {
    uint32_t kept = 0;
    struct baseline_entry *at = baseline->list.at;
    for (uint32_t i = 0; i < baseline->list.n; i++) {
        if (at[i].judged && at[i].found < at[i].count) at[i].count = at[i].found;
        if (at[i].count != 0) memmove(&at[kept++], &at[i], sizeof *at);
    }
    baseline->list.n = kept;
}

static void write_entry(const struct baseline_entry *entry, struct json_text *json,
                        struct output *out) {
    json_t *object = json_object();
    json_text_set(json, object, "path", entry->path);
    json_text_set(json, object, "code", entry->code);
    json_object_set_new(object, "fingerprint",
                        json_sprintf("%016llx", (unsigned long long)entry->fingerprint));
    json_text_number(object, "count", entry->count);
    json_text_set(json, object, "message", entry->message);
    json_text_dump(object, out);
}

bool baseline_write(const struct baseline *baseline, struct arena *arena, struct str path) {
    struct output out;
    struct json_text json;
    output_init(&out, arena);
    json_text_start(&json, arena);
    output_text(&out, "{\"version\":1,\"findings\":[");
    for (uint32_t i = 0; i < baseline->list.n; i++) {
        output_text(&out, i == 0 ? "\n" : ",\n");
        write_entry(&baseline->list.at[i], &json, &out);
    }
    output_text(&out, "\n]}\n");
    struct whole_file file;
    int trouble = whole_file_open(&file, arena, path);
    if (trouble == 0) {
        trouble = write_all(file.descriptor, out.data, out.size);
        if (trouble == 0) trouble = whole_file_keep(&file);
        else whole_file_drop(&file);
    }
    if (trouble != 0) complain("cannot write %.*s: %s", STR_ARG(path), strerror(trouble));
    return trouble == 0;
}
