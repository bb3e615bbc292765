// The dry run: one launch executed as far as addresses, branches and barriers depend on it.
// Computes and never reports: analyzer/rules/memory.c makes findings of the result.
#ifndef PTXVET_ANALYZER_FACTS_DRYRUN_DRYRUN_H
#define PTXVET_ANALYZER_FACTS_DRYRUN_DRYRUN_H

#include "analyzer/facts/facts.h"
#include "findings/findings.h"

enum dryrun_arg_kind {
    DRYRUN_ARG_UNKNOWN,   // nothing is known of the value
    DRYRUN_ARG_VALUE,     // the parameter's bytes are `value` (up to 8) or `bytes`
    DRYRUN_ARG_BUFFER,    // address of a buffer of `size` bytes
    DRYRUN_ARG_POINTER,   // device address of unknown extent
    DRYRUN_ARG_NULL,
    DRYRUN_ARG_HOST,      // host memory: every access faults
};

struct dryrun_arg {
    uint8_t kind;         // enum dryrun_arg_kind
    uint64_t value;
    const uint8_t *bytes; // PARAM_BYTES with known contents; NULL: unknown
    uint64_t size;        // buffer: bytes
    uint64_t align;       // buffer, pointer: greatest power of two that divides the address
    const uint8_t *contents;  // buffer: `size` bytes, or NULL when unknown
    uint64_t contents_size;   // how many bytes of contents are known, from the start
};

struct dryrun_request {
    struct module *module;
    const struct kernel *kernel;
    uint32_t grid[3], block[3], cluster[3];  // cluster (1,1,1): none
    uint64_t shared_dynamic;
    bool shared_dynamic_known;               // false: learn what is needed
    bool cooperative;
    const struct dryrun_arg *args;           // one for each parameter of the kernel
    uint64_t local_bytes_per_thread;         // limit of the frame; 0: what the PTX declares
    double budget;                           // seconds
    uint32_t threads;                        // worker threads, at least 1
    bool no_simd;                            // for tests: the portable engine
    // Called now and then from one thread; may be NULL.
    void (*progress)(void *context, uint64_t blocks_done, uint64_t blocks);
    void *context;
};

enum fault_kind {
    FAULT_OUT_OF_BOUNDS,     // beyond the buffer, in front of it, or in no buffer
    FAULT_MISALIGNED,
    FAULT_NULL, FAULT_HOST,  // dereferenced
    FAULT_SHARED_BEYOND,     // beyond static + dynamic
    FAULT_LOCAL_BEYOND, FAULT_CONST_BEYOND, FAULT_PARAM_BEYOND,
    FAULT_TRAP,              // trap, brkpt or a failing assert reached
    FAULT_BARRIER_HANG,      // a barrier or wait that cannot complete
    FAULT_ILLEGAL_INSTRUCTION,
    FAULT_STACK,             // endless recursion
    FAULT_KINDS
};

// One instruction and kind of fault; where several threads have it, the first in block order.
struct dryrun_fault {
    uint8_t kind;            // enum fault_kind
    uint8_t confidence;      // CERTAIN, or POSSIBLE behind an unknown branch or address
    uint8_t space;           // enum isa_space of the memory reached
    bool store, atomic;
    bool silent;             // hidden by the hardware: the 128-byte granule, mapped memory before the buffer
    bool removable;          // a load that the assembler may drop: nothing depends on it
    uint32_t function, instruction;   // where
    uint32_t param;          // parameter whose buffer is left; NO_INDEX when none
    const struct variable *variable;  // shared, local, const, global variable left; NULL when none
    int64_t byte_offset;     // of the access from the buffer's or variable's start
    int64_t furthest;        // greatest end of any such access, bytes from the same start
    uint64_t size;           // of the buffer or space, bytes
    uint32_t width;          // of the access, bytes
    uint64_t address;        // of the first thread's access, as the dry run numbers them
    uint32_t align_needed, align_found;  // FAULT_MISALIGNED
    uint32_t ctaid[3], tid[3];           // the first thread
    uint64_t threads;        // how many of the threads that were run have it
    int result;              // enum result that the device answers for it alone
    uint64_t expected, arrived;          // FAULT_BARRIER_HANG
};

// Per pointer parameter and for shared memory: what was touched.
struct dryrun_use {
    uint32_t param;                  // NO_INDEX: dynamic shared memory
    bool read, written;
    uint64_t read_low, read_high;    // bytes [low, high) from the buffer's start
    uint64_t written_low, written_high;
    uint64_t size_needed;            // least size that holds every access; 0 when none was made
    uint32_t align_needed;           // least alignment of the address
    bool exact;                      // every access to it had a known address
};

struct dryrun_result {
    bool complete;                   // every block was run to its end
    uint64_t blocks, blocks_run;
    uint64_t unknown_addresses;      // accesses whose address was not known
    uint64_t unknown_effects;        // instructions whose effect is not modelled
    uint64_t lane_instructions;      // executed, for the benchmark
    VEC_OF(struct dryrun_fault) faults;
    VEC_OF(struct dryrun_use) uses;
    // What the device answers: CUDA_SUCCESS, or the result of the fault that wins, and the result
    // that may stand in its place where kinds race (0 when none).
    int result, also;
    uint8_t confidence;              // enum confidence
    const char *stopped;             // why not complete: "budget", "steps", ...; NULL
    VEC_OF(uint32_t) unknown_params; // arguments or contents that would make more addresses known
};

void dryrun(const struct dryrun_request *request, struct arena *arena, struct dryrun_result *result);

#endif
