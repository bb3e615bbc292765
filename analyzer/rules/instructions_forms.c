// The words of a dotted opcode against the rows of isa/instructions.def.
#include "analyzer/rules/instructions_internal.h"

static const struct {
    uint16_t mod, except;
    const char *floor;
} word_floors[] = {
#define MODIFIER_FLOOR(id, floor, except) {MOD_##id, OP_##except, floor},
#include "isa/modifier_floors.def"
};

const struct isa_instruction_rows *checker_rows(struct instruction_checker *checker,
                                                enum isa_opcode opcode) {
    if (checker->rows[opcode] == NULL) {
        checker->rows[opcode] = arena_new(checker->arena, struct isa_instruction_rows);
        *checker->rows[opcode] = isa_instruction_rows_read(checker->arena, opcode);
    }
    return checker->rows[opcode];
}

static const struct isa_choice *slot_choice(const struct isa_slot *slot, uint16_t mod) {
    for (uint32_t i = 0; i < slot->choice_count; i++)
        if (slot->choices[i].mod == mod) return &slot->choices[i];
    return NULL;
}

static bool slot_before_takes(const struct isa_instruction_row *row, int slot, uint16_t mod) {
    return slot > 0 && slot_choice(&row->slots[slot - 1], mod) != NULL;
}

// Words of one class keep the order of their slots: a later slot must not be filled yet.
static bool order_allows(const struct isa_instruction_row *row, const struct row_match *match,
                         int slot) {
    uint8_t order = row->slots[slot].order;
    if (order == SLOT_ORDER_FREE) return true;
    if (order == SLOT_ORDER_REDUCTION)  // .xor.popc, .and.popc
        return !slot_before_takes(row, slot, MOD_and) || match->filled[slot - 1] != 0;
    for (int i = slot + 1; i < row->slot_count; i++)
        if (row->slots[i].order == order && match->filled[i] != 0) return false;
    return true;
}

static bool all_filled(const struct isa_instruction_row *row, const struct row_match *match) {
    for (int i = 0; i < row->slot_count; i++)
        if (!row->slots[i].optional && match->filled[i] == 0) return false;
    return true;
}

// Words that ptxas takes twice; it refuses all others.
static bool may_repeat(uint16_t mod) {
    switch (mod) {
    case MOD_sat:
    case MOD_cc:
    case MOD_satfinite:
    case MOD_relu:
    case MOD_NaN:
    case MOD_approx:
    case MOD_sync:
    case MOD_uni: return true;
    default: return false;
    }
}

static bool stands_before(const struct isa_form *form, uint32_t at) {
    for (uint32_t i = 0; i < at; i++)
        if (form->mods[i] == form->mods[at]) return true;
    return false;
}

// Puts words `at` and after into slots. Backtracks where a word fits two slots; a row has few such.
static bool assign(const struct isa_form *form, const struct isa_instruction_row *row,
                   struct row_match *match, uint32_t at, uint32_t *budget) {
    if (at == form->mod_count) return all_filled(row, match);
    if (*budget == 0) return false;
    --*budget;
    uint16_t mod = form->mods[at];
    if (may_repeat(mod) && stands_before(form, at))
        return assign(form, row, match, at + 1, budget);
    for (int i = 0; i < row->slot_count; i++) {
        if (match->filled[i] != 0 || slot_choice(&row->slots[i], mod) == NULL ||
            !order_allows(row, match, i))
            continue;
        match->filled[i] = mod;
        if (assign(form, row, match, at + 1, budget)) return true;
        match->filled[i] = 0;
    }
    return false;
}

static bool test_word(const struct isa_form *form, const struct row_match *match,
                      const struct isa_test *test, uint16_t mod) {
    return test->slot >= 0 ? match->filled[test->slot] == mod
                           : isa_form_has(form, (enum isa_mod)mod);
}

static bool test_holds(const struct isa_form *form, const struct row_match *match,
                       const struct isa_test *test) {
    bool present = test->mod_count == 0 && match->filled[test->slot] != 0;
    for (int i = 0; i < test->mod_count && !present; i++)
        present = test_word(form, match, test, test->mods[i]);
    return present != test->absent;
}

static bool condition_holds(const struct isa_form *form, const struct row_match *match,
                            const struct isa_condition *condition) {
    for (int i = 0; i < condition->test_count; i++)
        if (!test_holds(form, match, &condition->tests[i])) return false;
    return true;
}

static void add_word_floors(const struct isa_form *form, struct isa_floor *floor) {
    for (size_t i = 0; i < sizeof word_floors / sizeof *word_floors; i++)
        if ((word_floors[i].except == OP_UNKNOWN || word_floors[i].except != form->opcode) &&
            isa_form_has(form, (enum isa_mod)word_floors[i].mod))
            *floor = isa_floor_both(*floor, isa_floor_parse(word_floors[i].floor));
}

// What the row and its words need; false when a condition forbids them.
static bool settle_floor(const struct isa_form *form, struct row_match *match) {
    const struct isa_instruction_row *row = match->row;
    match->floor = row->floor;
    for (int i = 0; i < row->slot_count; i++) {
        const struct isa_choice *choice =
            match->filled[i] == 0 ? NULL : slot_choice(&row->slots[i], match->filled[i]);
        if (choice != NULL && choice->has_floor)
            match->floor = isa_floor_both(match->floor, choice->floor);
    }
    for (int i = 0; i < row->condition_count; i++) {
        if (!condition_holds(form, match, &row->conditions[i])) continue;
        if (row->conditions[i].never) return false;
        match->floor = isa_floor_both(match->floor, row->conditions[i].floor);
    }
    add_word_floors(form, &match->floor);
    return true;
}

static bool stem_fits(const struct isa_form *form, const struct isa_instruction_row *row) {
    return form->mod_count >= row->stem_count &&
           memcmp(form->mods, row->stem, row->stem_count * sizeof *row->stem) == 0;
}

bool form_match_row(const struct isa_form *form, const struct isa_instruction_row *row,
                    struct row_match *match) {
    enum { MOST_STEPS = 400 };
    uint32_t budget = MOST_STEPS;
    *match = (struct row_match){.row = row};
    if (!stem_fits(form, row) || form->mod_count > row->stem_count + row->slot_count + 4u)
        return false;
    return assign(form, row, match, row->stem_count, &budget) && settle_floor(form, match);
}

static bool row_has_range(const struct isa_instruction_row *row) {
    for (int i = 0; i < row->operand_count; i++)
        if (row->operands[i].range != RANGE_NONE) return true;
    return false;
}

void form_resolve(struct instruction_checker *checker, const struct isa_form *form,
                  struct form_info *info) {
    VEC_OF(struct row_match) matches = {NULL, 0, 0};
    const struct isa_instruction_rows *rows =
        checker_rows(checker, (enum isa_opcode)form->opcode);
    for (uint32_t i = 0; i < rows->count; i++) {
        struct row_match match;
        if (!form_match_row(form, &rows->at[i], &match)) continue;
        *vec_push(checker->arena, &matches) = match;
        info->values_matter |= row_has_range(&rows->at[i]);
    }
    info->match_count = (uint16_t)matches.n;
    info->matches = matches.at;
    info->state = matches.n == 0 ? FORM_BAD : FORM_KNOWN;
}
