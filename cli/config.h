// .ptxvet.yaml: options by their long names, found upwards from an input.
#ifndef PTXVET_CLI_CONFIG_H
#define PTXVET_CLI_CONFIG_H

#include "cli/settings.h"

// Options and settings for one folder's inputs.
struct configured {
    struct options options;    // of the command line, and below them those of the file
    struct settings settings;
    struct str file;           // path of the configuration; empty: none
};

// Finds configurations, reads each once.
struct config {
    struct arena *arena;
    const struct options *command_line;
    struct configured plain;   // of inputs without one
    VEC_OF(struct config_folder { struct str folder; const struct configured *configured; }) folders;
    VEC_OF(struct configured *) files;
};

// False, after a complaint: --config names a file that cannot be used, or an option's value is wrong.
bool config_init(struct config *config, struct arena *arena, const struct options *command_line);

// What holds for inputs in `folder` (an empty path is the present one). NULL, after a complaint: its
// configuration is wrong.
const struct configured *config_for(struct config *config, struct str folder);

// The settings in force as YAML, each with where it comes from.
void config_show(const struct configured *configured, struct output *out);

#endif
