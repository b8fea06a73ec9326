// Gauss-Seidel sweeps on a GPU wavefront after wavefront, a thread a row: the plain way, and a rival of NaturalSweep.
#pragma once
#include <seidel/kernels/symgs/symgs.hpp>

namespace seidel::symgs_detail {

/// The same bits as GaussSeidel on CUDA.
/// Cost  the analysis runs on the host; a sweep is a launch a wide wavefront and one a run of narrow ones.
template <class Real, class Offset>
class WavefrontSweep {
 public:
  WavefrontSweep(const Cuda& on, const CsrView<Real, Offset, Device>& A);
  void update_values();
  void sweep(Direction direction, const Real* b, Real* x, Real omega) const;
  void pair(const Real* b, Real* x, Real omega) const;
  void pair_from_zero(const Real* b, Real* x, Real omega) const;
  std::int64_t wavefronts() const;
  std::int64_t bytes() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace seidel::symgs_detail
