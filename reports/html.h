// Parts of the HTML report.
#ifndef PTXVET_REPORTS_HTML_H
#define PTXVET_REPORTS_HTML_H

#include "reports/report.h"

// Text with markup escaped and what must not be shown replaced.
void html_text(struct output *out, struct str text);

// The parameters of a kernel as they lie in the parameter space, to scale.
void html_param_layout(struct output *out, const struct record_kernel *kernel);

// Warps per SM over block size or dynamic shared memory; `here` marks this launch (0: no mark).
void html_occupancy_plot(struct output *out, const struct record_occupancy_curve *curve,
                         const char *axis, uint64_t here, uint32_t sm_warps);

// Which bytes of a buffer a launch reads and writes, as a whole and by block.
void html_buffer_picture(struct output *out, const struct record_memory *memory);

#endif
