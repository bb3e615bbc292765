#include "analyzer/launch/request.h"

#include "analyzer/launch/companion.h"
#include "analyzer/launch/contents.h"
#include "analyzer/launch/scalar.h"

// Contents are made up to this many bytes of a buffer; what lies behind stays unknown.
enum { CONTENTS_MOST = 64 << 20 };

// A buffer whose alignment is not stated is aligned as cuMemAlloc does at least.
enum { DEFAULT_ALIGN = 256 };

struct building {
    const struct launch_case *c;
    const uint8_t *zeros;   // shared by all zeroed buffers; made when the first one is met
    uint64_t zeros_size;
};

static uint64_t made_size(uint64_t size) { return size < CONTENTS_MOST ? size : CONTENTS_MOST; }

static uint64_t largest_zeroed(const struct launch *launch) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < launch->arguments.n; i++) {
        const struct argument *argument = &launch->arguments.at[i];
        if (argument->contents == CONTENTS_ZERO && argument->size > most) most = argument->size;
    }
    return made_size(most);
}

static void zeroed(struct building *building, const struct argument *argument, struct dryrun_arg *arg) {
    if (building->zeros == NULL) {
        building->zeros_size = largest_zeroed(building->c->launch);
        building->zeros = arena_array(building->c->arena, uint8_t, building->zeros_size);
    }
    arg->contents = building->zeros;
    arg->contents_size = made_size(argument->size);
}

static void counted(struct building *building, const struct argument *argument, struct dryrun_arg *arg) {
    uint64_t size = made_size(argument->size);
    uint8_t *bytes = arena_array(building->c->arena, uint8_t, size);
    contents_fill(CONTENTS_IOTA, (enum isa_type)argument->type, 0, 0, bytes, size);
    arg->contents = bytes;
    arg->contents_size = size;
}

static void from_file(struct building *building, const struct argument *argument, struct dryrun_arg *arg) {
    const struct companion_reader *reader = building->c->options->reader;
    struct str text = argument->file_data;
    if (text.data != NULL) reader = NULL;  // read already
    else if (reader == NULL || !reader->read(reader->context, argument->file, building->c->arena, &text)) return;
    arg->contents = (const uint8_t *)text.data;
    arg->contents_size = text.len < argument->size ? text.len : argument->size;
}

static void buffer(struct building *building, const struct argument *argument, struct dryrun_arg *arg) {
    arg->kind = DRYRUN_ARG_BUFFER;
    arg->size = argument->size;
    arg->align = argument->align != 0 ? argument->align : DEFAULT_ALIGN;
    switch (argument->contents) {
    case CONTENTS_ZERO: zeroed(building, argument, arg); break;
    case CONTENTS_IOTA: counted(building, argument, arg); break;
    case CONTENTS_FILE: from_file(building, argument, arg); break;
    default: break;
    }
}

static void value(struct dryrun_arg *arg, uint64_t bits) {
    arg->kind = DRYRUN_ARG_VALUE;
    arg->value = bits;
}

static bool is_aggregate(const struct kernel_param *param) {
    return param->kind == PARAM_BYTES || param->kind == PARAM_TENSORMAP || param->size > 8;
}

static enum isa_type float_type(const struct kernel_param *param) {
    enum isa_type type = (enum isa_type)param->variable->type;
    if (isa_types[type].class == TYPE_CLASS_F) return type;
    return param->size == 2 ? TYPE_F16 : param->size == 4 ? TYPE_F32 : TYPE_F64;
}

static void integer(const struct argument *argument, const struct kernel_param *param,
                    struct dryrun_arg *arg) {
    uint64_t bits = argument->negative ? 0 - argument->magnitude : argument->magnitude;
    if (is_aggregate(param)) return;
    enum isa_type type = (enum isa_type)param->variable->type;
    if (isa_types[type].class == TYPE_CLASS_F) scalar_encode(type, argument->number, &bits);
    value(arg, bits);
}

static void floating(const struct argument *argument, const struct kernel_param *param,
                     struct dryrun_arg *arg) {
    uint64_t bits;
    if (!is_aggregate(param) && scalar_encode(float_type(param), argument->number, &bits)) value(arg, bits);
}

// What lies behind a value that is too short for its parameter is not known.
static void typed(const struct launch_case *c, const struct argument *argument,
                  const struct kernel_param *param, struct dryrun_arg *arg) {
    if (is_aggregate(param) || case_argument_size(c, argument, param) < param->size) return;
    value(arg, argument->bits);
}

static void by_value(const struct building *building, const struct argument *argument,
                     const struct kernel_param *param, struct dryrun_arg *arg) {
    if (argument->contents != CONTENTS_ZERO || argument->size < param->size) return;
    arg->kind = DRYRUN_ARG_VALUE;
    arg->bytes = arena_array(building->c->arena, uint8_t, param->size < 8 ? 8 : param->size);
}

static void build_arg(struct building *building, const struct argument *argument,
                      const struct kernel_param *param, struct dryrun_arg *arg) {
    // An address given to a smaller parameter, or to a struct, is none any more.
    bool whole = param->size == 8;
    switch (argument->kind) {
    case ARGUMENT_BUFFER: if (whole) buffer(building, argument, arg); break;
    case ARGUMENT_POINTER:
        if (!whole) break;
        arg->kind = DRYRUN_ARG_POINTER;
        arg->align = argument->align != 0 ? argument->align : DEFAULT_ALIGN;
        break;
    case ARGUMENT_NULL:
        if (whole) arg->kind = DRYRUN_ARG_NULL;
        else if (param->size < 8) value(arg, 0);
        break;
    case ARGUMENT_HOST: if (whole) arg->kind = DRYRUN_ARG_HOST; break;
    case ARGUMENT_INT: integer(argument, param, arg); break;
    case ARGUMENT_FLOAT: floating(argument, param, arg); break;
    case ARGUMENT_TYPED: typed(building->c, argument, param, arg); break;
    case ARGUMENT_BYTES: by_value(building, argument, param, arg); break;
    default: break;
    }
}

// Parameters beyond the end of a packed buffer, and parts of them, were 0 in every launch that was
// measured.
static void cut(const struct launch_case *c, const struct kernel_param *param, struct dryrun_arg *arg) {
    uint64_t end = param->offset + param->size;
    if (end <= c->packed_size) return;
    uint64_t have = c->packed_size > param->offset ? c->packed_size - param->offset : 0;
    bool address = arg->kind == DRYRUN_ARG_BUFFER || arg->kind == DRYRUN_ARG_POINTER;
    // Device addresses have 47 bits: the first six bytes are all of one, fewer are none.
    if (address && have > 0) {
        if (have < 6) *arg = (struct dryrun_arg){.kind = DRYRUN_ARG_HOST};
        return;
    }
    if (have > 0 && arg->kind != DRYRUN_ARG_VALUE) {
        *arg = (struct dryrun_arg){.kind = DRYRUN_ARG_UNKNOWN};
        return;
    }
    uint64_t kept = have == 0 ? 0 : arg->value & (((uint64_t)1 << 8 * have) - 1);
    *arg = (struct dryrun_arg){.kind = DRYRUN_ARG_VALUE, .value = kept};
    if (param->size > 8) arg->bytes = arena_array(c->arena, uint8_t, param->size);
}

static struct dryrun_arg *build_args(const struct launch_case *c) {
    struct building building = {.c = c};
    struct dryrun_arg *args = arena_array(c->arena, struct dryrun_arg, (size_t)c->kernel->params.n + 1);
    for (uint32_t i = 0; i < c->launch->arguments.n; i++) {
        uint32_t index = case_param_of(c, i);
        if (index == NO_INDEX) continue;
        build_arg(&building, &c->launch->arguments.at[i], &c->kernel->params.at[index], &args[index]);
    }
    for (uint32_t i = 0; c->launch->packed && i < c->kernel->params.n; i++)
        cut(c, &c->kernel->params.at[i], &args[i]);
    return args;
}

static bool narrow(const uint64_t from[3], uint32_t to[3]) {
    for (int axis = 0; axis < 3; axis++) {
        if (from[axis] == 0 || from[axis] > UINT32_MAX) return false;
        to[axis] = (uint32_t)from[axis];
    }
    return true;
}

bool request_build(const struct launch_case *c, struct dryrun_request *request) {
    *request = (struct dryrun_request){.module = c->module, .kernel = c->kernel};
    if (!c->block_known || (!c->launch->has_arguments && c->kernel->params.n > 0)) return false;
    if (!narrow(c->launch->grid, request->grid) || !narrow(c->block, request->block) ||
        !narrow(c->cluster, request->cluster))
        return false;
    request->shared_dynamic = c->shared;
    request->shared_dynamic_known = true;
    request->cooperative = c->launch->cooperative;
    request->args = build_args(c);
    request->budget = c->options->budget;
    request->threads = c->options->threads == 0 ? 1 : c->options->threads;
    return true;
}
