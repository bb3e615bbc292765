// SARIF 2.1.0 as GitHub code scanning takes it.
#include <stdio.h>

#include "findings/fingerprint.h"
#include "findings/pages.h"
#include "reports/formats.h"
#include "reports/json_text.h"
#include "reports/line_hash.h"
#include "reports/plain.h"

enum { RESULTS_MOST = 25000 };

// GitHub counts columns in UTF-16 units; findings count bytes. They come in the order of the text, so
// that counting goes on from the last place: linear however long a line is.
struct unit_counter {
    const struct source *source;
    uint32_t line, bytes, units;
};

static uint32_t units_before(struct unit_counter *counter, struct source *source, uint32_t line,
                             uint32_t bytes) {
    struct str text = source_line(source, line);
    if (counter->source != source || counter->line != line || bytes < counter->bytes)
        *counter = (struct unit_counter){.source = source, .line = line};
    uint32_t i = counter->bytes;
    while (i < bytes && i < text.len) {
        struct glyph glyph = glyph_at(text.data + i, text.len - i);
        counter->units += glyph.code >= 0x10000 ? 2 : 1;
        i += glyph.bytes;
    }
    counter->bytes = i;
    return counter->units + (bytes > i ? bytes - i : 0);
}

struct sarif_writer {
    const struct report *report;
    const struct record_file *file;
    struct output *out;
    struct json_text json;
    struct unit_counter counter;
    struct line_hash *hashes;
    uint32_t hash_count;
    struct str uri;
    bool any;
};

// RFC 3986: what is no unreserved character or slash is escaped.
static struct str uri_of(struct arena *arena, struct str path) {
    struct output out;
    output_init(&out, arena);
    if (path.len != 0 && path.data[0] == '/') output_text(&out, "file://");
    for (uint32_t i = 0; i < path.len; i++) {
        unsigned char c = (unsigned char)path.data[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     strchr("-._~/", c) != NULL;
        if (plain && c != 0) output_byte(&out, (char)c);
        else output_format(&out, "%%%02X", c);
    }
    return (struct str){out.data, (uint32_t)out.size};
}

static json_t *region_value(struct sarif_writer *sarif, struct source *source,
                            struct region region) {
    json_t *object = json_object();
    struct source *in = source;
    json_text_number(object, "startLine", region.begin.line);
    if (in == NULL) return object;
    uint32_t begin = units_before(&sarif->counter, in, region.begin.line, region.begin.column - 1);
    json_text_number(object, "startColumn", begin + 1);
    json_text_number(object, "endLine", region.end.line);
    uint32_t end = units_before(&sarif->counter, in, region.end.line, region.end.column - 1);
    json_text_number(object, "endColumn", end + 1);
    return object;
}

static json_t *location_value(struct sarif_writer *sarif, struct source *source,
                              struct region region) {
    json_t *artifact = json_object(), *physical = json_object(), *location = json_object();
    json_text_set(&sarif->json, artifact, "uri", sarif->uri);
    if (!str_starts(sarif->uri, STR("file://")))
        json_object_set_new(artifact, "uriBaseId", json_string("%SRCROOT%"));
    json_object_set_new(physical, "artifactLocation", artifact);
    json_object_set_new(physical, "region", region_value(sarif, source, region));
    json_object_set_new(location, "physicalLocation", physical);
    return location;
}

static void set_message(struct sarif_writer *sarif, json_t *object, const char *key,
                        struct str text) {
    json_t *message = json_object();
    json_text_set(&sarif->json, message, "text", text);
    json_object_set_new(object, key, message);
}

static json_t *related_value(struct sarif_writer *sarif, const struct finding *finding) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < finding->labels.n; i++) {
        const struct secondary *label = &finding->labels.at[i];
        if (label->place.source == NULL || label->place.source != sarif->file->source) continue;
        struct finding as_finding = {.place = label->place};
        json_t *location = location_value(sarif, label->place.source, finding_region(&as_finding));
        json_text_number(location, "id", i + 1);
        set_message(sarif, location, "message", label->text);
        json_array_append_new(array, location);
    }
    return array;
}

static json_t *fingerprints_value(struct sarif_writer *sarif, const struct finding *finding,
                                  uint32_t line) {
    json_t *object = json_object();
    char text[64];
    if (sarif->file->source != NULL && sarif->hashes == NULL) {
        struct str all = {sarif->file->source->text, sarif->file->source->size};
        sarif->hashes = line_hashes(sarif->out->arena, all, &sarif->hash_count);
    }
    if (line >= 1 && line <= sarif->hash_count) {
        const struct line_hash *hash = &sarif->hashes[line - 1];
        snprintf(text, sizeof text, "%llx:%u", (unsigned long long)hash->hash, hash->count);
        json_object_set_new(object, "primaryLocationLineHash", json_string(text));
    }
    snprintf(text, sizeof text, "%016llx",
             (unsigned long long)finding_fingerprint(finding, sarif->uri));
    json_object_set_new(object, "ptxvet/v1", json_string(text));
    return object;
}

static json_t *properties_value(struct sarif_writer *sarif, const struct finding *finding) {
    json_t *object = json_object();
    json_object_set_new(object, "confidence",
                        json_string(confidence_text((enum confidence)finding->confidence)));
    if (finding->kernel.len != 0) json_text_set(&sarif->json, object, "kernel", finding->kernel);
    if (finding->deployment.len != 0)
        json_text_set(&sarif->json, object, "deployment", finding->deployment);
    if (finding->origin.len != 0) json_text_set(&sarif->json, object, "origin", finding->origin);
    if (predicts_failure(finding)) {
        const char *result = result_text(finding->predicts.result);
        json_object_set_new(object, "phase",
                            json_string(phase_text((enum phase)finding->predicts.phase)));
        if (result != NULL) json_object_set_new(object, "result", json_string(result));
    }
    return object;
}

static const char *level(uint8_t severity) {
    return severity_text((enum severity)severity);  // SARIF has the same three words
}

static void sarif_finding(void *context, const struct finding *finding) {
    struct sarif_writer *sarif = context;
    struct region region = finding_file_region(finding, sarif->file);
    bool placed = finding->place.source == sarif->file->source;
    json_t *object = json_object(), *locations = json_array();
    struct output message;
    output_init(&message, sarif->out->arena);
    plain_full_message(&message, finding);
    json_object_set_new(object, "ruleId", json_string(rule_infos[finding->rule].code));
    json_object_set_new(object, "level", json_string(level(finding->severity)));
    set_message(sarif, object, "message", (struct str){message.data, (uint32_t)message.size});
    json_array_append_new(locations,
                          location_value(sarif, placed ? sarif->file->source : NULL, region));
    json_object_set_new(object, "locations", locations);
    json_t *related = related_value(sarif, finding);
    if (json_array_size(related) != 0) json_object_set_new(object, "relatedLocations", related);
    else json_decref(related);
    json_object_set_new(object, "partialFingerprints",
                        fingerprints_value(sarif, finding, region.begin.line));
    json_object_set_new(object, "properties", properties_value(sarif, finding));
    if (sarif->any) output_text(sarif->out, ",\n");
    sarif->any = true;
    json_text_dump(object, sarif->out);
}

static void sarif_head(const struct report *report, struct output *out) {
    (void)report;
    output_text(out, "{\"$schema\":\"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/"
                     "schemas/sarif-schema-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{\n"
                     "\"results\":[\n");
}

static void sarif_file(const struct report *report, const struct record_file *file,
                       struct output *out) {
    struct sarif_writer sarif = {.report = report, .file = file, .out = out};
    json_text_start(&sarif.json, out->arena);
    sarif.uri = uri_of(out->arena, repository_path(out->arena, report, file->path));
    visit_findings(file, sarif_finding, &sarif);
}

// The page's first paragraph that is no heading, on one line.
static struct str page_summary(struct arena *arena, struct str page) {
    uint32_t at = 0;
    struct output out;
    output_init(&out, arena);
    while (at < page.len) {
        uint32_t end = at;
        while (end < page.len && page.data[end] != '\n') end++;
        struct str line = {page.data + at, end - at};
        at = end + 1;
        bool text = line.len != 0 && line.data[0] != '#' && line.data[0] != '|' && line.data[0] != '`';
        if (!text && out.size != 0) break;
        if (!text) continue;
        if (out.size != 0) output_byte(&out, ' ');
        plain_line(&out, line);
    }
    return (struct str){out.data, (uint32_t)out.size};
}

static struct str words_of_name(struct arena *arena, const char *name) {
    struct str copy = str_copy(arena, str_from(name));
    char *text = (char *)(uintptr_t)copy.data;
    for (uint32_t i = 0; i < copy.len; i++)
        if (text[i] == '-') text[i] = ' ';
    return copy;
}

static json_t *text_object(struct json_text *json, struct str text, struct str markdown) {
    json_t *object = json_object();
    json_text_set(json, object, "text", text);
    if (markdown.len != 0) json_text_set(json, object, "markdown", markdown);
    return object;
}

static json_t *rule_value(struct json_text *json, struct arena *arena, enum rule rule) {
    static const char *const precisions[] = {"medium", "high", "very-high"};
    static const char *const problems[] = {"recommendation", "warning", "error"};
    const struct rule_info *info = &rule_infos[rule];
    struct str name = words_of_name(arena, info->name), page = rule_page(rule), none = {NULL, 0};
    struct str summary = page_summary(arena, page);
    json_t *object = json_object(), *properties = json_object(), *configuration = json_object();
    json_object_set_new(object, "id", json_string(info->code));
    json_object_set_new(object, "name", json_string(info->name));
    json_object_set_new(object, "shortDescription", text_object(json, name, none));
    json_object_set_new(object, "fullDescription",
                        text_object(json, summary.len != 0 ? summary : name, none));
    json_object_set_new(object, "help", text_object(json, page.len != 0 ? page : name, page));
    json_object_set_new(configuration, "level", json_string(level(info->severity)));
    json_object_set_new(object, "defaultConfiguration", configuration);
    json_object_set_new(properties, "precision", json_string(precisions[info->confidence]));
    json_object_set_new(properties, "problem.severity", json_string(problems[info->severity]));
    json_object_set_new(properties, "tags", json_pack("[s, s]", "ptx", "cuda"));
    json_object_set_new(object, "properties", properties);
    return object;
}

static json_t *driver_value(const struct report *report, struct json_text *json,
                            struct arena *arena) {
    json_t *driver = json_object(), *rules = json_array();
    json_object_set_new(driver, "name", json_string("ptxvet"));
    json_text_set(json, driver, "version", report->tool_version);
    json_text_set(json, driver, "semanticVersion", report->tool_version);
    for (int rule = 1; rule < RULE_COUNT; rule++)
        if (report->totals.by_rule[rule] != 0)
            json_array_append_new(rules, rule_value(json, arena, (enum rule)rule));
    json_object_set_new(driver, "rules", rules);
    return driver;
}

// What is not in the results is said: those past GitHub's limit, those past --max-findings.
static json_t *invocation_value(const struct report *report) {
    const struct report_totals *totals = &report->totals;
    uint64_t all = (uint64_t)totals->errors + totals->warnings + totals->notes;
    uint64_t missing = totals->dropped + (all > RESULTS_MOST ? all - RESULTS_MOST : 0);
    json_t *invocation = json_object(), *notes = json_array();
    json_object_set_new(invocation, "executionSuccessful", json_boolean(totals->failures == 0));
    if (missing != 0)
        json_array_append_new(notes, json_pack("{s:s, s:{s:o}}", "level", "warning", "message", "text",
                                               json_sprintf("%llu more results are left out",
                                                            (unsigned long long)missing)));
    if (totals->failures != 0)
        json_array_append_new(notes, json_pack("{s:s, s:{s:o}}", "level", "error", "message", "text",
                                               json_sprintf("%u files could not be judged",
                                                            totals->failures)));
    if (json_array_size(notes) != 0)
        json_object_set_new(invocation, "toolExecutionNotifications", notes);
    else json_decref(notes);
    return invocation;
}

static void sarif_tail(const struct report *report, struct output *out) {
    struct json_text json;
    json_t *tool = json_object(), *invocations = json_array();
    json_text_start(&json, out->arena);
    json_object_set_new(tool, "driver", driver_value(report, &json, out->arena));
    json_array_append_new(invocations, invocation_value(report));
    output_text(out, "\n],\n\"columnKind\":\"utf16CodeUnits\",\n\"tool\":");
    json_text_dump(tool, out);
    output_text(out, ",\n\"invocations\":");
    json_text_dump(invocations, out);
    if (report->root.len != 0) {
        struct str root = uri_of(out->arena, report->root);
        json_t *bases = json_pack("{s:{s:o}}", "%SRCROOT%", "uri",
                                  json_sprintf("%.*s/", STR_ARG(root)));
        output_text(out, ",\n\"originalUriBaseIds\":");
        json_text_dump(bases, out);
    }
    output_text(out, "\n}]}\n");
}

const struct report_format report_sarif = {
    .name = "sarif", .machine = true, .rooted = true, .separator = ",\n", .most_records = RESULTS_MOST,
    .head = sarif_head, .file = sarif_file, .tail = sarif_tail};
