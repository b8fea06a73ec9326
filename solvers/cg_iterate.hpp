// The iterate of cg: what it does between its decisions.
#pragma once
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <seidel/kernels/step_ahead.hpp>
#include <seidel/solvers/iterate.hpp>

namespace seidel {

namespace cg_detail {
/// The numbers of steps that go ahead, where they do.
template <class V, Preconditioner<V> Precond>
auto step_ahead_for([[maybe_unused]] const Precond& M, [[maybe_unused]] const V& model) {
  if constexpr (steps_ahead<V>)
    return diagonal_of<V>(M) ? std::optional(StepAhead(model)) : std::nullopt;
  else
    return std::nullopt;
}
}  // namespace cg_detail

/// An Iterate with the step of cg. With a diagonal M on a GPU, a step goes ahead: before the host waits for its sums it gives the
/// GPU the next p = z + beta p, A p and p'Ap too, with alpha and beta found where the sums are. These change x and p only if the
/// sums lie within limits for which the host is sure to decide so; else it decides as ever, and the product was in vain: that is
/// so in the last step, and where x is copied.
template <class V, LinearOperator<V> Matrix, Preconditioner<V> Precond>
class CgIterate : public Iterate<V, Matrix> {
  using Base = Iterate<V, Matrix>;
  using Real = typename V::Real;

 public:
  /// ||r||, r'z and (r - r_before)'z: that is r'z again where M is linear, so that r_before'z = 0.
  struct Step {
    Real pAp, norm_r = 0, rz = 0, change = 0;
  };

  CgIterate(const Matrix& A, const Precond& M, const V& b, V& x, const Criteria& criteria)
      : Base("cg", A, b, x, criteria, 100), M_(M), ahead_(cg_detail::step_ahead_for(M, b)) {}

  bool unsolved(V& r) {
    is_ahead_ = false;
    return Base::unsolved(r);
  }
  /// p = z + beta p.
  void turn(const V& z, Real beta, V& p) {
    if (!is_ahead_) Base::turn(z, beta, p);
  }
  /// Ap = A p and, if p'Ap is positive and finite, r -= alpha Ap for alpha = rz / p'Ap, z = M^-1 r.
  Step step(Real rz, V& p, V& Ap, V& r, V& z) {
    if constexpr (steps_ahead<V>)
      if (ahead_) return step_ahead(rz, p, Ap, r, *diagonal_of<V>(M_), z);
    const Real pAp = apply_dot(this->A(), p, Ap);
    return blas1::is_positive_and_finite(pAp) ? descend(pAp, rz / pAp, Ap, r, z) : Step{pAp};
  }
  /// x += alpha p, at the latest before x is needed.
  void move_later(Real alpha, const V& p) { is_ahead_ ? Base::prepare_move() : Base::move_later(alpha, p); }

 private:
  Step step_ahead(Real rz, V& p, V& Ap, V& r, const V& D, V& z) {
    if (!is_ahead_) apply_dot(this->A(), p, Ap, ahead_->p_Ap());
    ahead_->descend(rz, Ap, r, D, z);
    const auto limits = step_limits();
    ahead_->turn(rz, limits, this->x(), z, p);
    apply_dot(this->A(), p, Ap, ahead_->p_Ap());
    const auto found = ahead_->found();
    is_ahead_ = limits.allow(found);
    if (!blas1::is_positive_and_finite(found.p_Ap)) return {found.p_Ap};
    return {found.p_Ap, norm2_of(r).finished(found.r_r), found.r_z, found.r_z};
  }
  /// The squares of unwatched_norms(), but for rounding, and such that their roots are the norms.
  blas1::StepLimits<Real> step_limits() const {
    using Limits = std::numeric_limits<Real>;
    constexpr double margin = 1e-6, most = Limits::max(), least = Limits::min() / Limits::epsilon();
    const auto [low, high] = Base::unwatched_norms();
    return {Real(std::clamp(low * low * (1 + margin), least, most)), Real(std::min(high * high * (1 - margin), most))};
  }

  /// r -= alpha Ap, z = M^-1 r. One pass where M is diagonal.
  Step descend(Real pAp, Real alpha, const V& Ap, V& r, V& z) {
    if (const V* const D = diagonal_of<V>(M_)) {
      const auto [norm_r, rz] = axpy_multiply_norm2_dot(-alpha, Ap, r, *D, z);
      return {pAp, norm_r, rz, rz};
    }
    axpy(-alpha, Ap, r);
    if (Base::progress().near_end() && !Base::estimates()) {
      const Real norm_r = norm2(r);  // if this is small enough, M^-1 r is not needed: that is worth a wait
      if (Base::progress().small_enough(norm_r)) return {pAp, norm_r};
    }
    M_.apply(r, z);
    if (!is_linear(M_)) {
      const auto [norm_r, rz, Apz] = sums(norm2_of(r), dot_of(r, z), dot_of(Ap, z));
      return {pAp, norm_r, rz, -alpha * Apz};
    }
    const auto [norm_r, rz] = sums(norm2_of(r), dot_of(r, z));
    return {pAp, norm_r, rz, rz};
  }

  const Precond& M_;
  decltype(cg_detail::step_ahead_for(std::declval<const Precond&>(), std::declval<const V&>())) ahead_;
  bool is_ahead_ = false;  // the next turn() and the product of the next step() are done already
};

}  // namespace seidel
