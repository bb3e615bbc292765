// How compilers of other languages lay out what their users pass: recognised from the entry's name
// and parameters, so that people are told what each parameter is.
#ifndef PTXVET_ANALYZER_LAUNCH_SOURCES_H
#define PTXVET_ANALYZER_LAUNCH_SOURCES_H

#include "analyzer/facts/facts.h"

// Reads the names of all kernels (demangled, scoped, plain) and fills in `what` and `user_type` of
// parameters: Numba's arrays, CuPy's arrays and indexers, CUDA.jl's state and arrays, Rust's slices,
// C++ parameter types, the specialisation suffix of Triton 2. A convention that does not account for
// every parameter of an entry says nothing. Comes after facts_compute and before companion_apply.
void sources_apply(struct module_facts *facts, struct arena *arena);

// Whether people may mean this kernel by `name`: its own name, or its plain, scoped or whole demangled
// one, blanks left aside. The driver takes its own name alone.
bool sources_is_called(const struct kernel *kernel, struct str name);

// Kernels whose plain, scoped or whole demangled name is `name`; blanks do not count. How many there
// are; `first` gets the first in source order, or NULL.
uint32_t sources_find(struct module_facts *facts, struct str name, struct kernel **first);

#endif
