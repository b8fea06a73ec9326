// cuSPARSE as the GPU reference. Its library is opened when it is asked for, so that a program that does not ask starts
// fast.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <seidel/formats/backend.hpp>
#include <seidel/formats/csr.hpp>

namespace seidel::drivers {

/// Products and transposition of one CSR matrix on the device, in double precision, each with its own workspace.
/// Only in builds with CUDA.
class CuSparse {
 public:
  using Matrix = CsrView<double, std::int32_t, Device>;

  /// Why there is no cuSPARSE here, or an empty string.
  static std::string unavailable_because();

  /// A's arrays must outlive this. Errors  BackendError naming the call that failed.
  CuSparse(const Cuda& on, const Matrix& A);

  /// y = A x. Cost  allocates its workspace at the first call.
  void spmv(DeviceSpan<const double> x, DeviceSpan<double> y);
  /// Y = A X for k columns, column-major, leading dimensions ncols and nrows.
  void spmm(DeviceSpan<const double> X, DeviceSpan<double> Y, std::int64_t k);
  /// A', by Csr2cscEx2 with its first algorithm, whose order of entries is fixed.
  Csr<double, std::int32_t, Device> transpose();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace seidel::drivers
