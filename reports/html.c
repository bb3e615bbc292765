// One self-contained page: summary, findings with their source, kernels and launches with pictures.
#include "reports/html.h"

#include "findings/pages.h"
#include "reports/excerpt.h"
#include "reports/formats.h"
#include "reports/html_style.h"
#include "reports/markup.h"
#include "reports/plain.h"

typedef unsigned long long ull;

void html_text(struct output *out, struct str text) { markup_text(out, text); }

static void tagged(struct output *out, const char *tag, const char *class, struct str text) {
    output_format(out, "<%s class=\"%s\">", tag, class);
    html_text(out, text);
    output_format(out, "</%s>\n", tag);
}

// The excerpt as the text format draws it: its colours become spans.
static void inked(struct output *out, const char *text, size_t size) {
    bool open = false;
    for (size_t i = 0; i < size;) {
        const char *escape = memchr(text + i, '\033', size - i);
        size_t plain = escape == NULL ? size - i : (size_t)(escape - text) - i;
        size_t line = 0;
        while (line < plain) {  // line ends stay line ends inside <pre>
            const char *end = memchr(text + i + line, '\n', plain - line);
            size_t piece = end == NULL ? plain - line : (size_t)(end - text) - i - line;
            html_text(out, (struct str){text + i + line, (uint32_t)piece});
            if (end != NULL) output_byte(out, '\n');
            line += piece + (end != NULL);
        }
        i += plain;
        if (escape == NULL) break;
        static const char *const codes[] = {"\033[0m",    "\033[1;31m", "\033[1;33m", "\033[1;36m",
                                            "\033[1;34m", "\033[1;32m", "\033[1m"};
        size_t before = i++;  // a lone escape is left out
        for (int code = 0; code < 7; code++) {
            size_t length = strlen(codes[code]);
            if (size - before < length || memcmp(text + before, codes[code], length) != 0) continue;
            if (open) output_text(out, "</span>");
            open = code != 0;
            if (open) output_format(out, "<span class=\"i%d\">", code);
            i = before + length;
            break;
        }
    }
    if (open) output_text(out, "</span>");
}

static void html_excerpt(struct output *out, const struct finding *finding) {
    struct report_style style = {.colour = true, .width = 110};
    struct output drawn;
    if (finding->place.source == NULL) return;
    output_init(&drawn, out->arena);
    excerpt(&drawn, &style, finding);
    output_text(out, "<pre>");
    inked(out, drawn.data, drawn.size);
    output_text(out, "</pre>\n");
}

static void html_finding(void *context, const struct finding *finding) {
    struct output *out = context;
    const char *severity = severity_text((enum severity)finding->severity);
    const struct rule_info *rule = &rule_infos[finding->rule];
    output_format(out, "<article class=\"finding %s\"><p class=\"message\"><span class=\"badge %s\">%s</span> "
                       "<a href=\"#%s\"><code>%s</code></a> ", severity, severity, severity, rule->code,
                  rule->code);
    html_text(out, finding->message);
    output_text(out, "</p>\n");
    html_excerpt(out, finding);
    if (predicts_failure(finding)) {
        struct output words;
        output_init(&words, out->arena);
        output_text(&words, "predicts ");
        plain_prediction(&words, &finding->predicts);
        if (finding->predicts.confidence != CONFIDENCE_CERTAIN)
            output_format(&words, ", %s",
                          confidence_text((enum confidence)finding->predicts.confidence));
        tagged(out, "p", "predicts", (struct str){words.data, (uint32_t)words.size});
    }
    if (finding->deployment.len != 0) tagged(out, "p", "soft", finding->deployment);
    for (uint32_t i = 0; i < finding->notes.n; i++) tagged(out, "p", "soft", finding->notes.at[i]);
    if (finding->help.len != 0) {
        output_text(out, "<p><b>help:</b> ");
        html_text(out, finding->help);
        output_text(out, "</p>\n");
    }
    output_text(out, "</article>\n");
}

static void html_findings(struct output *out, const struct findings *findings) {
    for (uint32_t i = 0; findings != NULL && i < findings->list.n; i++)
        html_finding(out, findings->list.at[i]);
    if (findings != NULL && findings->dropped != 0)
        output_format(out, "<p>%u more findings were counted and not kept.</p>\n", findings->dropped);
}

static void param_rows(struct output *out, const struct record_kernel *kernel) {
    output_text(out, "<div class=\"wide\"><table><tr><th>#<th>offset<th>size<th>align<th>name<th>what"
                     "<th>alignment needed<th>used</tr>\n");
    for (uint32_t i = 0; i < kernel->params.n; i++) {
        const struct record_param *param = &kernel->params.at[i];
        output_format(out, "<tr><td class=\"n\">%u<td class=\"n\">%llu<td class=\"n\">%llu<td class=\"n\">%llu"
                           "<td><code>", param->index, (ull)param->offset, (ull)param->size,
                      (ull)param->align);
        html_text(out, param->user_name.len != 0 ? param->user_name : param->name);
        output_text(out, "</code><td>");
        html_text(out, param->what);
        output_text(out, "<td class=\"n\">");
        if (param->align_needed.known) output_format(out, "%llu", (ull)param->align_needed.value);
        output_format(out, "<td>%s</tr>\n", param->used_text);
    }
    output_text(out, "</table></div>\n");
}

static void html_kernel(struct output *out, const struct record_kernel *kernel) {
    output_text(out, "<section><h3>kernel <code>");
    html_text(out, kernel->name);
    output_text(out, "</code></h3>\n");
    if (kernel->demangled.len != 0) tagged(out, "p", "soft mono", kernel->demangled);
    output_text(out, "<div class=\"wide\"><table>\n");
    for (uint32_t i = 0; i < kernel->rows.n; i++) {
        output_format(out, "<tr><th>%s<td>", kernel->rows.at[i].name);
        html_text(out, kernel->rows.at[i].text);
        output_text(out, "<td class=\"soft\">");
        html_text(out, kernel->rows.at[i].from);
        output_text(out, "</tr>\n");
    }
    output_text(out, "</table></div>\n");
    html_param_layout(out, kernel);
    if (kernel->params.n != 0) param_rows(out, kernel);
    html_occupancy_plot(out, &kernel->occupancy, "threads a block", 0, 0);
    if (kernel->launch.len != 0) {
        output_text(out, "<pre>");
        html_text(out, kernel->launch);
        output_text(out, "</pre>\n");
    }
    output_text(out, "</section>\n");
}

static void launch_answer(struct output *out, const struct record_launch *launch) {
    struct output words;
    output_init(&words, out->arena);
    bool succeeds = launch->predicted.result == RESULT_CUDA_SUCCESS;
    if (launch->result_unknown) output_text(&words, "what the driver answers is not known");
    else if (succeeds) output_text(&words, "predicted: CUDA_SUCCESS");
    else {
        output_text(&words, "predicted: ");
        plain_prediction(&words, &launch->predicted);
    }
    if (launch->predicted.confidence != CONFIDENCE_CERTAIN)
        output_format(&words, ", %s", confidence_text((enum confidence)launch->predicted.confidence));
    tagged(out, "p", "predicts", (struct str){words.data, (uint32_t)words.size});
}

static void range_words(struct output *out, const char *verb, bool any, uint64_t low, uint64_t high) {
    if (any) output_format(out, ", %s bytes %llu to %llu", verb, (ull)low, (ull)high);
}

static void launch_memory(struct output *out, const struct record_launch *launch) {
    if (launch->memory.n == 0) return;
    output_text(out, "<p class=\"soft\"><span class=\"key read\"></span>read<span class=\"key write\">"
                     "</span>written<span class=\"key bad\"></span>past the end</p>\n");
    for (uint32_t i = 0; i < launch->memory.n; i++) {
        const struct record_memory *memory = &launch->memory.at[i];
        output_text(out, "<p><code>");
        html_text(out, memory->name);
        output_text(out, "</code>");
        range_words(out, "reads", memory->read, memory->read_low, memory->read_high);
        range_words(out, "writes", memory->written, memory->written_low, memory->written_high);
        if (memory->size.known) output_format(out, "; %llu bytes given", (ull)memory->size.value);
        if (memory->size_needed.known)
            output_format(out, "; needs %llu", (ull)memory->size_needed.value);
        output_text(out, "</p>\n");
        html_buffer_picture(out, memory);
    }
}

static void html_launch(struct output *out, const struct record_launch *launch) {
    output_text(out, "<article class=\"launch ");
    html_text(out, launch->verdict);
    output_text(out, "\"><h3><code>");
    html_text(out, launch->text);
    output_text(out, "</code></h3>\n");
    launch_answer(out, launch);
    if (launch->has_actual) {
        output_format(out, "<p>the GPU answered: %s%s</p>\n",
                      result_text(launch->actual_result) == NULL ? "another result"
                                                                 : result_text(launch->actual_result),
                      launch->agrees ? ", as predicted" : ", not as predicted");
    }
    html_findings(out, launch->findings);
    if (launch->has_occupancy)
        output_format(out, "<p>%u blocks, %u warps per SM, limited by %.*s</p>\n", launch->blocks_per_sm,
                      launch->warps_per_sm, STR_ARG(launch->limiter));
    html_occupancy_plot(out, &launch->over_block, "threads a block", launch->block_threads,
                        launch->sm_warps);
    html_occupancy_plot(out, &launch->over_shared, "bytes of dynamic shared memory",
                        launch->shared_dynamic, launch->sm_warps);
    launch_memory(out, launch);
    if (launch->has_coverage)
        output_format(out, "<p class=\"soft\">dry run: %llu of %llu blocks, %llu accesses at unknown "
                           "addresses</p>\n", (ull)launch->blocks_run, (ull)launch->blocks,
                      (ull)launch->unknown_addresses);
    output_text(out, "</article>\n");
}

static void html_file(const struct report *report, const struct record_file *file,
                      struct output *out) {
    bool clean = file->failure.len == 0 && file->launches.n == 0 && file->kernels.n == 0 &&
                 (file->findings == NULL || file->findings->list.n == 0);
    (void)report;
    tagged(out, "h2", "mono", file->path);
    if (file->failure.len != 0) tagged(out, "p", "error", file->failure);
    if (file->about.len != 0) tagged(out, "p", "soft", file->about);
    if (clean) output_text(out, "<p class=\"soft\">nothing found</p>\n");
    html_findings(out, file->findings);
    for (uint32_t i = 0; i < file->launches.n; i++) html_launch(out, &file->launches.at[i]);
    for (uint32_t i = 0; i < file->kernels.n; i++) html_kernel(out, &file->kernels.at[i]);
}

static void total(struct output *out, const char *class, uint64_t n, const char *one,
                  const char *many) {
    output_format(out, "<li class=\"%s\"><b>%llu</b>%s</li>\n", n == 0 ? "soft" : class, (ull)n,
                  n == 1 ? one : many);
}

static void html_head(const struct report *report, struct output *out) {
    const struct report_totals *totals = &report->totals;
    output_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<title>ptxvet report</title>\n<style>\n");
    for (size_t i = 0; i < sizeof html_style / sizeof html_style[0]; i++) {
        output_text(out, html_style[i]);
        output_byte(out, '\n');
    }
    output_text(out, "</style>\n</head>\n<body>\n<header>\n<h1>ptxvet report</h1>\n<ul class=\"totals\">\n");
    total(out, "file", totals->files, "file", "files");
    if (totals->launches != 0) {
        total(out, "file", totals->launches, "launch", "launches");
        total(out, "error", totals->launches_failing, "failing launch", "failing launches");
    }
    total(out, "error", totals->errors, "error", "errors");
    total(out, "warning", totals->warnings, "warning", "warnings");
    total(out, "note", totals->notes, "note", "notes");
    if (totals->failures != 0) total(out, "error", totals->failures, "file not judged", "files not judged");
    output_text(out, "</ul>\n</header>\n<main>\n");
}

static void html_tail(const struct report *report, struct output *out) {
    bool any = false;
    for (int rule = 1; rule < RULE_COUNT; rule++) {
        if (report->totals.by_rule[rule] == 0) continue;
        if (!any) output_text(out, "<h2>Rules</h2>\n");
        any = true;
        struct str page = rule_page((enum rule)rule);
        output_format(out, "<details id=\"%s\"><summary><code>%s</code> %s, %u found</summary><pre>",
                      rule_infos[rule].code, rule_infos[rule].code, rule_infos[rule].name,
                      report->totals.by_rule[rule]);
        inked(out, page.data, page.len);
        output_text(out, "</pre></details>\n");
    }
    output_text(out, "</main>\n<footer class=\"soft\"><main>ptxvet ");
    html_text(out, report->tool_version);
    output_text(out, "</main></footer>\n</body>\n</html>\n");
}

const struct report_format report_html = {.name = "html", .machine = true, .kernels = true,
                                          .head_last = true, .head = html_head, .file = html_file,
                                          .tail = html_tail};
