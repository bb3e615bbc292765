// Facts and judgements as the plain records that reports see.
#ifndef PTXVET_LIBRARY_RECORDS_H
#define PTXVET_LIBRARY_RECORDS_H

#include "analyzer/launch/judge.h"
#include "analyzer/rules/check.h"
#include "reports/report.h"

// The file's module and its kernels: those of the `count` names given, or all when it is 0.
void record_module(struct record_file *file, struct arena *arena, const struct module_facts *facts,
                   const struct str *names, uint32_t count);

// What the file's features need.
void record_requires(struct record_file *file, struct arena *arena,
                     const struct requirements *requirements, struct source *source);

// The launch's text with the buffers that the dry run saw in the place of pointers and buffers.
struct str record_emitted(struct arena *arena, const struct judgement *judgement);

// One launch, at a line of what it was read from.
void record_launch(struct record_launch *record, struct arena *arena, const struct judgement *judgement,
                   struct str text, uint32_t line);

// Writes into each finding in `source` where its line comes from, by `.loc`. Linear in the source,
// then log(lines) a finding; nothing when there are no findings.
void record_origins(struct findings *findings, struct arena *arena, const struct module *module,
                    const struct source *source);

#endif
