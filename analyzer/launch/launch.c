#include "analyzer/launch/launch.h"

#include <math.h>

#include "analyzer/launch/expression.h"
#include "analyzer/launch/scalar.h"
#include "analyzer/launch/tensor.h"
#include "base/checked.h"

#include "analyzer/launch/launch_lexer.re.h"

// What follows `(` up to its `)` has a comma of its own: `(x, y)`, not `(a + b) * c`.
static bool is_tuple(const struct launch_parser *parser) {
    struct launch_parser ahead = *parser;
    uint32_t depth = 0;
    for (;;) {
        launch_advance(&ahead);
        if (ahead.token == LAUNCH_END) return false;
        if (ahead.token == LAUNCH_COMMA && depth == 0) return true;
        if (ahead.token == LAUNCH_PAREN || ahead.token == LAUNCH_BRACKET) depth++;
        if (ahead.token != LAUNCH_PAREN_END && ahead.token != LAUNCH_BRACKET_END) continue;
        if (depth-- == 0) return false;
    }
}

// (x, y, z) with the `(` read; parts left out are 1.
static bool tuple(struct launch_parser *parser, uint64_t out[3]) {
    for (int axis = 0; axis < 3; axis++) {
        if (axis > 0 && parser->token == LAUNCH_PAREN_END) break;  // (64,)
        if (!launch_unsigned(parser, "a dimension", &out[axis])) return false;
        if (!launch_accept(parser, LAUNCH_COMMA)) break;
    }
    if (parser->failed) return false;
    if (parser->token != LAUNCH_PAREN_END && parser->token != LAUNCH_END)
        return launch_fail(parser, parser->lexer.span, "more than three dimensions");
    return launch_expect(parser, LAUNCH_PAREN_END, "`)`");
}

static bool dimensions(struct launch_parser *parser, uint64_t out[3], struct span *span) {
    span->begin = parser->lexer.span.begin;
    out[0] = out[1] = out[2] = 1;
    bool named = launch_at_name(parser, "dim3");
    if (named) launch_advance(parser);
    bool good;
    if (named || (parser->token == LAUNCH_PAREN && is_tuple(parser)))
        good = launch_expect(parser, LAUNCH_PAREN, "`(`") && tuple(parser, out);
    else good = launch_unsigned(parser, "a dimension", &out[0]);
    span->end = parser->last_end;
    return good;
}

// The stream of the fourth chevron: anything, up to the closing chevrons.
static bool skip_stream(struct launch_parser *parser) {
    while (parser->token != LAUNCH_CLOSE3 && parser->token != LAUNCH_END) launch_advance(parser);
    return true;
}

static bool chevrons(struct launch_parser *parser, struct launch *launch) {
    launch->block[0] = launch->block[1] = launch->block[2] = 1;
    if (!dimensions(parser, launch->grid, &launch->grid_span)) return false;
    if (launch_accept(parser, LAUNCH_COMMA)) {
        launch->has_block = true;
        if (!dimensions(parser, launch->block, &launch->block_span)) return false;
    }
    if (launch->has_block && launch_accept(parser, LAUNCH_COMMA)) {
        launch->has_shared = true;
        launch->shared_span.begin = parser->lexer.span.begin;
        if (!launch_unsigned(parser, "the shared memory size", &launch->shared)) return false;
        launch->shared_span.end = parser->last_end;
        if (launch_accept(parser, LAUNCH_COMMA)) skip_stream(parser);
    }
    return launch_expect(parser, LAUNCH_CLOSE3, launch->has_shared ? "`>>>`" : "`,` or `>>>`");
}

// The words of a C type: `unsigned long long`. Returns the type, TYPE_NONE where none stands here.
struct type_words {
    bool is_unsigned;
    uint32_t longs, others;
    struct str last;
};

static bool is_qualifier(struct str word) {
    return str_eq(word, STR("unsigned")) || str_eq(word, STR("signed")) ||
           str_eq(word, STR("long")) || str_eq(word, STR("short"));
}

static enum isa_type joined_type(const struct type_words *words) {
    bool is_unsigned = words->is_unsigned;
    if (words->longs > 0) return is_unsigned ? TYPE_U64 : TYPE_S64;
    if (str_eq(words->last, STR("short"))) return is_unsigned ? TYPE_U16 : TYPE_S16;
    if (str_eq(words->last, STR("char"))) return is_unsigned ? TYPE_U8 : TYPE_S8;
    return is_unsigned ? TYPE_U32 : TYPE_S32;
}

static enum isa_type qualified_type(struct launch_parser *parser) {
    struct type_words words = {.last = {NULL, 0}};
    while (parser->token == LAUNCH_NAME) {
        struct str word = launch_token_text(parser);
        bool base = str_eq(word, STR("int")) || str_eq(word, STR("char"));
        if (!base && !is_qualifier(word)) break;
        if (str_eq(word, STR("unsigned"))) words.is_unsigned = true;
        if (str_eq(word, STR("long"))) words.longs++;
        if (!str_eq(word, STR("int")) || words.last.len == 0) words.last = word;
        launch_advance(parser);
        if (base) break;
    }
    return joined_type(&words);
}

static enum isa_type type_words(struct launch_parser *parser, struct str *text) {
    uint32_t begin = parser->lexer.span.begin;
    struct str word = launch_token_text(parser);
    enum isa_type type = scalar_type_find(word);
    if (is_qualifier(word)) type = qualified_type(parser);
    else if (type != TYPE_NONE) launch_advance(parser);
    *text = source_text(parser->source, (struct span){begin, parser->last_end});
    return type;
}

// @A
static bool alignment(struct launch_parser *parser, struct argument *argument) {
    if (!launch_accept(parser, LAUNCH_AT)) return !parser->failed;
    struct span span = parser->lexer.span;
    if (!launch_unsigned(parser, "an alignment", &argument->align)) return false;
    span.end = parser->last_end;
    if (is_power_of_two(argument->align)) return true;
    return launch_fail(parser, span, "an alignment must be a power of two");
}

// A file's name is read as it stands, up to a blank, a comma or the closing parenthesis.
static bool contents_file(struct launch_parser *parser, struct argument *argument) {
    uint32_t begin = parser->lexer.span.end, end = begin;
    const char *text = parser->source->text;
    argument->contents = CONTENTS_FILE;
    launch_advance(parser);
    if (parser->token == LAUNCH_STRING) {
        struct str quoted = launch_token_text(parser);
        argument->file = (struct str){quoted.data + 1, quoted.len - 2};
        launch_advance(parser);
        return true;
    }
    while (end < parser->source->size && strchr(" \t\r\n,)", text[end]) == NULL) end++;
    argument->file = (struct str){text + begin, end - begin};
    if (end == begin)
        return launch_fail(parser, (struct span){begin, end}, "expected a file's name after `@`");
    parser->lexer.cursor = (const unsigned char *)text + end;
    parser->lexer.span.end = end;
    launch_advance(parser);
    return true;
}

static bool contents(struct launch_parser *parser, struct argument *argument) {
    if (!launch_accept(parser, LAUNCH_EQUALS)) return !parser->failed;
    if (parser->token == LAUNCH_AT) return contents_file(parser, argument);
    if (launch_at_name(parser, "iota")) argument->contents = CONTENTS_IOTA;
    else if (launch_at_name(parser, "random")) argument->contents = CONTENTS_RANDOM;
    else if (parser->token == LAUNCH_INT && str_eq(launch_token_text(parser), STR("0")))
        argument->contents = CONTENTS_ZERO;
    else return launch_expect(parser, LAUNCH_END, "contents: `0`, `iota`, `random` or `@file`");
    launch_advance(parser);
    return true;
}

static bool align_and_contents(struct launch_parser *parser, struct argument *argument) {
    return alignment(parser, argument) && contents(parser, argument);
}

// [N] behind a type of `bits` bits.
static bool extent(struct launch_parser *parser, uint64_t bits, struct argument *argument) {
    uint32_t begin = parser->lexer.span.begin;
    launch_advance(parser);
    if (!launch_unsigned(parser, "the number of elements", &argument->count)) return false;
    if (!launch_expect(parser, LAUNCH_BRACKET_END, "`]`")) return false;
    if (!mul_u64(argument->count, bits / 8, &argument->size))
        return launch_fail(parser, (struct span){begin, parser->last_end},
                           "the buffer's size does not fit 64 bits");
    return align_and_contents(parser, argument);
}

static uint64_t low_mask(uint32_t bits) {
    return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

static bool integer_fits(enum isa_type type, const struct launch_value *value) {
    uint32_t bits = isa_types[type].bits;
    uint8_t class = isa_types[type].class;
    uint64_t most_negative = bits > 64 ? UINT64_MAX : (uint64_t)1 << (bits - 1);
    if (value->negative && value->magnitude != 0)
        return class != TYPE_CLASS_U && value->magnitude <= most_negative;
    return value->magnitude <= (class == TYPE_CLASS_S ? most_negative - 1 : low_mask(bits));
}

// A C conversion: towards zero, and modulo 2^bits where the type is too small.
static void convert_to_integer(struct argument *argument, struct launch_value value) {
    enum isa_type type = (enum isa_type)argument->type;
    if (value.is_float) {
        double whole = trunc(value.number);
        bool fits = fabs(whole) < 18446744073709551616.0;  // false for a NaN, too
        argument->wrapped = whole != value.number || !fits;
        value.magnitude = fits ? (uint64_t)fabs(whole) : 0;
    }
    argument->wrapped |= !integer_fits(type, &value);
    uint64_t bits = value.negative ? 0 - value.magnitude : value.magnitude;
    argument->bits = bits & low_mask(isa_types[type].bits);
}

static void convert(struct argument *argument, const struct launch_value *value) {
    argument->kind = ARGUMENT_TYPED;
    argument->is_bool = scalar_type_is_bool(argument->type_text);
    argument->number = value->number;
    if (argument->is_bool) argument->bits = value->is_float ? value->number != 0 : value->magnitude != 0;
    else if (!scalar_encode((enum isa_type)argument->type, value->number, &argument->bits))
        convert_to_integer(argument, *value);
}

static bool typed_scalar(struct launch_parser *parser, struct argument *argument) {
    struct launch_value value;
    launch_advance(parser);
    if (!launch_expression(parser, &value)) return false;
    if (!launch_expect(parser, LAUNCH_PAREN_END, "`)`")) return false;
    convert(argument, &value);
    return true;
}

static bool typed_argument(struct launch_parser *parser, struct argument *argument) {
    argument->type = (uint8_t)type_words(parser, &argument->type_text);
    enum isa_type type = (enum isa_type)argument->type;
    if (parser->token == LAUNCH_PAREN) return typed_scalar(parser, argument);
    if (parser->token == LAUNCH_BRACKET) {
        argument->kind = ARGUMENT_BUFFER;
        return extent(parser, isa_types[type].bits, argument);
    }
    launch_expect(parser, LAUNCH_BRACKET, "`[N]` or `(value)` after a type");
    return launch_fail_help(parser, "a buffer of 4096 elements is `%.*s[4096]`, a scalar `%.*s(1)`",
                            STR_ARG(argument->type_text), STR_ARG(argument->type_text));
}

static bool bytes_argument(struct launch_parser *parser, struct argument *argument) {
    argument->kind = ARGUMENT_BYTES;
    argument->type_text = launch_token_text(parser);
    argument->type = TYPE_B8;
    launch_advance(parser);
    if (parser->token == LAUNCH_BRACKET) return extent(parser, 8, argument);
    return launch_expect(parser, LAUNCH_BRACKET, "`[N]`");
}

static bool number_argument(struct launch_parser *parser, struct argument *argument) {
    struct launch_value value;
    if (!launch_expression(parser, &value)) return false;
    if (value.is_bool) {
        argument->type = TYPE_U8;
        argument->type_text = STR("bool");
        convert(argument, &value);
        return true;
    }
    argument->kind = value.is_float ? ARGUMENT_FLOAT : ARGUMENT_INT;
    argument->number = value.number;
    argument->magnitude = value.magnitude;
    argument->negative = value.negative && (value.is_float || value.magnitude != 0);
    argument->hex = value.hex;
    return true;
}

static const struct {
    const char *text;
    uint8_t kind;
} plain_words[] = {
    {"_", ARGUMENT_UNKNOWN}, {"ptr", ARGUMENT_POINTER}, {"null", ARGUMENT_NULL},
    {"nullptr", ARGUMENT_NULL}, {"NULL", ARGUMENT_NULL}, {"None", ARGUMENT_NULL},
    {"host", ARGUMENT_HOST}, {"tensormap", ARGUMENT_TENSORMAP},
};

static bool argument_value(struct launch_parser *parser, struct argument *argument) {
    if (parser->token != LAUNCH_NAME) return number_argument(parser, argument);
    struct str word = launch_token_text(parser);
    for (size_t i = 0; i < sizeof plain_words / sizeof plain_words[0]; i++) {
        if (!str_eq(word, str_from(plain_words[i].text))) continue;
        argument->kind = plain_words[i].kind;
        launch_advance(parser);
        if (argument->kind == ARGUMENT_TENSORMAP && parser->token == LAUNCH_PAREN)
            return launch_tensor(parser, argument);
        return argument->kind != ARGUMENT_POINTER || alignment(parser, argument);
    }
    if (str_eq(word, STR("bytes"))) return bytes_argument(parser, argument);
    if (scalar_type_find(word) != TYPE_NONE) return typed_argument(parser, argument);
    return number_argument(parser, argument);
}

// `name=` in front of an argument, where the name is followed by `=`.
static void argument_name(struct launch_parser *parser, struct argument *argument) {
    struct launch_parser ahead = *parser;
    if (parser->token != LAUNCH_NAME) return;
    launch_advance(&ahead);
    if (ahead.token != LAUNCH_EQUALS) return;
    argument->name = launch_token_text(parser);
    launch_advance(parser);
    launch_advance(parser);
}

static bool arguments(struct launch_parser *parser, struct launch *launch) {
    launch->arguments_span.begin = parser->lexer.span.begin;
    launch->has_arguments = true;
    launch_advance(parser);
    while (parser->token != LAUNCH_PAREN_END) {
        struct argument *argument = vec_push(parser->arena, &launch->arguments);
        argument->span.begin = parser->lexer.span.begin;
        argument_name(parser, argument);
        if (!argument_value(parser, argument)) return false;
        argument->span.end = parser->last_end;
        if (!launch_accept(parser, LAUNCH_COMMA)) break;
    }
    if (!launch_expect(parser, LAUNCH_PAREN_END, "`,` or `)`")) return false;
    launch->arguments_span.end = parser->last_end;
    return true;
}

enum tail_word {
    TAIL_CLUSTER, TAIL_COOPERATIVE, TAIL_OPTIN, TAIL_NONPORTABLE, TAIL_PDL, TAIL_PACKED, TAIL_REGS,
    TAIL_WORDS
};

static const char *const tail_words[TAIL_WORDS] = {"cluster", "cooperative", "optin", "nonportable",
                                                   "pdl", "packed", "regs"};

static bool tail_value(struct launch_parser *parser, const char *what, uint64_t *out) {
    return launch_expect(parser, LAUNCH_EQUALS, "`=`") && launch_unsigned(parser, what, out);
}

static bool optin_value(struct launch_parser *parser, struct launch *launch) {
    launch->has_optin = true;
    if (!launch_expect(parser, LAUNCH_EQUALS, "`=BYTES` or `=auto`")) return false;
    if (!launch_at_name(parser, "auto"))
        return launch_unsigned(parser, "the shared memory maximum", &launch->optin);
    launch->optin_auto = true;
    launch_advance(parser);
    return true;
}

static bool packed_value(struct launch_parser *parser, struct launch *launch) {
    launch->packed = true;
    if (!launch_accept(parser, LAUNCH_EQUALS)) return true;
    launch->has_packed_size = true;
    return launch_unsigned(parser, "the buffer's size", &launch->packed_size);
}

static bool cluster_value(struct launch_parser *parser, struct launch *launch) {
    struct span span;
    launch->has_cluster = true;
    return launch_expect(parser, LAUNCH_EQUALS, "`=`") &&
           dimensions(parser, launch->cluster, &span);
}

static bool tail_word_value(struct launch_parser *parser, enum tail_word word,
                            struct launch *launch) {
    switch (word) {
    case TAIL_CLUSTER: return cluster_value(parser, launch);
    case TAIL_COOPERATIVE: return launch->cooperative = true;
    case TAIL_NONPORTABLE: return launch->nonportable = true;
    case TAIL_PDL: return launch->pdl = true;
    case TAIL_OPTIN: return optin_value(parser, launch);
    case TAIL_PACKED: return packed_value(parser, launch);
    case TAIL_REGS:
        launch->has_regs = true;
        return tail_value(parser, "the number of registers", &launch->regs);
    default: return false;
    }
}

static struct span *tail_span(struct launch *launch, enum tail_word word) {
    struct span *const spans[TAIL_WORDS] = {
        &launch->cluster_span, &launch->cooperative_span, &launch->optin_span,
        &launch->nonportable_span, &launch->pdl_span, &launch->packed_span, &launch->regs_span};
    return spans[word];
}

static bool unknown_tail_word(struct launch_parser *parser) {
    struct str text = launch_token_text(parser);
    if (parser->token != LAUNCH_NAME)
        return launch_expect(parser, LAUNCH_END, "the end of the launch or a word like `optin=`");
    launch_fail(parser, parser->lexer.span, "unknown word `%.*s` after the launch", STR_ARG(text));
    for (int i = 0; i < TAIL_WORDS; i++)
        if (str_distance(text, str_from(tail_words[i]), 2) <= 2)
            return launch_fail_help(parser, "did you mean `%s`?", tail_words[i]);
    return launch_fail_help(parser, "known words: cluster=, cooperative, optin=, nonportable, pdl, "
                                    "packed, regs=");
}

static bool tail(struct launch_parser *parser, struct launch *launch) {
    bool seen[TAIL_WORDS] = {false};
    while (launch_accept(parser, LAUNCH_SEMICOLON)) {}
    while (parser->token != LAUNCH_END) {
        int word = 0;
        while (word < TAIL_WORDS && !launch_at_name(parser, tail_words[word])) word++;
        if (word == TAIL_WORDS) return unknown_tail_word(parser);
        struct span *span = tail_span(launch, (enum tail_word)word);
        if (seen[word])
            return launch_fail(parser, parser->lexer.span, "`%s` stands here twice",
                               tail_words[word]);
        seen[word] = true;
        span->begin = parser->lexer.span.begin;
        launch_advance(parser);
        if (!tail_word_value(parser, (enum tail_word)word, launch)) return false;
        span->end = parser->last_end;
        while (launch_accept(parser, LAUNCH_SEMICOLON) || launch_accept(parser, LAUNCH_COMMA)) {}
    }
    return !parser->failed;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// The kernel's name is all that stands before the chevrons: mangled, plain, or as C++ prints it.
static bool kernel_name(struct launch_parser *parser, struct launch *launch) {
    const char *text = parser->source->text;
    uint32_t size = parser->source->size, begin = 0, end = 0;
    while (end + 3 <= size && memcmp(text + end, "<<<", 3) != 0) end++;
    if (end + 3 > size) {
        launch_fail(parser, (struct span){size, size}, "expected `<<<` after the kernel's name");
        return launch_fail_help(parser, "a launch is `kernel<<<grid, block, shared>>>(arguments)`");
    }
    parser->lexer.cursor += end + 3;
    parser->lexer.span = (struct span){end, end + 3};
    while (begin < end && is_blank(text[begin])) begin++;
    while (end > begin && is_blank(text[end - 1])) end--;
    launch->kernel_span = (struct span){begin, end};
    launch->kernel = source_text(parser->source, launch->kernel_span);
    for (uint32_t i = begin; i < end; i++)
        if ((unsigned char)text[i] < ' ' || (unsigned char)text[i] > '~')
            return launch_fail(parser, (struct span){i, i + 1},
                               "a kernel's name is printable ASCII, found byte 0x%02x",
                               (unsigned char)text[i]);
    return true;
}

bool launch_parse(struct source *source, struct arena *arena, const struct launch_names *names,
                  struct findings *findings, struct launch *launch) {
    struct launch_parser parser;
    launch_parser_init(&parser, source, arena, names, findings);
    *launch = (struct launch){.source = source};
    if (!kernel_name(&parser, launch)) return false;
    launch_advance(&parser);
    if (!chevrons(&parser, launch)) return false;
    if (parser.token == LAUNCH_PAREN && !arguments(&parser, launch)) return false;
    return tail(&parser, launch);
}

bool launch_define(struct source *source, struct arena *arena, struct launch_names *names,
                   struct findings *findings) {
    struct launch_parser parser;
    launch_parser_init(&parser, source, arena, names, findings);
    launch_advance(&parser);
    struct str name = launch_token_text(&parser);
    uint64_t value;
    if (!launch_expect(&parser, LAUNCH_NAME, "a name") ||
        !launch_expect(&parser, LAUNCH_EQUALS, "`=`") ||
        !launch_unsigned(&parser, "a name's value", &value) ||
        !launch_expect(&parser, LAUNCH_END, "the end"))
        return false;
    vec_push(arena, &names->list);
    names->list.at[names->list.n - 1].name = name;
    names->list.at[names->list.n - 1].value = value;
    return true;
}
