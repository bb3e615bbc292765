// What the files of the instruction checker share. Nobody else includes this.
//
// An instruction is judged in two steps. Its form (the dotted opcode) is matched once against the
// rows of its opcode: that gives the rows whose words fit (instructions_forms.c). Its operands are
// then held against those rows (instructions_operands.c). A form with operands of the same shape
// that was found clean is found by one look-up from then on (instructions.c).
#ifndef PTXVET_ANALYZER_RULES_INSTRUCTIONS_INTERNAL_H
#define PTXVET_ANALYZER_RULES_INSTRUCTIONS_INTERNAL_H

#include "analyzer/rules/instructions.h"
#include "isa/instruction_rows.h"

// A row that takes the form's words: which word fills each slot (0: none), and what it all needs.
struct row_match {
    const struct isa_instruction_row *row;
    uint16_t filled[ISA_MAX_SLOTS];
    struct isa_floor floor;
};

enum form_state { FORM_NEW, FORM_KNOWN, FORM_BAD };

struct form_info {
    uint8_t state;       // enum form_state; BAD: no row takes its words
    bool values_matter;  // some operand's constant has a range
    uint16_t match_count;
    struct row_match *matches;
    uint32_t length;     // of the canonical text
    uint64_t seed;       // of the hash of its shapes
};

struct instruction_checker {
    struct arena *arena;
    struct module *module;
    struct findings *findings;
    struct isa_target target;
    struct isa_instruction_rows *rows[OP_COUNT];
    struct form_info *forms;  // by form index
    uint32_t form_count, form_capacity;
    uint64_t *clean;          // open addressing; 0 is free
    uint32_t clean_count, clean_slots;
    VEC_OF(struct requirement) requirements;
    // Where the checker is.
    uint32_t function_index;
    struct function *function;
    struct body *body;
};

// Why a row's operands do not fit.
enum mismatch_kind {
    MISMATCH_NONE,
    MISMATCH_COUNT,      // too many or too few
    MISMATCH_KIND,       // a literal where a register must be, a scalar for a vector, ...
    MISMATCH_TYPE,       // a register of the wrong class or width
    MISMATCH_LITERAL,    // a constant that the type does not take
    MISMATCH_LENGTH,     // a vector of the wrong length
    MISMATCH_SPACE,      // a variable in another state space
    MISMATCH_RANGE,      // a constant out of range
    MISMATCH_COMPONENT,  // .x, .b0 where there is none
};

struct mismatch {
    uint8_t kind;            // enum mismatch_kind
    int8_t pattern;          // index into row->operands; -1: none is left for the operand
    uint32_t operand;        // index among the instruction's operands
    const struct operand *at;  // the operand, or the element of it; NULL when it is missing
    uint32_t wanted;         // length of a vector, number of operands
    enum isa_type type;      // what it must be
};

// Matches the form's words; fills in the state and the matches.
void form_resolve(struct instruction_checker *checker, const struct isa_form *form,
                  struct form_info *info);

const struct isa_instruction_rows *checker_rows(struct instruction_checker *checker,
                                                enum isa_opcode opcode);

// Whether a row takes the words. `used` (as long as the form's words, may be NULL) says which of
// them found a slot in the best attempt.
bool form_match_row(const struct isa_form *form, const struct isa_instruction_row *row,
                    struct row_match *match);

// Holds the operands against one match.
bool operands_match(struct instruction_checker *checker, const struct isa_form *form,
                    const struct row_match *match, const struct instruction *instruction,
                    struct mismatch *mismatch);

// How many registers the pattern's vector has with these words; 0: any number; 1 and no braces when
// `*scalar` is set.
uint32_t pattern_length(const struct isa_form *form, const struct row_match *match,
                        const struct isa_operand_pattern *pattern, bool *scalar);

enum isa_type pattern_type(const struct row_match *match,
                           const struct isa_operand_pattern *pattern);

// The type of a register, variable or special register operand; TYPE_NONE for anything else.
enum isa_type operand_type(const struct instruction_checker *checker,
                           const struct operand *operand);

const struct variable *operand_variable(const struct instruction_checker *checker,
                                        const struct operand *operand);

// Findings. Each adds one (or two, where version and target are both too low).
void report_form(struct instruction_checker *checker, const struct isa_form *form,
                 const struct instruction *instruction);
void report_mismatch(struct instruction_checker *checker, const struct isa_form *form,
                     const struct row_match *match, const struct instruction *instruction,
                     const struct mismatch *mismatch);
void report_floor(struct instruction_checker *checker, const struct isa_form *form,
                  const struct instruction *instruction, const struct isa_floor *floor);
void report_stem_parted(struct instruction_checker *checker, const struct isa_form *form,
                        const struct isa_instruction_row *row,
                        const struct instruction *instruction);
void report_vector_misplaced(struct instruction_checker *checker, const struct isa_form *form,
                             const struct instruction *instruction);
void report_guard(struct instruction_checker *checker, const struct instruction *instruction);

#endif
