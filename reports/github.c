// Workflow commands that GitHub Actions shows as annotations on the lines of a change.
#include "reports/formats.h"
#include "reports/plain.h"

struct github_context {
    const struct report *report;
    const struct record_file *file;
    struct output *out;
};

// `%`, CR and LF are escaped everywhere, `:` and `,` in properties too.
static void escaped(struct output *out, struct str text, bool property) {
    for (uint32_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
        if (special) output_format(out, "%%%02X", (unsigned)(unsigned char)c);
        else output_byte(out, c);
    }
}

static void github_finding(void *context, const struct finding *finding) {
    static const char *const commands[] = {"notice", "warning", "error"};
    struct github_context *github = context;
    struct output *out = github->out, message, path;
    struct region region = finding_file_region(finding, github->file);
    output_init(&message, out->arena);
    output_init(&path, out->arena);
    plain_full_message(&message, finding);
    plain_line(&path, repository_path(out->arena, github->report, github->file->path));
    output_format(out, "::%s file=", commands[finding->severity]);
    escaped(out, (struct str){path.data, (uint32_t)path.size}, true);
    output_format(out, ",line=%u,endLine=%u", region.begin.line, region.end.line);
    // GitHub shows columns only where the annotation is on one line.
    if (region.begin.line == region.end.line && finding->place.source == github->file->source)
        output_format(out, ",col=%u,endColumn=%u", region.begin.column, region.end.column);
    output_format(out, ",title=%s %s::", rule_infos[finding->rule].code,
                  rule_infos[finding->rule].name);
    escaped(out, (struct str){message.data, (uint32_t)message.size}, false);
    output_byte(out, '\n');
}

static void github_file(const struct report *report, const struct record_file *file,
                        struct output *out) {
    struct github_context context = {report, file, out};
    visit_findings(file, github_finding, &context);
}

const struct report_format report_github = {.name = "github", .machine = true, .rooted = true, .file = github_file};
