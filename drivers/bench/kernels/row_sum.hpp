// Sums over entries of a row as judges take them: in long double, in another order than any rival.
#pragma once
#include <cmath>

#include <seidel/formats/multivector.hpp>
#include <seidel/formats/runtime/types.hpp>

namespace seidel::drivers {

struct EveryColumn {
  bool operator()(Index) const { return true; }
};

/// Sum and sum of magnitudes of row i's products with x(column), over entries whose columns `part` takes, from the last
/// to the first.
struct RowSum {
  long double sum = 0, scale = 0;
  std::int64_t terms = 0;
};
template <class Matrix, class X, class Part = EveryColumn>
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
