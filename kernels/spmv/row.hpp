// What row i of a product or a residual is, in every format, for the host and as the plain statement of it.
#pragma once
#include <tuple>
#include <vector>

#include <seidel/formats/bsr.hpp>
#include <seidel/formats/csr.hpp>
#include <seidel/formats/ell.hpp>
#include <seidel/formats/sell.hpp>
#include <seidel/kernels/sum.hpp>

namespace seidel {

/// The matrices that products with several columns are compiled for, and those with one vector.
template <class Real, class Space>
using SpmmMatrices =
    std::tuple<CsrView<Real, std::int32_t, Space>, CsrView<Real, std::int64_t, Space>, EllView<Real, Space>,
               BsrView<Real, 2, Space>, BsrView<Real, 3, Space>, BsrView<Real, 4, Space>, BsrView<Real, 6, Space>>;
template <class Real, class Space>
using SpmvMatrices = decltype(std::tuple_cat(SpmmMatrices<Real, Space>{}, std::tuple<SellView<Real, Space>>{}));

/// Term k of one row's product: entries stand `stride` apart.
template <class Real>
struct RowTerm {
  const Index* col_idx;
  const Real* values;
  std::int64_t stride;
  const Real* x;
  SEIDEL_HD Real operator()(std::int64_t k, Real s) const {
    return std::fma(values[k * stride], x[col_idx[k * stride]], s);
  }
};

/// The terms of the row in place p, how many there are, and which row of the matrix it is.
template <class Real>
struct RowOf {
  RowTerm<Real> term;
  std::int64_t length;
  Index row;
};

template <class Real, class Offset, class Space>
SEIDEL_HD RowOf<Real> row_at(const CsrView<Real, Offset, Space>& A, std::int64_t p, const Real* x) {
  const Offset first = A.row_ptr[p];
  return {{A.col_idx.data() + first, A.values.data() + first, 1, x}, std::int64_t(A.row_ptr[p + 1] - first), Index(p)};
}
template <class Real, class Space>
SEIDEL_HD RowOf<Real> row_at(const EllView<Real, Space>& A, std::int64_t p, const Real* x) {
  return {{A.col_idx.data() + p, A.values.data() + p, A.nrows, x}, A.row_length[p], Index(p)};
}
template <class Real, class Space>
SEIDEL_HD RowOf<Real> row_at(const SellView<Real, Space>& A, std::int64_t p, const Real* x) {
  const std::int64_t at = A.slice_ptr[p / A.slice_height] + p % A.slice_height;
  return {{A.col_idx.data() + at, A.values.data() + at, A.slice_height, x}, A.row_length[p], A.row_at(p)};
}

/// visit(row) for rows first ... last - 1 of the matrix, where CSR, ELL and SELL have them.
template <class Matrix, class Visit>
void each_row(const Matrix& A, std::int64_t first, std::int64_t last, const typename Matrix::Real* x,
              const Visit& visit) {
  for (std::int64_t p = first; p < last; ++p) visit(row_at(A, p, x));
}
/// Rows first ... last - 1 of blocks: their columns are written out once for the rows of the matrix that share them.
/// Allocates if they have more than 2048 entries.
template <class Real, int block, class Space, class Visit>
void each_row(const BsrView<Real, block, Space>& A, std::int64_t first, std::int64_t last, const Real* x,
              const Visit& visit) {
  Index few[sum_block];
  std::vector<Index> many;
  for (std::int64_t I = first; I < last; ++I) {
    const std::int64_t blocks = A.row_ptr[I + 1] - A.row_ptr[I], length = blocks * block;
    if (length > sum_block) many.resize(length);
    Index* const columns = length > sum_block ? many.data() : few;
    for (std::int64_t j = 0; j < blocks; ++j)
      for (int c = 0; c < block; ++c) columns[j * block + c] = A.col_idx[A.row_ptr[I] + j] * block + c;
    for (std::int64_t i = I * block; i < (I + 1) * block; ++i)
      visit(RowOf<Real>{{columns, A.values.data() + A.first_entry(i), 1, x}, length, Index(i)});
  }
}

/// What becomes of a row's sum s: y = s, or r = b - s.
template <class Real>
struct StoreProduct {
  Real* y;
  SEIDEL_HD void operator()(Index row, Real s) const { y[row] = s; }
};
template <class Real>
struct StoreResidual {
  const Real* b;
  Real* r;
  SEIDEL_HD void operator()(Index row, Real s) const { r[row] = b[row] - s; }
};

}  // namespace seidel
