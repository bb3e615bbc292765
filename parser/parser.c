#include "parser/internal.h"

// Module level: the header, then linkage, functions, variables and the directives between them.

// ---- tokens -----------------------------------------------------------------------------------

// Every `.entry` must end up as a function or inside something reported.
static void count_entry(struct parser *p) {
    if (p->token.length == 6 && memcmp(p->source->text + p->token.offset, ".entry", 6) == 0)
        p->module->entry_tokens++;
}

void advance(struct parser *p) {
    p->previous_end = p->token.offset + p->token.length;
    for (;;) {
        p->token = lex_next(&p->lexer);
        if (p->token.kind == TOK_DOTTED) count_entry(p);
        if (p->token.kind < TOK_BAD_NUMBER) return;
        if (!p->quiet) lexical_error(p);
        // What is wrong with a comment, and a NUL, stops no statement.
        if (p->token.kind != TOK_COMMENT_NON_ASCII && p->token.kind != TOK_NUL &&
            p->token.kind != TOK_OPEN_COMMENT)
            return;
    }
}

struct str token_text(const struct parser *p) {
    return (struct str){p->source->text + p->token.offset, p->token.length};
}

void skip_token(struct parser *p) {
    p->entries_accounted += at_word(p) == WORD_ENTRY;
    advance(p);
}

bool accept(struct parser *p, enum token_kind kind) {
    if (p->token.kind != kind) return false;
    advance(p);
    return true;
}

enum directive_word at_word(const struct parser *p) {
    return at(p, TOK_DOTTED) ? lex_directive(token_text(p)) : WORD_NONE;
}

bool on_new_line(const struct parser *p) {
    return memchr(p->source->text + p->previous_end, '\n', p->token.offset - p->previous_end) != NULL;
}

// ---- the header -------------------------------------------------------------------------------

static uint32_t version_part(struct str text, uint32_t *at) {
    uint32_t value = 0;
    for (; *at < text.len && text.data[*at] >= '0' && text.data[*at] <= '9'; ++*at)
        if (value < 1000) value = value * 10 + (uint32_t)(text.data[*at] - '0');
    return value;
}

// 10 * major + minor of `8.7`; 0 when it is no version. As ptxas has it: 9.00 is 9.0, and 7.13 is
// 8.3 (measured).
static uint16_t version_number(struct str text) {
    uint32_t at = 0, major = version_part(text, &at), point = at;
    if (at == 0 || at == text.len || text.data[at++] != '.') return 0;
    uint32_t minor = version_part(text, &at);
    if (at == point + 1 || at != text.len) return 0;
    return (uint16_t)(major * 10 + minor);
}

static void parse_version(struct parser *p) {
    struct module *module = p->module;
    uint32_t begin = p->token.offset;
    advance(p);
    module->version = at(p, TOK_FLOAT) ? version_number(token_text(p)) : 0;
    if (module->version == 0) {
        struct finding *finding =
            report(p, RULE_MISSING_VERSION, (struct span){begin, p->previous_end},
                   "`.version` needs a number with a point, as in `.version 8.7`");
        finding_help(p->findings, finding, "write `.version MAJOR.MINOR`");
        // The driver takes the text for PTX by its first word (measured).
        finding->predicts.result = RESULT_CUDA_ERROR_INVALID_PTX;
        if (at(p, TOK_INT) || at(p, TOK_FLOAT)) advance(p);
        return;
    }
    module->version_span = (struct span){begin, p->token.offset + p->token.length};
    advance(p);
}

static void note_target(struct module *module, struct str name) {
    if (module->target_names.n == 0) module->target = name;
    *vec_push(module->arena, &module->target_names) = name;
    module->debug |= str_eq(name, STR("debug"));
    module->texmode_independent |= str_eq(name, STR("texmode_independent"));
    module->texmode_unified |= str_eq(name, STR("texmode_unified"));
    module->map_f64_to_f32 |= str_eq(name, STR("map_f64_to_f32"));
}

static void parse_target(struct parser *p) {
    struct module *module = p->module;
    uint32_t begin = p->token.offset;
    advance(p);
    do {
        struct str name = token_text(p);
        if (!expect(p, TOK_WORD, "a target such as `sm_90`")) break;
        note_target(module, name);
    } while (accept(p, TOK_COMMA));
    if (module->target_span.end == 0)
        module->target_span = (struct span){begin, p->previous_end};
}

static void parse_address_size(struct parser *p) {
    struct module *module = p->module;
    uint64_t value;
    uint32_t begin = p->token.offset;
    advance(p);
    if (!parse_plain_integer(p, &value, "32 or 64")) return;
    module->address_size_span = (struct span){begin, p->previous_end};
    if (value == 32 || value == 64) module->address_size = (uint8_t)value;
    else
        report(p, RULE_BAD_ADDRESS_SIZE, module->address_size_span,
               "address size %llu is neither 32 nor 64", (unsigned long long)value);
}

static void report_missing_version(struct parser *p) {
    bool empty = at(p, TOK_END);
    struct finding *finding =
        report(p, RULE_MISSING_VERSION, token_span(p),
               empty ? "the file holds no PTX" : "the first statement is not `.version`");
    finding_help(p->findings, finding, "begin the file with `.version 8.7` and `.target sm_90`");
    finding_note(p->findings, finding,
                 "the driver takes text for PTX only where it begins with `.version`");
    // Whatever stands before the first directive is not complained of again.
    p->quiet = true;
    bool known = at(p, TOK_DOTTED) && at_word(p) != WORD_NONE;
    if (!known) skip_to_module_level(p, false);
    p->quiet = false;
}

static void parse_header(struct parser *p) {
    advance(p);
    p->module->first_comment = (struct str){p->source->text, p->token.offset};
    if (at_word(p) == WORD_VERSION) parse_version(p);
    else report_missing_version(p);
    if (at_word(p) == WORD_TARGET) {
        while (at_word(p) == WORD_TARGET) parse_target(p);
        if (at_word(p) == WORD_ADDRESS_SIZE) parse_address_size(p);
    } else if (!at(p, TOK_END) || p->module->version_span.end != 0) {
        struct finding *finding =
            report(p, RULE_MISSING_TARGET, token_span(p), "`.target` does not follow `.version`");
        finding_help(p->findings, finding, "write `.target sm_90`, say, behind `.version`");
        if (at_word(p) == WORD_NONE && !at(p, TOK_END)) skip_to_module_level(p, false);
    }
}

// ---- functions --------------------------------------------------------------------------------

static const struct {
    enum directive_word word;
    enum directive directive;
    uint8_t values_least, values_most;
    bool on_entry;
} header_directives[] = {
    {WORD_MAXNTID, DIRECTIVE_MAXNTID, 1, 3, true},
    {WORD_REQNTID, DIRECTIVE_REQNTID, 1, 3, true},
    {WORD_MINNCTAPERSM, DIRECTIVE_MINNCTAPERSM, 1, 1, true},
    {WORD_MAXNCTAPERSM, DIRECTIVE_MAXNCTAPERSM, 1, 1, true},
    {WORD_MAXNREG, DIRECTIVE_MAXNREG, 1, 1, true},
    {WORD_REQNCTAPERCLUSTER, DIRECTIVE_REQNCTAPERCLUSTER, 1, 3, true},
    {WORD_MAXCLUSTERRANK, DIRECTIVE_MAXCLUSTERRANK, 1, 1, true},
    {WORD_EXPLICITCLUSTER, DIRECTIVE_EXPLICITCLUSTER, 0, 0, true},
    {WORD_BLOCKSARECLUSTERS, DIRECTIVE_BLOCKSARECLUSTERS, 0, 0, true},
    {WORD_NORETURN, DIRECTIVE_NORETURN, 0, 0, false},
    {WORD_ABI_PRESERVE, DIRECTIVE_ABI_PRESERVE, 1, 1, false},
    {WORD_ABI_PRESERVE_CONTROL, DIRECTIVE_ABI_PRESERVE_CONTROL, 1, 1, false},
};

enum { HEADER_DIRECTIVES = sizeof header_directives / sizeof header_directives[0] };

static bool parse_directive_values(struct parser *p, struct directive_use *use, uint8_t least,
                                   uint8_t most) {
    use->values[0] = use->values[1] = use->values[2] = 1;
    if (least == 0) return true;
    do {
        if (use->value_count == most) {
            unexpected(p, "no further number");
            return false;
        }
        if (!parse_plain_integer(p, &use->values[use->value_count], "a number")) return false;
        use->value_count++;
    } while (use->value_count <= most && accept(p, TOK_COMMA));
    return true;
}

static bool parse_header_directive(struct parser *p) {
    struct function *function = &p->module->functions.at[p->function];
    bool is_entry = function->kind == FUNCTION_ENTRY;
    enum directive_word word = at_word(p);
    uint32_t begin = p->token.offset;
    int row = 0;
    while (row < HEADER_DIRECTIVES && header_directives[row].word != word) row++;
    if (row == HEADER_DIRECTIVES) {
        unexpected(p, function->kind == FUNCTION_PROTOTYPE ? "`;`" : "a directive or `{`");
        return false;
    }
    struct str text = token_text(p);
    struct directive_use use = {.directive = (uint8_t)header_directives[row].directive};
    if (is_entry != header_directives[row].on_entry) {
        report(p, RULE_MISPLACED_DIRECTIVE, token_span(p), "`%.*s` may not stand on %s",
               STR_ARG(text), is_entry ? "an entry" : "a function that is no entry");
        advance(p);
        return parse_directive_values(p, &use, header_directives[row].values_least, 3);
    }
    advance(p);
    if (!parse_directive_values(p, &use, header_directives[row].values_least,
                                header_directives[row].values_most))
        return false;
    use.span = (struct span){begin, p->previous_end};
    *vec_push(p->arena, &function->directives) = use;
    return true;
}

static bool begins_declaration(const struct parser *p) {
    enum directive_word word = at_word(p);
    return at(p, TOK_DWARF) || (word != WORD_NONE && word < WORD_ALIGN && word != WORD_LOC &&
                                 word != WORD_SREG);
}

// ptxas takes a prototype of a function whose `;` is missing where a declaration follows.
static bool ends_prototype(const struct parser *p) {
    return p->module->functions.at[p->function].kind == FUNCTION_FUNC &&
           (at(p, TOK_END) || begins_declaration(p));
}

bool parse_header_directives(struct parser *p) {
    while (at(p, TOK_DOTTED) && !ends_prototype(p)) {
        bool pragma = at_word(p) == WORD_PRAGMA &&
                      p->module->functions.at[p->function].kind == FUNCTION_ENTRY;
        if (!(pragma ? parse_pragma(p) : parse_header_directive(p))) return false;
    }
    return true;
}

uint32_t new_function(struct parser *p, enum function_kind kind, enum linkage linkage,
                             uint32_t begin) {
    struct function *function = vec_push(p->arena, &p->module->functions);
    function->kind = (uint8_t)kind;
    function->linkage = (uint8_t)linkage;
    function->header.begin = begin;
    return p->module->functions.n - 1;
}

bool parse_parameters(struct parser *p, bool is_return) {
    uint32_t count = 0;
    bool unsized;
    bool good = parse_parameter_list(p, is_return, &count, &unsized);
    struct function *function = &p->module->functions.at[p->function];
    if (is_return) function->return_count = count;
    else {
        function->param_count = count;
        function->unsized_param = unsized;
    }
    return good;
}

// The name of the function at hand, with whatever stands before it unread: its symbol belongs to the
// module, its return parameters to its own block.
static void declare_function(struct parser *p, uint32_t index) {
    struct lexer lexer = p->lexer;
    struct token token = p->token;
    uint32_t previous_end = p->previous_end, entry_tokens = p->module->entry_tokens;
    p->quiet = true;
    while (!at(p, TOK_END) && !at(p, TOK_LBRACE) && !at(p, TOK_SEMICOLON) && !at(p, TOK_WORD)) {
        if (at(p, TOK_LPAREN))
            while (!at(p, TOK_RPAREN) && !at(p, TOK_END) && !at(p, TOK_SEMICOLON) &&
                   !at(p, TOK_LBRACE))
                advance(p);
        advance(p);
    }
    struct function *function = &p->module->functions.at[index];
    if (at(p, TOK_WORD)) {
        function->span = token_span(p);
        declare(p, SYMBOL_FUNCTION, token_text(p), index, function->span);
        function->name = names_find(&p->module->names, token_text(p));
    }
    p->quiet = false;
    p->lexer = lexer;
    p->token = token;
    p->previous_end = previous_end;
    p->module->entry_tokens = entry_tokens;
}

// Linkage was read; `.entry` or `.func` is at hand. Up to the `{` or `;`.
static bool parse_function_header(struct parser *p) {
    bool is_entry = p->module->functions.at[p->function].kind == FUNCTION_ENTRY;
    if (!is_entry && at_word(p) == WORD_ATTRIBUTE &&
        !parse_function_attribute(p, &p->module->functions.at[p->function]))
        return false;
    if (!is_entry && at(p, TOK_LPAREN) && !parse_parameters(p, true)) return false;
    if (at(p, TOK_WORD) && str_eq(token_text(p), STR("WARP_SZ"))) unexpected(p, "a name");
    else if (!expect(p, TOK_WORD, is_entry ? "the entry's name" : "the function's name"))
        return false;
    if (at(p, TOK_LPAREN) && !parse_parameters(p, false)) return false;
    p->module->functions.at[p->function].parsed = true;
    return parse_header_directives(p);
}

// A broken header: on to its body or end.
static void skip_header(struct parser *p) {
    while (!at(p, TOK_END) && !at(p, TOK_LBRACE) && !at(p, TOK_SEMICOLON)) {
        if (at_function_start(p)) return;
        skip_token(p);
    }
}

// What the body of a streamed function added to the module, to be taken back when it is done with.
struct marks {
    uint32_t names, functions, inits, dims, pragmas;
};

static struct marks mark(const struct module *module) {
    return (struct marks){module->names.texts.n, module->functions.n, module->inits.n,
                          module->dims.n, module->pragmas.n};
}

static void take_back(struct module *module, const struct marks *marks) {
    names_forget(&module->names, marks->names);
    module->functions.n = marks->functions;
    module->inits.n = marks->inits;
    module->dims.n = marks->dims;
    module->pragmas.n = marks->pragmas;
}

#define KEEP(arena, from, to, field)                                                     \
    do {                                                                                 \
        (to)->field.n = (to)->field.cap = (from)->field.n;                               \
        size_t size = (size_t)(from)->field.n * sizeof *(from)->field.at;                \
        (to)->field.at = arena_alloc((arena), size + 1, _Alignof(max_align_t));          \
        if (size != 0) memcpy((to)->field.at, (from)->field.at, size);                   \
    } while (0)

static struct body *keep_body(struct parser *p) {
    struct body *body = arena_new(p->body_arena, struct body);
    const struct body *from = &p->body;
    KEEP(p->body_arena, from, body, instructions);
    KEEP(p->body_arena, from, body, operands);
    KEEP(p->body_arena, from, body, elements);
    KEEP(p->body_arena, from, body, labels);
    KEEP(p->body_arena, from, body, label_lists);
    KEEP(p->body_arena, from, body, locs);
    body->scope_parents = arena_array(p->body_arena, uint32_t, from->scope_count);
    memcpy(body->scope_parents, from->scope_parents, from->scope_count * sizeof(uint32_t));
    body->scope_count = from->scope_count;
    body->truncated = from->truncated;
    return body;
}

static void keep_variables(struct parser *p, struct function *function, uint32_t count) {
    function->variables.n = function->variables.cap = count;
    function->variables.at = arena_array(p->arena, struct variable, count);
    if (count != 0)
        memcpy(function->variables.at, p->variables.at, count * sizeof *p->variables.at);
}

// Arrays of a body are never NULL, so that the address of the element past none is one.
#define FIRST_ROOM(p, vec)                                                                      \
    ((vec).at == NULL ? (void)((vec).at = vec_grow((p)->body_arena, NULL, &(vec).cap,           \
                                                   sizeof *(vec).at, _Alignof(max_align_t)))    \
                      : (void)0)

static void first_room(struct parser *p) {
    struct body *body = &p->body;
    FIRST_ROOM(p, body->instructions);
    FIRST_ROOM(p, body->operands);
    FIRST_ROOM(p, body->elements);
    FIRST_ROOM(p, body->labels);
    FIRST_ROOM(p, body->label_lists);
    FIRST_ROOM(p, body->locs);
    FIRST_ROOM(p, p->variables);
}

#define ROOM(vec) ((size_t)(vec).cap * sizeof *(vec).at)
#define RENEW(p, vec)                                                                           \
    ((vec).n = 0, (vec).at = (vec).cap == 0 ? NULL                                              \
                                            : arena_alloc((p)->body_arena, ROOM(vec),           \
                                                          _Alignof(max_align_t)))

static size_t body_room(const struct parser *p) {
    const struct body *body = &p->body;
    return ROOM(body->instructions) + ROOM(body->operands) + ROOM(body->elements) +
           ROOM(body->labels) + ROOM(body->label_lists) + ROOM(body->locs) + ROOM(p->variables) +
           ROOM(p->scope_parents) + ROOM(p->blocks) + ROOM(p->pendings) + ROOM(p->stack);
}

// Arrays that grew left their smaller selves behind in the arena: between two streamed bodies these
// are given back, so that no more is held than the largest body needs.
static void renew_arrays(struct parser *p) {
    struct body *body = &p->body;
    arena_reset(p->body_arena);
    RENEW(p, body->instructions);
    RENEW(p, body->operands);
    RENEW(p, body->elements);
    RENEW(p, body->labels);
    RENEW(p, body->label_lists);
    RENEW(p, body->locs);
    RENEW(p, p->variables);
    RENEW(p, p->scope_parents);
    RENEW(p, p->blocks);
    RENEW(p, p->stack);
    RENEW(p, p->pendings);
    if (p->pendings.cap != 0) (void)vec_push(p->body_arena, &p->pendings);
}

static void clear_body(struct parser *p) {
    struct body *body = &p->body;
    size_t room = body_room(p);
    if (room != p->room && p->options->function_done != NULL && p->body_arena != p->arena)
        renew_arrays(p);
    p->room = room;
    first_room(p);
    body->instructions.n = body->operands.n = body->elements.n = 0;
    body->labels.n = body->label_lists.n = body->locs.n = 0;
    body->truncated = false;
    p->variables.n = p->scope_parents.n = p->blocks.n = 0;
    p->loc = NO_INDEX;
    p->unresolved = p->header_broken = false;
}

// The body is read: hands it on, or keeps it.
static void finish_body(struct parser *p, uint32_t index, const struct marks *marks) {
    const struct parse_options *options = p->options;
    struct function *function = &p->module->functions.at[index];
    p->body.scope_parents = p->scope_parents.at;
    p->body.scope_count = p->scope_parents.n;
    if (options->function_done == NULL) {
        function->body = keep_body(p);
        keep_variables(p, function, p->variables.n);
        return;
    }
    function->body = &p->body;
    function->variables.at = p->variables.at;
    function->variables.n = function->variables.cap = p->variables.n;
    options->function_done(options->context, p->module, index);
    function = &p->module->functions.at[index];
    function->body = NULL;
    keep_variables(p, function, function->return_count + function->param_count);
    take_back(p->module, marks);
}

static void parse_function_body(struct parser *p, uint32_t index) {
    struct function *function = &p->module->functions.at[index];
    uint32_t begin = p->token.offset;
    struct marks marks = mark(p->module);
    function->has_body = true;
    p->blocks.at[0].offset = begin;
    if (p->options->signatures_only) {
        skip_body(p);
        close_block(p);
        keep_variables(p, function, p->variables.n);
    } else {
        parse_body(p);
        symbols_end_function(p);
        p->module->functions.at[index].body_span = (struct span){begin, p->previous_end};
        finish_body(p, index, &marks);
    }
    p->module->functions.at[index].body_span = (struct span){begin, p->previous_end};
}

static void end_prototype(struct parser *p, bool good) {
    struct function *function = &p->module->functions.at[p->function];
    if (good && function->kind == FUNCTION_ENTRY && function->directives.n > 0) {
        struct finding *finding = report(p, RULE_MISPLACED_DIRECTIVE, function->directives.at[0].span,
                                         "a prototype of an entry takes no directives");
        finding_help(p->findings, finding, "write them where the entry is defined");
    }
    advance(p);
}

static void parse_function(struct parser *p, enum linkage linkage, uint32_t begin) {
    bool is_entry = at_word(p) == WORD_ENTRY;
    uint32_t index = new_function(p, is_entry ? FUNCTION_ENTRY : FUNCTION_FUNC, linkage, begin);
    p->entries_accounted += is_entry;
    advance(p);
    declare_function(p, index);
    clear_body(p);
    p->function = index;
    open_block(p, p->token.offset);
    bool good = parse_function_header(p);
    if (!good) p->header_broken = true;
    if (!good) skip_header(p);
    p->module->functions.at[index].header.end = p->previous_end;
    if (good && !at(p, TOK_LBRACE) && !at(p, TOK_SEMICOLON) && !ends_prototype(p)) {
        unexpected(p, "`{` or `;`");
        skip_header(p);
    }
    if (at(p, TOK_LBRACE)) parse_function_body(p, index);
    else {
        close_block(p);
        keep_variables(p, &p->module->functions.at[index], p->variables.n);
        if (at(p, TOK_SEMICOLON)) end_prototype(p, good);
    }
    p->function = NO_INDEX;
}

// ---- other statements -------------------------------------------------------------------------

static bool parse_alias(struct parser *p) {
    uint32_t begin = p->token.offset;
    advance(p);
    struct str name = token_text(p);
    if (!expect(p, TOK_WORD, "a name") || !expect(p, TOK_COMMA, "`,`")) return false;
    struct str target = token_text(p);
    if (!expect(p, TOK_WORD, "a function's name")) return false;
    struct alias *alias = vec_push(p->arena, &p->module->aliases);
    alias->name = names_intern(&p->module->names, name);
    alias->target = names_intern(&p->module->names, target);
    alias->span = (struct span){begin, p->previous_end};
    return expect_semicolon(p);
}

// .file INDEX "name" [, time [, size]]: no semicolon.
static bool parse_file(struct parser *p) {
    uint64_t index, ignored;
    uint32_t begin = p->token.offset;
    advance(p);
    if (!parse_plain_integer(p, &index, "a file number")) return false;
    struct str name = token_text(p);
    if (!expect(p, TOK_STRING, "the file's name")) return false;
    if (at(p, TOK_COMMA) && p->module->file_timestamp.end == 0)
        p->module->file_timestamp = (struct span){begin, p->previous_end};
    if (accept(p, TOK_COMMA) &&
        (!parse_plain_integer(p, &ignored, "a time") ||
         (accept(p, TOK_COMMA) && !parse_plain_integer(p, &ignored, "a size"))))
        return false;
    struct file_entry *file = vec_push(p->arena, &p->module->files);
    *file = (struct file_entry){index > UINT32_MAX ? UINT32_MAX : (uint32_t)index,
                                {name.data + 1, name.len - 2}, begin};
    return true;
}

static bool parse_dwarf_line(struct parser *p) {
    *vec_push(p->arena, &p->module->sections) = token_span(p);
    p->module->has_dwarf = true;
    advance(p);
    return true;
}

static enum linkage word_linkage(enum directive_word word) {
    switch (word) {
    case WORD_VISIBLE: return LINKAGE_VISIBLE;
    case WORD_EXTERN: return LINKAGE_EXTERN;
    case WORD_WEAK: return LINKAGE_WEAK;
    case WORD_COMMON: return LINKAGE_COMMON;
    default: return LINKAGE_NONE;
    }
}

static bool parse_late_header(struct parser *p, enum directive_word word) {
    struct finding *finding =
        report(p, RULE_MISPLACED_DIRECTIVE, token_span(p),
               "`%.*s` stands only at the beginning of the file", STR_ARG(token_text(p)));
    if (word == WORD_ADDRESS_SIZE)
        finding_help(p->findings, finding, "write it once, directly behind `.target`");
    if (word == WORD_VERSION) parse_version(p);
    else if (word == WORD_TARGET) parse_target(p);
    else parse_address_size(p);
    return true;
}

// A declaration, whose linkage may stand first.
static bool parse_declaration(struct parser *p) {
    uint32_t begin = p->token.offset;
    enum linkage linkage = word_linkage(at_word(p));
    if (linkage != LINKAGE_NONE) advance(p);
    enum directive_word word = at_word(p);
    switch (word) {
    case WORD_ENTRY: case WORD_FUNC: parse_function(p, linkage, begin); return true;
    case WORD_REG: case WORD_LOCAL: case WORD_SHARED: case WORD_GLOBAL:
    case WORD_CONST: case WORD_PARAM: case WORD_TEX:
        return parse_variable_statement(p, linkage, begin);
    default:
        unexpected(p, linkage == LINKAGE_NONE
                          ? "a declaration"
                          : "`.entry`, `.func` or a state space behind the linkage");
        return false;
    }
}

static bool parse_module_statement(struct parser *p) {
    enum directive_word word = at_word(p);
    switch (word) {
    case WORD_VERSION: case WORD_TARGET: case WORD_ADDRESS_SIZE: return parse_late_header(p, word);
    case WORD_ALIAS: return parse_alias(p);
    case WORD_PRAGMA: return parse_pragma(p);
    case WORD_FILE: return parse_file(p);
    case WORD_SECTION: return parse_section(p);
    default: return at(p, TOK_DWARF) ? parse_dwarf_line(p) : parse_declaration(p);
    }
}

static void parse_statements(struct parser *p) {
    while (!at(p, TOK_END)) {
        if (!begins_declaration(p)) {
            // Statements whose function ended too early, say: said once for all of them.
            if (at(p, TOK_WORD) || at(p, TOK_DOTTED_WORD) || at(p, TOK_AT)) {
                struct finding *finding =
                    report(p, RULE_OUTSIDE_FUNCTION, token_span(p),
                           "`%.*s` stands outside of any function", STR_ARG(token_text(p)));
                finding_help(p->findings, finding, "is there one `}` too many above?");
            } else unexpected(p, "a declaration");
            skip_to_module_level(p, false);
        } else if (!parse_module_statement(p)) skip_to_module_level(p, true);
    }
}

static bool is_binary(const struct source *source) {
    struct str head = {source->text, source->size < 4 ? source->size : 4};
    return str_eq(head, STR("\x7f" "ELF")) || str_eq(head, STR("\x50\xed\x55\xba"));
}

static void parse_text(struct parser *p) {
    if (is_binary(p->source)) {
        struct finding *finding = report(p, RULE_NOT_PTX, (struct span){0, 0},
                                         "the file is a compiled binary, not PTX text");
        finding_help(p->findings, finding, "`cuobjdump -ptx FILE` shows the PTX inside, if it holds any");
        return;
    }
    if (p->source->size >= 3 && memcmp(p->source->text, "\xef\xbb\xbf", 3) == 0) {
        struct finding *finding = report(p, RULE_BYTE_ORDER_MARK, (struct span){0, 3},
                                         "the file begins with a byte order mark");
        finding_help(p->findings, finding, "save it as ASCII, without the mark");
        p->lexer.cursor += 3;
    }
    parse_header(p);
    parse_statements(p);
}

enum parse_status parse_module(struct source *source, struct arena *arena,
                               struct arena *body_arena, const struct parse_options *options,
                               struct findings *findings, struct module **module) {
    struct parser *p = arena_new(arena, struct parser);
    p->source = source;
    p->arena = arena;
    p->body_arena = body_arena;
    p->options = options;
    p->findings = findings;
    p->max_nesting = options->max_nesting == 0 ? DEFAULT_NESTING : options->max_nesting;
    p->function = NO_INDEX;
    p->module = *module = arena_new(arena, struct module);
    p->module->source = source;
    p->module->arena = arena;
    names_init(&p->module->names, arena);
    symbols_init(p);
    lex_init(&p->lexer, source->text, source->size);
    parse_text(p);
    if (p->limited) return PARSE_LIMIT;
    return p->entries_accounted == p->module->entry_tokens ? PARSE_DONE : PARSE_INTERNAL;
}
