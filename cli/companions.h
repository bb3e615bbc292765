// What stands beside a PTX, read for the judgement: Triton's metadata, or what `--triton` names.
#ifndef PTXVET_CLI_COMPANIONS_H
#define PTXVET_CLI_COMPANIONS_H

#include "analyzer/launch/companion.h"
#include "cli/judge.h"

// NULL when there is none. What cannot be read as metadata is a finding of the file.
struct companion *companion_of(struct job *job, struct judged *judged);

#endif
