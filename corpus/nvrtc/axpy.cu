// A template in a namespace: its entry has a mangled name, as NVRTC and nvcc write it.
//   nvcc -ptx -arch=compute_75 axpy.cu
namespace blas {
template <typename T, int Unroll>
__global__ void __launch_bounds__(256) axpy(int n, T a, const T *x, T *y) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * Unroll;
    for (int j = 0; j < Unroll; j++)
        if (i + j < n) y[i + j] = a * x[i + j] + y[i + j];
}
template __global__ void axpy<float, 4>(int, float, const float *, float *);
template __global__ void axpy<double, 2>(int, double, const double *, double *);
}
__global__ void fill(float *out, float value) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
