#include "cli/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// Permissions of a new file as open(2) would give them, or those of the file that it replaces.
static mode_t mode_for(const char *path) {
    struct stat status;
    if (stat(path, &status) == 0) return status.st_mode & 0777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static bool replaceable(const char *path) {
    struct stat status;
    return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

int whole_file_open(struct whole_file *file, struct arena *arena, struct str path) {
    *file = (struct whole_file){.path = str_copy(arena, path)};
    if (!replaceable(file->path.data)) {
        file->descriptor = open(file->path.data, O_WRONLY | O_CLOEXEC);
        return file->descriptor < 0 ? errno : 0;
    }
    // A link stays a link: what it points to is replaced.
    char *target = realpath(file->path.data, NULL);
    if (target != NULL) file->path = str_copy(arena, str_from(target));
    free(target);
    if (access(file->path.data, F_OK) == 0 && access(file->path.data, W_OK) != 0) return errno;
    struct str name = str_format(arena, "%s.XXXXXX", file->path.data);
    file->temporary = (char *)(uintptr_t)name.data;
    file->descriptor = mkstemp(file->temporary);
    if (file->descriptor < 0) return errno;
    if (fchmod(file->descriptor, mode_for(file->path.data)) == 0) return 0;
    int trouble = errno;
    whole_file_drop(file);
    return trouble;
}

void whole_file_drop(struct whole_file *file) {
    if (file->descriptor >= 0) close(file->descriptor);
    file->descriptor = -1;
    if (file->temporary != NULL) unlink(file->temporary);
}

int whole_file_keep(struct whole_file *file) {
    int descriptor = file->descriptor;
    file->descriptor = -1;
    bool good = close(descriptor) == 0 &&
                (file->temporary == NULL || rename(file->temporary, file->path.data) == 0);
    int trouble = good ? 0 : errno;
    if (!good) whole_file_drop(file);
    return trouble;
}
