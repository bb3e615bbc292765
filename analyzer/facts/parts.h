// What facts_compute is made of; each part fills its own fields.
#ifndef PTXVET_ANALYZER_FACTS_PARTS_H
#define PTXVET_ANALYZER_FACTS_PARTS_H

#include "analyzer/facts/facts.h"

typedef VEC_OF(uint32_t) index_list;

// What one function names itself, each thing once.
struct function_uses {
    index_list callees;       // definitions
    index_list variables;     // of module.variables
    index_list shared_used;   // of its own variables: static shared memory that is named
    index_list shared_unused; // and that is not
    uint64_t local_bytes;     // .local variables of its own
    bool indirect;            // has an indirect call
};

// What all entries of a module share; made once.
struct reach_module {
    struct module *module;
    struct arena *arena;
    uint32_t *definition;        // by function index: the function with the body of that name
    uint32_t *rank;              // by function index: place of the name's first declaration
    index_list address_taken;    // functions
    bool *address_marked;        // by function index
    struct function_uses *uses;  // by function index
    uint32_t *function_stamp, *variable_stamp;  // by index: the newest entry that reached it
    uint32_t stamp;
    bool any_dynamic;            // an unsized shared array is declared
    uint32_t dynamic_align;      // greatest alignment of these, at least 16
    uint64_t work;               // instructions visited for entries, those of callees each time
};

// Many entries over one large function would visit it again for each; past this many instructions
// of a module, accesses and instruction classes of further entries stay unknown.
enum { FACTS_WORK_LIMIT = 40000000 };

// Which functions an entry reaches, the entry first, then in order of declaration; and the module
// variables that they name, in order of declaration.
struct reach {
    index_list functions, variables;
    bool calls_unknown;          // an indirect call, or one of a function without a body
    bool bodies_known;           // no reached function lacks the body that it has in the text
};

void reach_module_init(struct reach_module *reach_module, struct module *module,
                       struct arena *arena);
void reach_compute(struct reach_module *reach_module, uint32_t entry, struct reach *reach);
void reach_layout(const struct reach_module *reach_module, const struct reach *reach,
                  struct shared_layout *layout);

void facts_params(struct module *module, struct kernel *kernel, struct arena *arena);
void facts_access(struct reach_module *reach_module, const struct reach *reach,
                  struct kernel *kernel);
void facts_instructions(const struct reach_module *reach_module, const struct reach *reach,
                        struct kernel *kernel);
void facts_generator(struct module_facts *facts, struct arena *arena);
void facts_hidden_params(const struct module_facts *facts, struct kernel *kernel);

#endif
