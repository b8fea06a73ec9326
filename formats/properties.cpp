// What can be said of a matrix by looking at each entry.
#include <seidel/formats/properties.hpp>

#include <cmath>

#include <seidel/formats/runtime/shares.hpp>

namespace seidel {

namespace {

constexpr double sums_to_zero = 1e-12;

std::int64_t first_of(std::int64_t a, std::int64_t b) { return a < 0 ? b : b < 0 ? a : std::min(a, b); }

/// Calls look(chunk, first row, last row), then add(chunk) in order: chunks depend on the matrix only, so sums do too.
template <class Chunk, class View, class Look, class Add>
void in_chunks(const OpenMP& on, const View& A, const Look& look, const Add& add) {
  const int nchunks = int(std::min<std::int64_t>(1024, (A.nrows + A.nnz()) / worth_per_thread + 1));
  std::vector<Chunk> chunks(nchunks);
  for_each_in_turn(on, nchunks, [&](std::int64_t c, int) {
    const Range mine = share_by_nonzeros(A.row_ptr, int(c), nchunks);
    look(chunks[c], mine.first, mine.last);
  });
  for (const Chunk& chunk : chunks) add(chunk);
}

/// What one chunk of rows adds to the whole.
struct RowsSeen {
  MatrixProperties found;
  double squares = 0;

  template <class View>
  void look(const View& A, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) row(A, i);
  }

  template <class View>
  void row(const View& A, std::int64_t i) {
    double beside = 0, sum = 0, diagonal = 0;
    bool stored = false;
    for (std::int64_t k = A.row_ptr[i]; k < std::int64_t(A.row_ptr[i + 1]); ++k) {
      const Index j = A.col_idx[k];
      const double value = double(A.values[k]), magnitude = std::fabs(value);
      found.below += j < i;
      found.above += j > i;
      found.bandwidth_lower = std::max(found.bandwidth_lower, Index(i - j));
      found.bandwidth_upper = std::max<Index>(found.bandwidth_upper, Index(j - i));
      if (j == i) {
        stored = true;
        diagonal = value;
      } else {
        beside += magnitude;
      }
      sum += value;
      if (!std::isfinite(value)) {
        if (found.nonfinite++ == 0) found.first_nonfinite_row = i, found.first_nonfinite_col = j;
      } else if (value == 0) {
        ++found.explicit_zeros;
      } else {
        found.max_abs = std::max(found.max_abs, magnitude);
        found.min_abs = found.min_abs == 0 ? magnitude : std::min(found.min_abs, magnitude);
        squares += value * value;
      }
    }
    const double all = beside + std::fabs(diagonal);
    if (std::isfinite(all))
      found.norm_inf = std::max(found.norm_inf, all);
    else
      found.norm_inf = std::max(found.norm_inf, finite_row_norm(A, i));
    found.zero_row_sums += std::isfinite(all) && std::fabs(sum) <= sums_to_zero * all;
    found.weakly_dominant_rows += std::fabs(diagonal) >= beside;
    found.strictly_dominant_rows += std::fabs(diagonal) > beside;
    if (i < A.ncols) diagonal_entry(i, stored, diagonal);
  }

  void diagonal_entry(std::int64_t i, bool stored, double value) {
    found.diagonal_missing += !stored;
    found.diagonal_zero += stored && value == 0;
    found.diagonal_negative += value < 0;
    found.diagonal_positive += value > 0;
    if (value == 0 && found.first_bad_diagonal < 0) found.first_bad_diagonal = i;
    if (value < 0 && found.first_negative_diagonal < 0) found.first_negative_diagonal = i;
  }

  template <class View>
  static double finite_row_norm(const View& A, std::int64_t i) {
    double norm = 0;
    for (std::int64_t k = A.row_ptr[i]; k < std::int64_t(A.row_ptr[i + 1]); ++k)
      if (std::isfinite(A.values[k])) norm += std::fabs(double(A.values[k]));
    return norm;
  }

  /// Chunks come in the order of their rows.
  void add_to(MatrixProperties& all) const {
    all.below += found.below;
    all.above += found.above;
    all.diagonal_missing += found.diagonal_missing;
    all.diagonal_zero += found.diagonal_zero;
    all.diagonal_negative += found.diagonal_negative;
    all.diagonal_positive += found.diagonal_positive;
    all.first_bad_diagonal = first_of(all.first_bad_diagonal, found.first_bad_diagonal);
    all.first_negative_diagonal = first_of(all.first_negative_diagonal, found.first_negative_diagonal);
    all.weakly_dominant_rows += found.weakly_dominant_rows;
    all.strictly_dominant_rows += found.strictly_dominant_rows;
    all.zero_row_sums += found.zero_row_sums;
    all.bandwidth_lower = std::max(all.bandwidth_lower, found.bandwidth_lower);
    all.bandwidth_upper = std::max(all.bandwidth_upper, found.bandwidth_upper);
    if (all.nonfinite == 0 && found.nonfinite > 0)
      all.first_nonfinite_row = found.first_nonfinite_row, all.first_nonfinite_col = found.first_nonfinite_col;
    all.nonfinite += found.nonfinite;
    all.explicit_zeros += found.explicit_zeros;
    all.max_abs = std::max(all.max_abs, found.max_abs);
    if (found.min_abs > 0) all.min_abs = all.min_abs == 0 ? found.min_abs : std::min(all.min_abs, found.min_abs);
    all.norm_inf = std::max(all.norm_inf, found.norm_inf);
  }
};

/// sqrt of the sum of squares of finite entries, each scaled first: for values whose squares leave the range.
template <class View>
double scaled_norm(const OpenMP& on, const View& A, double max_abs) {
  const int exponent = std::ilogb(max_abs);
  double squares = 0;
  in_chunks<double>(
      on, A,
      [&](double& sum, std::int64_t first, std::int64_t last) {
        for (std::int64_t k = A.row_ptr[first]; k < std::int64_t(A.row_ptr[last]); ++k)
          if (std::isfinite(A.values[k])) {
            const double value = std::scalbn(double(A.values[k]), -exponent);
            sum += value * value;
          }
      },
      [&](double sum) { squares += sum; });
  return std::scalbn(std::sqrt(squares), exponent);
}

/// How the entries of one chunk compare with their mirrors.
struct Mirrored {
  bool pattern = true, equal = true, opposite = true;
  double largest_difference = 0;

  template <class View>
  void look(const View& A, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      for (std::int64_t k = A.row_ptr[i]; k < std::int64_t(A.row_ptr[i + 1]); ++k) {
        const Index j = A.col_idx[k];
        const double value = double(A.values[k]);
        const auto begin = A.col_idx.begin() + A.row_ptr[j], end = A.col_idx.begin() + A.row_ptr[j + std::int64_t(1)];
        const auto at = std::lower_bound(begin, end, Index(i));
        const bool stored = at != end && *at == i;
        if (stored && j > i) continue;  // seen from the other side
        const double mirror = stored ? double(A.values[at - A.col_idx.begin()]) : 0;
        pattern &= stored;
        equal &= value == mirror;
        opposite &= value == -mirror;
        const double difference = std::fabs(value - mirror);
        if (std::isfinite(difference)) largest_difference = std::max(largest_difference, difference);
      }
  }
};

}  // namespace

template <class Real, class Offset>
MatrixProperties properties(const OpenMP& on, const CsrView<Real, Offset, Host>& A) {
  MatrixProperties all;
  double squares = 0;
  in_chunks<RowsSeen>(
      on, A, [&](RowsSeen& rows, std::int64_t first, std::int64_t last) { rows.look(A, first, last); },
      [&](const RowsSeen& rows) {
        rows.add_to(all);
        squares += rows.squares;
      });
  const bool in_range = squares == 0 ? all.max_abs == 0 : squares >= 0x1p-960 && squares <= 0x1p+1000;
  all.norm_frobenius = in_range ? std::sqrt(squares) : scaled_norm(on, A, all.max_abs);
  all.one_triangle_only = (all.below == 0) != (all.above == 0);
  all.square = A.nrows == A.ncols;
  if (!all.square) return all;
  Mirrored mirrored;
  in_chunks<Mirrored>(
      on, A, [&](Mirrored& rows, std::int64_t first, std::int64_t last) { rows.look(A, first, last); },
      [&](const Mirrored& rows) {
        mirrored.pattern &= rows.pattern;
        mirrored.equal &= rows.equal;
        mirrored.opposite &= rows.opposite;
        mirrored.largest_difference = std::max(mirrored.largest_difference, rows.largest_difference);
      });
  all.pattern_symmetric = mirrored.pattern;
  all.symmetric = mirrored.equal;
  all.skew = mirrored.opposite;
  if (all.max_abs > 0) all.symmetry_error = mirrored.largest_difference / all.max_abs;
  return all;
}

template MatrixProperties properties(const OpenMP&, const CsrView<double, std::int32_t, Host>&);
template MatrixProperties properties(const OpenMP&, const CsrView<double, std::int64_t, Host>&);
template MatrixProperties properties(const OpenMP&, const CsrView<float, std::int32_t, Host>&);
template MatrixProperties properties(const OpenMP&, const CsrView<float, std::int64_t, Host>&);

}  // namespace seidel
