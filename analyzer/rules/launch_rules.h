// Rules of the launch phase: each looks at one case and adds findings; none computes.
#ifndef PTXVET_ANALYZER_RULES_LAUNCH_RULES_H
#define PTXVET_ANALYZER_RULES_LAUNCH_RULES_H

#include "analyzer/launch/case.h"

// Family 06: which kernel. NULL when there is none to judge; the finding says why.
const struct kernel *rules_kernel(struct module_facts *facts, const struct launch *launch,
                                  bool loads, struct arena *arena, struct findings *findings);

void rules_visibility(struct launch_case *c); // family 06: who finds the entry
void rules_geometry(struct launch_case *c);   // family 06: grid, block
void rules_cluster(struct launch_case *c);    // family 06: clusters, cooperative launches
void rules_resources(struct launch_case *c);  // family 07
void rules_arguments(struct launch_case *c);  // family 08: each argument against its parameter
void rules_companions(struct launch_case *c); // family 10: what the compiler's metadata says
void rules_argument_list(struct launch_case *c);  // family 08: their number, the packed form

// For people: the name of the source language, else of the PTX; of a mangled one, "param_3".
struct str rules_param_name(const struct kernel_param *param);

// For people: the kernel's name, or its plain one where it is mangled at length.
struct str rules_kernel_name(const struct kernel *kernel);

// How the language that the kernel was written in spreads arguments over parameters, in a sentence;
// NULL: one argument is one parameter.
const char *rules_convention(const struct kernel *kernel);

#endif
