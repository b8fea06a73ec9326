// C = A B of dense matrices in FP64 and FP32, all column-major, as the libraries take them.
#pragma once
#include <array>

#include <seidel/drivers/bench/kernels/list.hpp>
#include <seidel/formats/dense.hpp>

namespace seidel::drivers {

/// M, N and K of "MxNxK". Errors  UsageError unless each is from `least` to `most`.
std::array<std::int64_t, 3> product_extents(const std::string& word, std::int64_t least, std::int64_t most,
                                            const char* example);

/// A is m x k, B is k x n.
struct DenseOperand : Operand {
  std::int64_t m = 0, n = 0, k = 0;
};

/// The answer is one array of Real: C.
template <class Real>
struct DenseTask : Task {
  DenseTask(const DenseOperand& of, const TaskOptions& options);
  double error(const Answer& answer) const override;

  std::int64_t m, n, k;
  Array<Real> a, b;
};

}  // namespace seidel::drivers
