// What a Gauss-Seidel sweep does to row i, as far as host and device share it:
//
//   x_i = ((b_i - S(lower)) - S(upper)) * d_i,   d_i = 1 / a_ii,
//
// S being the one sum of kernels/sum.hpp on each side of the diagonal, taken towards it: the lower part in ascending,
// the upper in descending columns. So the value that is ready last comes last, and either sum can be carried from the
// sweep before. How S is summed is spelled apart for speed, 8 rows side by side in host/sweeps.cpp, 32 in
// cuda/slices.cuh; reference.hpp is the whole in its plainest form.
#pragma once
#include <seidel/formats/csr.hpp>
#include <seidel/kernels/sum.hpp>

namespace seidel {

enum class Direction { forward, backward };

/// The place of row's diagonal entry in A.values, or -1 if no sweep can use the row: the diagonal is not stored, zero
/// or so small that its reciprocal overflows, or some entry is NaN or infinite.
template <class Real, class Offset, class Space>
SEIDEL_HD Offset usable_diagonal(const CsrView<Real, Offset, Space>& A, std::int64_t row) {
  Offset diagonal = -1;
  bool finite = true;
  for (Offset k = A.row_ptr[row]; k < A.row_ptr[row + 1]; ++k) {
    finite &= A.values[k] - A.values[k] == 0;
    if (A.col_idx[k] == row) diagonal = k;
  }
  if (diagonal < 0 || !finite) return -1;
  const Real reciprocal = 1 / A.values[diagonal];
  return reciprocal - reciprocal == 0 ? diagonal : -1;
}

/// The new x_i; t = b_i - S(lower), old is the x_i before.
template <class Real>
SEIDEL_HD Real swept(Real t, Real upper, Real reciprocal, Real omega, Real old) {
  const Real gauss_seidel = (t - upper) * reciprocal;
  return omega == 1 ? gauss_seidel : std::fma(omega, gauss_seidel - old, old);
}

}  // namespace seidel
