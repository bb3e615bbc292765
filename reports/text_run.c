// What a GPU answered, for people: beside one launch, and as a table over many.
#include "reports/excerpt.h"
#include "reports/formats.h"

static void answer_line(const struct report *report, const struct record_launch *launch,
                        struct output *out) {
    output_text(out, "  the GPU: ");
    if (launch->actual_result == RESULT_CUDA_SUCCESS) output_text(out, "CUDA_SUCCESS");
    else {
        struct prediction actual = {.phase = launch->actual_phase, .result = launch->actual_result};
        plain_prediction(out, &actual);
    }
    if (!launch->agrees_known) {
        output_text(out, ", nothing was predicted\n");
        return;
    }
    ink(out, &report->style, launch->agrees ? INK_HELP : INK_ERROR);
    output_text(out, launch->agrees ? ", as predicted\n" : ", not as predicted\n");
    ink(out, &report->style, INK_PLAIN);
}

void text_gpu(const struct report *report, const struct record_launch *launch, struct output *out) {
    if (launch->has_actual) answer_line(report, launch, out);
    for (uint32_t i = 0; i < launch->gpu_rows.n; i++) {
        const struct record_row *row = &launch->gpu_rows.at[i];
        output_format(out, "    %-10s ", row->name);
        plain_line(out, row->text);
        if (row->from.len != 0) {
            output_text(out, "  ");
            plain_line(out, row->from);
        }
        output_byte(out, '\n');
    }
}

static void pair_cell(struct output *out, uint8_t phase, int result, int width) {
    const char *name = result_text(result);
    struct output cell;
    output_init(&cell, out->arena);
    output_format(&cell, "%s: ", phase_text((enum phase)phase));
    if (name != NULL) output_text(&cell, name);
    else output_format(&cell, "CUresult %d", result);
    output_bytes(out, cell.data, cell.size);
    if (cell.size < (size_t)width) output_repeat(out, ' ', (size_t)width - cell.size);
}

static void pair_line(const struct report *report, const struct report_pair *pair, struct output *out) {
    if (!pair->agrees) ink(out, &report->style, INK_ERROR);
    output_format(out, "%c %6u  ", pair->agrees ? ' ' : '*', pair->count);
    pair_cell(out, pair->predicted_phase, pair->predicted, 52);
    output_text(out, "  ");
    pair_cell(out, pair->actual_phase, pair->actual, 0);
    if (!pair->agrees) ink(out, &report->style, INK_PLAIN);
    output_byte(out, '\n');
}

void text_agreement(const struct report *report, struct output *out) {
    const struct report_totals *totals = &report->totals;
    if (report->command != REPORT_RUN || totals->made < 2) return;
    output_format(out, "  %6s  %-52s  %s\n", "times", "predicted", "actual");
    for (int agrees = 1; agrees >= 0; agrees--)
        for (uint32_t i = 0; i < totals->pair_count; i++)
            if (totals->pairs[i].agrees == (agrees == 1)) pair_line(report, &totals->pairs[i], out);
    output_format(out, "%u of %u launches answered as predicted\n", totals->agreeing, totals->made);
}
