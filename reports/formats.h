// The formats, and the parts of the text format that stand in files of their own.
#ifndef PTXVET_REPORTS_FORMATS_H
#define PTXVET_REPORTS_FORMATS_H

#include "reports/report.h"

extern const struct report_format report_text, report_concise, report_json, report_sarif,
    report_github, report_gitlab, report_junit, report_html;

// What `info` says of a file's module and kernels.
void text_kernels(const struct report *report, const struct record_file *file, struct output *out);

// What a launch will answer, with occupancy, memory and coverage.
void text_launch(const struct report *report, const struct record_file *file,
                 const struct record_launch *launch, struct output *out);
void text_gpu(const struct report *report, const struct record_launch *launch, struct output *out);
void text_agreement(const struct report *report, struct output *out);

#endif
