#include "analyzer/launch/expression.h"

#include <math.h>
#include <stdlib.h>

#include "base/checked.h"

enum { MAX_DEPTH = 200 };

__extension__ typedef __int128 wide;

void launch_parser_init(struct launch_parser *parser, struct source *source, struct arena *arena,
                        const struct launch_names *names, struct findings *findings) {
    const unsigned char *text = (const unsigned char *)source->text;
    *parser = (struct launch_parser){.lexer = {text, text, text + source->size, {0, 0}},
                                     .source = source,
                                     .arena = arena,
                                     .names = names,
                                     .findings = findings};
}

void launch_advance(struct launch_parser *parser) {
    parser->last_end = parser->lexer.span.end;
    parser->token = launch_next(&parser->lexer);
}

struct str launch_token_text(const struct launch_parser *parser) {
    return source_text(parser->source, parser->lexer.span);
}

bool launch_at_name(const struct launch_parser *parser, const char *name) {
    return parser->token == LAUNCH_NAME && str_eq(launch_token_text(parser), str_from(name));
}

bool launch_accept(struct launch_parser *parser, enum launch_token token) {
    if (parser->failed || parser->token != token) return false;
    launch_advance(parser);
    return true;
}

static struct finding *newest_finding(struct launch_parser *parser) {
    uint32_t n = parser->findings->list.n;
    return n == 0 ? &parser->findings->spare : parser->findings->list.at[n - 1];
}

bool launch_fail(struct launch_parser *parser, struct span span, const char *format, ...) {
    if (parser->failed) return false;
    parser->failed = true;
    struct finding *finding =
        finding_add(parser->findings, RULE_LAUNCH_SYNTAX, (struct place){parser->source, span});
    va_list args;
    va_start(args, format);
    finding->message = str_vformat(parser->findings->arena, format, args);
    va_end(args);
    return false;
}

bool launch_fail_help(struct launch_parser *parser, const char *format, ...) {
    va_list args;
    va_start(args, format);
    newest_finding(parser)->help = str_vformat(parser->findings->arena, format, args);
    va_end(args);
    return false;
}

bool launch_expect(struct launch_parser *parser, enum launch_token token, const char *what) {
    if (launch_accept(parser, token)) return true;
    if (parser->failed) return false;
    struct str found = launch_token_text(parser);
    if (parser->token == LAUNCH_END)
        return launch_fail(parser, parser->lexer.span, "expected %s, found the end of the launch",
                           what);
    unsigned char first = (unsigned char)found.data[0];
    if (first < ' ' || first > '~')
        return launch_fail(parser, parser->lexer.span, "expected %s, found byte 0x%02x", what, first);
    return launch_fail(parser, parser->lexer.span, "expected %s, found `%.*s`", what,
                       STR_ARG(found));
}

static wide to_wide(const struct launch_value *value) {
    return value->negative ? -(wide)value->magnitude : (wide)value->magnitude;
}

static bool from_wide(struct launch_parser *parser, wide number, struct launch_value *value) {
    wide least = -((wide)1 << 63), most = ((wide)1 << 64) - 1;
    if (number < least || number > most)
        return launch_fail(parser, value->span,
                           "the value does not fit 64 bits: it must be from -2^63 to 2^64 - 1");
    value->is_float = false;
    value->is_bool = false;
    value->negative = number < 0;
    value->magnitude = (uint64_t)(number < 0 ? -number : number);
    value->number = (double)number;
    return true;
}

static bool from_double(double number, struct launch_value *value) {
    value->is_float = true;
    value->is_bool = false;
    value->negative = signbit(number) != 0;
    value->number = number;
    return true;
}

static bool is_suffix(char c) { return c == 'u' || c == 'U' || c == 'l' || c == 'L'; }

static int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static bool read_integer(struct launch_parser *parser, struct launch_value *value) {
    struct str text = launch_token_text(parser);
    while (text.len > 1 && is_suffix(text.data[text.len - 1])) text.len--;
    uint64_t base = 10, number = 0;
    uint32_t i = 0;
    if (text.len > 2 && (text.data[1] == 'x' || text.data[1] == 'X')) {
        base = 16;
        i = 2;
    }
    for (; i < text.len; i++) {
        if (text.data[i] == '_') continue;
        uint64_t digit = (uint64_t)digit_value(text.data[i]);
        if (!mul_u64(number, base, &number) || !add_u64(number, digit, &number))
            return launch_fail(parser, parser->lexer.span,
                               "`%.*s` does not fit 64 bits", STR_ARG(text));
    }
    *value = (struct launch_value){.span = parser->lexer.span, .hex = base == 16,
                                   .magnitude = number, .number = (double)number};
    launch_advance(parser);
    return true;
}

// KiB, MiB, GiB behind an integer; 1 and nothing read where there is none.
static uint64_t read_unit(struct launch_parser *parser) {
    static const struct { const char *text; uint64_t bytes; } units[] = {
        {"KiB", 1024}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (!launch_at_name(parser, units[i].text)) continue;
        launch_advance(parser);
        return units[i].bytes;
    }
    return 1;
}

static bool integer_with_unit(struct launch_parser *parser, struct launch_value *value) {
    if (!read_integer(parser, value)) return false;
    uint64_t unit = read_unit(parser);
    value->span.end = parser->last_end;
    return unit == 1 || from_wide(parser, to_wide(value) * (wide)unit, value);
}

static double bits_to_double(struct str digits) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < digits.len; i++) bits = bits << 4 | (uint64_t)digit_value(digits.data[i]);
    double number;
    if (digits.len == 16) memcpy(&number, &bits, sizeof number);
    else {
        uint32_t low = (uint32_t)bits;
        float single;
        memcpy(&single, &low, sizeof single);
        number = (double)single;
    }
    return number;
}

static bool read_float(struct launch_parser *parser, struct launch_value *value) {
    struct str text = launch_token_text(parser);
    *value = (struct launch_value){.span = parser->lexer.span};
    double number;
    if (text.len >= 10 && strchr("fFdD", text.data[1]) != NULL)
        number = bits_to_double((struct str){text.data + 2, text.len - 2});
    else {
        char *plain = arena_alloc(parser->arena, (size_t)text.len + 1, 1);
        uint32_t n = 0;
        for (uint32_t i = 0; i < text.len; i++)
            if (text.data[i] != '_' && text.data[i] != 'f' && text.data[i] != 'F')
                plain[n++] = text.data[i];
        plain[n] = '\0';
        number = strtod(plain, NULL);
    }
    launch_advance(parser);
    return from_double(number, value);
}

bool launch_expression(struct launch_parser *parser, struct launch_value *value);

enum call { CALL_NONE, CALL_CDIV, CALL_MIN, CALL_MAX };

static enum call call_of(struct str name) {
    if (str_eq(name, STR("cdiv"))) return CALL_CDIV;
    if (str_eq(name, STR("min"))) return CALL_MIN;
    if (str_eq(name, STR("max"))) return CALL_MAX;
    return CALL_NONE;
}

static bool apply_cdiv(struct launch_parser *parser, const struct launch_value *b,
                       struct launch_value *a) {
    if (a->is_float || b->is_float)
        return launch_fail(parser, a->span, "`cdiv` takes integers");
    if (b->magnitude == 0) return launch_fail(parser, b->span, "division by zero");
    wide x = to_wide(a), y = to_wide(b), quotient = x / y;
    if (x % y != 0 && (x < 0) == (y < 0)) quotient++;
    return from_wide(parser, quotient, a);
}

static bool apply_choice(struct launch_parser *parser, enum call call, const struct launch_value *b,
                         struct launch_value *a) {
    if (a->is_float || b->is_float) {
        bool less = b->number < a->number;
        return from_double(less == (call == CALL_MIN) ? b->number : a->number, a);
    }
    bool less = to_wide(b) < to_wide(a);
    return from_wide(parser, less == (call == CALL_MIN) ? to_wide(b) : to_wide(a), a);
}

// cdiv(a, b), min(a, b, ...), max(a, b, ...): the name and `(` were read.
static bool call_arguments(struct launch_parser *parser, enum call call, struct span name,
                           struct launch_value *value) {
    if (!launch_expression(parser, value)) return false;
    uint32_t count = 1;
    while (launch_accept(parser, LAUNCH_COMMA)) {
        struct launch_value next;
        if (!launch_expression(parser, &next)) return false;
        value->span = (struct span){name.begin, parser->last_end};
        bool good = call == CALL_CDIV ? apply_cdiv(parser, &next, value)
                                      : apply_choice(parser, call, &next, value);
        if (!good) return false;
        count++;
    }
    if (!launch_expect(parser, LAUNCH_PAREN_END, "`,` or `)`")) return false;
    value->span = (struct span){name.begin, parser->last_end};
    if (count < 2 || (call == CALL_CDIV && count != 2))
        return launch_fail(parser, value->span, "`%.*s` takes two values",
                           STR_ARG(source_text(parser->source, name)));
    return true;
}

static bool named_constant(struct str name, struct launch_value *value) {
    bool is_true = str_eq(name, STR("true")) || str_eq(name, STR("True"));
    if (is_true || str_eq(name, STR("false")) || str_eq(name, STR("False"))) {
        value->is_bool = true;
        value->magnitude = is_true;
        value->number = is_true;
        return true;
    }
    if (str_eq(name, STR("inf")) || str_eq(name, STR("infinity"))) return from_double(INFINITY, value);
    if (str_eq(name, STR("nan"))) return from_double(NAN, value);
    return false;
}

static bool unknown_name(struct launch_parser *parser, struct str name, struct span span) {
    launch_fail(parser, span, "unknown name `%.*s`", STR_ARG(name));
    struct str nearest = {NULL, 0};
    uint32_t best = 3;
    for (uint32_t i = 0; parser->names != NULL && i < parser->names->list.n; i++) {
        struct str known = parser->names->list.at[i].name;
        uint32_t distance = str_distance(name, known, 2);
        if (distance < best) {
            best = distance;
            nearest = known;
        }
    }
    if (nearest.len != 0) return launch_fail_help(parser, "`%.*s` is defined", STR_ARG(nearest));
    return launch_fail_help(parser, "give it a value: -D %.*s=4096", STR_ARG(name));
}

static bool read_name(struct launch_parser *parser, struct launch_value *value) {
    struct str name = launch_token_text(parser);
    struct span span = parser->lexer.span;
    launch_advance(parser);
    enum call call = call_of(name);
    if (call != CALL_NONE && launch_accept(parser, LAUNCH_PAREN))
        return call_arguments(parser, call, span, value);
    *value = (struct launch_value){.span = span};
    for (uint32_t i = parser->names != NULL ? parser->names->list.n : 0; i-- > 0;) {
        if (!str_eq(parser->names->list.at[i].name, name)) continue;
        return from_wide(parser, (wide)parser->names->list.at[i].value, value);
    }
    if (named_constant(name, value)) return true;
    return unknown_name(parser, name, span);
}

static bool primary(struct launch_parser *parser, struct launch_value *value) {
    struct span start = parser->lexer.span;
    switch (parser->token) {
    case LAUNCH_INT: return integer_with_unit(parser, value);
    case LAUNCH_FLOAT: return read_float(parser, value);
    case LAUNCH_NAME: return read_name(parser, value);
    case LAUNCH_PAREN:
        launch_advance(parser);
        if (!launch_expression(parser, value)) return false;
        if (!launch_expect(parser, LAUNCH_PAREN_END, "`)`")) return false;
        value->span = (struct span){start.begin, parser->last_end};
        return true;
    default: return launch_expect(parser, LAUNCH_INT, "a value");
    }
}

static bool unary(struct launch_parser *parser, struct launch_value *value) {
    uint32_t begin = parser->lexer.span.begin;
    bool negate = false, any = false;
    while (parser->token == LAUNCH_MINUS || parser->token == LAUNCH_PLUS) {
        negate ^= parser->token == LAUNCH_MINUS;
        any = true;
        launch_advance(parser);
    }
    if (!primary(parser, value)) return false;
    value->span.begin = begin;
    if (!any || !negate) return true;
    if (value->is_float) return from_double(-value->number, value);
    return from_wide(parser, -to_wide(value), value);
}

static bool divide(struct launch_parser *parser, bool remainder, const struct launch_value *b,
                   struct launch_value *a) {
    if (b->magnitude == 0) return launch_fail(parser, b->span, "division by zero");
    wide x = to_wide(a), y = to_wide(b);
    return from_wide(parser, remainder ? x % y : x / y, a);
}

static bool shift(struct launch_parser *parser, bool left, const struct launch_value *b,
                  struct launch_value *a) {
    if (b->negative || b->magnitude > 63)
        return launch_fail(parser, b->span, "a shift count must be from 0 to 63");
    wide x = to_wide(a), factor = (wide)1 << b->magnitude;
    return from_wide(parser, left ? x * factor : x >> b->magnitude, a);
}

// a = a op b; `a` already spans both.
static bool apply(struct launch_parser *parser, enum launch_token op, const struct launch_value *b,
                  struct launch_value *a) {
    if (a->is_float || b->is_float) {
        switch (op) {
        case LAUNCH_PLUS: return from_double(a->number + b->number, a);
        case LAUNCH_MINUS: return from_double(a->number - b->number, a);
        case LAUNCH_TIMES: return from_double(a->number * b->number, a);
        case LAUNCH_OVER: return from_double(a->number / b->number, a);
        default: return launch_fail(parser, a->span, "this operator takes integers");
        }
    }
    switch (op) {
    case LAUNCH_PLUS: return from_wide(parser, to_wide(a) + to_wide(b), a);
    case LAUNCH_MINUS: return from_wide(parser, to_wide(a) - to_wide(b), a);
    case LAUNCH_TIMES: {
        wide product;
        if (__builtin_mul_overflow(to_wide(a), to_wide(b), &product)) product = (wide)1 << 100;
        return from_wide(parser, product, a);
    }
    case LAUNCH_SHL: case LAUNCH_SHR: return shift(parser, op == LAUNCH_SHL, b, a);
    default: return divide(parser, op == LAUNCH_MODULO, b, a);
    }
}

static int precedence(enum launch_token token) {
    switch (token) {
    case LAUNCH_SHL: case LAUNCH_SHR: return 1;
    case LAUNCH_PLUS: case LAUNCH_MINUS: return 2;
    case LAUNCH_TIMES: case LAUNCH_OVER: case LAUNCH_MODULO: return 3;
    default: return 0;
    }
}

static bool operations(struct launch_parser *parser, int least, struct launch_value *value) {
    if (!unary(parser, value)) return false;
    for (;;) {
        enum launch_token op = parser->token;
        int level = precedence(op);
        if (level == 0 || level < least) return true;
        launch_advance(parser);
        struct launch_value right;
        if (!operations(parser, level + 1, &right)) return false;
        value->span.end = right.span.end;
        value->hex = false;
        if (!apply(parser, op, &right, value)) return false;
    }
}

bool launch_expression(struct launch_parser *parser, struct launch_value *value) {
    if (parser->failed) return false;
    if (++parser->depth > MAX_DEPTH)
        return launch_fail(parser, parser->lexer.span, "nested more than %d deep", MAX_DEPTH);
    bool good = operations(parser, 1, value);
    parser->depth--;
    return good;
}

bool launch_unsigned(struct launch_parser *parser, const char *what, uint64_t *out) {
    struct launch_value value;
    if (!launch_expression(parser, &value)) return false;
    if (value.is_float) return launch_fail(parser, value.span, "%s must be an integer", what);
    if (value.negative && value.magnitude != 0)
        return launch_fail(parser, value.span, "%s must not be negative", what);
    *out = value.magnitude;
    return true;
}
