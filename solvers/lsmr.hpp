// Least squares, for matrices of any shape and rank.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <seidel/solvers/iterate.hpp>
#include <seidel/solvers/right_triangle.hpp>

namespace seidel {

namespace lsmr_detail {

/// What was seen of A / unit and of the true r = b - A x.
template <class Real>
struct Seen {
  Real unit = 1;            // a power of two; 1 unless squares of numbers like those of A leave the range of Real
  Real norm_A = 0;          // the largest ||A v||, ||v|| = 1
  Real norm_r = 0, pz = 0;  // ||r||; p'z = (||A'r|| / ||r||)^2, as latest measured

  /// ||A'r|| / (||A|| ||r||) from ||A'r|| / ||r||; 1 as long as ||A|| is not known.
  Real orthogonality(Real along) const { return along == 0 ? Real(0) : norm_A > 0 ? along / norm_A : Real(1); }
  Real orthogonality() const { return orthogonality(std::sqrt(std::max(pz, Real(0)))); }
};

/// The system as Iterate watches it: what must become small is ||r||, or `unit` times the orthogonality of r, whichever is
/// smaller.
template <class V, class Matrix, class Precond>
struct Watched {
  using Real = typename V::Real;
  const Matrix& A;
  const Precond& M;
  V& z;
  Seen<Real>& seen;
  double unit = std::numeric_limits<double>::infinity();

  std::int64_t nrows() const { return A.nrows(); }
  std::int64_t ncols() const { return A.ncols(); }
  void apply(const V& x, V& y) const { A.apply(x, y); }

  double smaller(Real norm_r, Real orthogonality) const { return std::min<double>(norm_r, unit * orthogonality); }
  /// u = r / ||r||, p = A'u / seen.unit, z = M^-1 p.
  double measure(const V& x, const V& b, V& u, V& p) const {
    residual(A, x, b, u);
    seen.norm_r = norm2(u);
    seen.pz = 0;
    if (!(seen.norm_r > 0 && std::isfinite(seen.norm_r))) return seen.norm_r;
    axpby(1 / seen.norm_r, u, 0, u);
    A.apply_transposed(u, p);
    if (seen.unit != 1) axpby(1 / seen.unit, p, 0, p);
    M.apply(p, z);
    seen.pz = dot(p, z);
    if (seen.norm_A == 0 && seen.unit == 1 && !is_midrange(seen.pz)) {
      const Real size = norm2(p);
      if (!(size > 0 && std::isfinite(size))) return smaller(seen.norm_r, seen.orthogonality());
      seen.unit = std::ldexp(Real(1), std::max(std::ilogb(size), std::numeric_limits<Real>::min_exponent));
      return measure(x, b, u, p);
    }
    return smaller(seen.norm_r, seen.orthogonality());
  }

 private:
  /// Whether p'z is far enough from the ends of its range for one that is eps^2 times as large.
  static bool is_midrange(Real pz) {
    constexpr int half = std::numeric_limits<Real>::max_exponent / 2;
    return pz >= std::ldexp(Real(1), -half) && pz <= std::ldexp(Real(1), half);
  }
};

/// The factors B = Q R and R' = Q_bar R_bar of the bidiagonal matrix B of A V = U B, of which the latest rows are kept: what
/// the next x is made of, and how large its residuals are.
template <class Real>
struct Rotations {
  Real alpha_bar, zeta_bar, beta_dd;  // zeta_bar is ||A'r|| but for its sign
  Real zeta = 0, rho = 1, rho_bar = 1, c_bar = 1, s_bar = 0;
  Real beta_d = 0, rho_d = 1, tau = 0, theta_tilde = 0, norm_r = beta_dd;
  Real of_h_bar = 0, of_h = 0;  // h_bar = h + of_h_bar h_bar; h = v + of_h h

  /// From alpha_1 and beta_1 = ||r||.
  Rotations(Real alpha, Real beta) : alpha_bar(alpha), zeta_bar(alpha * beta), beta_dd(beta) {}

  Real norm_Atr() const { return std::abs(zeta_bar); }
  /// x += step() h_bar.
  Real step() const { return zeta / (rho * rho_bar); }

  /// The next column of B: beta below the last alpha, then alpha.
  void take(Real beta, Real alpha) {
    const Real before = rho * rho_bar, zeta_old = zeta;
    rho = hypotenuse(alpha_bar, beta);
    const Real c = alpha_bar / rho, s = beta / rho, theta = s * alpha, theta_bar = s_bar * rho;
    alpha_bar = c * alpha;
    rho_bar = hypotenuse(c_bar * rho, theta);
    c_bar = c_bar * rho / rho_bar;
    s_bar = theta / rho_bar;
    zeta = c_bar * zeta_bar;
    zeta_bar = -s_bar * zeta_bar;
    of_h_bar = -(theta_bar * rho) / before;
    of_h = -theta / rho;
    // ||r||: R_bar' is made triangular, too.
    const Real rho_tilde = hypotenuse(rho_d, theta_bar), c_tilde = rho_d / rho_tilde, s_tilde = theta_bar / rho_tilde;
    tau = (zeta_old - theta_tilde * tau) / rho_tilde;
    theta_tilde = s_tilde * rho_bar;
    rho_d = c_tilde * rho_bar;
    beta_d = c_tilde * c * beta_dd - s_tilde * beta_d;
    beta_dd = -s * beta_dd;
    norm_r = hypotenuse(beta_d - (zeta - theta_tilde * tau) / rho_d, beta_dd);
  }
};

}  // namespace lsmr_detail

/// Vectors that lsmr() takes beside x and b: like x, and like b.
inline constexpr int lsmr_vectors = iterate_vectors + 5, lsmr_vectors_like_b = 2;

/// Finds the x of least ||b - A x||, for any m x n matrix A: tall, wide, square, of any rank. Where that x is not unique, from
/// x = 0 the one of least norm (in the norm of M). ||A'r||, r = b - A x, never grows.
///
/// M is a symmetric positive definite approximation of A'A, n x n: with M = I, norms below are 2-norms; else ||A'r|| is
/// sqrt(r'A M^-1 A'r), and ||A|| that of A M^-1/2.
///
/// Solved  criteria.goal == Goal::solution: as every method, by ||r||. Where ||A'r|| / (||A|| ||r||) is nothing but rounding
///         first, b is not in the range of A, x is a least-squares solution nevertheless, and the status is a breakdown
///         (exhausted). Goal::least_squares: when ||A'r|| <= relative_tolerance ||A|| ||r||, too: then x is the exact
///         least-squares solution for a matrix that differs from A by so much. History and on_iteration tell the smaller of
///         ||r|| / ||b|| and ||A'r|| / (||A|| ||r||). ||A|| is the largest ||A v||, ||v|| = 1, that was seen, so that the
///         criterion is never looser than it says.
/// Shapes  A is m x n; b has m entries, x has n; they do not overlap.
/// In/out  x holds the guess on entry; on return, whatever the status, the best approximation seen.
/// Cost    per iteration one product with A, one with A', one with M^-1, and six passes over vectors; two waits on a GPU;
///         lsmr_vectors vectors like x and lsmr_vectors_like_b like b, all taken before the loop.
/// Errors  ShapeError; InputError for b and x that overlap, and for NaN or infinity in them, naming the entry;
///         UsageError for M that is not symmetric. M that is not positive definite is a status.
/// Source  Fong, Saunders, LSMR: an iterative algorithm for sparse least-squares problems, SIAM J. Sci. Comput. 33(5), 2011;
///         the perturbation: Stewart, Research, development and LINPACK, in Mathematical Software III, 1977.
template <class V, TransposableOperator<V> Matrix, Preconditioner<V> Precond>
Summary lsmr(const Matrix& A, const Precond& M, const V& b, V& x, const Criteria& criteria = {}) {
  using Real = typename V::Real;
  if (!M.is_symmetric()) refuse_unsymmetric_preconditioner("lsmr");
  auto [u, Av] = vectors_like<lsmr_vectors_like_b>(b);
  auto [p, q, z, h, h_bar] = vectors_like<lsmr_vectors - iterate_vectors>(x);
  lsmr_detail::Seen<Real> seen;
  lsmr_detail::Watched<V, Matrix, Precond> system{A, M, z, seen};
  Iterate iterate("lsmr", system, b, x, criteria, 1);
  Progress& progress = iterate.progress();
  if (criteria.goal == Goal::least_squares) system.unit = progress.target() / criteria.relative_tolerance;
  // Products with A lose a few digits: less than this is rounding.
  const Real rounding = (criteria.goal == Goal::solution ? 4096 : 4) * std::numeric_limits<Real>::epsilon();
  const auto nothing_left = [=](Real orthogonality) { return orthogonality <= rounding; };

  while (iterate.unsolved(u, p)) {  // u = r / ||r||, p = A'u / unit, z = M^-1 p: of the true r
    Real norm_u = 1, pz = seen.pz;
    if (progress.breaks_down(nothing_left(seen.orthogonality()), Breakdown::exhausted)) continue;
    if (!progress.positive(pz, p, z, Breakdown::indefinite_preconditioner)) continue;
    Real alpha = std::sqrt(pz);
    lsmr_detail::Rotations<Real> rotated(alpha, seen.norm_r);
    fill(h_bar, 0);
    axpby(1 / alpha, z, 0, h);
    while (iterate.running()) {
      A.apply(z, Av);
      axpby(1 / alpha / seen.unit, Av, -alpha / norm_u, u);
      const Real beta = norm_u = norm2(u);
      seen.norm_A = std::max(seen.norm_A, hypotenuse(alpha, beta));
      Real alpha_next = 0;
      if (beta != 0) {
        A.apply_transposed(u, q);
        axpby(1 / beta / seen.unit, q, -beta / alpha, p);
        M.apply(p, z);
        pz = dot(p, z);
        if (pz != 0 && !progress.positive(pz, p, z, Breakdown::indefinite_preconditioner)) break;
        alpha_next = std::sqrt(pz);
      }
      rotated.take(beta, alpha_next);
      xpby(h, rotated.of_h_bar, h_bar);
      const Real left = seen.orthogonality(rotated.norm_r > 0 ? rotated.norm_Atr() / rotated.norm_r : 0);
      if (!progress.record(system.smaller(rotated.norm_r, left))) break;
      iterate.move(rotated.step() / seen.unit, h_bar);
      if (progress.breaks_down(nothing_left(left), Breakdown::exhausted)) break;
      axpby(1 / alpha_next, z, rotated.of_h, h);
      alpha = alpha_next;
    }
  }
  (void)system.measure(x, b, u, p);
  Summary summary = iterate.summary();
  summary.relative_residual = summary.norm_b > 0 ? seen.norm_r / summary.norm_b : seen.norm_r;
  summary.optimality = {.orthogonality = seen.orthogonality(), .norm_A = seen.norm_A * seen.unit};
  if (summary.converged() && seen.norm_r > progress.target())
    summary.reason = "the true residual is orthogonal to the columns of A within the tolerance";
  return summary;
}

}  // namespace seidel
