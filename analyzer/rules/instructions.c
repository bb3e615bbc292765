#include "analyzer/rules/instructions.h"

#include "analyzer/rules/instructions_internal.h"

struct instruction_checker *instruction_checker_new(struct arena *arena, struct module *module,
                                                    struct findings *findings) {
    struct instruction_checker *checker = arena_new(arena, struct instruction_checker);
    checker->arena = arena;
    checker->module = module;
    checker->findings = findings;
    enum { FIRST_SLOTS = 1024 };
    checker->clean_slots = FIRST_SLOTS;
    checker->clean = arena_array(arena, uint64_t, FIRST_SLOTS);
    return checker;
}

const struct requirement *instruction_checker_requirements(
    const struct instruction_checker *checker, uint32_t *count) {
    *count = checker->requirements.n;
    return checker->requirements.at;
}

static inline uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

// What of an operand its rows can see, in 32 bits: kind, flags, component; of a variable its type,
// vector and space.
enum { SHAPE_FLAGS = 4, SHAPE_COMPONENT = 6, SHAPE_TYPE = 11, SHAPE_VECTOR = 17, SHAPE_SPACE = 21,
       SHAPE_FORMAL = 25, SHAPE_IN_ENTRY = 26, SHAPE_ARRAY = 27, SHAPE_INDEXED = 28,
       SHAPE_OTHER = 11 };

static inline uint64_t basic_shape(const struct operand *operand) {
    unsigned negations = (operand->flags & OPERAND_NOT ? 1u : 0u) |
                         (operand->flags & OPERAND_NEGATED ? 2u : 0u);
    return (uint64_t)operand->kind | (uint64_t)negations << SHAPE_FLAGS |
           (uint64_t)operand->component << SHAPE_COMPONENT |
           (uint64_t)((operand->flags & OPERAND_INDEXED) != 0) << SHAPE_INDEXED;
}

static inline uint64_t variable_shape(const struct variable *variable) {
    return (uint64_t)variable->type << SHAPE_TYPE | (uint64_t)variable->vec << SHAPE_VECTOR |
           (uint64_t)variable->space << SHAPE_SPACE | (uint64_t)variable->is_array << SHAPE_ARRAY;
}

static inline uint64_t register_shape(const struct instruction_checker *checker,
                                      const struct operand *operand) {
    return basic_shape(operand) |
           variable_shape(module_variable(checker->module, checker->function, operand->var));
}

// A variable by name: whether it is a parameter counts too, and of what.
static uint64_t symbol_shape(const struct instruction_checker *checker,
                             const struct operand *operand) {
    const struct function *function = checker->function;
    bool formal = (operand->var & VAR_LOCAL) &&
                  (operand->var & ~VAR_LOCAL) < function->return_count + function->param_count;
    return register_shape(checker, operand) | (uint64_t)formal << SHAPE_FORMAL |
           (uint64_t)(function->kind == FUNCTION_ENTRY) << SHAPE_IN_ENTRY;
}

static uint64_t mix_other(const struct instruction_checker *checker, uint64_t hash,
                          const struct operand *operand, bool values);

static inline uint64_t mix_operand(const struct instruction_checker *checker, uint64_t hash,
                                   const struct operand *operand, bool values) {
    if (operand->kind == OPERAND_REG && operand->var != VAR_NONE)
        return mix(hash, register_shape(checker, operand));
    return mix_other(checker, hash, operand, values);
}

// Elements: of vectors, pairs, addresses; an address may hold a vector of coordinates.
static uint64_t mix_elements(const struct instruction_checker *checker, uint64_t hash,
                             const struct operand *operand, bool values) {
    const struct operand *elements = &checker->body->elements.at[operand->first];
    hash = mix(hash, basic_shape(operand) | (uint64_t)operand->count << 32);
    for (uint32_t i = 0; i < operand->count; i++)
        hash = mix_operand(checker, hash, &elements[i], values);
    return hash;
}

static uint64_t mix_other(const struct instruction_checker *checker, uint64_t hash,
                          const struct operand *operand, bool values) {
    uint64_t shape = basic_shape(operand);
    switch (operand->kind) {
    case OPERAND_VAR:
        return mix(hash, operand->var == VAR_NONE ? shape : symbol_shape(checker, operand));
    case OPERAND_SREG: return mix(hash, shape | (uint64_t)operand->sreg << SHAPE_OTHER);
    case OPERAND_INT: return mix(values ? mix(hash, operand->value) : hash, shape);
    case OPERAND_FUNC:
        shape |= (uint64_t)checker->module->functions.at[operand->function].kind << SHAPE_OTHER;
        return mix(hash, shape);
    case OPERAND_FLOAT: return mix(hash, shape | (uint64_t)operand->hex << SHAPE_OTHER);
    case OPERAND_VECTOR:
    case OPERAND_LIST:
    case OPERAND_PAIR:
    case OPERAND_ADDRESS: return mix_elements(checker, hash, operand, values);
    default: return mix(hash, shape);
    }
}

static struct form_info *form_of(struct instruction_checker *checker, uint32_t form) {
    if (form >= checker->form_capacity) {
        uint32_t capacity = checker->module->forms.n + checker->module->forms.n / 2 + 16;
        if (capacity <= form) capacity = form + 1;
        checker->forms = arena_grow(checker->arena, checker->forms,
                                    checker->form_capacity * sizeof *checker->forms,
                                    capacity * sizeof *checker->forms, _Alignof(max_align_t));
        memset(checker->forms + checker->form_capacity, 0,
               (capacity - checker->form_capacity) * sizeof *checker->forms);
        checker->form_capacity = capacity;
    }
    return &checker->forms[form];
}

// The verdict's key: the form and what its rows can see of the operands. Never 0. Two shapes with
// one key would take one verdict; at 64 bits that does not happen by chance.
static uint64_t shape_key(const struct instruction_checker *checker, const struct form_info *info,
                          const struct instruction *instruction) {
    uint32_t written = instruction->opcode_end - instruction->offset;
    uint64_t hash = mix(info->seed, instruction->operand_count);
    // With blanks inside, an instruction is on its own.
    if (written != info->length) hash = mix(hash, instruction->offset);
    const struct operand *operands = &checker->body->operands.at[instruction->operand_first];
    for (uint32_t i = 0; i < instruction->operand_count; i++)
        hash = mix_operand(checker, hash, &operands[i], info->values_matter);
    return hash | 1;
}

static bool is_clean(const struct instruction_checker *checker, uint64_t key) {
    for (uint32_t slot = (uint32_t)(key >> 32);; slot++) {
        uint64_t found = checker->clean[slot & (checker->clean_slots - 1)];
        if (found == key) return true;
        if (found == 0) return false;
    }
}

static void put_clean(uint64_t *slots, uint32_t slot_count, uint64_t key) {
    uint32_t slot = (uint32_t)(key >> 32);
    while (slots[slot & (slot_count - 1)] != 0) slot++;
    slots[slot & (slot_count - 1)] = key;
}

static void remember_clean(struct instruction_checker *checker, uint64_t key) {
    if (checker->clean_count * 2 >= checker->clean_slots) {
        uint32_t slot_count = checker->clean_slots * 2;
        uint64_t *slots = arena_array(checker->arena, uint64_t, slot_count);
        for (uint32_t i = 0; i < checker->clean_slots; i++)
            if (checker->clean[i] != 0) put_clean(slots, slot_count, checker->clean[i]);
        checker->clean = slots;
        checker->clean_slots = slot_count;
    }
    put_clean(checker->clean, checker->clean_slots, key);
    checker->clean_count++;
}

static bool same_floor(const struct isa_floor *a, const struct isa_floor *b) {
    return a->version == b->version && a->target == b->target && a->listed == b->listed;
}

static void require(struct instruction_checker *checker, const struct instruction *instruction,
                    const struct isa_floor *floor) {
    for (uint32_t i = 0; i < checker->requirements.n; i++)
        if (same_floor(&checker->requirements.at[i].floor, floor)) return;
    struct requirement *requirement = vec_push(checker->arena, &checker->requirements);
    requirement->floor = *floor;
    requirement->form = instruction->form;
    requirement->function = checker->function_index;
    requirement->line_offset = instruction->offset;
}

// Taking the address of a function came with indirect calls, that of a kernel with launches from
// kernels.
static struct isa_floor function_floor(const struct instruction_checker *checker,
                                       uint32_t function) {
    bool entry = checker->module->functions.at[function].kind == FUNCTION_ENTRY;
    return isa_floor_parse(entry ? "sm_35@3.1" : "sm_10@2.1+2.3/13");
}

// A texture or surface whose handle is in a register.
static bool is_indirect(const struct instruction_checker *checker,
                        const struct operand *operand) {
    return operand->kind == OPERAND_ADDRESS && operand->count > 0 &&
           checker->body->elements.at[operand->first].kind == OPERAND_REG;
}

// What a handle in a register needs, measured; the queries ask for nothing in independent mode.
static struct isa_floor handle_floor(const struct instruction_checker *checker,
                                     const struct isa_form *form) {
    bool independent = checker->module->texmode_independent;
    bool query = form->opcode == OP_txq || form->opcode == OP_suq;
    bool texture = form->opcode == OP_tex || form->opcode == OP_tld4;
    if (independent && query) return isa_floor_parse("sm_10@1.4");
    return isa_floor_parse(independent && texture ? "sm_30@4.3" : "sm_20@3.1");
}

static bool takes_handle(const struct isa_form *form) {
    return form->opcode == OP_tex || form->opcode == OP_tld4 || form->opcode == OP_txq ||
           form->opcode == OP_suld || form->opcode == OP_sust || form->opcode == OP_sured ||
           form->opcode == OP_suq;
}

// Special registers, and functions whose address is taken, have floors of their own.
static void add_operand_floors(const struct instruction_checker *checker,
                               const struct isa_form *form,
                               const struct instruction *instruction, struct isa_floor *floor) {
    const struct operand *operands = &checker->body->operands.at[instruction->operand_first];
    for (uint32_t i = 0; i < instruction->operand_count; i++) {
        if (operands[i].kind == OPERAND_SREG) {
            const struct isa_sreg_info *sreg = &isa_sregs[operands[i].sreg];
            struct isa_floor own = {.version = sreg->version, .target = sreg->target};
            *floor = isa_floor_both(*floor, own);
        } else if (operands[i].kind == OPERAND_FUNC && form->opcode == OP_mov) {
            *floor = isa_floor_both(*floor, function_floor(checker, operands[i].function));
        } else if (operands[i].kind == OPERAND_PAIR &&
                   (form->opcode == OP_tex || form->opcode == OP_tld4)) {
            *floor = isa_floor_both(*floor, isa_floor_parse("sm_60@7.1"));
        } else if (takes_handle(form) && is_indirect(checker, &operands[i])) {
            *floor = isa_floor_both(*floor, handle_floor(checker, form));
        }
    }
}

// Where several rows take the instruction, the one that the file may use counts, else the one that
// needs the least version.
static const struct row_match *better(const struct instruction_checker *checker,
                                      const struct row_match *a, const struct row_match *b) {
    if (a == NULL) return b;
    uint16_t version = checker->module->version;
    bool a_met = isa_floor_met(&a->floor, version, checker->target);
    bool b_met = isa_floor_met(&b->floor, version, checker->target);
    if (a_met != b_met) return a_met ? a : b;
    bool a_has = isa_floor_has_target(&a->floor, checker->target);
    bool b_has = isa_floor_has_target(&b->floor, checker->target);
    if (a_has != b_has) return a_has ? a : b;
    return b->floor.version < a->floor.version ? b : a;
}

// A mismatch further to the right, or of a subtler kind at the same operand, tells more.
static bool tells_more(const struct mismatch *a, const struct mismatch *b) {
    bool a_count = a->kind == MISMATCH_COUNT, b_count = b->kind == MISMATCH_COUNT;
    if (a_count != b_count) return b_count;
    if (a->operand != b->operand) return a->operand > b->operand;
    bool a_length = a->kind == MISMATCH_LENGTH, b_length = b->kind == MISMATCH_LENGTH;
    if (a_length != b_length)
        return b_length ? a->kind > MISMATCH_KIND : b->kind <= MISMATCH_KIND;
    return a->kind > b->kind;
}

static void judge_floor(struct instruction_checker *checker, const struct isa_form *form,
                        const struct instruction *instruction, const struct row_match *match,
                        uint64_t key) {
    struct isa_floor floor = match->floor;
    add_operand_floors(checker, form, instruction, &floor);
    require(checker, instruction, &floor);
    if (!isa_floor_met(&floor, checker->module->version, checker->target)) {
        report_floor(checker, form, instruction, &floor);
        return;
    }
    remember_clean(checker, key);
}

// Blanks may stand before any dot but those of the stem: `ld .global` is `ld.global`, `cvta .to` is
// not `cvta.to`.
static bool stem_is_whole(const struct instruction_checker *checker, const struct isa_form *form,
                          const struct isa_instruction_row *row,
                          const struct instruction *instruction) {
    if (row->stem_count == 0 || instruction->opcode_end - instruction->offset == form->text.len)
        return true;
    const struct str *last = &form->mod_texts[row->stem_count - 1];
    uint32_t length = (uint32_t)(last->data + last->len - form->text.data);
    struct span span = {instruction->offset, instruction->opcode_end};
    struct str written = source_text(checker->module->source, span);
    return written.len >= length && memcmp(written.data, form->text.data, length) == 0;
}

// The slow path: an instruction whose shape was not met before, or was not clean.
static void judge(struct instruction_checker *checker, const struct isa_form *form,
                  const struct form_info *info, const struct instruction *instruction,
                  uint64_t key) {
    const struct row_match *accepted = NULL, *nearest = NULL;
    struct mismatch least = {0};
    for (uint32_t i = 0; i < info->match_count; i++) {
        struct mismatch mismatch;
        const struct row_match *match = &info->matches[i];
        if (operands_match(checker, form, match, instruction, &mismatch)) {
            accepted = better(checker, accepted, match);
        } else if (nearest == NULL || tells_more(&mismatch, &least)) {
            nearest = match;
            least = mismatch;
        }
    }
    if (accepted != NULL && !stem_is_whole(checker, form, accepted->row, instruction))
        report_stem_parted(checker, form, accepted->row, instruction);
    else if (accepted != NULL) judge_floor(checker, form, instruction, accepted, key);
    else report_mismatch(checker, form, nearest, instruction, &least);
}

static void check_guard(struct instruction_checker *checker,
                        const struct instruction *instruction) {
    if (instruction->guard == GUARD_NONE) return;
    const struct operand *guard = &checker->body->elements.at[instruction->guard_operand];
    if (guard->kind == OPERAND_NAME) return;
    enum isa_type type = operand_type(checker, guard);
    // ptxas lets a .f16x2 register pass as a predicate.
    if (guard->kind == OPERAND_REG && (type == TYPE_PRED || type == TYPE_F16X2)) return;
    report_guard(checker, instruction);
}

static void check_instruction(struct instruction_checker *checker,
                              const struct instruction *instruction) {
    struct form_info *info = form_of(checker, instruction->form);
    const struct isa_form *form = &checker->module->forms.at[instruction->form];
    if (info->state == FORM_NEW) {
        info->seed = mix(0x51ed270b, instruction->form);
        info->length = form->text.len;
        form_resolve(checker, form, info);
    }
    check_guard(checker, instruction);
    if (instruction->vector_misplaced) report_vector_misplaced(checker, form, instruction);
    if (info->state == FORM_BAD) {
        report_form(checker, form, instruction);
        return;
    }
    uint64_t key = shape_key(checker, info, instruction);
    if (!is_clean(checker, key)) judge(checker, form, info, instruction, key);
}

void instruction_check_function(struct instruction_checker *checker, uint32_t index) {
    struct function *function = &checker->module->functions.at[index];
    if (function->body == NULL) return;
    checker->target = isa_target_parse(checker->module->target);
    checker->function_index = index;
    checker->function = function;
    checker->body = function->body;
    for (uint32_t i = 0; i < function->body->instructions.n; i++)
        check_instruction(checker, &function->body->instructions.at[i]);
}
