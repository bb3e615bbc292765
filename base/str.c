#include "base/str.h"

#include <stdio.h>

struct str str_from(const char *text) {
    if (text == NULL) return (struct str){NULL, 0};
    return (struct str){text, (uint32_t)strlen(text)};
}

bool str_starts(struct str s, struct str prefix) {
    return s.len >= prefix.len && str_eq((struct str){s.data, prefix.len}, prefix);
}

bool str_ends(struct str s, struct str suffix) {
    return s.len >= suffix.len &&
           str_eq((struct str){s.data + (s.len - suffix.len), suffix.len}, suffix);
}

int str_compare(struct str a, struct str b) {
    uint32_t len = a.len < b.len ? a.len : b.len;
    int order = len == 0 ? 0 : memcmp(a.data, b.data, len);
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

struct str str_copy(struct arena *arena, struct str s) {
    char *data = arena_alloc(arena, (size_t)s.len + 1, 1);
    if (s.len != 0) memcpy(data, s.data, s.len);
    data[s.len] = '\0';
    return (struct str){data, s.len};
}

struct str str_vformat(struct arena *arena, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    if (len < 0) len = 0;
    char *data = arena_alloc(arena, (size_t)len + 1, 1);
    data[0] = '\0';
    vsnprintf(data, (size_t)len + 1, format, again);
    va_end(again);
    return (struct str){data, (uint32_t)len};
}

struct str str_format(struct arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    struct str s = str_vformat(arena, format, args);
    va_end(args);
    return s;
}

enum { DISTANCE_BYTES = 64 };

static uint32_t least3(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t least = a < b ? a : b;
    return least < c ? least : c;
}

uint32_t str_distance(struct str a, struct str b, uint32_t limit) {
    uint32_t rows[3][DISTANCE_BYTES + 1];
    uint32_t n = a.len < DISTANCE_BYTES ? a.len : DISTANCE_BYTES;
    uint32_t m = b.len < DISTANCE_BYTES ? b.len : DISTANCE_BYTES;
    for (uint32_t j = 0; j <= m; j++) rows[0][j] = j;
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (uint32_t j = 1; j <= m; j++) {
            uint32_t cost = a.data[i - 1] != b.data[j - 1];
            row[j] = least3(above[j] + 1, row[j - 1] + 1, above[j - 1] + cost);
            bool swapped = i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] &&
                           a.data[i - 2] == b.data[j - 1];
            if (swapped && above2[j - 2] + 1 < row[j]) row[j] = above2[j - 2] + 1;
        }
    }
    uint32_t distance = rows[n % 3][m];
    return distance <= limit ? distance : limit + 1;
}

uint32_t str_hash(struct str s) {
    uint64_t hash = 0x9e3779b97f4a7c15u ^ s.len;
    const char *at = s.data;
    uint32_t left = s.len;
    for (; left >= 8; at += 8, left -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = (hash ^ word) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    uint64_t word = 0;
    if (left != 0) memcpy(&word, at, left);
    hash = (hash ^ word) * 0xc4ceb9fe1a85ec53u;
    return (uint32_t)(hash ^ (hash >> 32));
}

void names_init(struct names *names, struct arena *arena) {
    *names = (struct names){.arena = arena, .slot_count = 256};
    names->slots = arena_array(arena, uint32_t, names->slot_count);
    names->hashes = arena_array(arena, uint32_t, names->slot_count);
    (void)vec_push(arena, &names->texts);
}

static uint32_t names_slot(const struct names *names, struct str text, uint32_t hash) {
    uint32_t mask = names->slot_count - 1, slot = hash & mask;
    for (; names->slots[slot] != 0; slot = (slot + 1) & mask) {
        uint32_t id = names->slots[slot];
        if (names->hashes[id] == hash && str_eq(names->texts.at[id], text)) break;
    }
    return slot;
}

static void names_widen(struct names *names) {
    uint32_t wider = names->slot_count * 2;
    uint32_t *hashes = arena_array(names->arena, uint32_t, wider);
    memcpy(hashes, names->hashes, names->texts.n * sizeof *hashes);
    uint32_t *slots = arena_array(names->arena, uint32_t, wider);
    for (uint32_t id = 1; id < names->texts.n; id++) {
        uint32_t slot = hashes[id] & (wider - 1);
        while (slots[slot] != 0) slot = (slot + 1) & (wider - 1);
        slots[slot] = id;
    }
    names->hashes = hashes;
    names->slots = slots;
    names->slot_count = wider;
}

name_id names_intern(struct names *names, struct str text) {
    uint32_t hash = str_hash(text);
    uint32_t slot = names_slot(names, text, hash);
    if (names->slots[slot] != 0) return names->slots[slot];
    if (names->texts.n >= names->slot_count / 2) {
        names_widen(names);
        slot = names_slot(names, text, hash);
    }
    uint32_t id = names->texts.n;
    *vec_push(names->arena, &names->texts) = text;
    names->hashes[id] = hash;
    names->slots[slot] = id;
    return id;
}

name_id names_find(const struct names *names, struct str text) {
    return names->slots[names_slot(names, text, str_hash(text))];
}

void names_forget(struct names *names, uint32_t count) {
    uint32_t mask = names->slot_count - 1;
    // Newest first, so that every removal undoes the last insertion: no probe runs through it.
    while (names->texts.n > count) {
        uint32_t id = --names->texts.n, slot = names->hashes[id] & mask;
        while (names->slots[slot] != id) slot = (slot + 1) & mask;
        names->slots[slot] = 0;
    }
}
