// Control flow of one function body: basic blocks and post-dominators.
// Linear or near it in the number of instructions; nothing is reported here.
#ifndef PTXVET_ANALYZER_FACTS_CFG_H
#define PTXVET_ANALYZER_FACTS_CFG_H

#include "parser/module.h"

struct cfg_block {
    uint32_t first, end;            // instructions [first, end) of the body
    uint32_t succ_first, succ_count;  // in cfg.edges
    uint32_t pred_first, pred_count;  // in cfg.pred_edges
    uint32_t ipdom;                 // block; NO_INDEX: none (the exit, or no path leaves)
    uint32_t order;                 // position in reverse post-order; NO_INDEX: unreachable
    bool leaves;                    // ends the function: ret, exit, trap, or falls off the end
    bool can_leave;                 // some path from here ends the function
};

struct cfg {
    VEC_OF(struct cfg_block) blocks;     // in source order; block 0 is the entry
    VEC_OF(uint32_t) edges, pred_edges;  // block numbers
    uint32_t *block_of;                  // by instruction
    VEC_OF(uint32_t) order;              // reachable blocks in reverse post-order
};

// What an instruction does to control flow.
enum cfg_kind { CFG_NONE, CFG_BRANCH, CFG_INDIRECT, CFG_RETURN, CFG_EXIT, CFG_TRAP, CFG_NORETURN_CALL };
enum cfg_kind cfg_kind(const struct module *module, const struct body *body,
                       const struct instruction *instruction);

// The instruction that a branch jumps to; NO_INDEX when its label is unknown.
uint32_t cfg_target(const struct body *body, const struct operand *operand);

// The targets of a brx.idx: elements of its list. False when the list is not known.
bool cfg_indirect_targets(const struct body *body, const struct instruction *instruction,
                          uint32_t *first, uint32_t *count);

void cfg_build(const struct module *module, const struct body *body, struct arena *arena,
               struct cfg *cfg);

#endif
