// C++ names (the Itanium ABI's mangling, section 5.1), as nvcc, NVRTC, clang, Numba and CUDA.jl write
// them on entries: for people, and to find a kernel by its plain name.
#ifndef PTXVET_ANALYZER_LAUNCH_SOURCES_MANGLED_H
#define PTXVET_ANALYZER_LAUNCH_SOURCES_MANGLED_H

#include "base/str.h"

struct mangled_name {
    struct str text;   // "ns::saxpy<float, 4>(int, float*)": whole, with parameter types
    struct str plain;  // "saxpy": the last name, without scopes, template arguments and types
    struct str scoped; // "ns::saxpy": with scopes alone
    VEC_OF(struct str) types;       // of the function's parameters; `void` alone is none
};

// Reads a mangled function name. False: it is none, or uses what this reader does not know
// (expressions in template arguments), or is longer than it cares to read; `name` is then empty.
// Time and memory are bounded by a constant times a few hundred bytes for each byte of the name.
bool mangled_read(struct str symbol, struct arena *arena, struct mangled_name *name);

#endif
