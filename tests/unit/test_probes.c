// The probes of tests/front/probes.txt: what ptxas accepts has no error finding, and what it refuses to
// read, or whose names it does not find, has one, on the line that ptxas names or before it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "parser/parser.h"

static const char header[] = ".version 9.0\n.target sm_90\n.address_size 64\n";
static const char kernel_head[] = ".visible .entry k(.param .u32 x)\n{\n.reg .b32 a,b; .reg .b64 d; "
                                  ".reg .pred p; .reg .b32 r<5>;\n";
static const char kernel_tail[] = "\nret;\n}\n";

struct probe {
    char kind[8], name[64], verdict[16], text[512];
    int line;       // of the verdict
    bool differs;   // a line `! reason` says why ptxvet answers otherwise
};

static int hex_digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

static char unescape_one(const char **at) {
    char c = *(*at)++;
    if (c != '\\') return c;
    c = *(*at)++;
    switch (c) {
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'f': return '\f';
    case 'v': return '\v';
    case 'x':
        *at += 2;
        return (char)(hex_digit((*at)[-2]) * 16 + hex_digit((*at)[-1]));
    default: return c;
    }
}

static uint32_t whole(const struct probe *probe, char *out) {
    char *to = out;
    bool body = probe->kind[0] == 'b', module = probe->kind[0] == 'm';
    if (body || module) to += sprintf(to, "%s", header);
    if (body) to += sprintf(to, "%s", kernel_head);
    for (const char *at = probe->text; *at != '\0';) *to++ = unescape_one(&at);
    if (module) to += sprintf(to, "\n%s", kernel_head);
    if (body || module) to += sprintf(to, "%s", kernel_tail);
    *to = '\0';
    return (uint32_t)(to - out);
}

// The line of the first error, 0 when there is none.
static uint32_t first_error(const struct probe *probe, struct str *message) {
    static char text[2048];
    static struct memory memory;
    struct arena arena;
    struct source source;
    struct findings findings;
    struct module *module;
    struct parse_options options = {0};
    memset(&memory, 0, sizeof memory);
    if (setjmp(memory.edge)) return 0;
    arena_init(&arena, &memory);
    source_init(&source, &arena, str_from(probe->name), text, whole(probe, text));
    findings_init(&findings, &arena, 0);
    assert_int_equal(parse_module(&source, &arena, &arena, &options, &findings, &module), PARSE_DONE);
    uint32_t line = 0;
    for (uint32_t i = 0; i < findings.list.n; i++) {
        struct finding *finding = findings.list.at[i];
        uint32_t here = source_position(&source, finding->place.span.begin).line;
        if (line == 0 || here < line) {
            static char copy[256];
            line = here;
            message->len = (uint32_t)snprintf(copy, sizeof copy, "%.*s", STR_ARG(finding->message));
            message->data = copy;
        }
    }
    arena_destroy(&arena);
    return line;
}

static bool agrees(const struct probe *probe) {
    struct str message = {"nothing", 7};
    uint32_t line = first_error(probe, &message);
    bool refused = strcmp(probe->verdict, "syntax") == 0 || strcmp(probe->verdict, "symbol") == 0;
    bool accepted = strcmp(probe->verdict, "ok") == 0;
    bool same = accepted ? line == 0 : !refused || line != 0;
    if (strcmp(probe->verdict, "syntax") == 0 && (int)line > probe->line) same = false;
    if (same != probe->differs) return true;
    printf("%s %s: ptxas says %s %d, the parser %.*s (line %u)%s\n", probe->kind, probe->name,
           probe->verdict, probe->line, STR_ARG(message), line,
           probe->differs ? ": they agree, drop the `!` line" : "");
    return false;
}

static bool read_probe(const char *line, struct probe *probe) {
    int at = 0;
    if (sscanf(line, "%7s %63[^:]:%n", probe->kind, probe->name, &at) != 2 || at == 0) return false;
    if (line[at] == ' ') at++;
    snprintf(probe->text, sizeof probe->text, "%s", line + at);
    probe->text[strcspn(probe->text, "\n")] = '\0';
    return true;
}

static void test_probes(void **state) {
    (void)state;
    FILE *file = fopen(PTXVET_SOURCE_DIR "/tests/front/probes.txt", "r");
    assert_non_null(file);
    char line[1024];
    struct probe probe = {0};
    int count = 0, wrong = 0;
    for (bool more = true; more;) {
        more = fgets(line, sizeof line, file) != NULL;
        if (more && line[0] == '#') continue;
        if (more && line[0] == '=') {
            probe.line = 0;
            sscanf(line, "= %15s %d", probe.verdict, &probe.line);
        } else if (more && line[0] == '!') probe.differs = true;
        else {
            if (probe.name[0] != '\0') count++;
            if (probe.name[0] != '\0' && !agrees(&probe)) wrong++;
            memset(&probe, 0, sizeof probe);
            if (more) assert_true(read_probe(line, &probe));
        }
    }
    fclose(file);
    printf("%d probes, %d disagree\n", count, wrong);
    assert_true(count > 400);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_probes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
