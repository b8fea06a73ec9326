// From entries in the order of a file to canonical rows.
#pragma once
#include <limits>
#include <vector>

#include <seidel/formats/runtime/array.hpp>
#include <seidel/formats/runtime/parallel.hpp>

namespace seidel::mm {

/// Set in a column index while rows are made: the entry stems from above the diagonal of a file that lists one
/// triangle.
inline constexpr Index from_above = std::numeric_limits<Index>::min();
inline Index column_of(Index flagged) { return flagged & ~from_above; }

struct RowFacts {
  bool equal = false;   // a row has a column twice
  bool thrice = false;  // or three times, so that the order of adding counts
};

/// Sorts each row by column; equal columns keep their order. Linear time. Takes 48 KiB a thread, and the longest row if
/// that has more than 4096 entries that are not in order.
RowFacts sort_rows(const OpenMP& on, HostSpan<const std::int64_t> row_ptr, Index* col_idx, double* values);

struct MergeCounts {
  std::int64_t duplicates = 0, mirrored = 0;  // in the rows as they stand
};

/// Adds up equal columns in the order they stand, apart for the entries from above and from below the diagonal, of
/// which one is then kept; clears the flags. `triangle`: count on and below the diagonal only. Returns the number of
/// entries that stay, which move to the front.
std::int64_t merge_rows(const OpenMP& on, Array<std::int64_t>& row_ptr, Index* col_idx, double* values, bool triangle,
                        MergeCounts& counts);

/// Takes the flags away.
void clear_flags(const OpenMP& on, HostSpan<Index> col_idx);

/// Places row << 32 | column below the diagonal that sorted rows have both from below and from above; `differing`: only
/// those whose two sums differ. Ascending.
std::vector<std::uint64_t> listed_twice(HostSpan<const std::int64_t> row_ptr, const Index* col_idx,
                                        const double* values, bool differing);

}  // namespace seidel::mm
