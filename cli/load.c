#include "cli/load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAP_LEAST = 2 * 1024 * 1024, BUFFER_LEAST = 64 * 1024 };

static void unmap(struct loader *loader) {
    if (loader->map != NULL) munmap(loader->map, loader->map_size);
    loader->map = NULL;
}

static bool room(struct loader *loader, size_t size) {
    if (size <= loader->capacity) return true;
    size_t capacity = loader->capacity == 0 ? BUFFER_LEAST : loader->capacity;
    while (capacity < size) capacity *= 2;
    char *buffer = realloc(loader->buffer, capacity);
    if (buffer == NULL) return false;
    loader->buffer = buffer;
    loader->capacity = capacity;
    return true;
}

// Reads to the end, whatever the size was said to be: pipes have none, and files grow.
static int read_all(struct loader *loader, int descriptor, size_t expected, struct str *text) {
    size_t size = 0;
    if (!room(loader, expected + 2)) return ENOMEM;
    for (;;) {
        if (!room(loader, size + 2)) return ENOMEM;
        ssize_t got = read(descriptor, loader->buffer + size, loader->capacity - size - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        if (got == 0) break;
        size += (size_t)got;
        if (size >= UINT32_MAX) return EFBIG;
    }
    loader->buffer[size] = '\0';
    *text = (struct str){loader->buffer, (uint32_t)size};
    return 0;
}

// One anonymous page more than the file takes, so that a NUL stands behind its last byte.
static int map_all(struct loader *loader, int descriptor, size_t size, struct str *text) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t whole = (size / page + 2) * page;
    char *map = mmap(NULL, whole, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return errno;
    if (mmap(map, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, descriptor, 0) == MAP_FAILED) {
        int trouble = errno;
        munmap(map, whole);
        return trouble;
    }
    madvise(map, size, MADV_SEQUENTIAL);
    loader->map = map;
    loader->map_size = whole;
    *text = (struct str){map, (uint32_t)size};
    return 0;
}

static int load_descriptor(struct loader *loader, int descriptor, struct str *text) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return errno;
    if (S_ISDIR(status.st_mode)) return EISDIR;
    bool plain = S_ISREG(status.st_mode);
    if (plain && (uint64_t)status.st_size >= UINT32_MAX) return EFBIG;
    if (plain && status.st_size >= MAP_LEAST)
        return map_all(loader, descriptor, (size_t)status.st_size, text);
    return read_all(loader, descriptor, plain ? (size_t)status.st_size : 0, text);
}

int load(struct loader *loader, const char *path, struct str *text) {
    unmap(loader);
    if (strcmp(path, "-") == 0) return load_descriptor(loader, STDIN_FILENO, text);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return errno;
    int trouble = load_descriptor(loader, descriptor, text);
    close(descriptor);
    return trouble;
}

void loader_release(struct loader *loader) {
    unmap(loader);
    free(loader->buffer);
    *loader = (struct loader){0};
}
