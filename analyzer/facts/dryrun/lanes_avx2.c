#include "analyzer/facts/dryrun/lanes.h"

// AVX2 without FMA: contraction would round otherwise than the portable build.
#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#elif defined(__x86_64__)
#pragma GCC optimize("O3", "no-trapping-math", "fp-contract=off")
#pragma GCC target("avx2")
#endif
#define LANES_TABLE lanes_avx2
#include "analyzer/facts/dryrun/lanes_body.h"
#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute pop
#endif
