// How the entries of a matrix are spread over its rows, and what the matrix takes in each format.
#pragma once
#include <optional>

#include <seidel/formats/convert.hpp>

namespace seidel {

/// Nonzeros are stored entries, explicit zeros among them.
struct RowStatistics {
  std::int64_t nrows = 0, ncols = 0, nnz = 0;
  Index max = 0, min = 0;  ///< entries of the longest and of the shortest row
  double mean = 0;         ///< entries per row; 0 without rows
  double variance = 0;     ///< of the rows at hand (divided by nrows); exact but for two roundings
  /// mean / max: 1 is all rows alike, near 0 a padded format wastes its memory; 1 if empty.
  double padding_indicator = 1;
  std::int64_t empty_rows = 0;
  std::int64_t longest_row = -1;  ///< the first of the longest, counted from 0; -1 without rows
};

/// One pass over row_ptr, in the memory of the back end. The same bits on each and for any number of threads. Waits.
template <Backend On, class Offset>
RowStatistics row_statistics(const On& on, Span<const Offset, typename On::Space> row_ptr, Index ncols);
template <Backend On, class Real, class Offset>
RowStatistics row_statistics(const On& on, const CsrView<Real, Offset, typename On::Space>& A) {
  return row_statistics(on, A.row_ptr, A.ncols);
}

/// Bytes of the same matrix in each format; no value where it cannot be (too many entries for 32-bit row pointers, a
/// size that overflows). A padded format that conversion would refuse still has its number here.
struct FormatBytes {
  std::optional<std::int64_t> csr32, csr64, coo, ell, sell;
  /// Places per entry, 1 is none; above max_padding to_ell and to_sell refuse.
  double ell_padding = 1, sell_padding = 1;
};

/// SELL with slices of 32 rows in the order of the matrix. Cost and memory as row_statistics().
template <Backend On, class Offset>
FormatBytes format_bytes(const On& on, Span<const Offset, typename On::Space> row_ptr, int bytes_per_value);
template <Backend On, class Real, class Offset>
FormatBytes format_bytes(const On& on, const CsrView<Real, Offset, typename On::Space>& A) {
  return format_bytes(on, A.row_ptr, int(sizeof(Real)));
}

}  // namespace seidel
