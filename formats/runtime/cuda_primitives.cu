// Sorts and scans on the device, by CUB. Its headers are slow to compile, so they are included here alone.
#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/formats/runtime/scratch.hpp>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

namespace seidel::cuda {

namespace {

/// Runs a call of CUB: once to ask for its scratch memory, once to do it.
void with_scratch(const Cuda& on, const char* what, const auto& call) {
  std::size_t bytes = 0;
  cuda_check(call(nullptr, bytes), what);
  Scratch scratch(on);
  cuda_check(call(static_cast<void*>(scratch.take<std::byte>(std::int64_t(bytes)).data()), bytes), what);
}

struct Larger {
  __device__ Index operator()(Index a, Index b) const { return a > b ? a : b; }
};

}  // namespace

template <class Payload>
void sort_pairs(const Cuda& on, Pairs<Payload>& pairs, std::int64_t n, std::int64_t end) {
  const int bits = int(std::bit_width(std::uint64_t(std::max<std::int64_t>(end, 1) - 1)));
  if (n < 2 || bits == 0) return;
  cub::DoubleBuffer<Index> keys(pairs.key[0].data(), pairs.key[1].data());
  cub::DoubleBuffer<Payload> payload(pairs.payload[0].data(), pairs.payload[1].data());
  with_scratch(on, "a sort", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, payload, n, 0, bits, on.stream());
  });
  if (keys.selector) std::swap(pairs.key[0], pairs.key[1]);
  if (payload.selector) std::swap(pairs.payload[0], pairs.payload[1]);
}

template <class T>
void exclusive_sum(const Cuda& on, Span<T, Device> values) {
  if (values.empty()) return;
  with_scratch(on, "a scan", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, values.data(), values.data(), values.size(), on.stream());
  });
}

void inclusive_max(const Cuda& on, Span<Index, Device> values) {
  if (values.empty()) return;
  with_scratch(on, "a scan", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveScan(scratch, bytes, values.data(), values.data(), Larger{}, values.size(),
                                          on.stream());
  });
}

template void sort_pairs(const Cuda&, Pairs<std::int32_t>&, std::int64_t, std::int64_t);
template void sort_pairs(const Cuda&, Pairs<std::int64_t>&, std::int64_t, std::int64_t);
template void exclusive_sum(const Cuda&, Span<std::int32_t, Device>);
template void exclusive_sum(const Cuda&, Span<std::int64_t, Device>);

}  // namespace seidel::cuda
