#include "driver/cuda_api.h"

#include <dlfcn.h>

// POSIX has object and function pointers of one size; ISO C has no cast between them.
#define TAKE(slot, address) memcpy(&(slot), &(address), sizeof(slot))

typedef int get_proc_address(const char *symbol, void **function, int version, uint64_t flags,
                             int *status);

struct symbols {
    void *library;
    get_proc_address *ask;  // NULL before CUDA 12: the exported names then carry the version
};

static void *symbol_find(const struct symbols *symbols, const char *name, const char *exported,
                         int version) {
    void *address = NULL;
    int status = 0;
    if (symbols->ask != NULL && symbols->ask(name, &address, version, 0, &status) == 0 &&
        address != NULL)
        return address;
    return dlsym(symbols->library, exported);
}

static struct symbols symbols_of(void *library) {
    struct symbols symbols = {library, NULL};
    void *ask = dlsym(library, "cuGetProcAddress_v2");
    TAKE(symbols.ask, ask);
    return symbols;
}

const char *cuda_api_load(struct cuda_api *api, const char *path, struct arena *arena) {
    if (path == NULL) path = "libcuda.so.1";
    *api = (struct cuda_api){.library = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (api->library == NULL) {
        const char *why = dlerror();
        return str_format(arena, "no CUDA driver: %s", why != NULL ? why : path).data;
    }
    struct symbols symbols = symbols_of(api->library);
    void *address;
#define FUNCTION(name, symbol, version, needed, parameters)              \
    address = symbol_find(&symbols, #name, #symbol, version);            \
    if (needed && address == NULL)                                       \
        return str_format(arena, "%s has no %s", path, #symbol).data;    \
    TAKE(api->name, address);
#include "driver/functions.def"
    return NULL;
}
