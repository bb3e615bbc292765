#include "cli/sinks.h"

#include <errno.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/settings.h"

int write_all(int descriptor, const char *data, size_t size) {
    while (size != 0) {
        ssize_t written = write(descriptor, data, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        data += written;
        size -= (size_t)written;
    }
    return 0;
}

static const struct report_format *named_format(struct str name) {
    const struct report_format *format = report_format_find(name);
    if (format == NULL) complain("unknown format `%.*s`", STR_ARG(name));
    return format;
}

static bool add_file(struct sinks *sinks, const struct options *options, struct str value) {
    const char *colon = memchr(value.data, ':', value.len);
    uint32_t name = colon == NULL ? 0 : (uint32_t)(colon - value.data);
    if (name == 0 || name + 1 == value.len) {
        complain("-o takes FORMAT:PATH, not `%.*s`", STR_ARG(value));
        return false;
    }
    if (sinks->count == SINKS_MOST) {
        complain("at most %d reports in one run", SINKS_MOST);
        return false;
    }
    struct sink *sink = &sinks->at[sinks->count];
    *sink = (struct sink){.format = named_format((struct str){value.data, name})};
    sink->is_file = true;
    if (sink->format == NULL) return false;
    struct str path = {value.data + name + 1, value.len - name - 1};
    // A file has colour only when it is asked for by name.
    sink->style = settings_style(options, -1);
    if (!str_eq(option_text(options, OPTION_color, "auto"), STR("always"))) sink->style.colour = false;
    int trouble = whole_file_open(&sink->file, sinks->arena, path);
    if (trouble != 0) {
        complain("cannot write %.*s: %s", STR_ARG(path), strerror(trouble));
        return false;
    }
    sinks->count++;
    return true;
}

bool sinks_open(struct sinks *sinks, struct arena *arena, const struct options *options) {
    *sinks = (struct sinks){.count = 1};
    sinks->arena = arena;
    sinks->at[0] = (struct sink){.format = named_format(option_text(options, OPTION_format, "text")),
                                 .file = {.descriptor = STDOUT_FILENO},
                                 .style = settings_style(options, STDOUT_FILENO)};
    bool good = sinks->at[0].format != NULL;
    const struct option_values *outputs = &options->values[OPTION_output];
    for (uint32_t i = 0; i < outputs->list.n && good; i++)
        good = add_file(sinks, options, outputs->list.at[i]);
    for (uint32_t i = 0; i < sinks->count; i++) output_init(&sinks->at[i].held, arena);
    if (!good) sinks_abandon(sinks);
    return good;
}

static void sink_write(struct sink *sink, const char *data, size_t size) {
    if (sink->trouble == 0) sink->trouble = write_all(sink->file.descriptor, data, size);
}

static void write_part(struct sink *sink, const struct report *report, struct arena *arena,
                       void (*part)(const struct report *, struct output *)) {
    struct output out;
    struct report styled = *report;
    styled.style = sink->style;
    output_init(&out, arena);
    if (part != NULL) part(&styled, &out);
    sink_write(sink, out.data, out.size);
}

void sinks_head(struct sinks *sinks, const struct report *report) {
    for (uint32_t i = 0; i < sinks->count; i++)
        if (!sinks->at[i].format->head_last)
            write_part(&sinks->at[i], report, sinks->arena, sinks->at[i].format->head);
}

static void put_piece(struct sink *sink, const char *data, size_t size) {
    if (sink->format->head_last) output_bytes(&sink->held, data, size);
    else sink_write(sink, data, size);
}

// Cuts a piece after the last record that the document may still hold. Records end in the separator,
// whose line end stands nowhere else.
static size_t within_limit(struct sink *sink, const char *data, size_t size) {
    uint32_t most = sink->format->most_records;
    if (most == 0) return size;
    const char *at = data, *end = data + size;
    while (at < end && sink->records < most) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        sink->records++;
        if (line_end == NULL) return size;
        at = line_end + 1;
    }
    size_t kept = (size_t)(at - data);
    size_t separator = strlen(sink->format->separator);
    return kept >= separator && at < end ? kept - separator : kept;
}

void sink_piece(struct sink *sink, const char *data, size_t size) {
    size = within_limit(sink, data, size);
    if (size == 0) return;
    const char *separator = sink->format->separator;
    if (sink->any_piece && separator != NULL) put_piece(sink, separator, strlen(separator));
    put_piece(sink, data, size);
    sink->any_piece = true;
}

static bool finish(struct sink *sink) {
    if (sink->is_file && sink->trouble == 0) sink->trouble = whole_file_keep(&sink->file);
    else if (sink->is_file) whole_file_drop(&sink->file);
    if (sink->trouble == 0) return true;
    complain("cannot write %s: %s", sink->is_file ? sink->file.path.data : "standard output",
             strerror(sink->trouble));
    return false;
}

bool sinks_finish(struct sinks *sinks, const struct report *report) {
    bool good = true;
    for (uint32_t i = 0; i < sinks->count; i++) {
        struct sink *sink = &sinks->at[i];
        if (sink->format->head_last) {
            write_part(sink, report, sinks->arena, sink->format->head);
            sink_write(sink, sink->held.data, sink->held.size);
        }
        write_part(sink, report, sinks->arena, sink->format->tail);
        good = finish(sink) && good;
    }
    return good;
}

void sinks_abandon(struct sinks *sinks) {
    for (uint32_t i = 0; i < sinks->count; i++)
        if (sinks->at[i].is_file) whole_file_drop(&sinks->at[i].file);
}
