#include "analyzer/rules/check.h"

#include "analyzer/rules/structure.h"

static const struct check_options no_options;

struct checker *checker_new(struct module *module, struct arena *arena,
                            const struct check_options *options, struct findings *findings) {
    struct checker *c = arena_new(arena, struct checker);
    c->module = module;
    c->arena = arena;
    c->options = options != NULL ? options : &no_options;
    c->findings = findings;
    c->instructions = instruction_checker_new(arena, module, findings);
    check_header(c);
    return c;
}

// What a body added to the module (prototypes, pragmas) is taken back when the body is let go.
static void forget_body(struct checker *c, uint32_t function) {
    uint32_t begin = c->module->functions.at[function].body_span.begin;
    c->functions_taken = function + 1;
    while (c->pragmas_taken > 0 && c->module->pragmas.at[c->pragmas_taken - 1].span.begin >= begin)
        c->pragmas_taken--;
}

void checker_function(struct checker *c, uint32_t function) {
    take_declarations(c);
    take_pragmas(c);
    check_body(c, function);
    instruction_check_function(c->instructions, function);
    if (!c->options->keep_bodies) forget_body(c, function);
}

void checker_finish(struct checker *c) {
    take_declarations(c);
    check_unresolved(c);
    check_limits(c);
    check_debugging(c);
    take_pragmas(c);
    check_deployments(c);
    if (c->options->requirements != NULL) structure_requirements(c, c->options->requirements);
}

// The checker is made when the first body is there, or at the end: the header is read by then.
struct stream {
    struct checker *checker;
    struct arena *arena;
    const struct check_options *options;
    struct findings *findings;
};

static struct checker *stream_checker(struct stream *stream, struct module *module) {
    if (stream->checker == NULL)
        stream->checker = checker_new(module, stream->arena, stream->options, stream->findings);
    return stream->checker;
}

static void stream_function(void *context, struct module *module, uint32_t function) {
    struct stream *stream = context;
    checker_function(stream_checker(stream, module), function);
}

enum parse_status check_source(struct source *source, struct arena *arena, struct arena *body_arena,
                               const struct check_options *options, struct findings *findings,
                               struct module **module) {
    if (options == NULL) options = &no_options;
    struct stream stream = {NULL, arena, options, findings};
    struct parse_options parse = {.max_nesting = options->max_nesting};
    if (!options->keep_bodies) {
        parse.function_done = stream_function;
        parse.context = &stream;
    }
    enum parse_status status = parse_module(source, arena, body_arena, &parse, findings, module);
    struct checker *checker = stream_checker(&stream, *module);
    if (options->keep_bodies)
        for (uint32_t i = 0; i < (*module)->functions.n; i++)
            if ((*module)->functions.at[i].body != NULL) checker_function(checker, i);
    checker_finish(checker);
    findings_sort(findings);
    return status;
}
