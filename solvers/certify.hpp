// What an answer is worth, computed apart from the iteration that found it.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <seidel/kernels/certificate/certificate.hpp>
#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/concepts.hpp>

namespace seidel {

/// Of a residual in twice the working precision, rounded once per entry. Infinite if x is not finite.
struct Certificate {
  double relative_residual = 0;  // ||b - A x|| / ||b|| in the 2-norm; the numerator where b = 0
  double backward_error = 0;     // ||b - A x|| / (||A|| ||x|| + ||b||) in the infinity norm: x solves a system that
                                 // differs by so much; 0 where that is 0 / 0
  std::optional<double> orthogonality = {};  // as Optimality::orthogonality; certify_least_squares() alone
};

namespace certify_detail {
/// r / (A x + b), where A x + b may be beyond the range of double. A norm of A that is counts as the largest double: the
/// error is then told too large, never too small.
inline double backward_error(double r, double A, double x, double b) {
  if (r == 0) return 0;
  A = std::min(A, std::numeric_limits<double>::max());
  const double scale = A * x + b;
  if (std::isfinite(scale)) return r / scale;
  const double larger = std::max(x, 1.0);  // divided out, so that A alone is left; halves, so that the sum is no more
  return r / larger / 2 / (A / 2 * (x / larger) + b / larger / 2);
}

/// From r = b - A x.
template <class V>
Certificate judged(const V& r, const V& x, const V& b, double norm_inf_of_A) {
  const double norm_b = norm2(b), norm_r = norm2(r), largest_x = max_abs(x);
  if (!std::isfinite(largest_x)) return {std::numeric_limits<double>::infinity(), 1};
  return {norm_b > 0 ? norm_r / norm_b : norm_r,
          backward_error(max_abs(r), norm_inf_of_A, largest_x, double(max_abs(b)))};
}
}  // namespace certify_detail

/// Of x as a solution of A x = b. norm_inf_of_A is that of MatrixProperties.
///
/// Cost    reads A once, with about ten times the arithmetic of a product; allocates one vector; waits five times on a GPU.
/// Repeats bit for bit on every back end.
/// Errors  ShapeError.
template <Backend B, class Real, class Offset>
Certificate certify(const B& on, const CsrView<Real, Offset, SpaceOf<B>>& A, const Vector<Real, B>& x,
                    const Vector<Real, B>& b, double norm_inf_of_A) {
  Vector<Real, B> r = like(b);
  certified_residual(on, A, x.span(), b.span(), r.span());
  return certify_detail::judged(r, x, b, norm_inf_of_A);
}

/// The same, and how nearly b - A x is orthogonal to the columns of A: A'r is a product in working precision, whose rounding
/// is that of 1. norm_2_of_A is Optimality::norm_A, or another lower bound of the 2-norm of A.
///
/// Cost    as certify(), and one product with A', a vector like x and two waits.
/// Errors  ShapeError.
template <Backend B, class Real, class Offset, TransposableOperator<Vector<Real, B>> Matrix>
Certificate certify_least_squares(const B& on, const CsrView<Real, Offset, SpaceOf<B>>& A, const Matrix& products,
                                  const Vector<Real, B>& x, const Vector<Real, B>& b, double norm_inf_of_A,
                                  double norm_2_of_A) {
  Vector<Real, B> r = like(b), p = like(x);
  certified_residual(on, A, x.span(), b.span(), r.span());
  Certificate certificate = certify_detail::judged(r, x, b, norm_inf_of_A);
  const Real norm_r = norm2(r);
  certificate.orthogonality = std::isfinite(certificate.relative_residual) ? 0 : 1;
  if (!(norm_r > 0 && std::isfinite(norm_r))) return certificate;
  axpby(1 / norm_r, r, 0, r);
  products.apply_transposed(r, p);
  if (const double along = norm2(p); along != 0) certificate.orthogonality = along / norm_2_of_A;
  return certificate;
}

}  // namespace seidel
