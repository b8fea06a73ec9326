// Products with several vectors on the GPU: a thread takes W columns of a row, long rows as in kernels/cuda_rows.cuh.
//
// Row-major: neighbouring threads take neighbouring columns, two at a time where they can be read as one. Column-major:
// neighbouring threads take neighbouring rows, four columns each, so that the matrix is read once for the four.
#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/scratch.hpp>
#include <seidel/kernels/cuda_rows.cuh>
#include <seidel/kernels/spmm/cuda_csr.hpp>
#include <seidel/kernels/spmm/spmm.hpp>

namespace seidel::spmm_detail {

namespace {

template <class Real>
using In = MultiVectorView<const Real, Device>;
template <class Real>
using Out = MultiVectorView<Real, Device>;

/// Columns of X that a thread reads for one entry of A.
template <class Real, int W, Layout layout>
struct Slice {
  const Real* x;  // its first column
  std::int64_t leading_dimension;
  int count;  // of W columns those that exist; the others repeat the last

  __device__ Columns<Real, W> at(Index column) const {
    Columns<Real, W> f;
    if constexpr (layout == Layout::row_major && W == 2) {
      using Pair = std::conditional_t<std::is_same_v<Real, double>, double2, float2>;
      const Pair pair = __ldg(reinterpret_cast<const Pair*>(x + column * leading_dimension));
      f.at[0] = pair.x, f.at[1] = pair.y;
    } else {
      static_assert(layout == Layout::column_major || W == 1);
      if constexpr (layout == Layout::row_major)
        f.at[0] = __ldg(x + column * leading_dimension);
      else
#pragma unroll
        for (int j = 0; j < W; ++j) f.at[j] = __ldg(x + column + (j < count ? j : count - 1) * leading_dimension);
    }
    return f;
  }
};

/// The terms of spmv for W columns.
template <class Terms, class Real, int W, Layout layout>
struct SliceTerms {
  Terms terms;
  Slice<Real, W, layout> slice;
  __device__ auto entry(std::int64_t k) const { return terms.entry(k); }
  __device__ auto factor(cuda::Entry<Real> e) const { return slice.at(e.column); }
  __device__ static Columns<Real, W> add(cuda::Entry<Real> e, const Columns<Real, W>& f, Columns<Real, W> s) {
#pragma unroll
    for (int j = 0; j < W; ++j) s.at[j] = std::fma(e.value, f.at[j], s.at[j]);
    return s;
  }
};

struct Place {
  Index row;
  std::int64_t column;  // the first of W
};

/// Every row of A, once for each W columns of X.
template <class Rows, class Real, int W, Layout layout>
struct SlicedRows {
  Rows rows;
  In<Real> X;
  std::int64_t slices;

  SEIDEL_HD std::int64_t size() const { return rows.size() * slices; }
  __device__ auto operator()(std::int64_t p) const {
    const std::int64_t fast = layout == Layout::row_major ? slices : rows.size();
    // A division of 64 bits takes longer than a short row.
    const bool small = size() <= 0xffffffffll;
    const std::int64_t quotient = small ? unsigned(p) / unsigned(fast) : p / fast, rest = p - quotient * fast;
    const std::int64_t row_number = layout == Layout::row_major ? quotient : rest;
    const std::int64_t column = (layout == Layout::row_major ? rest : quotient) * W;
    const auto row = rows(row_number);
    using Terms = SliceTerms<std::remove_cv_t<decltype(row.terms)>, Real, W, layout>;
    const int count = int(X.ncols - column < W ? X.ncols - column : W);
    const Slice<Real, W, layout> slice{
        layout == Layout::row_major ? X.data + column : X.data + column * X.leading_dimension, X.leading_dimension,
        count};
    return cuda::Row<Terms, Place>{{row.terms, slice}, row.length, {row.number, column}};
  }
};

template <class Real, int W>
struct StoreColumns {
  Out<Real> Y;
  __device__ void operator()(Place place, const Columns<Real, W>& s) const {
#pragma unroll
    for (int j = 0; j < W; ++j)
      if (place.column + j < Y.ncols) Y(place.row, place.column + j) = s.at[j];
  }
};

template <int W, Layout layout, class Matrix, class Real>
void launch(CUstream_st* stream, const Matrix& A, const In<Real>& X, const Out<Real>& Y) {
  const auto rows = cuda::rows_of(A, X.data);
  using Rows = std::remove_cv_t<decltype(rows)>;
  cuda::launch_rows<Columns<Real, W>>(stream, SlicedRows<Rows, Real, W, layout>{rows, X, (X.ncols + W - 1) / W},
                                      StoreColumns<Real, W>{Y}, "a product with several vectors");
}

}  // namespace

template <class Matrix>
void product(const Cuda& on, const Matrix& A, const In<typename Matrix::Real>& X, const Out<typename Matrix::Real>& Y) {
  using Real = typename Matrix::Real;
  if (X.ncols == 0 || A.nrows == 0) return;
  if constexpr (requires { typename Matrix::Offset; }) {  // CSR
    constexpr std::int64_t min_entries = 1 << 20;         // for the list of long rows to be worth it
    if (X.ncols > 1 && A.nnz() >= min_entries) {
      Scratch scratch(on);
      const auto long_rows = spmv_detail::listed_in(scratch, on, A, short_sum);
      join_rows(on, A, long_rows);
      return csr_product(on, A, long_rows, X, Y);
    }
  }
  if (X.layout == Layout::column_major && X.ncols > 1)
    launch<4, Layout::column_major>(on.stream(), A, X, Y);
  else if (X.layout == Layout::column_major)
    launch<1, Layout::row_major>(on.stream(), A, In<Real>{X.nrows, 1, 1, Layout::row_major, X.data}, Y);
  else if (in_pairs(X))
    launch<2, Layout::row_major>(on.stream(), A, X, Y);
  else
    launch<1, Layout::row_major>(on.stream(), A, X, Y);
}

/// Never called: names every product, so that its code is emitted here.
void instances(const Cuda& on) {
  with_each_real([&]<class Real>(Real*) {
    std::apply([&](const auto&... A) { (product(on, A, {}, {}), ...); }, SpmmMatrices<Real, Device>{});
  });
}

}  // namespace seidel::spmm_detail
