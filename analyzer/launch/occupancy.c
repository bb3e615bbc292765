#include "analyzer/launch/occupancy.h"

#include "base/checked.h"
#include "isa/gpus.h"

static uint64_t register_warps(const struct gpu_limits *limits, uint64_t registers) {
    uint64_t of_warp = 0;
    if (registers == 0) registers = 1;
    if (!mul_u64(registers, limits->warp_size, &of_warp) ||
        !align_u64(of_warp, limits->register_unit, &of_warp))
        return 0;
    uint64_t of_partition = limits->sm_registers / limits->sub_partitions / of_warp;
    return of_partition * limits->sub_partitions;
}

uint32_t occupancy_register_threads(const struct gpu_limits *limits, uint64_t registers) {
    uint64_t warps = register_warps(limits, registers);
    // A block may take less than the whole register file where the architecture says so.
    uint64_t of_warp = (registers * limits->warp_size + limits->register_unit - 1) /
                       limits->register_unit * limits->register_unit;
    if (warps > 0 && warps * of_warp > limits->block_registers) warps = limits->block_registers / of_warp;
    uint64_t threads = warps * limits->warp_size;
    return (uint32_t)(threads < limits->block_threads ? threads : limits->block_threads);
}

static uint64_t shared_blocks(const struct gpu_limits *limits, uint64_t shared) {
    uint64_t taken;
    if (!add_u64(shared, limits->reserved_shared, &taken) ||
        !align_u64(taken, limits->shared_unit, &taken))
        return 0;
    return taken == 0 ? UINT64_MAX : limits->sm_shared / taken;
}

struct occupancy_answer occupancy_compute(const struct gpu_limits *limits,
                                          const struct occupancy_request *request) {
    struct occupancy_answer answer = {0, 0, "warps"};
    uint64_t warps = request->threads / limits->warp_size + (request->threads % limits->warp_size != 0);
    if (warps == 0 || request->threads > limits->block_threads) return answer;
    uint64_t barriers = request->named_barriers == 0 ? 1 : request->named_barriers;
    bool fits = request->shared <= request->shared_limit;
    bool registers = request->threads <= occupancy_register_threads(limits, request->registers);
    const struct { uint64_t blocks; const char *name; } bounds[] = {
        {fits ? shared_blocks(limits, request->shared) : 0, "shared"},
        {registers ? register_warps(limits, request->registers) / warps : 0, "registers"},
        {limits->sm_warps / warps, "warps"},
        {limits->sm_blocks, "blocks"},
        {limits->sm_barriers / barriers, "barriers"},
    };
    uint64_t blocks = UINT64_MAX;
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        if (bounds[i].blocks >= blocks) continue;
        blocks = bounds[i].blocks;
        answer.limiter = bounds[i].name;
    }
    answer.blocks_per_sm = (uint32_t)blocks;
    answer.warps_per_sm = (uint32_t)(blocks * warps);
    return answer;
}
