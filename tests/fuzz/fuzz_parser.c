// The four ways to read a text agree: kept, streamed, plain, and signatures only.
#include "parser/parser.h"
#include "tests/fuzz/target.h"

struct counts {
    uint32_t functions, instructions, operands, labels, findings;
    bool whole;  // memory sufficed
};

static void count_body(void *context, struct module *module, uint32_t index) {
    struct counts *counts = context;
    const struct body *body = module->functions.at[index].body;
    counts->instructions += body->instructions.n;
    counts->operands += body->operands.n;
    counts->labels += body->labels.n;
    for (uint32_t i = 0; i < body->instructions.n; i++) {
        const struct instruction *instruction = &body->instructions.at[i];
        MUST(instruction->form < module->forms.n);
        MUST(instruction->operand_first + instruction->operand_count <= body->operands.n);
        MUST(instruction->offset < instruction->opcode_end && instruction->opcode_end <= instruction->end);
    }
}

static struct counts read_once(const uint8_t *data, size_t size, bool streamed, bool plain, bool bodies) {
    struct target t;
    struct counts counts = {0};
    struct parse_options options = {.signatures_only = !bodies, .plain = plain};
    options.function_done = streamed ? count_body : NULL;
    options.context = &counts;
    target_begin(&t, data, size);
    if (setjmp(t.memory.edge) == 0) {
        struct module *module;
        target_open(&t, size);
        MUST(parse_module(&t.source, &t.arena, &t.bodies, &options, &t.findings, &module) !=
             PARSE_INTERNAL);
        target_check_findings(&t);
        if (!streamed && bodies)
            for (uint32_t i = 0; i < module->functions.n; i++)
                if (module->functions.at[i].body != NULL) count_body(&counts, module, i);
        for (uint32_t i = 0; i < module->functions.n; i++)
            counts.functions += module->functions.at[i].kind != FUNCTION_PROTOTYPE;
        counts.findings = t.findings.list.n;
        counts.whole = true;
    }
    target_end(&t);
    return counts;
}

static void must_agree(const struct counts *a, const struct counts *b) {
    if (!a->whole || !b->whole) return;
    MUST(a->functions == b->functions && a->instructions == b->instructions);
    MUST(a->operands == b->operands && a->labels == b->labels && a->findings == b->findings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct counts kept = read_once(data, size, false, false, true);
    struct counts streamed = read_once(data, size, true, false, true);
    struct counts plain = read_once(data, size, false, true, true);
    must_agree(&kept, &streamed);
    must_agree(&kept, &plain);
    read_once(data, size, false, false, false);
    return 0;
}
