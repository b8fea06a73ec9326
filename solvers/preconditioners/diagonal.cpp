// The diagonal and its reciprocals, and who has none, in host memory.
#include <seidel/solvers/preconditioners/diagonal.hpp>

#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/shares.hpp>
#include <seidel/kernels/symgs/symgs.hpp>

namespace seidel {

template <class Real, class Offset>
Array<Real> inverse_diagonal(const OpenMP& on, const CsrView<Real, Offset, Host>& A) {
  require_square(A.nrows, A.ncols, "the diagonal");
  Array<Real> inverse(A.nrows);
  const std::int64_t bad = first_row_where(on, A.row_ptr, [&](std::int64_t row) {
    const Offset place = usable_diagonal(A, row);
    if (place >= 0) inverse[row] = 1 / A.values[place];
    return place < 0;
  });
  if (bad < A.nrows) symgs_detail::refuse_row(on, A, bad);
  return inverse;
}

template <class Real, class Offset>
Array<Real> diagonal(const OpenMP& on, const CsrView<Real, Offset, Host>& A) {
  Array<Real> diagonal(A.nrows);
  parallel_for(on, A.nrows, [&](std::int64_t first, std::int64_t last) {
    const Index* const columns = A.col_idx.data();
    for (std::int64_t row = first; row < last; ++row)
      diagonal[row] =
          A.values[std::lower_bound(columns + A.row_ptr[row], columns + A.row_ptr[row + 1], Index(row)) - columns];
  });
  return diagonal;
}

/// Never called: names both functions, so that their code is emitted here.
void instances_of_diagonals(const OpenMP& on) {
  with_each_csr<Host>([&](const auto& A, auto*) { inverse_diagonal(on, A), diagonal(on, A); });
}

}  // namespace seidel
