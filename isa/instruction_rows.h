// The rows of isa/instructions.def, read into a form that can be matched. The rows' language is
// documented at the head of that file. Rows are read on demand, one opcode at a time, so that a
// program pays for the opcodes that it meets and for no others.
#ifndef PTXVET_ISA_INSTRUCTION_ROWS_H
#define PTXVET_ISA_INSTRUCTION_ROWS_H

#include "isa/floor.h"
#include "isa/isa.h"

// One word that a slot takes.
struct isa_choice {
    uint16_t mod;  // enum isa_mod
    bool has_floor;
    struct isa_floor floor;
};

// Words of one class keep their order; all others may stand anywhere after the stem (measured:
// ptxas takes `add.f32.rn`, `ld.u32.global`, but not `cvt.f32.u32` for `cvt.u32.f32`).
enum isa_slot_order { SLOT_ORDER_FREE, SLOT_ORDER_TYPE, SLOT_ORDER_SPACE, SLOT_ORDER_LAYOUT,
                      SLOT_ORDER_PRIORITY, SLOT_ORDER_REDUCTION, SLOT_ORDER_FORMAT };

struct isa_slot {
    struct str name;  // empty when it has none
    bool optional;
    uint8_t order;    // enum isa_slot_order
    uint16_t choice_count;
    struct isa_choice *choices;
};

enum { ISA_MAX_SLOTS = 16, ISA_MAX_OPERANDS = 12 };

// What an operand may be. See the head of isa/instructions.def.
enum isa_operand_code {
    CODE_R,        // a register as wide as the type, or a literal
    CODE_W,        // the same, wider registers too (ld, st, cvt)
    CODE_N,        // a register of 32 integer bits, or an integer
    CODE_X,        // a 32-bit register with an optional byte or half selector (video)
    CODE_P,        // a predicate
    CODE_M,        // an address
    CODE_TENSOR,   // [tensor map, {coordinates}]
    CODE_IMAGE,    // [texture, sampler, {coordinates}] or [texture, {coordinates}]
    CODE_HANDLE,   // [texture or surface]
    CODE_LOD,      // level of detail: a float or integer of 32 bits
    CODE_TMEM,     // an address of tensor memory in a .b32 register
    CODE_TADDR,    // the same in any 32 integer bits
    CODE_SCALE_A,  // {byte, thread} of the scale factors of A: two threads
    CODE_SCALE_B,  // the same of B: four threads
    CODE_V,        // a vector of registers
    CODE_I,        // an integer constant
    CODE_F,        // a floating-point constant
    CODE_SINK,     // _
    CODE_S,        // a special register
    CODE_D,        // the address of a variable or function
    CODE_LABEL,    // where to branch
    CODE_TARGETS,  // a list of labels
    CODE_ANY,      // judged elsewhere (calls)
};

// How many registers a vector operand has.
enum isa_count_rule {
    COUNT_FIXED,    // count
    COUNT_SLOT,     // by the .v2/.v4/.v8 of a slot, 1 (no braces) when it is empty
    COUNT_X,        // by .x1 .. .x128 and the shape (ldmatrix, stmatrix, tcgen05.ld, tcgen05.st)
    COUNT_A, COUNT_B, COUNT_C, COUNT_D,  // by shape and type of a matrix (mma, wmma, wgmma)
    COUNT_OFFSETS,  // coordinates that im2col offsets need: dimensions - 2
    COUNT_COORDINATES,  // as many as the texture's geometry has
    COUNT_ANY,
};

enum { RANGE_NONE, RANGE_SPAN, RANGE_SET, RANGE_MULTIPLE, RANGE_POWER };

struct isa_operand_pattern {
    uint8_t code;        // enum isa_operand_code
    bool destination;    // written: no literal
    bool negatable;      // !p
    bool sink;           // `_` will do
    bool no_literal;
    bool widened;        // the type's size doubles (mul.wide)
    uint8_t pair;        // 0: none; 1: must be `x|p`; 2: may be
    bool optional;       // may be left out (with all that follow)
    int8_t if_slot;      // stands only when this slot is filled; -1: always
    int8_t type_slot;    // the type is this slot's; -1: `type`
    int8_t space_slot;   // the state space is this slot's; -1: `space`
    int8_t count_slot;
    uint8_t type;        // enum isa_type
    uint8_t space;       // enum isa_space
    uint8_t count_rule;  // enum isa_count_rule
    uint8_t range;       // RANGE_...
    uint16_t count;
    uint8_t value_count;
    int64_t values[6];   // SPAN: least, most; SET: each; MULTIPLE: of, least, most
};

// A test on the words that a form has: present, absent, in which slot.
struct isa_test {
    bool absent;
    int8_t slot;          // -1: anywhere in the form
    uint8_t mod_count;    // 0: the slot is filled (or, if absent, empty)
    uint16_t mods[8];
};

struct isa_condition {
    uint8_t test_count;
    struct isa_test tests[5];  // all must hold
    bool never;                // then the form does not exist
    struct isa_floor floor;    // else it needs this too
    const char *text;
};

struct isa_instruction_row {
    const char *modifiers_text, *operands_text;
    uint8_t stem_count;
    uint16_t stem[5];
    uint8_t slot_count;
    struct isa_slot slots[ISA_MAX_SLOTS];
    uint8_t operand_count;
    struct isa_operand_pattern operands[ISA_MAX_OPERANDS];
    struct isa_floor floor;
    uint8_t condition_count;
    struct isa_condition *conditions;
};

struct isa_instruction_rows {
    uint32_t count;
    struct isa_instruction_row *at;
};

// The rows of an opcode, in the order of the file. Allocated in `arena`.
struct isa_instruction_rows isa_instruction_rows_read(struct arena *arena, enum isa_opcode opcode);

#endif
