// Triton's metadata: the .json beside the .ptx. Keys have come and gone with releases, so each is
// taken for what it says and none is required.
#include <jansson.h>
#include <stdlib.h>

#include "analyzer/launch/companion_text.h"

// Metadata is a few KiB. What is larger was not written by Triton.
#define LARGEST_METADATA (16u << 20)

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The JSON library keeps no positions: where `"key":` stands first, and the value up to its end.
// Keys of nested objects may be found instead; it only moves a caret.
static struct span value_span(const struct source *source, const char *key) {
    struct str name = str_from(key);
    const char *at = source->text, *end = source->text + source->size;
    while ((at = memmem(at, (size_t)(end - at), name.data, name.len)) != NULL) {
        const char *after = at + name.len;
        bool quoted = at > source->text && at[-1] == '"' && after < end && *after == '"';
        at = after;
        if (!quoted) continue;
        for (after++; after < end && (is_blank(*after) || *after == ':'); after++) {}
        const char *stop = after;
        while (stop < end && *stop != ',' && *stop != '}' && *stop != '\n') stop++;
        return (struct span){(uint32_t)(after - source->text), (uint32_t)(stop - source->text)};
    }
    return (struct span){0, 0};
}

struct reading {
    struct companion *companion;
    struct source *source;
    struct arena *arena;
    struct findings *findings;
    const json_t *root;
};

static void refuse_value(struct reading *reading, const char *key) {
    struct place place = {reading->source, value_span(reading->source, key)};
    struct finding *finding =
        finding_add(reading->findings, RULE_METADATA_UNREADABLE, place);
    finding_message(reading->findings, finding, "`%s` is not a count, and is left out", key);
}

// null is how Python says that an option was not set.
static struct metadata_value read_count(struct reading *reading, const char *key) {
    struct metadata_value value = {.span = value_span(reading->source, key)};
    const json_t *found = json_object_get(reading->root, key);
    if (found == NULL || json_is_null(found)) return value;
    if (!json_is_integer(found) || json_integer_value(found) < 0) {
        refuse_value(reading, key);
        return value;
    }
    value.known = true;
    value.value = (uint64_t)json_integer_value(found);
    return value;
}

static struct str read_string(struct reading *reading, const char *key) {
    const json_t *found = json_object_get(reading->root, key);
    if (!json_is_string(found)) return STR("");
    size_t size = json_string_length(found);
    return str_copy(reading->arena, (struct str){json_string_value(found), (uint32_t)size});
}

static bool read_flag(struct reading *reading, const char *key) {
    return json_is_true(json_object_get(reading->root, key));
}

// "GPUTarget(backend='cuda', arch=90, warp_size=32)": the number after `field=`.
static bool number_in(struct str text, const char *field, uint64_t *out) {
    struct str name = str_from(field);
    const char *at = text.len ? memmem(text.data, text.len, name.data, name.len) : NULL;
    if (at == NULL) return false;
    char *end;
    *out = strtoull(at + name.len, &end, 10);  // the text ends with a NUL
    return end != at + name.len;
}

static bool target_number(struct reading *reading, uint64_t *arch) {
    const json_t *target = json_object_get(reading->root, "target");
    const json_t *member = NULL;
    if (json_is_object(target)) member = json_object_get(target, "arch");
    if (json_is_array(target)) member = json_array_get(target, 1);
    if (json_is_integer(member) && json_integer_value(member) > 0) {
        *arch = (uint64_t)json_integer_value(member);
        return true;
    }
    if (number_in(read_string(reading, "target"), "arch=", arch)) return true;
    member = json_object_get(reading->root, "arch");
    if (json_is_integer(member) && json_integer_value(member) > 0) {
        *arch = (uint64_t)json_integer_value(member);
        return true;
    }
    return number_in(read_string(reading, "arch"), "sm", arch);
}

static void read_target(struct reading *reading) {
    struct kernel_metadata *metadata = &reading->companion->metadata;
    uint64_t arch;
    if (!target_number(reading, &arch)) return;
    metadata->target = str_format(reading->arena, "sm_%llu", (unsigned long long)arch);
    metadata->target_span = value_span(reading->source, "target");
    if (metadata->target_span.end == 0) metadata->target_span = value_span(reading->source, "arch");
}

static void read_cluster(struct reading *reading) {
    const json_t *dims = json_object_get(reading->root, "cluster_dims");
    for (size_t i = 0; i < 3 && i < json_array_size(dims); i++) {
        const json_t *dim = json_array_get(dims, i);
        if (!json_is_integer(dim) || json_integer_value(dim) < 1) continue;
        reading->companion->metadata.cluster[i] =
            (struct metadata_value){true, (uint64_t)json_integer_value(dim),
                                    value_span(reading->source, "cluster_dims")};
    }
}

static void read_scratch(struct reading *reading) {
    struct kernel_metadata *metadata = &reading->companion->metadata;
    metadata->global_scratch_size = read_count(reading, "global_scratch_size");
    metadata->global_scratch_align = read_count(reading, "global_scratch_align");
    metadata->profile_scratch_size = read_count(reading, "profile_scratch_size");
    metadata->profile_scratch_align = read_count(reading, "profile_scratch_align");
    metadata->hidden_params =
        metadata->profile_scratch_size.known ? 2u : metadata->global_scratch_size.known ? 1u : 0u;
}

static void read_keys(struct reading *reading) {
    struct kernel_metadata *metadata = &reading->companion->metadata;
    metadata->name = read_string(reading, "name");
    metadata->name_span = value_span(reading->source, "name");
    metadata->triton_version = read_string(reading, "triton_version");
    metadata->num_warps = read_count(reading, "num_warps");
    metadata->warp_size = read_count(reading, "warp_size");
    metadata->shared = read_count(reading, "shared");
    metadata->num_ctas = read_count(reading, "num_ctas");
    metadata->maxnreg = read_count(reading, "maxnreg");
    metadata->cooperative = read_flag(reading, "launch_cooperative_grid");
    metadata->pdl = read_flag(reading, "launch_pdl");
    metadata->tensor_descriptors =
        (uint32_t)json_array_size(json_object_get(reading->root, "tensordesc_meta"));
    read_target(reading);
    read_cluster(reading);
    read_scratch(reading);
    // A warp is 32 threads on every NVIDIA GPU; releases before 3.0 do not write it down.
    uint64_t warp = metadata->warp_size.known ? metadata->warp_size.value : 32;
    if (metadata->num_warps.known && metadata->num_warps.value <= 1024 && warp <= 1024)
        metadata->threads = metadata->num_warps.value * warp;
    struct str signature = read_string(reading, "kernel_signature");
    if (signature.len > 0) companion_read_signature(reading->companion, signature, reading->arena);
}

static void refuse(struct source *source, struct findings *findings, uint32_t offset,
                   const char *why) {
    uint32_t end = offset < source->size ? offset + 1 : offset;
    struct place place = {source, {offset, end}};
    struct finding *finding = finding_add(findings, RULE_METADATA_UNREADABLE, place);
    finding_message(findings, finding, "not metadata of a kernel: %s", why);
    finding_help(findings, finding, "copy the `.json` again from the folder that the `.ptx` is from");
}

bool companion_read_json(struct companion *companion, struct source *source, struct arena *arena,
                         struct findings *findings) {
    if (source->size > LARGEST_METADATA) {
        refuse(source, findings, 0, "it is larger than 16 MiB");
        return false;
    }
    json_error_t error;
    json_t *root = json_loadb(source->text, source->size, 0, &error);
    if (root == NULL) {
        uint32_t at = error.position >= 0 ? (uint32_t)error.position : 0;
        refuse(source, findings, at < source->size ? at : source->size, error.text);
        return false;
    }
    bool is_metadata = json_is_object(root);
    if (is_metadata) {
        struct reading reading = {companion, source, arena, findings, root};
        companion->metadata.source = source;
        companion->metadata.path = source->path;
        read_keys(&reading);
    } else {
        refuse(source, findings, 0, "it holds no JSON object");
    }
    json_decref(root);
    return is_metadata;
}
