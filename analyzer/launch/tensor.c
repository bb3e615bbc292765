#include "analyzer/launch/tensor.h"

#include "analyzer/launch/scalar.h"
#include "base/checked.h"

enum { RANK_MOST = 5 };

// Numbers separated by commas, up to and with `end`.
static bool list(struct launch_parser *parser, const char *what, enum launch_token end,
                 const char *end_text, uint64_t out[RANK_MOST], uint8_t *count) {
    *count = 0;
    do {
        if (*count == RANK_MOST)
            return launch_fail(parser, parser->lexer.span, "a tensor has at most 5 dimensions");
        if (!launch_unsigned(parser, what, &out[(*count)++])) return false;
    } while (launch_accept(parser, LAUNCH_COMMA));
    return launch_expect(parser, end, end_text);
}

// f16[M, N]
static bool extent(struct launch_parser *parser, struct argument *argument) {
    struct tensor_map *tensor = &argument->tensor;
    struct span span = parser->lexer.span;
    argument->type_text = launch_token_text(parser);
    tensor->type = (uint8_t)scalar_type_find(argument->type_text);
    argument->type = tensor->type;
    if (parser->token != LAUNCH_NAME || tensor->type == TYPE_NONE)
        return launch_fail(parser, span, "expected the type of the tensor's elements, as in `f16[M, N]`");
    launch_advance(parser);
    if (!launch_expect(parser, LAUNCH_BRACKET, "`[`") ||
        !list(parser, "a dimension", LAUNCH_BRACKET_END, "`]`", tensor->dims, &tensor->rank))
        return false;
    argument->count = 1;
    span.end = parser->last_end;
    for (uint8_t i = 0; i < tensor->rank; i++)
        if (!mul_u64(argument->count, tensor->dims[i], &argument->count))
            return launch_fail(parser, span, "the tensor's size does not fit 64 bits");
    if (!mul_u64(argument->count, isa_types[tensor->type].bits / 8u, &argument->size))
        return launch_fail(parser, span, "the tensor's size does not fit 64 bits");
    return true;
}

static bool box(struct launch_parser *parser, struct tensor_map *tensor) {
    struct span span = parser->lexer.span;
    uint8_t count = 1;
    if (!launch_accept(parser, LAUNCH_PAREN)) {
        if (!launch_unsigned(parser, "the box", &tensor->box[0])) return false;
    } else if (!list(parser, "a dimension of the box", LAUNCH_PAREN_END, "`)`", tensor->box, &count)) {
        return false;
    }
    span.end = parser->last_end;
    return count == tensor->rank ||
           launch_fail(parser, span, "the box has %u dimensions, the tensor %u", count, tensor->rank);
}

static bool swizzle(struct launch_parser *parser, struct tensor_map *tensor) {
    struct span span = parser->lexer.span;
    uint64_t bytes;
    if (!launch_unsigned(parser, "the swizzle, in bytes", &bytes)) return false;
    if (bytes != 0 && bytes != 32 && bytes != 64 && bytes != 128)
        return launch_fail(parser, span, "a swizzle is of 0, 32, 64 or 128 bytes");
    tensor->swizzle = (uint32_t)bytes;
    return true;
}

static bool word(struct launch_parser *parser, struct tensor_map *tensor) {
    bool is_box = launch_at_name(parser, "box");
    if (!is_box && !launch_at_name(parser, "swizzle"))
        return launch_fail(parser, parser->lexer.span, "expected `box=` or `swizzle=`");
    launch_advance(parser);
    if (!launch_expect(parser, LAUNCH_EQUALS, "`=`")) return false;
    return is_box ? box(parser, tensor) : swizzle(parser, tensor);
}

bool launch_tensor(struct launch_parser *parser, struct argument *argument) {
    struct tensor_map *tensor = &argument->tensor;
    launch_advance(parser);
    if (!extent(parser, argument)) return false;
    // A box that is not stated is the whole tensor, as far as a box goes (256 elements an axis).
    for (uint8_t i = 0; i < tensor->rank; i++)
        tensor->box[i] = tensor->dims[i] < 256 ? tensor->dims[i] : 256;
    while (launch_accept(parser, LAUNCH_COMMA))
        if (!word(parser, tensor)) return false;
    return launch_expect(parser, LAUNCH_PAREN_END, "`)`");
}
