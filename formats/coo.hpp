// Coordinate form: triplets in any order, as in a file or in a caller's program.
#pragma once
#include <seidel/formats/runtime/array.hpp>

namespace seidel {

/// Read-only view of triplets (row[k], col[k], values[k]); duplicates are summed.
template <class Real, MemorySpace Space>
struct CooView {
  Index nrows = 0, ncols = 0;
  Span<const Index, Space> row_idx;  // nnz entries, 0 ... nrows - 1
  Span<const Index, Space> col_idx;  // nnz entries, 0 ... ncols - 1
  Span<const Real, Space> values;    // nnz entries

  SEIDEL_HD std::int64_t nnz() const { return values.size(); }
};

template <class Real, MemorySpace Space = Host>
struct Coo {
  Index nrows = 0, ncols = 0;
  Array<Index, Space> row_idx, col_idx;
  Array<Real, Space> values;

  std::int64_t nnz() const { return values.size(); }
  CooView<Real, Space> view() const { return {nrows, ncols, row_idx, col_idx, values}; }
};

}  // namespace seidel
