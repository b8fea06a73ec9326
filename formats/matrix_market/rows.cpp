// Sorting rows and adding up what a file lists more than once.
#include <seidel/formats/matrix_market/rows.hpp>

#include <atomic>
#include <cmath>
#include <vector>

#include <seidel/formats/convert/sort_rows.hpp>

namespace seidel::mm {

namespace {

/// The number of threads that pays off for so many entries.
OpenMP worth(const OpenMP& on, std::int64_t entries) {
  return {entries < 2 * worth_per_thread ? 1 : std::max(1, on.threads)};
}

bool ascending(const Index* col, std::int64_t n) {
  bool yes = true;
  for (std::int64_t k = 1; k < n; ++k) yes &= column_of(col[k - 1]) < column_of(col[k]);
  return yes;
}

void look_for_equals(const Index* col, std::int64_t n, RowFacts& facts) {
  for (std::int64_t k = 1; k < n; ++k)
    if (column_of(col[k - 1]) == column_of(col[k])) {
      facts.equal = true;
      facts.thrice |= k > 1 && column_of(col[k - 2]) == column_of(col[k]);
    }
}

/// If the sum is NaN, returns one fixed NaN, since the bits of others depend on the order of the terms.
double add(double a, double b) {
  const double sum = a + b;
  return std::isnan(sum) ? std::numeric_limits<double>::quiet_NaN() : sum;
}

/// What the entries of one column of a row, [k, end), add up to from below the diagonal and from above.
struct Sums {
  double below = 0, above = 0;
  std::int64_t nbelow = 0, nabove = 0;
  bool overflow = false;
};
Sums sums_of(const Index* col, const double* value, std::int64_t k, std::int64_t end) {
  Sums s;
  for (; k < end; ++k) {
    const bool above = col[k] < 0;
    double& sum = above ? s.above : s.below;
    const double before = sum;
    sum = (above ? s.nabove : s.nbelow)++ == 0 ? value[k] : add(sum, value[k]);
    s.overflow |= overflows(before, value[k]);
  }
  return s;
}
std::int64_t run_end(const Index* col, std::int64_t k, std::int64_t last) {
  const Index c = column_of(col[k]);
  while (++k < last && column_of(col[k]) == c) continue;
  return k;
}

}  // namespace

RowFacts sort_rows(const OpenMP& on, HostSpan<const std::int64_t> row_ptr, Index* col_idx, double* values) {
  const OpenMP few = worth(on, row_ptr.back() + row_ptr.size());
  convert_detail::RowSorter<double, decltype(column_of)> sort(few.threads);
  std::atomic<bool> equal = false, thrice = false;
  parallel_parts(few, [&](int part, int nparts) {
    const Range mine = share_by_nonzeros(row_ptr, part, nparts);
    RowFacts facts;
    for (std::int64_t row = mine.first; row < mine.last; ++row) {
      Index* const col = col_idx + row_ptr[row];
      const std::int64_t n = row_ptr[row + 1] - row_ptr[row];
      if (ascending(col, n)) continue;
      sort(col, values + row_ptr[row], n, part);
      look_for_equals(col, n, facts);
    }
    if (facts.equal) equal = true;
    if (facts.thrice) thrice = true;
  });
  return {equal, thrice};
}

Merged merge_rows(const OpenMP& on, Array<std::int64_t>& row_ptr, Index* col_idx, double* values, bool triangle) {
  std::atomic<std::int64_t> duplicates = 0, mirrored = 0;
  std::atomic<bool> overflow = false;
  const HostSpan<const std::int64_t> starts = row_ptr;
  parallel_parts(worth(on, starts.back() + starts.size()), [&](int part, int nparts) {
    const Range mine = share_by_nonzeros(starts, part, nparts);
    std::int64_t duplicates_here = 0, mirrored_here = 0;
    for (std::int64_t row = mine.first; row < mine.last; ++row) {
      std::int64_t to = starts[row];
      const std::int64_t last = starts[row + 1];
      for (std::int64_t k = to; k < last;) {
        const std::int64_t end = run_end(col_idx, k, last);
        const Sums s = sums_of(col_idx, values, k, end);
        if (s.overflow) overflow = true;
        const Index col = column_of(col_idx[k]);
        if (!triangle || col <= row) {
          const bool both = s.nbelow > 0 && s.nabove > 0;
          duplicates_here += end - k - 1 - both;
          mirrored_here += both;
        }
        col_idx[to] = col;
        values[to++] = s.nbelow > 0 ? s.below : s.above;
        k = end;
      }
      std::fill(col_idx + to, col_idx + last, Index(-1));  // empty
    }
    duplicates += duplicates_here;
    mirrored += mirrored_here;
  });
  std::int64_t to = 0;
  for (std::int64_t row = 0; row + 1 < row_ptr.size(); ++row) {
    const std::int64_t first = row_ptr[row], last = row_ptr[row + 1];
    row_ptr[row] = to;
    for (std::int64_t k = first; k < last && col_idx[k] >= 0; ++k, ++to) {
      col_idx[to] = col_idx[k];
      values[to] = values[k];
    }
  }
  if (row_ptr.size() > 0) row_ptr[row_ptr.size() - 1] = to;
  return {to, duplicates, mirrored, overflow};
}

std::vector<std::uint64_t> listed_twice(HostSpan<const std::int64_t> row_ptr, const Index* col_idx,
                                        const double* values, bool differing) {
  std::vector<std::uint64_t> places;
  for (std::int64_t row = 0; row + 1 < row_ptr.size(); ++row) {
    const std::int64_t last = row_ptr[row + 1];
    for (std::int64_t k = row_ptr[row]; k < last && column_of(col_idx[k]) < row;) {
      const std::int64_t end = run_end(col_idx, k, last);
      if (end - k > 1) {
        const Sums s = sums_of(col_idx, values, k, end);
        const bool same = s.below == s.above || (std::isnan(s.below) && std::isnan(s.above));
        if (s.nbelow > 0 && s.nabove > 0 && !(differing && same))
          places.push_back(std::uint64_t(row) << 32 | std::uint32_t(column_of(col_idx[k])));
      }
      k = end;
    }
  }
  return places;
}

}  // namespace seidel::mm
