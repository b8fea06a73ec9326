// An exclusive scan of 32-bit counts into 64-bit offsets.
#pragma once
#include <seidel/drivers/bench/kernels/list.hpp>

namespace seidel::drivers {

/// How many entries an array has.
struct SizeOperand : Operand {
  std::int64_t n = 0;
};
extern const OperandKind array_size;

/// The answer is one array of std::int64_t: the offsets.
struct ScanTask : Task {
  ScanTask(const SizeOperand& of, const TaskOptions& options);
  double error(const Answer& answer) const override;

  Array<std::int32_t> counts;
};

}  // namespace seidel::drivers
