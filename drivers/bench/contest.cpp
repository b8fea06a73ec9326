// Our methods, preconditioners and back ends as contestants, and the judge of all.
#include <seidel/drivers/bench/contest.hpp>

#include <cmath>

#include <seidel/drivers/memory_plan.hpp>
#include <seidel/drivers/report/format.hpp>
#include <seidel/drivers/solve_on.hpp>
#include <seidel/kernels/vector.hpp>

namespace seidel::drivers {

namespace {

Solution solve_ours(const MethodChoice& choice, BackendName backend, const Contest& contest, int threads) {
  const System<std::int32_t> system{contest.A, contest.b, {}, contest.properties.norm_inf, false};
  Outcome outcome = solve_on(Placement{.backend = backend, .threads = threads}, system, choice, contest.criteria);
  Solution solution;
  solution.claimed = outcome.solved;
  solution.status = std::string(to_string(outcome.summary.status));
  solution.iterations = outcome.summary.iterations;
  solution.setup_seconds = outcome.setup_seconds, solution.solve_seconds = outcome.solve_seconds;
  solution.memory_bytes =
      plan_solve(
          {.nrows = contest.A.nrows, .nnz = contest.A.nnz(), .choice = choice, .cuda = backend == BackendName::cuda}, 0)
          .needed();
  solution.history = std::move(outcome.summary.history);
  solution.x = std::move(outcome.x);
  return solution;
}

Contestant ours(const Method& method, const PreconditionerKind& kind, Order order, BackendName backend) {
  const MethodChoice choice{.method = method, .preconditioner = kind, .order = order, .restart = 50};
  const std::string with =
      kind.orders.size() > 1 ? formatted("{}-{}", kind.name, to_string(order)) : std::string(kind.name);
  return {
      formatted("{}.{}.{}", method.name, with, to_string(backend)),
      backend,
      formatted("seidel's {}{}", method.name, method == Method::gmres ? ", restarted after 50" : ""),
      false,
      [method, kind](const MatrixProperties& p) {
        const bool full = p.diagonal_missing + p.diagonal_zero == 0;
        const bool definite = p.symmetric && full && p.diagonal_negative == 0;
        const bool suits =
            method.needs <= Needs::square || definite || (method.needs == Needs::symmetric && p.symmetric);
        if (method.needs > Needs::square && !kind.keeps_symmetry) return false;
        return suits && (definite || !kind.needs_definite) && (full || !kind.needs_diagonal);
      },
      [choice, backend](const Contest& contest, int threads) { return solve_ours(choice, backend, contest, threads); }};
}

}  // namespace

std::vector<Contestant> contestants() {
  std::vector<Contestant> all;
  std::vector<BackendName> places = {BackendName::serial, BackendName::openmp};
  if (built_with_cuda) places.push_back(BackendName::cuda);
  for (const Method& method : methods)
    for (const PreconditionerKind& kind : preconditioners)
      for (const Order order : kind.orders)
        for (const BackendName backend : places)
          if (method.takes(kind.name)) all.push_back(ours(method, kind, order, backend));
  for (auto& other : eigen_contestants()) all.push_back(std::move(other));
  return all;
}

double true_residual(const Contest& contest, const Array<double>& x) {
  const OpenMP on;
  const Vector<double, OpenMP> b(on, copied_to<Host>(on, contest.b)), there(on, copied_to<Host>(on, x.span()));
  return certify(on, contest.A, there, b, contest.properties.norm_inf).relative_residual;
}

std::string judged(const Solution& solution, double residual, double tolerance) {
  if (residual <= tolerance) return "solved";
  if (!solution.claimed) return solution.status;
  return residual <= 2 * tolerance ? "short" : "WRONG";
}

}  // namespace seidel::drivers
