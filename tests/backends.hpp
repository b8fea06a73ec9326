// The back ends that tests run on, and data moved to and from them.
#pragma once
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "skipped.hpp"

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel::tests {

/// Whether there is a GPU to test on; asked once.
inline bool have_gpu() {
  static const bool have = cuda_unavailable_because().empty();
  return have;
}

/// Calls test(on) for one core, for 1, 2, 3 and 7 threads, and for the GPU if there is one.
template <class Test>
void on_every_backend(const Test& test) {
  test(Serial{});
  for (int threads : {1, 2, 3, 7}) test(OpenMP{threads});
  if constexpr (built_with_cuda) {
    if (have_gpu())
      test(Cuda{});
    else
      skipped_cuda();
  }
}

/// Fills memory that the next arrays on a GPU are likely to get with ones, so that what is not written shows.
template <class B>
void poison(const B&) {
  if constexpr (!HostBackend<B>) {
    const std::vector<unsigned char> ones(1 << 21, 0xff);
    std::vector<Array<unsigned char, typename B::Space>> arrays;
    for (int k = 0; k < 4; ++k) arrays.emplace_back(ones);
  }
}

template <class B, class T>
Array<T, typename B::Space> moved_to(const B&, const std::vector<T>& from) {
  return Array<T, typename B::Space>(from);
}

template <class T, class Space>
std::vector<T> moved_back(const Array<T, Space>& from) {
  std::vector<T> to(from.size());
  copy_bytes(Host{}, to.data(), Space{}, from.data(), from.size() * std::int64_t(sizeof(T)));
  return to;
}

}  // namespace seidel::tests
