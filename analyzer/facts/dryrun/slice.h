// The backward slice of a kernel and of what it calls: which instructions addresses, branches,
// barriers and traps depend on, and which loads the assembler may drop.
#ifndef PTXVET_DRYRUN_SLICE_H
#define PTXVET_DRYRUN_SLICE_H

#include "analyzer/facts/cfg.h"

enum {
    MARK_NEEDED = 1,  // an address, branch, barrier or trap depends on what it defines
    MARK_USED = 2,    // it has an effect, or something with an effect depends on it
};

enum ref_role { REF_DEF, REF_USE, REF_ADDRESS, REF_GUARD };

// One mention of a register in an instruction.
struct slice_ref {
    uint32_t reg;      // number within the function
    uint8_t role;      // enum ref_role
    uint8_t operand;   // which operand of the instruction; 255 for the guard
};

struct slice_reg {
    var_ref var;
    uint32_t number;
    uint8_t component;
    uint8_t bits;        // 1 for predicates
    uint8_t marks;       // of all its definitions
    uint32_t def_first, def_count;  // in slice_function.defs
};

struct slice_caller { uint32_t function, instruction; };

struct slice_function {
    uint32_t function;              // in module.functions
    const struct function *decl;
    const struct body *body;
    struct cfg cfg;
    VEC_OF(struct slice_reg) regs;
    uint32_t *slots, slot_count;    // hash of regs: number + 1; 0 is free
    VEC_OF(struct slice_ref) refs;
    uint32_t *ref_first;            // by instruction, and one past the last
    uint32_t *defs;                 // instructions that define a register
    uint8_t *marks;                 // by instruction
    uint8_t *var_needed;            // by variable: contents of a parameter are needed
    bool params_needed;             // contents of some .param variable are needed
    VEC_OF(uint32_t) calls;         // its call instructions
    VEC_OF(struct slice_caller) callers;  // calls of it
    bool always_recursive;          // no path through it avoids calling itself
};

struct slice {
    struct module *module;
    VEC_OF(struct slice_function) functions;  // reachable ones; [0] is the entry
    uint32_t *by_function;                    // module function -> index above; NO_INDEX
    // Contents that the slice loads back, so that stores there must be remembered.
    bool shared_needed, global_needed, local_needed;
    bool stores_global;                       // some store or atomic may write global memory
};

void slice_compute(struct module *module, uint32_t entry, struct arena *arena, struct slice *slice);

// The register an operand (REG) names; NO_INDEX when it is none of this function.
uint32_t slice_reg(const struct slice_function *function, const struct operand *operand);

// How an instruction touches memory by its opcode alone.
enum memory_kind { MEMORY_NONE, MEMORY_LOAD, MEMORY_STORE, MEMORY_ATOMIC, MEMORY_REDUCE, MEMORY_OTHER };
enum memory_kind slice_memory_kind(const struct isa_form *form);

// Whether the first operand is written.
bool slice_defines(const struct isa_form *form, const struct instruction *instruction,
                   const struct body *body);

#endif
