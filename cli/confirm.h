// What `run` adds to a judged launch: the launch itself, on this machine's GPU. cmd_run.c has it.
#ifndef PTXVET_CLI_CONFIRM_H
#define PTXVET_CLI_CONFIRM_H

#include "cli/judge.h"

// Launches what was judged and fills in `has_actual`, `actual_phase`, `actual_result`, `agrees` and
// `gpu_rows` of the record, in the worker's `records` arena. What keeps the launch from being tried
// (no driver, no device) is put into file->failure: exit 2, with the judgement in the report.
void confirm_launch(const struct judging *judging, struct worker *worker, struct record_file *file,
                    const struct module_facts *facts, const struct judgement *judgement,
                    struct record_launch *record);

#endif
