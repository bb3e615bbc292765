#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"

static double seconds_since(const struct timespec *then) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + (double)(now.tv_nsec - then->tv_nsec) * 1e-9;
}

void progress_start(struct progress *progress, const struct options *options) {
    struct str choice = option_text(options, OPTION_progress, "auto");
    const char *term = getenv("TERM");
    bool terminal = isatty(STDERR_FILENO) == 1 && term != NULL && strcmp(term, "dumb") != 0;
    *progress = (struct progress){.at_once = str_eq(choice, STR("always"))};
    progress->wanted = progress->at_once || (str_eq(choice, STR("auto")) && terminal &&
                                             !option_set(options, OPTION_quiet));
    if (progress->wanted) clock_gettime(CLOCK_MONOTONIC, &progress->started);
}

void progress_step(struct progress *progress, uint32_t done, uint32_t all) {
    char line[96];
    if (!progress->wanted) return;
    bool early = !progress->at_once && seconds_since(&progress->started) < 1;
    if (early || (progress->shown && seconds_since(&progress->last) < 0.1)) return;
    clock_gettime(CLOCK_MONOTONIC, &progress->last);
    int filled = all == 0 ? 0 : (int)((uint64_t)done * 20 / all);
    int size = snprintf(line, sizeof line, "\r[%.*s%.*s] %u of %u files", filled,
                        "####################", 20 - filled, "                    ", done, all);
    write_all(STDERR_FILENO, line, (size_t)size);
    progress->shown = true;
}

void progress_end(struct progress *progress) {
    static const char blank[] = "\r                                                            \r";
    if (progress->shown) write_all(STDERR_FILENO, blank, sizeof blank - 1);
    progress->shown = false;
}
