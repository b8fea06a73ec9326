// Gauss-Seidel sweeps on a GPU wavefront after wavefront, one thread per row: the plain way, and a rival of
// GaussSeidel.
#pragma once
#include <memory>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel::drivers {

/// The same bits as GaussSeidel on CUDA.
/// Cost  the analysis runs on the host; a sweep is one launch per wide wavefront and one per run of narrow ones.
class WavefrontSweep {
 public:
  WavefrontSweep(const Cuda& on, const CsrView<double, std::int32_t, Device>& A);
  void pair(const double* b, double* x) const;
  void pair_from_zero(const double* b, double* x) const;
  std::int64_t bytes() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace seidel::drivers
