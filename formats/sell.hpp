// SELL-C-sigma: rows sorted by length within windows of sigma rows, cut into slices of C rows, each slice an ELLPACK of its own.
// Source  Kreutzer, Hager, Wellein, Fehske, Bishop, A unified sparse matrix data format for efficient general sparse
//         matrix-vector multiplication on modern processors with wide SIMD units, SIAM J. Sci. Comput. 36(5), 2014.
#pragma once
#include <seidel/formats/runtime/array.hpp>

namespace seidel {

/// Entry k of the row at place p (slice s = p / C, lane l = p % C) is stored at slice_ptr[s] + k * C + l, for
/// k < row_length[p]; padding is (column 0, value 0) and never read. Places nrows ... C * nslices - 1 have length 0.
template <class Real_, MemorySpace Space_>
struct SellView {
  using Real = Real_;
  using Space = Space_;

  Index nrows = 0, ncols = 0;
  Index slice_height = 0;                     // C
  Index sigma = 1;                            // rows per sorting window; 1 keeps the order of the matrix
  Span<const std::int64_t, Space> slice_ptr;  // nslices + 1 entries, multiples of C
  Span<const Index, Space> row_length;        // C * nslices entries, by place
  Span<const Index, Space> permutation;       // nrows entries: the matrix row at place p; empty if sigma == 1
  Span<const Index, Space> col_idx;           // slice_ptr[nslices] entries
  Span<const Real, Space> values;             // slice_ptr[nslices] entries
  std::int64_t nnz = 0;                       // sum of row_length

  SEIDEL_HD std::int64_t nslices() const { return slice_ptr.size() - 1; }
  SEIDEL_HD Index row_at(std::int64_t place) const { return permutation.empty() ? Index(place) : permutation[place]; }
};

template <class Real, MemorySpace Space = Host>
struct Sell {
  Index nrows = 0, ncols = 0, slice_height = 0, sigma = 1;
  Array<std::int64_t, Space> slice_ptr;
  Array<Index, Space> row_length, permutation, col_idx;
  Array<Real, Space> values;
  std::int64_t nnz = 0;

  SellView<Real, Space> view() const {
    return {nrows, ncols, slice_height, sigma, slice_ptr, row_length, permutation, col_idx, values, nnz};
  }
};

template <MemorySpace To, class On, class Real, MemorySpace From>
Sell<Real, To> copied_to(const On& on, const SellView<Real, From>& A) {
  return {A.nrows,
          A.ncols,
          A.slice_height,
          A.sigma,
          copied_to<To>(on, A.slice_ptr),
          copied_to<To>(on, A.row_length),
          copied_to<To>(on, A.permutation),
          copied_to<To>(on, A.col_idx),
          copied_to<To>(on, A.values),
          A.nnz};
}

}  // namespace seidel
