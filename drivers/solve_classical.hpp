// Classical coarsening where cg with amg by aggregates is slow.
#pragma once
#include <seidel/drivers/solve_decide.hpp>

namespace seidel::drivers {

/// Thrown out of an iteration.
struct AggregatesAreSlow {
  std::int64_t iterations;
  double relative_residual, seconds;
};

/// Whether cg with amg is what solves, nobody asked for amg or for anything of it, its aggregates are of rows, and there is memory
/// for classical coarsening, which then needs a third to a ninth of the iterations where A is of fourth order, as the matrices
/// of plates are (docs/multigrid.md).
bool may_coarsen_otherwise(const Problem& problem, const Decided& decided);

/// Sees each iteration.
class JudgeOfAggregates {
 public:
  explicit JudgeOfAggregates(double tolerance) : tolerance_(tolerance) {}
  /// Throws AggregatesAreSlow in iteration 50, 100, 200 and so on if at the rate since half of them 400 more would be needed.
  /// Not where the tolerance is 0: then a limit that is absolute ends it.
  void operator()(const IterationReport& report);

 private:
  double tolerance_, at_half_ = 0;
  std::int64_t next_ = 25;
};

/// From here on coarsening is classical. Returns what was tried.
Attempt coarsen_otherwise(const Problem& problem, const AggregatesAreSlow& slow, Decided& decided);

}  // namespace seidel::drivers
