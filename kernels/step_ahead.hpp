// Steps of cg between which a GPU is not idle: what follows a decision of the host begins before it is taken.
#pragma once
#include <seidel/kernels/blas1/step.hpp>
#include <seidel/kernels/vector.hpp>

namespace seidel {

/// A step of cg with a diagonal preconditioner whose numbers, p'Ap, r'r and r'z, stay in the memory of the back end. The next
/// one may begin before the host has seen them.
template <class Real, Backend B>
class StepAhead {
 public:
  using V = Vector<Real, B>;
  using Found = blas1::StepNumbers<Real>;

  explicit StepAhead(const Vector<Real, B>& model) : on_(model.on()), numbers_(on_, 3) {}

  /// Where p'Ap is to be left.
  Real* p_Ap() { return numbers_.data(); }

  /// r -= alpha Ap, z = D r (entry by entry) for alpha = rz / p'Ap; nothing unless that is positive and finite.
  /// Cost  reads Ap, D, r; writes r, z; two launches; does not wait.
  void descend(Real rz, const V& Ap, V& r, const V& D, V& z) {
    blas1::leave_sums(
        on_, r.size(),
        blas1::StepDown<Real>{{0, Ap.span().data(), r.span().data(), D.span().data(), z.span().data()}, rz, p_Ap()},
        numbers_.data() + 1);
  }
  /// x += alpha p, then p = z + beta p for beta = r'z / rz; nothing unless `limits` allow it.
  /// Cost  reads x, z, p; writes x, p; one launch; does not wait.
  void turn(Real rz, const blas1::StepLimits<Real>& limits, V& x, const V& z, V& p) {
    if constexpr (HostBackend<B>)
      found_ = &here_;
    else
      found_ = reinterpret_cast<Found*>(on_.staging());
    blas1::for_each_element(on_, x.size(),
                            blas1::StepOn<Real>{.rz = rz,
                                                .limits = limits,
                                                .found = reinterpret_cast<const Found*>(numbers_.data()),
                                                .for_host = found_,
                                                .x = x.span().data(),
                                                .z = z.span().data(),
                                                .p = p.span().data()});
    if constexpr (!HostBackend<B>) blas1::mark(on_);
  }
  /// What was found. Waits for turn(), but not for what the back end was given since.
  Found found() const {
    if constexpr (!HostBackend<B>) blas1::wait_for_mark(on_);
    return *found_;
  }

 private:
  B on_;
  Array<Real, SpaceOf<B>> numbers_;  // as Found has them
  Found here_;                       // on the host
  Found* found_ = nullptr;           // where turn() left them
};

/// Whether cg takes such steps: where it would wait otherwise.
template <class V>
inline constexpr bool steps_ahead = false;
template <class Real>
inline constexpr bool steps_ahead<Vector<Real, Cuda>> = true;

}  // namespace seidel
