// The instruction checker: whether each instruction is one that the assembler takes, and what it
// needs. Findings of family 04 (instructions and types) and the instruction part of 05 (version and
// target). What an instruction is allowed to look like stands in isa/instructions.def.
//
// Judged per instruction: opcode, modifiers, operand count and shape, register classes and widths,
// literals, address forms and state spaces, vectors, predicates, sinks, special registers,
// immediates, and the floors of `.version` and `.target`. Not judged here: names that are not
// declared (parser), calls against prototypes, branch targets, directives (rules/…).
#ifndef PTXVET_ANALYZER_RULES_INSTRUCTIONS_H
#define PTXVET_ANALYZER_RULES_INSTRUCTIONS_H

#include "findings/findings.h"
#include "isa/floor.h"
#include "parser/module.h"

struct instruction_checker;

// One checker judges one module. It remembers verdicts in `arena` (the module's: it must outlive
// the bodies). `findings` may be NULL: then only requirements are gathered.
struct instruction_checker *instruction_checker_new(struct arena *arena, struct module *module,
                                                    struct findings *findings);

// Judges every instruction of a function's body (functions without one are passed over). To be
// called while the body stands: from parse_options.function_done when bodies are streamed.
void instruction_check_function(struct instruction_checker *checker, uint32_t function);

// What a form of instruction, as used, needs; and where it was met first.
struct requirement {
    struct isa_floor floor;  // least version, and the targets that have it
    uint32_t form;           // index into module.forms
    uint32_t function;       // index into module.functions
    uint32_t line_offset;    // offset in the source of the first such instruction
};

// Every distinct requirement met so far, in the order in which they were met; accepted instructions
// only. Owned by the checker. Floors are those of the tables, whatever the file states.
const struct requirement *instruction_checker_requirements(
    const struct instruction_checker *checker, uint32_t *count);

#endif
