// What smoothers need to know of their matrices: eigenvalues of small tridiagonal ones, the weights of l1-Jacobi.
#include <seidel/formats/runtime/parallel.hpp>
#include <seidel/kernels/sum.hpp>
#include <seidel/solvers/smoothers/chebyshev.hpp>
#include <seidel/solvers/smoothers/jacobi.hpp>

namespace seidel {

double largest_eigenvalue(const std::vector<double>& diagonal, const std::vector<double>& beside) {
  const auto off = [&](std::size_t i) { return i < beside.size() ? std::abs(beside[i]) : 0.0; };
  double low = diagonal.at(0),
         high = low;  // by Gershgorin's circles, and since x'T x / x'x is no more than the largest
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    low = std::max(low, diagonal[i]);
    high = std::max(high, diagonal[i] + off(i) + (i > 0 ? off(i - 1) : 0));
  }
  /// Whether all eigenvalues are less than x: all pivots of x I - T are positive.
  const auto all_below = [&](double x) {
    double pivot = 1;
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      pivot = x - diagonal[i] - (i > 0 ? off(i - 1) * off(i - 1) / pivot : 0);
      if (!(pivot > 0)) return false;
    }
    return true;
  };
  for (int step = 0; step < 60; ++step) {
    const double middle = low + (high - low) / 2;
    (all_below(middle) ? high : low) = middle;
  }
  return high;
}

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
