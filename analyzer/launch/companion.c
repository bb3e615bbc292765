#include "analyzer/launch/companion.h"

#include <inttypes.h>

#include "analyzer/launch/companion_text.h"
#include "base/file.h"

// --- finding the files ---------------------------------------------------------------------------

struct search {
    const struct companion_reader *reader;
    struct arena *arena;
    struct findings *findings;
    struct companion *companion;
    bool found;
};

static bool read_beside(struct search *search, struct str base, const char *extension,
                        struct str *path, struct str *text) {
    *path = str_format(search->arena, "%.*s%s", STR_ARG(base), extension);
    return search->reader->read(search->reader->context, *path, search->arena, text);
}

static void read_metadata(struct search *search, struct str base) {
    struct str path, text;
    if (!read_beside(search, base, ".json", &path, &text)) return;
    struct source *source = arena_new(search->arena, struct source);
    source_init(source, search->arena, path, text.data, text.len);
    if (companion_read_json(search->companion, source, search->arena, search->findings))
        search->found = true;
}

// A .ttir names every parameter of the entry, so it stands above the metadata's signature, from
// which only the folded arguments are kept.
static void read_intermediate(struct search *search, struct str base, const char *extension) {
    struct str path, text, kernel = STR("");
    if (search->companion->expanded || !read_beside(search, base, extension, &path, &text)) return;
    struct companion whole = {0};
    if (!companion_read_ttir(&whole, text, search->arena, &kernel)) return;
    struct companion *companion = search->companion;
    memcpy(&companion->arguments, &whole.arguments, sizeof companion->arguments);
    companion->expanded = true;
    if (companion->metadata.name.len == 0) companion->metadata.name = kernel;
    search->found = true;
}

static struct companion *search_beside(struct search *search, struct str base) {
    search->companion = arena_new(search->arena, struct companion);
    read_metadata(search, base);
    read_intermediate(search, base, ".ttir");
    read_intermediate(search, base, ".sig.txt");
    search->companion->metadata.has_signature = search->companion->arguments.n > 0;
    return search->found ? search->companion : NULL;
}

static struct str without_suffix(struct str path, struct str suffix) {
    if (str_ends(path, suffix)) path.len -= suffix.len;
    return path;
}

// Some other tool's .json may stand beside a .ptx: without a key that Triton writes it is left alone.
static bool says_something(const struct companion *companion) {
    const struct kernel_metadata *metadata = &companion->metadata;
    return metadata->num_warps.known || metadata->shared.known || companion->arguments.n > 0;
}

struct companion *companion_find(const struct companion_reader *reader, struct str ptx_path,
                                 struct arena *arena, struct findings *findings) {
    struct search search = {.reader = reader, .arena = arena, .findings = findings};
    struct str base = without_suffix(ptx_path, STR(".ptx"));
    if (base.len == 0 || str_eq(ptx_path, STR("-"))) return NULL;
    struct companion *companion = search_beside(&search, base);
    return companion != NULL && says_something(companion) ? companion : NULL;
}

struct companion *companion_open(const struct companion_reader *reader, struct str path,
                                 struct str ptx_path, struct arena *arena,
                                 struct findings *findings) {
    struct search search = {.reader = reader, .arena = arena, .findings = findings};
    uint32_t before = findings->list.n;
    struct str base = path;
    base = without_suffix(base, STR(".json"));
    base = without_suffix(base, STR(".ttir"));
    base = without_suffix(base, STR(".sig.txt"));
    struct companion *companion = search_beside(&search, base);
    if (companion == NULL) {
        base = str_format(arena, "%.*s/%.*s", STR_ARG(path), STR_ARG(path_stem(ptx_path)));
        companion = search_beside(&search, base);
    }
    if (companion != NULL && says_something(companion)) return companion;
    if (findings->list.n > before) return NULL;  // it was there, and was refused
    struct finding *finding =
        finding_add(findings, RULE_METADATA_UNREADABLE, (struct place){0});
    finding_message(findings, finding, "no Triton metadata at `%.*s`", STR_ARG(path));
    finding_help(findings, finding, "name the `.json`, or the folder that holds `%.*s.json`",
                 STR_ARG(path_stem(ptx_path)));
    return NULL;
}

// --- where metadata and PTX disagree -------------------------------------------------------------

struct pair {
    const struct companion *companion;
    const struct kernel_metadata *metadata;
    struct module_facts *facts;
    struct kernel *kernel;  // NULL: not found
    struct arena *arena;
    struct findings *findings;
};

static struct place in_ptx(const struct pair *pair, struct span span) {
    return (struct place){pair->facts->module->source, span};
}

static struct finding *disagree(struct pair *pair, enum rule rule, struct span span,
                                const char *kernel_says) {
    struct finding *finding = finding_add(pair->findings, rule, in_ptx(pair, span));
    if (pair->kernel != NULL) finding->kernel = pair->kernel->name;
    if (kernel_says != NULL) finding_caption(pair->findings, finding, "%s", kernel_says);
    finding_help(pair->findings, finding,
                 "the `.json` belongs to another `.ptx`: copy both from one folder of the cache");
    return finding;
}

static void label_metadata(struct pair *pair, struct finding *finding, struct span span,
                           const char *text) {
    if (pair->metadata->source == NULL || span.end == 0) return;
    struct place place = {pair->metadata->source, span};
    finding_label(pair->findings, finding, place, "%s", text);
}

static struct span directive_span(const struct pair *pair, enum directive directive) {
    const struct directive_use *use = function_directive(pair->kernel->decl, directive);
    return use != NULL ? use->span : pair->kernel->decl->span;
}

static uint64_t product(const uint64_t dims[3]) {
    uint64_t all = dims[0];  // directives are bounded by the parser; a wrap only unequals
    return all * dims[1] * dims[2];
}

static void check_threads(struct pair *pair) {
    const struct kernel *kernel = pair->kernel;
    uint64_t threads = pair->metadata->threads;
    if (threads == 0 || (!kernel->has_reqntid && !kernel->has_maxntid)) return;
    uint64_t compiled = product(kernel->has_reqntid ? kernel->reqntid : kernel->maxntid);
    if (compiled == threads) return;
    const char *name = kernel->has_reqntid ? ".reqntid" : ".maxntid";
    enum directive directive = kernel->has_reqntid ? DIRECTIVE_REQNTID : DIRECTIVE_MAXNTID;
    struct finding *finding = disagree(pair, RULE_METADATA_THREADS,
                                       directive_span(pair, directive), "of the PTX");
    finding_message(pair->findings, finding,
                    "metadata says %" PRIu64 " warps, %" PRIu64 " threads; the PTX was compiled "
                    "for `%s` %" PRIu64, pair->metadata->num_warps.value, threads, name, compiled);
    label_metadata(pair, finding, pair->metadata->num_warps.span, "of the metadata");
}

// Numbers of "sm_90a" and "sm_90" are compared, not their suffixes: Triton adds those itself.
static uint32_t target_number(struct str target) {
    uint32_t number = 0;
    for (uint32_t i = 0; i < target.len && number < 100000; i++)
        if (target.data[i] >= '0' && target.data[i] <= '9')
            number = number * 10 + (uint32_t)(target.data[i] - '0');
    return number;
}

static void check_target(struct pair *pair) {
    const struct module *module = pair->facts->module;
    if (pair->metadata->target.len == 0 || module->target.len == 0) return;
    if (target_number(pair->metadata->target) == target_number(module->target)) return;
    struct finding *finding =
        disagree(pair, RULE_METADATA_TARGET, module->target_span, "of the PTX");
    finding_message(pair->findings, finding, "metadata is of `%.*s`; the PTX is for `%.*s`",
                    STR_ARG(pair->metadata->target), STR_ARG(module->target));
    label_metadata(pair, finding, pair->metadata->target_span, "of the metadata");
}

// CTAs of one cluster as the metadata has them: num_ctas, or the product of the older cluster_dims.
static uint64_t metadata_ctas(const struct kernel_metadata *metadata) {
    uint64_t dims = 1;
    for (int i = 0; i < 3; i++)
        if (metadata->cluster[i].known && metadata->cluster[i].value <= 1024)
            dims *= metadata->cluster[i].value;
    if (metadata->num_ctas.known && metadata->num_ctas.value > dims) return metadata->num_ctas.value;
    return dims;
}

// A PTX without the directive gets its cluster from the launch, as older releases do it.
static void check_cluster(struct pair *pair) {
    const struct kernel *kernel = pair->kernel;
    if (!kernel->has_reqnctapercluster || !pair->metadata->num_ctas.known) return;
    uint64_t compiled = product(kernel->reqnctapercluster);
    uint64_t ctas = metadata_ctas(pair->metadata);
    if (compiled == ctas || compiled == 0) return;
    struct finding *finding = disagree(pair, RULE_METADATA_CLUSTER,
                                       directive_span(pair, DIRECTIVE_REQNCTAPERCLUSTER),
                                       "of the PTX");
    finding_message(pair->findings, finding,
                    "metadata says clusters of %" PRIu64 "; the PTX was compiled for clusters of "
                    "%" PRIu64, ctas, compiled);
    label_metadata(pair, finding, pair->metadata->num_ctas.span, "of the metadata");
}

static void check_shared(struct pair *pair) {
    const struct kernel *kernel = pair->kernel;
    const struct metadata_value *shared = &pair->metadata->shared;
    if (!shared->known || kernel->calls_unknown || kernel->decl->body == NULL) return;
    if ((shared->value > 0) == kernel->shared_dynamic) return;
    struct finding *finding =
        disagree(pair, RULE_METADATA_SHARED, kernel->decl->span,
                 kernel->shared_dynamic ? "uses dynamic shared memory" : "uses none");
    finding_message(pair->findings, finding,
                    kernel->shared_dynamic
                        ? "metadata says %" PRIu64 " bytes of dynamic shared memory; the PTX uses it"
                        : "metadata says %" PRIu64
                          " bytes of dynamic shared memory; the PTX uses none",
                    shared->value);
    label_metadata(pair, finding, shared->span, "of the metadata");
}

// Arguments that became parameters; a tensor descriptor becomes several unless a .ttir lists them.
static uint32_t unfolded(const struct companion *companion) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < companion->arguments.n; i++)
        if (!companion->arguments.at[i].folded) count++;
    return count;
}

static bool has_descriptors(const struct companion *companion) {
    for (uint32_t i = 0; i < companion->arguments.n; i++)
        if (str_starts(companion->arguments.at[i].type, STR("tensordesc"))) return true;
    return false;
}

static bool parameters_fit(const struct pair *pair) {
    const struct companion *companion = pair->companion;
    uint32_t hidden = pair->metadata->source != NULL ? pair->metadata->hidden_params : 0;
    if (pair->kernel->params.n < hidden) return false;
    uint32_t user = pair->kernel->params.n - hidden, count = unfolded(companion);
    if (!pair->metadata->has_signature) return true;
    if (pair->metadata->source == NULL) return count <= user && user - count <= 2;
    if (!companion->expanded && has_descriptors(companion)) return count <= user;
    return count == user;
}

static void check_parameters(struct pair *pair) {
    struct finding *finding =
        disagree(pair, RULE_METADATA_PARAMETERS, pair->kernel->decl->span, NULL);
    if (pair->metadata->has_signature)
        finding_message(pair->findings, finding,
                        "metadata says %u arguments and %u hidden; the entry has %u parameters",
                        unfolded(pair->companion), pair->metadata->hidden_params,
                        pair->kernel->params.n);
    else
        finding_message(pair->findings, finding,
                        "metadata says %u hidden parameters; the entry has %u in all",
                        pair->metadata->hidden_params, pair->kernel->params.n);
}

// --- applying it ---------------------------------------------------------------------------------

// Triton 2 names an entry after its specialisation: `add_0d1d2d3de` is `add`.
static bool is_specialised(struct str entry, struct str name) {
    if (!str_starts(entry, name) || entry.len < name.len + 3) return false;
    return entry.data[name.len] == '_' && entry.data[name.len + 1] == '0';
}

static struct kernel *find_kernel(struct pair *pair) {
    struct module_facts *facts = pair->facts;
    struct str name = pair->metadata->name;
    if (name.len == 0) return facts->kernels.n == 1 ? &facts->kernels.at[0] : NULL;
    struct kernel *exact = facts_kernel(facts, name);
    if (exact != NULL) return exact;
    for (uint32_t i = 0; i < facts->kernels.n; i++)
        if (is_specialised(facts->kernels.at[i].name, name)) return &facts->kernels.at[i];
    return NULL;
}

static void report_no_kernel(struct pair *pair) {
    if (pair->metadata->name.len == 0 || pair->facts->kernels.n == 0) return;
    const struct kernel *first = &pair->facts->kernels.at[0];
    struct finding *finding = disagree(pair, RULE_METADATA_KERNEL, first->decl->span, NULL);
    finding_message(pair->findings, finding, "metadata is of kernel `%.*s`, which the PTX has not",
                    STR_ARG(pair->metadata->name));
    label_metadata(pair, finding, pair->metadata->name_span, "of the metadata");
}

static void hide(struct pair *pair, uint32_t index, const char *what,
                 const struct metadata_value *size, const struct metadata_value *align) {
    struct kernel_param *param = &pair->kernel->params.at[index];
    param->role = PARAM_HIDDEN;
    param->what = str_from(what);
    param->user_name = STR("");
    param->scratch_known = size->known;
    param->scratch_size = size->value;
    param->scratch_align =
        align->known && align->value > 0 && align->value <= 4096 ? (uint32_t)align->value : 1;
}

// What the metadata says of the trailing parameters stands above what the PTX suggests.
static void apply_hidden(struct pair *pair) {
    const struct kernel_metadata *metadata = pair->metadata;
    uint32_t n = pair->kernel->params.n, hidden = metadata->hidden_params;
    for (uint32_t i = 0; i < n; i++) {
        struct kernel_param *param = &pair->kernel->params.at[i];
        if (param->role == PARAM_HIDDEN) param->what = STR("");
        param->role = PARAM_USER;
    }
    if (hidden >= 1)
        hide(pair, n - hidden, "Triton global scratch", &metadata->global_scratch_size,
             &metadata->global_scratch_align);
    if (hidden == 2)
        hide(pair, n - 1, "Triton profile scratch", &metadata->profile_scratch_size,
             &metadata->profile_scratch_align);
}

// Parts of a tensor descriptor follow its map: as many sizes (i32), then as many strides (i64).
struct descriptor {
    struct str name;
    uint32_t shapes, strides;
};

static struct str part_name(struct pair *pair, struct descriptor *descriptor,
                            const struct kernel_param *param) {
    bool is_stride = param->size == 8;
    uint32_t number = is_stride ? descriptor->strides++ : descriptor->shapes++;
    return str_format(pair->arena, "%.*s.%s[%u]", STR_ARG(descriptor->name),
                      is_stride ? "stride" : "shape", number);
}

static void name_param(struct pair *pair, struct kernel_param *param,
                       const struct companion_argument *argument, struct descriptor *descriptor) {
    bool is_map = param->kind == PARAM_TENSORMAP ||
                  memmem(argument->type.data, argument->type.len, "tensordesc", 10) != NULL;
    param->user_type = argument->type;
    param->divisible_by = argument->divisible_by;
    param->user_name = argument->name;
    if (is_map) {
        *descriptor = (struct descriptor){.name = argument->name};
        param->what = STR("tensor map of a descriptor");
    } else if (descriptor->name.len > 0 && str_eq(descriptor->name, argument->name)) {
        param->user_name = part_name(pair, descriptor, param);
        param->what = STR("of a tensor descriptor");
    }
}

static void apply_expanded(struct pair *pair) {
    struct descriptor descriptor = {0};
    uint32_t next = 0;
    for (uint32_t i = 0; i < pair->companion->arguments.n; i++) {
        const struct companion_argument *argument = &pair->companion->arguments.at[i];
        if (argument->folded) continue;
        name_param(pair, &pair->kernel->params.at[next++], argument, &descriptor);
    }
}

// With only the metadata's signature, a descriptor's parts are the scalars up to where the rest of
// the signature begins, counted from the type: tensordesc<fp16[64, 64]> has two sizes and strides.
static uint32_t descriptor_rank(struct str type) {
    uint32_t rank = 1;
    bool inside = false;
    for (uint32_t i = 0; i < type.len; i++) {
        if (type.data[i] == '[') inside = true;
        if (inside && type.data[i] == ',') rank++;
    }
    return inside ? rank : 0;
}

static void apply_folded_signature(struct pair *pair) {
    struct descriptor descriptor = {0};
    uint32_t next = 0, user = pair->kernel->params.n - pair->metadata->hidden_params;
    for (uint32_t i = 0; i < pair->companion->arguments.n; i++) {
        const struct companion_argument *argument = &pair->companion->arguments.at[i];
        if (argument->folded) continue;
        uint32_t parts = 1;
        if (str_starts(argument->type, STR("tensordesc")))
            parts += 2 * descriptor_rank(argument->type);
        for (; parts > 0 && next < user; parts--) {
            struct companion_argument part = *argument;
            if (descriptor.name.len > 0 && str_eq(descriptor.name, part.name)) part.type = STR("");
            name_param(pair, &pair->kernel->params.at[next++], &part, &descriptor);
        }
    }
}

static void apply_names(struct pair *pair) {
    if (pair->companion->expanded || !has_descriptors(pair->companion)) apply_expanded(pair);
    else apply_folded_signature(pair);
}

// What the entry's own name said of folded arguments (Triton 2) is kept: that release's metadata does
// not list them.
static void attach(struct pair *pair) {
    const struct kernel_metadata *of_name = pair->kernel->metadata;
    struct kernel_metadata *metadata = arena_new(pair->arena, struct kernel_metadata);
    *metadata = *pair->metadata;
    if (metadata->folded.n == 0 && of_name != NULL) metadata->folded = of_name->folded;
    pair->kernel->metadata = metadata;
}

// The PTX shows that Triton wrote it, at best; the metadata, which release.
static void name_generator(struct pair *pair) {
    if (pair->metadata->triton_version.len == 0) return;
    pair->facts->generator = GENERATOR_TRITON;
    pair->facts->generator_text =
        str_format(pair->arena, "Triton %.*s", STR_ARG(pair->metadata->triton_version));
}

void companion_apply(const struct companion *companion, struct module_facts *facts,
                     struct arena *arena, struct findings *findings) {
    struct pair pair = {companion, &companion->metadata, facts, NULL, arena, findings};
    pair.kernel = find_kernel(&pair);
    if (pair.kernel == NULL) {
        report_no_kernel(&pair);
        return;
    }
    check_target(&pair);
    check_threads(&pair);
    check_cluster(&pair);
    check_shared(&pair);
    attach(&pair);
    name_generator(&pair);
    if (!parameters_fit(&pair)) {
        check_parameters(&pair);
        return;
    }
    if (pair.metadata->source != NULL) apply_hidden(&pair);
    if (pair.metadata->has_signature) apply_names(&pair);
}
