// Every CUDA call and every launch is checked; a failure is a BackendError that says where in our sources.
// For CUDA sources only: where there is no CUDA Toolkit it holds nothing.
#pragma once
#if __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>

#include <cstdint>

#include <seidel/formats/runtime/backend.hpp>

namespace seidel {

/// Throws BackendError: "file:line: what failed: CUDA's reason", then what to do.
[[noreturn]] void throw_cuda_error(cudaError_t status, const char* what, const char* file, int line);

/// Errors  BackendError unless `status` is success. `what` reads on as "... failed".
inline void cuda_check(cudaError_t status, const char* what, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE()) {
  if (status != cudaSuccess) throw_cuda_error(status, what, file, line);
}

/// After a launch of `kernel`. Sees what was wrong with the launch; a fault inside the kernel shows at the next call
/// that waits for it.
inline void check_launch(const char* kernel, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  cuda_check(cudaGetLastError(), kernel, file, line);
}

/// Waits for the stream.
template <class T>
T value_of(const Cuda& on, const T* p) {
  T value;
  cuda_check(cudaMemcpyAsync(&value, p, sizeof(T), cudaMemcpyDeviceToHost, on.stream()), "a copy from the device");
  on.synchronize();
  return value;
}

/// Blocks of `threads` that cover n elements. A launch needs at least one: callers return early for n == 0.
inline unsigned blocks_for(std::int64_t n, int threads) { return unsigned((n + threads - 1) / threads); }

}  // namespace seidel
#endif
