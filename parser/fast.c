#include "parser/internal.h"

// The statements that make up nearly all of what compilers write, read without tokens: instructions
// over registers, numbers, names and `[base+offset]`, with or without a guard; labels; `.loc`; line
// comments; braces. It is a second reader of a subset, for speed only: whatever is not exactly of
// these forms is left to body.c, from the beginning of the statement, and what is read here comes out
// just as it does there (a test reads everything both ways and compares).
//
// Opcodes are recognised by their bytes among those that body.c has decoded before. Registers are
// resolved by arithmetic: the digits at the end, and the bytes before them against the hints.

#if defined(__SSE2__)

#include <emmintrin.h>

// Loads reach this far past the byte looked at; nearer to the end body.c takes over.
enum { REACH = 64, NAME_MAX_HERE = 65536 };

static inline __m128i load16(const unsigned char *at) {
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

static inline uint64_t load8(const unsigned char *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

// Per byte: all ones where low <= byte < low + count.
static inline __m128i in_range(__m128i bytes, char low, int count) {
    __m128i shifted = _mm_add_epi8(bytes, _mm_set1_epi8((char)(128 - low)));
    return _mm_cmplt_epi8(shifted, _mm_set1_epi8((char)(count - 128)));
}

static inline __m128i digits16(__m128i bytes) { return in_range(bytes, '0', 10); }

// [A-Za-z0-9_$]
static inline __m128i names16(__m128i bytes) {
    __m128i letters = in_range(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 26);
    __m128i signs = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('_')),
                                 _mm_cmpeq_epi8(bytes, _mm_set1_epi8('$')));
    return _mm_or_si128(_mm_or_si128(letters, digits16(bytes)), signs);
}

static inline uint32_t bits(__m128i bytes) { return (uint32_t)_mm_movemask_epi8(bytes); }

static inline bool is_name_byte(unsigned char c) {
    return (unsigned char)((c | 0x20) - 'a') < 26 || (unsigned char)(c - '0') < 10 || c == '_' ||
           c == '$';
}

static inline const unsigned char *skip_blanks(const unsigned char *at) {
    while (*at == ' ' || *at == '\t') at++;
    return at;
}

// ---- numbers ----------------------------------------------------------------------------------

// The value of the `count` (1 to 8) digits that end at `past`.
static inline uint32_t digits_value(const unsigned char *past, uint32_t count) {
    uint64_t word = load8(past - 8), keep = ~(uint64_t)0 << (64 - 8 * count);
    word = (word & keep) | (0x3030303030303030u & ~keep);
    word = (word & 0x0f0f0f0f0f0f0f0fu) * 2561 >> 8;
    word = (word & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
    return (uint32_t)((word & 0x0000ffff0000ffffu) * 42949672960001u >> 32);
}

// A decimal number of at most 16 digits without leading zeros. Past it; NULL when it is not just that.
static inline const unsigned char *read_decimal(const unsigned char *at, uint64_t *value) {
    uint32_t count = (uint32_t)__builtin_ctz(~bits(digits16(load16(at))));
    if (count == 0 || count > 15 || (*at == '0' && count > 1)) return NULL;
    const unsigned char *past = at + count;
    if (is_name_byte(*past) || *past == '.') return NULL;
    if (count <= 8) *value = digits_value(past, count);
    else *value = digits_value(past - 8, count - 8) * (uint64_t)100000000 + digits_value(past, 8);
    return past;
}

static inline int hex_digit(unsigned char c) {
    if ((unsigned char)(c - '0') < 10) return c - '0';
    unsigned char letter = (unsigned char)((c | 0x20) - 'a');
    return letter < 6 ? letter + 10 : -1;
}

static const unsigned char *read_hex(const unsigned char *at, int count, uint64_t *value) {
    *value = 0;
    for (int i = 0; i < count; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0) return NULL;
        *value = *value << 4 | (uint64_t)digit;
    }
    return is_name_byte(at[count]) || at[count] == '.' ? NULL : at + count;
}

static const unsigned char *read_number(const unsigned char *at, struct operand *operand) {
    const unsigned char *digits = at + (*at == '-');
    unsigned char second = digits[1] | 0x20;
    if (*digits == '0' && (second == 'f' || second == 'd')) {
        if (*at == '-') return NULL;
        operand->kind = OPERAND_FLOAT;
        operand->hex = second == 'f' ? 4 : 8;
        at = read_hex(digits + 2, second == 'f' ? 8 : 16, &operand->value);
        if (second == 'f') operand->value = single_to_double_bits(operand->value);
        return at;
    }
    operand->kind = OPERAND_INT;
    if (*at == '-') operand->flags = OPERAND_EXPRESSION;
    const unsigned char *past = read_decimal(digits, &operand->value);
    if (*at == '-') operand->value = 0 - operand->value;
    return past;
}

// ---- names ------------------------------------------------------------------------------------

static uint32_t long_name(const unsigned char *at, const unsigned char *end) {
    uint32_t length = 16;
    while (at + length < end && is_name_byte(at[length])) length++;
    return length;
}

static inline bool begins_name(unsigned char c) {
    return (unsigned char)((c | 0x20) - 'a') < 26 || c == '%' || c == '$' || c == '_';
}

// The identifier at `at`, resolved. Past it; NULL when it is none.
static inline const unsigned char *read_name(struct parser *p, const unsigned char *at,
                                             struct operand *operand) {
    __m128i bytes = load16(at);
    uint32_t name = bits(names16(bytes)) | 1;
    uint32_t length = (uint32_t)__builtin_ctz(~name);
    if (length < 16) {
        uint32_t other = ~bits(digits16(bytes)) & ((1u << length) - 1);
        uint32_t prefix = other == 0 ? 0 : 32 - (uint32_t)__builtin_clz(other);
        if (prefix - 1 < 6 && length - prefix - 1 < 8) {
            uint64_t key = (load8(at) & (((uint64_t)1 << 8 * prefix) - 1)) | (uint64_t)prefix << 56;
            const struct range_hint *hint = range_hint_slot(p, key);
            uint32_t number = digits_value(at + length, length - prefix);
            if (hint->key == key && number < hint->count) {
                operand->kind = hint->kind;
                operand->var = hint->var;
                operand->number = number;
                return at + length;
            }
        }
    } else
        length = long_name(at, p->lexer.end);
    if (length > NAME_MAX_HERE) return NULL;
    if (!begins_name(*at) || (length == 1 && (unsigned char)((*at | 0x20) - 'a') >= 26)) return NULL;
    struct str text = {(const char *)at, length};
    if (*at == 'W' && str_eq(text, STR("WARP_SZ"))) return NULL;
    resolve(p, text, operand);
    return at + length;
}

// ---- operands ---------------------------------------------------------------------------------

static inline uint32_t offset_of(const struct parser *p, const unsigned char *at) {
    return (uint32_t)(at - p->lexer.text);
}

static inline struct operand *push_raw(struct parser *p, struct operand **at, uint32_t *n,
                                       uint32_t *cap) {
    if (*n == *cap)
        *at = vec_grow(p->body_arena, *at, cap, sizeof **at, _Alignof(max_align_t));
    return &(*at)[(*n)++];
}

// Operands are filled where they stay: to copy one as a whole would wait for its parts to be stored.
static inline void clear_operand(struct operand *operand, uint32_t offset) {
    memset(operand, 0, sizeof *operand);
    operand->offset = offset;
}

#define PUSH_OPERAND(p) \
    push_raw(p, &(p)->body.operands.at, &(p)->body.operands.n, &(p)->body.operands.cap)
#define PUSH_ELEMENT(p) \
    push_raw(p, &(p)->body.elements.at, &(p)->body.elements.n, &(p)->body.elements.cap)

// A register, a name with or without one of .x .y .z .w, or a number.
static inline const unsigned char *read_simple(struct parser *p, const unsigned char *at,
                                               struct operand *operand) {
    clear_operand(operand, offset_of(p, at));
    const unsigned char *past;
    if ((unsigned char)(*at - '0') < 10 || *at == '-') past = read_number(at, operand);
    else {
        past = read_name(p, at, operand);
        if (past != NULL && *past == '.') {
            unsigned char component = past[1];
            if (component < 'w' || component > 'z' || is_name_byte(past[2]) || past[2] == '.')
                return NULL;
            operand->component = component == 'w' ? 4 : (uint8_t)(component - 'x' + 1);
            past += 2;
        }
    }
    if (past != NULL) operand->end = offset_of(p, past);
    return past;
}

// [base], [base+N] and [base+-N]
static inline const unsigned char *read_address(struct parser *p, const unsigned char *at,
                                                struct operand *operand) {
    uint32_t first = p->body.elements.n;
    struct operand *base = PUSH_ELEMENT(p);
    const unsigned char *begin = skip_blanks(at + 1);
    if ((unsigned char)(*begin - '0') < 10) return NULL;
    clear_operand(base, offset_of(p, begin));
    const unsigned char *past = read_name(p, begin, base);
    if (past == NULL) return NULL;
    base->end = offset_of(p, past);
    uint64_t value = 0;
    if (*past != ']') {
        past = skip_blanks(past);
        if (*past == '+') {
            past = skip_blanks(past + 1);
            bool minus = *past == '-';
            past = read_decimal(past + minus, &value);
            if (past == NULL) return NULL;
            if (minus) value = 0 - value;
            past = skip_blanks(past);
        }
        if (*past != ']') return NULL;
    }
    clear_operand(operand, offset_of(p, at));
    operand->kind = OPERAND_ADDRESS;
    operand->end = offset_of(p, past + 1);
    operand->value = value;
    operand->count = 1;
    operand->first = first;
    return past + 1;
}

// {a, b, c}
static const unsigned char *read_vector(struct parser *p, const unsigned char *at,
                                        struct operand *operand) {
    clear_operand(operand, offset_of(p, at));
    operand->kind = OPERAND_VECTOR;
    operand->first = p->body.elements.n;
    do {
        if (p->lexer.end - at < REACH) return NULL;
        at = read_simple(p, skip_blanks(at + 1), PUSH_ELEMENT(p));
        if (at == NULL) return NULL;
        at = skip_blanks(at);
    } while (*at == ',');
    if (*at != '}') return NULL;
    operand->count = p->body.elements.n - operand->first;
    operand->end = offset_of(p, at + 1);
    return at + 1;
}

// All operands, up to the semicolon. Past it.
static inline const unsigned char *read_operands(struct parser *p, const unsigned char *at,
                                                 uint32_t *count) {
    *count = 0;
    if (*at == ';') return at + 1;
    for (;;) {
        struct operand *operand = PUSH_OPERAND(p);
        if (p->lexer.end - at < REACH) return NULL;
        if (*at == '[') at = read_address(p, at, operand);
        else if (*at == '{') at = read_vector(p, at, operand);
        else at = read_simple(p, at, operand);
        if (at == NULL) return NULL;
        ++*count;
        at = skip_blanks(at);
        if (*at == ';') return at + 1;
        if (*at != ',') return NULL;
        at = skip_blanks(at + 1);
    }
}

// ---- opcodes ----------------------------------------------------------------------------------

// Length of the run of name bytes, dots and colons at `at`.
static inline uint32_t opcode_length(const unsigned char *at, const unsigned char *end) {
    uint32_t length = 0;
    for (; end - at - length >= REACH; length += 16) {
        __m128i bytes = load16(at + length);
        __m128i dots = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('.')),
                                    _mm_cmpeq_epi8(bytes, _mm_set1_epi8(':')));
        uint32_t run = bits(_mm_or_si128(names16(bytes), dots));
        if (run != 0xffff) return length + (uint32_t)__builtin_ctz(~run);
    }
    return 0;
}

static inline uint64_t first_word(const unsigned char *at, uint32_t length) {
    uint64_t word = load8(at);
    return length >= 8 ? word : word & (((uint64_t)1 << 8 * length) - 1);
}

// The first of the slots where a text of these bytes may be.
static inline struct form_hint *form_hints(struct parser *p, uint64_t first, uint64_t last,
                                           uint32_t length) {
    uint64_t hash = (first ^ last * 0x9e3779b97f4a7c15u ^ length) * 0xff51afd7ed558ccdu;
    return &p->form_hints[hash >> (64 - FORM_HINT_BITS)];
}

static inline bool is_form(const struct form_hint *hint, const unsigned char *at, uint64_t first,
                           uint64_t last, uint32_t length) {
    return hint->length == length && hint->first == first && hint->last == last &&
           (length <= 16 || memcmp(hint->text + 8, at + 8, length - 16) == 0);
}

void remember_form(struct parser *p, struct str text, uint32_t form) {
    const unsigned char *at = (const unsigned char *)text.data;
    if (p->lexer.end - at < REACH + (ptrdiff_t)text.len) return;
    if (text.len != opcode_length(at, p->lexer.end)) return;  // blanks inside
    uint64_t first = first_word(at, text.len);
    uint64_t last = text.len >= 8 ? load8(at + text.len - 8) : 0;
    struct form_hint *hint = form_hints(p, first, last, text.len);
    uint32_t way = 0;
    while (way < FORM_HINT_WAYS - 1 && hint[way].length != 0) way++;
    hint[way] = (struct form_hint){first, last, text.data, text.len, form};
}

// The form whose text is the `length` bytes at `at`, if it is remembered.
static inline const struct form_hint *recall_form(struct parser *p, const unsigned char *at,
                                                  uint32_t length) {
    uint64_t first = first_word(at, length);
    uint64_t last = length >= 8 ? load8(at + length - 8) : 0;
    const struct form_hint *hint = form_hints(p, first, last, length);
    for (uint32_t way = 0; way < FORM_HINT_WAYS; way++)
        if (is_form(&hint[way], at, first, last, length)) return &hint[way];
    return NULL;
}

// ---- statements -------------------------------------------------------------------------------

// To the next byte that is neither blank nor in a line comment; NULL near the end.
static const unsigned char *next_token(const unsigned char *at, const unsigned char *end) {
    while (end - at >= REACH) {
        if (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') at++;
        else if (at[0] == '/' && at[1] == '/') {
            at = memchr(at, '\n', (size_t)(end - at));
            if (at == NULL) return NULL;
        } else return at;
    }
    return NULL;
}

static inline const unsigned char *read_guard(struct parser *p, const unsigned char *at,
                                              struct instruction *instruction) {
    struct operand *guard = PUSH_ELEMENT(p);
    at++;
    instruction->guard = *at == '!' ? GUARD_UNLESS : GUARD_IF;
    at += *at == '!';
    if ((unsigned char)(*at - '0') < 10) return NULL;
    clear_operand(guard, offset_of(p, at));
    at = read_name(p, at, guard);
    if (at == NULL || (*at != ' ' && *at != '\t')) return NULL;
    guard->end = offset_of(p, at);
    instruction->guard_operand = p->body.elements.n - 1;
    return skip_blanks(at);
}

static inline struct instruction *new_instruction(struct parser *p) {
    struct body *body = &p->body;
    if (body->instructions.n == body->instructions.cap)
        body->instructions.at =
            vec_grow(p->body_arena, body->instructions.at, &body->instructions.cap,
                     sizeof *body->instructions.at, _Alignof(max_align_t));
    struct instruction *instruction = &body->instructions.at[body->instructions.n++];
    memset(instruction, 0, sizeof *instruction);
    instruction->guard_operand = NO_INDEX;
    return instruction;
}

static inline const unsigned char *read_instruction(struct parser *p, const unsigned char *at) {
    struct body *body = &p->body;
    uint32_t operand_first = body->operands.n, element_first = body->elements.n, count;
    struct instruction *instruction = new_instruction(p);
    if (*at == '@') at = read_guard(p, at, instruction);
    if (at == NULL) goto give_up;
    uint32_t length = opcode_length(at, p->lexer.end);
    const struct form_hint *hint = length == 0 ? NULL : recall_form(p, at, length);
    if (hint == NULL) goto give_up;
    const struct form_key *form = &p->form_keys.at[hint->form];
    if (form->is_call) goto give_up;
    instruction->offset = offset_of(p, at);
    instruction->opcode_end = instruction->offset + length;
    instruction->form = hint->form;
    instruction->operand_first = operand_first;
    instruction->vector_misplaced = form->vector_misplaced;
    instruction->loc = p->loc;
    instruction->scope = p->blocks.at[p->blocks.n - 1].scope;
    at = read_operands(p, skip_blanks(at + length), &count);
    if (at == NULL || count > UINT16_MAX) goto give_up;
    instruction->operand_count = (uint16_t)count;
    instruction->end = offset_of(p, at);
    if (p->unresolved) note_unresolved(p, operand_first, element_first);
    return at;
give_up:
    body->instructions.n--;
    body->operands.n = operand_first;
    body->elements.n = element_first;
    p->unresolved = false;
    return NULL;
}

// NAME: where no list of targets follows.
static const unsigned char *read_label(struct parser *p, const unsigned char *at) {
    uint32_t length = 1;
    while (is_name_byte(at[length])) length++;
    const unsigned char *past = at + length + 1, *next;
    if (past[-1] != ':' || *past == ':' || (length == 1 && (unsigned char)((*at | 0x20) - 'a') >= 26))
        return NULL;
    next = next_token(past, p->lexer.end);
    if (next == NULL) return NULL;
    if (*next == '.' && memcmp(next, ".loc", 4) != 0) return NULL;
    uint32_t offset = offset_of(p, at);
    add_label(p, (struct str){(const char *)at, length}, (struct span){offset, offset + length});
    return past;
}

// .loc FILE LINE COLUMN, with no function name behind it.
static inline const unsigned char *read_loc(struct parser *p, const unsigned char *at) {
    struct loc loc = {.offset = offset_of(p, at)};
    uint64_t values[3];
    if (memcmp(at, ".loc", 4) != 0) return NULL;
    at += 4;
    for (int i = 0; i < 3; i++) {
        if ((*at != ' ' && *at != '\t') || p->lexer.end - at < REACH) return NULL;
        at = read_decimal(skip_blanks(at), &values[i]);
        if (at == NULL) return NULL;
    }
    // A function name would follow a comma.
    const unsigned char *next = next_token(at, p->lexer.end);
    if (next == NULL || *next == ',' || *next == '/') return NULL;
    loc.file = (uint32_t)values[0];
    loc.line = (uint32_t)values[1];
    loc.column = (uint32_t)values[2];
    p->loc = p->body.locs.n;
    *vec_push(p->body_arena, &p->body.locs) = loc;
    return at;
}

// To the end of a line comment that holds only ASCII; NULL else.
static inline const unsigned char *read_comment(const unsigned char *at, const unsigned char *end) {
    for (; end - at >= REACH; at += 16) {
        __m128i bytes = load16(at);
        uint32_t stop = bits(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')),
                                          _mm_cmpeq_epi8(bytes, _mm_setzero_si128()))) |
                        bits(bytes);
        if (stop == 0) continue;
        at += __builtin_ctz(stop);
        return *at == '\n' ? at + 1 : NULL;
    }
    return NULL;
}

// One statement, or what may stand between two. Past it; NULL when it is for body.c.
static inline const unsigned char *read_one(struct parser *p, const unsigned char *at) {
    const unsigned char *past;
    switch (*at) {
    case '/': return at[1] == '/' ? read_comment(at, p->lexer.end) : NULL;
    case '.': return read_loc(p, at);
    case '$': case '_': case '%': return read_label(p, at);
    case '{':
        if (p->blocks.n >= p->max_nesting) return NULL;
        open_block(p, offset_of(p, at));
        return at + 1;
    case '}':
        if (p->blocks.n <= 1) return NULL;
        close_block(p);
        return at + 1;
    case '@': return read_instruction(p, at);
    default:
        if ((unsigned char)((*at | 0x20) - 'a') >= 26) return NULL;
        past = read_instruction(p, at);
        return past != NULL ? past : read_label(p, at);
    }
}

bool read_fast(struct parser *p) {
    const unsigned char *begin = p->lexer.text + p->token.offset, *at = begin;
    const unsigned char *done = begin, *last = begin;  // read; the end of the last token in it
    while (p->lexer.end - at >= REACH) {
        if (*at == '\n' || *at == '\t' || *at == ' ' || *at == '\r') {
            at++;
            continue;
        }
        bool comment = *at == '/';
        at = read_one(p, at);
        if (at == NULL) break;
        done = at;
        if (!comment) last = at;
    }
    if (done == begin) return false;
    p->lexer.cursor = done;
    p->token.offset = offset_of(p, last) - 1;
    p->token.length = 1;
    advance(p);
    return true;
}

#else

void remember_form(struct parser *p, struct str text, uint32_t form) {
    (void)p;
    (void)text;
    (void)form;
}

bool read_fast(struct parser *p) {
    (void)p;
    return false;
}

#endif
