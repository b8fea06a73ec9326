// How large the eigenvalues of D^-1 A are.
#pragma once
#include <algorithm>

#include <seidel/kernels/aggregation/prolongator.hpp>
#include <seidel/solvers/matrix_operator.hpp>
#include <seidel/solvers/multigrid/level_numbers.hpp>
#include <seidel/solvers/smoothers/chebyshev.hpp>

namespace seidel::multigrid_detail {

/// An upper bound of the eigenvalues of D^-1 A, or nearly one, from an estimate by Lanczos steps, but no more than by
/// Gershgorin's circles.
/// Source  Vanek, Brezina, Mandel, Convergence of algebraic multigrid based on smoothed aggregation, Numer. Math. 88,
///         2001, for why an estimate will do.
inline double spectral_bound(double estimate, double max_off_diagonal) {
  constexpr double margin = 1.05;  // for what so few steps do not see
  const double bound = std::min(margin * estimate, 1 + max_off_diagonal);
  return bound > 0 ? bound : 1;  // of a matrix of zeros
}

/// That estimate, with the matrix in double precision.
template <class B, class Offset>
double estimate_in_double(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A,
                          Span<double, SpaceOf<B>> inverse_diagonal) {
  using V = Vector<double, B>;
  V start(on, A.nrows);
  const V inverse(on, inverse_diagonal);
  fill_start<B, Offset>(on, A.row_ptr, inverse_diagonal, start.span());
  return estimate_largest_eigenvalue(MatrixOperator(on, A), &inverse, start, LevelNumbers<B>::lanczos_steps);
}

}  // namespace seidel::multigrid_detail
