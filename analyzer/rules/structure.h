// What the files of the structural checks share: declarations, linkage, directives, calls, limits.
// Nobody else includes this.
//
// Declarations are taken in source order, each when the function that follows it is checked, since
// what a name stands for depends on what came before.
#ifndef PTXVET_ANALYZER_RULES_STRUCTURE_H
#define PTXVET_ANALYZER_RULES_STRUCTURE_H

#include "analyzer/rules/check.h"
#include "analyzer/rules/instructions.h"
#include "isa/features.h"

// What a name stands for at module scope, by name_id.
enum declared_kind { DECLARED_NOTHING, DECLARED_FUNCTION, DECLARED_VARIABLE };
struct declared {
    uint8_t kind;        // enum declared_kind
    uint8_t linkage;     // of the declaration that counts
    bool defined;        // a function with a body, a variable that is not extern
    bool known_missing;  // that it is unresolved was reported
    uint32_t first;      // index of the first declaration
    uint32_t definition; // index of the definition; NO_INDEX when there is none
    name_id alias_of;    // the function that this one is an alias of; 0: none
};

// A function that is used by name.
enum use_kind { USE_CALL, USE_ADDRESS, USE_TARGET /* of .calltargets */, USE_INITIALIZER };
struct function_use {
    name_id name;
    uint32_t offset, end; // where
    uint8_t kind;         // enum use_kind
};

// A .shared variable that a body uses or declares.
struct shared_use {
    uint64_t size;
    uint32_t align;
    uint32_t variable; // index into module.variables; NO_INDEX: the body's own
    struct span span;
};

// What a body reaches, kept when the body is gone.
struct reach {
    uint32_t use_first, use_count;       // in checker.uses
    uint32_t shared_first, shared_count; // in checker.shared
    struct span small_argument;          // a call that passes .u8, .u16 or .pred; empty: none
    struct span cta_group[2];            // first instruction of each .cta_group; empty: none
    bool calls_indirectly;
    uint32_t stamp; // entry + 1 that visited it last
};

struct checker {
    struct module *module;
    struct arena *arena;
    const struct check_options *options;
    struct findings *findings;
    struct instruction_checker *instructions;
    struct isa_target target; // of the file; number 0: not known
    uint16_t version;         // 0: not known
    bool not_checked;         // .version is newer than what is known in full

    VEC_OF(struct declared) names;                            // by name_id
    uint32_t functions_taken, variables_taken, aliases_taken; // declarations taken so far
    uint32_t pragmas_taken;
    VEC_OF(struct reach) reaches; // by function
    VEC_OF(struct function_use) uses;
    VEC_OF(uint32_t) initializer_uses; // those uses that stand in initialisers
    VEC_OF(struct shared_use) shared;
    uint64_t const_bytes;   // constants so far, laid out one by one
    struct span const_over; // the variable that passed the limit; empty: none
    bool address_32_reported;
    VEC_OF(uint32_t) function_stamps; // by name_id: function + 1 that last used it
    VEC_OF(uint32_t) variable_stamps; // by module variable: function + 1 that last used it
    VEC_OF(uint16_t) form_flags;      // by form: FORM_*; 0 when not yet known
    VEC_OF(struct required) required; // what features outside of instructions need
};

// Findings at a span of the module's source.
struct finding *structure_report(struct checker *c, enum rule rule, struct span span,
                                 const char *format, ...) __attribute__((format(printf, 4, 5)));
// The same with a severity of its own.
struct finding *structure_report_as(struct checker *c, enum rule rule, enum severity severity,
                                    struct span span, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void structure_help(struct checker *c, struct finding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void structure_note(struct checker *c, struct finding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void structure_label(struct checker *c, struct finding *finding, struct span span,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));
struct str structure_name(const struct checker *c, name_id name);

// Holds the file's version and target against what a feature needs, and notes the need.
// False when a finding was made.
bool structure_need(struct checker *c, enum isa_feature feature, struct span span);

struct declared *structure_declared(struct checker *c, name_id name);

void check_header(struct checker *c);
void check_deployments(struct checker *c);

// A variable, where `function` is the one that declares it (NULL at module scope), and a parameter.
void check_variable(struct checker *c, const struct variable *variable,
                    const struct function *function);
void check_parameters(struct checker *c, const struct function *function);
void check_initializer(struct checker *c, const struct variable *variable,
                       const struct function *function);

void check_function_directives(struct checker *c, const struct function *function);

// Takes what was declared since the last call.
void take_declarations(struct checker *c);

void check_body(struct checker *c, uint32_t function);
void check_labels(struct checker *c, const struct function *function);
void check_call(struct checker *c, struct function *function, const struct instruction *call,
                struct reach *reach);
void count_constant(struct checker *c, const struct variable *variable);
void check_parameter_space(struct checker *c, const struct function *function);
struct reach *structure_reach(struct checker *c, uint32_t function);

void check_unresolved(struct checker *c);
void check_limits(struct checker *c);
void check_debugging(struct checker *c);
void take_pragmas(struct checker *c);

void structure_requirements(struct checker *c, struct requirements *out);

static inline bool as_driver(const struct checker *c) { return c->options->as == CHECK_AS_DRIVER; }

static inline const struct variable *return_of(const struct function *function, uint32_t i) {
    return &function->variables.at[i];
}
static inline const struct variable *param_of(const struct function *function, uint32_t i) {
    return &function->variables.at[function->return_count + i];
}

#endif
