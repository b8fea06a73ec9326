// A forward and a backward Gauss-Seidel sweep.
#pragma once
#include <seidel/drivers/bench/kernels/list.hpp>
#include <seidel/drivers/bench/kernels/matrix.hpp>

namespace seidel::drivers {

/// The answer is one array of double: x after the pair.
struct SweepTask : Task {
  enum class Start { zero, guess };
  SweepTask(MatrixOperand& of, const TaskOptions& options, Start start);
  double error(const Answer& answer) const override;

  MatrixOperand& of;
  std::int64_t k;
  Layout layout;        // of b and x
  Array<double> b;      // right-hand sides
  Array<double> guess;  // what x holds at first; empty: it is zero
};

/// For rivals that sweep for one right-hand side. Errors  ResourceError if there are more.
void require_one_column(const SweepTask& task);

}  // namespace seidel::drivers
