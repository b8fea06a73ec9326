// Jacobi's iteration as smoother: damped, or with the weights of l1-Jacobi.
#pragma once
#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/concepts.hpp>
#include <seidel/solvers/preconditioners/diagonal.hpp>

namespace seidel {

/// omega / a_ii for every row. With omega = 2/3 it smooths 5- and 7-point stencils well; it converges for omega below
/// 2 / (largest eigenvalue of D^-1 A).
/// Errors  as inverse_diagonal().
template <Backend B, class Real, class Offset>
Vector<Real, B> jacobi_weights(const B& on, const CsrView<Real, Offset, Host>& A, std::type_identity_t<Real> omega) {
  Array<Real> weights = inverse_diagonal(on, A);
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

/// x += W (b - A x), W a diagonal. A must outlive this.
///
/// Cost    one product with A and one pass over vectors; from zero one pass. One vector beside W, taken at the start.
template <class V, LinearOperator<V> Matrix>
class JacobiSmoother {
 public:
  JacobiSmoother(const Matrix& A, V weights) : A_(&A), weights_(std::move(weights)), r_(like(weights_)) {}

  void smooth(const V& b, V& x) const {
    residual(*A_, x, b, r_);
    multiply_add(weights_, r_, x);
  }
  void smooth_from_zero(const V& b, V& x) const { multiply(weights_, b, x); }

  void apply(const V& r, V& z) const { smooth_from_zero(r, z); }
  bool is_symmetric() const { return true; }
  const V* diagonal() const { return &weights_; }

 private:
  const Matrix* A_;
  V weights_;
  mutable V r_;
};

}  // namespace seidel
