// The description of a tensor map in the launch language.
#ifndef PTXVET_ANALYZER_LAUNCH_TENSOR_H
#define PTXVET_ANALYZER_LAUNCH_TENSOR_H

#include "analyzer/launch/expression.h"

// Reads `(f16[M, N], box=(BM, BN), swizzle=128)`; the `(` is the next token.
bool launch_tensor(struct launch_parser *parser, struct argument *argument);

#endif
