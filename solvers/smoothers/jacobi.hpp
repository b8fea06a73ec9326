// Jacobi's iteration as smoother: damped, or with the weights of l1-Jacobi.
#pragma once
#include <cmath>
#include <vector>

#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/concepts.hpp>
#include <seidel/solvers/preconditioners/diagonal.hpp>

namespace seidel {

/// omega / a_ii for every row. With omega = 2/3 it smooths 5- and 7-point stencils well; it converges for omega below
/// 2 / (largest eigenvalue of D^-1 A).
/// Errors  as inverse_diagonal().
template <Backend B, class Real, class Offset>
Vector<Real, B> jacobi_weights(const B& on, const CsrView<Real, Offset, Host>& A, std::type_identity_t<Real> omega) {
  Array<Real> weights = inverse_diagonal(host_of(on), A);
  for (Real& w : weights) w *= omega;
  return {on, copied_to<SpaceOf<B>>(on, weights)};
}

namespace smoother_detail {
template <class Real, class Offset>
[[gnu::used]] Array<Real> l1_weights(const OpenMP& on, const CsrView<Real, Offset, Host>& A);
}  // namespace smoother_detail

/// 1 / (sum of the magnitudes in row i) for every row, with the sign of a_ii: Jacobi with these weights converges for every
/// symmetric positive definite A, without damping.
/// Cost    reads A twice.
/// Errors  as inverse_diagonal().
/// Source  Baker, Falgout, Kolev, Yang, Multigrid smoothers for ultraparallel computing, SIAM J. Sci. Comput. 33(5), 2011.
template <Backend B, class Real, class Offset>
Vector<Real, B> l1_jacobi_weights(const B& on, const CsrView<Real, Offset, Host>& A) {
  return {on, copied_to<SpaceOf<B>>(on, smoother_detail::l1_weights(host_of(on), A))};
}

/// The dampings of two sweeps of Jacobi that together are the polynomial of degree 2 of Chebyshev's fourth kind with the
/// least contraction of a multigrid cycle: reciprocals of its roots in t = lambda / lambda_max. It needs no lower bound.
/// Source  Lottes, Optimal polynomial smoothers for multigrid V-cycles, Numer. Linear Algebra Appl. 30(6), 2023.
inline std::vector<double> fourth_kind_dampings() {
  const double root5 = std::sqrt(5.0);
  return {root5 / 2, (5 + root5) / 2};
}

/// x += W_k (b - A x) for k = 1, 2, ...; each W_k is a diagonal. Weights that are multiples of each other, W_k = w_k W, make
/// the polynomial (1 - w_1 t) (1 - w_2 t) ... in W A. A must outlive this.
///
/// Cost    per sweep one product with A and one pass over vectors; from zero one product less. One vector beside the W_k,
///         taken at the start.
template <class V, LinearOperator<V> Matrix>
class JacobiSmoother {
 public:
  JacobiSmoother(const Matrix& A, V weights) : A_(&A), r_(like(weights)) { weights_.push_back(std::move(weights)); }
  /// One or more.
  JacobiSmoother(const Matrix& A, std::vector<V> weights)
      : A_(&A), weights_(std::move(weights)), r_(like(weights_.at(0))) {}

  void smooth(const V& b, V& x) const { sweep(0, b, x); }
  void smooth_from_zero(const V& b, V& x) const {
    multiply(weights_[0], b, x);
    sweep(1, b, x);
  }

  void apply(const V& r, V& z) const { smooth_from_zero(r, z); }
  bool is_symmetric() const { return true; }
  const V* diagonal() const { return weights_.size() == 1 ? &weights_[0] : nullptr; }

 private:
  void sweep(std::size_t first, const V& b, V& x) const {
    for (std::size_t k = first; k < weights_.size(); ++k) {
      residual(*A_, x, b, r_);
      multiply_add(weights_[k], r_, x);
    }
  }

  const Matrix* A_;
  std::vector<V> weights_;
  mutable V r_;
};

}  // namespace seidel
