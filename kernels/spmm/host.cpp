// Products with several vectors on the host: one core or several, the same code.
#include <bit>
#include <cstring>

#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/parallel.hpp>
#include <seidel/kernels/spmm/spmm.hpp>

namespace seidel::spmm_detail {

namespace {

template <class Real>
using In = MultiVectorView<const Real, Host>;
template <class Real>
using Out = MultiVectorView<Real, Host>;

/// Term k of one row's product with W columns.
template <class Real, int W, Layout layout>
struct ColumnsTerm {
  using Sum = Columns<Real, W>;
  RowTerm<Real> row;
  std::int64_t leading_dimension;

  Sum operator()(std::int64_t k, Sum s) const {
    const Real a = row.values[k * row.stride];
    const Real* const x = row.x + row.col_idx[k * row.stride] * (layout == Layout::row_major ? leading_dimension : 1);
    for (int j = 0; j < W; ++j)
      s.at[j] = std::fma(a, x[layout == Layout::row_major ? j : j * leading_dimension], s.at[j]);
    return s;
  }
};

/// W > 8 sums side by side of a row-major X, in vectors: as an array a compiler keeps so many in memory.
template <class Real, int W>
struct WideColumns {
  static constexpr int width = 32 / sizeof(Real), parts = W / width;
  using Vector [[gnu::vector_size(32), gnu::aligned(16)]] = Real;  // not 32: the ABI of such arguments has changed
  Vector part[parts];

  friend WideColumns operator+(WideColumns a, const WideColumns& b) {
    for (int p = 0; p < parts; ++p) a.part[p] = a.part[p] + b.part[p];
    return a;
  }
};

/// Term k of one row's product with W > 8 columns of a row-major X.
template <class Real, int W>
struct WideTerm {
  using Sum = WideColumns<Real, W>;
  RowTerm<Real> row;
  std::int64_t leading_dimension;

  Sum operator()(std::int64_t k, Sum s) const {
    const Real a = row.values[k * row.stride];
    const Real* const x = row.x + row.col_idx[k * row.stride] * leading_dimension;
#pragma GCC unroll 8
    for (int p = 0; p < Sum::parts; ++p) {
      typename Sum::Vector factors, next = s.part[p];
      std::memcpy(&factors, x + p * Sum::width, sizeof factors);
      for (int l = 0; l < Sum::width; ++l) next[l] = std::fma(a, factors[l], next[l]);
      s.part[p] = next;
    }
    return s;
  }
};

/// The sum of a block of terms (kernels/sum.hpp), lanes l and l + 16 after each other in the order in which the tree joins
/// them, 0, 8, 4, 12, 2, ...: the sums of all columns of a lane stay in registers, where 32 lanes of them would not.
template <class Sum, class Term>
Sum sum_by_lanes(std::int64_t first, std::int64_t last, const Term& term) {
  PairwiseTree<Sum> tree;
  for (int l = 0; l < sum_lanes / 2; ++l) {
    const std::int64_t lane = first + ((l & 1) << 3 | (l & 2) << 1 | (l & 4) >> 1 | (l & 8) >> 3);
    tree.push(sum_left_to_right<Sum>(lane, last, sum_lanes, term) +
              sum_left_to_right<Sum>(lane + sum_lanes / 2, last, sum_lanes, term));
  }
  return tree.sum();
}

/// More than 64 terms; apart from the loops over rows, whose code it would swell.
template <class Sum, class Term>
[[gnu::noinline]] void long_sum(std::int64_t n, const Term& term, Sum& sum) {
  with_avx2([&] {
    PairwiseTree<Sum> tree;
    for (std::int64_t first = 0; first < n; first += sum_block)
      tree.push(sum_by_lanes<Sum>(first, std::min(n, first + sum_block), term));
    sum = tree.sum();
  });
}

/// Columns j ... j + W - 1 of one row.
template <int W, Layout layout, class Real>
void store_columns(const RowOf<Real>& row, std::int64_t leading_dimension, std::int64_t j, const Out<Real>& Y) {
  using Term = std::conditional_t<(W > 8), WideTerm<Real, W>, ColumnsTerm<Real, W, layout>>;
  const Term term{row.term, leading_dimension};
  typename Term::Sum sum;
  if (row.length <= short_sum)
    sum = sum_left_to_right<typename Term::Sum>(0, row.length, 1, term);
  else
    long_sum(row.length, term, sum);
  const auto sums = std::bit_cast<Columns<Real, W>>(sum);
  Real* const y = &Y(row.row, j);
  const std::int64_t step = Y.layout == Layout::row_major ? 1 : Y.leading_dimension;
  for (int c = 0; c < W; ++c) y[c * step] = sums.at[c];
}

/// The columns of one row from j on, W at a time while there are as many, then half of that.
template <int W, Layout layout, class Real>
void store_row(RowOf<Real> row, std::int64_t j, const In<Real>& X, const Out<Real>& Y) {
  for (; j + W <= Y.ncols; j += W) {
    store_columns<W, layout>(row, X.leading_dimension, j, Y);
    row.term.x += layout == Layout::row_major ? W : W * X.leading_dimension;
  }
  if constexpr (W > 1) store_row<W / 2, layout>(row, j, X, Y);
}

/// All columns of a row one by one, without AVX2.
template <Layout layout, class Real>
[[gnu::noinline]] void store_plain_row(const RowOf<Real>& row, const In<Real>& X, const Out<Real>& Y) {
  store_row<1, layout>(row, 0, X, Y);
}

/// All columns of rows first ... last - 1. The entries of a row are read from the cache for all blocks of columns but the
/// first.
template <Layout layout, class Matrix, class Real>
void rows(const Matrix& A, const In<Real>& X, const Out<Real>& Y, std::int64_t first, std::int64_t last) {
  constexpr int most = layout == Layout::row_major ? 32 : 8;  // at once: their sums stay in registers
  with_avx2(
      [&] { each_row(A, first, last, X.data, [&](const RowOf<Real>& row) { store_row<most, layout>(row, 0, X, Y); }); },
      [&] { each_row(A, first, last, X.data, [&](const auto& row) { store_plain_row<layout>(row, X, Y); }); });
}

template <class Matrix, class Real>
void rows_of_either(const Matrix& A, const In<Real>& X, const Out<Real>& Y, std::int64_t first, std::int64_t last) {
  X.layout == Layout::row_major ? rows<Layout::row_major>(A, X, Y, first, last)
                                : rows<Layout::column_major>(A, X, Y, first, last);
}

/// Part `part` of `nparts` of the rows, or of the rows of blocks.
Range share_of(const auto& A, int part, int nparts) {
  if constexpr (requires { A.row_ptr; })
    return share_by_nonzeros(A.row_ptr, part, nparts);
  else
    return even_share(A.nrows, part, nparts);
}
std::int64_t entries_of(const auto& A) {
  if constexpr (requires { A.nnz(); })
    return A.nnz();
  else
    return A.nnz;
}

template <class Matrix, class Real>
void share_out(const OpenMP& on, const Matrix& A, const In<Real>& X, const Out<Real>& Y) {
  const std::int64_t work = (A.nrows + entries_of(A)) * Y.ncols;
  parallel_parts(work < 2 * worth_per_thread ? OpenMP{1} : on, [&](int part, int nparts) {
    const Range mine = share_of(A, part, nparts);
    rows_of_either(A, X, Y, mine.first, mine.last);
  });
}

}  // namespace

template <class Matrix>
void product(const OpenMP& on, const Matrix& A, const In<typename Matrix::Real>& X,
             const Out<typename Matrix::Real>& Y) {
  const auto is_vector = [](const auto& V) {
    return V.ncols == 1 && (V.layout == Layout::column_major || V.leading_dimension == 1);
  };
  if (is_vector(X) && is_vector(Y))
    spmv_detail::product(on, A, X.data, StoreProduct<typename Matrix::Real>{Y.data});
  else if (Y.ncols > 0)
    share_out(on, A, X, Y);
}

/// Never called: names every product, so that its code is emitted here.
void instances(const OpenMP& on) {
  with_each_real([&]<class Real>(Real*) {
    std::apply([&](const auto&... A) { (product(on, A, {}, {}), ...); }, SpmmMatrices<Real, Host>{});
  });
}

}  // namespace seidel::spmm_detail
