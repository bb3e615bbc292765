#include "cli/ptxas.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

extern char **environ;

// Runs `ptxas -v`, its two outputs into one pipe. 0, or an errno.
static int spawn(char *const *arguments, int *descriptor, pid_t *child) {
    int ends[2];
    posix_spawn_file_actions_t actions;
    if (pipe(ends) != 0) return errno;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    int trouble = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *descriptor = ends[0];
    if (trouble != 0) close(ends[0]);
    return trouble;
}

// "Compiling entry function 'k' for 'sm_90a'", and further down "Used 24 registers".
static bool read_registers(struct arena *arena, struct str said, struct str kernel,
                           uint64_t *registers) {
    struct str mark = str_format(arena, "entry function '%.*s' for", STR_ARG(kernel));
    const char *end = said.data + said.len;
    const char *at = memmem(said.data, said.len, mark.data, mark.len);
    if (at == NULL) return false;
    at = memmem(at, (size_t)(end - at), "Used ", 5);
    if (at == NULL) return false;
    char *after;
    *registers = strtoull(at + 5, &after, 10);
    return after > at + 5 && strncmp(after, " registers", 10) == 0;
}

bool ptxas_registers(struct str program, struct str path, struct str target, struct str kernel,
                     struct arena *arena, uint64_t *registers, struct str *error) {
    char *arguments[] = {(char *)(uintptr_t)str_copy(arena, program).data,
                         (char *)(uintptr_t)"-v",
                         (char *)(uintptr_t)str_format(arena, "-arch=%.*s", STR_ARG(target)).data,
                         (char *)(uintptr_t)str_copy(arena, path).data,
                         (char *)(uintptr_t)"-o", (char *)(uintptr_t)"/dev/null", NULL};
    int descriptor = -1, status = 0;
    pid_t child;
    struct str said = {NULL, 0};
    int trouble = spawn(arguments, &descriptor, &child);
    if (trouble == 0) {
        trouble = file_read_descriptor(descriptor, arena, &said);
        close(descriptor);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    }
    if (trouble != 0) {
        *error = str_format(arena, "cannot run %.*s: %s", STR_ARG(program), strerror(trouble));
        return false;
    }
    if (status == 0 && read_registers(arena, said, kernel, registers)) return true;
    uint32_t line = 0;
    while (line < said.len && said.data[line] != '\n') line++;
    *error = str_format(arena, "%.*s does not say the registers of %.*s: %.*s", STR_ARG(program),
                        STR_ARG(kernel), (int)line, said.data == NULL ? "" : said.data);
    return false;
}
