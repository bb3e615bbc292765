// What a buffer of stated contents holds, byte for byte. The dry run and the test launch both ask
// here, so that they see the same data.
#ifndef PTXVET_ANALYZER_LAUNCH_CONTENTS_H
#define PTXVET_ANALYZER_LAUNCH_CONTENTS_H

#include "analyzer/launch/launch.h"

// Writes `size` bytes, from byte `at` of the buffer on.
//   CONTENTS_UNKNOWN, CONTENTS_ZERO  zeros
//   CONTENTS_IOTA    element i is i: integers cut to their width; floating types count modulo the
//                    first integer that they cannot tell from the next (f16: 2048, bf16: 256)
//   CONTENTS_RANDOM  of `seed`: integers and untyped bits at random, floating values in [1, 2)
// CONTENTS_FILE is not made here: whoever read the file has its bytes.
void contents_fill(enum contents contents, enum isa_type type, uint64_t seed, uint64_t at,
                   uint8_t *bytes, uint64_t size);

#endif
