// Gauss-Seidel sweeps on a GPU: NaturalSweep behind the front door.
#include <seidel/kernels/symgs/cuda_natural.hpp>
#include <seidel/kernels/symgs/symgs.hpp>

namespace seidel::symgs_detail {

template <class Real, class Offset>
struct Sweeper<Real, Offset, Cuda>::State {
  CsrView<Real, Offset, Device> A;
  NaturalSweep<Real> sweeps;
};

template <class Real, class Offset>
Sweeper<Real, Offset, Cuda>::Sweeper(const Cuda& on, const CsrView<Real, Offset, Device>& A,
                                     Span<const Index, Device> new_to_old)
    : state_(std::make_shared<State>(A, NaturalSweep<Real>(on, A, {.new_to_old = new_to_old}))) {}

template <class Real, class Offset>
void Sweeper<Real, Offset, Cuda>::update_values() {
  state_->sweeps.update_values(state_->A);
}

template <class Real, class Offset>
void Sweeper<Real, Offset, Cuda>::sweep(Direction direction, const Real* b, Real* x, Real omega) const {
  if (direction == Direction::forward)
    state_->sweeps.forward(b, x, omega);
  else
    state_->sweeps.backward(b, x, omega);
}

template <class Real, class Offset>
void Sweeper<Real, Offset, Cuda>::pair(const Real* b, Real* x, Real omega) const {
  state_->sweeps.pairs(b, x, omega);
}

template <class Real, class Offset>
void Sweeper<Real, Offset, Cuda>::pair_from_zero(const Real* b, Real* x, Real omega) const {
  state_->sweeps.pairs_from_zero(b, x, omega);
}

template <class Real, class Offset>
std::int64_t Sweeper<Real, Offset, Cuda>::strips_from_zero(const MultiVectorView<const Real, Device>& R,
                                                           const MultiVectorView<Real, Device>& X, Real omega) const {
  return state_->sweeps.strips_from_zero(R, X, omega);
}

template <class Real, class Offset>
void Sweeper<Real, Offset, Cuda>::split_product(const Real* u, Real* p, Real* Ap, Real* w) const {
  state_->sweeps.split_product(u, p, Ap, w);
}

template <class Real, class Offset>
void Sweeper<Real, Offset, Cuda>::check() const {
  state_->sweeps.check();
}

template <class Real, class Offset>
std::int64_t Sweeper<Real, Offset, Cuda>::wavefronts() const {
  return state_->sweeps.report().wavefronts;
}

template <class Real, class Offset>
std::int64_t Sweeper<Real, Offset, Cuda>::bytes() const {
  return state_->sweeps.report().bytes;
}

template class Sweeper<double, std::int32_t, Cuda>;
template class Sweeper<double, std::int64_t, Cuda>;
template class Sweeper<float, std::int32_t, Cuda>;
template class Sweeper<float, std::int64_t, Cuda>;

}  // namespace seidel::symgs_detail
