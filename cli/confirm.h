// What `run` adds to a judged launch: the launch itself, on this machine's GPU. cmd_run.c has it.
#ifndef PTXVET_CLI_CONFIRM_H
#define PTXVET_CLI_CONFIRM_H

#include "cli/judge.h"

struct confirmation;

// Launches what was judged, and adds what that showed to the judgement's findings. NULL: the launch
// could not be tried (no driver, no device), and file->failure says why: exit 2, with the judgement
// in the report.
//
// Where the launch does not state registers and the driver tells them, it is judged again with them:
// no static reading of PTX knows what the JIT allots.
const struct confirmation *confirm_launch(struct job *job, struct judged *judged,
                                          const struct judge_options *options,
                                          struct judgement *judgement);

// Puts the GPU's answer, and what else the driver told, into the launch's record.
void confirm_record(const struct confirmation *confirmation, struct arena *arena,
                    struct record_launch *record);

#endif
