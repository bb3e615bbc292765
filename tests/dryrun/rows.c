// Dry-runs launches for tests and benchmarks, without a judge: lines of `FILE<tab>LAUNCH` on standard
// input, one line of results each. rows [--threads N] [--portable] [--budget S] [--uses] [--faults]
// [--findings] [--times]
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analyzer/facts/dryrun/dryrun.h"
#include "analyzer/launch/contents.h"
#include "analyzer/launch/launch.h"
#include "analyzer/rules/memory.h"
#include "parser/parser.h"

struct settings {
    uint32_t threads;
    bool portable, uses, faults, times, findings;
    double budget;
};

static char *read_file(const char *path, uint32_t *size) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char *text = malloc((size_t)length + 1);
    *size = (uint32_t)fread(text, 1, (size_t)length, file);
    text[*size] = '\0';
    fclose(file);
    return text;
}

static struct dryrun_arg convert(struct arena *arena, const struct argument *argument) {
    struct dryrun_arg arg = {.kind = DRYRUN_ARG_UNKNOWN, .align = argument->align};
    double number = argument->number;
    switch ((enum argument_kind)argument->kind) {
    case ARGUMENT_BUFFER:
        arg.kind = DRYRUN_ARG_BUFFER;
        arg.size = argument->size;
        if (argument->contents == CONTENTS_UNKNOWN || argument->contents == CONTENTS_FILE) break;
        uint8_t *bytes = arena_array(arena, uint8_t, argument->size + 1);
        contents_fill((enum contents)argument->contents, (enum isa_type)argument->type, 1, 0, bytes, argument->size);
        arg.contents = bytes;
        arg.contents_size = argument->size;
        break;
    case ARGUMENT_POINTER: arg.kind = DRYRUN_ARG_POINTER; break;
    case ARGUMENT_NULL: arg.kind = DRYRUN_ARG_NULL; break;
    case ARGUMENT_HOST: arg.kind = DRYRUN_ARG_HOST; break;
    case ARGUMENT_INT:
        arg.kind = DRYRUN_ARG_VALUE;
        arg.value = argument->negative ? 0 - argument->magnitude : argument->magnitude;
        break;
    case ARGUMENT_TYPED: arg.kind = DRYRUN_ARG_VALUE; arg.value = argument->bits; break;
    case ARGUMENT_FLOAT: arg.kind = DRYRUN_ARG_VALUE; memcpy(&arg.value, &number, 8); break;
    default: break;
    }
    return arg;
}

static void print_uses(const struct dryrun_result *result) {
    for (uint32_t i = 0; i < result->uses.n; i++) {
        const struct dryrun_use *use = &result->uses.at[i];
        if (!use->read && !use->written) continue;
        printf("\tuse %d needs %llu@%u%s", (int)use->param, (unsigned long long)use->size_needed, use->align_needed,
               use->exact ? "" : "?");
    }
}

static void print_faults(const struct dryrun_result *result) {
    for (uint32_t i = 0; i < result->faults.n; i++) {
        const struct dryrun_fault *f = &result->faults.at[i];
        printf("\tfault kind %d insn %u:%u param %d offset %lld width %u size %lld furthest %lld block %u,%u,%u thread %u,%u,%u"
               " threads %llu %s%s%s result %d", f->kind, f->function, f->instruction, (int)f->param,
               (long long)f->byte_offset, f->width, (long long)f->size, (long long)f->furthest, f->ctaid[0], f->ctaid[1], f->ctaid[2],
               f->tid[0], f->tid[1], f->tid[2], (unsigned long long)f->threads, confidence_text((enum confidence)f->confidence),
               f->silent ? " silent" : "", f->removable ? " removable" : "", f->result);
    }
}

static void print_findings(const struct dryrun_request *request, const struct dryrun_result *result,
                           const struct launch *launch, struct arena *arena) {
    struct findings findings;
    findings_init(&findings, arena, 0);
    memory_findings(request, result, launch, &findings);
    for (uint32_t i = 0; i < findings.list.n; i++) {
        const struct finding *f = findings.list.at[i];
        printf("  %s %s %.*s | %.*s | %.*s\n", severity_text((enum severity)f->severity), rule_infos[f->rule].code,
               STR_ARG(f->message), STR_ARG(f->caption), STR_ARG(f->help));
        for (uint32_t n = 0; n < f->notes.n; n++) printf("      note %.*s\n", STR_ARG(f->notes.at[n]));
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void run_row(const struct settings *settings, const char *path, const char *text) {
    struct memory memory = {0};
    struct arena arena;
    uint32_t size = 0;
    char *ptx = read_file(path, &size);
    if (ptx == NULL || setjmp(memory.edge) != 0) {
        printf("unreadable\n");
        return;
    }
    arena_init(&arena, &memory);
    struct source source, line;
    struct findings findings;
    struct module *module = NULL;
    struct module_facts facts;
    struct launch launch;
    struct launch_names names = {0};
    findings_init(&findings, &arena, 1000);
    source_init(&source, &arena, str_from(path), ptx, size);
    (void)parse_module(&source, &arena, &arena, &(struct parse_options){0}, &findings, &module);
    facts_compute(module, &arena, &facts);
    source_init(&line, &arena, STR("launch"), text, (uint32_t)strlen(text));
    struct kernel *kernel = NULL;
    if (launch_parse(&line, &arena, &names, &findings, &launch)) kernel = facts_kernel(&facts, launch.kernel);
    if (kernel == NULL) {
        printf("nokernel\n");
    } else {
        struct dryrun_request request = {.module = module, .kernel = kernel, .shared_dynamic = launch.shared,
            .shared_dynamic_known = launch.has_shared, .budget = settings->budget, .threads = settings->threads,
            .no_simd = settings->portable, .cooperative = launch.cooperative};
        struct dryrun_arg *args = arena_array(&arena, struct dryrun_arg, kernel->params.n + 1);
        for (uint32_t i = 0; i < launch.arguments.n && i < kernel->params.n; i++)
            args[i] = convert(&arena, &launch.arguments.at[i]);
        if (launch.packed && launch.has_packed_size)
            for (uint32_t i = 0; i < kernel->params.n; i++)
                if (kernel->params.at[i].offset + kernel->params.at[i].size > launch.packed_size)
                    args[i] = (struct dryrun_arg){.kind = DRYRUN_ARG_NULL};
        for (int i = 0; i < 3; i++) {
            request.grid[i] = (uint32_t)launch.grid[i];
            request.block[i] = (uint32_t)launch.block[i];
            request.cluster[i] = launch.has_cluster ? (uint32_t)launch.cluster[i]
                                 : kernel->has_reqnctapercluster ? (uint32_t)kernel->reqnctapercluster[i] : 1;
        }
        request.args = args;
        struct dryrun_result result;
        double start = now();
        dryrun(&request, &arena, &result);
        double took = now() - start;
        printf("%s\talso %s\t%s\tblocks %llu/%llu\tunknown %llu\teffects %llu\tstopped %s", result_text(result.result),
               result.also ? result_text(result.also) : "-", confidence_text((enum confidence)result.confidence),
               (unsigned long long)result.blocks_run, (unsigned long long)result.blocks,
               (unsigned long long)result.unknown_addresses, (unsigned long long)result.unknown_effects,
               result.stopped ? result.stopped : "-");
        if (settings->times)
            printf("\tms %.3f\tlane-instructions %llu\tper second %.3g", took * 1e3,
                   (unsigned long long)result.lane_instructions, (double)result.lane_instructions / took);
        if (settings->uses) print_uses(&result);
        if (settings->faults) print_faults(&result);
        printf("\n");
        if (settings->findings) print_findings(&request, &result, &launch, &arena);
    }
    fflush(stdout);
    arena_destroy(&arena);
    free(ptx);
}

int main(int argc, char **argv) {
    struct settings settings = {.threads = 1, .budget = 10};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc) settings.threads = (uint32_t)atoi(argv[++i]);
        else if (strcmp(argv[i], "--budget") == 0 && i + 1 < argc) settings.budget = atof(argv[++i]);
        else if (strcmp(argv[i], "--portable") == 0) settings.portable = true;
        else if (strcmp(argv[i], "--uses") == 0) settings.uses = true;
        else if (strcmp(argv[i], "--faults") == 0) settings.faults = true;
        else if (strcmp(argv[i], "--findings") == 0) settings.findings = true;
        else if (strcmp(argv[i], "--times") == 0) settings.times = true;
        else return 2;
    }
    static char line[1 << 20];
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *launch = strchr(line, '\t');
        if (launch == NULL) continue;
        *launch++ = '\0';
        run_row(&settings, line, launch);
    }
    return 0;
}
