// What the command line program is made of. Only this folder prints, exits or reads the environment.
#ifndef PTXVET_CLI_CLI_H
#define PTXVET_CLI_CLI_H

#include "cli/options.h"
#include "reports/report.h"

enum { EXIT_CLEAN = 0, EXIT_FOUND = 1, EXIT_TROUBLE = 2 };

struct cli {
    struct memory memory;
    struct arena arena;       // as long as the program
    struct options options;   // of the command line
};

// One for each row of commands.def. Gives the exit status.
#define COMMAND(id, name, operands, summary) int command_##id(struct cli *cli);
#include "cli/commands.def"

// "ptxvet: ..." on stderr, in one piece and with what would steer a terminal taken out.
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Writes all of it. 0, or an errno.
int write_all(int descriptor, const char *data, size_t size);

// Writes text for people to stdout. False, after a complaint, when it cannot be written.
bool print(const struct output *out);

#endif
