// The transpose of a sparse matrix, with offsets of 32 bits.
#pragma once
#include <seidel/drivers/bench/kernels/list.hpp>
#include <seidel/drivers/bench/kernels/matrix.hpp>

namespace seidel::drivers {

/// The answer is a matrix.
struct TransposeTask : Task {
  enum class Pattern { is_new, is_known };  // known: only values move, from places that are kept
  TransposeTask(MatrixOperand& of, const TaskOptions& options, Pattern pattern);
  double error(const Answer& answer) const override;

  MatrixOperand& of;
};

}  // namespace seidel::drivers
