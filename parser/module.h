// What the parser makes of a PTX text: a compact module. Flat arrays and 32-bit indices.
//
// Two arenas: the module's (names, functions, module variables, forms) and one for a function's
// body (its own variables, instructions, operands, labels), which can be reset after the function
// was checked. What could not be parsed is in no array; a finding stands for it.
#ifndef PTXVET_PARSER_MODULE_H
#define PTXVET_PARSER_MODULE_H

#include "base/source.h"
#include "isa/isa.h"

#define NO_INDEX UINT32_MAX

// A reference to a variable: an index into module.variables, or, with VAR_LOCAL set, into
// function.variables. Functions are referred to by index, labels by index into body.labels.
typedef uint32_t var_ref;
#define VAR_LOCAL 0x80000000u
#define VAR_NONE UINT32_MAX

enum linkage { LINKAGE_NONE, LINKAGE_VISIBLE, LINKAGE_EXTERN, LINKAGE_WEAK, LINKAGE_COMMON };

// One value of an initialiser, in memory order. Nested braces are flattened with the holes that a
// short row leaves: `index` is the element that the value initialises.
enum init_kind { INIT_INT, INIT_FLOAT, INIT_SYMBOL };
struct init_value {
    uint64_t index;
    uint64_t bits;     // INIT_INT: the value; INIT_FLOAT: the IEEE double; INIT_SYMBOL: the addend
    name_id symbol;    // INIT_SYMBOL
    uint32_t offset;   // of its first byte in the source
    uint8_t kind;      // enum init_kind
    bool generic;      // generic(symbol)
    bool float_bits;   // written 0f/0d
    uint8_t mask_shift;  // mask(symbol): which byte is taken, else 255; 254: the mask is not one byte
};

// How an initialiser's braces fit the variable's dimensions.
enum init_shape {
    INIT_FITS,
    INIT_TOO_MANY,      // more items than the dimension has
    INIT_NESTING,       // braces where a value must be, or a value where braces must be
    INIT_VECTOR_PARTS,  // not as many parts as the vector has
};

// A register range, a parameter, or a variable in any state space.
struct variable {
    name_id name;          // for `%r<100>`, the prefix `%r`
    struct span span;      // of the name, and its range or dimensions
    struct span declaration;  // of the whole statement
    uint8_t space;         // enum isa_space
    uint8_t type;          // enum isa_type; TYPE_NONE when an unknown type was written
    uint8_t vec;           // 1, 2 or 4
    uint8_t linkage;       // enum linkage
    uint32_t align;        // .align as written; 0 when not stated
    bool align_stated, ptr_align_stated;  // .align was written, if only with 0
    uint32_t range;        // N of `<N>`; 0 when it is one variable
    bool is_range;         // `<N>` was written
    bool is_array;
    bool unsized;          // the first dimension is `[]`
    bool is_return;        // a return parameter of a function
    bool managed, unified; // .attribute(...)
    bool has_init;
    bool is_ptr;           // .ptr was written (kernel parameters)
    uint8_t ptr_space;     // enum isa_space of .ptr; SPACE_NONE: generic
    uint32_t ptr_align;    // .ptr's .align; 0 when not stated
    uint32_t bank;         // .const[bank]; NO_INDEX when none
    uint32_t function;     // index of the function it is declared in; NO_INDEX at module scope
    uint64_t count;        // elements: the product of the dimensions, 1 for a scalar; 0 for unsized
    uint32_t dim_first, dim_count;    // in module.dims
    uint32_t init_first, init_count;  // in module.inits
    uint8_t init_shape;    // enum init_shape; of the first misfit
    uint32_t init_misfit;  // where that is, in the source
    uint32_t scope;        // number of the block it is declared in; 0 is the function's or module's
};

// Size in bytes of one element (vec * type), and the natural or stated alignment.
uint32_t variable_element_size(const struct variable *variable);
uint32_t variable_align(const struct variable *variable);
// False when count * element size overflows.
bool variable_size(const struct variable *variable, uint64_t *bytes);

enum operand_kind {
    OPERAND_NONE,
    OPERAND_REG,     // var, number (within the range), component
    OPERAND_SREG,    // sreg (isa row), component
    OPERAND_INT,     // value; is_unsigned when `U`
    OPERAND_FLOAT,   // value: the IEEE double; hex: 4 for 0f, 8 for 0d, 0 for decimal
    OPERAND_VAR,     // var, value (addend, bytes): a variable's name used as a value: `mov.u64 %rd1, a+4`
    OPERAND_FUNC,    // function
    OPERAND_LABEL,   // label
    OPERAND_NAME,    // name: nothing of that name is in scope
    OPERAND_SINK,    // _
    OPERAND_VECTOR,  // {a, b}: elements
    OPERAND_LIST,    // (a, b): elements; arguments of a call
    OPERAND_PAIR,    // p|q: two elements
    OPERAND_ADDRESS, // [base+value], sym[reg], [tensor, {coordinates}]: see below
};

// Flags of an operand.
enum {
    OPERAND_NOT = 1,         // !p
    OPERAND_UNSIGNED = 2,    // integer literal with U, or (.u64) cast
    OPERAND_EXPRESSION = 4,  // the constant was computed from an expression
    OPERAND_INDEXED = 8,     // written sym[index]: a VAR where mov takes it, else an ADDRESS; `value`
                             // is the constant part in bytes, a register index the second element
                             // (it counts elements, as ptxas scales it)
    OPERAND_NEGATED = 16,    // -%r
    OPERAND_WARP_SZ = 32,    // the constant is WARP_SZ
    OPERAND_UNIFIED = 64,    // [address].unified
};

// An OPERAND_ADDRESS has elements: the first is the base (REG, VAR, INT, NAME, SREG); `value` is
// the constant byte offset added to it. `[a+%r]`-like register indices, tensor coordinates
// (a VECTOR) and whatever else follows a comma inside the brackets are further elements.
struct operand {
    uint8_t kind;       // enum operand_kind
    uint8_t flags;
    uint8_t component;  // 0 none, else 1..4 for .x .y .z .w (or .r .g .b .a); b0..b3: 16 + n,
                        // h0 h1: 20 + n; 22 b3210 and its like, 23 h10 and its like
    uint8_t hex;        // OPERAND_FLOAT
    uint32_t offset, end;  // span in the source
    union {
        var_ref var;        // REG, VAR
        uint32_t sreg;      // SREG: index into isa special registers
        uint32_t function;  // FUNC
        uint32_t label;     // LABEL
        name_id name;       // NAME (and, before labels are resolved, LABEL)
        uint32_t first;     // VECTOR, LIST, PAIR, ADDRESS: first element in body.elements
    };
    uint32_t number;    // REG: which of a range
    uint32_t count;     // VECTOR, LIST, PAIR, ADDRESS: number of elements
    uint64_t value;     // INT, FLOAT, VAR, ADDRESS
};

enum guard { GUARD_NONE, GUARD_IF, GUARD_UNLESS };

struct instruction {
    uint32_t offset;         // of the opcode's first byte
    uint32_t opcode_end;     // end of the dotted opcode
    uint32_t end;            // of the statement: the offset past `;`
    uint32_t form;           // index into module.forms
    uint32_t operand_first;  // in body.operands
    uint16_t operand_count;
    uint8_t guard;           // enum guard
    bool vector_misplaced;   // .v2/.v4 not directly before the type (a warning of ptxas)
    uint32_t guard_operand;  // index into body.elements (a REG, or NAME when unknown)
    uint32_t loc;            // index into body.locs of the .loc in force; NO_INDEX when none
    uint32_t scope;          // number of the enclosing block
};

struct label {
    name_id name;
    uint32_t offset;       // in the source
    uint32_t instruction;  // index of the instruction that follows (instruction_count at the end)
    uint32_t scope;
    uint8_t kind;          // enum label_kind
    uint32_t list;         // index into body.label_lists; NO_INDEX for a plain label
};
enum label_kind { LABEL_PLAIN, LABEL_BRANCHTARGETS, LABEL_CALLTARGETS, LABEL_CALLPROTOTYPE };

// L: .branchtargets A, B;  L: .calltargets f, g;  L: .callprototype (ret) _ (params);
struct label_list {
    uint32_t element_first, element_count;  // operands in body.elements (LABEL, FUNC or NAME)
    uint32_t prototype;                     // index into module.functions, for .callprototype
};

// .loc file line column [, function_name label, inlined_at file line column]
struct loc {
    uint32_t offset;
    uint32_t file, line, column;
    uint32_t inlined_file, inlined_line, inlined_column;  // inlined_file 0: not inlined
    name_id function_name;
};

// .file index "name"
struct file_entry {
    uint32_t index;
    struct str name;
    uint32_t offset;
};

struct pragma {
    struct str text;
    struct span span;
    uint32_t function;  // NO_INDEX at module scope
};

// Arrays are never NULL, empty ones included.
struct body {
    VEC_OF(struct instruction) instructions;
    VEC_OF(struct operand) operands;   // top-level operands, instruction after instruction
    VEC_OF(struct operand) elements;   // of vectors, lists, pairs, addresses; guards
    VEC_OF(struct label) labels;
    VEC_OF(struct label_list) label_lists;
    VEC_OF(struct loc) locs;
    uint32_t *scope_parents;           // by scope number; scope 0 has no parent (NO_INDEX)
    uint32_t scope_count;
    bool truncated;                    // the file ended inside
};

enum directive {
    DIRECTIVE_MAXNTID, DIRECTIVE_REQNTID, DIRECTIVE_MINNCTAPERSM, DIRECTIVE_MAXNCTAPERSM,
    DIRECTIVE_MAXNREG, DIRECTIVE_REQNCTAPERCLUSTER, DIRECTIVE_MAXCLUSTERRANK,
    DIRECTIVE_EXPLICITCLUSTER, DIRECTIVE_BLOCKSARECLUSTERS, DIRECTIVE_NORETURN,
    DIRECTIVE_ABI_PRESERVE, DIRECTIVE_ABI_PRESERVE_CONTROL, DIRECTIVE_COUNT
};

struct directive_use {
    uint8_t directive;      // enum directive
    uint8_t value_count;    // how many numbers were written (at most 3)
    uint64_t values[3];     // not written: 1
    struct span span;
};

enum function_kind { FUNCTION_ENTRY, FUNCTION_FUNC, FUNCTION_PROTOTYPE };

struct function {
    name_id name;              // 0 when it could not be read
    uint8_t kind;              // enum function_kind; PROTOTYPE is a .callprototype
    uint8_t linkage;           // enum linkage
    bool has_body;             // `{` was seen, even if the body was cut short
    bool parsed;               // the parameter list was read whole
    struct span span;          // of the name
    struct span header;        // from the linkage or .entry/.func to before the body or `;`
    struct span body_span;     // from `{` to past `}`
    VEC_OF(struct variable) variables;  // parameters first, then what the body declares
    uint32_t return_count;     // variables[0..return_count) are return parameters
    uint32_t param_count;      // variables[return_count..return_count + param_count) are parameters
    VEC_OF(struct directive_use) directives;
    bool unsized_param;        // last parameter is `[]`
    bool unified;              // .attribute(.unified(...))
    struct body *body;         // NULL: prototype, or streamed and done with
};

struct alias {
    name_id name, target;
    struct span span;
};

struct module {
    struct source *source;
    struct arena *arena;       // the module's
    struct names names;
    // Header. Spans are empty (0, 0) where the directive is missing.
    struct span version_span, target_span, address_size_span;
    uint16_t version;          // 10 * major + minor: 87 for 8.7; 0 when missing or unreadable
    struct str target;         // "sm_90a": first name of .target; empty when missing
    VEC_OF(struct str) target_names;  // all of the list, options included
    bool debug, texmode_independent, texmode_unified, map_f64_to_f32;
    uint8_t address_size;      // 32 or 64; 0 when not stated
    struct str first_comment;  // text of the comments before .version, for the generator
    VEC_OF(struct function) functions;   // entries, functions, prototypes: source order
    VEC_OF(struct variable) variables;   // module scope
    VEC_OF(struct init_value) inits;
    VEC_OF(uint64_t) dims;
    VEC_OF(struct isa_form) forms;       // distinct dotted opcodes
    VEC_OF(struct file_entry) files;
    VEC_OF(struct pragma) pragmas;
    VEC_OF(struct alias) aliases;
    VEC_OF(struct span) sections;        // .section and DWARF lines
    // The first of each; empty when there is none.
    struct span section_label, section_negative;  // in .section: a label; a negative number or difference
    struct span file_timestamp;                   // a .file that states one
    uint32_t entry_tokens;               // how many `.entry` tokens were met
    bool has_dwarf;
};

static inline struct variable *module_variable(struct module *module, struct function *function,
                                               var_ref ref) {
    return ref & VAR_LOCAL ? &function->variables.at[ref & ~VAR_LOCAL] : &module->variables.at[ref];
}

static inline struct str module_name(const struct module *module, name_id id) {
    return names_text(&module->names, id);
}

// The first use of a directive, or NULL.
const struct directive_use *function_directive(const struct function *function,
                                               enum directive directive);

#endif
