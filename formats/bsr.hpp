// BSR: blocks of b x b entries with one column index per block, for matrices with several unknowns per node.
#pragma once
#include <seidel/formats/runtime/array.hpp>

namespace seidel {

/// Every block is full: an entry that is missing from a block would have to be stored as a zero, which is not neutral in
/// the one order of sums (0 * infinity is NaN, and rows of more than 64 entries are summed in lanes that the count of
/// entries decides). So the products have the bits of CSR, and values are stored in the order of CSR: row i begins at
/// b * b * row_ptr[i / b] + (i % b) * length, and its entry k has the column col_idx[row_ptr[i / b] + k / b] * b + k % b.
template <class Real_, int block_, MemorySpace Space_>
struct BsrView {
  using Real = Real_;
  using Space = Space_;
  static constexpr int block = block_;  // b

  Index nrows = 0, ncols = 0;               // multiples of b
  Span<const std::int64_t, Space> row_ptr;  // nrows / b + 1 entries: blocks before each row of blocks
  Span<const Index, Space> col_idx;         // one per block: its column of blocks, ascending in a row of blocks
  Span<const Real, Space> values;           // b * b per block

  SEIDEL_HD std::int64_t nnz() const { return values.size(); }
  SEIDEL_HD Index row_length(std::int64_t row) const {
    return Index(row_ptr[row / block + 1] - row_ptr[row / block]) * block;
  }
  /// Where the entries of the row begin in `values`.
  SEIDEL_HD std::int64_t first_entry(std::int64_t row) const {
    return row_ptr[row / block] * block * block + row % block * row_length(row);
  }
};

template <class Real_, int block, MemorySpace Space_ = Host>
struct Bsr {
  using Real = Real_;
  using Space = Space_;

  Index nrows = 0, ncols = 0;
  Array<std::int64_t, Space> row_ptr;
  Array<Index, Space> col_idx;
  Array<Real, Space> values;

  BsrView<Real, block, Space> view() const { return {nrows, ncols, row_ptr, col_idx, values}; }
};

template <MemorySpace To, class On, class Real, int block, MemorySpace From>
Bsr<Real, block, To> copied_to(const On& on, const BsrView<Real, block, From>& A) {
  return {A.nrows, A.ncols, copied_to<To>(on, A.row_ptr), copied_to<To>(on, A.col_idx), copied_to<To>(on, A.values)};
}

}  // namespace seidel
