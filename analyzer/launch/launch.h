// The launch language: `k<<<grid, block, smem>>>(args) tail`. Text to a request; no judgement here.
#ifndef PTXVET_ANALYZER_LAUNCH_LAUNCH_H
#define PTXVET_ANALYZER_LAUNCH_LAUNCH_H

#include "findings/findings.h"
#include "isa/isa.h"

enum argument_kind {
    ARGUMENT_UNKNOWN,    // _
    ARGUMENT_BUFFER,     // f32[N]@A=contents
    ARGUMENT_POINTER,    // ptr@A: a device pointer of unknown extent
    ARGUMENT_NULL,
    ARGUMENT_HOST,       // host
    ARGUMENT_INT,        // 4096, -1, 0x7f..: takes the parameter's type
    ARGUMENT_FLOAT,      // 2.5
    ARGUMENT_TYPED,      // i64(4096), f16(0.5), bool(true): `type` and `bits`
    ARGUMENT_BYTES,      // bytes[N]@A
    ARGUMENT_TENSORMAP
};

enum contents { CONTENTS_UNKNOWN, CONTENTS_ZERO, CONTENTS_IOTA, CONTENTS_FILE, CONTENTS_RANDOM };

// tensormap(f16[M, N], box=(BM, BN), swizzle=128): a tensor of its own, row after row without gaps,
// and the box that one copy moves. Dimensions in the order written, the innermost last.
struct tensor_map {
    uint8_t rank;          // 1 to 5; 0: not described
    uint8_t type;          // enum isa_type
    uint64_t dims[5], box[5];
    uint32_t swizzle;      // bytes: 0, 32, 64, 128
};

struct argument {
    uint8_t kind;          // enum argument_kind
    uint8_t type;          // enum isa_type: of a buffer's elements or a typed scalar
    uint8_t contents;      // enum contents
    bool negative;         // ARGUMENT_INT: the value is -magnitude
    bool hex;              // ARGUMENT_INT: written in hexadecimal (may be an address)
    bool is_bool;          // ARGUMENT_TYPED: bool(true), true
    bool wrapped;          // ARGUMENT_TYPED: the value written is none of an integer type; `bits` is
                           // what a C conversion makes of it
    struct str type_text;  // as written: "half", "f16"
    struct span span;
    struct str name;       // `name=`; empty when positional
    struct str file;       // CONTENTS_FILE
    struct str file_data;  // its bytes, set by who can read files; `data` NULL: not known
    uint64_t count;        // elements of a buffer
    uint64_t size;         // bytes of a buffer or of `bytes[N]`
    uint64_t align;        // @A: the address is a multiple of A and of no greater power of two; 0: not said
    uint64_t magnitude;    // ARGUMENT_INT
    double number;         // ARGUMENT_FLOAT, and the value of a typed floating scalar
    uint64_t bits;         // ARGUMENT_TYPED: the encoded value in the low bytes
    struct tensor_map tensor;  // ARGUMENT_TENSORMAP; `size` is that of the whole tensor
};

struct launch {
    struct source *source;    // the text; spans below are in it
    struct str kernel;        // name before <<<; empty when left out
    struct span kernel_span;
    uint64_t grid[3], block[3];
    bool has_block;           // false: `k<<<grid>>>`: metadata supplies it
    bool has_shared;
    uint64_t shared;          // third chevron, bytes
    struct span grid_span, block_span, shared_span, arguments_span;
    bool has_arguments;       // parentheses were written
    VEC_OF(struct argument) arguments;
    // Tail words.
    bool has_cluster, cooperative, nonportable, pdl, packed, has_packed_size, has_optin, optin_auto;
    bool has_regs;
    uint64_t cluster[3], packed_size, optin, regs;
    struct span cluster_span, optin_span, packed_span, regs_span, cooperative_span, nonportable_span;
    struct span pdl_span;
};

// Names given by `-D N=4096` and by a manifest's `let`.
struct launch_names {
    VEC_OF(struct { struct str name; uint64_t value; }) list;
};

// Adds `N=4096` (an expression, checked) to `names`. False: it does not parse, and a finding says
// where and why. The source must live as long as the names.
bool launch_define(struct source *source, struct arena *arena, struct launch_names *names,
                   struct findings *findings);

// Parses one launch. False: it does not parse, and a finding says where and why. Everything is
// allocated in `arena`.
bool launch_parse(struct source *source, struct arena *arena, const struct launch_names *names,
                  struct findings *findings, struct launch *launch);

#endif
