// How fast PTX is read, beside the assembler and the plain tools, in one run: tests/bench/README.md.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/rules/check.h"
#include "lexer/lexer.h"

struct input {
    const char *path, *text;  // text: mapped, with a NUL behind it
    uint32_t size;
};

struct row {
    const char *what;
    double cpu, wall;      // seconds, the least of the rounds
    double memory;         // bytes beyond the mapped text; 0: not measured
    bool present;
};

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double time_value(struct timeval time) { return (double)time.tv_sec + 1e-6 * (double)time.tv_usec; }

static bool map_input(const char *path, struct input *input) {
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &status) != 0 || status.st_size >= UINT32_MAX) {
        fprintf(stderr, "cannot read %s: %s\n", path, strerror(errno));
        return false;
    }
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (size_t)status.st_size;
    char *map = mmap(NULL, (size / page + 2) * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return false;
    if (size != 0 &&
        mmap(map, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, descriptor, 0) == MAP_FAILED)
        return false;
    close(descriptor);
    *input = (struct input){path, map, (uint32_t)size};
    return true;
}

// ---- ours, in this process --------------------------------------------------------------------

static void run_lex(const struct input *input) {
    struct lexer lexer;
    lex_init(&lexer, input->text, input->size);
    while (lex_next(&lexer).kind != TOK_END) continue;
}

static void let_go(void *context, struct module *module, uint32_t function) {
    (void)context;
    (void)module;
    (void)function;
}

enum reading { READ_SIGNATURES, READ_PARSE, READ_CHECK };

static size_t run_reading(const struct input *input, enum reading reading) {
    static struct memory memory;
    static struct arena arena, bodies;
    struct source source;
    struct findings findings;
    struct module *module;
    struct parse_options options = {.signatures_only = reading == READ_SIGNATURES,
                                    .function_done = let_go};
    memset(&memory, 0, sizeof memory);
    if (setjmp(memory.edge) != 0) exit(2);
    arena_init(&arena, &memory);
    arena_init(&bodies, &memory);
    source_init(&source, &arena, str_from(input->path), input->text, input->size);
    findings_init(&findings, &arena, 1000);
    if (reading == READ_CHECK) check_source(&source, &arena, &bodies, NULL, &findings, &module);
    else parse_module(&source, &arena, &bodies, &options, &findings, &module);
    size_t peak = memory.peak;
    arena_destroy(&bodies);
    arena_destroy(&arena);
    return peak;
}

static void least(double *value, double now) {
    if (*value == 0 || now < *value) *value = now;
}

static void measure_here(struct row *row, const struct input *input, int which) {
    double cpu = seconds(CLOCK_THREAD_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
    if (which < 0) run_lex(input);
    else row->memory = (double)run_reading(input, (enum reading)which);
    least(&row->cpu, seconds(CLOCK_THREAD_CPUTIME_ID) - cpu);
    least(&row->wall, seconds(CLOCK_MONOTONIC) - wall);
    row->present = true;
}

// ---- programs ---------------------------------------------------------------------------------

static bool run_program(char *const argv[], struct rusage *usage) {
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) return false;
    if (child == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, 1);
        dup2(null, 2);
        execvp(argv[0], argv);
        _exit(127);
    }
    int status;
    return wait4(child, &status, 0, usage) == child && WIFEXITED(status) && WEXITSTATUS(status) < 2;
}

// The resident memory of a program that maps the text holds the text too.
static void measure_program(struct row *row, char *const argv[], double mapped) {
    struct rusage usage;
    double wall = seconds(CLOCK_MONOTONIC);
    if (!run_program(argv, &usage)) return;
    least(&row->wall, seconds(CLOCK_MONOTONIC) - wall);
    least(&row->cpu, time_value(usage.ru_utime) + time_value(usage.ru_stime));
    row->memory = (double)usage.ru_maxrss * 1024 - mapped;
    row->present = true;
}

enum { ROW_LEX, ROW_PARSE, ROW_CHECK, ROW_SIGNATURES, ROW_SIGNATURES_PROCESS, ROW_PTXVET,
       ROW_PTXVET_2, ROW_PTXAS, ROW_GREP, ROW_WC, ROWS };

struct bench {
    char *self, *ptxvet;
    int rounds;
    FILE *json;
    bool first;
};

#define ARGV(...) ((char *[]){__VA_ARGS__, NULL})

static void measure_round(const struct bench *bench, struct row *rows, struct input *input, int round) {
    char *path = (char *)(uintptr_t)input->path;
    double size = (double)input->size;
    measure_here(&rows[ROW_LEX], input, -1);
    measure_here(&rows[ROW_PARSE], input, READ_PARSE);
    measure_here(&rows[ROW_CHECK], input, READ_CHECK);
    measure_here(&rows[ROW_SIGNATURES], input, READ_SIGNATURES);
    measure_program(&rows[ROW_SIGNATURES_PROCESS], ARGV(bench->self, "--signatures", path), size);
    if (bench->ptxvet != NULL) {
        measure_program(&rows[ROW_PTXVET], ARGV(bench->ptxvet, "check", "-q", "-j1", path), size);
        measure_program(&rows[ROW_PTXVET_2], ARGV(bench->ptxvet, "check", "-q", "-j2", path), size);
    }
    measure_program(&rows[ROW_GREP], ARGV("grep", "-c", ".entry", path), 0);
    measure_program(&rows[ROW_WC], ARGV("wc", "-l", path), 0);
    if (round == 0)
        measure_program(&rows[ROW_PTXAS], ARGV("ptxas", "-arch=compute_80", "-o", "/dev/null", path), 0);
}

static void print_rows(struct bench *bench, const struct row *rows, const struct input *input) {
    double size = (double)input->size;
    printf("%s: %.1f MB\n%-34s %10s %10s %10s %12s\n", input->path, size / 1e6, "", "MB/s CPU",
           "CPU ms", "wall ms", "memory MB");
    if (bench->json != NULL)
        fprintf(bench->json, "%s{\"file\":\"%s\",\"bytes\":%u,\"rows\":[", bench->first ? "" : ",",
                input->path, input->size);
    const char *comma = "";
    for (int i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        if (!row->present) {
            printf("%-34s not found or refused\n", row->what);
            continue;
        }
        printf("%-34s %10.0f %10.1f %10.1f %12.1f\n", row->what, size / 1e6 / row->cpu,
               row->cpu * 1e3, row->wall * 1e3, row->memory / 1e6);
        if (bench->json != NULL)
            fprintf(bench->json, "%s{\"what\":\"%s\",\"cpuSeconds\":%.6f,\"wallSeconds\":%.6f,\"memoryBytes\":%.0f}",
                    comma, row->what, row->cpu, row->wall, row->memory);
        comma = ",";
    }
    if (bench->json != NULL) fprintf(bench->json, "]}");
    bench->first = false;
}

static void measure_file(struct bench *bench, const char *path) {
    struct row rows[ROWS] = {
        [ROW_LEX] = {.what = "lex"},
        [ROW_PARSE] = {.what = "parse, streamed"},
        [ROW_CHECK] = {.what = "check, streamed"},
        [ROW_SIGNATURES] = {.what = "signatures only"},
        [ROW_SIGNATURES_PROCESS] = {.what = "signatures only, whole process"},
        [ROW_PTXVET] = {.what = "ptxvet check -j1, whole process"},
        [ROW_PTXVET_2] = {.what = "ptxvet check -j2, whole process"},
        [ROW_PTXAS] = {.what = "ptxas -arch=compute_80"},
        [ROW_GREP] = {.what = "grep -c .entry"},
        [ROW_WC] = {.what = "wc -l"}};
    struct input input;
    if (!map_input(path, &input)) return;
    for (int round = 0; round < bench->rounds; round++) measure_round(bench, rows, &input, round);
    print_rows(bench, rows, &input);
}

static int usage(void) {
    fprintf(stderr, "usage: bench [--rounds N] [--json PATH] [--ptxvet PROGRAM] FILE...\n");
    return 2;
}

int main(int argc, char **argv) {
    struct bench bench = {.self = argv[0], .rounds = 5, .first = true};
    bench.ptxvet = getenv("PTXVET");
    int i = 1;
    if (argc == 3 && strcmp(argv[1], "--signatures") == 0) {
        struct input input;
        if (!map_input(argv[2], &input)) return 2;
        run_reading(&input, READ_SIGNATURES);
        return 0;
    }
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        if (strcmp(argv[i], "--rounds") == 0) bench.rounds = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--json") == 0) bench.json = fopen(argv[i + 1], "w");
        else if (strcmp(argv[i], "--ptxvet") == 0) bench.ptxvet = argv[i + 1];
        else return usage();
    }
    if (i >= argc || bench.rounds < 1) return usage();
    double load[3] = {0, 0, 0};
    if (getloadavg(load, 3) > 0) printf("load %.1f, %ld processors\n", load[0], sysconf(_SC_NPROCESSORS_ONLN));
    if (bench.json != NULL) fprintf(bench.json, "{\"load\":%.2f,\"files\":[", load[0]);
    for (; i < argc; i++) measure_file(&bench, argv[i]);
    if (bench.json != NULL) {
        fprintf(bench.json, "]}\n");
        fclose(bench.json);
    }
    return 0;
}
