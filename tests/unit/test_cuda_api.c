// Our declarations of the CUDA Driver API against cuda.h, where it is.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#ifdef HAVE_CUDA_H
#include <cuda.h>

#include "driver/cuda_api.h"
#include "findings/findings.h"

static void constants_are_those_of_cuda_h(void **state) {
    (void)state;
#define CONSTANT(name, value) assert_int_equal((long long)DRV_##name, (long long)name);
#include "driver/constants.def"
    assert_ptr_equal(DRV_LAUNCH_PARAM_END, CU_LAUNCH_PARAM_END);
    assert_ptr_equal(DRV_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_POINTER);
    assert_ptr_equal(DRV_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_BUFFER_SIZE);
}

static void results_are_those_of_cuda_h(void **state) {
    (void)state;
    assert_int_equal(RESULT_CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(RESULT_CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(RESULT_CUDA_ERROR_INVALID_CLUSTER_SIZE, CUDA_ERROR_INVALID_CLUSTER_SIZE);
    assert_int_equal(RESULT_CUDA_ERROR_INVALID_PTX, CUDA_ERROR_INVALID_PTX);
}

#define SAME_FIELD(ours, field, theirs, their_field)                               \
    assert_int_equal(offsetof(struct ours, field), offsetof(theirs, their_field))

static void structures_have_the_layout_of_cuda_h(void **state) {
    (void)state;
    assert_int_equal(sizeof(struct drv_launch_attribute), sizeof(CUlaunchAttribute));
    SAME_FIELD(drv_launch_attribute, value, CUlaunchAttribute, value);
    assert_int_equal(sizeof(struct drv_launch_config), sizeof(CUlaunchConfig));
    SAME_FIELD(drv_launch_config, block, CUlaunchConfig, blockDimX);
    SAME_FIELD(drv_launch_config, shared, CUlaunchConfig, sharedMemBytes);
    SAME_FIELD(drv_launch_config, stream, CUlaunchConfig, hStream);
    SAME_FIELD(drv_launch_config, attributes, CUlaunchConfig, attrs);
    SAME_FIELD(drv_launch_config, attribute_count, CUlaunchConfig, numAttrs);
    assert_int_equal(sizeof(struct drv_allocation_prop), sizeof(CUmemAllocationProp));
    SAME_FIELD(drv_allocation_prop, location, CUmemAllocationProp, location);
    SAME_FIELD(drv_allocation_prop, flags, CUmemAllocationProp, allocFlags);
    assert_int_equal(sizeof(struct drv_access), sizeof(CUmemAccessDesc));
    SAME_FIELD(drv_access, flags, CUmemAccessDesc, flags);
    assert_int_equal(sizeof(struct drv_tensor_map), sizeof(CUtensorMap));
    assert_int_equal(_Alignof(struct drv_tensor_map), _Alignof(CUtensorMap));
    assert_int_equal(sizeof(uint64_t), sizeof(CUdeviceptr));
    assert_int_equal(sizeof(unsigned long long), sizeof(CUmemGenericAllocationHandle));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_those_of_cuda_h), cmocka_unit_test(results_are_those_of_cuda_h),
        cmocka_unit_test(structures_have_the_layout_of_cuda_h)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void) {
    printf("skipped: no cuda.h\n");
    return 77;
}
#endif
