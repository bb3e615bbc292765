// String views and interned names.
#ifndef PTXVET_BASE_STR_H
#define PTXVET_BASE_STR_H

#include <stdarg.h>

#include "base/arena.h"

// Bytes somewhere else; not NUL-terminated; `data` may be NULL when `len` is 0.
struct str {
    const char *data;
    uint32_t len;
};

#define STR(literal) ((struct str){(literal), (uint32_t)(sizeof(literal) - 1)})
#define STR_ARG(s) (int)(s).len, (s).data  // for "%.*s"

static inline bool str_eq(struct str a, struct str b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

struct str str_from(const char *text);  // a view of a NUL-terminated string; NULL gives the empty view
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);
int str_compare(struct str a, struct str b);  // byte order, as memcmp

// A copy in the arena, followed by a NUL that `len` does not count.
struct str str_copy(struct arena *arena, struct str s);

// printf into the arena.
struct str str_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct str str_vformat(struct arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

// Number of single-byte edits from a to b (insert, delete, replace, swap of neighbours), or
// `limit + 1` when it is more than `limit`. Both are cut at 64 bytes.
uint32_t str_distance(struct str a, struct str b, uint32_t limit);

// Names are interned once; equal text gives equal ids. Id 0 is no name.
typedef uint32_t name_id;

struct names {
    struct arena *arena;
    VEC_OF(struct str) texts;  // by id; texts.at[0] is empty
    uint32_t *slots;           // open addressing; 0 is free
    uint32_t *hashes;          // by id
    uint32_t slot_count;       // a power of two
};

void names_init(struct names *names, struct arena *arena);

// The id of `text`. The text is not copied: it must live as long as the table.
name_id names_intern(struct names *names, struct str text);

// The id of `text`, or 0 when it was never interned.
name_id names_find(const struct names *names, struct str text);

// Takes the newest names back, down to `count` ids (0 included).
void names_forget(struct names *names, uint32_t count);

static inline struct str names_text(const struct names *names, name_id id) {
    return names->texts.at[id];
}

uint32_t str_hash(struct str s);

#endif
