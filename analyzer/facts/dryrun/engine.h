// Runs the compiled slice, block after block. One engine belongs to one thread.
#ifndef PTXVET_DRYRUN_ENGINE_H
#define PTXVET_DRYRUN_ENGINE_H

#include "analyzer/facts/dryrun/abstract.h"
#include "analyzer/facts/dryrun/code.h"

#define ALL_LANES UINT32_MAX
#define BARRIERS 16
#define NONE (-1)

enum shape { SHAPE_UNIFORM, SHAPE_UNIFORM_WIDE, SHAPE_VARYING };

enum frag_state { FRAG_READY, FRAG_BARRIER, FRAG_MBARRIER };

// Threads of a warp that run together.
struct frag {
    uint32_t pc, mask;
    uint32_t doubt;       // lanes of which it is not certain that they run here
    int32_t join;         // where they meet others; NONE
    uint8_t state;        // enum frag_state
    uint8_t barrier;
    uint32_t wait;        // the instruction at which it waits
    uint64_t loop_steps;  // backward jumps taken
};

// Values of slots kept aside for lanes that take both sides of a branch.
struct stash {
    struct abstract *values;  // by slot of the region and lane
    uint32_t capacity;        // slots
};

// A side of a branch that waits until the other has been run by the same lanes.
struct deferred {
    struct frag frag;
    uint32_t both;        // lanes that take both sides
    struct stash *before;
    int32_t next;
};

// A place where lanes that took different ways meet again.
struct join {
    uint32_t reconverge, branch;
    int32_t parent;
    uint32_t arrived;
    uint32_t doubt;       // lanes in doubt before the split
    uint32_t lost;        // lanes that may have ended on the way
    uint32_t live;        // frags and deferred sides on their way
    uint32_t rounds;      // times that lanes went on in doubt from the same branch
    uint32_t stashed;     // lanes with values in `stash`
    struct stash *stash;
    const uint32_t *slots;  // that the region writes
    uint32_t slot_count;
    int32_t deferred;
    bool used;
};

struct warp {
    uint64_t (*values)[LANES];   // by slot
    uint32_t *unknown;           // lanes whose value is not known
    uint8_t *shape;              // enum shape
    struct abstract **abstracts; // by slot: LANES of them, or NULL: nothing is known
    uint32_t index;
    uint32_t exists, live;       // lanes of the block; those that have not ended
    bool faulted;                // a fault that ends the warp on the device has been met
    bool prepared;               // what does not depend on the block has been computed
    uint32_t *start_unknown;     // `unknown` as each block starts with it
    VEC_OF(uint32_t) block_sregs;  // slots of special registers that depend on the block
    VEC_OF(uint32_t) abstracted;   // slots that were given abstracts in this block
    VEC_OF(struct frag) frags;
    VEC_OF(struct join) joins;
    VEC_OF(struct deferred) deferred;
};

struct barrier {
    uint64_t expected;           // threads; 0: all of the block
    uint32_t arrived[LANES];     // by warp: lanes that have come
    bool used;
    uint32_t insn;
};

struct mbarrier {
    uint64_t address;
    uint64_t expected, pending, phase;
    int64_t transactions;
    bool exact;
};

// Region written by the two sides of a branch, by its code address.
struct region_slots {
    uint32_t branch;
    uint32_t *slots, count;
    bool continues[2];           // whether the side comes back to the branch: taken, not taken
};

// What a warp's first fault would make the device answer.
enum death { DEATH_NONE, DEATH_ILLEGAL, DEATH_EITHER, DEATH_MISALIGNED, DEATH_TRAP, DEATH_ASSERT, DEATH_INSTRUCTION,
             DEATH_HANG, DEATH_COUNT };

struct fault_note {
    struct dryrun_fault fault;
    uint64_t block;              // linear index of the first block, to keep the first of all
    uint32_t thread, lane;
    bool used, latest_first;     // latest_first: the newest note is now the first
};

struct use_note {
    bool read, written, inexact;
    bool contents_wanted;        // something was loaded from it that is not known
    int64_t read_low, read_high, written_low, written_high;
    uint64_t align;
};

// Bytes of global memory that this block has stored.
struct overlay_line {
    uint64_t address;            // of 64 bytes
    uint32_t stamp;
    uint8_t bytes[64], state[64];  // state: 0 as before, 1 known, 2 unknown
};

struct engine {
    const struct dryrun_request *request;
    const struct code *code;
    const struct map *map;
    const struct lane_table *lanes;
    struct arena *arena;
    struct warp *warps;
    uint32_t warp_count, threads;
    uint32_t ctaid[3];
    uint64_t block;              // linear index
    uint64_t weight;             // blocks that behave as this one does
    // Shared and private memory: bytes, and whether they are known.
    uint8_t *shared, *shared_known;
    uint64_t shared_bytes;
    bool shared_dirty, private_dirty, barriers_used;
    uint8_t *private_bytes, *private_known;  // by warp, lane and byte
    struct overlay_line *overlay;
    uint32_t overlay_size, overlay_used, overlay_stamp;
    bool overlay_lost;           // too many stores to remember
    struct barrier barriers[BARRIERS];
    VEC_OF(struct mbarrier) mbarriers;
    bool mbarriers_exact;
    uint64_t mbarrier_changes, mbarrier_seen;  // updates, and how many when waits last looked
    bool in_doubt;               // some path of this block is not certain
    VEC_OF(struct region_slots) regions;
    uint32_t *region_of;         // by code address: index + 1
    // Results.
    VEC_OF(struct fault_note) fault_list;
    uint32_t *fault_index;       // by code address * FAULT_KINDS + kind: index + 1
    struct use_note *uses;       // by region, and one for dynamic shared memory
    uint64_t deaths[DEATH_COUNT];
    uint64_t lane_instructions, unknown_addresses;
    uint64_t steps_left;         // of the block being run
    uint64_t frags_run;
    double deadline;             // of the clock that engine_now reads
    bool stopped_steps, stopped_recursion, out_of_time;
    uint32_t idle_pc;            // a loop that is watched for making no progress
    uint64_t idle_hash;
    // Set aside for reuse, and for walks.
    VEC_OF(struct abstract *) spare_abstracts;
    VEC_OF(struct stash *) spare_stashes;
    VEC_OF(uint32_t) region_list, pc_work;
    uint32_t *pc_seen, *slot_seen, pc_stamp, seen_stamp;
    uint64_t scratch[4][LANES] __attribute__((aligned(64)));
};

void engine_init(struct engine *engine, const struct dryrun_request *request, const struct code *code,
                 const struct map *map, struct arena *arena);
// Seconds of a clock that only goes forward.
double engine_now(void);
void engine_run_block(struct engine *engine, const uint32_t ctaid[3], uint64_t block, uint64_t weight);

// Between the files of the engine ---------------------------------------------------------------

void warp_widen(struct engine *engine, struct warp *warp, uint32_t slot);
// Gives lanes of a slot that are not known their knowledge; NULL: nothing is known.
struct abstract warp_value(const struct engine *engine, const struct warp *warp, uint32_t slot, uint32_t lane);
void warp_set(struct engine *engine, struct warp *warp, uint32_t slot, uint32_t lane, const struct abstract *value);
uint32_t warp_predicate(struct engine *engine, struct warp *warp, uint32_t slot, uint32_t *unknown);

// Accesses of the lanes in `mask`; those in `doubt` may not happen.
void access_run(struct engine *engine, struct warp *warp, const struct code_insn *insn, uint32_t mask,
                uint32_t doubt);
// Notes a fault of the lanes in `lanes` and how the device would answer.
struct dryrun_fault *fault_note(struct engine *engine, struct warp *warp, uint32_t pc, enum fault_kind kind,
                                uint32_t lanes, uint32_t doubt);
void fault_kill(struct engine *engine, struct warp *warp, enum death death, uint32_t lanes, uint32_t doubt);

// Barriers. False: the frag waits.
bool barrier_arrive(struct engine *engine, struct warp *warp, struct frag *frag, const struct code_insn *insn);
// Lets those pass whose barriers are complete. True when any went on.
bool barriers_release(struct engine *engine);
bool mbarrier_run(struct engine *engine, struct warp *warp, struct frag *frag, const struct code_insn *insn,
                  uint32_t mask, uint32_t doubt);

#endif
