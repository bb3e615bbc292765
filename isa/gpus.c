#include "isa/gpus.h"

#include <stdbool.h>

enum { CONFIRMED = 0, UNCONFIRMED = 1 };

#define LIMITS(cc, threads, x, y, z, warps, resident, blocks, registers, of_block, partitions,     \
               shared, without, optin, reserved, unit, params, portable, cluster, flag, barriers,  \
               grids, columns, base)                                                               \
    {.capability = cc, .warp_size = 32, .block_threads = threads, .block_x = x, .block_y = y,      \
     .block_z = z, .grid_x = 2147483647, .grid_y = 65535, .grid_z = 65535, .sm_warps = warps,      \
     .sm_threads = resident, .sm_blocks = blocks, .sm_registers = registers,                       \
     .block_registers = of_block, .thread_registers = 255, .register_unit = 256,                   \
     .sub_partitions = partitions, .sm_shared = shared, .block_shared = without,                   \
     .optin_shared = optin, .reserved_shared = reserved, .shared_unit = unit,                      \
     .const_bytes = 65536, .param_bytes_old = 4352, .param_bytes = params,                         \
     .cluster_portable = portable, .cluster_max = cluster, .block_barriers = 16,                   \
     .sm_barriers = barriers, .thread_local = 524288, .resident_grids = grids,                     \
     .tensor_columns = columns, .cluster_max_unconfirmed = flag, .param_base = base},

const struct gpu_limits isa_limits[] = {
#include "isa/limits.def"
};

const uint32_t isa_limit_count = sizeof isa_limits / sizeof isa_limits[0];

// Which row of limits.def a capability has, as a constant for the table below.
enum {
#define LIMITS(cc, ...) LIMITS_ROW_##cc,
#include "isa/limits.def"
};

#define GPU(kind, text, cc, sms, flag)                                                        \
    {.name = {text, sizeof(text) - 1}, .capability = cc, .sm_count = sms,                     \
     .sm_unconfirmed = flag, .class = GPU_##kind, .limits = &isa_limits[LIMITS_ROW_##cc]},

const struct gpu isa_gpus[] = {
#include "isa/gpus.def"
};

const uint32_t isa_gpu_count = sizeof isa_gpus / sizeof isa_gpus[0];

const struct gpu_limits *isa_limits_find(uint32_t capability) {
    for (uint32_t i = 0; i < isa_limit_count; i++)
        if (isa_limits[i].capability == capability) return &isa_limits[i];
    return NULL;
}

const struct gpu *isa_gpu_architecture(uint32_t capability) {
    for (uint32_t i = 0; i < isa_gpu_count; i++)
        if (isa_gpus[i].class == GPU_ARCHITECTURE && isa_gpus[i].capability == capability)
            return &isa_gpus[i];
    return NULL;
}

// A name without letter case, blanks, dashes and maker's words: "NVIDIA GeForce RTX 4090" is
// "rtx4090".
struct plain {
    char text[64];
    uint32_t len;
};

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static struct str plain_str(const struct plain *plain) {
    return (struct str){plain->text, plain->len};
}

static bool drop_prefix(struct plain *plain, struct str prefix) {
    if (!str_starts(plain_str(plain), prefix)) return false;
    plain->len -= prefix.len;
    memmove(plain->text, plain->text + prefix.len, plain->len);
    return true;
}

static struct plain plain_name(struct str text) {
    struct plain plain = {.len = 0};
    for (uint32_t i = 0; i < text.len && plain.len < sizeof plain.text; i++) {
        char c = text.data[i];
        if (c != ' ' && c != '-' && c != '_') plain.text[plain.len++] = lower(c);
    }
    drop_prefix(&plain, STR("nvidia"));
    drop_prefix(&plain, STR("geforce"));
    drop_prefix(&plain, STR("tesla"));
    return plain;
}

// "sm90a", "compute90", "90", "9.0": the capability, or 0.
static uint32_t capability_of(struct plain plain) {
    if (!drop_prefix(&plain, STR("sm"))) drop_prefix(&plain, STR("compute"));
    uint32_t value = 0, digits = 0, dots = 0;
    for (uint32_t i = 0; i < plain.len; i++) {
        char c = plain.text[i];
        bool suffix = i + 1 == plain.len && digits >= 2 && dots == 0 && (c == 'a' || c == 'f');
        if (suffix) break;
        if (c == '.' && digits > 0 && dots == 0 && i + 2 == plain.len) dots = 1;
        else if (c >= '0' && c <= '9' && digits < 4) {
            value = value * 10 + (uint32_t)(c - '0');
            digits++;
        } else return 0;
    }
    return digits >= 2 ? value : 0;
}

// Names as the driver reports them go on after the product: "A100-SXM4-80GB", "H100 80GB HBM3". A
// laptop's chip is another one than the desktop's of that name, so "Laptop GPU" is no such tail.
static bool known_tail(struct str tail) {
    static const char *const starts[] = {"sxm", "pcie", "nvl", "hbm", "generation", "server",
                                         "workstation"};
    if (tail.len > 0 && tail.data[0] >= '0' && tail.data[0] <= '9')
        return str_ends(tail, STR("gb")) || str_ends(tail, STR("hbm3")) ||
               str_ends(tail, STR("hbm3e")) || str_ends(tail, STR("hbm2e"));
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (str_starts(tail, str_from(starts[i]))) return true;
    return false;
}

const struct gpu *isa_gpu_find(struct str text) {
    if (text.len >= 64) return NULL;
    struct plain wanted = plain_name(text);
    uint32_t capability = capability_of(wanted);
    if (capability != 0) return isa_gpu_architecture(capability);
    const struct gpu *longest = NULL;
    uint32_t longest_len = 0;
    for (uint32_t i = 0; i < isa_gpu_count; i++) {
        struct plain name = plain_name(isa_gpus[i].name);
        if (str_eq(plain_str(&name), plain_str(&wanted))) return &isa_gpus[i];
        if (name.len <= longest_len || !str_starts(plain_str(&wanted), plain_str(&name))) continue;
        if (!known_tail((struct str){wanted.text + name.len, wanted.len - name.len})) continue;
        longest = &isa_gpus[i];
        longest_len = name.len;
    }
    return longest;
}

const struct gpu *isa_gpu_nearest(struct str text) {
    struct plain wanted = plain_name(text);
    const struct gpu *best = NULL;
    uint32_t best_distance = 4;
    for (uint32_t i = 0; i < isa_gpu_count; i++) {
        struct plain name = plain_name(isa_gpus[i].name);
        uint32_t distance = str_distance(plain_str(&wanted), plain_str(&name), 3);
        if (distance < best_distance) {
            best_distance = distance;
            best = &isa_gpus[i];
        }
    }
    return best;
}

const char *gpu_class_text(enum gpu_class class) {
    static const char *const texts[] = {"architecture", "data centre", "GeForce", "workstation",
                                        "Jetson"};
    return texts[class];
}
