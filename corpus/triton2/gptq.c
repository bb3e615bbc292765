// A GPTQ-like product of a 4-bit matrix and a vector, with the signature and the conventions of an
// export of Triton 2: six parameters, 128 threads, partial sums through `global_smem`. With one block
// for each element of y (16384 of them) and in = 4096: qweight int[4096 * 512], qscale float[4096 * 32],
// qzeros int[512 * 32], x float[4096].
//   clang --target=nvptx64-nvidia-cuda -O2 -fno-unroll-loops -S -emit-llvm gptq.c -o gptq.ll
//   add to gptq.ll: !nvvm.annotations with "kernel" 1 and "maxntidx" 128, "maxntidy" 1, "maxntidz" 1
//   llc -mcpu=sm_80 -mattr=+ptx72 gptq.ll -o gptq.ptx
typedef __attribute__((address_space(1))) const int *ints;
typedef __attribute__((address_space(1))) const float *floats;
typedef __attribute__((address_space(1))) float *out;
extern __attribute__((address_space(3), aligned(16))) float global_smem[];

void gptq(ints qweight, floats qscale, ints qzeros, floats x, out y, int in) {
    int row = __nvvm_read_ptx_sreg_ctaid_x(), thread = __nvvm_read_ptx_sreg_tid_x();
    float sum = 0;
    for (int i = thread; i < in / 8; i += 128) {
        int group = i / 16, word = qweight[row / 4 * (in / 8) + i];
        int zero = qzeros[row / 32 * 32 + group] >> (row & 7) * 4 & 15;
        float scale = qscale[row / 4 * 32 + group];
        for (int j = 0; j < 8; j++) sum += scale * (float)((word >> 4 * j & 15) - zero) * x[i * 8 + j];
    }
    for (int step = 16; step > 0; step /= 2)
        sum += __builtin_bit_cast(float, __nvvm_shfl_sync_bfly_i32(-1, __builtin_bit_cast(int, sum), step, 31));
    if (thread % 32 == 0) global_smem[thread / 32] = sum;
    __syncthreads();
    if (thread == 0) y[row] = global_smem[0] + global_smem[1] + global_smem[2] + global_smem[3];
}
