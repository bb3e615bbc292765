// JSON values from our texts and numbers.
//
// jansson builds and writes them: it is the JSON library that Debian's C programs use most, checks
// UTF-8, keeps the order of keys and 64-bit integers, and stands in every distribution.
#ifndef PTXVET_REPORTS_JSON_TEXT_H
#define PTXVET_REPORTS_JSON_TEXT_H

#include <jansson.h>

#include "base/output.h"

// Where texts are put together on their way into a value.
struct json_text {
    struct output scratch;
};

void json_text_start(struct json_text *json, struct arena *arena);

// Any bytes as a JSON string; what is no UTF-8 becomes U+FFFD.
json_t *json_text_value(struct json_text *json, struct str text);
void json_text_set(struct json_text *json, json_t *object, const char *key, struct str text);
void json_text_set_or_null(struct json_text *json, json_t *object, const char *key, struct str text);

// jansson's integers are signed; what is larger than they hold is written as a real.
json_t *json_text_integer(uint64_t value);
void json_text_number(json_t *object, const char *key, uint64_t value);

// Writes the value in one line, and lets it go.
void json_text_dump(json_t *value, struct output *out);

#endif
