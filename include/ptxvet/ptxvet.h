/* libptxvet: will this PTX load, what must its kernels be given, will this launch work?
 *
 * Ownership. A context owns the results made from it; a result owns every string and array that it
 * gives, until ptxvet_result_free or the context's end. Texts that are passed in are copied.
 * Functions that give a pointer give NULL when there is none, or when an index is past the end.
 *
 * Threads. Nothing is global. A context and its results are used by one thread at a time; different
 * contexts are independent.
 *
 * Trouble. The library never prints, exits or aborts. Findings are data, not trouble: a PTX that
 * would not load is PTXVET_OK with findings. What keeps the library from judging is a status.
 *
 * Cost. Checking is linear in the text. A launch's dry run ends after ptxvet_context_budget seconds.
 */
#ifndef PTXVET_PTXVET_H
#define PTXVET_PTXVET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PTXVET_API __attribute__((visibility("default")))
#else
#define PTXVET_API
#endif

typedef struct ptxvet_context ptxvet_context;
typedef struct ptxvet_result ptxvet_result;

typedef enum ptxvet_status {
    PTXVET_OK = 0,
    PTXVET_INVALID_ARGUMENT = 1, /* NULL where a value is needed, an unknown GPU, a text of 4 GiB */
    PTXVET_OUT_OF_MEMORY = 2,    /* the system refused */
    PTXVET_MEMORY_LIMIT = 3,     /* the context's limit would be exceeded */
    PTXVET_LIMIT = 4,            /* another limit was reached; a result is made of what was judged */
    PTXVET_BAD_LAUNCH = 5        /* the launch expression cannot be read; the result says why */
} ptxvet_status;

typedef enum ptxvet_severity { PTXVET_NOTE = 0, PTXVET_WARNING = 1, PTXVET_ERROR = 2 } ptxvet_severity;

typedef enum ptxvet_verdict {
    PTXVET_WORKS = 0,   /* nothing was found that makes it fail */
    PTXVET_FAILS = 1,
    PTXVET_UNKNOWN = 2  /* not all of it could be judged */
} ptxvet_verdict;

/* Lines and columns count from 1, columns in bytes; ends are exclusive; 0: there is no place.
 * Strings are NULL where nothing is known, and UTF-8 only as far as the source is. */
typedef struct ptxvet_finding {
    const char *code;        /* "PTX0603" */
    const char *name;        /* "maxntid-exceeded" */
    ptxvet_severity severity;
    const char *confidence;  /* "certain", "likely", "possible" */
    const char *message, *help, *kernel;
    const char *path;        /* of the PTX as given, or "launch" */
    uint32_t line, column, end_line, end_column;
    const char *phase;       /* "launch": where the driver refuses; NULL: no failure predicted */
    int result;              /* the CUresult that it answers; 0 when phase is NULL */
} ptxvet_finding;

typedef struct ptxvet_kernel {
    const char *name;
    uint32_t line;
    size_t param_count;
    uint64_t param_bytes;
    uint64_t maxntid[3], reqntid[3];  /* all 0: not stated */
    int64_t shared_static;            /* bytes; -1: not known */
    int shared_dynamic;               /* whether it uses dynamic shared memory */
} ptxvet_kernel;

typedef struct ptxvet_param {
    const char *name, *user_name, *type;
    const char *kind;    /* "scalar", "pointer", "bytes", "tensormap", "opaque" */
    const char *role;    /* "user", "hidden" */
    uint64_t offset, size, align;
} ptxvet_param;

typedef struct ptxvet_answer {
    ptxvet_verdict verdict;
    const char *phase;        /* the first that fails: "load", "get-function", "set-attribute",
                                 "launch", "run"; "run" with CUDA_SUCCESS when none does */
    int result;               /* the CUresult; 10001: it never ends, 10002: the program crashes */
    const char *result_name;  /* "CUDA_ERROR_INVALID_VALUE"; NULL: what happens is not known */
    const char *confidence;
} ptxvet_answer;

PTXVET_API const char *ptxvet_version(void);  /* "0.1.0"; lives as long as the program */

/* A context whose results together take at most `memory_limit` bytes; 0: no limit. NULL when there
 * is no memory. */
PTXVET_API ptxvet_context *ptxvet_context_new(size_t memory_limit);
PTXVET_API void ptxvet_context_free(ptxvet_context *context);  /* and its results; NULL is fine */

/* Adds a machine that files and launches are held against: a GPU ("h200", "sm_90") and a driver
 * ("550.54", or a CUDA release, "12.4"); either may be NULL. */
PTXVET_API ptxvet_status ptxvet_context_deploy(ptxvet_context *context, const char *gpu,
                                               const char *driver);

/* Seconds that the dry run of a launch may take; 0: no dry run. At first 2. */
PTXVET_API ptxvet_status ptxvet_context_budget(ptxvet_context *context, double seconds);

/* Checks `size` bytes of PTX as the assembler would. `path` names it in findings. */
PTXVET_API ptxvet_status ptxvet_check(ptxvet_context *context, const char *path, const char *text,
                                      size_t size, ptxvet_result **result);

/* Judges a launch, `kernel<<<grid, block, shared>>>(arguments)`, as the driver would. */
PTXVET_API ptxvet_status ptxvet_launch(ptxvet_context *context, const char *path, const char *text,
                                       size_t size, const char *launch, ptxvet_result **result);

PTXVET_API void ptxvet_result_free(ptxvet_result *result);  /* NULL is fine */

PTXVET_API size_t ptxvet_finding_count(const ptxvet_result *result);
PTXVET_API const ptxvet_finding *ptxvet_finding_at(const ptxvet_result *result, size_t index);
PTXVET_API size_t ptxvet_kernel_count(const ptxvet_result *result);
PTXVET_API const ptxvet_kernel *ptxvet_kernel_at(const ptxvet_result *result, size_t index);
PTXVET_API const ptxvet_param *ptxvet_param_at(const ptxvet_result *result, size_t kernel,
                                               size_t index);

/* What the driver answers to the launch; NULL for a result of ptxvet_check. */
PTXVET_API const ptxvet_answer *ptxvet_answer_of(const ptxvet_result *result);

/* The whole result as the JSON document that the program writes (docs/json.md). */
PTXVET_API const char *ptxvet_result_json(const ptxvet_result *result);

#ifdef __cplusplus
}
#endif
#endif
