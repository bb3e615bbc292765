#include "findings/fingerprint.h"

enum { LINE_MOST = 512 };

static uint64_t mix(uint64_t hash, unsigned char byte) {  // FNV-1a
    return (hash ^ byte) * 0x100000001b3u;
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%';
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// `%r12`, `$L__BB0_3`, `BB0_3`, `L_12`: what compilers number anew in each build.
static bool is_numbered(struct str word) {
    if (word.len == 0 || is_digit(word.data[0])) return false;
    if (word.data[0] == '%' || word.data[0] == '$') return true;
    return str_starts(word, STR("BB")) || str_starts(word, STR("L_")) ||
           str_starts(word, STR("LBB")) || str_starts(word, STR("tmp"));
}

static uint64_t mix_word(uint64_t hash, struct str word) {
    bool numbered = is_numbered(word);
    for (uint32_t i = 0; i < word.len; i++) {
        if (!numbered || !is_digit(word.data[i])) hash = mix(hash, (unsigned char)word.data[i]);
        else if (i == 0 || !is_digit(word.data[i - 1])) hash = mix(hash, '#');
    }
    return hash;
}

static uint64_t mix_text(uint64_t hash, struct str text) {
    bool blank = true;  // leading blanks and runs of them do not count
    for (uint32_t i = 0; i < text.len;) {
        uint32_t begin = i;
        while (i < text.len && is_word(text.data[i])) i++;
        if (i > begin) {
            hash = mix_word(hash, (struct str){text.data + begin, i - begin});
            blank = false;
            continue;
        }
        bool space = text.data[i] == ' ' || text.data[i] == '\t' || text.data[i] == '\r';
        if (!space) hash = mix(hash, (unsigned char)text.data[i]);
        else if (!blank) hash = mix(hash, ' ');
        blank = space;
        i++;
    }
    return mix(hash, 0);
}

uint64_t finding_fingerprint(const struct finding *finding, struct str path) {
    uint64_t hash = 0xcbf29ce484222325u;
    hash = mix_text(hash, str_from(rule_infos[finding->rule].code));
    for (uint32_t i = 0; i < path.len; i++) hash = mix(hash, (unsigned char)path.data[i]);
    hash = mix_text(mix(hash, 0), finding->kernel);
    hash = mix_text(hash, finding->message);
    hash = mix_text(hash, finding->deployment);
    struct source *source = finding->place.source;
    if (source == NULL) return hash;
    struct position at = source_position(source, finding->place.span.begin);
    struct str line = source_line(source, at.line);
    // On a line that is too long to be one statement, what follows the place stands for it.
    if (line.len > LINE_MOST) {
        uint32_t from = at.column - 1 < line.len ? at.column - 1 : line.len;
        line.data += from;
        line.len = line.len - from < LINE_MOST ? line.len - from : LINE_MOST;
    }
    return mix_text(hash, line);
}
