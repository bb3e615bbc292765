// The format for people: findings in rustc's shape, what a launch will answer, what a kernel needs.
#include "reports/excerpt.h"
#include "reports/formats.h"

struct text_context {
    const struct report *report;
    struct output *out;
};

static void remark(struct output *out, const struct report_style *style, uint32_t gutter,
                   const char *kind, struct str text) {
    output_repeat(out, ' ', gutter + 1);
    ink(out, style, INK_FRAME);
    output_text(out, "= ");
    ink(out, style, INK_STRONG);
    output_format(out, "%s:", kind);
    ink(out, style, INK_PLAIN);
    output_byte(out, ' ');
    // Lines after the first stand below the first's text.
    uint32_t begin = 0;
    for (uint32_t i = 0; i <= text.len; i++) {
        if (i < text.len && text.data[i] != '\n') continue;
        if (begin != 0) output_repeat(out, ' ', gutter + 3 + strlen(kind) + 2);
        plain_line(out, (struct str){text.data + begin, i - begin});
        output_byte(out, '\n');
        begin = i + 1;
    }
}

static void prediction_line(struct output *out, const struct report_style *style, uint32_t gutter,
                            const struct finding *finding) {
    struct output line;
    output_init(&line, out->arena);
    plain_prediction(&line, &finding->predicts);
    if (finding->predicts.confidence != CONFIDENCE_CERTAIN)
        output_format(&line, ", %s", confidence_text((enum confidence)finding->predicts.confidence));
    remark(out, style, gutter, "predicts", (struct str){line.data, (uint32_t)line.size});
}

static void text_finding(void *context, const struct finding *finding) {
    struct text_context *text = context;
    struct output *out = text->out;
    const struct report_style *style = &text->report->style;
    const struct rule_info *rule = &rule_infos[finding->rule];
    ink(out, style, severity_ink(finding->severity));
    output_format(out, "%s[%s]", severity_text((enum severity)finding->severity), rule->code);
    ink(out, style, INK_STRONG);
    output_text(out, ": ");
    plain_line(out, finding->message);
    ink(out, style, INK_PLAIN);
    output_byte(out, '\n');
    uint32_t gutter = excerpt_gutter(finding);
    excerpt(out, style, finding);
    if (finding->place.source != NULL && (predicts_failure(finding) || finding->notes.n != 0 ||
                                          finding->help.len != 0 || finding->deployment.len != 0)) {
        output_repeat(out, ' ', gutter + 1);
        ink(out, style, INK_FRAME);
        output_text(out, "|\n");
        ink(out, style, INK_PLAIN);
    }
    if (predicts_failure(finding)) prediction_line(out, style, gutter, finding);
    if (finding->deployment.len != 0) remark(out, style, gutter, "holds for", finding->deployment);
    for (uint32_t i = 0; i < finding->notes.n; i++)
        remark(out, style, gutter, "note", finding->notes.at[i]);
    if (finding->help.len != 0) remark(out, style, gutter, "help", finding->help);
    output_byte(out, '\n');
}

static void text_findings(const struct report *report, const struct findings *findings,
                          struct output *out) {
    struct text_context context = {report, out};
    for (uint32_t i = 0; findings != NULL && i < findings->list.n; i++)
        text_finding(&context, findings->list.at[i]);
    if (findings != NULL && findings->dropped != 0) {
        plain_count(out, findings->dropped, "more finding");
        output_text(out, " not shown (--max-findings)\n\n");
    }
}

static void text_file(const struct report *report, const struct record_file *file,
                      struct output *out) {
    text_findings(report, file->findings, out);
    if (report->command == REPORT_INFO) text_kernels(report, file, out);
    for (uint32_t i = 0; i < file->launches.n; i++) {
        const struct record_launch *launch = &file->launches.at[i];
        text_findings(report, launch->findings, out);
        text_launch(report, file, launch, out);
    }
}

const struct report_format report_text = {.name = "text", .file = text_file, .tail = text_agreement};
