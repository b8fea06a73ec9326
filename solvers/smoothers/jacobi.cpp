// The weights of l1-Jacobi.
#include <seidel/formats/runtime/parallel.hpp>
#include <seidel/kernels/sum.hpp>
#include <seidel/solvers/smoothers/jacobi.hpp>

namespace seidel {

namespace smoother_detail {

template <class Real, class Offset>
Array<Real> l1_weights(const OpenMP& on, const CsrView<Real, Offset, Host>& A) {
  Array<Real> weights = inverse_diagonal(on, A);
  parallel_for_rows(on, A.row_ptr, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      const Real* const values = A.values.data() + A.row_ptr[row];
      const Real sum = sum_of_products<Real>(A.row_ptr[row + 1] - A.row_ptr[row],
                                             [&](std::int64_t k, Real s) { return s + std::abs(values[k]); });
      weights[row] = std::copysign(1 / sum, weights[row]);
    }
  });
  return weights;
}

/// Never called: names every instance, so that its code is emitted here.
template <class Real>
void instances(const Real*) {
  l1_weights(OpenMP{}, CsrView<Real, std::int32_t, Host>{});
  l1_weights(OpenMP{}, CsrView<Real, std::int64_t, Host>{});
}
template void instances(const double*);
template void instances(const float*);

}  // namespace smoother_detail

}  // namespace seidel
