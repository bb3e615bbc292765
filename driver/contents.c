#include "analyzer/launch/contents.h"
#include "driver/driver.h"

static void copy_file(const struct driver_arg *arg, uint64_t at, uint8_t *bytes, uint64_t size) {
    uint64_t have = at < arg->file_size ? arg->file_size - at : 0;
    if (have > size) have = size;
    if (have > 0) memcpy(bytes, arg->file + at, have);
    memset(bytes + have, 0, size - have);  // a file shorter than the buffer is followed by zeros
}

void driver_contents(const struct driver_arg *arg, uint64_t at, uint8_t *bytes, uint64_t size) {
    if (arg->contents == CONTENTS_FILE)
        copy_file(arg, at, bytes, size);
    else
        contents_fill((enum contents)arg->contents, (enum isa_type)arg->type, arg->seed, at, bytes, size);
}
