// How the entries of a matrix are spread over its rows, and what the matrix takes in each format.
#include <seidel/formats/statistics.hpp>

#include <mutex>

#include <seidel/formats/runtime/quantity.hpp>
#include <seidel/formats/runtime/shares.hpp>

namespace seidel {

namespace {

__extension__ using Wide = unsigned __int128;

/// Sums of integers: the same in whatever order.
struct Spread {
  std::int64_t max = -1, min = INT64_MAX, longest_row = -1, empty = 0;
  Wide squares = 0;

  void add_row(std::int64_t row, std::int64_t length) {
    if (length > max) max = length, longest_row = row;
    min = std::min(min, length);
    empty += length == 0;
    squares += Wide(length) * Wide(length);
  }
  void add(const Spread& other) {
    if (other.max > max || (other.max == max && other.longest_row < longest_row))
      max = other.max, longest_row = other.longest_row;
    min = std::min(min, other.min);
    empty += other.empty;
    squares += other.squares;
  }
};

}  // namespace

template <class Offset>
RowStatistics row_statistics(const OpenMP& on, HostSpan<const Offset> row_ptr, Index ncols) {
  RowStatistics result;
  const std::int64_t nrows = std::max<std::int64_t>(0, row_ptr.size() - 1);
  result.nrows = nrows;
  result.ncols = ncols;
  if (nrows == 0) return result;
  result.nnz = row_ptr[nrows];
  Spread all;
  std::mutex adding;
  for_shares(on, nrows, 1, [&](std::int64_t first, std::int64_t last, int) {
    Spread mine;
    for (std::int64_t i = first; i < last; ++i) mine.add_row(i, std::int64_t(row_ptr[i + 1]) - row_ptr[i]);
    const std::lock_guard lock(adding);
    all.add(mine);
  });
  result.max = Index(all.max);
  result.min = Index(all.min);
  result.empty_rows = all.empty;
  result.longest_row = all.longest_row;
  result.mean = double(result.nnz) / double(nrows);
  // (sum of squares - nnz^2 / n) / n with an integer numerator: nothing cancels.
  result.variance =
      double(Wide(nrows) * all.squares - Wide(result.nnz) * Wide(result.nnz)) / (double(nrows) * double(nrows));
  result.padding_indicator = all.max > 0 ? result.mean / double(all.max) : 1;
  return result;
}

template <class Offset>
FormatBytes format_bytes(const OpenMP& on, HostSpan<const Offset> row_ptr, int bytes_per_value) {
  constexpr std::int64_t index = sizeof(Index), C = 32;
  const std::int64_t nrows = std::max<std::int64_t>(0, row_ptr.size() - 1), nnz = nrows > 0 ? row_ptr[nrows] : 0;
  const std::int64_t nslices = (nrows + C - 1) / C;
  std::atomic<std::int64_t> places = 0, longest = 0;
  for_shares(on, nslices, C, [&](std::int64_t first, std::int64_t last, int) {
    std::int64_t mine = 0, longest_here = 0;
    for (std::int64_t s = first; s < last; ++s) {
      std::int64_t width = 0;
      for (std::int64_t i = s * C; i < std::min(nrows, (s + 1) * C); ++i)
        width = std::max<std::int64_t>(width, row_ptr[i + 1] - row_ptr[i]);
      mine += C * width;  // at most 2^57 in all: nslices * C * 2^31
      longest_here = std::max(longest_here, width);
    }
    places += mine;
    fetch_max(longest, longest_here);
  });
  const auto unless_overflow = [](std::int64_t bytes) {
    return bytes == INT64_MAX ? std::optional<std::int64_t>() : bytes;
  };
  const std::int64_t entries = saturating_product(nnz, index + bytes_per_value);
  FormatBytes result;
  if (nnz <= INT32_MAX) result.csr32 = entries + (nrows + 1) * 4;
  result.csr64 = unless_overflow(saturating_sum(entries, (nrows + 1) * 8));
  result.coo = unless_overflow(saturating_product(nnz, 2 * index + bytes_per_value));
  result.ell = unless_overflow(ell_bytes(nrows, longest, bytes_per_value));
  result.sell = unless_overflow(sell_bytes(nrows, places, Index(C), 1, bytes_per_value));
  if (nnz > 0) {
    result.ell_padding = double(nrows) * double(longest) / double(nnz);
    result.sell_padding = double(places) / double(nnz);
  }
  return result;
}

template RowStatistics row_statistics(const OpenMP&, HostSpan<const std::int32_t>, Index);
template RowStatistics row_statistics(const OpenMP&, HostSpan<const std::int64_t>, Index);
template FormatBytes format_bytes(const OpenMP&, HostSpan<const std::int32_t>, int);
template FormatBytes format_bytes(const OpenMP&, HostSpan<const std::int64_t>, int);

}  // namespace seidel
