// GitLab's Code Quality report: one array of issues.
#include <stdio.h>

#include "findings/fingerprint.h"
#include "reports/formats.h"
#include "reports/json_text.h"
#include "reports/plain.h"

struct gitlab_seen {
    uint64_t fingerprint;
    uint32_t count;  // 0: the slot is free
};

struct gitlab_writer {
    const struct record_file *file;
    struct output *out;
    struct json_text json;
    struct str path;
    struct gitlab_seen *seen;
    uint32_t slots;
    bool any;
};

// GitLab drops all but one of the issues with equal fingerprints: equal findings are numbered.
static uint32_t occurrence(struct gitlab_writer *gitlab, uint64_t fingerprint) {
    uint32_t slot = (uint32_t)(fingerprint >> 17) & (gitlab->slots - 1);
    while (gitlab->seen[slot].count != 0 && gitlab->seen[slot].fingerprint != fingerprint)
        slot = (slot + 1) & (gitlab->slots - 1);
    gitlab->seen[slot].fingerprint = fingerprint;
    return ++gitlab->seen[slot].count;
}

static void gitlab_finding(void *context, const struct finding *finding) {
    static const char *const severities[] = {"info", "minor", "critical"};
    struct gitlab_writer *gitlab = context;
    struct region region = finding_file_region(finding, gitlab->file);
    struct output description;
    char fingerprint[48];
    uint64_t hash = finding_fingerprint(finding, gitlab->path);
    snprintf(fingerprint, sizeof fingerprint, "%016llx%08x", (unsigned long long)hash,
             occurrence(gitlab, hash));
    output_init(&description, gitlab->out->arena);
    plain_full_message(&description, finding);
    json_t *object = json_object(), *location = json_object(), *lines = json_object();
    json_text_set(&gitlab->json, object, "description",
                  (struct str){description.data, (uint32_t)description.size});
    json_object_set_new(object, "check_name", json_string(rule_infos[finding->rule].code));
    json_object_set_new(object, "fingerprint", json_string(fingerprint));
    json_object_set_new(object, "severity", json_string(severities[finding->severity]));
    json_text_number(lines, "begin", region.begin.line);
    json_text_number(lines, "end", region.end.line);
    json_text_set(&gitlab->json, location, "path", gitlab->path);
    json_object_set_new(location, "lines", lines);
    json_object_set_new(object, "location", location);
    if (gitlab->any) output_text(gitlab->out, ",\n");
    gitlab->any = true;
    json_text_dump(object, gitlab->out);
}

static void count_one(void *context, const struct finding *finding) {
    (void)finding;
    ++*(uint32_t *)context;
}

static void gitlab_head(const struct report *report, struct output *out) {
    (void)report;
    output_text(out, "[\n");
}

static void gitlab_file(const struct report *report, const struct record_file *file,
                        struct output *out) {
    struct gitlab_writer gitlab = {.file = file, .out = out, .slots = 16};
    uint32_t findings = 0;
    visit_findings(file, count_one, &findings);
    if (findings == 0) return;
    while (gitlab.slots < findings * 2) gitlab.slots *= 2;
    gitlab.seen = arena_array(out->arena, struct gitlab_seen, gitlab.slots);
    json_text_start(&gitlab.json, out->arena);
    gitlab.path = repository_path(out->arena, report, file->path);
    visit_findings(file, gitlab_finding, &gitlab);
}

static void gitlab_tail(const struct report *report, struct output *out) {
    (void)report;
    output_text(out, "\n]\n");
}

const struct report_format report_gitlab = {.name = "gitlab", .machine = true, .rooted = true, .separator = ",\n",
                                            .head = gitlab_head, .file = gitlab_file,
                                            .tail = gitlab_tail};
