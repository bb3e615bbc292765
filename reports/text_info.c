// `info` for people: what a file is, and what each kernel must be given.
#include "reports/excerpt.h"
#include "reports/formats.h"

enum {
    LABEL_COLUMNS = 10, NAME_COLUMNS_MOST = 40, WHAT_COLUMNS_MOST = 64, LONG_NAME = 16,
    SOURCE_COLUMN = 67
};

static void label(struct output *out, const char *text) {
    output_format(out, "  %-*s", LABEL_COLUMNS - 2, text);
    output_text(out, "  ");
}

// What stands at the right: where the line comes from.
static void aside(struct output *out, const struct report_style *style, size_t line_begin,
                  struct str text) {
    size_t used = out->size - line_begin;
    if (text.len != 0) {
        output_repeat(out, ' ', used + 2 <= SOURCE_COLUMN ? SOURCE_COLUMN - used : 2);
        ink(out, style, INK_FRAME);
        plain_line(out, text);
        ink(out, style, INK_PLAIN);
    }
    output_byte(out, '\n');
}

static void row(struct output *out, const struct report_style *style, const char *name,
                struct str text, struct str from) {
    if (text.len == 0) return;
    size_t begin = out->size;
    label(out, name);
    plain_line(out, text);
    aside(out, style, begin, from);
}

// Compilers name parameters after their kernel. Of a mangled name, which may take hundreds of
// columns, only what follows it is shown: `param_3`.
static struct str param_shown_name(const struct record_kernel *kernel,
                                   const struct record_param *param) {
    if (str_eq(param->role, STR("hidden"))) return STR("(hidden)");
    if (param->user_name.len != 0) return param->user_name;
    uint32_t prefix = kernel->name.len + 1;
    if (kernel->name.len < LONG_NAME || param->name.len <= prefix ||
        !str_starts(param->name, kernel->name))
        return param->name;
    return (struct str){param->name.data + prefix, param->name.len - prefix};
}

// How many columns the widest cell of a column takes.
static uint32_t widest(uint32_t so_far, struct str cell, uint32_t most) {
    uint32_t columns = cell.len > most ? most : cell.len;
    return columns > so_far ? columns : so_far;
}

static void cell(struct output *out, struct str text, uint32_t columns) {
    size_t begin = out->size;
    plain_line(out, text);
    size_t used = out->size - begin;
    output_repeat(out, ' ', (used < columns ? columns - used : 0) + 2);
}

static void param_row(struct output *out, const struct record_kernel *kernel,
                      const struct record_param *param, uint32_t name_columns,
                      uint32_t what_columns) {
    output_format(out, "  %4u  %6llu  %4llu  ", param->index, (unsigned long long)param->offset,
                  (unsigned long long)param->size);
    cell(out, param_shown_name(kernel, param), name_columns);
    cell(out, param->what, what_columns);
    if (param->align_needed.known)
        output_format(out, "%5llu  ", (unsigned long long)param->align_needed.value);
    else output_text(out, "       ");
    output_text(out, param->used_text);
    output_byte(out, '\n');
}

static void param_table(struct output *out, const struct record_kernel *kernel) {
    uint32_t names = 4, whats = 4;
    for (uint32_t i = 0; i < kernel->params.n; i++) {
        names = widest(names, param_shown_name(kernel, &kernel->params.at[i]), NAME_COLUMNS_MOST);
        whats = widest(whats, kernel->params.at[i].what, WHAT_COLUMNS_MOST);
    }
    output_format(out, "  %4s  %6s  %4s  %-*s  %-*s  align  used\n", "#", "offset", "size", (int)names,
                  "name", (int)whats, "what");
    for (uint32_t i = 0; i < kernel->params.n; i++)
        param_row(out, kernel, &kernel->params.at[i], names, whats);
}

static void occupancy_rows(struct output *out, const struct record_kernel *kernel) {
    if (kernel->occupancy.points.n == 0) return;
    label(out, "occupancy");
    output_text(out, "block  blocks/SM  warps/SM\n");
    for (uint32_t i = 0; i < kernel->occupancy.points.n; i++) {
        const struct record_occupancy_point *point = &kernel->occupancy.points.at[i];
        output_repeat(out, ' ', LABEL_COLUMNS + 2);
        output_format(out, "%5u  %9u  %8u\n", point->at, point->blocks_per_sm,
                      point->warps_per_sm);
    }
}

static void text_kernel(const struct report *report, const struct record_file *file,
                        const struct record_kernel *kernel, struct output *out) {
    const struct report_style *style = &report->style;
    size_t begin = out->size;
    ink(out, style, INK_STRONG);
    output_text(out, "kernel ");
    plain_line(out, kernel->name);
    ink(out, style, INK_PLAIN);
    struct str where = str_format(out->arena, "%.*s:%u", STR_ARG(file->path), kernel->line);
    aside(out, style, begin, where);
    row(out, style, "plainly", kernel->demangled, (struct str){NULL, 0});
    for (uint32_t i = 0; i < kernel->rows.n; i++) {
        const struct record_row *fact = &kernel->rows.at[i];
        row(out, style, fact->name, fact->text, fact->from);
    }
    if (kernel->params.n != 0) param_table(out, kernel);
    for (uint32_t i = 0; i < kernel->remarks.n; i++)
        row(out, style, "note", kernel->remarks.at[i], (struct str){NULL, 0});
    occupancy_rows(out, kernel);
    row(out, style, "launch", kernel->launch, (struct str){NULL, 0});
    for (uint32_t i = 0; i < kernel->host_call.n; i++)
        row(out, style, i == 0 ? "C" : "", kernel->host_call.at[i], (struct str){NULL, 0});
    output_byte(out, '\n');
}

static void text_requires(const struct record_file *file, struct output *out) {
    const struct record_requires *requires = file->requires;
    output_text(out, "needs at least PTX ");
    plain_line(out, requires->ptx_version);
    output_text(out, ", ");
    plain_line(out, requires->target);
    if (requires->driver.len != 0) {
        output_text(out, ", driver ");
        plain_line(out, requires->driver);
    }
    output_text(out, requires->complete ? "\n" : "; something in it was not understood\n");
    for (uint32_t i = 0; i < requires->features.n; i++) {
        const struct record_required *required = &requires->features.at[i];
        output_format(out, "  PTX %-4.*s %-18.*s ", STR_ARG(required->ptx_version),
                      STR_ARG(required->target));
        plain_line(out, required->feature);
        output_text(out, "  ");
        plain_line(out, file->path);
        output_format(out, ":%u\n", required->line);
    }
    output_byte(out, '\n');
}

void text_kernels(const struct report *report, const struct record_file *file, struct output *out) {
    if (file->about.len != 0) {
        plain_line(out, file->path);
        output_text(out, ": ");
        plain_line(out, file->about);
        output_text(out, "\n\n");
    }
    if (file->requires != NULL) text_requires(file, out);
    for (uint32_t i = 0; i < file->kernels.n; i++)
        text_kernel(report, file, &file->kernels.at[i], out);
}
