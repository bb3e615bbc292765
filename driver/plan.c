#include "driver/plan.h"

#include "analyzer/launch/scalar.h"
#include "base/checked.h"
#include "driver/cuda_api.h"

#define MAX_ARGUMENTS 4096

struct plan {
    const struct plan_input *input;
    struct arena *arena;
    struct driver_request *request;
    struct plan_notes *notes;
    struct str *failure;
};

static void note(struct plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note(struct plan *plan, const char *format, ...) {
    va_list args;
    va_start(args, format);
    *vec_push(plan->arena, &plan->notes->list) = str_vformat(plan->arena, format, args);
    va_end(args);
}

static const struct kernel_param *param_of(const struct plan *plan, uint32_t index) {
    const struct kernel *kernel = plan->input->kernel;
    return kernel != NULL && index < kernel->params.n ? &kernel->params.at[index] : NULL;
}

static const struct dryrun_use *use_of(const struct plan *plan, uint32_t index) {
    const struct dryrun_result *dry = plan->input->dry;
    for (uint32_t i = 0; dry != NULL && i < dry->uses.n; i++)
        if (dry->uses.at[i].param == index) return &dry->uses.at[i];
    return NULL;
}

static struct str argument_name(const struct plan *plan, uint32_t index) {
    const struct kernel_param *param = param_of(plan, index);
    if (param == NULL) return str_format(plan->arena, "argument %u", index + 1);
    struct str name = param->user_name.len > 0 ? param->user_name : param->name;
    return str_format(plan->arena, "argument %u, `%.*s`", index + 1, STR_ARG(name));
}

// ---------------------------------------------------------------------------------------------
// Values

static void set_bytes(struct plan *plan, struct driver_arg *arg, uint32_t size, uint64_t bits) {
    uint8_t *bytes = arena_array(plan->arena, uint8_t, size < 8 ? 8 : size);
    for (unsigned i = 0; i < 8; i++) bytes[i] = (uint8_t)(bits >> 8 * i);
    arg->kind = DRIVER_ARG_VALUE;
    arg->bytes = bytes;
    arg->size = size;
}

// The type that a bare number takes: the parameter's, where it is one of numbers.
static enum isa_type number_type(const struct kernel_param *param, bool floating) {
    static const uint8_t by_size[9] = {[2] = TYPE_F16, [4] = TYPE_F32, [8] = TYPE_F64};
    if (param == NULL) return floating ? TYPE_F64 : TYPE_S32;
    enum isa_type type = (enum isa_type)param->variable->type;
    if (!floating || isa_types[type].class == TYPE_CLASS_F) return type;
    return param->size <= 8 && by_size[param->size] != 0 ? (enum isa_type)by_size[param->size] : TYPE_F64;
}

static void plan_int(struct plan *plan, uint32_t index, const struct argument *argument,
                     struct driver_arg *arg) {
    const struct kernel_param *param = param_of(plan, index);
    uint64_t bits = argument->negative ? 0 - argument->magnitude : argument->magnitude;
    double value = argument->negative ? -(double)argument->magnitude : (double)argument->magnitude;
    uint32_t size = param != NULL ? (uint32_t)param->size : argument->magnitude > INT32_MAX ? 8 : 4;
    scalar_encode(number_type(param, false), value, &bits);  // leaves integers alone
    set_bytes(plan, arg, size, bits);
}

static void plan_float(struct plan *plan, uint32_t index, const struct argument *argument,
                       struct driver_arg *arg) {
    const struct kernel_param *param = param_of(plan, index);
    enum isa_type type = number_type(param, true);
    uint64_t bits = 0;
    scalar_encode(type, argument->number, &bits);
    set_bytes(plan, arg, param != NULL ? (uint32_t)param->size : isa_types[type].bits / 8u, bits);
}

static void plan_typed(struct plan *plan, const struct argument *argument, struct driver_arg *arg) {
    uint32_t size = isa_types[argument->type].bits / 8u;
    set_bytes(plan, arg, size > 0 ? size : 1, argument->bits);
}

// ---------------------------------------------------------------------------------------------
// Memory

static void take_file(struct plan *plan, uint32_t index, const struct argument *argument,
                      struct driver_arg *arg) {
    arg->file = (const uint8_t *)argument->file_data.data;
    arg->file_size = argument->file_data.len;
    if (arg->file_size < arg->buffer_size)
        note(plan, "%.*s: the file has %u bytes of %llu, the rest is zeros",
             STR_ARG(argument_name(plan, index)), argument->file_data.len,
             (unsigned long long)arg->buffer_size);
}

// The alignment that the kernel is known to need; where the launch states none, 16 may be too little.
static uint64_t needed_align(const struct plan *plan, uint32_t index) {
    const struct kernel_param *param = param_of(plan, index);
    const struct dryrun_use *use = use_of(plan, index);
    uint64_t align = param != NULL ? param->align_needed : 0;
    if (use != NULL && use->align_needed > align) align = use->align_needed;
    // More than 256 is "at least", as far as a driver's own allocation goes.
    return align > 16 && is_power_of_two(align) ? (align < 256 ? 256 : align) : 0;
}

static void plan_buffer(struct plan *plan, uint32_t index, const struct argument *argument,
                        struct driver_arg *arg) {
    arg->kind = DRIVER_ARG_BUFFER;
    arg->size = 8;
    arg->buffer_size = argument->size;
    arg->align = argument->align != 0 ? argument->align : needed_align(plan, index);
    arg->contents = argument->contents;
    arg->type = argument->type;
    arg->seed = plan->input->seed + index;
    if (argument->contents == CONTENTS_FILE) take_file(plan, index, argument, arg);
}

static void plan_pointer(struct plan *plan, uint32_t index, uint64_t align, struct driver_arg *arg) {
    const struct dryrun_use *use = use_of(plan, index);
    bool learnt = use != NULL && use->size_needed > 0;
    arg->kind = DRIVER_ARG_BUFFER;
    arg->size = 8;
    arg->buffer_size = learnt ? use->size_needed : PLAN_POINTER_BYTES;
    arg->align = align != 0 ? align : needed_align(plan, index);
    note(plan, "%.*s: given %llu bytes of zeros, %s", STR_ARG(argument_name(plan, index)),
         (unsigned long long)arg->buffer_size,
         learnt ? "what the dry run says it needs" : "since nothing says how many it needs");
}

static void plan_unknown(struct plan *plan, uint32_t index, struct driver_arg *arg) {
    const struct kernel_param *param = param_of(plan, index);
    if (param != NULL && param->kind == PARAM_POINTER) {
        plan_pointer(plan, index, 0, arg);
        return;
    }
    set_bytes(plan, arg, param != NULL ? (uint32_t)param->size : 8, 0);
    note(plan, "%.*s: not stated, passed as zeros", STR_ARG(argument_name(plan, index)));
}

static const struct { uint8_t type, map; } tensor_types[] = {
    {TYPE_U8, DRV_CU_TENSOR_MAP_DATA_TYPE_UINT8}, {TYPE_S8, DRV_CU_TENSOR_MAP_DATA_TYPE_UINT8},
    {TYPE_B8, DRV_CU_TENSOR_MAP_DATA_TYPE_UINT8}, {TYPE_E4M3, DRV_CU_TENSOR_MAP_DATA_TYPE_UINT8},
    {TYPE_E5M2, DRV_CU_TENSOR_MAP_DATA_TYPE_UINT8}, {TYPE_U16, DRV_CU_TENSOR_MAP_DATA_TYPE_UINT16},
    {TYPE_S16, DRV_CU_TENSOR_MAP_DATA_TYPE_UINT16}, {TYPE_B16, DRV_CU_TENSOR_MAP_DATA_TYPE_UINT16},
    {TYPE_U32, DRV_CU_TENSOR_MAP_DATA_TYPE_UINT32}, {TYPE_B32, DRV_CU_TENSOR_MAP_DATA_TYPE_UINT32},
    {TYPE_S32, DRV_CU_TENSOR_MAP_DATA_TYPE_INT32}, {TYPE_U64, DRV_CU_TENSOR_MAP_DATA_TYPE_UINT64},
    {TYPE_B64, DRV_CU_TENSOR_MAP_DATA_TYPE_UINT64}, {TYPE_S64, DRV_CU_TENSOR_MAP_DATA_TYPE_INT64},
    {TYPE_F16, DRV_CU_TENSOR_MAP_DATA_TYPE_FLOAT16}, {TYPE_F32, DRV_CU_TENSOR_MAP_DATA_TYPE_FLOAT32},
    {TYPE_F64, DRV_CU_TENSOR_MAP_DATA_TYPE_FLOAT64}, {TYPE_BF16, DRV_CU_TENSOR_MAP_DATA_TYPE_BFLOAT16},
};

static int tensor_type(enum isa_type type) {
    for (size_t i = 0; i < sizeof tensor_types / sizeof *tensor_types; i++)
        if (tensor_types[i].type == type) return tensor_types[i].map;
    return -1;  // none: the driver refuses it
}

static int tensor_swizzle(uint32_t bytes) {
    return bytes == 32    ? DRV_CU_TENSOR_MAP_SWIZZLE_32B
           : bytes == 64  ? DRV_CU_TENSOR_MAP_SWIZZLE_64B
           : bytes == 128 ? DRV_CU_TENSOR_MAP_SWIZZLE_128B
                          : DRV_CU_TENSOR_MAP_SWIZZLE_NONE;
}

// The launch language has the innermost dimension last, the driver first.
static void describe_tensor(const struct argument *argument, struct driver_arg *arg) {
    const struct tensor_map *map = &argument->tensor;
    struct driver_tensor *tensor = &arg->tensor;
    uint64_t stride = isa_types[map->type].bits / 8u;
    tensor->rank = map->rank;
    tensor->type = tensor_type((enum isa_type)map->type);
    tensor->swizzle = tensor_swizzle(map->swizzle);
    for (uint32_t i = 0; i < map->rank; i++) {
        uint64_t box = map->box[map->rank - 1 - i];
        tensor->dims[i] = map->dims[map->rank - 1 - i];
        tensor->box[i] = box > UINT32_MAX ? UINT32_MAX : (uint32_t)box;
        stride *= tensor->dims[i];  // no overflow: the size of the whole fits
        if (i + 1 < map->rank) tensor->strides[i] = stride;
    }
    arg->buffer_size = argument->size;
    arg->align = 256;  // a map's address is a multiple of 16, and of 32 where it is interleaved
    arg->type = map->type;
}

static void plan_tensormap(struct plan *plan, uint32_t index, const struct argument *argument,
                           struct driver_arg *arg) {
    arg->kind = DRIVER_ARG_TENSORMAP;
    arg->size = 128;
    if (argument->tensor.rank > 0) {
        describe_tensor(argument, arg);
        return;
    }
    note(plan, "%.*s: a tensor map that is not described is passed as zeros",
         STR_ARG(argument_name(plan, index)));
}

static bool plan_argument(struct plan *plan, uint32_t index, const struct argument *argument,
                          struct driver_arg *arg) {
    switch ((enum argument_kind)argument->kind) {
    case ARGUMENT_UNKNOWN: plan_unknown(plan, index, arg); break;
    case ARGUMENT_BUFFER: plan_buffer(plan, index, argument, arg); break;
    case ARGUMENT_POINTER: plan_pointer(plan, index, argument->align, arg); break;
    case ARGUMENT_NULL: set_bytes(plan, arg, 8, 0); break;
    case ARGUMENT_HOST:
        arg->kind = DRIVER_ARG_HOST;
        arg->size = 8;
        break;
    case ARGUMENT_INT: plan_int(plan, index, argument, arg); break;
    case ARGUMENT_FLOAT: plan_float(plan, index, argument, arg); break;
    case ARGUMENT_TYPED: plan_typed(plan, argument, arg); break;
    case ARGUMENT_BYTES:
        if (argument->size > 65536) {
            *plan->failure = str_format(plan->arena, "%.*s: no kernel takes %llu bytes",
                                        STR_ARG(argument_name(plan, index)),
                                        (unsigned long long)argument->size);
            return false;
        }
        set_bytes(plan, arg, (uint32_t)argument->size, 0);
        break;
    case ARGUMENT_TENSORMAP: plan_tensormap(plan, index, argument, arg); break;
    }
    return true;
}

// ---------------------------------------------------------------------------------------------
// All arguments

// Which argument goes to which parameter: named ones to theirs, the others in order.
static uint32_t position_of(const struct plan *plan, const struct argument *argument, uint32_t next) {
    const struct kernel *kernel = plan->input->kernel;
    for (uint32_t i = 0; kernel != NULL && argument->name.len > 0 && i < kernel->params.n; i++)
        if (str_eq(kernel->params.at[i].name, argument->name) ||
            str_eq(kernel->params.at[i].user_name, argument->name))
            return i;
    return next;
}

static const struct argument unknown_argument = {.kind = ARGUMENT_UNKNOWN};

// Arguments by parameter, with `_` where a named one left a gap.
struct bound { VEC_OF(const struct argument *) list; };

static void bind(const struct plan *plan, struct bound *bound) {
    const struct launch *launch = plan->input->launch;
    uint32_t next = 0;
    for (uint32_t i = 0; i < launch->arguments.n; i++) {
        uint32_t at = position_of(plan, &launch->arguments.at[i], next);
        while (bound->list.n <= at) *vec_push(plan->arena, &bound->list) = &unknown_argument;
        bound->list.at[at] = &launch->arguments.at[i];
        next = at + 1;
    }
    const struct kernel *kernel = plan->input->kernel;
    while (!launch->has_arguments && kernel != NULL && bound->list.n < kernel->params.n)
        *vec_push(plan->arena, &bound->list) = &unknown_argument;
}

// Where an argument lies in a packed buffer, and where it ends.
static uint64_t place_packed(const struct plan *plan, uint32_t index, uint64_t end, struct driver_arg *arg) {
    const struct kernel_param *param = param_of(plan, index);
    if (param != NULL) {
        arg->offset = param->offset;
        return param->offset + param->size;
    }
    uint64_t align = is_power_of_two(arg->size) && arg->size <= 16 ? arg->size : 8;
    arg->offset = (end + align - 1) & ~(align - 1);
    return arg->offset + arg->size;
}

static bool plan_arguments(struct plan *plan) {
    const struct launch *launch = plan->input->launch;
    struct bound bound = {0};
    uint64_t end = 0;
    bind(plan, &bound);
    if (bound.list.n > MAX_ARGUMENTS) {
        *plan->failure = str_format(plan->arena, "%u arguments are more than any kernel takes", bound.list.n);
        return false;
    }
    for (uint32_t i = 0; i < bound.list.n; i++) {
        struct driver_arg *arg = vec_push(plan->arena, &plan->request->args);
        if (!plan_argument(plan, i, bound.list.at[i], arg)) return false;
        end = place_packed(plan, i, end, arg);
    }
    plan->request->packed = launch->packed;
    plan->request->packed_size = launch->has_packed_size ? launch->packed_size : end;
    plan->request->null_params = bound.list.n == 0 && !launch->packed;
    return true;
}

static void plan_attributes(const struct launch *launch, struct driver_request *request) {
    memcpy(request->grid, launch->grid, sizeof request->grid);
    memcpy(request->block, launch->block, sizeof request->block);
    memcpy(request->cluster, launch->cluster, sizeof request->cluster);
    request->shared = launch->has_shared ? launch->shared : 0;
    request->has_cluster = launch->has_cluster;
    request->cooperative = launch->cooperative;
    request->nonportable = launch->nonportable;
    request->pdl = launch->pdl;
    // `optin=auto` asks for what the launch uses.
    request->has_optin = launch->has_optin || launch->optin_auto;
    request->optin = launch->optin_auto ? request->shared : launch->optin;
}

bool driver_plan(const struct plan_input *input, struct arena *arena, struct driver_request *request,
                 struct plan_notes *notes, struct str *failure) {
    struct plan plan = {input, arena, request, notes, failure};
    // What the launch names is looked up, right or wrong: a C++ name's mangled form is another name.
    struct str kernel = input->launch->kernel;
    if (kernel.len == 0 && input->kernel != NULL) kernel = input->kernel->name;
    request->kernel = str_copy(arena, kernel).data;
    request->ptx = input->ptx->text;
    request->ptx_size = input->ptx->size;
    plan_attributes(input->launch, request);
    return plan_arguments(&plan);
}
