// When aggregates are slow, and what is changed then.
#include <seidel/drivers/solve_classical.hpp>

#include <cmath>
#include <utility>

#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/kernels/aggregation/nodes.hpp>
#include <seidel/solvers/preconditioners/amg.hpp>

namespace seidel::drivers {

namespace {

SolveNeeds with_classical_coarsening(SolveNeeds needs) {
  take_classical_coarsening(needs.choice.settings);
  needs.counted_bytes.reset();
  return needs;
}

}  // namespace

bool may_coarsen_otherwise(const Problem& problem, const Decided& decided) {
  const MethodChoice& choice = decided.needs.choice;
  if (decided.where.team || choice.method != Method::cg || choice.preconditioner != PreconditionerKind::amg ||
      !choice.settings.usual(PreconditionerKind::amg.settings) || problem.near_null.vectors.view().ncols > 0 ||
      unknowns_per_node<OpenMP, std::int64_t>(problem.host, problem.wide()) > 1)
    return false;
  return plan_solve(with_classical_coarsening(decided.needs), decided.available).needed() <= decided.available;
}

void JudgeOfAggregates::operator()(const IterationReport& report) {
  constexpr double too_many = 400;
  if (report.iteration != next_) return;
  const double now = report.relative_residual, rate = std::log(at_half_ / now) / (double(next_) / 2);
  if (at_half_ > 0 && tolerance_ > 0 && now > tolerance_ && !(std::log(now / tolerance_) < too_many * rate))
    throw AggregatesAreSlow{report.iteration, now, report.seconds};
  at_half_ = now;
  next_ *= 2;
}

Attempt coarsen_otherwise(const Problem& problem, const AggregatesAreSlow& slow, Decided& decided) {
  const std::string why = formatted("with aggregates the residual was {} after {} iterations",
                                    brief(slow.relative_residual), count(slow.iterations));
  if (problem.options.verbose) say(problem.options, why + ": classical coarsening is tried");
  decided.needs = with_classical_coarsening(std::move(decided.needs));
  decided.needs.choice.reason += "; classical coarsening, because " + why;
  decided.memory = plan_solve(decided.needs, decided.available);
  return {.method = std::string(Method::cg.name),
          .status = Status::stagnated,
          .reason = why,
          .iterations = slow.iterations,
          .relative_residual = slow.relative_residual,
          .seconds = slow.seconds,
          .breakdown = Breakdown::none,
          .curvature = 0,
          .preconditioner = decided.needs.choice.preconditioner_name()};
}

}  // namespace seidel::drivers
