#include "analyzer/launch/suggest.h"

#include "analyzer/launch/rewrite.h"
#include "analyzer/launch/scalar.h"
#include "base/output.h"

#define U64(n) (unsigned long long)(n)

enum { PLAIN_SHARED = 49152, PLAIN_BLOCK = 256 };

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The parameter's name as a variable in C: "ad.shape[0]" is ad_shape_0.
static void put_name(struct output *out, const struct kernel *kernel, const struct kernel_param *param) {
    struct str name = param->user_name.len > 0 ? param->user_name : param->name;
    struct str prefix = str_format(out->arena, "%.*s_param_", STR_ARG(kernel->name));
    if (param->user_name.len == 0 && (str_starts(name, prefix) || name.len > 24)) {
        output_format(out, "p%u", param->index);
        return;
    }
    if (name.len == 0 || (name.data[0] >= '0' && name.data[0] <= '9')) output_byte(out, 'p');
    bool gap = false;
    for (uint32_t i = 0; i < name.len; i++) {
        if (is_word(name.data[i])) {
            if (gap) output_byte(out, '_');
            output_byte(out, name.data[i]);
        }
        gap = !is_word(name.data[i]) && i + 1 < name.len;
    }
}

static bool needs_scratch(const struct kernel_param *param) {
    return param->read || (param->scratch_known && param->scratch_size > 0);
}

// "i32" where metadata says so, else after the PTX type; "" when no scalar type is that wide.
static struct str scalar_name(const struct kernel_param *param) {
    if (param->user_type.len > 0 && scalar_type_find(param->user_type) != TYPE_NONE) {
        enum isa_type type = scalar_type_find(param->user_type);
        if (isa_types[type].bits == param->size * 8) return param->user_type;
    }
    return str_from(scalar_type_name((enum isa_type)param->variable->type));
}

static void put_argument(struct output *out, const struct kernel *kernel, const struct kernel_param *param) {
    struct str type = scalar_name(param);
    if (param->role == PARAM_HIDDEN) output_text(out, needs_scratch(param) ? "ptr" : "null");
    else if (param->kind == PARAM_POINTER) output_text(out, "ptr");
    else if (param->kind == PARAM_TENSORMAP) output_text(out, "tensormap");
    else if (param->kind == PARAM_BYTES)
        output_format(out, "bytes[%llu]@%u", U64(param->size), param->align);
    else if (param->kind == PARAM_OPAQUE || type.len == 0) output_byte(out, '_');
    else {
        output_format(out, "%.*s(", STR_ARG(type));
        put_name(out, kernel, param);
        output_byte(out, ')');
    }
}

// What the launch will use: from directives, else metadata, else a plain choice.
struct choice {
    uint64_t block[3];
    bool shared_known;
    uint64_t shared;
    bool optin, cooperative, clustered;
    uint64_t cluster[3];
};

static uint64_t product(const uint64_t n[3]) {
    bool small = n[0] <= 65536 && n[1] <= 65536 && n[2] <= 65536;
    return small ? n[0] * n[1] * n[2] : UINT64_MAX;
}

static void choose_block(const struct kernel *kernel, struct choice *choice) {
    const struct kernel_metadata *metadata = kernel->metadata;
    uint64_t threads = PLAIN_BLOCK;
    choice->block[1] = choice->block[2] = 1;
    if (kernel->has_reqntid) {
        memcpy(choice->block, kernel->reqntid, sizeof choice->block);
        return;
    }
    if (metadata != NULL && metadata->threads != 0) threads = metadata->threads;
    else if (kernel->has_maxntid && product(kernel->maxntid) < 1024) threads = product(kernel->maxntid);
    choice->block[0] = threads;
}

static struct choice choose(const struct kernel *kernel) {
    const struct kernel_metadata *metadata = kernel->metadata;
    struct choice choice = {.cluster = {1, 1, 1}};
    choose_block(kernel, &choice);
    choice.shared_known = !kernel->shared_dynamic;
    if (metadata != NULL && metadata->shared.known) {
        choice.shared_known = true;
        choice.shared = metadata->shared.value;
    }
    choice.optin = choice.shared_known && choice.shared > 0 &&
                   choice.shared + kernel->shared_static > PLAIN_SHARED;
    choice.cooperative = kernel->syncs_grid || (metadata != NULL && metadata->cooperative);
    bool ctas = metadata != NULL && metadata->num_ctas.known && metadata->num_ctas.value > 1;
    choice.clustered = !kernel->has_reqnctapercluster && (kernel->explicit_cluster || ctas);
    if (choice.clustered) choice.cluster[0] = ctas ? metadata->num_ctas.value : 2;
    return choice;
}

static void put_tail(struct output *out, const struct choice *choice) {
    if (choice->clustered)
        output_format(out, " cluster=(%llu,%llu,%llu)", U64(choice->cluster[0]), U64(choice->cluster[1]),
                      U64(choice->cluster[2]));
    if (choice->cooperative) output_text(out, " cooperative");
    if (choice->optin) output_format(out, " optin=%llu", U64(choice->shared));
}

struct str suggest_launch(const struct module_facts *facts, const struct kernel *kernel,
                          struct arena *arena) {
    (void)facts;
    struct output out;
    struct choice choice = choose(kernel);
    output_init(&out, arena);
    output_format(&out, "%.*s<<<GRID, %.*s", STR_ARG(kernel->name),
                  STR_ARG(rewrite_dimensions(arena, choice.block)));
    if (!choice.shared_known) output_text(&out, ", SHARED");
    else if (choice.shared > 0) output_format(&out, ", %llu", U64(choice.shared));
    output_text(&out, ">>>(");
    for (uint32_t i = 0; i < kernel->params.n; i++) {
        if (i > 0) output_text(&out, ", ");
        put_argument(&out, kernel, &kernel->params.at[i]);
    }
    output_byte(&out, ')');
    put_tail(&out, &choice);
    return (struct str){out.data, (uint32_t)out.size};
}

static void put_args(struct output *out, const struct kernel *kernel) {
    bool null = false;
    for (uint32_t i = 0; i < kernel->params.n; i++)
        null |= kernel->params.at[i].role == PARAM_HIDDEN && !needs_scratch(&kernel->params.at[i]);
    if (null) output_text(out, "CUdeviceptr null = 0;\n");
    output_text(out, "void *args[] = {");
    for (uint32_t i = 0; i < kernel->params.n; i++) {
        const struct kernel_param *param = &kernel->params.at[i];
        output_text(out, i > 0 ? ", &" : "&");
        if (param->role == PARAM_HIDDEN && !needs_scratch(param)) output_text(out, "null");
        else if (param->role == PARAM_HIDDEN) output_format(out, "scratch%u", i);
        else put_name(out, kernel, param);
    }
    output_text(out, "};\n");
}

static void put_plain_call(struct output *out, const struct choice *choice, const char *args,
                           struct str shared) {
    output_format(out, "cuLaunchKernel(f, GRID, 1, 1, %llu, %llu, %llu, %.*s, stream, %s, NULL);",
                  U64(choice->block[0]), U64(choice->block[1]), U64(choice->block[2]), STR_ARG(shared), args);
}

static void put_attribute_call(struct output *out, const struct choice *choice, const char *args,
                               struct str shared) {
    output_text(out, "CUlaunchAttribute attrs[] = {");
    if (choice->clustered)
        output_format(out, "{.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {%llu, %llu, %llu}}%s",
                      U64(choice->cluster[0]), U64(choice->cluster[1]), U64(choice->cluster[2]),
                      choice->cooperative ? ", " : "");
    if (choice->cooperative)
        output_text(out, "{.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1}");
    output_format(out, "};\nCUlaunchConfig config = {GRID, 1, 1, %llu, %llu, %llu, %.*s, stream, attrs, %d};\n",
                  U64(choice->block[0]), U64(choice->block[1]), U64(choice->block[2]), STR_ARG(shared),
                  choice->clustered + choice->cooperative);
    output_format(out, "cuLaunchKernelEx(&config, f, %s, NULL);", args);
}

struct str suggest_c_call(const struct module_facts *facts, const struct kernel *kernel,
                          struct arena *arena) {
    (void)facts;
    struct output out;
    struct choice choice = choose(kernel);
    output_init(&out, arena);
    struct str shared = choice.shared_known ? str_format(arena, "%llu", U64(choice.shared)) : STR("SHARED");
    if (kernel->params.n > 0) put_args(&out, kernel);
    if (choice.optin)
        output_format(&out, "cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, %.*s);\n",
                      STR_ARG(shared));
    const char *args = kernel->params.n > 0 ? "args" : "NULL";
    if (choice.clustered || choice.cooperative) put_attribute_call(&out, &choice, args, shared);
    else put_plain_call(&out, &choice, args, shared);
    return (struct str){out.data, (uint32_t)out.size};
}
