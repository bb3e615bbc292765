#include "isa/gpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void finds(const char *text, const char *name) {
    const struct gpu *gpu = isa_gpu_find(str_from(text));
    assert_non_null(gpu);
    if (!str_eq(gpu->name, str_from(name))) fail_msg("%s gave %s", text, gpu->name.data);
}

static void test_names(void **state) {
    (void)state;
    finds("h200", "H200");
    finds("NVIDIA H100 80GB HBM3", "H100");
    finds("A100-SXM4-80GB", "A100");
    finds("H100 PCIe", "H100 PCIe");
    finds("nvidia geforce rtx 4090", "GeForce RTX 4090");
    finds("RTX4070Ti", "GeForce RTX 4070 Ti");
    finds("sm_90a", "sm_90");
    finds("compute_120f", "sm_120");
    finds("9.0", "sm_90");
    finds("10.3", "sm_103");
    finds("86", "sm_86");
    assert_null(isa_gpu_find(STR("")));
    assert_null(isa_gpu_find(STR("sm_91")));
    assert_null(isa_gpu_find(STR("9.0.1")));
    assert_null(isa_gpu_find(STR("GeForce RTX 4090 Laptop GPU")));
    assert_null(isa_gpu_find(STR("h2")));
    assert_string_equal(isa_gpu_nearest(STR("h20o"))->name.data, "H20");
}

static void test_rows_agree(void **state) {
    (void)state;
    for (uint32_t i = 0; i < isa_gpu_count; i++) {
        const struct gpu *gpu = &isa_gpus[i];
        assert_ptr_equal(gpu->limits, isa_limits_find(gpu->capability));
        assert_ptr_equal(isa_gpu_find(gpu->name), gpu);
        assert_true((gpu->class == GPU_ARCHITECTURE) == (gpu->sm_count == 0));
    }
    for (uint32_t i = 0; i < isa_limit_count; i++) {
        const struct gpu_limits *row = &isa_limits[i];
        assert_non_null(isa_gpu_architecture(row->capability));
        assert_int_equal(row->sm_threads, row->sm_warps * row->warp_size);
        assert_true(row->optin_shared + row->reserved_shared <= row->sm_shared);
        assert_true(row->optin_shared >= row->block_shared);
        assert_true((row->cluster_max != 0) == (row->capability >= 90));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_rows_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
