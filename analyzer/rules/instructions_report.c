// Findings of the instruction checker: which word or operand, what it is, what it must be.
#include "analyzer/rules/instructions_internal.h"

// The tables were measured up to here; later rows are from the manual.
enum { LAST_KNOWN_VERSION = 90 };

static struct place place_of(const struct instruction_checker *checker, uint32_t begin,
                             uint32_t end) {
    return (struct place){checker->module->source, {begin, end}};
}

static struct finding *add(struct instruction_checker *checker, enum rule rule, uint32_t begin,
                           uint32_t end) {
    struct finding *finding = finding_add(checker->findings, rule, place_of(checker, begin, end));
    const struct function *function = checker->function;
    if (function->kind == FUNCTION_ENTRY)
        finding->kernel = module_name(checker->module, function->name);
    return finding;
}

// Where a word of the dotted opcode is written. A form keeps the words without blanks and comments;
// where
// the source has some, the whole opcode is shown.
static struct span word_span(const struct isa_form *form, const struct instruction *instruction,
                             uint32_t word) {
    uint32_t written = instruction->opcode_end - instruction->offset;
    if (written != form->text.len || word >= form->mod_count)
        return (struct span){instruction->offset, instruction->opcode_end};
    uint32_t at = (uint32_t)(form->mod_texts[word].data - form->text.data);
    return (struct span){instruction->offset + at - 1,
                         instruction->offset + at + form->mod_texts[word].len};
}

static struct str opcode_word(const struct isa_form *form) {
    uint32_t len = 0;
    while (len < form->text.len && form->text.data[len] != '.') len++;
    return (struct str){form->text.data, len};
}

// The opcode and its first words, as far as rows call them by one name: `cp.async.bulk`.
static struct str stem_text(const struct isa_form *form, uint32_t words) {
    if (words == 0) return opcode_word(form);
    if (words > form->mod_count) words = form->mod_count;
    const struct str *last = &form->mod_texts[words - 1];
    return (struct str){form->text.data, (uint32_t)(last->data + last->len - form->text.data)};
}

// A list for people: "`.a`, `.b` or `.c`", of at most `most` words.
struct word_list {
    struct str text;
    uint32_t count, more;
};

static void list_word(struct instruction_checker *checker, struct word_list *list,
                      struct str word, uint32_t most) {
    if (list->count == most) {
        list->more++;
        return;
    }
    list->text = list->count == 0 ? str_format(checker->arena, "`.%.*s`", STR_ARG(word))
                                  : str_format(checker->arena, "%.*s, `.%.*s`",
                                               STR_ARG(list->text), STR_ARG(word));
    list->count++;
}

static void list_choices(struct instruction_checker *checker, struct word_list *list,
                         const struct isa_slot *slot) {
    for (uint32_t i = 0; i < slot->choice_count; i++)
        list_word(checker, list, isa_mod_texts[slot->choices[i].mod], 3);
}

static void say_list(struct instruction_checker *checker, struct finding *finding,
                     const char *before, const struct word_list *list) {
    if (list->count == 0) return;
    if (list->more == 0)
        finding_help(checker->findings, finding, "%s%s%.*s", before,
                     list->count > 1 ? "one of " : "", STR_ARG(list->text));
    else
        finding_help(checker->findings, finding, "%sone of %.*s, ... (%u more)", before,
                     STR_ARG(list->text), (unsigned)list->more);
}

static bool list_has(const uint16_t *listed, uint32_t count, uint16_t mod) {
    for (uint32_t i = 0; i < count; i++)
        if (listed[i] == mod) return true;
    return false;
}

// How far a row takes the words of a form.
struct fit {
    const struct isa_instruction_row *row;
    uint32_t misfits;     // words that found no slot
    uint32_t first;       // the first of them
    bool taken_already;   // its slot holds another word (or itself)
    uint16_t holder;      // that word
    uint32_t missing;     // mandatory slots left empty
    const struct isa_slot *slot;  // the first of them
};

static bool slot_takes(const struct isa_slot *slot, uint16_t mod) {
    for (uint32_t i = 0; i < slot->choice_count; i++)
        if (slot->choices[i].mod == mod) return true;
    return false;
}

static bool fill_slot(const struct isa_instruction_row *row, uint16_t *filled, uint16_t mod,
                      uint16_t *holder) {
    *holder = 0;
    for (int i = 0; i < row->slot_count; i++) {
        if (!slot_takes(&row->slots[i], mod)) continue;
        if (filled[i] == 0) {
            filled[i] = mod;
            return true;
        }
        *holder = filled[i];
    }
    return false;
}

// Words before `first` are the stem's.
static struct fit fit_row(const struct isa_form *form, const struct isa_instruction_row *row,
                          uint32_t first) {
    struct fit fit = {.row = row};
    uint16_t filled[ISA_MAX_SLOTS] = {0};
    for (uint32_t i = first; i < form->mod_count; i++) {
        uint16_t holder;
        if (fill_slot(row, filled, form->mods[i], &holder)) continue;
        if (fit.misfits++ != 0) continue;
        fit.first = i;
        fit.taken_already = holder != 0;
        fit.holder = holder;
    }
    for (int i = 0; i < row->slot_count; i++) {
        if (row->slots[i].optional || filled[i] != 0) continue;
        if (fit.missing++ == 0) fit.slot = &row->slots[i];
    }
    return fit;
}

// How many words of the row's stem the form begins with.
static uint32_t stem_common(const struct isa_form *form, const struct isa_instruction_row *row) {
    uint32_t n = 0;
    while (n < row->stem_count && n < form->mod_count && form->mods[n] == row->stem[n]) n++;
    return n;
}

static bool fits_better(const struct fit *a, const struct fit *b) {
    uint32_t a_off = a->misfits + a->missing, b_off = b->misfits + b->missing;
    if (a_off != b_off) return a_off < b_off;
    return a->row->stem_count > b->row->stem_count;
}

static struct fit best_fit(const struct isa_form *form, const struct isa_instruction_rows *rows,
                           bool *found) {
    struct fit best = {0};
    *found = false;
    for (uint32_t i = 0; i < rows->count; i++) {
        if (stem_common(form, &rows->at[i]) < rows->at[i].stem_count) continue;
        struct fit fit = fit_row(form, &rows->at[i], rows->at[i].stem_count);
        if (*found && !fits_better(&fit, &best)) continue;
        best = fit;
        *found = true;
    }
    return best;
}

static bool row_knows(const struct isa_instruction_row *row, uint16_t mod) {
    for (int i = 0; i < row->stem_count; i++)
        if (row->stem[i] == mod) return true;
    for (int i = 0; i < row->slot_count; i++)
        if (slot_takes(&row->slots[i], mod)) return true;
    return false;
}

static bool opcode_knows(const struct isa_instruction_rows *rows, uint16_t mod) {
    for (uint32_t i = 0; i < rows->count; i++)
        if (row_knows(&rows->at[i], mod)) return true;
    return false;
}

// The word nearest to `text` among those that the opcode has; MOD_UNKNOWN when none is near.
static enum isa_mod nearest_word(const struct isa_instruction_rows *rows, struct str text) {
    uint32_t limit = text.len < 3 ? 1 : text.len < 6 ? 2 : 3;
    enum isa_mod nearest = MOD_UNKNOWN;
    for (int mod = 1; mod < MOD_COUNT; mod++) {
        uint32_t distance = str_distance(text, isa_mod_texts[mod], limit);
        if (distance > limit || !opcode_knows(rows, (uint16_t)mod)) continue;
        nearest = (enum isa_mod)mod;
        if (distance == 0) break;
        limit = distance - 1;
    }
    return nearest;
}

static void report_opcode(struct instruction_checker *checker, const struct isa_form *form,
                          const struct instruction *instruction) {
    struct str word = opcode_word(form);
    struct finding *finding = add(checker, RULE_OPCODE_UNKNOWN, instruction->offset,
                                  instruction->offset + word.len);
    finding_message(checker->findings, finding, "unknown instruction `%.*s`", STR_ARG(word));
    uint32_t limit = word.len < 4 ? 1 : 2, least = limit + 1;
    enum isa_opcode nearest = OP_UNKNOWN;
    for (int opcode = 1; opcode < OP_COUNT; opcode++) {
        uint32_t distance = str_distance(word, isa_opcode_texts[opcode], limit);
        if (distance >= least) continue;
        least = distance;
        nearest = (enum isa_opcode)opcode;
    }
    if (nearest != OP_UNKNOWN)
        finding_help(checker->findings, finding, "did you mean `%.*s`?",
                     STR_ARG(isa_opcode_texts[nearest]));
}

static void report_word(struct instruction_checker *checker, const struct isa_form *form,
                        const struct instruction *instruction,
                        const struct isa_instruction_rows *rows, uint32_t word) {
    struct span span = word_span(form, instruction, word);
    bool unknown = form->mods[word] == MOD_UNKNOWN;
    struct finding *finding = add(checker, unknown ? RULE_MODIFIER_UNKNOWN : RULE_MODIFIER_INVALID,
                                  span.begin, span.end);
    struct str text = form->mod_texts[word];
    if (unknown)
        finding_message(checker->findings, finding, "unknown modifier `.%.*s` of `%.*s`",
                        STR_ARG(text), STR_ARG(opcode_word(form)));
    else
        finding_message(checker->findings, finding, "`%.*s` has no modifier `.%.*s`",
                        STR_ARG(opcode_word(form)), STR_ARG(text));
    enum isa_mod nearest = nearest_word(rows, text);
    if (nearest != MOD_UNKNOWN)
        finding_help(checker->findings, finding, "did you mean `.%.*s`?",
                     STR_ARG(isa_mod_texts[nearest]));
}

static void report_misfit(struct instruction_checker *checker, const struct isa_form *form,
                          const struct instruction *instruction, const struct fit *fit) {
    struct span span = word_span(form, instruction, fit->first);
    struct finding *finding = add(checker, RULE_MODIFIER_INVALID, span.begin, span.end);
    struct str text = form->mod_texts[fit->first], stem = stem_text(form, fit->row->stem_count);
    if (fit->taken_already && fit->holder == form->mods[fit->first]) {
        finding_message(checker->findings, finding, "`.%.*s` is given twice", STR_ARG(text));
    } else if (fit->taken_already) {
        finding_message(checker->findings, finding,
                        "`.%.*s` and `.%.*s` exclude each other in `%.*s`",
                        STR_ARG(isa_mod_texts[fit->holder]), STR_ARG(text), STR_ARG(stem));
    } else {
        finding_message(checker->findings, finding,
                        "`.%.*s` does not go with the other modifiers of `%.*s`", STR_ARG(text),
                        STR_ARG(form->text));
    }
    finding_note(checker->findings, finding, "the nearest form is `%.*s` %s", STR_ARG(stem),
                 fit->row->modifiers_text);
}

static void report_missing(struct instruction_checker *checker, const struct isa_form *form,
                           const struct instruction *instruction, const struct fit *fit) {
    struct finding *finding =
        add(checker, RULE_MODIFIER_MISSING, instruction->offset, instruction->opcode_end);
    struct word_list list = {{NULL, 0}, 0, 0};
    list_choices(checker, &list, fit->slot);
    finding_message(checker->findings, finding, "`%.*s` lacks a modifier", STR_ARG(form->text));
    say_list(checker, finding, "add ", &list);
}

static void report_together(struct instruction_checker *checker, const struct isa_form *form,
                            const struct instruction *instruction, const struct fit *fit) {
    struct finding *finding =
        add(checker, RULE_MODIFIER_INVALID, instruction->offset, instruction->opcode_end);
    finding_message(checker->findings, finding,
                    "the modifiers of `%.*s` do not go together, or not in this order",
                    STR_ARG(form->text));
    finding_note(checker->findings, finding, "the nearest form is `%.*s` %s",
                 STR_ARG(stem_text(form, fit->row->stem_count)), fit->row->modifiers_text);
}

// Rows that would take the words if a word of their stem stood where it must: `mul.u32` lacks
// `.hi`,
// `.lo` or `.wide`. False when there are none.
static bool report_stem_word(struct instruction_checker *checker, const struct isa_form *form,
                             const struct instruction *instruction,
                             const struct isa_instruction_rows *rows) {
    enum { MOST = 6 };
    struct word_list list = {{NULL, 0}, 0, 0};
    uint16_t listed[MOST];
    uint32_t after = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct isa_instruction_row *row = &rows->at[i];
        uint32_t common = stem_common(form, row);
        if (common + 1 != row->stem_count || (list.count != 0 && common != after)) continue;
        struct fit fit = fit_row(form, row, common);
        uint16_t mod = row->stem[common];
        if (fit.misfits != 0 || fit.missing != 0 || list_has(listed, list.count, mod)) continue;
        after = common;
        if (list.count < MOST) listed[list.count] = mod;
        list_word(checker, &list, isa_mod_texts[mod], MOST);
    }
    if (list.count == 0) return false;
    struct str stem = stem_text(form, after);
    struct finding *finding =
        add(checker, RULE_MODIFIER_MISSING, instruction->offset, instruction->opcode_end);
    finding_message(checker->findings, finding, "`%.*s` lacks a modifier directly after `%.*s`",
                    STR_ARG(form->text), STR_ARG(stem));
    say_list(checker, finding, "add ", &list);
    return true;
}

// No row begins as the form does: what may follow the opcode?
static void report_stem(struct instruction_checker *checker, const struct isa_form *form,
                        const struct instruction *instruction,
                        const struct isa_instruction_rows *rows) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t common = stem_common(form, &rows->at[i]);
        if (common > most) most = common;
    }
    struct word_list list = {{NULL, 0}, 0, 0};
    uint16_t listed[8] = {0};
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct isa_instruction_row *row = &rows->at[i];
        if (stem_common(form, row) != most || row->stem_count <= most) continue;
        uint16_t mod = row->stem[most];
        if (list_has(listed, list.count < 8 ? list.count : 8, mod)) continue;
        if (list.count < 8) listed[list.count] = mod;
        list_word(checker, &list, isa_mod_texts[mod], 6);
    }
    struct finding *finding =
        add(checker, RULE_MODIFIER_MISSING, instruction->offset, instruction->opcode_end);
    finding_message(checker->findings, finding, "there is no instruction `%.*s`",
                    STR_ARG(form->text));
    say_list(checker, finding,
             str_format(checker->arena, "after `%.*s` must stand ", STR_ARG(stem_text(form, most)))
                 .data,
             &list);
}

// Of a file of a version that came after the tables, what is not in them is not known to be wrong.
static bool report_not_known(struct instruction_checker *checker, const struct isa_form *form,
                             const struct instruction *instruction) {
    unsigned version = checker->module->version;
    if (version <= LAST_KNOWN_VERSION) return false;
    struct finding *finding =
        add(checker, RULE_INSTRUCTION_NOT_KNOWN, instruction->offset, instruction->opcode_end);
    finding_message(checker->findings, finding,
                    "`%.*s` is not known to this version of ptxvet; PTX %u.%u may have it",
                    STR_ARG(form->text), version / 10, version % 10);
    return true;
}

void report_form(struct instruction_checker *checker, const struct isa_form *form,
                 const struct instruction *instruction) {
    if (checker->findings == NULL || report_not_known(checker, form, instruction)) return;
    if (form->opcode == OP_UNKNOWN) {
        report_opcode(checker, form, instruction);
        return;
    }
    const struct isa_instruction_rows *rows = checker_rows(checker, (enum isa_opcode)form->opcode);
    for (uint32_t i = 0; i < form->mod_count; i++) {
        if (form->mods[i] != MOD_UNKNOWN && opcode_knows(rows, form->mods[i])) continue;
        report_word(checker, form, instruction, rows, i);
        return;
    }
    bool found;
    struct fit fit = best_fit(form, rows, &found);
    bool fits = found && fit.misfits + fit.missing == 0;
    if (!fits && report_stem_word(checker, form, instruction, rows)) return;
    if (!found) report_stem(checker, form, instruction, rows);
    else if (fit.misfits != 0) report_misfit(checker, form, instruction, &fit);
    else if (fit.missing != 0) report_missing(checker, form, instruction, &fit);
    else report_together(checker, form, instruction, &fit);
}

static struct str operand_text(const struct instruction_checker *checker,
                               const struct operand *operand) {
    enum { MOST = 60 };
    struct span span = {operand->offset, operand->end};
    struct str text = source_text(checker->module->source, span);
    if (text.len <= MOST) return text;
    return str_format(checker->arena, "%.*s...", MOST - 3, text.data);
}

static struct str register_text(const struct instruction_checker *checker,
                                const struct operand *operand) {
    const struct variable *variable = operand_variable(checker, operand);
    enum isa_type type = operand_type(checker, operand);
    if (operand->flags & OPERAND_NOT) return STR("a negated predicate");
    if (variable != NULL && variable->vec > 1 && operand->component == 0)
        return str_format(checker->arena, "a .v%u .%.*s register", (unsigned)variable->vec,
                          STR_ARG(isa_types[type].text));
    return str_format(checker->arena, "a .%.*s register", STR_ARG(isa_types[type].text));
}

static struct str variable_text(const struct instruction_checker *checker,
                                const struct operand *operand) {
    const struct variable *variable = operand_variable(checker, operand);
    if (variable == NULL) return STR("a variable");
    return str_format(checker->arena, "a .%.*s variable",
                      STR_ARG(isa_space_texts[variable->space]));
}

// What an operand is, with its article.
static struct str describe(const struct instruction_checker *checker,
                           const struct operand *operand) {
    switch (operand->kind) {
    case OPERAND_REG: return register_text(checker, operand);
    case OPERAND_SREG: return STR("a special register");
    case OPERAND_INT: return STR("an integer");
    case OPERAND_FLOAT: return STR("a floating-point constant");
    case OPERAND_VAR: return variable_text(checker, operand);
    case OPERAND_FUNC: return STR("a function");
    case OPERAND_LABEL: return STR("a label");
    case OPERAND_SINK: return STR("the sink `_`");
    case OPERAND_VECTOR:
        return str_format(checker->arena, "a vector of %u", (unsigned)operand->count);
    case OPERAND_LIST: return STR("a list");
    case OPERAND_PAIR: return STR("a pair");
    case OPERAND_ADDRESS: return STR("an address");
    default: return STR("unknown");
    }
}

// "a .u32, .s32 or .b32 register": the classes that a type takes, as rules of width allow.
static struct str type_wanted(struct instruction_checker *checker, enum isa_type type) {
    unsigned bits = isa_types[type].bits;
    struct str text = isa_types[type].text;
    switch (isa_types[type].class) {
    case TYPE_CLASS_P: return STR("a .pred register");
    case TYPE_CLASS_B: return str_format(checker->arena, "a register of %u bits", bits);
    case TYPE_CLASS_U:
    case TYPE_CLASS_S:
        if (type == TYPE_U16X2 || type == TYPE_S16X2) return STR("a .b32 register");
        return str_format(checker->arena, "a .u%u, .s%u or .b%u register", bits, bits, bits);
    default:
        if (type == TYPE_F16 || type == TYPE_F32 || type == TYPE_F64 || type == TYPE_F16X2)
            return str_format(checker->arena, "a .%.*s or .b%u register", STR_ARG(text), bits);
        return str_format(checker->arena, "a .b%u register", bits < 8 ? 8 : bits);
    }
}

// What a pattern takes, with its article.
static struct str wanted_text(struct instruction_checker *checker, const struct isa_form *form,
                              const struct row_match *match,
                              const struct isa_operand_pattern *pattern) {
    enum isa_type type = pattern_type(match, pattern);
    bool scalar = false;
    switch (pattern->code) {
    case CODE_P: return pattern->negatable ? STR("a predicate, `!` or not") : STR("a predicate");
    case CODE_M: return STR("an address: `[register+offset]` or `[variable+offset]`");
    case CODE_TENSOR: return STR("`[tensor map, {coordinates}]`");
    case CODE_IMAGE: return STR("`[handle, {coordinates}]`");
    case CODE_HANDLE: return STR("a texture or surface: `[handle]`");
    case CODE_TMEM: return STR("an address of tensor memory: `[.b32 register]`");
    case CODE_TADDR: return STR("an address of tensor memory: `[32-bit register]`");
    case CODE_SCALE_A:
    case CODE_SCALE_B: return STR("`{byte, thread}`, each a .b16 register or a constant");
    case CODE_LOD: return STR("a level of detail of 32 bits");
    case CODE_I: return STR("an integer constant");
    case CODE_F: return STR("a floating-point constant");
    case CODE_S: return STR("a special register");
    case CODE_D: return STR("the name of a variable or function");
    case CODE_LABEL: return STR("a label");
    case CODE_TARGETS: return STR("a `.branchtargets` label");
    case CODE_SINK: return STR("the sink `_`");
    case CODE_V: {
        uint32_t length = pattern_length(form, match, pattern, &scalar);
        if (!scalar && length != 0)
            return str_format(checker->arena, "a vector `{...}` of %u, each %.*s",
                              (unsigned)length, STR_ARG(type_wanted(checker, type)));
        if (!scalar) return STR("a vector `{...}`");
        break;
    }
    default: break;
    }
    struct str registers = type_wanted(checker, type);
    if (pattern->destination || pattern->no_literal) return registers;
    return str_format(checker->arena, "%.*s, or a constant", STR_ARG(registers));
}

static struct str range_text(struct instruction_checker *checker,
                             const struct isa_operand_pattern *pattern) {
    const int64_t *values = pattern->values;
    struct str text = {NULL, 0};
    switch (pattern->range) {
    case RANGE_SPAN:
        return str_format(checker->arena, "%lld to %lld", (long long)values[0],
                          (long long)values[1]);
    case RANGE_MULTIPLE:
        if (pattern->value_count == 3)
            return str_format(checker->arena, "a multiple of %lld from %lld to %lld",
                              (long long)values[0], (long long)values[1], (long long)values[2]);
        return str_format(checker->arena, "a multiple of %lld", (long long)values[0]);
    case RANGE_POWER: return STR("a power of two");
    default: break;
    }
    for (int i = 0; i < pattern->value_count; i++)
        text = i == 0 ? str_format(checker->arena, "%lld", (long long)values[i])
                      : str_format(checker->arena, "%.*s%s%lld", STR_ARG(text),
                                   i + 1 == pattern->value_count ? " or " : ", ",
                                   (long long)values[i]);
    return text;
}

// "3", or "3 to 5" where operands may be left out.
static struct str count_wanted(struct instruction_checker *checker,
                               const struct row_match *match) {
    unsigned least = 0, most = 0;
    for (int i = 0; i < match->row->operand_count; i++) {
        const struct isa_operand_pattern *pattern = &match->row->operands[i];
        if (pattern->if_slot >= 0 && match->filled[pattern->if_slot] == 0) continue;
        most++;
        if (!pattern->optional) least++;
    }
    if (least == most) return str_format(checker->arena, "%u", least);
    return str_format(checker->arena, "%u to %u", least, most);
}

static void report_count(struct instruction_checker *checker, const struct isa_form *form,
                         const struct row_match *match, const struct instruction *instruction,
                         const struct mismatch *mismatch) {
    uint32_t begin = instruction->offset, end = instruction->opcode_end;
    if (mismatch->at != NULL) begin = mismatch->at->offset, end = mismatch->at->end;
    struct finding *finding = add(checker, RULE_OPERAND_COUNT, begin, end);
    struct str wanted = count_wanted(checker, match);
    finding_message(checker->findings, finding, "`%.*s` takes %.*s operand%s, not %u",
                    STR_ARG(form->text), STR_ARG(wanted), str_eq(wanted, STR("1")) ? "" : "s",
                    (unsigned)instruction->operand_count);
    if (mismatch->at != NULL || mismatch->pattern < 0) return;
    struct str next = wanted_text(checker, form, match, &match->row->operands[mismatch->pattern]);
    finding_help(checker->findings, finding, "operand %u must be %.*s",
                 (unsigned)mismatch->operand + 1, STR_ARG(next));
}

static enum rule mismatch_rule(const struct mismatch *mismatch) {
    switch (mismatch->kind) {
    case MISMATCH_TYPE: return RULE_OPERAND_TYPE;
    case MISMATCH_LITERAL: return RULE_LITERAL_TYPE;
    case MISMATCH_LENGTH: return RULE_VECTOR_LENGTH;
    case MISMATCH_SPACE: return RULE_STATE_SPACE_MISMATCH;
    case MISMATCH_RANGE: return RULE_CONSTANT_RANGE;
    default: return RULE_OPERAND_KIND;
    }
}

static struct str space_wanted(struct instruction_checker *checker, const struct row_match *match,
                               const struct isa_operand_pattern *pattern) {
    enum isa_space space = (enum isa_space)pattern->space;
    if (pattern->space_slot >= 0)
        space = isa_mod_space((enum isa_mod)match->filled[pattern->space_slot]);
    if (space == SPACE_NONE)
        return STR("in .global, .shared or .local for a generic address");
    return str_format(checker->arena, "in .%.*s", STR_ARG(isa_space_texts[space]));
}

// The end of the sentence that begins "operand 2 of `add.s32`, `%f1`, ".
static struct str mismatch_text(struct instruction_checker *checker, const struct isa_form *form,
                                const struct row_match *match, const struct mismatch *mismatch) {
    const struct isa_operand_pattern *pattern = &match->row->operands[mismatch->pattern];
    struct str is = describe(checker, mismatch->at);
    struct str must;
    switch (mismatch->kind) {
    case MISMATCH_LENGTH:
        return str_format(checker->arena, "has %u element%s; it must have %u",
                          (unsigned)mismatch->at->count, mismatch->at->count == 1 ? "" : "s",
                          (unsigned)mismatch->wanted);
    case MISMATCH_RANGE:
        if (pattern->code == CODE_SCALE_A || pattern->code == CODE_SCALE_B)
            return STR("names no byte or thread that holds a scale factor");
        must = range_text(checker, pattern);
        return str_format(checker->arena, "is out of range; it must be %.*s", STR_ARG(must));
    case MISMATCH_SPACE:
        must = space_wanted(checker, match, pattern);
        return str_format(checker->arena, "is %.*s; it must lie %.*s", STR_ARG(is), STR_ARG(must));
    case MISMATCH_COMPONENT:
        return mismatch->at->component >= 16
                   ? STR("picks bytes or halves, which only video instructions do")
                   : STR("picks a component of what is no vector");
    case MISMATCH_TYPE:
        if (pattern->code == CODE_TMEM || pattern->code == CODE_TADDR) {
            must = STR("a register of 32 integer bits");
            break;
        }
        if (pattern->code == CODE_M) {
            must = STR("an integer or untyped register");
            break;
        }
        must = type_wanted(checker, mismatch->type != TYPE_NONE ? mismatch->type : TYPE_PRED);
        break;
    default: must = wanted_text(checker, form, match, pattern); break;
    }
    return str_format(checker->arena, "is %.*s; it must be %.*s", STR_ARG(is), STR_ARG(must));
}

static void help_literal(struct instruction_checker *checker, struct finding *finding,
                         const struct mismatch *mismatch) {
    enum isa_type type = mismatch->type;
    if (mismatch->at->kind == OPERAND_INT && isa_types[type].class == TYPE_CLASS_F &&
        (type == TYPE_F32 || type == TYPE_F64))
        finding_help(checker->findings, finding, "write `%lld.0`", (long long)mismatch->at->value);
    else if (isa_types[type].class == TYPE_CLASS_F)
        finding_help(checker->findings, finding,
                     "`.%.*s` takes no constants: move its bits into a register first",
                     STR_ARG(isa_types[type].text));
}

void report_mismatch(struct instruction_checker *checker, const struct isa_form *form,
                     const struct row_match *match, const struct instruction *instruction,
                     const struct mismatch *mismatch) {
    if (checker->findings == NULL) return;
    if (checker->module->version > LAST_KNOWN_VERSION && mismatch->kind != MISMATCH_TYPE &&
        report_not_known(checker, form, instruction))
        return;
    if (mismatch->kind == MISMATCH_COUNT) {
        report_count(checker, form, match, instruction, mismatch);
        return;
    }
    struct finding *finding = add(checker, mismatch_rule(mismatch), mismatch->at->offset,
                                  mismatch->at->end);
    struct str what = mismatch_text(checker, form, match, mismatch);
    finding_message(checker->findings, finding, "operand %u of `%.*s`, `%.*s`, %.*s",
                    (unsigned)mismatch->operand + 1, STR_ARG(form->text),
                    STR_ARG(operand_text(checker, mismatch->at)), STR_ARG(what));
    if (mismatch->kind == MISMATCH_LITERAL) help_literal(checker, finding, mismatch);
}

static void report_version(struct instruction_checker *checker, const struct isa_form *form,
                           const struct instruction *instruction, const struct isa_floor *floor) {
    unsigned least = isa_floor_version_for(floor, checker->target);
    unsigned version = checker->module->version;
    struct finding *finding =
        add(checker, RULE_INSTRUCTION_VERSION, instruction->offset, instruction->opcode_end);
    finding_message(checker->findings, finding, "`%.*s` needs PTX %u.%u; the file says %u.%u",
                    STR_ARG(form->text), least / 10, least % 10, version / 10, version % 10);
    finding_help(checker->findings, finding, "write `.version %u.%u` or later", least / 10,
                 least % 10);
    finding_label(checker->findings, finding,
                  (struct place){checker->module->source, checker->module->version_span},
                  "PTX %u.%u", version / 10, version % 10);
}

static void report_target(struct instruction_checker *checker, const struct isa_form *form,
                          const struct instruction *instruction, const struct isa_floor *floor) {
    struct str needs = isa_floor_targets_text(checker->arena, floor);
    struct finding *finding =
        add(checker, RULE_INSTRUCTION_TARGET, instruction->offset, instruction->opcode_end);
    finding_message(checker->findings, finding, "`%.*s` needs %.*s; the file says %.*s",
                    STR_ARG(form->text), STR_ARG(needs), STR_ARG(checker->module->target));
    struct str least = isa_floor_least_target(checker->arena, floor);
    if (least.len != 0)
        finding_help(checker->findings, finding, "write `.target %.*s`", STR_ARG(least));
    finding_label(checker->findings, finding,
                  (struct place){checker->module->source, checker->module->target_span},
                  "%.*s", STR_ARG(checker->module->target));
}

void report_floor(struct instruction_checker *checker, const struct isa_form *form,
                  const struct instruction *instruction, const struct isa_floor *floor) {
    if (checker->findings == NULL) return;
    uint16_t version = checker->module->version;
    if (version != 0 && version < isa_floor_version_for(floor, checker->target))
        report_version(checker, form, instruction, floor);
    if (checker->target.number != 0 && !isa_floor_has_target(floor, checker->target))
        report_target(checker, form, instruction, floor);
    if (!isa_floor_removed(floor, version, checker->target)) return;
    struct finding *finding =
        add(checker, RULE_INSTRUCTION_REMOVED, instruction->offset, instruction->opcode_end);
    finding_message(checker->findings, finding,
                    "`%.*s` was removed after PTX %u.%u for sm_%u and higher", STR_ARG(form->text),
                    (unsigned)floor->last_version / 10, (unsigned)floor->last_version % 10,
                    (unsigned)floor->last_target);
    if (form->opcode == OP_shfl || form->opcode == OP_vote)
        finding_help(checker->findings, finding,
                     "use `%.*s.sync`, whose last operand is the mask of the participating lanes",
                     STR_ARG(opcode_word(form)));
}

void report_stem_parted(struct instruction_checker *checker, const struct isa_form *form,
                        const struct isa_instruction_row *row,
                        const struct instruction *instruction) {
    if (checker->findings == NULL) return;
    struct finding *finding =
        add(checker, RULE_MODIFIER_INVALID, instruction->offset, instruction->opcode_end);
    struct str stem = stem_text(form, row->stem_count);
    finding_message(checker->findings, finding, "`%.*s` must be written without blanks",
                    STR_ARG(stem));
    finding_help(checker->findings, finding, "write `%.*s`", STR_ARG(form->text));
}

void report_vector_misplaced(struct instruction_checker *checker, const struct isa_form *form,
                             const struct instruction *instruction) {
    if (checker->findings == NULL) return;
    struct finding *finding =
        add(checker, RULE_VECTOR_MISPLACED, instruction->offset, instruction->opcode_end);
    finding_message(checker->findings, finding,
                    "the vector modifier of `%.*s` does not stand directly before the type",
                    STR_ARG(form->text));
}

void report_guard(struct instruction_checker *checker, const struct instruction *instruction) {
    if (checker->findings == NULL) return;
    const struct operand *guard = &checker->body->elements.at[instruction->guard_operand];
    struct finding *finding = add(checker, RULE_GUARD_TYPE, guard->offset, guard->end);
    struct str is = describe(checker, guard);
    finding_message(checker->findings, finding,
                    "the guard `%.*s` is %.*s; it must be a .pred register",
                    STR_ARG(operand_text(checker, guard)), STR_ARG(is));
}
