// Events of the CUDA runtime.
#include <seidel/drivers/bench/sample.hpp>

#include <memory>

#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/formats/runtime/scratch.hpp>

namespace seidel::drivers {

namespace {

void check(cudaError_t status) { cuda_check(status, "timing"); }

struct DestroyEvent {
  void operator()(CUevent_st* event) const { cudaEventDestroy(event); }
};
using Event = std::unique_ptr<CUevent_st, DestroyEvent>;

Event new_event() {
  cudaEvent_t event;
  check(cudaEventCreate(&event));
  return Event(event);
}

}  // namespace

double cuda_seconds_of(const Cuda& on, const std::function<void()>& run) {
  const Event begin = new_event(), end = new_event();
  check(cudaEventRecord(begin.get(), on.stream()));
  run();
  check(cudaGetLastError());
  check(cudaEventRecord(end.get(), on.stream()));
  check(cudaEventSynchronize(end.get()));
  float ms = 0;
  check(cudaEventElapsedTime(&ms, begin.get(), end.get()));
  return 1e-3 * ms;
}

std::int64_t device_cache_bytes() {
  int device = 0, bytes = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device));
  return bytes;
}

void flush_device_cache(const Cuda& on) {
  Scratch wiped(on);
  const Span<std::byte, Device> scratch = wiped.take<std::byte>(4 * device_cache_bytes());
  check(cudaMemsetAsync(scratch.data(), 1, std::size_t(scratch.size()), on.stream()));
}

}  // namespace seidel::drivers
