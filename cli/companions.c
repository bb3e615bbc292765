#include "cli/companions.h"

#include "base/file.h"
#include "cli/awaited.h"

static bool read_file(void *context, struct str path, struct arena *arena, struct str *text) {
    (void)context;
    struct str name = str_copy(arena, path);  // ended by a NUL
    return file_read(name.data, arena, text) == 0;
}

struct companion *companion_of(const struct judging *judging, struct worker *worker,
                               const struct record_file *file) {
#if HAVE_FACTS
    struct companion_reader reader = {read_file, NULL};
    if (!option_set(judging->options, OPTION_triton))
        return companion_find(&reader, file->path, &worker->records, file->findings);
    struct str named = option_text(judging->options, OPTION_triton, "");
    return companion_open(&reader, named, file->path, &worker->records, file->findings);
#else
    (void)judging, (void)worker, (void)file, (void)read_file;
    return NULL;
#endif
}
