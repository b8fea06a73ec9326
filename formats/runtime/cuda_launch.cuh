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
/// A thread for each of n, 256 to a block.
template <class... Parameters, class... Arguments>
void launch_over(const Cuda& on, std::int64_t n, void (*kernel)(Parameters...), const char* what,
                 const Arguments&... arguments) {
  constexpr int threads = 256;
  launch(on, kernel, blocks_for(n, threads), threads, what, arguments...);
}

/// Every byte becomes `byte`. Does not wait.
template <class T>
void set_bytes(const Cuda& on, Span<T, Device> data, int byte) {
  if (!data.empty())
    cuda_check(cudaMemsetAsync(data.data(), byte, std::size_t(data.size()) * sizeof(T), on.stream()), "filling memory");
}

}  // namespace seidel::cuda
