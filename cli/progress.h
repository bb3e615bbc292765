// A line on the terminal's stderr that says how far a long run is.
#ifndef PTXVET_CLI_PROGRESS_H
#define PTXVET_CLI_PROGRESS_H

#include <time.h>

#include "cli/options.h"

struct progress {
    bool wanted, shown;
    bool at_once;             // --progress always: also before a second has passed
    struct timespec started, last;
};

void progress_start(struct progress *progress, const struct options *options);
void progress_step(struct progress *progress, uint32_t done, uint32_t all);
void progress_end(struct progress *progress);  // takes the line away

#endif
