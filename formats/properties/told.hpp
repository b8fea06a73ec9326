// How the properties of a matrix follow from what a back end saw of it. It is included by host.cpp and cuda.cu, below what they see:
//   look(on, A)                      what all rows showed, the mirrors of the lower half too if A is square, and the sum of squares
//                                    of finite entries
//   look_at_upper_half(on, A)        entries above the diagonal without mirrors; of the other fields nothing
//   any_differs(on, A)               whether an entry differs from its mirror by more than rounding
//   scaled_squares(on, A, exponent)  the sum of squares of the finite entries, each times 2^-exponent
#pragma once
#include <seidel/formats/properties/seen.hpp>

namespace seidel {

template <Backend On, class Real, class Offset>
MatrixProperties properties(const On& on, const CsrView<Real, Offset, typename On::Space>& A) {
  using namespace properties_detail;
  auto [seen, squares] = look(on, A);
  const bool square = A.nrows == A.ncols;
  const bool pattern_symmetric = square && seen.mirrors == seen.below && seen.mirrors == seen.above;
  if (square && !pattern_symmetric) seen.join(look_at_upper_half(on, A));
  const bool in_range = squares == 0 ? seen.max_abs == 0 : squares >= 0x1p-960 && squares <= 0x1p+1000;
  const int exponent = in_range ? 0 : std::ilogb(seen.max_abs);
  const auto first = [](std::int64_t row) { return row == nowhere ? -1 : row; };

  MatrixProperties told = seen;
  told.square = square;
  told.pattern_symmetric = pattern_symmetric;
  told.symmetric = square && seen.unequal == 0;
  told.nearly_symmetric =
      told.symmetric || (square && seen.nonfinite == 0 &&
                         seen.largest_difference <= differ_by_rounding * seen.max_abs && !any_differs(on, A));
  told.skew = square && seen.unopposite == 0;
  told.symmetry_error = square && seen.max_abs > 0 ? seen.largest_difference / seen.max_abs : 0;
  told.one_triangle_only = (seen.below == 0) != (seen.above == 0);
  told.first_bad_diagonal = first(seen.first_bad_diagonal);
  told.first_negative_diagonal = first(seen.first_negative_diagonal);
  if (seen.small_row_sums == 0) told.small_sum_min_diagonal = 0;
  if (seen.nonfinite > 0) told.first_nonfinite_row = seen.first_nonfinite >> 32;
  if (seen.nonfinite > 0) told.first_nonfinite_col = Index(seen.first_nonfinite);
  if (seen.max_abs == 0) told.min_abs = 0;
  told.norm_frobenius =
      in_range ? std::sqrt(squares) : std::scalbn(std::sqrt(scaled_squares(on, A, exponent)), exponent);
  return told;
}

}  // namespace seidel
