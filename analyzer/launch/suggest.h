// What to write to launch a kernel: for `info`, and for people who start from nothing.
#ifndef PTXVET_ANALYZER_LAUNCH_SUGGEST_H
#define PTXVET_ANALYZER_LAUNCH_SUGGEST_H

#include "analyzer/facts/facts.h"

// A launch line with a name wherever a value must be filled in: it parses once these are given by
// `-D GRID=...`: `gptq<<<GRID, 128, 16>>>(ptr, ptr, i32(IN), null)`.
struct str suggest_launch(const struct module_facts *facts, const struct kernel *kernel,
                          struct arena *arena);

// The same as calls of the driver API, a line each, separated by newlines.
struct str suggest_c_call(const struct module_facts *facts, const struct kernel *kernel,
                          struct arena *arena);

#endif
