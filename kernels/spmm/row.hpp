// What a row of a product with several vectors is: the row of one product, for W columns side by side.
#pragma once
#include <seidel/formats/multivector.hpp>
#include <seidel/kernels/spmv/row.hpp>

namespace seidel {

/// W sums side by side, each of its own column; the sum of kernels/sum.hpp taken on all at once.
template <class Real, int W>
struct Columns {
  Real at[W];

  friend SEIDEL_HD Columns operator+(const Columns& a, const Columns& b) {
    Columns sum;
    for (int j = 0; j < W; ++j) sum.at[j] = a.at[j] + b.at[j];
    return sum;
  }
};

/// Term k of one row's product with columns 0 ... W-1 of X, whose first element is x.
template <class Real, int W, Layout layout>
struct ColumnsTerm {
  const Index* col_idx;
  const Real* values;
  std::int64_t stride;  // between the entries of the row
  const Real* x;
  std::int64_t leading_dimension;

  SEIDEL_HD Columns<Real, W> operator()(std::int64_t k, Columns<Real, W> s) const {
    const Real a = values[k * stride];
    const std::int64_t col = col_idx[k * stride];
    for (int j = 0; j < W; ++j)
      s.at[j] = std::fma(
          a, layout == Layout::row_major ? x[col * leading_dimension + j] : x[col + j * leading_dimension], s.at[j]);
    return s;
  }
};

/// The same row's terms for W columns.
template <int W, Layout layout, class Real>
SEIDEL_HD ColumnsTerm<Real, W, layout> columns_term(const RowTerm<Real>& row, std::int64_t leading_dimension) {
  return {row.col_idx, row.values, row.stride, row.x, leading_dimension};
}

}  // namespace seidel
