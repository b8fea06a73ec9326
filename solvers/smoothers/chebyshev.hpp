// Chebyshev's polynomials in D^-1 A as smoother: products alone, no sweeps and no sums.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/concepts.hpp>

namespace seidel {

/// The largest eigenvalue of the symmetric tridiagonal matrix with these entries, by bisection.
double largest_eigenvalue(const std::vector<double>& diagonal, const std::vector<double>& beside);

/// The tridiagonal matrix of Lanczos steps, from the coefficients of cg.
/// Source  Saad (2003), section 6.7.3.
class LanczosMatrix {
 public:
  /// Takes the length of a step, and the turn that led to it. False, and it is not taken, where it is of no use.
  bool add(double alpha, double beta) {
    if (!(alpha > 0 && std::isfinite(alpha))) return false;
    if (!diagonal_.empty()) beside_.push_back(std::sqrt(beta) / alpha_before_);
    diagonal_.push_back(1 / alpha + beta / alpha_before_);
    alpha_before_ = alpha;
    return true;
  }
  int steps() const { return int(diagonal_.size()); }
  double largest() const { return diagonal_.empty() ? 0 : largest_eigenvalue(diagonal_, beside_); }

 private:
  std::vector<double> diagonal_, beside_;
  double alpha_before_ = 1;
};

/// Estimates the largest eigenvalue of D^-1 A from below by Lanczos steps, which cg with D as preconditioner takes: for A
/// symmetric positive definite, D its diagonal; `inverse_diagonal` may be null for D = I. `start` is where they start: not
/// near an eigenvector of small eigenvalues.
///
/// Cost    per step one product with A, three passes over vectors, two waits on a GPU; four vectors for the time of the call,
///         three for D = I.
template <class V, LinearOperator<V> Matrix>
double estimate_largest_eigenvalue(const Matrix& A, const V* inverse_diagonal, const V& start, int steps = 10) {
  using Real = typename V::Real;
  V r = like(start), p = like(start), Ap = like(start), scaled_r(start.on(), inverse_diagonal ? start.size() : 0);
  V& z = inverse_diagonal ? scaled_r : r;
  copy(start, r);
  if (inverse_diagonal) multiply(*inverse_diagonal, r, z);
  copy(z, p);
  Real rz = dot(r, z), beta = 0;
  LanczosMatrix T;
  while (T.steps() < steps && rz > 0) {
    A.apply(p, Ap);
    const Real alpha = rz / dot(p, Ap);
    if (!T.add(alpha, beta) || T.steps() == steps) break;
    Real new_rz;
    if (inverse_diagonal) {
      new_rz = axpy_multiply_norm2_dot(-alpha, Ap, r, *inverse_diagonal, z)[1];
    } else {
      const Real norm_r = axpy_norm2_dot(-alpha, Ap, r, p)[0];
      new_rz = norm_r * norm_r;
    }
    beta = new_rz / rz;
    rz = new_rz;
    xpby(z, beta, p);
  }
  return T.largest();
}

struct ChebyshevOptions {
  int degree = 2;      // products with A
  double largest = 0;  // eigenvalue of D^-1 A that is smoothed; 0: 1.1 times the estimate
  double ratio = 0.1;  // eigenvalues from ratio * largest on are smoothed
};

/// x += p(D^-1 A) D^-1 (b - A x), where 1 - t p(t) is the polynomial of this degree with the least maximum on [ratio * largest,
/// largest]. A must outlive this.
///
/// Cost    `degree` products with A and three passes over vectors for each; from zero one product less. Two vectors beside the
///         inverse diagonal, taken at the start.
/// Source  Adams, Brezina, Hu, Tuminaro, Parallel multigrid smoothing: polynomial versus Gauss-Seidel, J. Comput. Phys. 188,
///         2003; Saad (2003), algorithm 12.1.
template <class V, LinearOperator<V> Matrix>
class ChebyshevSmoother {
 public:
  using Real = typename V::Real;

  /// `start` for the estimate of the largest eigenvalue, used where options.largest is 0.
  ChebyshevSmoother(const Matrix& A, V inverse_diagonal, const V& start, ChebyshevOptions options = {})
      : A_(&A), inverse_(std::move(inverse_diagonal)), options_(options), r_(like(inverse_)), d_(like(inverse_)) {
    if (options.degree < 1)
      throw UsageError("chebyshev: degree is " + std::to_string(options.degree) + ", expected 1 or more");
    if (options_.largest == 0) options_.largest = 1.1 * estimate_largest_eigenvalue(A, &inverse_, start);
  }

  void smooth(const V& b, V& x) const {
    residual(*A_, x, b, r_);
    multiply(inverse_, r_, r_);
    axpby(Real(1 / centre()), r_, 0, d_);
    axpy(1, d_, x);
    go_on(b, x);
  }
  void smooth_from_zero(const V& b, V& x) const {
    multiply(inverse_, b, r_);
    axpby(Real(1 / centre()), r_, 0, d_);
    copy(d_, x);
    go_on(b, x);
  }

  void apply(const V& r, V& z) const { smooth_from_zero(r, z); }
  bool is_symmetric() const { return true; }
  double largest_eigenvalue() const { return options_.largest; }

 private:
  double centre() const { return options_.largest * (1 + options_.ratio) / 2; }
  double radius() const { return options_.largest * (1 - options_.ratio) / 2; }

  /// Steps 2 ... degree; d_ is the step before.
  void go_on(const V& b, V& x) const {
    double rho = radius() / centre();
    for (int k = 1; k < options_.degree; ++k) {
      const double next = 1 / (2 * centre() / radius() - rho);
      residual(*A_, x, b, r_);
      multiply(inverse_, r_, r_);
      axpby(Real(2 * next / radius()), r_, Real(next * rho), d_);
      axpy(1, d_, x);
      rho = next;
    }
  }

  const Matrix* A_;
  V inverse_;
  ChebyshevOptions options_;
  mutable V r_, d_;
};

}  // namespace seidel
