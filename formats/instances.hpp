// The types that conversions and kernels are compiled for. The foot of their .cpp and .cu files calls what is to be emitted there with
// each of them, in a function that nobody calls; what it calls is declared with [[gnu::used]], so that it is emitted even if inlined.
#pragma once
#include <seidel/formats/csr.hpp>

namespace seidel {

/// visit(x) for a null pointer to each type of values.
void with_each_real(const auto& visit) { visit(static_cast<double*>(nullptr)), visit(static_cast<float*>(nullptr)); }
/// visit(row_ptr) for an empty array of each type of row pointers.
template <MemorySpace Space>
void with_each_offset(const auto& visit) {
  visit(Span<const std::int32_t, Space>()), visit(Span<const std::int64_t, Space>());
}
/// visit(A, x) for an empty matrix of each type in CSR, and a null pointer to values of its type.
template <MemorySpace Space>
void with_each_csr(const auto& visit) {
  with_each_real([&]<class Real>(Real* x) {
    visit(CsrView<Real, std::int32_t, Space>(), x), visit(CsrView<Real, std::int64_t, Space>(), x);
  });
}

}  // namespace seidel
