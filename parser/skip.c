#include "parser/internal.h"

// Where a body ends, without reading it: braces are matched, comments and strings jumped over.

// Past the comment or string that begins at `at`, or NULL when it does not end.
static const unsigned char *skip_opaque(const unsigned char *at, const unsigned char *end) {
    const unsigned char *found;
    if (*at == '"') {
        found = memchr(at + 1, '"', (size_t)(end - at) - 1);
        return found == NULL ? NULL : found + 1;
    }
    if (at + 1 == end) return at + 1;
    if (at[1] == '/') {
        found = memchr(at, '\n', (size_t)(end - at));
        return found == NULL ? end : found;
    }
    if (at[1] != '*') return at + 1;
    found = memmem(at + 2, (size_t)(end - at) - 2, "*/", 2);
    return found == NULL ? NULL : found + 2;
}

#if defined(__SSE2__)

#include <emmintrin.h>

static inline uint32_t equal16(__m128i bytes, char byte) {
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte)));
}

// Which of the 16 bytes at `at` are braces, quotes or slashes.
static inline uint32_t marks16(const unsigned char *at) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    return equal16(bytes, '{') | equal16(bytes, '}') | equal16(bytes, '"') | equal16(bytes, '/');
}

// The next brace, quote or slash at or past `at`, or `end`.
static inline const unsigned char *next_mark(const unsigned char *at, const unsigned char *end) {
    for (; end - at >= 64; at += 64) {
        uint64_t marks = (uint64_t)marks16(at) | (uint64_t)marks16(at + 16) << 16 |
                         (uint64_t)marks16(at + 32) << 32 | (uint64_t)marks16(at + 48) << 48;
        if (marks != 0) return at + __builtin_ctzll(marks);
    }
    while (at < end && *at != '{' && *at != '}' && *at != '"' && *at != '/') at++;
    return at;
}

#else

static const unsigned char *next_mark(const unsigned char *at, const unsigned char *end) {
    while (at < end && *at != '{' && *at != '}' && *at != '"' && *at != '/') at++;
    return at;
}

#endif

// Past the brace that matches the one at `at`; NULL when there is none.
static const unsigned char *match_brace(const unsigned char *at, const unsigned char *end) {
    uint64_t depth = 0;
    while ((at = next_mark(at, end)) < end) {
        if (*at == '{') {
            depth++;
            at++;
        } else if (*at == '}') {
            at++;
            if (--depth == 0) return at;
        } else {
            at = skip_opaque(at, end);
            if (at == NULL) return NULL;
        }
    }
    return NULL;
}

// The brace is never closed: to the end, or to the line that begins the next function.
static void skip_unclosed_body(struct parser *p) {
    advance(p);
    p->quiet = true;
    while (!at(p, TOK_END) && !at_function_start(p)) skip_token(p);
    p->quiet = false;
    if (at(p, TOK_END)) unexpected(p, "`}`");
    else report_unclosed(p);
}

void skip_body(struct parser *p) {
    const unsigned char *brace = p->lexer.text + p->token.offset;
    const unsigned char *past = match_brace(brace, p->lexer.end);
    if (past == NULL) {
        skip_unclosed_body(p);
        return;
    }
    p->lexer.cursor = past;
    p->token.offset = (uint32_t)(past - p->lexer.text) - 1;
    p->token.length = 1;
    advance(p);
}
