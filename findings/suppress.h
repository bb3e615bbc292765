// Comments of a PTX (or a manifest) that say which findings are meant to be:
//
//   // ptxvet: ignore[PTX0905] reason       on the line itself, or alone on the line above
//   // ptxvet: ignore-file[PTX09] reason    anywhere in the file
//
// Codes are as for --ignore: codes, names, or the begin of codes. In manifests `#` opens them.
#ifndef PTXVET_FINDINGS_SUPPRESS_H
#define PTXVET_FINDINGS_SUPPRESS_H

#include "findings/selection.h"

// Takes out of `findings` what comments of `source` ask for, and gives how many. Comments whose code
// is none, and (with `whole`, when all rules were tried) those that took nothing out, become
// findings; `selection` says which rules were off anyway.
uint32_t suppress(struct source *source, const struct selection *selection, bool whole,
                  struct findings *findings);

#endif
