// How the entries of a matrix are spread over its rows, and what the matrix takes in each format: the formulas, and the
// row pointers looked at in host memory.
#include <mutex>

#include <seidel/formats/properties/lengths.hpp>
#include <seidel/formats/runtime/quantity.hpp>
#include <seidel/formats/runtime/shares.hpp>

namespace seidel {

namespace properties_detail {

template <class Offset>
Lengths look_at_lengths(const OpenMP& on, HostSpan<const Offset> row_ptr) {
  const std::int64_t nrows = row_ptr.size() - 1, nslices = (nrows + rows_per_slice - 1) / rows_per_slice;
  Lengths all;
  std::mutex joining;
  for_shares(on, nslices, rows_per_slice, [&](std::int64_t first, std::int64_t last, int) {
    Lengths mine;
    for (std::int64_t slice = first; slice < last; ++slice) {
      std::int64_t width = 0;
      for (std::int64_t i = slice * rows_per_slice; i < std::min(nrows, (slice + 1) * rows_per_slice); ++i) {
        const std::int64_t length = row_ptr[i + 1] - row_ptr[i];
        mine.row(i, length);
        width = std::max(width, length);
      }
      mine.sell_places += rows_per_slice * width;
    }
    const std::lock_guard lock(joining);
    all.join(mine);
  });
  return all;
}

RowStatistics row_statistics_of(const Lengths& seen, std::int64_t nrows, Index ncols) {
  RowStatistics result{.nrows = nrows, .ncols = ncols, .nnz = seen.nnz};
  if (nrows == 0) return result;
  result.max = Index(seen.max);
  result.min = Index(seen.min);
  result.empty_rows = seen.empty;
  result.longest_row = seen.longest_row;
  result.mean = double(seen.nnz) / double(nrows);
  // (sum of squares - nnz^2 / n) / n with an integer numerator: nothing cancels.
  result.variance =
      double(Wide(nrows) * seen.squares - Wide(seen.nnz) * Wide(seen.nnz)) / (double(nrows) * double(nrows));
  result.padding_indicator = seen.max > 0 ? result.mean / double(seen.max) : 1;
  return result;
}

FormatBytes format_bytes_of(const Lengths& seen, std::int64_t nrows, int bytes_per_value) {
  constexpr std::int64_t index = sizeof(Index);
  const std::int64_t nnz = seen.nnz, longest = std::max<std::int64_t>(seen.max, 0);
  const auto unless_overflow = [](std::int64_t bytes) {
    return bytes == INT64_MAX ? std::optional<std::int64_t>() : bytes;
  };
  const std::int64_t entries = saturating_product(nnz, index + bytes_per_value);
  FormatBytes result;
  if (nnz <= INT32_MAX) result.csr32 = entries + (nrows + 1) * 4;
  result.csr64 = unless_overflow(saturating_sum(entries, (nrows + 1) * 8));
  result.coo = unless_overflow(saturating_product(nnz, 2 * index + bytes_per_value));
  result.ell = unless_overflow(ell_bytes(nrows, longest, bytes_per_value));
  result.sell = unless_overflow(sell_bytes(nrows, seen.sell_places, rows_per_slice, 1, bytes_per_value));
  if (nnz > 0) {
    result.ell_padding = double(nrows) * double(longest) / double(nnz);
    result.sell_padding = double(seen.sell_places) / double(nnz);
  }
  return result;
}

}  // namespace properties_detail

template RowStatistics row_statistics(const OpenMP&, HostSpan<const std::int32_t>, Index);
template RowStatistics row_statistics(const OpenMP&, HostSpan<const std::int64_t>, Index);
template FormatBytes format_bytes(const OpenMP&, HostSpan<const std::int32_t>, int);
template FormatBytes format_bytes(const OpenMP&, HostSpan<const std::int64_t>, int);

}  // namespace seidel
