#include "isa/instruction_rows.h"

#include <assert.h>

struct row_text {
    uint16_t opcode;
    const char *stem, *modifiers, *operands, *floor, *conditions;
};

static const struct row_text row_texts[] = {
#define INSTRUCTION(opcode, stem, modifiers, operands, floor, conditions) \
    {OP_##opcode, stem, modifiers, operands, floor, conditions},
#include "isa/instructions.def"
};

enum { ROW_COUNT = sizeof row_texts / sizeof *row_texts };

// A table's text under reading. Tables are ours: what does not parse is a bug, hence the asserts.
struct reader {
    struct arena *arena;
    const char *at;
    struct isa_instruction_row *row;
};

static void skip_blanks(struct reader *reader) {
    while (*reader->at == ' ') reader->at++;
}

static bool take(struct reader *reader, char c) {
    if (*reader->at != c) return false;
    reader->at++;
    return true;
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == ':' || c == '*' || c == '#';
}

static struct str read_word(struct reader *reader) {
    const char *begin = reader->at;
    while (is_word(*reader->at)) reader->at++;
    return (struct str){begin, (uint32_t)(reader->at - begin)};
}

// An operand's code: capitals.
static struct str read_code(struct reader *reader) {
    const char *begin = reader->at;
    while (*reader->at >= 'A' && *reader->at <= 'Z') reader->at++;
    return (struct str){begin, (uint32_t)(reader->at - begin)};
}

static int64_t read_integer(struct reader *reader) {
    bool negative = take(reader, '-');
    int64_t value = 0;
    while (*reader->at >= '0' && *reader->at <= '9') value = value * 10 + (*reader->at++ - '0');
    return negative ? -value : value;
}

static struct isa_floor read_floor(struct reader *reader) {
    struct isa_floor floor = isa_floor_parse(reader->at);
    while (*reader->at != 0 && strchr(" |};", *reader->at) == NULL) reader->at++;
    return floor;
}

// `m64n*k16` stands for every N that wgmma has; `m64n#k32` for those of the integer shapes.
static bool shape_matches(struct str pattern, struct str text) {
    const char *star = memchr(pattern.data, '*', pattern.len);
    const char *hash = memchr(pattern.data, '#', pattern.len);
    const char *hole = star != NULL ? star : hash;
    if (hole == NULL) return str_eq(pattern, text);
    uint32_t head = (uint32_t)(hole - pattern.data), tail = pattern.len - head - 1;
    if (text.len <= head + tail || memcmp(text.data, pattern.data, head) != 0 ||
        memcmp(text.data + text.len - tail, hole + 1, tail) != 0)
        return false;
    uint32_t n = 0;
    for (uint32_t i = head; i < text.len - tail; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') return false;
        n = n * 10 + (uint32_t)(text.data[i] - '0');
    }
    return hash == NULL || n % 16 == 0 || n == 8 || n == 24;
}

static bool is_pattern(struct str word) {
    return memchr(word.data, '*', word.len) != NULL || memchr(word.data, '#', word.len) != NULL;
}

typedef VEC_OF(struct isa_choice) choice_list;

static void add_choice(struct arena *arena, choice_list *choices, enum isa_mod mod,
                       const struct isa_floor *floor) {
    assert(mod != MOD_UNKNOWN);
    struct isa_choice *choice = vec_push(arena, choices);
    choice->mod = (uint16_t)mod;
    choice->has_floor = floor != NULL;
    if (floor != NULL) choice->floor = *floor;
}

// ".word" or ".word/floor"
static void read_choice(struct reader *reader, choice_list *choices) {
    bool dotted = take(reader, '.');
    assert(dotted);
    (void)dotted;
    struct str word = read_word(reader);
    struct isa_floor floor;
    bool has_floor = take(reader, '/');
    if (has_floor) floor = read_floor(reader);
    if (!is_pattern(word)) {
        add_choice(reader->arena, choices, isa_mod_find(word), has_floor ? &floor : NULL);
        return;
    }
    for (int mod = 1; mod < MOD_COUNT; mod++)
        if (shape_matches(word, isa_mod_texts[mod]))
            add_choice(reader->arena, choices, (enum isa_mod)mod, has_floor ? &floor : NULL);
}

static enum isa_slot_order order_of(enum isa_mod mod) {
    struct str text = isa_mod_texts[mod];
    if (isa_mod_type(mod) != TYPE_NONE && mod != MOD_b8x16 &&
        mod != MOD_b1024) return SLOT_ORDER_TYPE;
    if (isa_mod_space(mod) != SPACE_NONE) return SLOT_ORDER_SPACE;
    if (mod == MOD_row || mod == MOD_col) return SLOT_ORDER_LAYOUT;
    if (str_starts(text, STR("L2::evict"))) return SLOT_ORDER_PRIORITY;
    if (mod == MOD_popc) return SLOT_ORDER_REDUCTION;
    if (mod == MOD_b8x16 || mod == MOD_b6x16_p32) return SLOT_ORDER_FORMAT;
    return SLOT_ORDER_FREE;
}

static void read_slot(struct reader *reader) {
    struct isa_instruction_row *row = reader->row;
    assert(row->slot_count < ISA_MAX_SLOTS);
    struct isa_slot *slot = &row->slots[row->slot_count++];
    choice_list choices = {NULL, 0, 0};
    slot->optional = take(reader, '?');
    if (*reader->at == '.') {
        read_choice(reader, &choices);
        slot->name = isa_mod_texts[choices.at[0].mod];
    } else {
        slot->name = read_word(reader);
        assert(reader->at[0] == '=' && reader->at[1] == '{');
        reader->at += 2;
        do read_choice(reader, &choices);
        while (take(reader, '|'));
        assert(*reader->at == '}');
        reader->at++;
    }
    slot->choice_count = (uint16_t)choices.n;
    slot->choices = choices.at;
    slot->order = (uint8_t)order_of((enum isa_mod)choices.at[0].mod);
}

static void read_modifiers(struct reader *reader, const char *text) {
    reader->at = text;
    for (skip_blanks(reader); *reader->at != 0; skip_blanks(reader)) read_slot(reader);
}

static void read_stem(struct reader *reader, const char *text) {
    reader->at = text;
    while (*reader->at != 0) {
        enum isa_mod mod = isa_mod_find(read_word(reader));
        assert(mod != MOD_UNKNOWN);
        reader->row->stem[reader->row->stem_count++] = (uint16_t)mod;
        take(reader, '.');
    }
}

static int8_t slot_index(const struct isa_instruction_row *row, struct str name) {
    for (int i = 0; i < row->slot_count; i++)
        if (str_eq(row->slots[i].name, name)) return (int8_t)i;
    return -1;
}

static enum isa_operand_code code_of(struct str word) {
    static const struct {
        const char *text;
        enum isa_operand_code code;
    } codes[] = {{"R", CODE_R}, {"W", CODE_W}, {"N", CODE_N}, {"X", CODE_X}, {"P", CODE_P},
                 {"M", CODE_M}, {"T", CODE_TENSOR}, {"IMAGE", CODE_IMAGE},
                 {"HANDLE", CODE_HANDLE}, {"LOD", CODE_LOD}, {"SCALEA", CODE_SCALE_A},
                 {"SCALEB", CODE_SCALE_B}, {"TMEM", CODE_TMEM}, {"TADDR", CODE_TADDR},
                 {"V", CODE_V}, {"I", CODE_I}, {"F", CODE_F},
                 {"SINK", CODE_SINK}, {"S", CODE_S}, {"D", CODE_D}, {"LABEL", CODE_LABEL},
                 {"TARGETS", CODE_TARGETS}, {"ANY", CODE_ANY}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (str_eq(str_from(codes[i].text), word)) return codes[i].code;
    assert(0 && "unknown operand code");
    return CODE_ANY;
}

// What stands in the parentheses of an address: a slot of state spaces or a state space.
static void read_space(struct reader *reader, struct isa_operand_pattern *operand) {
    struct str word = read_word(reader);
    operand->space_slot = slot_index(reader->row, word);
    if (operand->space_slot < 0) operand->space = (uint8_t)isa_space_find(word);
}

// "type", "wide type", "b32"
static void read_type(struct reader *reader, struct isa_operand_pattern *operand) {
    struct str word = read_word(reader);
    if (str_eq(word, STR("wide"))) {
        operand->widened = true;
        skip_blanks(reader);
        word = read_word(reader);
    }
    operand->type_slot = slot_index(reader->row, word);
    if (operand->type_slot >= 0) return;
    operand->type = (uint8_t)isa_type_find(word);
    assert(operand->type != TYPE_NONE);
}

static void read_count(struct reader *reader, struct isa_operand_pattern *operand) {
    if (*reader->at >= '0' && *reader->at <= '9') {
        operand->count_rule = COUNT_FIXED;
        operand->count = (uint16_t)read_integer(reader);
        return;
    }
    struct str word = read_word(reader);
    static const struct {
        const char *text;
        enum isa_count_rule rule;
    } rules[] = {{"X", COUNT_X}, {"A", COUNT_A}, {"B", COUNT_B}, {"C", COUNT_C}, {"D", COUNT_D},
                 {"OFFSETS", COUNT_OFFSETS},
                 {"COORDINATES", COUNT_COORDINATES}, {"ANY", COUNT_ANY}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (str_eq(str_from(rules[i].text), word)) {
            operand->count_rule = (uint8_t)rules[i].rule;
            return;
        }
    operand->count_rule = COUNT_SLOT;
    operand->count_slot = slot_index(reader->row, word);
}

static void read_arguments(struct reader *reader, struct isa_operand_pattern *operand) {
    if (!take(reader, '(')) return;
    if (operand->code == CODE_M) {
        read_space(reader, operand);
    } else {
        if (operand->code == CODE_V) {
            read_count(reader, operand);
            assert(*reader->at == ',');
            reader->at++;
        }
        read_type(reader, operand);
    }
    assert(*reader->at == ')');
    reader->at++;
}

// "{0..15}", "{4|8|16}", "{%16}", "{%8 24..256}", "{^}" (a power of two)
static void read_range(struct reader *reader, struct isa_operand_pattern *operand) {
    if (!take(reader, '{')) return;
    if (take(reader, '^')) {
        operand->range = RANGE_POWER;
    } else if (take(reader, '%')) {
        operand->range = RANGE_MULTIPLE;
        operand->values[operand->value_count++] = read_integer(reader);
        if (take(reader, ' ')) {
            operand->values[operand->value_count++] = read_integer(reader);
            reader->at += 2;
            operand->values[operand->value_count++] = read_integer(reader);
        }
    } else {
        operand->range = RANGE_SET;
        operand->values[operand->value_count++] = read_integer(reader);
        if (take(reader, '.')) {
            reader->at++;
            operand->range = RANGE_SPAN;
            operand->values[operand->value_count++] = read_integer(reader);
        }
        while (take(reader, '|')) operand->values[operand->value_count++] = read_integer(reader);
    }
    assert(*reader->at == '}');
    reader->at++;
}

static void read_suffixes(struct reader *reader, struct isa_operand_pattern *operand) {
    read_range(reader, operand);
    for (;;) {
        if (take(reader, '_')) operand->sink = true;
        else if (take(reader, '$')) operand->no_literal = true;
        else if (take(reader, '|')) operand->pair = take(reader, '?') ? 2 : 1, take(reader, 'P');
        else return;
    }
}

static void read_presence(struct reader *reader, struct isa_operand_pattern *operand) {
    if (!take(reader, '?')) return;
    if (take(reader, ':')) {
        operand->optional = true;
        return;
    }
    struct str name = read_word(reader);  // takes the colon and what follows it: give that back
    const char *colon = memchr(name.data, ':', name.len);
    assert(colon != NULL);
    reader->at = colon;
    name.len = (uint32_t)(colon - name.data);
    operand->if_slot = slot_index(reader->row, name);
    assert(operand->if_slot >= 0 && *reader->at == ':');
    reader->at++;
}

static void read_operand(struct reader *reader) {
    struct isa_instruction_row *row = reader->row;
    assert(row->operand_count < ISA_MAX_OPERANDS);
    struct isa_operand_pattern *operand = &row->operands[row->operand_count++];
    operand->if_slot = operand->type_slot = operand->space_slot = operand->count_slot = -1;
    read_presence(reader, operand);
    operand->destination = take(reader, '=');
    operand->negatable = take(reader, '!');
    operand->code = (uint8_t)code_of(read_code(reader));
    read_arguments(reader, operand);
    read_suffixes(reader, operand);
}

static void read_operands(struct reader *reader, const char *text) {
    reader->at = text;
    if (*text == 0) return;
    do {
        skip_blanks(reader);
        read_operand(reader);
    } while (take(reader, ','));
    assert(*reader->at == 0);
}

static void read_test(struct reader *reader, struct isa_test *test) {
    test->absent = take(reader, '-');
    test->slot = -1;
    if (*reader->at != '.') {
        test->slot = slot_index(reader->row, read_word(reader));
        assert(test->slot >= 0);
        if (!take(reader, '=')) return;
    }
    do {
        bool dotted = take(reader, '.');
        assert(dotted && test->mod_count < 8);
        (void)dotted;
        enum isa_mod mod = isa_mod_find(read_word(reader));
        assert(mod != MOD_UNKNOWN);
        test->mods[test->mod_count++] = (uint16_t)mod;
    } while (take(reader, '|'));
}

static void read_condition(struct reader *reader, struct isa_condition *condition) {
    condition->text = reader->at;
    for (skip_blanks(reader); reader->at[0] != '-' || reader->at[1] != '>'; skip_blanks(reader)) {
        assert(condition->test_count < 5);
        read_test(reader, &condition->tests[condition->test_count++]);
    }
    reader->at += 2;
    skip_blanks(reader);
    if (*reader->at == 'n') {
        condition->never = true;
        read_word(reader);
    } else {
        condition->floor = read_floor(reader);
    }
}

static void read_conditions(struct reader *reader, const char *text) {
    VEC_OF(struct isa_condition) conditions = {NULL, 0, 0};
    reader->at = text;
    if (*text == 0) return;
    do {
        read_condition(reader, vec_push(reader->arena, &conditions));
        skip_blanks(reader);
    } while (take(reader, ';'));
    assert(*reader->at == 0 && conditions.n < UINT8_MAX);
    reader->row->condition_count = (uint8_t)conditions.n;
    reader->row->conditions = conditions.at;
}

static void read_row(struct arena *arena, const struct row_text *text,
                     struct isa_instruction_row *row) {
    struct reader reader = {arena, text->stem, row};
    row->modifiers_text = text->modifiers;
    row->operands_text = text->operands;
    row->floor = isa_floor_parse(text->floor);
    read_stem(&reader, text->stem);
    read_modifiers(&reader, text->modifiers);
    read_operands(&reader, text->operands);
    read_conditions(&reader, text->conditions);
}

struct isa_instruction_rows isa_instruction_rows_read(struct arena *arena, enum isa_opcode opcode) {
    struct isa_instruction_rows rows = {0, NULL};
    for (int i = 0; i < ROW_COUNT; i++) rows.count += row_texts[i].opcode == opcode;
    rows.at = arena_array(arena, struct isa_instruction_row, rows.count);
    uint32_t n = 0;
    for (int i = 0; i < ROW_COUNT; i++)
        if (row_texts[i].opcode == opcode) read_row(arena, &row_texts[i], &rows.at[n++]);
    return rows;
}
