#include "analyzer/facts/dryrun/lanes.h"

// Fused and unfused rounding must not depend on the build: see lanes_avx2.c.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math", "fp-contract=off")
#endif
#define LANES_TABLE lanes_portable
#include "analyzer/facts/dryrun/lanes_body.h"

const struct lane_info lane_infos[LANE_COUNT] = {
#define LANE(id, abstract, bits, expression) {ABSTRACT_##abstract, bits},
#include "analyzer/facts/dryrun/lanes.def"
};

const struct lane_table *lanes_choose(bool portable) {
#if defined(__x86_64__)
    if (!portable && __builtin_cpu_supports("avx2")) return &lanes_avx2;
#endif
    (void)portable;
    return &lanes_portable;
}
