// The diagonal, for those who divide by it.
#pragma once
#include <string>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/quantity.hpp>
#include <seidel/kernels/blas1/blas1.hpp>

namespace seidel {

/// Errors  ShapeError unless a matrix that brings new values has as many rows as before.
inline void require_rows(std::int64_t found, std::int64_t before) {
  if (found != before)
    throw ShapeError("update_values: found a matrix of " + counted(found, "row") + ", expected " +
                     std::to_string(before) + ", as before");
}

/// 1 / a_ii for every row, where A is.
/// Cost    reads A once; on Cuda its values and its diagonal, and synchronises.
/// Errors  ShapeError if A is not square; ZeroDiagonal, or InputError for a reciprocal or any entry that is not finite,
/// naming the first such row.
template <class Real, class Offset>
[[gnu::used]] Array<Real> inverse_diagonal(const OpenMP& on, const CsrView<Real, Offset, Host>& A);
template <class Real, class Offset>
[[gnu::used]] Array<Real, Device> inverse_diagonal(const Cuda& on, const CsrView<Real, Offset, Device>& A);

/// a_ii for every row, where A is: a square matrix with every diagonal entry stored. Does not wait.
template <class Real, class Offset>
[[gnu::used]] Array<Real> diagonal(const OpenMP& on, const CsrView<Real, Offset, Host>& A);
template <class Real, class Offset>
[[gnu::used]] Array<Real, Device> diagonal(const Cuda& on, const CsrView<Real, Offset, Device>& A);

}  // namespace seidel
