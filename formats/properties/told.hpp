// How the properties of a matrix follow from what a back end saw of it.
#pragma once
#include <seidel/formats/properties.hpp>
#include <seidel/formats/properties/seen.hpp>

namespace seidel::properties_detail {

/// What all rows showed, the mirrors of the lower half too if A is square; and the sum of squares of finite entries.
struct Look {
  Seen seen;
  double squares = 0;
};

// What told() asks of a back end (host.cpp, cuda.cu) for a matrix in its memory.
template <class Real, class Offset>
Look look(const OpenMP& on, const CsrView<Real, Offset, Host>& A);
template <class Real, class Offset>
Look look(const Cuda& on, const CsrView<Real, Offset, Device>& A);

/// Entries above the diagonal without mirrors. Of the other fields nothing.
template <class Real, class Offset>
Seen look_at_upper_half(const OpenMP& on, const CsrView<Real, Offset, Host>& A);
template <class Real, class Offset>
Seen look_at_upper_half(const Cuda& on, const CsrView<Real, Offset, Device>& A);

/// The sum of squares of the finite entries, each times 2^-exponent.
template <class Real, class Offset>
double scaled_squares(const OpenMP& on, const CsrView<Real, Offset, Host>& A, int exponent);
template <class Real, class Offset>
double scaled_squares(const Cuda& on, const CsrView<Real, Offset, Device>& A, int exponent);

MatrixProperties told(const auto& on, const auto& A) {
  auto [seen, squares] = look(on, A);
  const bool square = A.nrows == A.ncols;
  const bool pattern_symmetric = square && seen.mirrors == seen.below && seen.mirrors == seen.above;
  if (square && !pattern_symmetric) seen.join(look_at_upper_half(on, A));

  const bool in_range = squares == 0 ? seen.max_abs == 0 : squares >= 0x1p-960 && squares <= 0x1p+1000;
  const int exponent = in_range ? 0 : std::ilogb(seen.max_abs);
  const double norm_frobenius =
      in_range ? std::sqrt(squares) : std::scalbn(std::sqrt(scaled_squares(on, A, exponent)), exponent);
  const auto first = [](std::int64_t row) { return row == nowhere ? -1 : row; };
  return {
      .square = square,
      .pattern_symmetric = pattern_symmetric,
      .symmetric = square && seen.unequal == 0,
      .skew = square && seen.unopposite == 0,
      .symmetry_error = square && seen.max_abs > 0 ? seen.largest_difference / seen.max_abs : 0,
      .pairs_of_both_signs = square ? seen.of_both_signs : 0,
      .one_triangle_only = (seen.below == 0) != (seen.above == 0),
      .below = seen.below,
      .above = seen.above,
      .diagonal_missing = seen.diagonal_missing,
      .diagonal_zero = seen.diagonal_zero,
      .diagonal_negative = seen.diagonal_negative,
      .diagonal_positive = seen.diagonal_positive,
      .first_bad_diagonal = first(seen.first_bad_diagonal),
      .first_negative_diagonal = first(seen.first_negative_diagonal),
      .weakly_dominant_rows = seen.weakly_dominant_rows,
      .strictly_dominant_rows = seen.strictly_dominant_rows,
      .zero_row_sums = seen.zero_row_sums,
      .small_row_sums = seen.small_row_sums,
      .small_sum_min_diagonal = seen.small_row_sums > 0 ? seen.small_sum_min_diagonal : 0,
      .small_sum_max_diagonal = seen.small_sum_max_diagonal,
      .bandwidth_lower = Index(seen.bandwidth_lower),
      .bandwidth_upper = Index(seen.bandwidth_upper),
      .nonfinite = seen.nonfinite,
      .first_nonfinite_row = seen.nonfinite > 0 ? seen.first_nonfinite >> 32 : -1,
      .first_nonfinite_col = seen.nonfinite > 0 ? std::int64_t(Index(seen.first_nonfinite)) : -1,
      .explicit_zeros = seen.explicit_zeros,
      .max_abs = seen.max_abs,
      .min_abs = seen.max_abs > 0 ? seen.min_abs : 0,
      .norm_inf = seen.norm_inf,
      .norm_frobenius = norm_frobenius,
  };
}

}  // namespace seidel::properties_detail
