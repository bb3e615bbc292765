#include "analyzer/facts/dryrun/map.h"

#include "base/checked.h"

static uint64_t round_up(uint64_t value, uint64_t align) {
    uint64_t result;
    return align_u64(value, align ? align : 1, &result) ? result : UINT64_MAX & ~(align - 1);
}

// Regions ---------------------------------------------------------------------------------------

// The base has exactly the stated alignment. Where that is below 16 bytes, memory ends at a multiple
// of 16 behind the buffer, as it must on a device: mapped memory ends at its granule. Of the places
// that the alignment leaves, the one that ends closest to it is taken.
static uint64_t tightest(uint64_t align, uint64_t size) {
    uint64_t best = align, least = 16;
    for (uint64_t base = align; base < 16; base += 2 * align) {
        uint64_t slack = (0 - (base + size)) & 15;
        if (slack < least) best = base, least = slack;
    }
    return best;
}

static void place_region(struct region *region, uint32_t index) {
    uint64_t middle = ((uint64_t)index + 1) * WINDOW_BYTES + WINDOW_BYTES / 2;
    uint64_t align = region->align;
    if (align == 0 || align > (uint64_t)1 << 36) align = (uint64_t)1 << 36;
    region->base = middle + (align < 16 && region->size != UINT64_MAX ? tightest(align, region->size) : align);
    if (region->size == UINT64_MAX) return;
    region->mapped_end = region->size;
    if (align < 16) region->mapped_end = round_up(region->base + region->size, 16) - region->base;
    uint64_t end = region->mapped_end;
    region->mapped_before = round_up(end, GLOBAL_GRANULE) - end;
}

static struct region *add_region(struct map *map, struct arena *arena, enum region_kind kind,
                                 uint64_t size, uint64_t align) {
    struct region *region = vec_push(arena, &map->regions);
    region->kind = (uint8_t)kind;
    region->size = size;
    region->align = align;
    region->param = NO_INDEX;
    place_region(region, map->regions.n - 1);
    return region;
}

// Parameters ------------------------------------------------------------------------------------

static void put_param(struct map *map, uint64_t offset, uint64_t size, uint64_t value) {
    for (uint64_t i = 0; i < size && i < 8 && offset + i < map->param_size; i++) {
        map->param_bytes[offset + i] = (uint8_t)(value >> (8 * i));
        map->param_known[offset + i] = 0xff;
    }
}

static void place_argument(struct map *map, struct arena *arena, const struct kernel_param *param,
                           const struct dryrun_arg *arg) {
    struct region *region = NULL;
    switch ((enum dryrun_arg_kind)arg->kind) {
    case DRYRUN_ARG_VALUE:
        if (arg->bytes == NULL) {
            put_param(map, param->offset, param->size, arg->value);
            // Bytes beyond the eighth of a wide parameter are not known.
            return;
        }
        for (uint64_t i = 0; i < param->size && param->offset + i < map->param_size; i++) {
            map->param_bytes[param->offset + i] = arg->bytes[i];
            map->param_known[param->offset + i] = 0xff;
        }
        return;
    case DRYRUN_ARG_NULL: put_param(map, param->offset, param->size, 0); return;
    case DRYRUN_ARG_BUFFER:
        region = add_region(map, arena, arg->size < WINDOW_BYTES / 4 ? REGION_BUFFER : REGION_POINTER,
                            arg->size < WINDOW_BYTES / 4 ? arg->size : UINT64_MAX,
                            arg->align ? arg->align : 256);
        region->contents = arg->contents;
        region->known = arg->contents ? arg->contents_size : 0;
        break;
    case DRYRUN_ARG_POINTER:
        region = add_region(map, arena, REGION_POINTER, UINT64_MAX, arg->align ? arg->align : 256);
        break;
    case DRYRUN_ARG_HOST: region = add_region(map, arena, REGION_HOST, 0, 4096); break;
    case DRYRUN_ARG_UNKNOWN: return;
    }
    if (region == NULL) return;
    region->param = param->index;
    put_param(map, param->offset, param->size, region->base);
}

static void place_arguments(const struct dryrun_request *request, struct arena *arena,
                            struct map *map) {
    const struct kernel *kernel = request->kernel;
    map->param_size = kernel->param_bytes;
    map->param_bytes = arena_array(arena, uint8_t, map->param_size + 1);
    map->param_known = arena_array(arena, uint8_t, map->param_size + 1);
    for (uint32_t i = 0; i < kernel->params.n && request->args != NULL; i++)
        place_argument(map, arena, &kernel->params.at[i], &request->args[i]);
}

// Variables -------------------------------------------------------------------------------------

struct layout {
    const struct module *module;
    const struct slice *slice;
    struct map *map;
    struct arena *arena;
    uint64_t shared_at, const_at;
    bool dynamic;
    uint32_t dynamic_align;
    uint8_t *module_used;     // by module variable
    uint8_t **function_used;
    uint32_t *by_name;        // module variable + 1 by name; 0: none
};

static void use_operand(const struct layout *layout, uint32_t f, const struct operand *operand) {
    if (operand->kind != OPERAND_VAR || operand->var == VAR_NONE) return;
    if (operand->var & VAR_LOCAL) layout->function_used[f][operand->var & ~VAR_LOCAL] = 1;
    else layout->module_used[operand->var] = 1;
}

static void find_used(const struct layout *layout) {
    for (uint32_t f = 0; f < layout->slice->functions.n; f++) {
        const struct body *body = layout->slice->functions.at[f].body;
        for (uint32_t i = 0; i < body->operands.n; i++) use_operand(layout, f, &body->operands.at[i]);
        for (uint32_t i = 0; i < body->elements.n; i++) use_operand(layout, f, &body->elements.at[i]);
    }
}

// Addresses named in initialisers make what they name reachable; one pass over each module variable
// that is used is enough for tables of pointers.
static uint64_t bytes_of(const struct variable *variable) {
    uint64_t size;
    return variable_size(variable, &size) ? size : UINT64_MAX;
}

static uint64_t place_static(uint64_t *at, const struct variable *variable) {
    uint64_t address = round_up(*at, variable_align(variable)), size = bytes_of(variable);
    if (!add_u64(address, size, at)) *at = UINT64_MAX / 2;
    return address;
}

static uint64_t place_global(const struct layout *layout, const struct variable *variable) {
    uint64_t size = bytes_of(variable);
    bool known = !variable->unsized && variable->linkage != LINKAGE_EXTERN && size < WINDOW_BYTES / 4;
    struct region *region =
        add_region(layout->map, layout->arena, known ? REGION_VARIABLE : REGION_POINTER,
                   known ? size : UINT64_MAX, variable_align(variable));
    region->variable = variable;
    // Variables of a module share mapped memory: what leaves one lands in the next or in its granule.
    if (known) region->mapped_end = round_up(size, GLOBAL_GRANULE);
    return region->base;
}

// Dynamic arrays get their address later, when all static ones are placed.
static uint64_t place_variable(struct layout *layout, const struct variable *variable, bool used) {
    switch (variable->space) {
    case SPACE_SHARED: case SPACE_SHARED_CTA:
        if (!used) return 0;
        if (variable->unsized) {
            layout->dynamic = true;
            uint32_t align = variable_align(variable);
            if (align > layout->dynamic_align) layout->dynamic_align = align;
            return UINT64_MAX;
        }
        return place_static(&layout->shared_at, variable);
    case SPACE_CONST:
        layout->map->const_open = layout->map->const_open || variable->unsized;
        return variable->unsized ? 0 : place_static(&layout->const_at, variable);
    case SPACE_GLOBAL: return used ? place_global(layout, variable) : 0;
    default: return 0;
    }
}

static void place_dynamic(struct layout *layout, const struct dryrun_request *request) {
    struct map *map = layout->map;
    uint64_t end = layout->shared_at - SHARED_ORIGIN;
    if (layout->dynamic) end = round_up(end, layout->dynamic_align);
    // The driver's number, which facts computes, is the better one should the two differ.
    if (request->kernel->shared_static > end) end = request->kernel->shared_static;
    map->shared_static = end;
    map->shared_size = request->shared_dynamic_known ? end + request->shared_dynamic : UINT64_MAX;
    if (map->shared_size < end) map->shared_size = UINT64_MAX;
    map->shared_mapped = map->shared_size == UINT64_MAX ? UINT64_MAX
                                                        : round_up(map->shared_size, SHARED_GRANULE);
    const struct module *module = layout->module;
    for (uint32_t v = 0; v < module->variables.n; v++)
        if (map->module_addresses[v] == UINT64_MAX) map->module_addresses[v] = SHARED_ORIGIN + end;
    for (uint32_t f = 0; f < layout->slice->functions.n; f++)
        for (uint32_t v = 0; v < layout->slice->functions.at[f].decl->variables.n; v++)
            if (map->function_addresses[f][v] == UINT64_MAX)
                map->function_addresses[f][v] = SHARED_ORIGIN + end;
}

static void place_variables(const struct dryrun_request *request, struct layout *layout) {
    const struct module *module = layout->module;
    struct map *map = layout->map;
    for (uint32_t v = 0; v < module->variables.n; v++)
        map->module_addresses[v] =
            place_variable(layout, &module->variables.at[v], layout->module_used[v]);
    for (uint32_t f = 0; f < layout->slice->functions.n; f++) {
        const struct function *decl = layout->slice->functions.at[f].decl;
        for (uint32_t v = 0; v < decl->variables.n; v++)
            map->function_addresses[f][v] =
                place_variable(layout, &decl->variables.at[v], layout->function_used[f][v]);
    }
    place_dynamic(layout, request);
}

// Initialisers ----------------------------------------------------------------------------------

#define INITIALISED_LIMIT ((uint64_t)64 << 20)  // bytes of one variable that are kept

static uint64_t float_bits(const struct init_value *init, uint32_t bytes) {
    double value;
    memcpy(&value, &init->bits, sizeof value);
    if (bytes == 8) return init->bits;
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

static bool symbol_address(const struct layout *layout, const struct init_value *init, uint64_t *out) {
    const struct module *module = layout->module;
    uint32_t v = layout->by_name[init->symbol];
    if (v == 0) return false;
    const struct variable *variable = &module->variables.at[v - 1];
    uint64_t address = layout->map->module_addresses[v - 1];
    if (address == 0 && variable->space == SPACE_GLOBAL) return false;
    if (init->generic && variable->space == SPACE_CONST) address += GENERIC_CONST;
    *out = address + init->bits;
    return true;
}

static void initialise(const struct layout *layout, const struct variable *variable, uint8_t *bytes,
                       uint8_t *known, uint64_t size) {
    uint32_t step = isa_types[variable->type].bits / 8;
    if (step == 0 || step > 8 || size > INITIALISED_LIMIT) return;
    memset(known, 0xff, size);  // what no value is given for is zero
    for (uint32_t i = 0; i < variable->init_count; i++) {
        const struct init_value *init = &layout->module->inits.at[variable->init_first + i];
        uint64_t at, value = init->bits;
        if (!mul_u64(init->index, step, &at) || at > size || size - at < step) continue;
        bool is_known = true;
        if (init->kind == INIT_FLOAT) value = float_bits(init, step);
        else if (init->kind == INIT_SYMBOL) is_known = symbol_address(layout, init, &value);
        if (init->kind == INIT_FLOAT && step < 4) is_known = false;
        if (init->kind == INIT_SYMBOL && init->mask_shift != 255) is_known = false;
        for (uint32_t b = 0; b < step; b++) {
            bytes[at + b] = (uint8_t)(value >> (8 * b));
            known[at + b] = is_known ? 0xff : 0;
        }
    }
}

static void initialise_constants(const struct layout *layout, const struct variable *variables,
                                 const uint64_t *addresses, uint32_t count) {
    struct map *map = layout->map;
    for (uint32_t v = 0; v < count; v++) {
        const struct variable *variable = &variables[v];
        uint64_t size = bytes_of(variable), at = addresses[v];
        // Without an initialiser the host may have written it (cuMemcpyToSymbol).
        if (variable->space != SPACE_CONST || !variable->has_init || variable->unsized) continue;
        if (at > map->const_size || map->const_size - at < size) continue;
        initialise(layout, variable, map->const_bytes + at, map->const_known + at, size);
    }
}

#define CONST_LIMIT ((uint64_t)16 << 20)

static void place_constants(const struct layout *layout) {
    struct map *map = layout->map;
    map->const_size = (uint32_t)(layout->const_at < CONST_LIMIT ? layout->const_at : CONST_LIMIT);
    map->const_bytes = arena_array(layout->arena, uint8_t, (size_t)map->const_size + 1);
    map->const_known = arena_array(layout->arena, uint8_t, (size_t)map->const_size + 1);
    initialise_constants(layout, layout->module->variables.at, map->module_addresses,
                         layout->module->variables.n);
    for (uint32_t f = 0; f < layout->slice->functions.n; f++) {
        const struct function *decl = layout->slice->functions.at[f].decl;
        initialise_constants(layout, decl->variables.at, map->function_addresses[f],
                             decl->variables.n);
    }
}

// Contents of .global variables with initialisers, as far as every byte of them is known and the
// kernel writes no global memory: they are the host's to change too, but seldom are.
static void place_global_contents(const struct layout *layout) {
    if (!layout->slice->global_needed) return;
    for (uint32_t r = 0; r < layout->map->regions.n; r++) {
        struct region *region = &layout->map->regions.at[r];
        const struct variable *variable = region->variable;
        if (region->kind != REGION_VARIABLE || !variable->has_init) continue;
        if (region->size > INITIALISED_LIMIT) continue;
        uint8_t *bytes = arena_array(layout->arena, uint8_t, region->size + 1);
        uint8_t *known = arena_array(layout->arena, uint8_t, region->size + 1);
        initialise(layout, variable, bytes, known, region->size);
        uint64_t count = 0;
        while (count < region->size && known[count]) count++;
        region->contents = bytes;
        region->known = count;
    }
}

void map_build(const struct dryrun_request *request, const struct slice *slice, struct arena *arena,
               struct map *map) {
    memset(map, 0, sizeof *map);
    const struct module *module = request->module;
    struct layout layout = {.module = module, .slice = slice, .map = map, .arena = arena,
                            .shared_at = SHARED_ORIGIN};
    uint32_t functions = slice->functions.n;
    layout.by_name = arena_array(arena, uint32_t, module->names.texts.n + 1);
    for (uint32_t v = 0; v < module->variables.n; v++)
        layout.by_name[module->variables.at[v].name] = v + 1;
    layout.module_used = arena_array(arena, uint8_t, module->variables.n + 1);
    layout.function_used = arena_array(arena, uint8_t *, functions + 1);
    map->module_addresses = arena_array(arena, uint64_t, module->variables.n + 1);
    map->function_addresses = arena_array(arena, uint64_t *, functions + 1);
    for (uint32_t f = 0; f < functions; f++) {
        uint32_t n = slice->functions.at[f].decl->variables.n + 1;
        layout.function_used[f] = arena_array(arena, uint8_t, n);
        map->function_addresses[f] = arena_array(arena, uint64_t, n);
    }
    place_arguments(request, arena, map);
    find_used(&layout);
    place_variables(request, &layout);
    place_constants(&layout);
    place_global_contents(&layout);
}
