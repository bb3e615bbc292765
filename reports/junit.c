// JUnit XML: a suite a file; a test case a finding, or one that passes when there is none; for
// launches a test case each.
#include "reports/formats.h"
#include "reports/markup.h"
#include "reports/plain.h"

struct junit_context {
    const struct record_file *file;
    struct output *out;
};

static void attribute(struct output *out, const char *name, struct str value) {
    output_format(out, " %s=\"", name);
    markup_text(out, value);
    output_byte(out, '"');
}

static void failure(struct output *out, const struct finding *finding) {
    struct output message;
    struct region region = finding_region(finding);
    output_init(&message, out->arena);
    plain_full_message(&message, finding);
    output_text(out, "<failure");
    attribute(out, "type", str_from(severity_text((enum severity)finding->severity)));
    attribute(out, "message", finding->message);
    output_byte(out, '>');
    if (region.known) {
        markup_text(out, region.path);
        output_format(out, ":%u:%u: ", region.begin.line, region.begin.column);
    }
    markup_text(out, (struct str){message.data, (uint32_t)message.size});
    output_text(out, "</failure>\n");
}

static void open_case(struct output *out, struct str name, struct str class_name) {
    output_text(out, "  <testcase");
    attribute(out, "name", name);
    attribute(out, "classname", class_name);
    output_text(out, " time=\"0\">\n");
}

static void junit_finding(void *context, const struct finding *finding) {
    struct junit_context *junit = context;
    struct region region = finding_region(finding);
    struct str name = str_format(junit->out->arena, "%s %s", rule_infos[finding->rule].code,
                                 rule_infos[finding->rule].name);
    if (region.known)
        name = str_format(junit->out->arena, "%.*s line %u column %u", STR_ARG(name),
                          region.begin.line, region.begin.column);
    open_case(junit->out, name, junit->file->path);
    failure(junit->out, finding);
    output_text(junit->out, "  </testcase>\n");
}

static void junit_launch(const struct record_file *file, const struct record_launch *launch,
                         struct output *out) {
    struct str name = str_format(out->arena, "line %u: %.*s", launch->line, STR_ARG(launch->text));
    open_case(out, name, file->path);
    for (uint32_t i = 0; launch->findings != NULL && i < launch->findings->list.n; i++)
        failure(out, launch->findings->list.at[i]);
    output_text(out, "  </testcase>\n");
}

static uint32_t failing_cases(const struct record_file *file) {
    uint32_t failing = file->findings == NULL ? 0 : file->findings->list.n;
    for (uint32_t i = 0; i < file->launches.n; i++)
        failing += file->launches.at[i].findings != NULL && file->launches.at[i].findings->list.n != 0;
    return failing;
}

static uint32_t all_cases(const struct record_file *file) {
    uint32_t own = file->findings == NULL ? 0 : file->findings->list.n;
    uint32_t all = own + file->launches.n;
    return all == 0 ? 1 : all;
}

static void junit_head(const struct report *report, struct output *out) {
    (void)report;
    output_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ptxvet\">\n");
}

static void junit_file(const struct report *report, const struct record_file *file,
                       struct output *out) {
    struct junit_context context = {file, out};
    bool failed = file->failure.len != 0;
    (void)report;
    output_text(out, " <testsuite");
    attribute(out, "name", file->path);
    output_format(out, " tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"0\" time=\"0\">\n",
                  all_cases(file), failing_cases(file), failed);
    if (failed) {
        open_case(out, STR("judged"), file->path);
        output_text(out, "<error type=\"failure\"");
        attribute(out, "message", file->failure);
        output_text(out, "/>\n  </testcase>\n");
    } else if (failing_cases(file) == 0 && file->launches.n == 0) {
        open_case(out, STR("no findings"), file->path);
        output_text(out, "  </testcase>\n");
    }
    for (uint32_t i = 0; file->findings != NULL && i < file->findings->list.n; i++)
        junit_finding(&context, file->findings->list.at[i]);
    for (uint32_t i = 0; i < file->launches.n; i++) junit_launch(file, &file->launches.at[i], out);
    output_text(out, " </testsuite>\n");
}

static void junit_tail(const struct report *report, struct output *out) {
    (void)report;
    output_text(out, "</testsuites>\n");
}

const struct report_format report_junit = {.name = "junit", .machine = true, .head = junit_head,
                                           .file = junit_file, .tail = junit_tail};
