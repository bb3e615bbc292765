#include "reports/line_hash.h"

#include "reports/plain.h"

// A line's hash is of the first BLOCK characters (UTF-16 units) from its start on, blanks and tabs
// left out, in the ring of a rolling polynomial hash with the factor 37, modulo 2^64. The text ends in
// the unit 65535 and then zeros.
enum { BLOCK = 100, FACTOR = 37, END_UNIT = 65535 };

struct roller {
    struct arena *arena;
    uint16_t window[BLOCK];
    uint32_t line_of[BLOCK];  // the line that starts at this unit, or 0
    uint32_t at, lines;
    uint64_t hash, oldest_factor;
    bool line_start, after_cr;
    VEC_OF(struct line_hash) hashes;
};

static void emit(struct roller *roller) {
    uint32_t line = roller->line_of[roller->at];
    if (line == 0) return;
    *vec_push(roller->arena, &roller->hashes) = (struct line_hash){roller->hash, 0};
    roller->line_of[roller->at] = 0;
}

static void shift(struct roller *roller, uint16_t unit) {
    uint16_t oldest = roller->window[roller->at];
    roller->window[roller->at] = unit;
    roller->hash = roller->hash * FACTOR + unit - roller->oldest_factor * oldest;
    roller->at = (roller->at + 1) % BLOCK;
}

static void take(struct roller *roller, uint16_t unit) {
    bool second_of_pair = roller->after_cr && unit == '\n';
    roller->after_cr = unit == '\r';
    if (unit == ' ' || unit == '\t' || second_of_pair) return;
    if (unit == '\r') unit = '\n';
    emit(roller);
    if (roller->line_start) roller->line_of[roller->at] = ++roller->lines;
    roller->line_start = unit == '\n';
    shift(roller, unit);
}

static void take_text(struct roller *roller, struct str text) {
    for (uint32_t i = 0; i < text.len;) {
        struct glyph glyph = glyph_at(text.data + i, text.len - i);
        i += glyph.bytes;
        if (glyph.code < 0x10000) {
            take(roller, (uint16_t)glyph.code);
            continue;
        }
        take(roller, (uint16_t)(0xd800 + ((glyph.code - 0x10000) >> 10)));
        take(roller, (uint16_t)(0xdc00 + ((glyph.code - 0x10000) & 0x3ff)));
    }
    take(roller, END_UNIT);
    for (int i = 0; i < BLOCK; i++) {
        emit(roller);
        shift(roller, 0);
    }
}

struct seen {
    uint64_t hash;
    uint32_t count;  // 0: the slot is free
};

// Numbers equal hashes: the first is 1, the next 2.
static void number(struct arena *arena, struct line_hash *hashes, uint32_t n) {
    uint32_t slots = 64;
    while (slots < n * 2u) slots *= 2;
    struct seen *table = arena_array(arena, struct seen, slots);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t spread = (hashes[i].hash ^ hashes[i].hash >> 29) * 0x9e3779b97f4a7c15u;
        uint32_t slot = (uint32_t)(spread >> 32) & (slots - 1);
        while (table[slot].count != 0 && table[slot].hash != hashes[i].hash)
            slot = (slot + 1) & (slots - 1);
        table[slot].hash = hashes[i].hash;
        hashes[i].count = ++table[slot].count;
    }
}

struct line_hash *line_hashes(struct arena *arena, struct str text, uint32_t *count) {
    struct roller roller = {.arena = arena, .oldest_factor = 1, .line_start = true};
    for (int i = 0; i < BLOCK; i++) roller.oldest_factor *= FACTOR;
    take_text(&roller, text);
    number(arena, roller.hashes.at, roller.hashes.n);
    *count = roller.hashes.n;
    return roller.hashes.at;
}
