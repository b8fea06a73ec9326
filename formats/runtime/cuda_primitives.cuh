// What work on the device is made of: a thread for each element, stable sorts and scans.
#pragma once
#include <algorithm>
#include <bit>
#include <limits>

#include <seidel/formats/runtime/array.hpp>
#include <seidel/formats/runtime/cuda_check.hpp>

namespace seidel::cuda {

template <class Body>
__global__ void each(std::int64_t n, Body body) {
  const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) body(i);
}

/// Calls body(i) on the device for i = 0 ... n-1: consecutive i on neighbouring threads, 256 to a block. Does not wait.
void for_each(const Cuda& on, std::int64_t n, const char* what, const auto& body) {
  constexpr int threads = 256;
  if (n <= 0) return;
  each<<<blocks_for(n, threads), threads, 0, on.stream()>>>(n, body);
  check_launch(what);
}

/// A number in device memory.
template <class T>
Array<T, Device> one_of(const Cuda& on, T value) {
  Array<T, Device> number(on, 1);
  for_each(on, 1, "setting a number", [value, p = number.data()] __device__(std::int64_t) { *p = value; });
  return number;
}

/// Keys and payload, each twice: a sort goes to and fro between them.
template <class Payload>
struct Pairs {
  Array<Index, Device> key[2];  // at least 0
  Array<Payload, Device> payload[2];

  Pairs(const Cuda& on, std::int64_t room)
      : key{Array<Index, Device>(on, room), Array<Index, Device>(on, room)},
        payload{Array<Payload, Device>(on, room), Array<Payload, Device>(on, room)} {}
};

// cuda_primitives.cu is the only source that waits for the headers of CUB. Payload and T are std::int32_t or std::int64_t.

/// Sorts the first n pairs by keys below `end`, stably. The result is in key[0] and payload[0].
template <class Payload>
[[gnu::used]] void sort_pairs(const Cuda& on, Pairs<Payload>& pairs, std::int64_t n, std::int64_t end);
/// values[i] becomes values[0] + ... + values[i - 1].
template <class T>
[[gnu::used]] void exclusive_sum(const Cuda& on, Span<T, Device> values);
/// values[i] becomes the largest of values[0] ... values[i].
void inclusive_max(const Cuda& on, Span<Index, Device> values);

/// The smallest i of 0 ... n-1 for which is_bad(i), or n. Waits.
template <class IsBad>
std::int64_t first_where(const Cuda& on, std::int64_t n, const IsBad& is_bad) {
  const auto found = one_of<unsigned long long>(on, n);
  for_each(on, n, "looking for faults",
           [is_bad, p = const_cast<unsigned long long*>(found.data())] __device__(std::int64_t i) {
             if (is_bad(i)) atomicMin(p, (unsigned long long)i);
           });
  return std::int64_t(value_of(on, found.data()));
}

}  // namespace seidel::cuda
