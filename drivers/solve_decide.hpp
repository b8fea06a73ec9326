// How a system is solved: by which method, with what memory, where.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include <seidel/drivers/direct.hpp>
#include <seidel/drivers/memory_plan.hpp>
#include <seidel/drivers/report/progress.hpp>
#include <seidel/drivers/solve_on.hpp>
#include <seidel/drivers/solve_problem.hpp>
#include <seidel/formats/arrange.hpp>

namespace seidel::drivers {

/// The matrix that a preconditioner is made of, where that is not A itself: P R A C, on the host.
struct Arranged {
  Arrangement by = {};
  AnyCsr<Host> A = {};
  Inspected seen = {};
  std::string why = {};  // "rows permuted and scaled, because ..."
};

/// How it will be solved, before memory is taken for that.
struct Decided {
  Placement where = {};
  std::shared_ptr<DirectSolver> factors = {};   // where they come first
  std::shared_ptr<DirectSolver> refining = {};  // where they tell the error of an x
  double too_few_seconds = -1;                  // for such factors
  bool null_space_known = false;
  std::shared_ptr<Arranged> arranged = {};  // where preconditioners do not see A itself
  SolveNeeds needs = {};                    // with the choice of the method
  std::int64_t available = 0;
  MemoryPlan memory = {};
};

/// Takes the problem back from a GPU that would be slower.
Decided decide(Problem& problem, const Singular& singular);

/// In the units of problem.b.
Criteria criteria_of(const Problem& problem);

/// Whether A x = b is to be solved, and nothing was asked for by name.
inline bool automatic(const MethodRequest& request) {
  return request.goal == Goal::solution && !request.method && !request.preconditioner && !request.order;
}

/// Factors of A, ordered and counted, where that and what follows take so many seconds at most, by their forecast, and half of
/// the memory. They are given up after the limit, by the clock.
std::unique_ptr<DirectSolver> factors_of(const Problem& problem, double seconds,
                                         double time_limit = std::numeric_limits<double>::infinity());

/// One iteration of any method on one core, in seconds, as far as counts tell: what factors are compared with. No clock is
/// asked, so that every back end decides alike.
double seconds_per_iteration(const Problem& problem);

/// Of the sweeps by colours.
std::int64_t count_of_colours(const Problem& problem);

/// Those of the options, with what a reader sees meanwhile.
Criteria watched(const Problem& problem, SolveProgress& progress);

}  // namespace seidel::drivers
