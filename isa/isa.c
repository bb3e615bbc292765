#include "isa/isa.h"

const struct isa_type_info isa_types[TYPE_COUNT] = {
    [TYPE_NONE] = {{"", 0}, 0, TYPE_CLASS_NONE},
#define TYPE(id, text, bits, class) [TYPE_##id] = {{text, sizeof(text) - 1}, bits, TYPE_CLASS_##class},
#include "isa/types.def"
};

const struct str isa_space_texts[SPACE_COUNT] = {
    [SPACE_NONE] = {"", 0},
#define SPACE(id, text) [SPACE_##id] = {text, sizeof(text) - 1},
#include "isa/spaces.def"
};

const struct str isa_opcode_texts[OP_COUNT] = {
    [OP_UNKNOWN] = {"", 0},
#define OPCODE(id) [OP_##id] = {#id, sizeof(#id) - 1},
#include "isa/opcodes.def"
};

const struct str isa_mod_texts[MOD_COUNT] = {
    [MOD_UNKNOWN] = {"", 0},
#define MODIFIER(id, text) [MOD_##id] = {text, sizeof(text) - 1},
#include "isa/modifiers.def"
};

const struct isa_sreg_info isa_sregs[SREG_COUNT] = {
#define SREG(id, text, type, width, version, target) \
    [SREG_##id] = {{text, sizeof(text) - 1}, TYPE_##type, width, version, target},
#include "isa/special_registers.def"
};

enum isa_sreg isa_sreg_find(struct str text) {
    for (int sreg = 0; sreg < SREG_COUNT; sreg++)
        if (str_eq(isa_sregs[sreg].text, text)) return (enum isa_sreg)sreg;
    return SREG_COUNT;
}

enum isa_type isa_type_find(struct str text) {
    for (int type = 1; type < TYPE_COUNT; type++)
        if (str_eq(isa_types[type].text, text)) return (enum isa_type)type;
    return TYPE_NONE;
}

// The rows of spaces, opcodes and modifiers, found by text. Opcodes and modifiers are sorted
// in byte order (a test holds them to it).
static int find_linear(const struct str *texts, int count, struct str text) {
    for (int i = 1; i < count; i++)
        if (str_eq(texts[i], text)) return i;
    return 0;
}

static int find_sorted(const struct str *texts, int count, struct str text) {
    int low = 1, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = str_compare(texts[middle], text);
        if (order == 0) return middle;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return 0;
}

enum isa_space isa_space_find(struct str text) {
    return (enum isa_space)find_linear(isa_space_texts, SPACE_COUNT, text);
}

enum isa_opcode isa_opcode_find(struct str text) {
    return (enum isa_opcode)find_sorted(isa_opcode_texts, OP_COUNT, text);
}

enum isa_mod isa_mod_find(struct str text) {
    return (enum isa_mod)find_sorted(isa_mod_texts, MOD_COUNT, text);
}

enum isa_type isa_mod_type(enum isa_mod mod) { return isa_type_find(isa_mod_texts[mod]); }

enum isa_space isa_mod_space(enum isa_mod mod) { return isa_space_find(isa_mod_texts[mod]); }

bool isa_form_has(const struct isa_form *form, enum isa_mod mod) {
    for (uint32_t i = 0; i < form->mod_count; i++)
        if (form->mods[i] == mod) return true;
    return false;
}

static bool is_word_byte(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == '$' || byte == '%' ||
           byte == ':' || byte == '.';
}

// The end of the comment that begins at `at`, or `at` when none begins there.
static uint32_t skip_comment(struct str text, uint32_t at) {
    if (at + 1 >= text.len || text.data[at] != '/') return at;
    if (text.data[at + 1] == '/') {
        while (at < text.len && text.data[at] != '\n') at++;
        return at;
    }
    if (text.data[at + 1] != '*') return at;
    for (at += 2; at + 1 < text.len; at++)
        if (text.data[at] == '*' && text.data[at + 1] == '/') return at + 2;
    return text.len;
}

static struct str canonical(struct arena *arena, struct str text) {
    uint32_t i = 0;
    while (i < text.len && is_word_byte(text.data[i])) i++;
    if (i == text.len) return text;
    char *data = arena_alloc(arena, (size_t)text.len + 1, 1);
    uint32_t len = 0;
    for (i = 0; i < text.len;) {
        uint32_t past = skip_comment(text, i);
        if (past != i) i = past;
        else if (is_word_byte(text.data[i])) data[len++] = text.data[i++];
        else i++;
    }
    data[len] = '\0';
    return (struct str){data, len};
}

static uint32_t count_dots(struct str text) {
    uint32_t dots = 0;
    for (uint32_t i = 0; i < text.len; i++) dots += text.data[i] == '.';
    return dots;
}

static void note_mod(struct isa_form *form, enum isa_mod mod) {
    enum isa_type type = isa_mod_type(mod);
    enum isa_space space = isa_mod_space(mod);
    if (type != TYPE_NONE) {
        if (form->type_count < 4) form->types[form->type_count] = (uint8_t)type;
        if (form->type_count < UINT8_MAX) form->type_count++;
    }
    if (space != SPACE_NONE) {
        if (form->space_count < 2) form->spaces[form->space_count] = (uint8_t)space;
        if (form->space_count < UINT8_MAX) form->space_count++;
    }
    if (mod == MOD_v2) form->vec = 2;
    if (mod == MOD_v4) form->vec = 4;
    if (mod == MOD_v8) form->vec = 8;
}

void isa_form_decode(struct arena *arena, struct str written, struct isa_form *form) {
    struct str text = canonical(arena, written);
    uint32_t count = count_dots(text);
    if (count > UINT16_MAX) count = UINT16_MAX;
    uint16_t *mods = arena_array(arena, uint16_t, count);
    struct str *texts = arena_array(arena, struct str, count);
    uint32_t at = 0;
    while (at < text.len && text.data[at] != '.') at++;
    *form = (struct isa_form){.text = text, .vec = 1, .mods = mods, .mod_texts = texts};
    form->opcode = (uint16_t)isa_opcode_find((struct str){text.data, at});
    while (at < text.len && form->mod_count < count) {
        uint32_t begin = ++at;
        while (at < text.len && text.data[at] != '.') at++;
        struct str word = {text.data + begin, at - begin};
        enum isa_mod mod = isa_mod_find(word);
        texts[form->mod_count] = word;
        mods[form->mod_count++] = (uint16_t)mod;
        note_mod(form, mod);
    }
}
