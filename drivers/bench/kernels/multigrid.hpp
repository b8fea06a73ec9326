// Algebraic multigrid: its setup, new values, one cycle.
#pragma once
#include <seidel/drivers/bench/kernels/list.hpp>
#include <seidel/drivers/bench/kernels/matrix.hpp>

namespace seidel::drivers {

/// The answer is one array of double: what a cycle from zero makes of A z = r.
struct MultigridTask : Task {
  enum class Step { setup, values, cycle };
  /// Errors  InputError unless x'A x is positive for the random x that is looked for.
  MultigridTask(MatrixOperand& of, const TaskOptions& options, Step step);
  double error(const Answer& answer) const override;

  MatrixOperand& of;
  Array<double> r;  // A x, rounded

 private:
  Array<double> x_;
  long double energy_;  // x'A x
};

}  // namespace seidel::drivers
