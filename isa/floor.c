#include "isa/floor.h"

#include <assert.h>

// Number and suffix of each special target, from its name.
static const struct str special_texts[SPECIAL_TARGET_COUNT] = {
#define SPECIAL_TARGET(id) {#id, sizeof(#id) - 1},
#include "isa/special_targets.def"
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static uint16_t read_number(const char **at, const char *end) {
    uint32_t number = 0;
    while (*at < end && is_digit(**at) && number < 6000)
        number = number * 10 + (uint32_t)(*(*at)++ - '0');
    return (uint16_t)number;
}

// "90a" -> {90, 'a'}
static struct isa_target parse_arch(const char *at, const char *end) {
    struct isa_target target = {0, 0};
    uint16_t number = read_number(&at, end);
    if (at < end && (*at == 'a' || *at == 'f')) target.suffix = *at++;
    if (at == end) target.number = number;
    return target;
}

struct isa_target isa_target_parse(struct str text) {
    static const struct str prefixes[] = {{"sm_", 3}, {"compute_", 8}};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (str_starts(text, prefixes[i]))
            return parse_arch(text.data + prefixes[i].len, text.data + text.len);
    return (struct isa_target){0, 0};
}

static uint32_t special_bit(struct isa_target target) {
    for (uint32_t i = 0; i < SPECIAL_TARGET_COUNT; i++) {
        struct isa_target one =
            parse_arch(special_texts[i].data, special_texts[i].data + special_texts[i].len);
        if (one.number == target.number && one.suffix == target.suffix) return 1u << i;
    }
    return 0;
}

bool isa_floor_has_target(const struct isa_floor *floor, struct isa_target target) {
    if (floor->target != 0) return target.number >= floor->target;
    return target.suffix != 0 && (floor->listed & special_bit(target)) != 0;
}

uint16_t isa_floor_version_for(const struct isa_floor *floor, struct isa_target target) {
    bool late = target.number < floor->late_target && floor->late_version > floor->version;
    return late ? floor->late_version : floor->version;
}

bool isa_floor_removed(const struct isa_floor *floor, uint16_t version, struct isa_target target) {
    return floor->last_version != 0 && target.number >= floor->last_target &&
           version > floor->last_version;
}

bool isa_floor_met(const struct isa_floor *floor, uint16_t version, struct isa_target target) {
    return isa_floor_has_target(floor, target) &&
           version >= isa_floor_version_for(floor, target) &&
           !isa_floor_removed(floor, version, target);
}

// The special targets of `number` and more.
static uint32_t specials_from(uint16_t number) {
    uint32_t set = 0;
    for (uint32_t i = 0; i < SPECIAL_TARGET_COUNT; i++) {
        struct str text = special_texts[i];
        if (parse_arch(text.data, text.data + text.len).number >= number) set |= 1u << i;
    }
    return set;
}

static void both_targets(struct isa_floor *out, struct isa_floor a, struct isa_floor b) {
    if (a.target != 0 && b.target != 0) {
        out->target = a.target > b.target ? a.target : b.target;
        out->listed = 0;
        return;
    }
    out->target = 0;
    out->listed = (a.target != 0 ? specials_from(a.target) : a.listed) &
                  (b.target != 0 ? specials_from(b.target) : b.listed);
}

struct isa_floor isa_floor_both(struct isa_floor a, struct isa_floor b) {
    struct isa_floor out = a;
    if (b.version > out.version) out.version = b.version;
    both_targets(&out, a, b);
    if (out.last_version == 0 || (b.last_version != 0 && b.last_version < out.last_version)) {
        out.last_version = b.last_version;
        out.last_target = b.last_target;
    }
    if (b.late_version > out.late_version) {
        out.late_version = b.late_version;
        out.late_target = b.late_target;
    }
    return out;
}

static struct str target_name(struct arena *arena, uint32_t special) {
    return str_format(arena, "sm_%.*s", STR_ARG(special_texts[special]));
}

struct str isa_floor_targets_text(struct arena *arena, const struct isa_floor *floor) {
    if (floor->target != 0) return str_format(arena, "sm_%u or higher", (unsigned)floor->target);
    struct str text = {NULL, 0};
    uint32_t named = 0, total = (uint32_t)__builtin_popcount(floor->listed);
    for (uint32_t i = 0; i < SPECIAL_TARGET_COUNT && named < 3; i++) {
        if (!(floor->listed >> i & 1)) continue;
        named++;
        struct str name = target_name(arena, i);
        bool last = named == total;
        text = named == 1 ? name
                          : str_format(arena, "%.*s%s%.*s", STR_ARG(text), last ? " or " : ", ",
                                       STR_ARG(name));
    }
    if (total > named)
        text = str_format(arena, "%.*s or %u others", STR_ARG(text), (unsigned)(total - named));
    return text;
}

struct str isa_floor_least_target(struct arena *arena, const struct isa_floor *floor) {
    if (floor->target != 0) return str_format(arena, "sm_%u", (unsigned)floor->target);
    for (uint32_t i = 0; i < SPECIAL_TARGET_COUNT; i++)
        if (floor->listed >> i & 1) return target_name(arena, i);
    return (struct str){NULL, 0};
}

static bool at_end(char c) { return c == 0 || c == ' ' || c == '|' || c == '}' || c == ';'; }

static uint16_t parse_version(const char **at) {
    const char *end = *at + 8;
    uint16_t major = read_number(at, end);
    assert(**at == '.');
    ++*at;
    return (uint16_t)(major * 10 + read_number(at, end));
}

// The least version of a floor: 1.4 stands for 1.4 or less, unless marked.
static uint16_t parse_least_version(const char **at) {
    uint16_t version = parse_version(at);
    bool exact = **at == '!';
    if (exact) ++*at;
    return version == 14 && !exact ? 10 : version;
}

static const char *parse_listed(struct isa_floor *floor, const char *at) {
    while (*at != '@') {
        const char *end = at;
        while (*end != ',' && *end != '@') end++;
        uint32_t bit = special_bit(parse_arch(at, end));
        assert(bit != 0);
        floor->listed |= bit;
        at = *end == ',' ? end + 1 : end;
    }
    return at;
}

struct isa_floor isa_floor_parse(const char *text) {
    struct isa_floor floor = {10, 0, 0, 0, 0, 0, 0};
    const char *at = text;
    if (strncmp(at, "sm_", 3) == 0) {
        at += 3;
        floor.target = read_number(&at, at + 4);
    } else {
        at = parse_listed(&floor, at);
    }
    assert(*at == '@');
    at++;
    floor.version = parse_least_version(&at);
    while (!at_end(*at)) {
        bool last = strncmp(at, "<=", 2) == 0;
        assert(last || *at == '+');
        at += last ? 2 : 1;
        uint16_t version = parse_version(&at);
        assert(*at == '/');
        at++;
        uint16_t target = read_number(&at, at + 4);
        if (last) floor.last_version = version, floor.last_target = target;
        else floor.late_version = version, floor.late_target = target;
    }
    return floor;
}
