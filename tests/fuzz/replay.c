// Runs a fuzz target over files and over all files of folders, without a fuzzer.
#include <stdio.h>

#include "base/file.h"
#include "tests/fuzz/target.h"

static int count;

static bool run_file(struct arena *arena, const char *path) {
    struct str text;
    if (file_read(path, arena, &text) != 0) {
        printf("cannot read %s\n", path);
        return false;
    }
    LLVMFuzzerTestOneInput((const uint8_t *)text.data, text.len);
    count++;
    return true;
}

static bool run_path(struct arena *arena, const char *path) {
    struct file_names names = {0};
    bool good = true;
    if (!file_is_folder(path)) return run_file(arena, path);
    if (file_list(path, arena, &names) != 0) return false;
    for (uint32_t i = 0; i < names.list.n; i++) {
        struct str inner = str_format(arena, "%s/%.*s", path, STR_ARG(names.list.at[i]));
        good = run_path(arena, inner.data) && good;
    }
    return good;
}

int main(int argc, char **argv) {
    static struct memory memory;
    struct arena arena;
    static int unread;
    arena_init(&arena, &memory);
    if (setjmp(memory.edge) != 0) return 1;
    for (int i = 1; i < argc; i++) {
        unread += !run_path(&arena, argv[i]);
        arena_reset(&arena);
    }
    arena_destroy(&arena);
    printf("%d inputs\n", count);
    return unread == 0 && count > 0 ? 0 : 1;
}
