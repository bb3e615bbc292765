#include "parser/internal.h"

#include <stdlib.h>

// Constants and the expressions made of them. PTX ISA, "Constant Expressions": 64-bit integers,
// signed unless a `U`, a size or a cast makes them unsigned; doubles. What ptxas takes: hexadecimal
// floats stand alone; casts are `(.s64)` and `(.u64)`; a division by zero is refused.

// The low 64 bits, as ptxas keeps them. `overflows`: ptxas says "Constant overflow", since a digit
// follows what is past 63 bits already. What wraps with its last digit is taken (measured:
// 18446744073709551616 is 0, 99999999999999999999 is refused; of 0b, 63 bits are taken).
static uint64_t read_integer(struct str text, bool *is_unsigned, bool *overflows) {
    uint32_t len = text.len, i = 0;
    *is_unsigned = len > 0 && text.data[len - 1] == 'U';
    *overflows = false;
    if (*is_unsigned) len--;
    uint64_t base = 10, value = 0;
    if (len > 1 && text.data[0] == '0') {
        char mark = text.data[1];
        base = mark == 'x' || mark == 'X' ? 16 : mark == 'b' || mark == 'B' ? 2 : 8;
        i = base == 8 ? 1 : 2;
    }
    for (; i < len; i++) {
        char c = text.data[i];
        uint64_t digit = c <= '9' ? (uint64_t)(c - '0') : (uint64_t)((c | 32) - 'a' + 10);
        *overflows = *overflows || value > INT64_MAX;
        value = value * base + digit;
    }
    if (base == 2 && value > INT64_MAX) *overflows = true;
    if (value > INT64_MAX) *is_unsigned = true;
    return value;
}

uint64_t integer_value(struct str text, bool *is_unsigned) {
    bool overflows;
    return read_integer(text, is_unsigned, &overflows);
}

// The integer at hand.
static uint64_t token_integer(struct parser *p, bool *is_unsigned) {
    bool overflows;
    uint64_t value = read_integer(token_text(p), is_unsigned, &overflows);
    if (overflows)
        report(p, RULE_BAD_CONSTANT, token_span(p), "`%.*s` does not fit 64 bits",
               STR_ARG(token_text(p)));
    return value;
}

static uint64_t double_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double bits_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t hex_value(struct str text) {
    bool is_unsigned;
    char copy[20] = "0x";
    uint32_t digits = text.len - 2;
    memcpy(copy + 2, text.data + 2, digits);
    return integer_value((struct str){copy, digits + 2}, &is_unsigned);
}

uint64_t single_to_double_bits(uint64_t bits) {
    uint32_t narrow = (uint32_t)bits;
    float value;
    memcpy(&value, &narrow, sizeof value);
    return double_bits((double)value);
}

static double decimal_value(struct parser *p, struct str text) {
    char small[64];
    char *copy = text.len < sizeof small ? small : arena_alloc(p->body_arena, (size_t)text.len + 1, 1);
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    double value = strtod(copy, NULL);
    if (value > 1.7976931348623157e308)
        report(p, RULE_BAD_CONSTANT, token_span(p), "constant is too great for a double");
    return value;
}

bool at_constant(const struct parser *p) {
    switch (p->token.kind) {
    case TOK_INT: case TOK_FLOAT: case TOK_HEX_FLOAT: case TOK_LPAREN: case TOK_MINUS: case TOK_PLUS:
    case TOK_TILDE: case TOK_NOT: return true;
    case TOK_WORD: return str_eq(token_text(p), STR("WARP_SZ"));
    default: return false;
    }
}

static bool parse_level(struct parser *p, int least, struct constant *left);
static bool parse_ternary(struct parser *p, struct constant *constant);

static void set_integer(struct constant *c, uint64_t bits, bool is_unsigned) {
    c->bits = bits;
    c->is_float = false;
    c->is_unsigned = is_unsigned;
}

static void take_literal(struct parser *p, struct constant *c) {
    struct str text = token_text(p);
    *c = (struct constant){.span = token_span(p)};
    if (at(p, TOK_INT)) c->bits = token_integer(p, &c->is_unsigned);
    else if (at(p, TOK_FLOAT)) {
        c->is_float = true;
        c->bits = double_bits(decimal_value(p, text));
    } else if (at(p, TOK_HEX_FLOAT)) {
        c->is_float = true;
        c->hex = text.len == 10 ? 4 : 8;
        c->bits = c->hex == 8 ? hex_value(text) : single_to_double_bits(hex_value(text));
    } else {
        c->bits = 32;
        c->is_warp_size = true;
    }
    advance(p);
}

static bool parse_cast(struct parser *p, struct constant *c) {
    struct str text = token_text(p);
    bool to_unsigned = str_eq(text, STR(".u64"));
    struct span span = token_span(p);
    if (!to_unsigned && !str_eq(text, STR(".s64"))) {
        struct finding *finding = report(p, RULE_BAD_CONSTANT, span, "`%.*s` cannot be cast to",
                                         STR_ARG(text));
        finding_help(p->findings, finding, "casts in constants are `(.s64)` and `(.u64)`");
    }
    skip_token(p);
    if (!expect(p, TOK_RPAREN, "`)`")) return false;
    if (!enter(p)) return false;
    bool good = parse_level(p, 11, c);
    leave(p);
    if (!good) return false;
    uint64_t bits = c->bits;
    if (c->is_float) {
        double value = bits_double(bits);
        bool fits = value > -9.2e18 && value < 9.2e18;
        bits = fits ? (uint64_t)(int64_t)value : 0;
    }
    set_integer(c, bits, to_unsigned);
    return true;
}

// 0f and its digits stand alone; 0d and its digits are a number like any other (measured).
static bool apply_unary(struct parser *p, enum token_kind sign, struct constant *c) {
    if (c->hex == 8) c->hex = 0;
    if (c->hex != 0) {
        report(p, RULE_BAD_CONSTANT, c->span, "a hexadecimal float takes no operator");
        return false;
    }
    if (sign == TOK_NOT) {
        bool truth = c->is_float ? bits_double(c->bits) != 0 : c->bits != 0;
        set_integer(c, !truth, false);
    } else if (c->is_float) {
        if (sign == TOK_MINUS) c->bits = double_bits(-bits_double(c->bits));
        if (sign == TOK_TILDE) {
            report(p, RULE_BAD_CONSTANT, c->span, "`~` takes an integer");
            return false;
        }
    } else if (sign == TOK_MINUS) c->bits = 0 - c->bits;
    else if (sign == TOK_TILDE) c->bits = ~c->bits;
    return true;
}

static bool parse_unary(struct parser *p, struct constant *c) {
    uint32_t begin = p->token.offset;
    if (at(p, TOK_MINUS) || at(p, TOK_PLUS) || at(p, TOK_TILDE) || at(p, TOK_NOT)) {
        enum token_kind sign = (enum token_kind)p->token.kind;
        advance(p);
        if (!enter(p)) return false;
        bool good = parse_unary(p, c) && apply_unary(p, sign, c);
        leave(p);
        c->is_expression = true;
        c->is_warp_size = false;
        c->span.begin = begin;
        return good;
    }
    if (accept(p, TOK_LPAREN)) {
        if (!enter(p)) return false;
        bool good = at(p, TOK_DOTTED) ? parse_cast(p, c)
                                      : parse_ternary(p, c) && expect(p, TOK_RPAREN, "`)`");
        leave(p);
        c->is_expression = true;
        c->span = (struct span){begin, p->previous_end};
        return good;
    }
    if (!at_constant(p)) {
        unexpected(p, "a constant");
        return false;
    }
    take_literal(p, c);
    return true;
}

static int binding_strength(enum token_kind kind) {
    switch (kind) {
    case TOK_OR: return 1;
    case TOK_AND: return 2;
    case TOK_PIPE: return 3;
    case TOK_CARET: return 4;
    case TOK_AMPERSAND: return 5;
    case TOK_EQUAL: case TOK_NOT_EQUAL: return 6;
    case TOK_LESS: case TOK_GREATER: case TOK_LESS_EQUAL: case TOK_GREATER_EQUAL: return 7;
    case TOK_SHIFT_LEFT: case TOK_SHIFT_RIGHT: return 8;
    case TOK_PLUS: case TOK_MINUS: return 9;
    case TOK_STAR: case TOK_SLASH: case TOK_PERCENT: return 10;
    default: return 0;
    }
}

static double as_double(const struct constant *c) {
    if (c->is_float) return bits_double(c->bits);
    return c->is_unsigned ? (double)c->bits : (double)(int64_t)c->bits;
}

static bool compare(enum token_kind op, int order) {
    switch (op) {
    case TOK_EQUAL: return order == 0;
    case TOK_NOT_EQUAL: return order != 0;
    case TOK_LESS: return order < 0;
    case TOK_GREATER: return order > 0;
    case TOK_LESS_EQUAL: return order <= 0;
    default: return order >= 0;
    }
}

static bool apply_float(struct parser *p, enum token_kind op, struct constant *a,
                        const struct constant *b) {
    double x = as_double(a), y = as_double(b), result;
    switch (op) {
    case TOK_PLUS: result = x + y; break;
    case TOK_MINUS: result = x - y; break;
    case TOK_STAR: result = x * y; break;
    case TOK_SLASH: result = x / y; break;
    case TOK_OR: set_integer(a, x != 0 || y != 0, false); return true;
    case TOK_AND: set_integer(a, x != 0 && y != 0, false); return true;
    default:
        if (binding_strength(op) != 6 && binding_strength(op) != 7) {
            report(p, RULE_BAD_CONSTANT, (struct span){a->span.begin, b->span.end},
                   "this operator takes integers");
            return false;
        }
        set_integer(a, compare(op, (x > y) - (x < y)), false);
        return true;
    }
    a->is_float = true;
    a->bits = double_bits(result);
    return true;
}

static uint64_t divide(enum token_kind op, uint64_t x, uint64_t y, bool is_unsigned) {
    if (is_unsigned) return op == TOK_SLASH ? x / y : x % y;
    int64_t sx = (int64_t)x, sy = (int64_t)y;
    if (sy == -1) return op == TOK_SLASH ? 0 - x : 0;  // INT64_MIN / -1 wraps
    return (uint64_t)(op == TOK_SLASH ? sx / sy : sx % sy);
}

static uint64_t shift(enum token_kind op, uint64_t x, uint64_t by, bool is_unsigned) {
    by &= 63;  // as the host that ptxas runs on does
    if (op == TOK_SHIFT_LEFT) return x << by;
    return is_unsigned ? x >> by : (uint64_t)((int64_t)x >> by);
}

static bool apply_integer(struct parser *p, enum token_kind op, struct constant *a,
                          const struct constant *b) {
    uint64_t x = a->bits, y = b->bits;
    bool is_unsigned = a->is_unsigned || b->is_unsigned;
    switch (op) {
    case TOK_PLUS: set_integer(a, x + y, is_unsigned); return true;
    case TOK_MINUS: set_integer(a, x - y, is_unsigned); return true;
    case TOK_STAR: set_integer(a, x * y, is_unsigned); return true;
    case TOK_PIPE: set_integer(a, x | y, is_unsigned); return true;
    case TOK_CARET: set_integer(a, x ^ y, is_unsigned); return true;
    case TOK_AMPERSAND: set_integer(a, x & y, is_unsigned); return true;
    case TOK_OR: set_integer(a, x != 0 || y != 0, false); return true;
    case TOK_AND: set_integer(a, x != 0 && y != 0, false); return true;
    case TOK_SHIFT_LEFT: case TOK_SHIFT_RIGHT:
        set_integer(a, shift(op, x, y, a->is_unsigned), a->is_unsigned);
        return true;
    case TOK_SLASH: case TOK_PERCENT:
        if (y == 0) {
            report(p, RULE_BAD_CONSTANT, (struct span){a->span.begin, b->span.end},
                   "constant expression divides by zero");
            return false;
        }
        set_integer(a, divide(op, x, y, is_unsigned), is_unsigned);
        return true;
    default: {
        int order = is_unsigned ? (x > y) - (x < y)
                                : ((int64_t)x > (int64_t)y) - ((int64_t)x < (int64_t)y);
        set_integer(a, compare(op, order), false);
        return true;
    }
    }
}

static bool apply(struct parser *p, enum token_kind op, struct constant *a, const struct constant *b) {
    if (a->hex == 8) a->hex = 0;
    if (a->hex != 0 || b->hex == 4) {
        report(p, RULE_BAD_CONSTANT, a->hex != 0 ? a->span : b->span,
               "a hexadecimal float takes no operator");
        return false;
    }
    bool good = a->is_float || b->is_float ? apply_float(p, op, a, b) : apply_integer(p, op, a, b);
    a->is_expression = true;
    a->is_warp_size = false;
    a->span.end = b->span.end;
    return good;
}

// Precedence climbing: operators at least as strong as `least`.
static bool parse_level(struct parser *p, int least, struct constant *left) {
    if (!parse_unary(p, left)) return false;
    for (;;) {
        enum token_kind op = (enum token_kind)p->token.kind;
        int strength = binding_strength(op);
        if (strength == 0 || strength < least) return true;
        advance(p);
        struct constant right;
        if (!parse_level(p, strength + 1, &right) || !apply(p, op, left, &right)) return false;
    }
}

static bool parse_ternary(struct parser *p, struct constant *c) {
    if (!parse_level(p, 1, c)) return false;
    if (!accept(p, TOK_QUESTION)) return true;
    struct constant yes, no;
    bool truth = c->is_float ? bits_double(c->bits) != 0 : c->bits != 0;
    uint32_t begin = c->span.begin;
    if (!enter(p)) return false;
    bool good = parse_ternary(p, &yes) && expect(p, TOK_COLON, "`:`") && parse_ternary(p, &no);
    leave(p);
    if (!good) return false;
    *c = truth ? yes : no;
    c->is_expression = true;
    c->is_warp_size = false;
    c->span = (struct span){begin, no.span.end};
    return true;
}

bool parse_constant(struct parser *p, struct constant *constant) {
    *constant = (struct constant){.span = token_span(p)};
    return parse_ternary(p, constant);
}

bool parse_plain_integer(struct parser *p, uint64_t *value, const char *expected) {
    bool is_unsigned;
    *value = 0;
    if (at(p, TOK_WORD) && str_eq(token_text(p), STR("WARP_SZ"))) *value = 32;
    else if (at(p, TOK_INT)) *value = token_integer(p, &is_unsigned);
    else {
        unexpected(p, expected);
        return false;
    }
    advance(p);
    return true;
}
