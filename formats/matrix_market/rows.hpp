// From entries in the order of a file to canonical rows.
#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include <seidel/formats/runtime/array.hpp>
#include <seidel/formats/runtime/parallel.hpp>

namespace seidel::mm {

/// Set in a column index while rows are made: the entry is from above the diagonal of a file that lists one
/// triangle.
inline constexpr Index from_above = std::numeric_limits<Index>::min();
inline constexpr auto column_of = [](Index flagged) { return flagged & ~from_above; };

/// Whether two finite numbers have an infinite sum.
inline bool overflows(double a, double b) { return std::isinf(a + b) && std::isfinite(a) && std::isfinite(b); }

struct RowFacts {
  bool equal = false;   // a row has a column twice
  bool thrice = false;  // or three times, so that the order of summation matters
};

/// Sorts each row by column; equal columns keep their order. Linear time. Each thread takes as much memory as the longest
/// of its rows that has more than 48 entries and is not in order.
RowFacts sort_rows(const OpenMP& on, HostSpan<const std::int64_t> row_ptr, Index* col_idx, double* values);

struct Merged {
  std::int64_t nnz = 0;  // entries that remain
  std::int64_t duplicates = 0, mirrored = 0;
  bool overflow = false;  // a sum of finite entries is infinite
};

/// Sums entries of equal column in their order, separately for those from above and from below the diagonal, of which
/// one sum is then kept; clears the flags. `triangle`: count on and below the diagonal only. What remains moves to the
/// front.
Merged merge_rows(const OpenMP& on, Array<std::int64_t>& row_ptr, Index* col_idx, double* values, bool triangle);

/// Places row << 32 | column below the diagonal that sorted rows have both from below and from above; `differing`: only
/// those whose two sums differ. Ascending.
std::vector<std::uint64_t> listed_twice(HostSpan<const std::int64_t> row_ptr, const Index* col_idx,
                                        const double* values, bool differing);

}  // namespace seidel::mm
