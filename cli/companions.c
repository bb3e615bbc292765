#include "cli/companions.h"

#include "base/file.h"

static bool read_file(void *context, struct str path, struct arena *arena, struct str *text) {
    (void)context;
    struct str name = str_copy(arena, path);  // ended by a NUL
    return file_read(name.data, arena, text) == 0;
}

struct companion *companion_of(struct job *job, struct judged *judged) {
    struct companion_reader reader = {read_file, NULL};
    const struct options *options = job->judging->options;
    struct arena *arena = &job->worker->records;
    if (!option_set(options, OPTION_triton))
        return companion_find(&reader, judged->path, arena, judged->load);
    struct str named = option_text(options, OPTION_triton, "");
    return companion_open(&reader, named, judged->path, arena, judged->load);
}
