// How to use libptxvet: checks a PTX file, lists its kernels, judges a launch when one is given.
//
//   cc check.c $(pkg-config --cflags --libs ptxvet) -o check
//   ./check kernel.ptx 'k<<<64, 256>>>(ptr, 16384)'
#include <ptxvet/ptxvet.h>
#include <stdio.h>
#include <stdlib.h>

static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t capacity = 0, got;
    *size = 0;
    if (file == NULL) return NULL;
    do {
        if (*size == capacity) {
            char *more = realloc(text, capacity = capacity * 2 + 65536);
            if (more == NULL) break;
            text = more;
        }
        got = fread(text + *size, 1, capacity - *size, file);
        *size += got;
    } while (got != 0);
    fclose(file);
    return text;
}

static void show(const ptxvet_result *result) {
    static const char *const severities[] = {"note", "warning", "error"};
    for (size_t i = 0; i < ptxvet_finding_count(result); i++) {
        const ptxvet_finding *finding = ptxvet_finding_at(result, i);
        printf("%s:%u:%u: %s[%s] %s\n", finding->path ? finding->path : "-", finding->line,
               finding->column, severities[finding->severity], finding->code, finding->message);
        if (finding->help != NULL) printf("  help: %s\n", finding->help);
    }
    for (size_t k = 0; k < ptxvet_kernel_count(result); k++) {
        const ptxvet_kernel *kernel = ptxvet_kernel_at(result, k);
        printf("kernel %s: %zu parameters, %llu bytes\n", kernel->name, kernel->param_count,
               (unsigned long long)kernel->param_bytes);
        for (size_t p = 0; p < kernel->param_count; p++) {
            const ptxvet_param *param = ptxvet_param_at(result, k, p);
            printf("  %llu: %s, %llu bytes, %s\n", (unsigned long long)param->offset,
                   param->user_name ? param->user_name : param->name,
                   (unsigned long long)param->size, param->kind);
        }
    }
    const ptxvet_answer *answer = ptxvet_answer_of(result);
    if (answer != NULL)
        printf("the driver answers %s in phase %s\n",
               answer->result_name ? answer->result_name : "nothing certain", answer->phase);
}

int main(int argc, char **argv) {
    size_t size;
    ptxvet_result *result = NULL;
    if (argc < 2) return 2;
    char *text = read_file(argv[1], &size);
    ptxvet_context *context = ptxvet_context_new((size_t)1 << 30);
    if (text == NULL || context == NULL) return 2;
    ptxvet_status status = argc > 2 ? ptxvet_launch(context, argv[1], text, size, argv[2], &result)
                                    : ptxvet_check(context, argv[1], text, size, &result);
    if (result != NULL) show(result);
    ptxvet_context_free(context);
    free(text);
    return status == PTXVET_OK ? 0 : 2;
}
