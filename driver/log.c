// The JIT's log, mapped to the PTX.
#include "driver/driver.h"

static struct str next_line(struct str *log) {
    const char *end = memchr(log->data, '\n', log->len);
    struct str line = {log->data, end != NULL ? (uint32_t)(end - log->data) : log->len};
    uint32_t taken = line.len + (end != NULL);
    log->data += taken;
    log->len -= taken;
    return line;
}

static bool find_text(struct str s, const char *text, struct str *rest) {
    const char *at = s.len == 0 ? NULL : memmem(s.data, s.len, text, strlen(text));
    if (at == NULL) return false;
    uint32_t skip = (uint32_t)(at - s.data) + (uint32_t)strlen(text);
    *rest = (struct str){s.data + skip, s.len - skip};
    return true;
}

// "..., line 10; error   : Text" -> 10 and "Text".
static bool read_line(struct str line, uint32_t *number, struct str *message) {
    struct str rest;
    if (!find_text(line, ", line ", &rest)) return false;
    uint64_t value = 0;
    while (rest.len > 0 && rest.data[0] >= '0' && rest.data[0] <= '9' && value < UINT32_MAX) {
        value = value * 10 + (uint64_t)(rest.data[0] - '0');
        rest.data++;
        rest.len--;
    }
    if (value == 0 || value >= UINT32_MAX || !str_starts(rest, STR("; error"))) return false;
    if (!find_text(rest, ": ", message)) return false;
    *number = (uint32_t)value;
    return true;
}

// The word between the message's first quotes, where it stands on the line; else the line's text.
static struct span place_on(struct source *source, uint32_t number, struct str message) {
    struct str text = source_line(source, number), word, end;
    uint32_t begin = (uint32_t)(text.data - source->text), blank = 0;
    if (text.len == 0) return (struct span){source->size, source->size};
    if (find_text(message, "'", &word) && find_text(word, "'", &end)) {
        word.len -= end.len + 1;
        const char *at = word.len == 0 ? NULL : memmem(text.data, text.len, word.data, word.len);
        if (at != NULL) {
            begin += (uint32_t)(at - text.data);
            return (struct span){begin, begin + word.len};
        }
    }
    while (blank < text.len && (text.data[blank] == ' ' || text.data[blank] == '\t')) blank++;
    return (struct span){begin + blank, begin + text.len};
}

void driver_log_findings(struct str log, struct source *source, enum rule rule,
                         struct findings *findings) {
    while (log.len > 0) {
        struct str line = next_line(&log), message;
        uint32_t number;
        if (!read_line(line, &number, &message)) continue;
        struct place place = {source, place_on(source, number, message)};
        struct finding *finding = finding_add(findings, rule, place);
        finding_message(findings, finding, "the driver says: %.*s", STR_ARG(message));
    }
}
