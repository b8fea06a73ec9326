// Chebyshev's polynomials in D^-1 A as smoother: products alone, no sweeps and no sums.
#pragma once
#include <string>
#include <utility>

#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/lanczos.hpp>

namespace seidel {

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
