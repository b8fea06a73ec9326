// The back ends that tests run on, and data moved to and from them.
#pragma once
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "skipped.hpp"

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/backend.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::tests {

/// Whether there is a GPU to test on; asked once.
inline bool have_gpu() {
  static const bool have = cuda_unavailable_because().empty();
  return have;
}

/// Calls test(on) for 1, 2, 3 and 7 threads, and for the GPU if there is one.
template <class Test>
void on_every_backend(const Test& test) {
  for (int threads : {1, 2, 3, 7}) test(OpenMP{threads});
  if constexpr (built_with_cuda) {
    if (have_gpu())
      test(Cuda{});
    else
      skipped_cuda();
  }
}

/// What run() says when it throws an Error_, which it must.
template <class Error_ = Error, class Run>
std::string refusal(const Run& run) {
  try {
    run();
  } catch (const Error_& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// Fills memory that the next arrays on a GPU are likely to get with ones, so that what is not written shows.
template <class B>
void poison(const B& on) {
  if constexpr (!HostBackend<B>) {
    const std::vector<unsigned char> ones(1 << 21, 0xff);
    std::vector<Array<unsigned char, typename B::Space>> arrays;
    for (int k = 0; k < 4; ++k) arrays.emplace_back(on, ones);
  }
}

template <class B, class T>
Array<T, typename B::Space> moved_to(const B& on, const std::vector<T>& from) {
  return Array<T, typename B::Space>(on, from);
}

template <class B, class Real, class Offset>
Csr<Real, Offset, typename B::Space> moved_to(const B& on, const CsrView<Real, Offset, Host>& from) {
  return copied_to<typename B::Space>(on, from);
}

template <class B, class T>
std::vector<T> moved_back(const B&, const Array<T, Host>& from) {
  return {from.begin(), from.end()};
}
template <class T>
std::vector<T> moved_back(const Cuda& on, const Array<T, Device>& from) {
  return moved_back(on, copied_to<Host>(on, from));
}

}  // namespace seidel::tests
