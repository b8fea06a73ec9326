// Reciprocals of the diagonal, and who has none.
#include <seidel/solvers/preconditioners/diagonal.hpp>

#include <atomic>

#include <seidel/formats/runtime/parallel.hpp>
#include <seidel/kernels/symgs/symgs.hpp>

namespace seidel::diagonal_detail {

template <class Real, class Offset>
Array<Real> inverse_diagonal(const OpenMP& on, const CsrView<Real, Offset, Host>& A) {
  require_square(A.nrows, A.ncols, "the diagonal");
  Array<Real> inverse(A.nrows);
  std::atomic<std::int64_t> first_bad = A.nrows;
  parallel_for(on, A.nrows, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      if (const Offset diagonal = usable_diagonal(A, row); diagonal >= 0) {
        inverse[row] = 1 / A.values[diagonal];
        continue;
      }
      for (std::int64_t bad = first_bad; row < bad && !first_bad.compare_exchange_weak(bad, row);) {}
      break;
    }
  });
  if (const std::int64_t row = first_bad; row < A.nrows)
    symgs_detail::refuse_row(row, {A.col_idx.data() + A.row_ptr[row], A.col_idx.data() + A.row_ptr[row + 1]},
                             {A.values.data() + A.row_ptr[row], A.values.data() + A.row_ptr[row + 1]});
  return inverse;
}

/// Never called: names every instance, so that its code is emitted here.
template <class Real>
void instances(const Real*) {
  inverse_diagonal(OpenMP{}, CsrView<Real, std::int32_t, Host>{});
  inverse_diagonal(OpenMP{}, CsrView<Real, std::int64_t, Host>{});
}
template void instances(const double*);
template void instances(const float*);

}  // namespace seidel::diagonal_detail
