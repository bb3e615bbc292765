// The two texts in which Triton keeps a kernel's signature. Internal to the companion reader.
#ifndef PTXVET_ANALYZER_LAUNCH_COMPANION_TEXT_H
#define PTXVET_ANALYZER_LAUNCH_COMPANION_TEXT_H

#include "analyzer/launch/companion.h"

// The arguments of the first public `tt.func` of a .ttir, or of its line alone. False: there is
// none, or it is cut short. `kernel` gets the function's name.
bool companion_read_ttir(struct companion *companion, struct str text, struct arena *arena,
                         struct str *kernel);

// `kernel_signature` of the metadata: the repr of a Python tuple of tuples,
// (('a_ptr', '*fp16', 'D', False), ('stride_ak', 'constexpr', 1, False), ...). False: it is not one.
bool companion_read_signature(struct companion *companion, struct str text, struct arena *arena);

// The .json itself. False, and a finding, when it cannot be read as metadata.
bool companion_read_json(struct companion *companion, struct source *source, struct arena *arena,
                         struct findings *findings);

#endif
