// A Gauss-Seidel sweep as the formula has it: what every other is compared with.
#pragma once
#include <cmath>
#include <utility>
#include <vector>

#include <seidel/kernels/sum.hpp>

#include "matrices.hpp"

namespace seidel::tests {

/// Sum of products in the given order, gathered first.
template <class Real>
Real sum_of(const std::vector<std::pair<Real, Real>>& terms) {
  return sum_of_products<Real>(std::int64_t(terms.size()),
                               [&](std::int64_t k, Real s) { return std::fma(terms[k].first, terms[k].second, s); });
}

/// x_i = ((b_i - S(lower)) - S(upper)) * (1 / a_ii), row after row.
template <class Real>
void literal_sweep(const Plain& A, bool forward, const std::vector<Real>& b, std::vector<Real>& x, Real omega) {
  for (std::int64_t step = 0; step < A.nrows(); ++step) {
    const std::int64_t i = forward ? step : A.nrows() - 1 - step;
    std::vector<std::pair<Real, Real>> lower, upper;
    Real diagonal = 0;
    for (const auto& [j, value] : A.rows[i]) {
      if (j < i) lower.push_back({Real(value), x[j]});
      if (j == i) diagonal = Real(value);
      if (j > i) upper.insert(upper.begin(), {Real(value), x[j]});
    }
    const Real reciprocal = 1 / diagonal, swept = ((b[i] - sum_of(lower)) - sum_of(upper)) * reciprocal;
    x[i] = omega == 1 ? swept : std::fma(omega, swept - x[i], x[i]);
  }
}

}  // namespace seidel::tests
