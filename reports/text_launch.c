// A launch for people: what the driver will answer, and what was seen of the kernel's memory.
#include "reports/excerpt.h"
#include "reports/formats.h"

struct tally {
    uint32_t errors, warnings;
};

static struct tally tally(const struct findings *findings) {
    struct tally tally = {0, 0};
    for (uint32_t i = 0; findings != NULL && i < findings->list.n; i++) {
        tally.errors += findings->list.at[i]->severity == SEVERITY_ERROR;
        tally.warnings += findings->list.at[i]->severity == SEVERITY_WARNING;
    }
    return tally;
}

static void counts(struct output *out, const struct findings *findings) {
    struct tally found = tally(findings);
    output_text(out, ": ");
    plain_count(out, found.errors, "error");
    output_text(out, ", ");
    plain_count(out, found.warnings, "warning");
    output_byte(out, '\n');
}

static void range(struct output *out, const char *verb, bool any, uint64_t low, uint64_t high) {
    if (any)
        output_format(out, "  %s [%llu, %llu)", verb, (unsigned long long)low,
                      (unsigned long long)high);
}

static void memory_row(struct output *out, const struct record_memory *memory) {
    if (!memory->read && !memory->written && !memory->size_needed.known) return;
    output_text(out, "  ");
    if (memory->name.len != 0) plain_line(out, memory->name);
    else if (memory->param_known) output_format(out, "parameter %u", memory->param);
    else output_text(out, "shared memory");
    output_text(out, ":");
    range(out, "reads", memory->read, memory->read_low, memory->read_high);
    range(out, "writes", memory->written, memory->written_low, memory->written_high);
    if (memory->size_needed.known)
        output_format(out, "  needs %llu bytes", (unsigned long long)memory->size_needed.value);
    if (memory->align_needed.known && memory->align_needed.value > 1)
        output_format(out, " at a multiple of %llu",
                      (unsigned long long)memory->align_needed.value);
    output_byte(out, '\n');
}

static void coverage_line(struct output *out, const struct record_launch *launch) {
    if (!launch->has_coverage) return;
    output_text(out, "  dry run: ");
    if (launch->complete) output_text(out, "all of ");
    else output_format(out, "%llu of ", (unsigned long long)launch->blocks_run);
    plain_count(out, launch->blocks, "block");
    if (launch->unknown_addresses != 0) {
        output_text(out, ", ");
        plain_count(out, launch->unknown_addresses, "access");
        output_text(out, " at an address that is not known");
    }
    output_byte(out, '\n');
}

static void verdict_line(const struct report *report, const struct record_launch *launch,
                         struct output *out) {
    const struct report_style *style = &report->style;
    bool fails = str_eq(launch->verdict, STR("fails"));
    bool succeeds = launch->predicted.result == RESULT_CUDA_SUCCESS;
    ink(out, style, fails ? INK_ERROR : succeeds ? INK_HELP : INK_WARNING);
    if (launch->result_unknown)
        output_text(out, "this launch reads past its arguments: what happens is not known");
    else if (fails && succeeds)
        output_text(out, "this launch is wrong, though the driver may not say so");
    else if (fails)
        output_format(out, "this launch fails at %s",
                      phase_call((enum phase)launch->predicted.phase));
    else if (str_eq(launch->verdict, STR("ok"))) output_text(out, "nothing found that makes this launch fail");
    else if (succeeds) output_text(out, "this launch may work: not all of it could be judged");
    else {
        output_text(out, "this launch may fail: ");
        plain_prediction(out, &launch->predicted);
    }
    ink(out, style, INK_PLAIN);
    counts(out, launch->findings);
}

static const char *standing_text(const struct ranked_rule *ranked) {
    switch (ranked->standing) {
    case STANDING_FOUND: return "found above, and predicts it";
    case STANDING_RELATED: return "found above, and can end in it";
    case STANDING_OPEN: return "cannot be ruled out here";
    default: return "checked: does not hold for this launch";
    }
}

enum { RANKED_MOST = 12 };

// What was found stands first; of what was ruled out a few are named, so that it is seen that they were.
static void ranking_rows(const struct record_launch *launch, struct output *out) {
    const struct ranking *ranking = launch->ranking;
    output_format(out, "what can give %s (%d), likeliest first:\n", result_text(launch->asked),
                  launch->asked);
    for (uint32_t i = 0; i < ranking->rules.n && i < RANKED_MOST; i++) {
        const struct ranked_rule *ranked = &ranking->rules.at[i];
        const struct rule_info *info = &rule_infos[ranked->rule];
        output_format(out, "  %s  %-28s %s", info->code, info->name, standing_text(ranked));
        bool explained = ranked->how != NULL && ranked->standing != STANDING_EXCLUDED;
        if (explained) output_format(out, ": %s", ranked->how);
        output_byte(out, '\n');
    }
    if (ranking->rules.n == 0) output_text(out, "  no rule gives it\n");
    else if (ranking->rules.at[0].standing > STANDING_RELATED)
        output_text(out, "  nothing above was found: see whether the launch stated is the one that was made\n");
}

void text_launch(const struct report *report, const struct record_file *file,
                 const struct record_launch *launch, struct output *out) {
    if (report->style.quiet) return;
    if (file->launches.n > 1) {
        plain_line(out, file->path);
        output_format(out, ":%u: ", launch->line);
        plain_line(out, launch->text);
        output_byte(out, '\n');
    }
    verdict_line(report, launch, out);
    if (launch->has_occupancy) {
        output_text(out, "  occupancy: ");
        plain_count(out, launch->blocks_per_sm, "block");
        output_text(out, ", ");
        plain_count(out, launch->warps_per_sm, "warp");
        output_text(out, " per SM");
        if (launch->limiter.len != 0) output_format(out, ", limited by %.*s", STR_ARG(launch->limiter));
        output_byte(out, '\n');
    }
    for (uint32_t i = 0; i < launch->memory.n; i++) memory_row(out, &launch->memory.at[i]);
    coverage_line(out, launch);
    if (launch->emitted.len != 0) {
        output_text(out, "  with the sizes that it needs:\n    ");
        plain_line(out, launch->emitted);
        output_byte(out, '\n');
    }
    text_gpu(report, launch, out);
    if (launch->ranking != NULL) ranking_rows(launch, out);
}
