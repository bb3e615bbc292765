#include "reports/json_text.h"

#include "reports/plain.h"

void json_text_start(struct json_text *json, struct arena *arena) {
    output_init(&json->scratch, arena);
    output_byte(&json->scratch, ' ');  // jansson takes no NULL, even for an empty text
}

json_t *json_text_value(struct json_text *json, struct str text) {
    struct output *scratch = &json->scratch;
    size_t begin = scratch->size;
    for (uint32_t i = 0; i < text.len;) {
        struct glyph glyph = glyph_at(text.data + i, text.len - i);
        if (glyph.valid) output_bytes(scratch, text.data + i, glyph.bytes);
        else output_text(scratch, "\xef\xbf\xbd");
        i += glyph.bytes;
    }
    json_t *value = json_stringn_nocheck(scratch->data + begin, scratch->size - begin);
    scratch->size = begin;
    return value;
}

void json_text_set(struct json_text *json, json_t *object, const char *key, struct str text) {
    json_object_set_new(object, key, json_text_value(json, text));
}

void json_text_set_or_null(struct json_text *json, json_t *object, const char *key,
                           struct str text) {
    if (text.len == 0) json_object_set_new(object, key, json_null());
    else json_text_set(json, object, key, text);
}

json_t *json_text_integer(uint64_t value) {
    if (value > INT64_MAX) return json_real((double)value);
    return json_integer((json_int_t)value);
}

void json_text_number(json_t *object, const char *key, uint64_t value) {
    json_object_set_new(object, key, json_text_integer(value));
}

void json_text_dump(json_t *value, struct output *out) {
    size_t size = json_dumpb(value, NULL, 0, JSON_COMPACT);
    char *text = arena_alloc(out->arena, size + 1, 1);
    json_dumpb(value, text, size, JSON_COMPACT);
    output_bytes(out, text, size);
    json_decref(value);
}
