// The diagonal's reciprocals.
#include <seidel/solvers/preconditioners/jacobi.hpp>

#include <algorithm>

namespace seidel::jacobi_detail {

template <class Real, class Offset>
Array<Real> inverse_diagonal(const CsrView<Real, Offset, Host>& A) {
  if (A.nrows != A.ncols)
    throw ShapeError("Jacobi: the matrix is " + std::to_string(A.nrows) + " x " + std::to_string(A.ncols) + ", a square one is needed");
  Array<Real> inverse(A.nrows);
  for (Index row = 0; row < A.nrows; ++row) {
    const Index* first = A.col_idx.data() + A.row_ptr[row];
    const Index* last = A.col_idx.data() + A.row_ptr[row + 1];
    const Index* at = std::lower_bound(first, last, row);
    if (at == last || *at != row) throw ZeroDiagonal(row, false);
    const Real diagonal = A.values[at - A.col_idx.data()];
    if (diagonal == 0) throw ZeroDiagonal(row, true);
    inverse[row] = 1 / diagonal;
  }
  return inverse;
}

/// Never called: names every instance, so that its code is emitted here.
template <class Real>
void instances(const Real*) {
  inverse_diagonal(CsrView<Real, std::int32_t, Host>{});
  inverse_diagonal(CsrView<Real, std::int64_t, Host>{});
}
template void instances(const double*);
template void instances(const float*);

}  // namespace seidel::jacobi_detail
