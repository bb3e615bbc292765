// What is true of a module, computed once and reported by nobody here: parameter layout, resources,
// directives with their effect, where the text comes from.
#ifndef PTXVET_ANALYZER_FACTS_FACTS_H
#define PTXVET_ANALYZER_FACTS_FACTS_H

#include "parser/module.h"

enum generator {
    GENERATOR_UNKNOWN, GENERATOR_TRITON, GENERATOR_NVVM, GENERATOR_LLVM, GENERATOR_CLANG,
    GENERATOR_NUMBA, GENERATOR_CUPY, GENERATOR_XLA, GENERATOR_RUST, GENERATOR_JULIA
};

// Kinds, roles and accesses of the JSON contract (docs/json.md).
enum param_kind { PARAM_SCALAR, PARAM_POINTER, PARAM_BYTES, PARAM_TENSORMAP, PARAM_OPAQUE };
enum param_role { PARAM_USER, PARAM_HIDDEN };
enum param_access { ACCESS_UNKNOWN, ACCESS_NONE, ACCESS_READ, ACCESS_WRITE, ACCESS_READWRITE };

struct kernel_param {
    uint32_t index;
    struct str name;        // as in the PTX
    struct str user_name;   // of the source language, from metadata; empty when not known
    struct str what;        // for people: "Triton global scratch", "Numba array: shape[0]"; may be empty
    const struct variable *variable;
    uint64_t offset, size;  // bytes, in the parameter space
    uint32_t align;         // of the parameter itself
    uint8_t kind;           // enum param_kind
    uint8_t role;           // enum param_role
    uint8_t access;         // enum param_access: what the kernel does with the memory pointed to
    bool read;              // the body loads it (ld.param), or takes its address
    bool dereferenced;      // its value reaches an address
    uint32_t align_needed;  // least alignment of the address by the widest access; 0: not known
    uint32_t divisible_by;  // from metadata: the value is promised to be a multiple of this; 0: none
};

struct kernel {
    uint32_t function;      // index into module.functions
    struct str name;
    const struct function *decl;
    VEC_OF(struct kernel_param) params;
    uint64_t param_bytes;   // end of the last parameter, no tail padding
    // Launch directives; `has_x` says whether it is stated. Spans are in decl.directives.
    bool has_maxntid, has_reqntid, has_reqnctapercluster, explicit_cluster, blocks_are_clusters;
    uint64_t maxntid[3], reqntid[3], reqnctapercluster[3];
    uint64_t minnctapersm, maxnreg, maxclusterrank;  // 0: not stated
    // Memory reached from the entry, through calls. Bytes.
    uint64_t shared_static;   // as the driver reports it (DESIGN, `shared.static`)
    bool shared_dynamic;      // an unsized extern .shared array is reached
    uint32_t shared_dynamic_align;
    uint64_t const_bytes, local_bytes;
    bool calls_unknown;       // an indirect call, or a call of a function without a body
};

struct module_facts {
    struct module *module;
    uint8_t generator;              // enum generator
    struct str generator_text;      // "Triton 3.6.0", "NVVM 7.0.1 (CUDA 12.4)"; empty when unknown
    VEC_OF(struct kernel) kernels;  // one for each entry with a body, in source order
};

// Needs bodies for what is reached, read and dereferenced; without them (signatures_only) those
// fields stay unknown.
void facts_compute(struct module *module, struct arena *arena, struct module_facts *facts);

// The kernel of that name, or NULL.
struct kernel *facts_kernel(struct module_facts *facts, struct str name);

const char *generator_name(enum generator generator);
const char *param_kind_text(enum param_kind kind);      // "scalar", ...
const char *param_role_text(enum param_role role);      // "user", ...
const char *param_access_text(enum param_access access);

#endif
