#include "isa/versions.h"

const struct target_row isa_targets[TARGET_COUNT] = {
#define TARGET(id, text, number, kind, family, version, documented)                                \
    [TARGET_##id] = {{text, sizeof(text) - 1}, number, TARGET_##kind, family, version, documented},
#include "isa/targets.def"
};

enum { MEASURED = 1, PUBLISHED = 0 };

const struct version_row isa_versions[] = {
#define VERSION(version, cuda_first, cuda_last, branch, driver, known)                             \
    {version, cuda_first, cuda_last, branch, {driver, sizeof(driver) - 1}, known},
#include "isa/versions.def"
};
const uint32_t isa_version_count = sizeof isa_versions / sizeof *isa_versions;

// sm_101 became sm_110: its arch and family targets run there.
#define RENAMED_FROM 101
#define RENAMED_TO 110

static struct str target_suffix(struct str text) {
    static const struct str prefixes[] = {{"sm_", 3}, {"compute_", 8}};
    for (int i = 0; i < 2; i++)
        if (str_starts(text, prefixes[i]))
            return (struct str){text.data + prefixes[i].len, text.len - prefixes[i].len};
    return (struct str){NULL, 0};
}

enum isa_target_id isa_target_find(struct str text) {
    struct str suffix = target_suffix(text);
    if (suffix.len == 0) return TARGET_UNKNOWN;
    for (int target = 0; target < TARGET_COUNT; target++)
        if (str_eq(target_suffix(isa_targets[target].text), suffix))
            return (enum isa_target_id)target;
    return TARGET_UNKNOWN;
}

enum isa_target_id isa_target_nearest(struct str text) {
    enum isa_target_id best = TARGET_UNKNOWN;
    uint32_t least = 3;
    for (int target = TARGET_COUNT - 1; target >= 0; target--) {
        uint32_t distance = str_distance(text, isa_targets[target].text, least);
        if (distance >= least) continue;
        least = distance;
        best = (enum isa_target_id)target;
    }
    return best;
}

bool isa_target_runs_on(enum isa_target_id target, uint32_t compute_capability) {
    const struct target_row *row = &isa_targets[target];
    uint32_t number = row->number;
    if (row->kind == TARGET_GENERIC) return compute_capability >= number;
    if (number == RENAMED_FROM) number = RENAMED_TO;
    if (row->kind == TARGET_ARCH) return compute_capability == number;
    return compute_capability >= number && compute_capability / 10 == row->family;
}

const struct version_row *isa_version_find(uint32_t version) {
    for (uint32_t i = 0; i < isa_version_count; i++)
        if (isa_versions[i].version == version) return &isa_versions[i];
    return NULL;
}

uint32_t isa_version_newest_measured(void) {
    uint32_t newest = 0;
    for (uint32_t i = 0; i < isa_version_count; i++)
        if (isa_versions[i].measured) newest = isa_versions[i].version;
    return newest;
}

const struct version_row *isa_version_at_least(uint32_t version) {
    for (uint32_t i = 0; i < isa_version_count; i++)
        if (isa_versions[i].version >= version) return &isa_versions[i];
    return &isa_versions[isa_version_count - 1];
}

// A row without a driver (5.1) is read by the driver of the next row that has one.
static uint32_t version_branch(uint32_t row) {
    for (; row < isa_version_count; row++)
        if (isa_versions[row].branch != 0) return isa_versions[row].branch;
    return 0;
}

uint16_t isa_driver_reads(uint32_t driver) {
    uint32_t major = driver / 1000;
    uint16_t reads = 0;
    for (uint32_t i = 0; i < isa_version_count; i++) {
        uint32_t branch = version_branch(i);
        if (branch != 0 && branch <= major) reads = isa_versions[i].version;
    }
    // Past the newest branch that is known, what a driver reads is not.
    uint32_t newest = 0;
    for (uint32_t i = 0; i < isa_version_count; i++)
        if (isa_versions[i].branch > newest) newest = isa_versions[i].branch;
    return major > newest + 4 ? 0 : reads;
}

static bool parse_number(struct str *text, uint32_t *out) {
    uint32_t at = 0, value = 0;
    while (at < text->len && text->data[at] >= '0' && text->data[at] <= '9' && at < 6)
        value = value * 10 + (uint32_t)(text->data[at++] - '0');
    if (at == 0) return false;
    *out = value;
    *text = (struct str){text->data + at, text->len - at};
    return true;
}

static bool cuda_reads(uint32_t major, uint32_t minor, struct driver_row *out) {
    uint32_t release = 100 * major + minor;
    *out = (struct driver_row){0, 0};
    uint32_t newest = isa_versions[isa_version_count - 1].cuda_last;
    if (release < isa_versions[0].cuda_first || release / 100 > newest / 100) return false;
    for (uint32_t i = 0; i < isa_version_count; i++) {
        const struct version_row *row = &isa_versions[i];
        if (row->cuda_first == 0 || row->cuda_first > release) continue;
        out->reads = row->version;
        out->driver = (uint32_t)row->branch * 1000;
        struct str text = row->driver;
        uint32_t first, second = 0;
        if (!parse_number(&text, &first)) continue;
        if (text.len > 0) text = (struct str){text.data + 1, text.len - 1};
        parse_number(&text, &second);
        out->driver = first * 1000 + second;
    }
    return true;
}

bool isa_driver_find(struct str text, struct driver_row *out) {
    uint32_t major, minor = 0;
    if (!parse_number(&text, &major)) return false;
    if (text.len > 0 && text.data[0] == '.') {
        text = (struct str){text.data + 1, text.len - 1};
        if (!parse_number(&text, &minor)) return false;
    }
    // A third part of a driver's number ("550.54.14") says nothing more.
    if (text.len > 0 && (text.data[0] != '.' || text.len == 1)) return false;
    if (major < 100) return cuda_reads(major, minor, out);
    if (minor > 999) minor = 999;
    *out = (struct driver_row){major * 1000 + minor, isa_driver_reads(major * 1000 + minor)};
    return true;
}

struct str isa_version_driver_text(struct arena *arena, uint32_t version) {
    const struct version_row *row = isa_version_find(version);
    if (row != NULL && row->branch == 0 && row->cuda_first == 0)
        row = isa_version_at_least(version + 1);
    if (row == NULL || row->branch == 0) return (struct str){"", 0};
    struct str release = row->driver;
    if (release.len == 0) release = str_format(arena, "%u", (unsigned)row->branch);
    if (row->cuda_first == 0) return release;
    return str_format(arena, "%.*s (CUDA %u.%u)", STR_ARG(release), row->cuda_first / 100u,
                      row->cuda_first % 100u);
}
