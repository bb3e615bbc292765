#include "reports/formats.h"

#include "reports/plain.h"

static const struct report_format *const formats[] = {
    &report_text, &report_concise, &report_json, &report_sarif, &report_github, &report_gitlab,
    &report_junit, &report_html};

const struct report_format *report_format_find(struct str name) {
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (str_eq(str_from(formats[i]->name), name)) return formats[i];
    return NULL;
}

static void count_finding(void *context, const struct finding *finding) {
    struct report_totals *totals = context;
    if (finding->severity == SEVERITY_ERROR) totals->errors++;
    else if (finding->severity == SEVERITY_WARNING) totals->warnings++;
    else totals->notes++;
    totals->by_rule[finding->rule]++;
}

static uint32_t dropped(const struct findings *findings) {
    return findings == NULL ? 0 : findings->dropped;
}

void report_add_pair(struct report_totals *totals, const struct report_pair *pair) {
    totals->made += pair->count;
    totals->agreeing += pair->agrees ? pair->count : 0;
    for (uint32_t i = 0; i < totals->pair_count; i++) {
        struct report_pair *known = &totals->pairs[i];
        if (known->predicted_phase != pair->predicted_phase || known->predicted != pair->predicted ||
            known->actual_phase != pair->actual_phase || known->actual != pair->actual ||
            known->agrees != pair->agrees)
            continue;
        known->count += pair->count;
        return;
    }
    if (totals->pair_count < REPORT_PAIRS_MOST) totals->pairs[totals->pair_count++] = *pair;
}

static void count_pair(struct report_totals *totals, const struct record_launch *launch) {
    if (!launch->has_actual || !launch->agrees_known) return;
    report_add_pair(totals, &(struct report_pair){
                                .predicted_phase = launch->predicted.phase,
                                .predicted = launch->predicted.result,
                                .actual_phase = launch->actual_phase, .actual = launch->actual_result,
                                .agrees = launch->agrees, .count = 1});
}

void report_count(struct report_totals *totals, const struct record_file *file) {
    totals->files++;
    totals->failures += file->failure.len != 0;
    totals->suppressed += file->suppressed;
    totals->baselined += file->baselined;
    totals->dropped += dropped(file->findings);
    totals->launches += file->launches.n;
    for (uint32_t i = 0; i < file->launches.n; i++) {
        totals->launches_failing += str_eq(file->launches.at[i].verdict, STR("fails"));
        totals->dropped += dropped(file->launches.at[i].findings);
        count_pair(totals, &file->launches.at[i]);
    }
    visit_findings(file, count_finding, totals);
}

static void add_part(struct output *out, uint32_t n, const char *noun) {
    if (n == 0) return;
    if (out->size != 0) output_text(out, ", ");
    plain_count(out, n, noun);
}

void report_summary(const struct report *report, struct output *out) {
    const struct report_totals *totals = &report->totals;
    struct output line;
    output_init(&line, out->arena);
    add_part(&line, totals->errors, "error");
    add_part(&line, totals->warnings, "warning");
    add_part(&line, totals->notes, "note");
    add_part(&line, totals->failures, "file not judged");
    if (line.size != 0) {
        output_format(&line, " in ");
        plain_count(&line, totals->files, "file");
    }
    if (totals->dropped != 0) {
        output_text(&line, "; ");
        plain_count(&line, totals->dropped, "more finding");
        output_text(&line, " not kept (--max-findings)");
    }
    if (totals->baselined != 0) {
        output_text(&line, line.size == 0 ? "" : "; ");
        plain_count(&line, totals->baselined, "finding");
        output_text(&line, " in the baseline");
    }
    if (line.size == 0) return;
    output_bytes(out, line.data, line.size);
    output_byte(out, '\n');
}
