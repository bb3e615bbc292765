// One line a finding, `path:line:column: severity[CODE] message`, as editors parse.
#include "reports/formats.h"
#include "reports/plain.h"

struct concise_context {
    const struct record_file *file;
    struct output *out;
};

static void concise_finding(void *context, const struct finding *finding) {
    struct concise_context *concise = context;
    struct output *out = concise->out;
    struct region region = finding_region(finding);
    plain_line(out, region.known ? region.path : concise->file->path);
    if (region.known) output_format(out, ":%u:%u", region.begin.line, region.begin.column);
    output_format(out, ": %s[%s] ", severity_text((enum severity)finding->severity),
                  rule_infos[finding->rule].code);
    plain_line(out, finding->message);
    if (finding->deployment.len != 0) {
        output_text(out, " (");
        plain_line(out, finding->deployment);
        output_byte(out, ')');
    }
    output_byte(out, '\n');
}

static void concise_launch(struct concise_context *concise, const struct record_launch *launch) {
    struct output *out = concise->out;
    plain_line(out, concise->file->path);
    output_format(out, ":%u: ", launch->line);
    output_str(out, launch->verdict);
    output_text(out, ": ");
    if (launch->result_unknown) output_text(out, "not known");
    else if (launch->predicted.result == RESULT_CUDA_SUCCESS) output_text(out, "CUDA_SUCCESS (0)");
    else plain_prediction(out, &launch->predicted);
    output_byte(out, '\n');
}

static void concise_file(const struct report *report, const struct record_file *file,
                         struct output *out) {
    struct concise_context context = {file, out};
    (void)report;
    visit_findings(file, concise_finding, &context);
    for (uint32_t i = 0; i < file->launches.n; i++) concise_launch(&context, &file->launches.at[i]);
}

const struct report_format report_concise = {.name = "concise", .file = concise_file};
