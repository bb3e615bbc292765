#include "base/output.h"

#include <stdio.h>

void output_init(struct output *output, struct arena *arena) {
    *output = (struct output){.arena = arena};
}

static char *output_room(struct output *output, size_t size) {
    size_t need = output->size + size;
    if (need > output->capacity) {
        size_t wider = output->capacity == 0 ? 4096 : output->capacity * 2;
        if (wider < need) wider = need;
        output->data = arena_grow(output->arena, output->data, output->size, wider, 1);
        output->capacity = wider;
    }
    char *at = output->data + output->size;
    output->size = need;
    return at;
}

void output_bytes(struct output *output, const char *data, size_t size) {
    if (size != 0) memcpy(output_room(output, size), data, size);
}

void output_str(struct output *output, struct str s) { output_bytes(output, s.data, s.len); }

void output_text(struct output *output, const char *text) {
    output_bytes(output, text, strlen(text));
}

void output_byte(struct output *output, char byte) { *output_room(output, 1) = byte; }

void output_repeat(struct output *output, char byte, size_t times) {
    if (times != 0) memset(output_room(output, times), byte, times);
}

void output_format(struct output *output, const char *format, ...) {
    char small[256];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (len >= 0 && (size_t)len < sizeof small) output_bytes(output, small, (size_t)len);
    else if (len >= 0) {
        char *at = output_room(output, (size_t)len + 1);
        vsnprintf(at, (size_t)len + 1, format, again);
        output->size--;
    }
    va_end(again);
}
