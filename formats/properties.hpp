// What can be said of a matrix by looking at each entry: shape, symmetry, diagonal, dominance, sizes of its values.
#pragma once
#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel {

/// Rows and columns are counted from 0 here; -1 where there is none. A missing entry counts as 0.
struct MatrixProperties {
  bool square = false;
  bool pattern_symmetric = false;  ///< a_ij is stored where a_ji is; false unless square
  bool symmetric = false;          ///< a_ij == a_ji for all i, j, without rounding; false unless square
  /// |a_ij - a_ji| <= 64 eps sqrt(|a_ii a_jj|) for all i, j, as where a_ij and a_ji were added up in different orders; false unless
  /// square. Such a matrix can be solved as a symmetric one.
  bool nearly_symmetric = false;
  bool skew = false;          ///< a_ij == -a_ji for all i, j, a zero diagonal therefore; false unless square
  double symmetry_error = 0;  ///< max |a_ij - a_ji| / max |a_ij| over finite entries; 0 unless square
  /// Pairs a_ij, a_ji of which one is positive and one negative, as where a flow carries more than diffuses; 0 unless square.
  std::int64_t pairs_of_both_signs = 0;
  bool one_triangle_only = false;     ///< entries beside the diagonal, and all on one side: half of a symmetric matrix?
  std::int64_t below = 0, above = 0;  ///< entries below and above the diagonal

  std::int64_t diagonal_missing = 0;  ///< not stored, of the min(nrows, ncols) there could be
  std::int64_t diagonal_zero = 0;     ///< stored, but 0
  std::int64_t diagonal_negative = 0;
  std::int64_t diagonal_positive = 0;    ///< NaN is none of the four
  std::int64_t first_bad_diagonal = -1;  ///< first row whose diagonal entry is missing or 0
  std::int64_t first_negative_diagonal = -1;

  std::int64_t weakly_dominant_rows = 0;    ///< |a_ii| >= sum of |a_ij| beside it, but for rounding (64 eps)
  std::int64_t strictly_dominant_rows = 0;  ///< |a_ii| > that sum
  /// Rows with |sum of a_ij| <= 64 eps sum |a_ij|, which is finite: if all rows are, A times ones is 0 but for rounding.
  std::int64_t zero_row_sums = 0;
  /// Rows with |sum of a_ij| <= |a_ii| / 1000: A hardly acts on constants there. The least and the largest |a_ii| among them; 0
  /// where there are none.
  std::int64_t small_row_sums = 0;
  double small_sum_min_diagonal = 0, small_sum_max_diagonal = 0;
  Index bandwidth_lower = 0, bandwidth_upper = 0;  ///< max i - j and max j - i, at least 0

  std::int64_t nonfinite = 0;  ///< NaN and infinite entries
  std::int64_t first_nonfinite_row = -1, first_nonfinite_col = -1;
  std::int64_t explicit_zeros = 0;
  double max_abs = 0, min_abs = 0;  ///< over finite entries other than 0; 0 if there are none
  double norm_inf = 0,
         norm_frobenius = 0;  ///< over finite entries; the Frobenius norm neither overflows nor underflows early
};

/// Of a matrix in the memory of the back end.
///
/// Cost    two passes over A, a third unless its pattern is symmetric. On the host all are linear in time and take 4 bytes
///         per row; on a GPU the mirror of an entry is searched by bisection in its row, and they wait twice, three times
///         where the pattern is not symmetric. One more pass, with bisections, and one more wait where entries differ from their
///         mirrors by less than 64 eps max |a_ij|.
/// Repeats bit for bit on every back end and for any number of threads.
template <Backend On, class Real, class Offset>
MatrixProperties properties(const On& on, const CsrView<Real, Offset, typename On::Space>& A);

}  // namespace seidel
