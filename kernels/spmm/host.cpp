// Products with several vectors on the host: one core or several, the same code.
#include <seidel/formats/runtime/parallel.hpp>
#include <seidel/kernels/spmm/spmm.hpp>

namespace seidel::spmm_detail {

namespace {

template <class Real>
using In = MultiVectorView<const Real, Host>;
template <class Real>
using Out = MultiVectorView<Real, Host>;

/// The sum of a block of terms (kernels/sum.hpp), lane after lane in the order in which the tree joins them, 0, 16, 8, 24,
/// 4, ...: the sums of all columns of a lane stay in registers, where 32 lanes of them would not. Three times as fast.
template <class Sum, class Term>
Sum sum_by_lanes(std::int64_t first, std::int64_t last, const Term& term) {
  PairwiseTree<Sum> tree;
  for (int l = 0; l < sum_lanes; ++l) {
    const int lane = (l & 1) << 4 | (l & 2) << 2 | (l & 4) | (l & 8) >> 2 | (l & 16) >> 4;
    tree.push(sum_left_to_right<Sum>(first + lane, last, sum_lanes, term));
  }
  return tree.sum();
}

/// More than 64 terms; apart from the loops over rows, whose code it would swell.
template <class Real, int W, Layout layout>
[[gnu::noinline]] Columns<Real, W> long_sum(std::int64_t n, const ColumnsTerm<Real, W, layout>& term) {
  using Sum = Columns<Real, W>;
  Sum sum;
  with_avx2([&] {
    PairwiseTree<Sum> tree;
    for (std::int64_t first = 0; first < n; first += sum_block)
      tree.push(sum_by_lanes<Sum>(first, std::min(n, first + sum_block), term));
    sum = tree.sum();
  });
  return sum;
}

/// Columns j ... j + W - 1 of one row.
template <int W, Layout layout, class Real>
void store_columns(const RowOf<Real>& row, std::int64_t leading_dimension, std::int64_t j, const Out<Real>& Y) {
  const auto term = columns_term<W, layout>(row.term, leading_dimension);
  const auto sum = row.length <= short_sum ? sum_left_to_right<Columns<Real, W>>(0, row.length, 1, term)
                                           : long_sum(row.length, term);
  Real* const y = &Y(row.row, j);
  const std::int64_t step = Y.layout == Layout::row_major ? 1 : Y.leading_dimension;
  for (int c = 0; c < W; ++c) y[c * step] = sum.at[c];
}

/// All columns of rows first ... last - 1, eight at a time so that the sums stay in registers. The entries of a row are
/// read from the cache for all blocks of columns but the first.
template <Layout layout, class Matrix, class Real>
void rows(const Matrix& A, const In<Real>& X, const Out<Real>& Y, std::int64_t first, std::int64_t last) {
  constexpr int wide = 8, narrow = 2;
  with_avx2([&] {
    each_row(A, first, last, X.data, [&](RowOf<Real> row) {
      const auto next = [&](int width) {
        row.term.x += layout == Layout::row_major ? width : width * X.leading_dimension;
      };
      std::int64_t j = 0;
      for (; j + wide <= Y.ncols; j += wide, next(wide)) store_columns<wide, layout>(row, X.leading_dimension, j, Y);
      for (; j + narrow <= Y.ncols; j += narrow, next(narrow))
        store_columns<narrow, layout>(row, X.leading_dimension, j, Y);
      if (j < Y.ncols) store_columns<1, layout>(row, X.leading_dimension, j, Y);
    });
  });
}

template <class Matrix, class Real>
void rows_of_either(const Matrix& A, const In<Real>& X, const Out<Real>& Y, std::int64_t first, std::int64_t last) {
  X.layout == Layout::row_major ? rows<Layout::row_major>(A, X, Y, first, last)
                                : rows<Layout::column_major>(A, X, Y, first, last);
}

template <class Body>
void shares(const OpenMP& on, std::int64_t n, std::int64_t work, const Body& body, const auto& share) {
  if (on.threads <= 1 || work < 2 * worth_per_thread) return body(std::int64_t(0), n);
  parallel_parts(on, [&](int part, int nparts) {
    const Range mine = share(part, nparts);
    body(mine.first, mine.last);
  });
}

template <class Real, class Offset>
void share_out(const OpenMP& on, const CsrView<Real, Offset, Host>& A, const In<Real>& X, const Out<Real>& Y) {
  shares(
      on, A.nrows, (A.nrows + A.nnz()) * Y.ncols,
      [&](std::int64_t first, std::int64_t last) { rows_of_either(A, X, Y, first, last); },
      [&](int part, int nparts) { return share_by_nonzeros(A.row_ptr, part, nparts); });
}
template <class Real, int block>
void share_out(const OpenMP& on, const BsrView<Real, block, Host>& A, const In<Real>& X, const Out<Real>& Y) {
  shares(
      on, A.nrows / block, (A.nrows + A.nnz()) * Y.ncols,
      [&](std::int64_t first, std::int64_t last) { rows_of_either(A, X, Y, first, last); },
      [&](int part, int nparts) { return share_by_nonzeros(A.row_ptr, part, nparts); });
}
template <class Real>
void share_out(const OpenMP& on, const EllView<Real, Host>& A, const In<Real>& X, const Out<Real>& Y) {
  shares(
      on, A.nrows, (A.nrows + A.nnz) * Y.ncols,
      [&](std::int64_t first, std::int64_t last) { rows_of_either(A, X, Y, first, last); },
      [&](int part, int nparts) { return even_share(A.nrows, part, nparts); });
}

}  // namespace

template <class Matrix>
void product(const OpenMP& on, const Matrix& A, const In<typename Matrix::Real>& X,
             const Out<typename Matrix::Real>& Y) {
  if (Y.ncols > 0) share_out(on, A, X, Y);
}
template <class Matrix>
void product(const Serial&, const Matrix& A, const In<typename Matrix::Real>& X, const Out<typename Matrix::Real>& Y) {
  product(OpenMP{1}, A, X, Y);
}

/// Never called: names every product, so that its code is emitted here.
template <class On, class Real>
void instances(const On& on, const Out<Real>& X) {
  product(on, CsrView<Real, std::int32_t, Host>{}, X, X);
  product(on, CsrView<Real, std::int64_t, Host>{}, X, X);
  product(on, EllView<Real, Host>{}, X, X);
  product(on, BsrView<Real, 2, Host>{}, X, X);
  product(on, BsrView<Real, 3, Host>{}, X, X);
  product(on, BsrView<Real, 4, Host>{}, X, X);
  product(on, BsrView<Real, 6, Host>{}, X, X);
}
template void instances(const Serial&, const Out<double>&);
template void instances(const Serial&, const Out<float>&);
template void instances(const OpenMP&, const Out<double>&);
template void instances(const OpenMP&, const Out<float>&);

}  // namespace seidel::spmm_detail
