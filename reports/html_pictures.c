// Pictures as SVG: parameter layout, occupancy, bytes touched.
#include "reports/html.h"

#include "reports/markup.h"

typedef unsigned long long ull;

enum { ROW_BYTES = 64, BYTE_WIDTH = 10, ROW_HEIGHT = 38, ROWS_MOST = 24, LETTER_WIDTH = 7 };

static struct str param_name(const struct record_param *param) {
    if (param->user_name.len != 0) return param->user_name;
    if (str_eq(param->role, STR("hidden"))) return STR("(hidden)");
    return param->name;
}

static void cut_text(struct output *out, struct str text, uint32_t columns) {
    if (text.len <= columns) {
        markup_text(out, text);
        return;
    }
    if (columns < 2) return;
    uint32_t kept = columns - 1;
    while (kept > 0 && ((unsigned char)text.data[kept] & 0xc0) == 0x80) kept--;
    markup_text(out, (struct str){text.data, kept});
    output_text(out, "…");
}

// The part of a parameter that lies in one row of ROW_BYTES.
static void param_cell(struct output *out, const struct record_param *param, uint64_t row) {
    uint64_t row_begin = row * ROW_BYTES, row_end = row_begin + ROW_BYTES;
    uint64_t end = param->offset + param->size;
    uint64_t from = param->offset > row_begin ? param->offset : row_begin;
    uint64_t to = end < row_end ? end : row_end;
    if (from >= to) return;
    uint32_t x = (uint32_t)(from - row_begin) * BYTE_WIDTH + 34;
    uint32_t width = (uint32_t)(to - from) * BYTE_WIDTH;
    uint32_t y = (uint32_t)row * ROW_HEIGHT + 16;
    output_format(out, "<g><title>%u: ", param->index);
    markup_text(out, param_name(param));
    output_format(out, ", bytes %llu to %llu, ", (ull)param->offset, (ull)end);
    markup_text(out, param->what);
    bool hidden = str_eq(param->role, STR("hidden"));
    output_format(out, "</title><rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"22\"/>",
                  hidden ? "hidden" : "cell", x, y, width);
    output_format(out, "<text x=\"%u\" y=\"%u\">", x + 3, y + 15);
    cut_text(out, param_name(param), (width - 4) / LETTER_WIDTH);
    output_text(out, "</text></g>\n");
}

static void row_frame(struct output *out, const struct record_kernel *kernel, uint64_t row) {
    uint64_t begin = row * ROW_BYTES;
    uint64_t left = kernel->param_bytes - begin;
    uint32_t width = (uint32_t)(left < ROW_BYTES ? left : ROW_BYTES) * BYTE_WIDTH;
    uint32_t y = (uint32_t)row * ROW_HEIGHT + 16;
    output_format(out, "<text class=\"soft\" x=\"28\" y=\"%u\" text-anchor=\"end\">%llu</text>"
                       "<rect class=\"pad\" x=\"34\" y=\"%u\" width=\"%u\" height=\"22\"/>\n",
                  y + 15, (ull)begin, y, width);
}

void html_param_layout(struct output *out, const struct record_kernel *kernel) {
    if (kernel->params.n == 0 || kernel->param_bytes == 0) return;
    uint64_t rows = (kernel->param_bytes + ROW_BYTES - 1) / ROW_BYTES;
    uint64_t shown = rows > ROWS_MOST ? ROWS_MOST : rows;
    output_format(out, "<div class=\"wide\"><svg viewBox=\"0 0 %d %llu\" width=\"%d\" role=\"img\" aria-label=\"parameter "
                       "layout, %d bytes a row\">\n<text class=\"soft\" x=\"34\" y=\"11\">%llu bytes of "
                       "parameters, to scale; %d bytes a row</text>\n",
                  ROW_BYTES * BYTE_WIDTH + 36, (ull)shown * ROW_HEIGHT + 10,
                  ROW_BYTES * BYTE_WIDTH + 36, ROW_BYTES, (ull)kernel->param_bytes, ROW_BYTES);
    for (uint64_t row = 0; row < shown; row++) row_frame(out, kernel, row);
    for (uint32_t i = 0; i < kernel->params.n; i++) {
        const struct record_param *param = &kernel->params.at[i];
        if (param->size == 0) continue;
        uint64_t first = param->offset / ROW_BYTES;
        uint64_t last = (param->offset + param->size - 1) / ROW_BYTES;
        for (uint64_t row = first; row <= last && row < shown; row++) param_cell(out, param, row);
    }
    output_text(out, "</svg></div>\n");
    if (shown < rows) output_format(out, "<p class=\"soft\">The rest, from byte %llu on, is not drawn.</p>\n",
                                    (ull)(shown * ROW_BYTES));
}

enum { PLOT_WIDTH = 560, PLOT_HEIGHT = 150, PLOT_LEFT = 40, PLOT_TOP = 12 };

static double plot_x(const struct record_occupancy_curve *curve, uint64_t at) {
    uint32_t last = curve->points.at[curve->points.n - 1].at;
    double share = last == 0 ? 0 : (double)at / last;
    return PLOT_LEFT + (share > 1 ? 1 : share) * PLOT_WIDTH;
}

static double plot_y(uint32_t warps, uint32_t most) {
    return PLOT_TOP + PLOT_HEIGHT - (most == 0 ? 0 : (double)warps / most * PLOT_HEIGHT);
}

static void plot_axes(struct output *out, const struct record_occupancy_curve *curve,
                      const char *axis, uint32_t most) {
    int bottom = PLOT_TOP + PLOT_HEIGHT;
    output_format(out, "<line class=\"axis\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>", PLOT_LEFT,
                  bottom, PLOT_LEFT + PLOT_WIDTH, bottom);
    for (uint32_t quarter = 0; quarter <= 4; quarter += 2) {
        uint32_t warps = most * quarter / 4;
        double y = plot_y(warps, most);
        output_format(out, "<line class=\"axis\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>"
                           "<text class=\"soft\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%u</text>\n",
                      PLOT_LEFT, y, PLOT_LEFT + PLOT_WIDTH, y, PLOT_LEFT - 5, y + 4, warps);
    }
    uint32_t last = curve->points.at[curve->points.n - 1].at;
    for (uint32_t quarter = 0; quarter <= 4; quarter++) {
        uint64_t at = (uint64_t)last * quarter / 4;
        output_format(out, "<text class=\"soft\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%llu</text>",
                      plot_x(curve, at), bottom + 15, (ull)at);
    }
    output_format(out, "\n<text class=\"soft\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
                  PLOT_LEFT + PLOT_WIDTH / 2, bottom + 30, axis);
}

void html_occupancy_plot(struct output *out, const struct record_occupancy_curve *curve,
                         const char *axis, uint64_t here, uint32_t sm_warps) {
    if (curve->points.n < 2) return;
    uint32_t most = sm_warps;
    for (uint32_t i = 0; i < curve->points.n; i++)
        if (curve->points.at[i].warps_per_sm > most) most = curve->points.at[i].warps_per_sm;
    output_format(out, "<div class=\"wide\"><svg viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\" aria-label=\"warps per SM "
                       "over %s\">\n", PLOT_LEFT + PLOT_WIDTH + 24, PLOT_TOP + PLOT_HEIGHT + 36,
                  PLOT_LEFT + PLOT_WIDTH + 24, axis);
    plot_axes(out, curve, axis, most);
    output_text(out, "<polyline class=\"curve\" points=\"");
    for (uint32_t i = 0; i < curve->points.n; i++)
        output_format(out, "%.1f,%.1f ", plot_x(curve, curve->points.at[i].at),
                      plot_y(curve->points.at[i].warps_per_sm, most));
    output_text(out, "\"/>\n");
    if (here != 0)
        output_format(out, "<line class=\"here\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>"
                           "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%llu</text>\n",
                      plot_x(curve, here), PLOT_TOP, plot_x(curve, here), PLOT_TOP + PLOT_HEIGHT,
                      plot_x(curve, here), PLOT_TOP - 2, (ull)here);
    output_text(out, "</svg></div>\n");
}

enum { BAR_WIDTH = 600, BAR_HEIGHT = 14, BLOCK_ROWS_MOST = 64, BLOCK_HEIGHT = 4 };

struct scale { double per_byte; };

static void range_rect(struct output *out, struct scale scale, const char *class, uint64_t low,
                       uint64_t high, double y, double height) {
    double x = (double)low * scale.per_byte, width = (double)(high - low) * scale.per_byte;
    if (high <= low) return;
    output_format(out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"/>", class,
                  x, y, width < 1 ? 1 : width, height);
}

static uint64_t picture_end(const struct record_memory *memory) {
    uint64_t end = memory->size.known ? memory->size.value : 0;
    if (memory->read && memory->read_high > end) end = memory->read_high;
    if (memory->written && memory->written_high > end) end = memory->written_high;
    return end;
}

static void block_rows(struct output *out, const struct record_memory *memory, struct scale scale,
                       double top) {
    uint32_t n = memory->blocks.n;
    uint32_t step = (n + BLOCK_ROWS_MOST - 1) / BLOCK_ROWS_MOST;
    for (uint32_t i = 0, row = 0; i < n; i += step, row++) {
        const struct record_block_use *use = &memory->blocks.at[i];
        double y = top + row * BLOCK_HEIGHT;
        output_format(out, "<g><title>block %llu</title>", (ull)use->block);
        if (use->read)
            range_rect(out, scale, "read", use->read_low, use->read_high, y, BLOCK_HEIGHT / 2.0);
        if (use->written)
            range_rect(out, scale, "write", use->written_low, use->written_high,
                       y + BLOCK_HEIGHT / 2.0, BLOCK_HEIGHT / 2.0);
        output_text(out, "</g>\n");
    }
}

void html_buffer_picture(struct output *out, const struct record_memory *memory) {
    uint64_t end = picture_end(memory);
    if (end == 0) return;
    struct scale scale = {(double)BAR_WIDTH / (double)end};
    uint32_t n = memory->blocks.n, step = (n + BLOCK_ROWS_MOST - 1) / BLOCK_ROWS_MOST;
    uint32_t rows = n == 0 ? 0 : (n + step - 1) / step;
    uint32_t height = 2 * BAR_HEIGHT + 24 + rows * BLOCK_HEIGHT + (rows != 0 ? 18 : 0);
    output_format(out, "<div class=\"wide\"><svg viewBox=\"0 0 %d %u\" width=\"%d\" role=\"img\" aria-label=\"bytes "
                       "touched\">\n", BAR_WIDTH, height, BAR_WIDTH);
    uint64_t room = memory->size.known ? memory->size.value : end;
    range_rect(out, scale, "room", 0, room, 0, 2 * BAR_HEIGHT);
    if (room < end) range_rect(out, scale, "bad", room, end, 0, 2 * BAR_HEIGHT);
    if (memory->read)
        range_rect(out, scale, "read", memory->read_low, memory->read_high, 2, BAR_HEIGHT - 4);
    if (memory->written)
        range_rect(out, scale, "write", memory->written_low, memory->written_high, BAR_HEIGHT + 2,
                   BAR_HEIGHT - 4);
    output_format(out, "<text class=\"soft\" x=\"0\" y=\"%d\">0</text><text class=\"soft\" x=\"%d\" "
                       "y=\"%d\" text-anchor=\"end\">%llu bytes</text>\n", 2 * BAR_HEIGHT + 14,
                  BAR_WIDTH, 2 * BAR_HEIGHT + 14, (ull)end);
    if (rows != 0) {
        output_format(out, "<text class=\"soft\" x=\"0\" y=\"%d\">by block, first to last</text>\n",
                      2 * BAR_HEIGHT + 30);
        block_rows(out, memory, scale, 2 * BAR_HEIGHT + 36);
    }
    output_text(out, "</svg></div>\n");
}
