// Plain C for NVPTX: a struct by value and a vector access.
//   clang --target=nvptx64-nvidia-cuda -O2 -S -emit-llvm scale.c -o scale.ll, with "kernel" 1 added to
//   its !nvvm.annotations; llc -mcpu=sm_70 -mattr=+ptx63 scale.ll -o scale.ptx
typedef float float4 __attribute__((ext_vector_type(4)));
struct range { int first, count; double factor; };

void scale(float4 *data, struct range range) {
    int i = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() +
            __nvvm_read_ptx_sreg_tid_x();
    if (i < range.count) data[range.first + i] *= (float)range.factor;
}
