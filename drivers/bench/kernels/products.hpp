// Y = A X, of one column or several.
#pragma once
#include <seidel/drivers/bench/kernels/list.hpp>
#include <seidel/drivers/bench/kernels/matrix.hpp>

namespace seidel::drivers {

/// The answer is one array of double: Y.
struct ProductTask : Task {
  ProductTask(MatrixOperand& of, const TaskOptions& options);
  double error(const Answer& answer) const override;

  MatrixOperand& of;
  std::int64_t k;
  Layout layout;    // of X and Y
  Array<double> x;  // X
};

}  // namespace seidel::drivers
