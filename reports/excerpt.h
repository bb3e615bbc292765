// A finding's places drawn in their source: line numbers, carets, captions.
#ifndef PTXVET_REPORTS_EXCERPT_H
#define PTXVET_REPORTS_EXCERPT_H

#include "reports/plain.h"

enum ink { INK_PLAIN, INK_ERROR, INK_WARNING, INK_NOTE, INK_FRAME, INK_HELP, INK_STRONG };

// Starts a colour; INK_PLAIN ends it. Nothing when the style has no colour.
void ink(struct output *out, const struct report_style *style, enum ink which);
enum ink severity_ink(uint8_t severity);

// Columns that the line numbers of a finding take.
uint32_t excerpt_gutter(const struct finding *finding);

// Draws the primary place and the labels: "--> path:line:column" and the lines below it.
void excerpt(struct output *out, const struct report_style *style, const struct finding *finding);

#endif
