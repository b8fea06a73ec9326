// When to stop.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

namespace seidel {

/// What Criteria::on_iteration is told after each iteration.
struct IterationReport {
  std::int64_t iteration;
  double relative_residual;  // of the recurrence
  double seconds;            // since the start
};

/// What is looked for.
enum class Goal {
  solution,       // A x = b
  least_squares,  // the least ||b - A x||, whether that is 0 or not: lsmr.hpp says when it is found, other methods ignore it
};

/// Solved when ||b - A x|| <= max(relative_tolerance * ||b||, absolute_tolerance), in the 2-norm, by the true residual.
/// What comes first of the others ends the run, too. Errors  of the solvers: UsageError for a negative or NaN tolerance
/// or limit.
struct Criteria {
  double relative_tolerance = 1e-8;
  double absolute_tolerance = 0;
  Goal goal = Goal::solution;
  std::int64_t max_iterations = 20000;
  double seconds = std::numeric_limits<double>::infinity();
  /// If set, the solver goes on beyond the target to estimate the error of x (Summary::error), and until that is at most
  /// this; infinity: once. Takes one vector more. Iterations and history stay those up to the target.
  std::optional<double> error_tolerance = {};
  bool impatient = false;  // a restart of gmres that gains less than a digit ends it, too: another method waits
  const std::atomic<bool>* stop = nullptr;  // asked once per iteration; true ends with the best iterate

  std::function<void(const IterationReport&)> on_iteration{};

  bool stop_requested() const { return stop && stop->load(std::memory_order_relaxed); }
  /// What ||b - A x|| / ||b|| must not exceed; where b = 0, ||b - A x||.
  double target(double norm_b) const {
    return norm_b > 0 ? std::max(relative_tolerance, absolute_tolerance / norm_b) : absolute_tolerance;
  }
};

}  // namespace seidel
