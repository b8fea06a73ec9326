// Processes that solve one system together.
#pragma once
#include <functional>

#include <seidel/drivers/options.hpp>
#include <seidel/drivers/solve_on.hpp>

namespace seidel::drivers {

/// As the first process sees all of them. The others do their part in these calls.
class Team {
 public:
  virtual ~Team() = default;
  virtual int size() const = 0;
  /// Threads of each, where they have no GPU.
  virtual int threads() const = 0;
  /// Whether it can solve in this way. Where not, the first process does it alone.
  bool takes(const auto& system, const MethodChoice& choice) const {
    return !system.arrangement && choice.form != Form::eisenstat &&
           std::get<RunMethod<Vector<double, Distributed<OpenMP>>>>(choice.method.run) != nullptr;
  }
  /// Deals A out and makes the preconditioner of each share. Errors  those of the preconditioner.
  virtual Setup set_up(const System<std::int32_t>& system, const MethodChoice& choice, bool cuda) = 0;
  virtual Setup set_up(const System<std::int64_t>& system, const MethodChoice& choice, bool cuda) = 0;
  /// As solve() of solvers/solve.hpp, for what was set up; x is the first guess, then the result.
  virtual Summary solve(const MethodChoice& choice, HostSpan<const double> b, HostSpan<double> x,
                        const Criteria& criteria) = 0;
};

/// Calls lead(team) on the first process that mpirun started, while the others serve it; without others, or in a build
/// without MPI, lead(nullptr). Returns its exit code, on the others 0.
int with_team(const SolveOptions& options, const std::function<int(Team*)>& lead);

}  // namespace seidel::drivers
