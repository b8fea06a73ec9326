// ELLPACK: every row padded to the longest, stored column by column, true row lengths kept.
#pragma once
#include <seidel/formats/runtime/array.hpp>

namespace seidel {

/// Entry k of row i is stored at k * nrows + i, for k < row_length[i]; padding is (column 0, value 0) and never read.
template <class Real_, MemorySpace Space_>
struct EllView {
  using Real = Real_;
  using Space = Space_;

  Index nrows = 0, ncols = 0;
  Index width = 0;                      // places per row: length of the longest row
  Span<const Index, Space> row_length;  // nrows entries, 0 ... width
  Span<const Index, Space> col_idx;     // nrows * width entries; ascending with k
  Span<const Real, Space> values;       // nrows * width entries
  std::int64_t nnz = 0;                 // sum of row_length

  SEIDEL_HD std::int64_t at(Index row, Index k) const { return std::int64_t(k) * nrows + row; }
};

template <class Real, MemorySpace Space = Host>
struct Ell {
  Index nrows = 0, ncols = 0, width = 0;
  Array<Index, Space> row_length, col_idx;
  Array<Real, Space> values;
  std::int64_t nnz = 0;

  EllView<Real, Space> view() const { return {nrows, ncols, width, row_length, col_idx, values, nnz}; }
};

template <MemorySpace To, class On, class Real, MemorySpace From>
Ell<Real, To> copied_to(const On& on, const EllView<Real, From>& A) {
  const auto copy = [&](auto array) { return copied_to<To>(on, array); };
  return {A.nrows, A.ncols, A.width, copy(A.row_length), copy(A.col_idx), copy(A.values), A.nnz};
}

}  // namespace seidel
