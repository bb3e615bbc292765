#include "library/records.h"

#include "analyzer/launch/sources.h"
#include "analyzer/launch/suggest.h"
#include "base/file.h"
#include "isa/versions.h"

static struct known_u64 unless_zero(uint64_t value) {
    return (struct known_u64){value != 0, value};
}


static struct str type_text(const struct variable *variable) {
    return variable == NULL ? (struct str){NULL, 0} : isa_types[variable->type].text;
}

static struct str space_text(const struct kernel_param *param) {
    const struct variable *variable = param->variable;
    if (variable == NULL || param->kind != PARAM_POINTER) return (struct str){NULL, 0};
    if (variable->is_ptr && variable->ptr_space != SPACE_NONE)
        return isa_space_texts[variable->ptr_space];
    return variable->is_ptr ? STR("generic") : (struct str){NULL, 0};
}

// What a pointer of the source language points to: of "!tt.ptr<f16>", "*fp16" or "float const*".
static struct str pointed_to(const struct kernel_param *param) {
    struct str type = param->user_type;
    if (str_starts(type, STR("!tt.ptr<")) && str_ends(type, STR(">")))
        return (struct str){type.data + 8, type.len - 9};
    if (str_starts(type, STR("*"))) return (struct str){type.data + 1, type.len - 1};
    if (str_ends(type, STR("*"))) return (struct str){type.data, type.len - 1};
    return (struct str){NULL, 0};
}

static struct str param_what(struct arena *arena, const struct kernel_param *param) {
    static const char *const accesses[] = {"", "", ", read", ", written", ", read and written"};
    if (param->what.len != 0) return param->what;
    if (param->kind == PARAM_POINTER) {
        struct str space = space_text(param);
        const char *word = space.len == 0 || str_eq(space, STR("generic")) ? "" : " ";
        struct str to = pointed_to(param);
        return str_format(arena, "%.*s%spointer%s%.*s%s", *word ? (int)space.len : 0, space.data,
                          word, to.len != 0 ? " to " : "", STR_ARG(to), accesses[param->access]);
    }
    if (param->kind == PARAM_TENSORMAP) return STR("tensor map (CUtensorMap)");
    if (param->kind == PARAM_BYTES)
        return str_format(arena, "%llu bytes by value", (unsigned long long)param->size);
    struct str type = param->user_type.len != 0 ? param->user_type : type_text(param->variable);
    if (param->divisible_by > 1)
        return str_format(arena, "%.*s, a multiple of %u", STR_ARG(type), param->divisible_by);
    return type;
}

static void record_param(struct record_param *record, struct arena *arena,
                         const struct kernel_param *param) {
    *record = (struct record_param){
        .index = param->index, .name = param->name, .user_name = param->user_name,
        .type = type_text(param->variable), .offset = param->offset, .size = param->size,
        .align = param->align, .space = space_text(param),
        .kind = str_from(param_kind_text((enum param_kind)param->kind)),
        .role = str_from(param_role_text((enum param_role)param->role)),
        .access = str_from(param_access_text((enum param_access)param->access)),
        .align_needed = unless_zero(param->align_needed), .what = param_what(arena, param)};
    bool hidden = param->role == PARAM_HIDDEN;
    record->used_text = param->read ? "yes" : hidden ? "no: pass null" : "no";
}

static struct str linkage_text(uint8_t linkage) {
    static const char *const texts[] = {"", "visible", "extern", "weak", "common"};
    return str_from(texts[linkage]);
}

static struct str three_text(struct arena *arena, const uint64_t n[3]) {
    return str_format(arena, "(%llu, %llu, %llu)", (unsigned long long)n[0],
                      (unsigned long long)n[1], (unsigned long long)n[2]);
}

static void add_row(struct record_kernel *record, struct arena *arena, const char *name,
                    struct str text, struct str from) {
    *vec_push(arena, &record->rows) = (struct record_row){name, text, from};
}

static void block_row(struct record_kernel *record, struct arena *arena,
                      const struct kernel *kernel) {
    struct str nothing = {NULL, 0};
    if (kernel->has_reqntid) {
        const uint64_t *n = kernel->reqntid;
        struct str from = str_format(arena, ".reqntid, %llu warps",
                                     (unsigned long long)((n[0] * n[1] * n[2] + 31) / 32));
        struct str block = three_text(arena, n);
        add_row(record, arena, "block", str_format(arena, "exactly %.*s", STR_ARG(block)), from);
    } else if (kernel->has_maxntid) {
        const uint64_t *n = kernel->maxntid;
        struct str text = str_format(arena, "at most %llu threads",
                                     (unsigned long long)(n[0] * n[1] * n[2]));
        struct str block = three_text(arena, n);
        add_row(record, arena, "block", text, str_format(arena, ".maxntid %.*s", STR_ARG(block)));
    } else {
        add_row(record, arena, "block", STR("any, up to the GPU's 1024 threads"), nothing);
    }
    if (kernel->minnctapersm != 0)
        add_row(record, arena, "occupancy", str_format(arena, "compiled for at least %llu blocks per SM",
                                                       (unsigned long long)kernel->minnctapersm),
                STR(".minnctapersm"));
    if (kernel->maxnreg != 0)
        add_row(record, arena, "registers", str_format(arena, "at most %llu per thread",
                                                       (unsigned long long)kernel->maxnreg),
                STR(".maxnreg"));
}

static void memory_rows(struct record_kernel *record, struct arena *arena,
                        const struct kernel *kernel) {
    struct str nothing = {NULL, 0};
    unsigned long long fixed = kernel->shared_static;
    struct str shared = str_format(arena, "%llu bytes static, no dynamic", fixed);
    const struct kernel_metadata *metadata = kernel->metadata;
    struct str from = nothing;
    if (metadata != NULL && metadata->shared.known) {
        shared = str_format(arena, "%llu static + %llu dynamic", fixed,
                            (unsigned long long)metadata->shared.value);
        from = str_format(arena, "%llu from %.*s", (unsigned long long)metadata->shared.value,
                          STR_ARG(path_file(metadata->path)));
    } else if (kernel->shared_dynamic) {
        shared = str_format(arena, "%llu bytes static + dynamic, aligned to %u", fixed,
                            kernel->shared_dynamic_align);
    }
    add_row(record, arena, "shared", shared, from);
    if (kernel->local_bytes != 0)
        add_row(record, arena, "local", str_format(arena, "%llu bytes per thread",
                                                   (unsigned long long)kernel->local_bytes), nothing);
    if (kernel->const_bytes != 0)
        add_row(record, arena, "constant", str_format(arena, "%llu bytes",
                                                      (unsigned long long)kernel->const_bytes), nothing);
}

static void cluster_row(struct record_kernel *record, struct arena *arena,
                        const struct kernel *kernel) {
    struct str nothing = {NULL, 0};
    if (kernel->has_reqnctapercluster) {
        struct str cluster = three_text(arena, kernel->reqnctapercluster);
        add_row(record, arena, "cluster", str_format(arena, "exactly %.*s", STR_ARG(cluster)),
                STR(".reqnctapercluster"));
    } else if (kernel->explicit_cluster) {
        add_row(record, arena, "cluster", STR("must be given at launch"), STR(".explicitcluster"));
    } else if (kernel->maxclusterrank != 0) {
        add_row(record, arena, "cluster", str_format(arena, "at most %llu blocks",
                                                     (unsigned long long)kernel->maxclusterrank),
                STR(".maxclusterrank"));
    } else add_row(record, arena, "cluster", STR("none"), nothing);
}

static void params_row(struct record_kernel *record, struct arena *arena,
                       const struct kernel *kernel) {
    struct str text = kernel->params.n == 0 ? STR("none")
                                            : str_format(arena, "%u, %llu bytes", kernel->params.n,
                                                         (unsigned long long)kernel->param_bytes);
    add_row(record, arena, "params", text, (struct str){NULL, 0});
}

static void copy_three(uint64_t to[3], const uint64_t from[3]) { memcpy(to, from, 3 * sizeof *to); }

// The launch line and the host call, ready to paste.
static void suggestions(struct record_kernel *record, struct arena *arena,
                        const struct module_facts *facts, const struct kernel *kernel) {
    record->launch = suggest_launch(facts, kernel, arena);
    struct str call = suggest_c_call(facts, kernel, arena);
    uint32_t begin = 0;
    for (uint32_t i = 0; i <= call.len; i++) {
        if (i < call.len && call.data[i] != '\n') continue;
        if (i > begin)
            *vec_push(arena, &record->host_call) = (struct str){call.data + begin, i - begin};
        begin = i + 1;
    }
}

static void record_kernel(struct record_kernel *record, struct arena *arena,
                          const struct module_facts *facts, const struct kernel *kernel) {
    struct source *source = facts->module->source;
    const struct function *decl = kernel->decl;
    record->name = kernel->name;
    record->demangled = kernel->demangled;
    record->linkage = linkage_text(decl->linkage);
    record->line = source_position(source, decl->span.begin).line;
    record->param_bytes = kernel->param_bytes;
    record->has_maxntid = kernel->has_maxntid;
    record->has_reqntid = kernel->has_reqntid;
    record->has_cluster = kernel->has_reqnctapercluster;
    copy_three(record->maxntid, kernel->maxntid);
    copy_three(record->reqntid, kernel->reqntid);
    copy_three(record->cluster, kernel->reqnctapercluster);
    record->minnctapersm = unless_zero(kernel->minnctapersm);
    record->maxnreg = unless_zero(kernel->maxnreg);
    // Without its body nothing is known of what a kernel reaches.
    bool body = decl->body != NULL;
    record->shared_static = (struct known_u64){body, kernel->shared_static};
    record->shared_dynamic = kernel->shared_dynamic;
    record->dynamic_align = (struct known_u64){kernel->shared_dynamic, kernel->shared_dynamic_align};
    record->const_bytes = (struct known_u64){body, kernel->const_bytes};
    record->local_bytes = (struct known_u64){body, kernel->local_bytes};
    for (uint32_t i = 0; i < kernel->params.n; i++)
        record_param(vec_push(arena, &record->params), arena, &kernel->params.at[i]);
    block_row(record, arena, kernel);
    memory_rows(record, arena, kernel);
    cluster_row(record, arena, kernel);
    params_row(record, arena, kernel);
    suggestions(record, arena, facts, kernel);
}

// "PTX 8.7 for sm_90a only, 64-bit, from Triton 3.6.0; needs driver 570 or later"
static struct str about(struct arena *arena, const struct module_facts *facts,
                        const struct record_module *record) {
    struct output out;
    output_init(&out, arena);
    if (record->ptx_version.len != 0) output_format(&out, "PTX %.*s", STR_ARG(record->ptx_version));
    else output_text(&out, "PTX of no stated version");
    if (record->target.len != 0) {
        enum isa_target_id target = isa_target_find(record->target);
        bool only = target != TARGET_UNKNOWN && isa_targets[target].kind != TARGET_GENERIC;
        output_format(&out, " for %.*s%s", STR_ARG(record->target), only ? " only" : " or higher");
    }
    if (record->address_size.known)
        output_format(&out, ", %u-bit", (unsigned)record->address_size.value);
    if (facts->generator_text.len != 0)
        output_format(&out, ", from %.*s", STR_ARG(facts->generator_text));
    if (record->minimum_driver.len != 0)
        output_format(&out, "; loads with driver %.*s or later", STR_ARG(record->minimum_driver));
    return (struct str){out.data, (uint32_t)out.size};
}

static bool wanted(const struct kernel *kernel, const struct str *names, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (sources_is_called(kernel, names[i])) return true;
    return count == 0;
}

void record_module(struct record_file *file, struct arena *arena, const struct module_facts *facts,
                   const struct str *names, uint32_t count) {
    const struct module *module = facts->module;
    struct record_module *record = arena_new(arena, struct record_module);
    if (module->version != 0)
        record->ptx_version = str_format(arena, "%u.%u", module->version / 10u, module->version % 10u);
    record->target = module->target;
    record->address_size = unless_zero(module->address_size);
    if (facts->generator != GENERATOR_UNKNOWN)
        record->generator = facts->generator_text.len != 0
                                ? facts->generator_text
                                : str_from(generator_name((enum generator)facts->generator));
    if (module->version != 0) record->minimum_driver = isa_version_driver_text(arena, module->version);
    file->module = record;
    for (uint32_t i = 0; i < facts->kernels.n; i++)
        if (wanted(&facts->kernels.at[i], names, count))
            record_kernel(vec_push(arena, &file->kernels), arena, facts, &facts->kernels.at[i]);
    file->about = about(arena, facts, record);
}


static void record_use(struct record_memory *record, const struct kernel *kernel,
                       const struct dryrun_use *use) {
    *record = (struct record_memory){
        .param_known = use->param != NO_INDEX, .param = use->param, .read = use->read,
        .written = use->written, .read_low = use->read_low, .read_high = use->read_high,
        .written_low = use->written_low, .written_high = use->written_high,
        .size_needed = {use->exact, use->size_needed}, .align_needed = unless_zero(use->align_needed)};
    if (use->param == NO_INDEX) record->name = STR("shared");
    else if (kernel != NULL && use->param < kernel->params.n) {
        const struct kernel_param *param = &kernel->params.at[use->param];
        record->name = param->user_name.len != 0 ? param->user_name : param->name;
    }
}

void record_launch(struct record_launch *record, struct arena *arena,
                   const struct judgement *judgement, struct str text, uint32_t line) {
    static const char *const verdicts[] = {"ok", "fails", "unknown"};
    *record = (struct record_launch){.text = text, .line = line,
                                     .verdict = str_from(verdicts[judgement->verdict]),
                                     .predicted = judgement->predicted,
                                     .result_unknown = judgement->result_unknown,
                                     .also_count = judgement->also_count};
    record->findings = arena_new(arena, struct findings);
    *record->findings = judgement->findings;
    record->kernel = judgement->kernel != NULL ? judgement->kernel->name : judgement->launch.kernel;
    memcpy(record->also, judgement->also, sizeof record->also);
    record->has_occupancy = judgement->occupancy.known;
    record->blocks_per_sm = judgement->occupancy.blocks_per_sm;
    record->warps_per_sm = judgement->occupancy.warps_per_sm;
    record->limiter = str_from(judgement->occupancy.limiter);
    if (!judgement->ran) return;
    const struct dryrun_result *dry = &judgement->dry;
    record->has_coverage = true;
    record->complete = dry->complete;
    record->blocks = dry->blocks;
    record->blocks_run = dry->blocks_run;
    record->unknown_addresses = dry->unknown_addresses;
    for (uint32_t i = 0; i < dry->uses.n; i++)
        record_use(vec_push(arena, &record->memory), judgement->kernel, &dry->uses.at[i]);
}

static struct str version_text(struct arena *arena, uint16_t version) {
    return str_format(arena, "%u.%u", version / 10u, version % 10u);
}

void record_requires(struct record_file *file, struct arena *arena,
                     const struct requirements *requirements, struct source *source) {
    struct record_requires *record = arena_new(arena, struct record_requires);
    record->ptx_version = version_text(arena, requirements->floor.version);
    record->target = isa_floor_targets_text(arena, &requirements->floor);
    record->driver = isa_version_driver_text(arena, requirements->floor.version);
    record->complete = !requirements->incomplete;
    for (uint32_t i = 0; i < requirements->rows.n; i++) {
        const struct required *row = &requirements->rows.at[i];
        struct record_required *required = vec_push(arena, &record->features);
        required->feature = row->feature;
        required->ptx_version = version_text(arena, row->floor.version);
        required->target = isa_floor_targets_text(arena, &row->floor);
        required->line = source_position(source, row->span.begin).line;
    }
    file->requires = record;
}

// Which parameter an argument is for: named, or by its place.
static uint32_t param_of(const struct judgement *judgement, uint32_t index) {
    struct str name = judgement->launch.arguments.at[index].name;
    const struct kernel *kernel = judgement->kernel;
    if (name.len == 0) return index;
    for (uint32_t i = 0; i < kernel->params.n; i++)
        if (str_eq(kernel->params.at[i].name, name) || str_eq(kernel->params.at[i].user_name, name))
            return i;
    return NO_INDEX;
}

static const struct dryrun_use *use_of(const struct dryrun_result *dry, uint32_t param) {
    for (uint32_t i = 0; i < dry->uses.n && param != NO_INDEX; i++)
        if (dry->uses.at[i].param == param) return &dry->uses.at[i];
    return NULL;
}

struct str record_emitted(struct arena *arena, const struct judgement *judgement) {
    const struct launch *launch = &judgement->launch;
    struct output out;
    uint32_t at = 0;
    if (!judgement->ran || judgement->kernel == NULL) return (struct str){NULL, 0};
    output_init(&out, arena);
    for (uint32_t i = 0; i < launch->arguments.n; i++) {
        const struct argument *argument = &launch->arguments.at[i];
        const struct dryrun_use *use = use_of(&judgement->dry, param_of(judgement, i));
        bool sized = argument->kind == ARGUMENT_POINTER || argument->kind == ARGUMENT_BUFFER;
        if (!sized || use == NULL || use->size_needed == 0 || argument->span.begin < at) continue;
        output_bytes(&out, launch->source->text + at, argument->span.begin - at);
        if (argument->name.len != 0) output_format(&out, "%.*s=", STR_ARG(argument->name));
        output_format(&out, "u8[%llu]", (unsigned long long)use->size_needed);
        at = argument->span.end;
    }
    output_bytes(&out, launch->source->text + at, launch->source->size - at);
    return (struct str){out.data, (uint32_t)out.size};
}

// A `.loc` line of the text: its offset and its numbers.
struct loc_line {
    uint32_t offset, file, line;
};

struct loc_lines { VEC_OF(struct loc_line) list; };

static bool read_number(const char **at, uint32_t *number) {
    uint64_t value = 0;
    while (**at == ' ' || **at == '\t') (*at)++;
    if (**at < '0' || **at > '9') return false;
    while (**at >= '0' && **at <= '9' && value < UINT32_MAX) value = value * 10 + (uint64_t)(*(*at)++ - '0');
    *number = (uint32_t)value;
    return true;
}

static void find_locs(struct loc_lines *lines, struct arena *arena, const struct source *source) {
    const char *at = source->text, *end = at + source->size;
    while ((at = memmem(at, (size_t)(end - at), ".loc", 4)) != NULL) {
        const char *begin = at;
        struct loc_line loc = {.offset = (uint32_t)(begin - source->text)};
        at += 4;
        if (*at != ' ' && *at != '\t') continue;  // `.local`, `.location`
        if (read_number(&at, &loc.file) && read_number(&at, &loc.line))
            *vec_push(arena, &lines->list) = loc;
    }
}

// The last `.loc` before `offset`, inside the same function's body.
static const struct loc_line *loc_before(const struct loc_lines *lines, const struct module *module,
                                         uint32_t offset) {
    uint32_t low = 0, high = lines->list.n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (lines->list.at[middle].offset <= offset) low = middle + 1;
        else high = middle;
    }
    if (low == 0) return NULL;
    const struct loc_line *loc = &lines->list.at[low - 1];
    uint32_t first = 0, last = module->functions.n;  // functions stand in source order
    while (first < last) {
        uint32_t middle = first + (last - first) / 2;
        if (module->functions.at[middle].span.begin <= offset) first = middle + 1;
        else last = middle;
    }
    if (first == 0) return NULL;
    const struct function *function = &module->functions.at[first - 1];
    bool inside = function->has_body && loc->offset >= function->body_span.begin;
    return inside ? loc : NULL;
}

static struct str file_name(const struct module *module, uint32_t index) {
    for (uint32_t i = 0; i < module->files.n; i++)
        if (module->files.at[i].index == index) {
            struct str name = module->files.at[i].name;
            uint32_t begin = name.len;
            while (begin > 0 && name.data[begin - 1] != '/') begin--;
            return (struct str){name.data + begin, name.len - begin};
        }
    return (struct str){NULL, 0};
}

void record_origins(struct findings *findings, struct arena *arena, const struct module *module,
                    const struct source *source) {
    struct loc_lines lines = {0};
    if (findings->list.n == 0 || module == NULL || module->files.n == 0) return;
    find_locs(&lines, arena, source);
    for (uint32_t i = 0; i < findings->list.n; i++) {
        struct finding *finding = findings->list.at[i];
        if (finding->place.source != source) continue;
        const struct loc_line *loc = loc_before(&lines, module, finding->place.span.begin);
        if (loc == NULL || loc->line == 0) continue;
        struct str name = file_name(module, loc->file);
        if (name.len != 0) finding->origin = str_format(arena, "%.*s:%u", STR_ARG(name), loc->line);
    }
}
