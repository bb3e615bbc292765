// A number that stays with a finding while the text around it changes: registers and labels
// renumbered, lines moved, blanks changed. Baselines and dashboards know findings by it.
#ifndef PTXVET_FINDINGS_FINGERPRINT_H
#define PTXVET_FINDINGS_FINGERPRINT_H

#include "findings/findings.h"

// Of the rule, the path as given, the kernel, the message and the line that the finding stands on.
// Digits that number a register (`%r12`) or a label (`$L__BB0_3`) do not count. Equal findings of one
// file have equal fingerprints: who compares them counts.
uint64_t finding_fingerprint(const struct finding *finding, struct str path);

#endif
