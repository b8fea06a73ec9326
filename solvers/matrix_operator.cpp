// The place of a value that no solver takes.
#include <seidel/solvers/matrix_operator.hpp>

namespace seidel::matrix_operator_detail {

void refuse_nonfinite_values() { throw InputError("the matrix holds NaN or infinity, finite values are needed"); }

template <class Real, class Offset>
void refuse_nonfinite_values(const CsrView<Real, Offset, Host>& A) {
  for (Index row = 0; row < A.nrows; ++row)
    for (Offset k = A.row_ptr[row]; k < A.row_ptr[row + 1]; ++k)
      if (!std::isfinite(A.values[k]))
        throw InputError("the matrix: the entry in row " + std::to_string(row + 1) + ", column " +
                         std::to_string(A.col_idx[k] + std::int64_t(1)) + " is " + std::to_string(A.values[k]) +
                         ", a finite value is needed\n  correct this entry (rows and columns are counted from 1)");
}

/// Never called: names every instance, so that its code is emitted here.
template <class Real>
void instances(const Real*) {
  refuse_nonfinite_values(CsrView<Real, std::int32_t, Host>{});
  refuse_nonfinite_values(CsrView<Real, std::int64_t, Host>{});
}
template void instances(const double*);
template void instances(const float*);

}  // namespace seidel::matrix_operator_detail
