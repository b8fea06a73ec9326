// The diagonal, for those who divide by it.
#pragma once
#include <seidel/formats/csr.hpp>
#include <seidel/kernels/blas1/blas1.hpp>

namespace seidel {

namespace diagonal_detail {
template <class Real, class Offset>
[[gnu::used]] Array<Real> inverse_diagonal(const OpenMP& on, const CsrView<Real, Offset, Host>& A);
}  // namespace diagonal_detail

/// 1 / a_ii for every row.
/// Cost    reads A once.
/// Errors  ShapeError if A is not square; ZeroDiagonal, or InputError for a reciprocal or any entry that is not finite,
/// naming the first such row.
template <Backend B, class Real, class Offset>
Array<Real> inverse_diagonal(const B& on, const CsrView<Real, Offset, Host>& A) {
  return diagonal_detail::inverse_diagonal(host_of(on), A);
}

}  // namespace seidel
