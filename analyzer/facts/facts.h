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
    struct str user_type;   // of the source language, from metadata: "*fp16", "i32"; may be empty
    struct str what;        // for people: "Triton global scratch", "Numba array: shape[0]"; may be empty
    const struct variable *variable;
    uint64_t offset, size;  // bytes; the offset as the driver reports it (facts_layout_params)
    uint32_t align;         // of the parameter itself
    uint8_t kind;           // enum param_kind
    uint8_t role;           // enum param_role
    uint8_t access;         // enum param_access: what the kernel does with the memory pointed to
    uint8_t space;          // enum isa_space of what a pointer points to, as declared or accessed;
                            // SPACE_NONE: not known, or generic
    bool read;              // the body loads it (ld.param), or takes its address
    bool dereferenced;      // its value reaches an address
    uint32_t align_needed;  // least alignment of the address by the widest access; 0: not known
    uint32_t divisible_by;  // from metadata: the value is promised to be a multiple of this; 0: none
    // Triton's hidden scratch pointers: bytes for each program as the metadata states them; 0: none
    // are needed, pass null. Times the programs of the grid and num_ctas, for the whole buffer.
    bool scratch_known;
    uint64_t scratch_size;
    uint32_t scratch_align;
};

// A number of the metadata, and where it stands in it.
struct metadata_value {
    bool known;
    uint64_t value;
    struct span span;
};

// An argument of the source language that is no parameter of the entry: compiled into it.
struct folded_argument {
    struct str name;     // "stride_ak"
    struct str value;    // "1", as the metadata writes it; empty: not known
    bool constexpr_;     // declared so; false: an int that was 1, or None, when it was compiled
    uint32_t index;      // position in the source language's signature
};

// What the compiler wrote down beside the PTX: Triton's .json and the first line of its .ttir. It
// binds nobody (the driver never sees it), but it is how the kernel was meant to be launched.
struct kernel_metadata {
    struct str path;            // of the .json, as messages print it; empty: only a .ttir was there
    struct source *source;      // its text; NULL as well
    struct str name;            // of the kernel it belongs to; empty: not stated
    struct str target;          // "sm_90"; empty: not stated
    struct str triton_version;  // "3.6.0"; empty: not stated
    struct metadata_value num_warps, warp_size, shared, num_ctas, maxnreg;
    struct metadata_value global_scratch_size, global_scratch_align;
    struct metadata_value profile_scratch_size, profile_scratch_align;
    struct metadata_value cluster[3];      // cluster_dims of older releases
    struct span name_span, target_span;
    uint64_t threads;           // block of one launch: num_warps * warp_size; 0: not known
    uint32_t hidden_params;     // 0 to 2: which scratch keys there are, whatever the version says
    bool cooperative, pdl;      // launch_cooperative_grid, launch_pdl
    uint32_t tensor_descriptors;           // entries of tensordesc_meta
    VEC_OF(struct folded_argument) folded; // known only where a signature was kept
    bool has_signature;         // names, types and divisibility of the arguments were found
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
    bool bodies_known;        // every function reached was there with its body: what follows, and
                              // `read`, `dereferenced`, `access` of the parameters, is known
    uint32_t dynamic_arrays;  // how many unsized shared arrays are reached: they share one address
    bool uses_warps;          // instructions that a whole warp executes: mma, ldmatrix, shfl, ...
    uint32_t warps_offset;    // in the source, of the first of them
    bool uses_warpgroups;     // wgmma: 128 threads
    bool waits_for_grid;      // griddepcontrol: launched with programmatic dependence
    bool syncs_grid;          // reads %envreg1/2 as cooperative groups' grid synchronisation does
    uint32_t named_barriers;  // highest barrier number used, plus one; 16 when one is not constant
    const struct kernel_metadata *metadata;  // set by companion_apply; NULL: nothing was found
    // Of a mangled name, set by sources_apply; empty where the name is plain.
    struct str demangled;     // "ns::saxpy<4>(int, float*)"
    struct str scoped;        // "ns::saxpy"
    struct str plain;         // "saxpy"
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

// Where the static shared variables that a kernel reaches lie, as ptxas 13.0 and the driver place
// them (measured): the entry's own that are referenced, module variables that are referenced, those
// of called functions, then function variables that nothing references; each group in order of
// declaration, without gaps but alignment.
struct shared_place {
    const struct variable *variable;
    uint64_t offset;
};

// Places are in layout order.
struct shared_layout {
    VEC_OF(struct shared_place) places;
    uint64_t end;       // of the last static variable
    uint64_t reported;  // kernel.shared_static: where the bytes of the launch begin
};
void facts_shared_layout(struct module *module, uint32_t function, struct arena *arena,
                         struct shared_layout *layout);

// Where an unsized array begins: behind the static variables, at a multiple of its alignment and of
// 16. That may be before layout.reported, when another array is aligned more.
uint64_t facts_dynamic_offset(const struct shared_layout *layout, const struct variable *array);

// Lays the parameters out as the driver of a GPU of that compute capability does. facts_compute has
// done it for the capability that the .target names. The capability matters only to parameters that
// are aligned to more than 16 bytes: they are aligned in the constant bank, where parameters begin
// at an offset of their own. 0, or none that is known: from offset 0.
void facts_layout_params(struct kernel *kernel, uint32_t capability);

// The kernel of that name, or NULL.
struct kernel *facts_kernel(struct module_facts *facts, struct str name);

const char *generator_name(enum generator generator);
const char *param_kind_text(enum param_kind kind);      // "scalar", ...
const char *param_role_text(enum param_role role);      // "user", ...
const char *param_access_text(enum param_access access);

#endif
