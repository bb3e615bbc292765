// What PTX is, as tables: names of types, state spaces, opcodes and modifiers, and the decoded form
// of a dotted opcode. Rows are in `.def` files; this header turns them into enums and look-ups.
#ifndef PTXVET_ISA_ISA_H
#define PTXVET_ISA_ISA_H

#include "base/str.h"

enum isa_type {
    TYPE_NONE,
#define TYPE(id, text, bits, class) TYPE_##id,
#include "isa/types.def"
    TYPE_COUNT
};

enum isa_type_class { TYPE_CLASS_NONE, TYPE_CLASS_P, TYPE_CLASS_U, TYPE_CLASS_S, TYPE_CLASS_F,
                      TYPE_CLASS_B, TYPE_CLASS_O };

struct isa_type_info {
    struct str text;  // without the dot
    uint16_t bits;
    uint8_t class;  // enum isa_type_class
};

extern const struct isa_type_info isa_types[TYPE_COUNT];

enum isa_space {
    SPACE_NONE,  // generic on an instruction; not stated
#define SPACE(id, text) SPACE_##id,
#include "isa/spaces.def"
    SPACE_COUNT
};

extern const struct str isa_space_texts[SPACE_COUNT];  // without the dot

enum isa_opcode {
    OP_UNKNOWN,
#define OPCODE(id) OP_##id,
#include "isa/opcodes.def"
    OP_COUNT
};

extern const struct str isa_opcode_texts[OP_COUNT];

enum isa_mod {
    MOD_UNKNOWN,
#define MODIFIER(id, text) MOD_##id,
#include "isa/modifiers.def"
    MOD_COUNT
};

extern const struct str isa_mod_texts[MOD_COUNT];  // without the dot

// Special registers: an operand's `sreg` is a row of this table.
enum isa_sreg {
#define SREG(id, text, type, width, version, target) SREG_##id,
#include "isa/special_registers.def"
    SREG_COUNT
};

struct isa_sreg_info {
    struct str text;   // "%tid"
    uint8_t type;      // enum isa_type
    uint8_t width;     // 4 for vectors (.x .y .z .w), else 1
    uint16_t version;  // least PTX version: 10 * major + minor
    uint16_t target;   // least target: NN of sm_NN
};

extern const struct isa_sreg_info isa_sregs[SREG_COUNT];

// The special register of that name (`%tid`), or SREG_COUNT.
enum isa_sreg isa_sreg_find(struct str text);

// Look-ups by text (without the dot); 0 (NONE, UNKNOWN) when there is no such word.
enum isa_type isa_type_find(struct str text);
enum isa_space isa_space_find(struct str text);
enum isa_opcode isa_opcode_find(struct str text);
enum isa_mod isa_mod_find(struct str text);

// The type or state space that a modifier names; 0 when it names none.
enum isa_type isa_mod_type(enum isa_mod mod);
enum isa_space isa_mod_space(enum isa_mod mod);

// One distinct dotted opcode of a module, decoded once: `ld.global.v4.u32`.
struct isa_form {
    struct str text;     // canonical: blanks and comments taken out
    uint16_t opcode;     // enum isa_opcode
    uint16_t mod_count;
    const uint16_t *mods;         // enum isa_mod, in source order
    const struct str *mod_texts;  // in source order, for words that are not known
    uint8_t type_count;   // how many modifiers name types (at most 4 are kept below)
    uint8_t space_count;  // how many name state spaces (at most 2 are kept below)
    uint8_t types[4];     // enum isa_type, in source order
    uint8_t spaces[2];    // enum isa_space, in source order
    uint8_t vec;          // 2, 4, 8 for .v2 .v4 .v8; else 1
};

// Decodes `text`, the opcode as written. Everything is allocated in `arena`; text is copied when it
// is not canonical, else viewed.
void isa_form_decode(struct arena *arena, struct str text, struct isa_form *form);

// Whether one of the form's modifiers is `mod`.
bool isa_form_has(const struct isa_form *form, enum isa_mod mod);

#endif
