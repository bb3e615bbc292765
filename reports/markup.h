// Text inside XML and HTML.
#ifndef PTXVET_REPORTS_MARKUP_H
#define PTXVET_REPORTS_MARKUP_H

#include "base/output.h"

// Escapes & < > " ' and line ends; what no XML document may hold becomes U+FFFD. Fit for attributes
// and for text.
void markup_text(struct output *out, struct str text);

#endif
