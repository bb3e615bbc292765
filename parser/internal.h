// What the files of the parser share. Nobody else includes this.
//
// One pass, one token of look-ahead. Errors are reported where they are met; a statement that was
// reported is skipped to where the next one surely begins.
#ifndef PTXVET_PARSER_INTERNAL_H
#define PTXVET_PARSER_INTERNAL_H

#include "lexer/lexer.h"
#include "lexer/words.h"
#include "parser/parser.h"

enum { DEFAULT_NESTING = 2000 };

enum symbol_kind { SYMBOL_NONE, SYMBOL_VARIABLE, SYMBOL_RANGE, SYMBOL_FUNCTION, SYMBOL_LABEL };

// A declared name, in force until its block ends.
struct symbol {
    uint8_t kind;       // enum symbol_kind
    uint32_t index;     // var_ref, function or label
    name_id name;       // a range: its prefix
    name_id prefix;     // of a name that ends in digits: what stands before them; else 0
    uint32_t scope;     // block number; blocks are numbered in order, so an inner one is greater
    uint32_t shadowed;  // the symbol of that name further out; 0: none
    uint32_t offset;    // where it is declared
    uint32_t older_exact;  // the symbol before it that has the same `prefix`; 0: none
};

// What a name stands for now, by name_id.
struct binding {
    uint32_t symbol;   // index into parser.symbols; 0: none
    uint32_t range;    // the same, of the register range that has this prefix
    uint32_t pending;  // newest use before declaration; 0: none
    uint32_t exact;    // newest symbol whose name is this prefix and digits; 0: none
};

// A name used before anything of that name is declared: only a label may be.
struct pending {
    name_id name;
    uint32_t older;    // pending use of the same name; 0: none
    uint32_t operand;  // index into body.operands or body.elements
    bool is_element;
    bool done;
};

struct block {
    uint32_t scope;
    uint32_t offset;         // of its brace
    uint32_t symbols;        // how many there were
    uint32_t pending;        // how many there were
};

// An opcode as written, which was decoded once.
struct form_key {
    struct str text;
    uint32_t hash;
    bool vector_misplaced, is_call, is_mov;
};

// Register ranges by the bytes of their prefix: `%r<100>` makes `%r7` one look-up without hashing.
// Only prefixes of which no single name is declared are here, so that a hit is the answer.
struct range_hint {
    uint64_t key;  // the prefix's bytes, little end first, and its length on top; 0: free
    var_ref var;
    uint32_t count;
    uint8_t kind;  // OPERAND_REG, or OPERAND_VAR for ranges outside of .reg
};
enum { RANGE_HINT_BITS = 6, FORM_HINT_BITS = 11, FORM_HINT_WAYS = 4 };

// Opcodes by their bytes: the first and last eight, and the length. Text of up to 16 bytes is known by
// these alone.
struct form_hint {
    uint64_t first, last;
    const char *text;
    uint32_t length;  // 0: free
    uint32_t form;
};

struct parser {
    struct lexer lexer;
    struct token token;     // the one looked at
    uint32_t previous_end;  // of the token before it
    struct source *source;
    struct arena *arena, *body_arena;
    const struct parse_options *options;
    struct findings *findings;
    struct module *module;
    uint32_t max_nesting, depth;
    bool ended;        // the text ended too early, and that was reported
    bool limited;      // a stated limit was reached
    bool nul_reported;
    bool quiet;        // text that is read twice, or skipped: the lexer's errors are not reported
    uint32_t entries_accounted;  // `.entry` tokens that made a function or stand in what was reported

    // The function being read.
    uint32_t function;  // index, or NO_INDEX at module scope
    VEC_OF(struct variable) variables;
    struct body body;
    size_t room;  // bytes of the arrays in the body's arena when they were last looked at
    VEC_OF(uint32_t) scope_parents;
    VEC_OF(struct block) blocks;
    uint32_t loc;
    bool unresolved;  // the current statement names something not declared
    bool header_broken;  // parameters may be missing: unknown names are not reported

    VEC_OF(struct symbol) symbols;    // [0] is unused
    VEC_OF(struct binding) bindings;  // by name_id
    VEC_OF(struct pending) pendings;  // [0] is unused
    struct range_hint hints[1 << RANGE_HINT_BITS];
    struct form_hint form_hints[(1 << FORM_HINT_BITS) + FORM_HINT_WAYS];
    VEC_OF(struct operand) stack;  // elements of what is being read

    uint32_t *form_slots;  // opcode texts, open addressing: index + 1 into forms
    uint32_t form_slot_count;
    VEC_OF(struct form_key) form_keys;
};

static inline struct range_hint *range_hint_slot(struct parser *p, uint64_t key) {
    return &p->hints[(key * 0x9e3779b97f4a7c15u) >> (64 - RANGE_HINT_BITS)];
}

// Tokens (parser.c).
void advance(struct parser *p);
struct str token_text(const struct parser *p);
static inline bool at(const struct parser *p, enum token_kind kind) { return p->token.kind == kind; }
bool accept(struct parser *p, enum token_kind kind);
void skip_token(struct parser *p);  // inside something reported
// The dotted word at hand, as a directive; WORD_NONE when it is none.
enum directive_word at_word(const struct parser *p);
bool on_new_line(const struct parser *p);
static inline struct span token_span(const struct parser *p) {
    return (struct span){p->token.offset, p->token.offset + p->token.length};
}

// Errors (recover.c). Each gives the finding, never NULL.
struct finding *report(struct parser *p, enum rule rule, struct span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// The token at hand cannot stand here. Says nothing where the lexer's complaint says it already.
void unexpected(struct parser *p, const char *expected);
bool expect(struct parser *p, enum token_kind kind, const char *expected);
// The end of a statement. False when there is something else, which was reported.
bool expect_semicolon(struct parser *p);
void lexical_error(struct parser *p);
void skip_statement(struct parser *p, uint32_t begin);
// Past the next `;` or closed brace, or to what begins a declaration. With `one_statement` false only
// the latter.
void skip_to_module_level(struct parser *p, bool one_statement);
bool begins_statement(const struct parser *p);
bool followed_by_colon(const struct parser *p);
// At a line that begins `.visible .entry`, say: no body holds that.
bool at_function_start(const struct parser *p);
// One level deeper. False when that is too deep, which was reported.
bool enter(struct parser *p);
static inline void leave(struct parser *p) { p->depth--; }
bool limit_reached(struct parser *p, struct span span, const char *what, uint64_t limit);

// Symbols (symbols.c).
void symbols_init(struct parser *p);
struct binding *binding_of(struct parser *p, name_id name);
// Declares; false when the name is taken in this scope, which was reported.
bool declare(struct parser *p, enum symbol_kind kind, struct str text, uint32_t index,
             struct span span);
bool declare_range(struct parser *p, struct str prefix, var_ref var, uint32_t count,
                   struct span span);
void open_block(struct parser *p, uint32_t offset);
void close_block(struct parser *p);
// Reports what is still unknown; the outermost block is closed.
void symbols_end_function(struct parser *p);
// Makes `operand` what the identifier `text` stands for.
void resolve(struct parser *p, struct str text, struct operand *operand);
// Notes the unresolved names of the statement whose operands and elements begin there.
void note_unresolved(struct parser *p, uint32_t operand_first, uint32_t element_first);

// Constants (expression.c).
struct constant {
    uint64_t bits;
    bool is_float, is_unsigned, is_expression, is_warp_size;
    uint8_t hex;  // 4 or 8 for 0f and 0d
    struct span span;
};
// False when none is there, which was reported.
bool parse_constant(struct parser *p, struct constant *constant);
bool at_constant(const struct parser *p);
// A plain integer literal (directive arguments and dimensions take no expressions).
bool parse_plain_integer(struct parser *p, uint64_t *value, const char *expected);
uint64_t integer_value(struct str text, bool *is_unsigned);
uint64_t single_to_double_bits(uint64_t bits);

// Declarations (declaration.c).
bool parse_variable_statement(struct parser *p, enum linkage linkage, uint32_t begin);
bool parse_parameter_list(struct parser *p, bool is_return, uint32_t *count, bool *unsized);
bool parse_function_attribute(struct parser *p, struct function *function);
bool parse_pragma(struct parser *p);

// Functions (parser.c).
uint32_t new_function(struct parser *p, enum function_kind kind, enum linkage linkage, uint32_t begin);
bool parse_parameters(struct parser *p, bool is_return);
bool parse_header_directives(struct parser *p);

// Debugging data (section.c).
bool parse_section(struct parser *p);

// Bodies (body.c).
void parse_body(struct parser *p);
void add_label(struct parser *p, struct str text, struct span span);
// Reads statements without tokens while they are plain (fast.c). False when the one at hand is not.
bool read_fast(struct parser *p);
void remember_form(struct parser *p, struct str text, uint32_t form);
// The same place reached without reading: by matching braces outside comments and strings.
void skip_body(struct parser *p);
void report_unclosed(struct parser *p);

#endif
