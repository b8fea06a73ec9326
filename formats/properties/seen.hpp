// What every back end looks for, entry by entry and row by row. Sums over a row are taken from left to right, everything
// else is a count, a largest or a first one, so that rows may be looked at in any order.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include <seidel/formats/properties.hpp>
#include <seidel/formats/runtime/search.hpp>

namespace seidel::properties_detail {

inline constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::max();
/// A row whose entries sum to no more than this part of their magnitudes sums to zero but for rounding: entries that were
/// assembled from a few dozen others. Any larger sum is taken at its word. So is what a diagonal lacks to dominate its row.
inline constexpr double sums_to_zero = 64 * std::numeric_limits<double>::epsilon();
inline constexpr double small_sum = 1e-3;  // of the diagonal entry

/// What a_ij and a_ji may differ by, as a part of sqrt(|a_ii a_jj|), where they were assembled in different orders.
inline constexpr double differ_by_rounding = 64 * std::numeric_limits<double>::epsilon();

SEIDEL_HD inline bool is_finite(double value) { return std::fabs(value) <= std::numeric_limits<double>::max(); }

/// `value` squared, scaled by a power of two first; 0 unless it is finite.
SEIDEL_HD inline double scaled_square(double value, int exponent) {
  if (!is_finite(value)) return 0;
  if (exponent != 0) value = std::scalbn(value, -exponent);
  return value * value;
}

/// Sums over the entries of a row, added from left to right.
struct RowSums {
  double beside = 0, sum = 0, diagonal = 0;  // magnitudes beside the diagonal; values; the diagonal entry

  SEIDEL_HD void add(bool on_diagonal, double value) {
    beside += on_diagonal ? 0 : std::fabs(value);
    sum += value;
    if (on_diagonal) diagonal = value;
  }
};

/// a_ij; 0 if it is not stored.
SEIDEL_HD inline double value_at(const auto& A, std::int64_t row, std::int64_t col) {
  const std::int64_t begin = A.row_ptr[row], end = A.row_ptr[row + 1];
  const std::int64_t low = begin + count_below(A.col_idx.data() + begin, end - begin, col);
  return low < end && A.col_idx[low] == col ? double(A.values[low]) : 0;
}

/// Whether entry k, of this row, differs from its mirror by more than rounding.
SEIDEL_HD inline bool differs(const auto& A, std::int64_t row, std::int64_t k) {
  const Index col = A.col_idx[k];
  const double difference = std::fabs(double(A.values[k]) - value_at(A, col, row));
  return difference > 0 && difference > differ_by_rounding * std::sqrt(std::fabs(value_at(A, row, row))) *
                                            std::sqrt(std::fabs(value_at(A, col, col)));
}

/// The entries whose mirrors are looked for.
enum class Half { lower, upper };

/// What some rows showed, in the fields of the answer as far as rows alone tell them; told.hpp makes the rest.
struct Seen : MatrixProperties {
  std::int64_t first_nonfinite = nowhere;  // row * 2^32 + column
  std::int64_t mirrors = 0;                // a_ji found for an entry a_ij of those that were looked up
  std::int64_t unequal = 0, unopposite = 0;
  double largest_difference = 0;

  SEIDEL_HD Seen() {
    first_bad_diagonal = first_negative_diagonal = nowhere;
    min_abs = small_sum_min_diagonal = std::numeric_limits<double>::infinity();
  }

  SEIDEL_HD void entry(std::int64_t row, Index col, double value) {
    const double magnitude = std::fabs(value);
    if (!is_finite(value)) {
      ++nonfinite;
      first_nonfinite = std::min(first_nonfinite, row << 32 | col);
    } else if (magnitude > 0) {
      max_abs = std::max(max_abs, magnitude);
      min_abs = std::min(min_abs, magnitude);
    } else {
      ++explicit_zeros;
    }
  }

  /// Row i, entry by entry. Returns `squares` and theirs, added one after another.
  SEIDEL_HD double whole_row(const auto& A, std::int64_t i, double squares) {
    RowSums sums;
    std::int64_t nbelow = 0;
    bool stored = false;
    for (std::int64_t k = A.row_ptr[i]; k < std::int64_t(A.row_ptr[i + 1]); ++k) {
      const Index j = A.col_idx[k];
      const double value = double(A.values[k]);
      nbelow += j < i;
      stored |= j == i;
      sums.add(j == i, value);
      entry(i, j, value);
      squares += scaled_square(value, 0);
    }
    row(A, i, nbelow, stored, sums);
    return squares;
  }

  /// Row i, of which `nbelow` entries are below the diagonal; `stored`: one is on it. `sums` are those of its entries.
  SEIDEL_HD void row(const auto& A, std::int64_t i, std::int64_t nbelow, bool stored, const RowSums& sums) {
    const std::int64_t begin = A.row_ptr[i], end = A.row_ptr[i + 1];
    below += nbelow;
    above += end - begin - nbelow - stored;
    if (begin < end) {
      bandwidth_lower = std::max(bandwidth_lower, Index(i - A.col_idx[begin]));
      bandwidth_upper = std::max(bandwidth_upper, Index(A.col_idx[end - 1] - i));
    }
    const double diagonal = sums.diagonal, all = sums.beside + std::fabs(diagonal);
    norm_inf = std::max(norm_inf, is_finite(all) ? all : finite_row_norm(A, begin, end));
    zero_row_sums += is_finite(all) && std::fabs(sums.sum) <= sums_to_zero * all;
    if (is_finite(all) && diagonal != 0 && std::fabs(sums.sum) <= small_sum * std::fabs(diagonal)) {
      ++small_row_sums;
      small_sum_min_diagonal = std::min(small_sum_min_diagonal, std::fabs(diagonal));
      small_sum_max_diagonal = std::max(small_sum_max_diagonal, std::fabs(diagonal));
    }
    weakly_dominant_rows += std::fabs(diagonal) >= sums.beside * (1 - sums_to_zero);
    strictly_dominant_rows += std::fabs(diagonal) > sums.beside;
    if (stored) pair(diagonal, diagonal);  // NaN is not equal to itself, and only 0 is its own opposite
    if (i >= A.ncols) return;
    diagonal_missing += !stored;
    diagonal_zero += stored && diagonal == 0;
    diagonal_negative += diagonal < 0;
    diagonal_positive += diagonal > 0;
    if (diagonal == 0) first_bad_diagonal = std::min(first_bad_diagonal, i);
    if (diagonal < 0) first_negative_diagonal = std::min(first_negative_diagonal, i);
  }

  /// a_ij beside the diagonal, and a_ji, which is 0 unless it is stored. From the upper half only what has no mirror is
  /// new.
  SEIDEL_HD void mirror(Half half, double value, bool stored, double mirrored) {
    if (half == Half::upper && stored) return;
    mirrors += stored;
    pair(value, mirrored);
  }
  /// Two entries that a symmetric matrix has alike.
  SEIDEL_HD void pair(double value, double mirror) {
    unequal += value != mirror;
    unopposite += value != -mirror;
    pairs_of_both_signs += (value > 0 && mirror < 0) || (value < 0 && mirror > 0);
    const double difference = std::fabs(value - mirror);
    if (is_finite(difference)) largest_difference = std::max(largest_difference, difference);
  }

  SEIDEL_HD void join(const Seen& other) {
    below += other.below;
    above += other.above;
    diagonal_missing += other.diagonal_missing;
    diagonal_zero += other.diagonal_zero;
    diagonal_negative += other.diagonal_negative;
    diagonal_positive += other.diagonal_positive;
    first_bad_diagonal = std::min(first_bad_diagonal, other.first_bad_diagonal);
    first_negative_diagonal = std::min(first_negative_diagonal, other.first_negative_diagonal);
    weakly_dominant_rows += other.weakly_dominant_rows;
    strictly_dominant_rows += other.strictly_dominant_rows;
    zero_row_sums += other.zero_row_sums;
    small_row_sums += other.small_row_sums;
    small_sum_min_diagonal = std::min(small_sum_min_diagonal, other.small_sum_min_diagonal);
    small_sum_max_diagonal = std::max(small_sum_max_diagonal, other.small_sum_max_diagonal);
    bandwidth_lower = std::max(bandwidth_lower, other.bandwidth_lower);
    bandwidth_upper = std::max(bandwidth_upper, other.bandwidth_upper);
    nonfinite += other.nonfinite;
    explicit_zeros += other.explicit_zeros;
    first_nonfinite = std::min(first_nonfinite, other.first_nonfinite);
    mirrors += other.mirrors;
    unequal += other.unequal;
    unopposite += other.unopposite;
    pairs_of_both_signs += other.pairs_of_both_signs;
    max_abs = std::max(max_abs, other.max_abs);
    min_abs = std::min(min_abs, other.min_abs);
    norm_inf = std::max(norm_inf, other.norm_inf);
    largest_difference = std::max(largest_difference, other.largest_difference);
  }

 private:
  SEIDEL_HD static double finite_row_norm(const auto& A, std::int64_t begin, std::int64_t end) {
    double norm = 0;
    for (std::int64_t k = begin; k < end; ++k)
      if (is_finite(A.values[k])) norm += std::fabs(double(A.values[k]));
    return norm;
  }
};

/// The sums of squares behind the Frobenius norm: entries from left to right in each of this many shares of the rows
/// (share_by_nonzeros), and the sums of shares in their order, whatever the number of threads.
inline int shares_of_squares(std::int64_t nrows, std::int64_t nnz) {
  return int(std::min<std::int64_t>(1024, (nrows + nnz) / 8192 + 1));
}

}  // namespace seidel::properties_detail
