// What `run` adds to a judged launch: the launch itself, on this machine's GPU. cmd_run.c has it.
#ifndef PTXVET_CLI_CONFIRM_H
#define PTXVET_CLI_CONFIRM_H

#include "cli/judge.h"

// Launches what was judged, adds what that showed to the judgement's findings, and makes the record
// anew from both. What keeps the launch from being tried (no driver, no device) is put into
// file->failure: exit 2, with the judgement in the report.
//
// Where the launch does not state registers and the driver tells them, it is judged again with them:
// no static reading of PTX knows what the JIT allots.
void confirm_launch(const struct judging *judging, struct worker *worker, struct record_file *file,
                    struct module_facts *facts, struct judgement *judgement,
                    struct record_launch *record);

#endif
