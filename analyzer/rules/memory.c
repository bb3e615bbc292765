#include "analyzer/rules/memory.h"

#include <inttypes.h>

struct report {
    const struct dryrun_request *request;
    const struct dryrun_result *result;
    const struct launch *launch;
    struct findings *findings;
    struct module *module;
};

const struct argument *memory_argument(const struct kernel *kernel, const struct launch *launch,
                                       uint32_t param) {
    if (launch == NULL || param >= kernel->params.n) return NULL;
    const struct kernel_param *decl = &kernel->params.at[param];
    for (uint32_t i = 0; i < launch->arguments.n; i++) {
        const struct argument *argument = &launch->arguments.at[i];
        if (argument->name.len != 0 &&
            (str_eq(argument->name, decl->name) || str_eq(argument->name, decl->user_name)))
            return argument;
    }
    if (param >= launch->arguments.n || launch->arguments.at[param].name.len != 0) return NULL;
    return &launch->arguments.at[param];
}

const struct dryrun_use *memory_use(const struct dryrun_result *result, uint32_t param) {
    for (uint32_t i = 0; i < result->uses.n; i++) {
        const struct dryrun_use *use = &result->uses.at[i];
        if (use->param == param && (use->read || use->written)) return use;
    }
    return NULL;
}

struct str memory_needs(struct arena *arena, const struct dryrun_use *use) {
    if (use == NULL || use->size_needed == 0) return (struct str){NULL, 0};
    if (use->align_needed > 1)
        return str_format(arena, "at least %" PRIu64 " bytes, at a multiple of %" PRIu32, use->size_needed,
                          use->align_needed);
    return str_format(arena, "at least %" PRIu64 " bytes", use->size_needed);
}

// Words -----------------------------------------------------------------------------------------

static struct str param_name(const struct report *report, uint32_t param) {
    if (param >= report->request->kernel->params.n) return STR("a pointer");
    const struct kernel_param *decl = &report->request->kernel->params.at[param];
    return decl->user_name.len ? decl->user_name : decl->name;
}

static const struct instruction *instruction_of(const struct report *report, const struct dryrun_fault *fault) {
    return &report->module->functions.at[fault->function].body->instructions.at[fault->instruction];
}

static struct str opcode_text(const struct report *report, const struct dryrun_fault *fault) {
    return report->module->forms.at[instruction_of(report, fault)->form].text;
}

static const char *verb(const struct dryrun_fault *fault) {
    return fault->atomic ? "updates" : fault->store ? "writes" : "reads";
}

static uint64_t beyond(const struct dryrun_fault *fault) {
    return fault->furthest > 0 && (uint64_t)fault->furthest > fault->size ? (uint64_t)fault->furthest - fault->size : 0;
}

static struct finding *start(const struct report *report, const struct dryrun_fault *fault, enum rule rule) {
    const struct instruction *instruction = instruction_of(report, fault);
    struct place place = {report->module->source, {instruction->offset, instruction->end}};
    struct finding *finding = finding_add(report->findings, rule, place);
    finding->kernel = report->request->kernel->name;
    finding->confidence = fault->removable ? (uint8_t)CONFIDENCE_POSSIBLE : fault->confidence;
    if (finding->confidence != CONFIDENCE_CERTAIN && finding->severity == SEVERITY_ERROR)
        finding->severity = SEVERITY_WARNING;
    finding->predicts = (struct prediction){PHASE_RUN, finding->confidence, fault->result};
    if (fault->silent || fault->result == RESULT_CUDA_SUCCESS || finding->confidence != CONFIDENCE_CERTAIN)
        finding->predicts = (struct prediction){PHASE_NONE, finding->confidence, RESULT_CUDA_SUCCESS};
    return finding;
}

static struct str file_name(const struct report *report, uint32_t index) {
    for (uint32_t i = 0; i < report->module->files.n; i++)
        if (report->module->files.at[i].index == index) return report->module->files.at[i].name;
    return (struct str){NULL, 0};
}

// Directories say little in a note; the file's own name is what people look for.
static struct str last_part(struct str path) {
    for (uint32_t i = path.len; i-- > 0;)
        if (path.data[i] == '/' || path.data[i] == '\\')
            return (struct str){path.data + i + 1, path.len - i - 1};
    return path;
}

static void note_source(const struct report *report, const struct dryrun_fault *fault, struct finding *finding) {
    const struct body *body = report->module->functions.at[fault->function].body;
    uint32_t index = instruction_of(report, fault)->loc;
    if (index == NO_INDEX || index >= body->locs.n) return;
    const struct loc *loc = &body->locs.at[index];
    struct str name = last_part(file_name(report, loc->file));
    if (name.len != 0 && loc->line != 0)
        finding_note(report->findings, finding, "from %.*s:%" PRIu32, STR_ARG(name), loc->line);
}

static void note_threads(const struct report *report, const struct dryrun_fault *fault, struct finding *finding) {
    finding_note(report->findings, finding,
                 "first by thread (%" PRIu32 ", %" PRIu32 ", %" PRIu32 ") of block (%" PRIu32 ", %" PRIu32 ", %" PRIu32
                 "); by %" PRIu64 " %s that were run",
                 fault->tid[0], fault->tid[1], fault->tid[2], fault->ctaid[0], fault->ctaid[1], fault->ctaid[2],
                 fault->threads, "of the threads");
    if (fault->removable)
        finding_note(report->findings, finding, "nothing depends on what it loads: the assembler may drop it or narrow it");
    else if (fault->confidence != CONFIDENCE_CERTAIN)
        finding_note(report->findings, finding, "only if a branch or an address that is not known comes out so");
    note_source(report, fault, finding);
}

static void label_argument(const struct report *report, uint32_t param, struct finding *finding, const char *text) {
    const struct argument *argument = memory_argument(report->request->kernel, report->launch, param);
    if (argument == NULL) return;
    struct place place = {report->launch->source, argument->span};
    finding_label(report->findings, finding, place, "%s", text);
}

static struct str variable_name(const struct report *report, const struct dryrun_fault *fault) {
    return fault->variable ? module_name(report->module, fault->variable->name) : (struct str){NULL, 0};
}

// Kinds -----------------------------------------------------------------------------------------

// "bytes 4096 to 4099", or "byte 4096".
static struct str byte_range(const struct report *report, const struct dryrun_fault *fault) {
    int64_t last;
    if (__builtin_add_overflow(fault->byte_offset, (int64_t)fault->width - 1, &last)) last = INT64_MAX;
    if (fault->width <= 1) return str_format(report->findings->arena, "byte %" PRId64, fault->byte_offset);
    return str_format(report->findings->arena, "bytes %" PRId64 " to %" PRId64, fault->byte_offset, last);
}

static void say_hidden(const struct report *report, const struct dryrun_fault *fault, struct finding *finding) {
    if (!fault->silent || fault->removable) return;
    finding_note(report->findings, finding, fault->byte_offset < 0
                     ? "the device does not see it: memory in front of a buffer is mapped down to its 2 MiB granule"
                     : "the device may not see it: memory behind this is mapped");
}

static void say_outside(const struct report *report, const struct dryrun_fault *fault) {
    struct finding *finding = start(report, fault, RULE_OUT_OF_BOUNDS);
    struct str opcode = opcode_text(report, fault), range = byte_range(report, fault), name = variable_name(report, fault);
    if (fault->param == NO_INDEX && fault->variable == NULL) {
        finding_message(report->findings, finding, "`%.*s` %s %" PRIu32 " bytes at 0x%" PRIx64 ", which is in no buffer",
                        STR_ARG(opcode), verb(fault), fault->width, fault->address);
        note_threads(report, fault, finding);
        return;
    }
    if (fault->param != NO_INDEX) name = param_name(report, fault->param);
    finding_message(report->findings, finding, "`%.*s` %s %.*s of `%.*s`, which has %" PRIu64 " bytes", STR_ARG(opcode),
                    verb(fault), STR_ARG(range), STR_ARG(name), fault->size);
    if (fault->byte_offset < 0)
        finding_caption(report->findings, finding, "%" PRIu64 " bytes in front of it", 0 - (uint64_t)fault->byte_offset);
    else
        finding_caption(report->findings, finding, "up to %" PRIu64 " bytes beyond its end", beyond(fault));
    const struct dryrun_use *use = fault->param != NO_INDEX ? memory_use(report->result, fault->param) : NULL;
    uint64_t needed = use && use->size_needed > (uint64_t)fault->furthest ? use->size_needed : (uint64_t)fault->furthest;
    if (fault->byte_offset >= 0 && fault->param != NO_INDEX)
        finding_help(report->findings, finding, "give `%.*s` at least %" PRIu64 " bytes, or check the sizes and the grid that are passed",
                     STR_ARG(name), needed);
    else if (fault->byte_offset < 0)
        finding_help(report->findings, finding, "an index is negative: check what is passed, and 32-bit products that overflow");
    note_threads(report, fault, finding);
    say_hidden(report, fault, finding);
    if (fault->param != NO_INDEX) label_argument(report, fault->param, finding, "the buffer that is left");
}

static void say_misaligned(const struct report *report, const struct dryrun_fault *fault) {
    struct finding *finding = start(report, fault, RULE_MISALIGNED_ACCESS);
    struct str opcode = opcode_text(report, fault);
    bool named = fault->param < report->request->kernel->params.n;
    struct str name = named ? param_name(report, fault->param) : variable_name(report, fault);
    if (name.len == 0) name = isa_space_texts[fault->space];
    finding_message(report->findings, finding,
                    "`%.*s` needs an address that is a multiple of %" PRIu32 "; byte %" PRId64 " of `%.*s` is at a multiple of %" PRIu32
                    " only", STR_ARG(opcode), fault->align_needed, fault->byte_offset, STR_ARG(name), fault->align_found);
    if (named && (uint64_t)fault->byte_offset % fault->align_needed == 0)
        finding_help(report->findings, finding, "align `%.*s` to %" PRIu32 " bytes (`@%" PRIu32 "`)", STR_ARG(name),
                     fault->align_needed, fault->align_needed);
    else
        finding_help(report->findings, finding, "the offset itself is no multiple of %" PRIu32 ": check the strides that are passed",
                     fault->align_needed);
    note_threads(report, fault, finding);
    if (named) label_argument(report, fault->param, finding, "what is addressed");
}

static void say_nothing_there(const struct report *report, const struct dryrun_fault *fault) {
    bool null = fault->kind == FAULT_NULL;
    struct finding *finding = start(report, fault, null ? RULE_NULL_DEREFERENCED : RULE_HOST_DEREFERENCED);
    struct str opcode = opcode_text(report, fault);
    bool named = fault->param < report->request->kernel->params.n;
    struct str name = param_name(report, fault->param);
    if (null && named)
        finding_message(report->findings, finding, "`%.*s` %s through `%.*s`, which is null", STR_ARG(opcode), verb(fault), STR_ARG(name));
    else if (null)
        finding_message(report->findings, finding, "`%.*s` %s at 0x%" PRIx64 ": a null pointer, or a number that is no address",
                        STR_ARG(opcode), verb(fault), fault->address);
    else
        finding_message(report->findings, finding, "`%.*s` %s through `%.*s`, which points to host memory", STR_ARG(opcode),
                        verb(fault), STR_ARG(name));
    const struct dryrun_use *use = named ? memory_use(report->result, fault->param) : NULL;
    struct str needs = memory_needs(report->findings->arena, use);
    if (needs.len != 0)
        finding_help(report->findings, finding, "pass a device buffer of %.*s", STR_ARG(needs));
    else
        finding_help(report->findings, finding, "%s", null ? "pass a device buffer" : "copy it to a device buffer and pass that");
    note_threads(report, fault, finding);
    if (named) label_argument(report, fault->param, finding, null ? "null" : "host memory");
}

static void say_shared(const struct report *report, const struct dryrun_fault *fault) {
    struct finding *finding = start(report, fault, RULE_SHARED_OUT_OF_BOUNDS);
    struct str opcode = opcode_text(report, fault), range = byte_range(report, fault);
    uint64_t fixed = fault->size > report->request->shared_dynamic ? fault->size - report->request->shared_dynamic : 0;
    finding_message(report->findings, finding,
                    "`%.*s` %s %.*s of shared memory; the block has %" PRIu64 " (%" PRIu64 " static + %" PRIu64 " dynamic)",
                    STR_ARG(opcode), verb(fault), STR_ARG(range), fault->size, fixed, report->request->shared_dynamic);
    finding_caption(report->findings, finding, "up to %" PRIu64 " bytes beyond it", beyond(fault));
    if (report->request->kernel->shared_dynamic && fault->furthest > 0 && (uint64_t)fault->furthest > fixed)
        finding_help(report->findings, finding, "launch with at least %" PRIu64 " bytes of dynamic shared memory",
                     (uint64_t)fault->furthest - fixed);
    note_threads(report, fault, finding);
    if (fault->silent && !fault->removable)
        finding_note(report->findings, finding, "the device does not see it: a block's shared memory is rounded up to 128 bytes");
    if (report->launch != NULL && report->launch->has_shared) {
        struct place place = {report->launch->source, report->launch->shared_span};
        finding_label(report->findings, finding, place, "dynamic shared memory");
    }
}

static void say_beyond_space(const struct report *report, const struct dryrun_fault *fault) {
    enum rule rule = fault->kind == FAULT_LOCAL_BEYOND   ? RULE_LOCAL_OUT_OF_BOUNDS
                     : fault->kind == FAULT_CONST_BEYOND ? RULE_CONST_OUT_OF_BOUNDS : RULE_PARAM_OUT_OF_BOUNDS;
    const char *what = fault->kind == FAULT_LOCAL_BEYOND   ? "the thread's local memory"
                       : fault->kind == FAULT_CONST_BEYOND ? "constant memory" : "the parameters";
    struct finding *finding = start(report, fault, rule);
    struct str opcode = opcode_text(report, fault), range = byte_range(report, fault);
    finding_message(report->findings, finding, "`%.*s` %s %.*s of %s; there are %" PRIu64, STR_ARG(opcode), verb(fault),
                    STR_ARG(range), what, fault->size);
    note_threads(report, fault, finding);
    if (fault->silent) finding_note(report->findings, finding, "the device does not fault: what is read there is of no meaning");
}

static void say_trap(const struct report *report, const struct dryrun_fault *fault) {
    struct finding *finding = start(report, fault, RULE_TRAP_REACHED);
    struct str opcode = opcode_text(report, fault);
    bool asserts = fault->result == RESULT_CUDA_ERROR_ASSERT;
    if (asserts) finding_message(report->findings, finding, "an assertion of the kernel fails");
    else finding_message(report->findings, finding, "`%.*s` is reached", STR_ARG(opcode));
    note_threads(report, fault, finding);
    // Code with assertions has one behind every branch on data: worth no more than a note.
    if (fault->confidence != CONFIDENCE_CERTAIN) finding->severity = SEVERITY_NOTE;
}

static bool is_wait(uint16_t opcode) { return opcode == OP_bar || opcode == OP_barrier || opcode == OP_mbarrier; }

static void say_hang(const struct report *report, const struct dryrun_fault *fault) {
    struct finding *finding = start(report, fault, RULE_NEVER_ENDS);
    const struct isa_form *form = &report->module->forms.at[instruction_of(report, fault)->form];
    struct str opcode = form->text;
    if (form->opcode == OP_cp)
        finding_message(report->findings, finding, "`%.*s` copies %" PRIu32 " bytes; the size must be a multiple of 16",
                        STR_ARG(opcode), fault->width);
    else if (form->opcode == OP_mbarrier)
        finding_message(report->findings, finding, "`%.*s` waits for arrivals that do not come", STR_ARG(opcode));
    else if (is_wait(form->opcode))
        finding_message(report->findings, finding, "`%.*s` waits for %" PRIu64 " threads; %" PRIu64 " can arrive", STR_ARG(opcode),
                        fault->expected, fault->arrived);
    else
        finding_message(report->findings, finding, "a loop that nothing ends");
    if (is_wait(form->opcode) && form->opcode != OP_mbarrier)
        finding_help(report->findings, finding, "launch the number of threads that the barrier counts, and let all of them reach it");
    note_threads(report, fault, finding);
}

static void say_other(const struct report *report, const struct dryrun_fault *fault) {
    bool stack = fault->kind == FAULT_STACK;
    struct finding *finding = start(report, fault, stack ? RULE_ENDLESS_RECURSION : RULE_NO_SUCH_BLOCK);
    struct str opcode = opcode_text(report, fault);
    const uint32_t *cluster = report->request->cluster;
    if (stack) finding_message(report->findings, finding, "a function calls itself on every path");
    else
        finding_message(report->findings, finding, "`%.*s` names a block that the cluster of %" PRIu32 " does not have", STR_ARG(opcode),
                        cluster[0] * cluster[1] * cluster[2]);
    note_threads(report, fault, finding);
}

static void say_fault(const struct report *report, const struct dryrun_fault *fault) {
    switch ((enum fault_kind)fault->kind) {
    case FAULT_OUT_OF_BOUNDS: say_outside(report, fault); return;
    case FAULT_MISALIGNED: say_misaligned(report, fault); return;
    case FAULT_NULL: case FAULT_HOST: say_nothing_there(report, fault); return;
    case FAULT_SHARED_BEYOND: say_shared(report, fault); return;
    case FAULT_LOCAL_BEYOND: case FAULT_CONST_BEYOND: case FAULT_PARAM_BEYOND: say_beyond_space(report, fault); return;
    case FAULT_TRAP: say_trap(report, fault); return;
    case FAULT_BARRIER_HANG: say_hang(report, fault); return;
    case FAULT_ILLEGAL_INSTRUCTION: case FAULT_STACK: case FAULT_KINDS: say_other(report, fault); return;
    }
}

// What stayed open ------------------------------------------------------------------------------

static struct finding *remark(const struct report *report, enum rule rule) {
    struct place place = {NULL, {0, 0}};
    if (report->launch != NULL) place = (struct place){report->launch->source, report->launch->kernel_span};
    struct finding *finding = finding_add(report->findings, rule, place);
    finding->kernel = report->request->kernel->name;
    return finding;
}

static void say_incomplete(const struct report *report) {
    const struct dryrun_result *result = report->result;
    if (result->complete || result->stopped == NULL) return;
    struct finding *finding = remark(report, RULE_DRY_RUN_INCOMPLETE);
    bool budget = strcmp(result->stopped, "budget") == 0;
    finding_message(report->findings, finding, "%" PRIu64 " of %" PRIu64 " blocks were run; %s", result->blocks_run, result->blocks,
                    budget ? "the time for it was over"
                    : strcmp(result->stopped, "memory") == 0 ? "memory for it was not enough"
                    : strcmp(result->stopped, "calls") == 0 ? "some calls were too deep to follow"
                    : strcmp(result->stopped, "steps") == 0 ? "some loops were too long to follow" : "the launch cannot be run");
    if (budget)
        finding_help(report->findings, finding, "`--budget SECONDS` gives it more time (%.3g s was given)", report->request->budget);
}

static void say_unknown(const struct report *report) {
    const struct dryrun_result *result = report->result;
    if (result->unknown_addresses == 0) return;
    struct finding *finding = remark(report, RULE_ADDRESSES_UNKNOWN);
    finding_message(report->findings, finding, "%" PRIu64 " accesses have addresses that are not known", result->unknown_addresses);
    for (uint32_t i = 0; i < result->unknown_params.n; i++) {
        struct str name = param_name(report, result->unknown_params.at[i]);
        finding_note(report->findings, finding, "they depend on the contents of `%.*s`", STR_ARG(name));
        if (i == 0)
            finding_help(report->findings, finding, "say what `%.*s` holds, as `=0`, `=iota` or `=@file`, to judge them", STR_ARG(name));
    }
}

static void say_needs(const struct report *report) {
    const struct dryrun_request *request = report->request;
    for (uint32_t i = 0; i < request->kernel->params.n; i++) {
        if (request->args == NULL || request->args[i].kind != DRYRUN_ARG_POINTER) continue;
        const struct dryrun_use *use = memory_use(report->result, i);
        struct str needs = memory_needs(report->findings->arena, use), name = param_name(report, i);
        if (needs.len == 0) continue;
        struct finding *finding = remark(report, RULE_BUFFER_NEEDED);
        const struct argument *argument = memory_argument(request->kernel, report->launch, i);
        if (argument != NULL) finding->place = (struct place){report->launch->source, argument->span};
        finding_message(report->findings, finding, "`%.*s` must be %.*s", STR_ARG(name), STR_ARG(needs));
        if (!use->exact) finding_note(report->findings, finding, "some accesses to it have addresses that are not known: it may need more");
    }
}

void memory_findings(const struct dryrun_request *request, const struct dryrun_result *result,
                     const struct launch *launch, struct findings *findings) {
    struct report report = {request, result, launch, findings, request->module};
    for (uint32_t i = 0; i < result->faults.n; i++) say_fault(&report, &result->faults.at[i]);
    say_needs(&report);
    say_unknown(&report);
    say_incomplete(&report);
}
