// The slice compiled for one launch: a flat array of small instructions on numbered slots. Calls are
// inlined, each with slots of its own; constants, parameters and special registers are slots too.
#ifndef PTXVET_DRYRUN_CODE_H
#define PTXVET_DRYRUN_CODE_H

#include "analyzer/facts/dryrun/lanes.h"
#include "analyzer/facts/dryrun/map.h"

enum code_op {
    CODE_LANE,       // d = lane(a, b, c, imm)
    CODE_UNKNOWN,    // d becomes unknown
    CODE_ACCESS,     // accesses[target] at slot a + imm; size slot c where the access has one
    CODE_JUMP,       // to target
    CODE_BRANCH,     // to target where the guard holds; reconverges at `reconverge`
    CODE_INDIRECT,   // to tables[target + a], imm entries
    CODE_JOIN,       // paths that split may meet here
    CODE_EXIT,       // the threads end
    CODE_TRAP,       // sub: 0 trap, 1 brkpt, 2 assert
    CODE_STOP,       // deeper than calls are followed: what comes after is not known
    CODE_STACK,      // endless recursion
    CODE_HANG,       // a loop that no path leaves
    CODE_BARRIER,    // sub: 0 sync, 1 arrive; id slot a, count slot b (0: all threads)
    CODE_SHFL,       // d = a of lane b, c = clamp and mask; sub: mode; target: predicate slot
    CODE_VOTE,       // d = vote over a; sub: mode
    CODE_MATCH,      // d = lanes with equal a; sub: 0 any, 1 all; target: predicate slot
    CODE_ELECT,      // d = leader, target: predicate slot
    CODE_REDUX,      // d = reduction of a; sub: operation
    CODE_ACTIVE,     // d = active mask
    CODE_RANK,       // a must be a rank of the cluster (mapa)
    CODE_MBARRIER,   // sub: enum mbarrier_op; address slot a + imm; operand slot b; d: state or truth
};

enum { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };
enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };
enum { REDUX_ADD, REDUX_MIN_U, REDUX_MAX_U, REDUX_MIN_S, REDUX_MAX_S, REDUX_AND, REDUX_OR, REDUX_XOR };
enum mbarrier_op {
    MBARRIER_INIT, MBARRIER_ARRIVE, MBARRIER_ARRIVE_DROP, MBARRIER_ARRIVE_EXPECT, MBARRIER_EXPECT,
    MBARRIER_COMPLETE, MBARRIER_WAIT, MBARRIER_WAIT_PARITY, MBARRIER_INVAL, MBARRIER_INEXACT,
};

struct code_insn {
    uint8_t op;          // enum code_op
    uint8_t sub;
    uint8_t bits;        // width of d
    uint8_t guard_kind;  // enum guard
    uint16_t lane;       // enum lane_op
    bool hoisted;        // the same in every block: computed once for each warp
    uint32_t guard, d, a, b, c;  // slots
    uint32_t target, reconverge;
    uint64_t imm;
    uint32_t function, instruction;  // in the module
};

#define NO_TARGET UINT32_MAX

enum access_kind { ACCESS_OP_LOAD, ACCESS_OP_STORE, ACCESS_OP_ATOMIC, ACCESS_OP_REDUCE };

#define ACCESS_ELEMENTS 8

struct code_access {
    uint8_t kind;          // enum access_kind
    uint8_t space;         // enum isa_space: NONE (generic), GLOBAL, SHARED, SHARED_CLUSTER, LOCAL, CONST, PARAM
    uint8_t elements, element_bytes;
    uint32_t width;        // bytes checked
    uint32_t align;
    // What the assembler leaves of a load of which only some elements are used.
    uint32_t narrow_offset, narrow_width;
    uint32_t lanes;        // which lanes give an address (ldmatrix); all ones
    bool removable;        // nothing with an effect depends on it
    bool non_coherent;     // ld.global.nc
    bool is_volatile;      // another thread may change what is loaded
    bool sized;            // slot c of the instruction says how many bytes (cp.async, bulk)
    bool bulk;             // every byte is checked; the size is a multiple of 16
    bool contents;         // values are moved, not only the address checked
    bool sign;             // loaded elements are sign-extended
    uint8_t bits[ACCESS_ELEMENTS];    // width of the register of each element
    uint32_t slots[ACCESS_ELEMENTS];  // registers, NO_INDEX: none
    uint32_t insn;         // index of its instruction
};

enum slot_kind { SLOT_CONST, SLOT_SREG, SLOT_REG };

struct code_slot {
    uint8_t kind;       // enum slot_kind
    uint8_t bits;
    bool unknown;       // SLOT_CONST: a value that is not known
    bool invariant;     // the same in every block for a given warp
    uint8_t component;  // SLOT_SREG
    uint16_t sreg;      // SLOT_SREG
    uint32_t defs;      // SLOT_REG: how many instructions write it
    uint64_t value;     // SLOT_CONST
    uint32_t param;     // parameter that an address in it comes from + 1; 0: none, or several
};

struct code {
    VEC_OF(struct code_insn) insns;
    VEC_OF(struct code_slot) slots;      // slot 0 is the constant 0
    VEC_OF(struct code_access) accesses;
    VEC_OF(uint32_t) tables;             // targets of brx.idx
    VEC_OF(uint32_t) hoisted;            // instructions run once for each warp
    uint64_t unknown_effects;            // instructions that are not modelled and matter
    bool truncated;                      // too long: calls beyond were not followed
    bool dims_used[3];                   // block coordinates that anything depends on
    bool mbarriers_inexact;              // arrivals that are not modelled
    bool block_dependent;                // anything differs from block to block
    bool shared_remote;                  // other blocks of the cluster may write shared memory
    bool shared_needed;                  // contents of shared memory are loaded back
    bool stores_global;                  // the kernel may write global memory
};

void code_compile(const struct dryrun_request *request, const struct slice *slice, struct map *map,
                  struct arena *arena, struct code *code);

#endif
