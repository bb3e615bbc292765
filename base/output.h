// Bytes on their way out. Grows without bound in an arena; the cli writes it in one piece.
#ifndef PTXVET_BASE_OUTPUT_H
#define PTXVET_BASE_OUTPUT_H

#include "base/str.h"

struct output {
    struct arena *arena;
    char *data;
    size_t size, capacity;
};

void output_init(struct output *output, struct arena *arena);
void output_bytes(struct output *output, const char *data, size_t size);
void output_str(struct output *output, struct str s);
void output_text(struct output *output, const char *text);  // NUL-terminated
void output_byte(struct output *output, char byte);
void output_repeat(struct output *output, char byte, size_t times);
void output_format(struct output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
