// Our methods, preconditioners and back ends as contestants, and the judge of all.
#include <seidel/drivers/bench/contest.hpp>

#include <seidel/drivers/memory_plan.hpp>
#include <seidel/drivers/report/format.hpp>
#include <seidel/drivers/solve_direct.hpp>
#include <seidel/formats/convert.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>
#include <seidel/kernels/spmv/spmv.hpp>
#include <seidel/kernels/vector.hpp>

namespace seidel::drivers {

namespace {

Solution solution_of(Outcome outcome, std::int64_t memory_bytes) {
  return {.claimed = outcome.solved,
          .status = std::string(to_string(outcome.summary.status)),
          .x = std::move(outcome.x),
          .iterations = outcome.summary.iterations,
          .setup_seconds = outcome.setup_seconds,
          .solve_seconds = outcome.solve_seconds,
          .memory_bytes = memory_bytes,
          .history = std::move(outcome.summary.history)};
}

Solution solve_ours(const MethodChoice& choice, BackendName backend, const Contest& contest, int threads) {
  const System<std::int32_t> system{contest.A.view(), contest.b, {}, contest.properties.norm_inf, false};
  return solution_of(
      solve_on(Placement{.backend = backend, .threads = threads}, system, choice, contest.criteria),
      plan_solve(
          {.nrows = contest.A.nrows, .nnz = contest.A.nnz(), .choice = choice, .cuda = backend == BackendName::cuda}, 0)
          .needed());
}

/// `direct`: ordering and counting are the setup.
Solution solve_by_factors(const Contest& contest, int) {
  const Stopwatch setup;
  const MatrixProperties& p = contest.properties;
  DirectSolver factors(contest.A.view(), p.symmetric && p.diagonal_positive == contest.A.nrows);
  const double setup_seconds = setup.seconds();
  Criteria criteria = contest.criteria;
  criteria.seconds = 2;  // by the forecast: others need not wait for more
  const DirectSystem system{.A = contest.A.view(), .b = contest.b, .host = {1}, .norm_inf_of_A = p.norm_inf};
  Outcome outcome = solve_directly(system, factors, criteria);
  outcome.setup_seconds = setup_seconds;
  return solution_of(std::move(outcome), factors.forecast().bytes);
}

Contestant ours(const Method& method, const PreconditionerKind& kind, Order order, BackendName backend,
                Form form = Form::plain) {
  const MethodChoice choice{.method = method, .preconditioner = kind, .order = order, .restart = 50, .form = form};
  const std::string with = form != Form::plain      ? formatted("{}-{}", kind.name, to_string(form))
                           : kind.orders.size() > 1 ? formatted("{}-{}", kind.name, to_string(order))
                                                    : std::string(kind.name);
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
  for (const BackendName backend : places)
    all.push_back(ours(Method::cg, PreconditionerKind::symgs, Order::natural, backend, Form::eisenstat));
  all.push_back({"direct.serial", BackendName::serial, "factors by Eigen, refined in twice the precision", false,
                 [](const MatrixProperties&) { return true; }, solve_by_factors});
  for (auto& other : eigen_contestants()) all.push_back(std::move(other));
  return all;
}

Contest contest_of(const OpenMP& host, const CsrView<double, std::int64_t, Host>& A, const Criteria& criteria) {
  Array<double> b(A.nrows);
  const Array<double> ones(A.ncols, 1.0);
  spmv<OpenMP>(host, A, ones.span(), b.span());
  return {with_offsets<std::int32_t>(host, A), std::move(b), properties(host, A), criteria};
}

double true_residual(const Contest& contest, const Array<double>& x) {
  const OpenMP on;
  const Vector<double, OpenMP> b(on, copied_to<Host>(on, contest.b.span())), there(on, copied_to<Host>(on, x.span()));
  return certify(on, contest.A.view(), there, b, contest.properties.norm_inf).relative_residual;
}

std::string judged(const Solution& solution, double residual, double tolerance) {
  if (residual <= tolerance) return "solved";
  if (!solution.claimed) return solution.status;
  return residual <= 2 * tolerance ? "short" : "WRONG";
}

}  // namespace seidel::drivers
