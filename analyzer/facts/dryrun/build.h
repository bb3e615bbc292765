// Shared by compile.c (control flow, calls) and translate.c (one instruction at a time).
#ifndef PTXVET_DRYRUN_BUILD_H
#define PTXVET_DRYRUN_BUILD_H

#include "analyzer/facts/dryrun/code.h"

// One inlined function: its registers and parameters have slots and bytes of their own.
struct instance {
    const struct instance *caller;
    uint32_t f;                      // in slice.functions
    const struct slice_function *function;
    uint32_t *slots;                 // by register; 0: not given yet
    uint64_t *private_at;            // by variable: offset in private memory; UINT64_MAX: none
    uint32_t *block_pcs;             // by block
    uint32_t depth;
};

struct builder {
    const struct dryrun_request *request;
    const struct module *module;
    const struct slice *slice;
    struct map *map;
    struct arena *arena;
    struct code *code;
    struct instance *instance;
    uint32_t *constant_slots, constant_count, constant_used;  // hash of known constants
    uint32_t *unknown_slots;                                  // by width: an unknown constant
    uint32_t instruction;            // being translated
    uint8_t guard_kind;              // of that instruction
    uint32_t guard;
    uint64_t params_at;              // private bytes given to parameters of functions so far
};

struct code_insn *build_insn(struct builder *builder, enum code_op op);
uint32_t build_constant(struct builder *builder, uint64_t value);
uint32_t build_unknown_slot(struct builder *builder, uint32_t bits);
uint32_t build_temporary(struct builder *builder, uint32_t bits);
uint32_t build_reg(struct builder *builder, const struct operand *operand, uint8_t *bits);

// The slot of an operand read as `bits` wide (`is_float`: literals become IEEE bits).
uint32_t build_source(struct builder *builder, const struct operand *operand, uint32_t bits,
                      bool is_float);

// d = op(a, b, c, imm), with the guard of the instruction.
void build_lane(struct builder *builder, enum lane_op op, uint32_t bits, uint32_t d, uint32_t a,
                uint32_t b, uint32_t c, uint64_t imm);
// The same into a temporary, without a guard.
uint32_t build_value(struct builder *builder, enum lane_op op, uint32_t bits, uint32_t a, uint32_t b,
                     uint32_t c, uint64_t imm);

// The address of a variable in its own space, and whether it is a parameter of a function.
uint64_t build_address(struct builder *builder, var_ref var, uint8_t *space);

// Translates one instruction other than control flow and calls.
void build_instruction(struct builder *builder, uint32_t instruction);

#endif
