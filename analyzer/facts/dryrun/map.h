// Where things lie in the dry run: numbers for addresses, and what is behind them.
//
// Every buffer, module variable and pointer of unknown extent has a window of 2^42 bytes of its own,
// so that pointer arithmetic that leaves one never meets another. Shared memory is laid out as the
// assembler does it. Generic addresses of the other spaces lie in windows above all of these.
#ifndef PTXVET_DRYRUN_MAP_H
#define PTXVET_DRYRUN_MAP_H

#include "analyzer/facts/dryrun/dryrun.h"
#include "analyzer/facts/dryrun/slice.h"

#define WINDOW_SHIFT 42
#define WINDOW_BYTES ((uint64_t)1 << WINDOW_SHIFT)
#define WINDOW_REGIONS ((uint32_t)1 << 12)  // regions beyond these share the last window
#define GENERIC_SHARED ((uint64_t)0xf1 << 56)
#define GENERIC_LOCAL ((uint64_t)0xf2 << 56)
#define GENERIC_CONST ((uint64_t)0xf3 << 56)
#define GENERIC_PARAM ((uint64_t)0xf4 << 56)
#define GENERIC_MASK ((uint64_t)0xff << 56)

// The first byte that a kernel may use in .shared: the driver's own come first (measured, sm_90).
#define SHARED_ORIGIN 1024u
#define SHARED_GRANULE 128u       // shared memory of a block is rounded up to it (measured)
#define GLOBAL_GRANULE 0x200000u  // memory before a buffer is mapped down to its 2 MiB granule
#define LOCAL_ORIGIN 0x10000u
#define PARAM_FUNC_ORIGIN 0x100000u  // parameters of functions, in .param

enum region_kind { REGION_NONE, REGION_BUFFER, REGION_POINTER, REGION_HOST, REGION_VARIABLE };

struct region {
    uint8_t kind;       // enum region_kind
    uint64_t base;      // address of its first byte
    uint64_t size;      // bytes; UINT64_MAX: unknown
    uint64_t mapped_before, mapped_end;  // mapped from base - before to base + end
    uint64_t align;     // of the address
    uint32_t param;     // NO_INDEX for module variables
    const struct variable *variable;
    const uint8_t *contents;   // first `known` bytes; NULL: unknown
    uint64_t known;
};

struct map {
    VEC_OF(struct region) regions;   // region i has window i + 1
    uint64_t *module_addresses;      // by module variable, in its own space
    uint64_t **function_addresses;   // by slice function and variable
    uint32_t const_size;
    bool const_open;          // some .const variable has no size here: what is beyond is not known
    uint8_t *const_bytes, *const_known;   // contents of .const
    uint8_t *param_bytes, *param_known;   // kernel parameters
    uint64_t param_size;
    uint64_t shared_static;   // bytes before dynamic shared memory
    uint64_t shared_size;     // static and dynamic; UINT64_MAX when the dynamic size is not known
    uint64_t shared_mapped;   // shared_size rounded up to its granule
    uint64_t local_size;      // of the frames of all functions
    uint64_t private_size;    // local_size and the parameters of functions behind it
};

void map_build(const struct dryrun_request *request, const struct slice *slice, struct arena *arena,
               struct map *map);

// The region whose window holds `address`; NULL when there is none.
static inline const struct region *map_region(const struct map *map, uint64_t address) {
    uint64_t window = address >> WINDOW_SHIFT;
    return window == 0 || window > map->regions.n ? NULL : &map->regions.at[window - 1];
}

#endif
