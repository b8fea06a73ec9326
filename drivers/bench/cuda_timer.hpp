// Times of work on a CUDA stream, between events.
#pragma once
#include <functional>

#include <seidel/drivers/bench/sample.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel::drivers {

/// Seconds that the work run() gives to on.stream() takes there. Synchronises.
/// Errors  BackendError, also for faults of the kernels.
double cuda_seconds_of(const Cuda& on, const std::function<void()>& run);

/// One run to warm up, then `trials` timed ones.
inline Sample sampled(const Cuda& on, int trials, const std::function<void()>& run) {
  Sample sample;
  cuda_seconds_of(on, run);
  for (int t = 0; t < trials; ++t) sample.add(cuda_seconds_of(on, run));
  return sample;
}

/// Overwrites more than the L2 cache of the GPU, so that the next run finds nothing of ours there.
void flush_device_cache(const Cuda& on);
std::int64_t device_cache_bytes();

}  // namespace seidel::drivers
