// A Gauss-Seidel sweep as the formula has it: what every back end is compared with, bit for bit.
#pragma once
#include <seidel/formats/csr.hpp>
#include <seidel/kernels/symgs/row.hpp>

namespace seidel {

/// x_i = ((b_i - S(lower)) - S(upper)) * (1 / a_ii), row after row; over-relaxed by omega. S is the
/// sum of kernels/sum.hpp, taken towards the diagonal.
template <class Real, class Offset>
void reference_sweep(const CsrView<Real, Offset, Host>& A, Direction direction, const Real* b, Real* x, Real omega) {
  for (Index step = 0; step < A.nrows; ++step) {
    const Index i = direction == Direction::forward ? step : A.nrows - 1 - step;
    const Offset first = A.row_ptr[i], end = A.row_ptr[i + 1];
    Offset diagonal = first;
    while (A.col_idx[diagonal] != i) ++diagonal;
    const auto times_x = [&](Offset k, Real sum) { return std::fma(A.values[k], x[A.col_idx[k]], sum); };
    const Real lower = sum_of_products<Real>(diagonal - first, [&](auto k, Real s) { return times_x(first + k, s); });
    const Real upper =
        sum_of_products<Real>(end - 1 - diagonal, [&](auto k, Real s) { return times_x(end - 1 - k, s); });
    const Real swept = ((b[i] - lower) - upper) * (1 / A.values[diagonal]);
    x[i] = omega == 1 ? swept : std::fma(omega, swept - x[i], x[i]);
  }
}

}  // namespace seidel
