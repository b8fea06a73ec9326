// Launches of kernels that for_each (cuda_primitives.cuh) does not fit, and memory set to a byte.
#pragma once
#include <seidel/formats/runtime/backend.hpp>
#include <seidel/formats/runtime/cuda_check.hpp>

namespace seidel::cuda {

/// Does nothing for no blocks. Arguments are converted to what the kernel takes. Does not wait.
template <class... Parameters, class... Arguments>
void launch(const Cuda& on, void (*kernel)(Parameters...), std::int64_t blocks, int threads, const char* what,
            const Arguments&... arguments) {
  if (blocks == 0) return;
  kernel<<<unsigned(blocks), threads, 0, on.stream()>>>(Parameters(arguments)...);
  check_launch(what);
}
struct LaunchShape {
  std::int64_t blocks;
  int threads, shared_bytes = 0;
};
/// `early`: the kernel may begin before the one launched before it has ended, and waits for that itself: by
/// await_launch_before(), which needs code compiled for compute capability 9.0.
template <class... Parameters, class... Arguments>
void launch_after(const Cuda& on, bool early, void (*kernel)(Parameters...), const LaunchShape& shape, const char* what,
                  const Arguments&... arguments) {
  if (shape.blocks == 0) return;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = unsigned(shape.blocks);
  config.blockDim = unsigned(shape.threads);
  config.dynamicSmemBytes = std::size_t(shape.shared_bytes);
  config.stream = on.stream();
  config.attrs = &attribute;
  config.numAttrs = early;
  cuda_check(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), what);
}
/// Whether the kernel was compiled for compute capability 9.0 or above, so that await_launch_before() waits.
template <class... Parameters>
bool can_wait(void (*kernel)(Parameters...)) {
  cudaFuncAttributes compiled;
  cuda_check(cudaFuncGetAttributes(&compiled, kernel), "asking how a kernel was compiled");
  return compiled.ptxVersion >= 90;
}
/// A thread for each of n, 256 to a block.
template <class... Parameters, class... Arguments>
void launch_over(const Cuda& on, std::int64_t n, void (*kernel)(Parameters...), const char* what,
                 const Arguments&... arguments) {
  constexpr int threads = 256;
  launch(on, kernel, blocks_for(n, threads), threads, what, arguments...);
}

/// Lets the next launch begin as soon as all blocks of this one have.
__device__ inline void let_next_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
/// Waits until the launch before this one has ended and can be read.
__device__ inline void await_launch_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Every byte becomes `byte`. Does not wait.
template <class T>
void set_bytes(const Cuda& on, Span<T, Device> data, int byte) {
  if (!data.empty())
    cuda_check(cudaMemsetAsync(data.data(), byte, std::size_t(data.size()) * sizeof(T), on.stream()), "filling memory");
}

}  // namespace seidel::cuda
