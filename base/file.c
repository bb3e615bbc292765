#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGEST_FILE (UINT32_MAX - 1u)

// What fstat says is a first guess: pipes say 0, and files may grow.
static size_t first_size(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) != 0 || status.st_size < 4096) return 4096;
    return (uint64_t)status.st_size > LARGEST_FILE ? LARGEST_FILE : (size_t)status.st_size;
}

int file_read_descriptor(int descriptor, struct arena *arena, struct str *text) {
    size_t capacity = first_size(descriptor) + 1, size = 0;
    char *data = arena_alloc(arena, capacity, 1);
    for (;;) {
        if (size + 1 == capacity) {
            size_t larger = capacity * 2;
            data = arena_grow(arena, data, capacity, larger, 1);
            capacity = larger;
        }
        ssize_t got = read(descriptor, data + size, capacity - 1 - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        if (got == 0) break;
        size += (size_t)got;
        if (size > LARGEST_FILE) return EFBIG;
    }
    data[size] = 0;
    *text = (struct str){data, (uint32_t)size};
    return 0;
}

int file_read(const char *path, struct arena *arena, struct str *text) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return errno;
    struct stat status;
    int error = 0;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
        (uint64_t)status.st_size > LARGEST_FILE)
        error = EFBIG;
    else
        error = file_read_descriptor(descriptor, arena, text);
    close(descriptor);
    return error;
}

bool file_is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int compare_names(const void *a, const void *b) {
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

int file_list(const char *path, struct arena *arena, struct file_names *names) {
    memset(names, 0, sizeof *names);
    DIR *folder = opendir(path);
    if (folder == NULL) return errno;
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(folder);
        if (entry == NULL) break;
        if (entry->d_name[0] == '.') continue;
        *vec_push(arena, &names->list) = str_copy(arena, str_from(entry->d_name));
    }
    int error = errno;
    closedir(folder);
    if (names->list.n > 1)
        qsort(names->list.at, names->list.n, sizeof names->list.at[0], compare_names);
    return error;
}

struct str path_folder(struct str path) {
    while (path.len > 0 && path.data[path.len - 1] != '/') path.len--;
    return path;
}

struct str path_file(struct str path) {
    uint32_t start = path_folder(path).len;
    return (struct str){path.data + start, path.len - start};
}

struct str path_stem(struct str path) {
    struct str file = path_file(path);
    for (uint32_t i = file.len; i-- > 1;)
        if (file.data[i] == '.') return (struct str){file.data, i};
    return file;
}
