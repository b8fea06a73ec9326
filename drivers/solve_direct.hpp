// A system solved by factors of its matrix, and what factors tell of an x that was found otherwise.
#pragma once
#include <seidel/drivers/direct.hpp>
#include <seidel/drivers/solve_on.hpp>
#include <seidel/solvers/null_space.hpp>

namespace seidel::drivers {

/// What the factors are for.
struct DirectSystem {
  CsrView<double, std::int32_t, Host> A;
  HostSpan<const double> b;
  OpenMP host;
  double norm_inf_of_A = 0;
  bool ones = false;  // b is A * ones
};

/// Factorises and solves, refining x with residuals in twice the precision until its corrections no longer fall to a
/// half. An "iteration" is a solve with the factors. The same bits whatever the number of threads.
Outcome solve_directly(const DirectSystem& system, DirectSolver& solver, const Criteria& criteria);

enum class Refine { x, error_only };

/// Refines outcome.x in the same way, or tells its error alone, as it does where the refined x misses the tolerance. Nothing is
/// done if A is singular.
void refine_directly(const DirectSystem& system, DirectSolver& solver, Refine what, const Criteria& criteria,
                     Outcome& outcome);

/// The error of outcome.x but for its part in the known null space of A, from one correction by factors of A, or of A + E near
/// it; or that A is singular outside of that space. Nothing is done where the correction does not lower the residual.
void refine_outside(const NullSpace& space, const DirectSystem& system, DirectSolver& solver, Outcome& outcome);

/// The x with the least ||b - A x||, of several the one nearest to x0, solves [s I, T; T' 0] (y, x) = (b, 0) with T = A, or, where
/// A has more columns than rows, (x, y) solves that with T = A' and (s x0, b), for any s > 0. Factors of this matrix refine outcome.x, or
/// tell its error alone where the refined x misses the tolerance. Nothing is done if they would take more than `seconds` or
/// half of the memory, or if neither columns nor rows of A are independent. x0 is empty for zero.
void refine_least_squares(const DirectSystem& system, HostSpan<const double> x0, double norm_2_of_A, double seconds,
                          const Criteria& criteria, Outcome& outcome);

}  // namespace seidel::drivers
