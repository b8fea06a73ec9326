// What tasks are made of: random inputs, sums of rows, and errors measured by what rounding allows.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include <seidel/formats/generators/hash.hpp>
#include <seidel/formats/multivector.hpp>
#include <seidel/formats/runtime/array.hpp>
#include <seidel/formats/runtime/parallel.hpp>

namespace seidel::drivers {

/// Numbers in (-1, 1), the same everywhere.
inline Array<double> random_numbers(std::int64_t n, std::uint64_t seed = 1) {
  Array<double> numbers(n);
  const generators::Stream bits(seed, generators::Draw::values, 0);
  parallel_for(OpenMP{}, n, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) numbers[i] = generators::signed_uniform(bits(std::uint64_t(i)));
  });
  return numbers;
}

/// The error of an answer of the wrong size or type.
constexpr double wrong_size = std::numeric_limits<double>::quiet_NaN();
/// The error of an answer that is off where nothing is rounded.
constexpr double not_equal = std::numeric_limits<double>::infinity();

/// |found - expected| over what a sum of `terms` products of total magnitude `scale` may be off by in any order, in the
/// precision of `found`.
template <class Real>
double error_over_bound(Real found, long double expected, long double scale, std::int64_t terms) {
  const long double bound = (static_cast<long double>(terms) + 2) * std::numeric_limits<Real>::epsilon() * scale;
  const long double error = std::fabs(static_cast<long double>(found) - expected);
  return error == 0 ? 0 : double(error / bound);  // NaN stays NaN; an error where the bound is 0 gives infinity
}

/// The larger of two errors; NaN wins.
inline double worse(double a, double b) {
  return a != a || b != b ? std::numeric_limits<double>::quiet_NaN() : std::max(a, b);
}

/// The worst of error(i) for i = 0 ... n-1.
double worst_of(std::int64_t n, const auto& error) {
  double worst = 0;
  std::mutex one_at_a_time;
  parallel_for(OpenMP{}, n, [&](std::int64_t first, std::int64_t last) {
    double mine = 0;
    for (std::int64_t i = first; i < last; ++i) mine = worse(mine, error(i));
    const std::lock_guard lock(one_at_a_time);
    worst = worse(worst, mine);
  });
  return worst;
}

/// Sum and sum of magnitudes of row i's products with x(column), over entries whose columns `part` takes: in long double,
/// from the last to the first, as no rival adds them.
struct RowSum {
  long double sum = 0, scale = 0;
  std::int64_t terms = 0;
};
template <class Matrix, class X, class Part = decltype([](Index) { return true; })>
RowSum row_sum(const Matrix& A, Index i, const X& x, const Part& part = {}) {
  RowSum row;
  for (std::int64_t e = A.row_ptr[i + 1] - 1; e >= A.row_ptr[i]; --e) {
    if (!part(A.col_idx[e])) continue;
    const long double product = static_cast<long double>(A.values[e]) * x(A.col_idx[e]);
    row.sum += product, row.scale += std::fabs(product), ++row.terms;
  }
  return row;
}

/// Where entry (i, j) of `rows` x k numbers lies.
inline std::int64_t place_of(std::int64_t i, std::int64_t j, std::int64_t rows, std::int64_t k, Layout layout) {
  return layout == Layout::row_major ? i * k + j : j * rows + i;
}

}  // namespace seidel::drivers
