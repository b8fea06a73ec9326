// seidel bench hpcg: the HPCG benchmark, its problem, counts and tests.
#include <seidel/drivers/bench/hpcg.hpp>
#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/json.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/signals.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/generators/hash.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>
#include <seidel/solvers/cg.hpp>
#include <seidel/solvers/preconditioners/identity.hpp>

namespace seidel::drivers {

namespace {

/// By the rules, the residual after so many iterations is the goal of every timed solve. On small lattices rounding does not
/// allow so small a residual, so the reference ends at 1e-12.
constexpr std::int64_t most_reference_iterations = 50;
constexpr double least_reduction = 1e-12;

/// The tests of the benchmark. An asymmetry is |x'Ay - y'Ax| over its rounding bound; iterations are those with a diagonal
/// from 1e6 to 1e7, whose eigenvalues lie in ten clusters.
struct HpcgTests {
  double asymmetry_of_A, asymmetry_of_M;
  std::int64_t iterations, preconditioned_iterations;

  static constexpr std::int64_t most_iterations = 12, most_preconditioned = 2;
  bool passed() const {
    return asymmetry_of_A <= 1 && asymmetry_of_M <= 1 && iterations <= most_iterations &&
           preconditioned_iterations <= most_preconditioned;
  }
};

struct HpcgResult {
  std::int64_t reference_iterations;  // in natural order
  double reduction;                   // of the residual, by them
  std::int64_t iterations;            // until ours is as small
  double error;                       // ||x - ones|| / ||ones|| after the last solve
  std::int64_t solves = 0;
  double setup_seconds, solving_seconds = 0;
  double flops_per_iteration, flops_per_solve;
  std::int64_t nrows, nnz;
  HpcgTests tests;
  Order order;
  bool all_reached = true;

  double gflops(double seconds) const { return flops_per_solve * double(solves) / seconds / 1e9; }
  /// The reference's operations, however many iterations ours took; the rules charge a tenth of the setup to each solve
  /// (ReportResults.cpp of HPCG 3.1).
  double rating() const { return gflops(solving_seconds + double(solves) * setup_seconds / 10); }
  double without_setup() const { return gflops(solving_seconds); }
  double raw() const { return without_setup() * double(iterations) / double(reference_iterations); }
};

template <Backend B>
double asymmetry(const auto& apply, const Vector<double, B>& x, const Vector<double, B>& y, double norm_of_operator) {
  Vector<double, B> Ax = like(x), Ay = like(x);
  apply(x, Ax), apply(y, Ay);
  const double scale = norm2(x) * norm2(y) * norm_of_operator * std::numeric_limits<double>::epsilon();
  return std::fabs(dot(x, Ay) - dot(y, Ax)) / scale;
}

/// On a lattice of at most 64 points along each side.
template <Backend B>
HpcgTests tests_of(const B& on, const BenchHpcgOptions& options, Order order) {
  const Index n = options.n;
  const Lattice lattice{std::min<Index>(n, 64), std::min<Index>(n, 64), std::min<Index>(n, 64)};
  HpcgTests tests;
  const auto vector = [&](const Array<double>& from) {
    return Vector<double, B>(on, copied_to<SpaceOf<B>>(on, from.span()));
  };
  const auto in_order_of = [&](const HpcgMultigrid<B>& M, Vector<double, B> v) {
    if (M.new_to_old().empty()) return v;
    auto to = like(v);
    gather<B, double>(on, M.new_to_old(), std::as_const(v).span(), to.span());
    return to;
  };
  {
    const HpcgMultigrid<B> M(on, hpcg_matrix(on, lattice), lattice, order);
    const MatrixOperator A(on, M.A());
    Array<double> x(A.nrows()), y(A.nrows());
    const generators::Stream bits(1, generators::Draw::values, 0);
    for (std::int64_t i = 0; i < x.size(); ++i) {
      x[i] = generators::signed_uniform(bits(std::uint64_t(2 * i)));
      y[i] = generators::signed_uniform(bits(std::uint64_t(2 * i + 1)));
    }
    tests.asymmetry_of_A = asymmetry([&](const auto& v, auto& Av) { A.apply(v, Av); }, vector(x), vector(y), 52.0);
    tests.asymmetry_of_M = asymmetry([&](const auto& r, auto& z) { M.apply(r, z); }, vector(x), vector(y), 1.0);
  }
  auto exaggerated = hpcg_matrix(host_threads(options), lattice);
  Array<double> b(exaggerated.nrows);
  for (Index i = 0; i < exaggerated.nrows; ++i) {
    b[i] = 0;
    for (std::int32_t k = exaggerated.row_ptr[i]; k < exaggerated.row_ptr[i + 1]; ++k) b[i] += exaggerated.values[k];
    const double diagonal = (i < 9 ? i + 2 : 1) * 1e6;
    for (std::int32_t k = exaggerated.row_ptr[i]; k < exaggerated.row_ptr[i + 1]; ++k)
      if (exaggerated.col_idx[k] == i) exaggerated.values[k] = diagonal;
    b[i] *= diagonal;
  }
  const HpcgMultigrid<B> M(on, copied_to<SpaceOf<B>>(on, exaggerated.view()), lattice, order);
  const MatrixOperator A(on, M.A());
  const Criteria criteria{.relative_tolerance = 1e-12, .max_iterations = 50};
  const auto right_hand_side = in_order_of(M, vector(b));
  auto x = like(right_hand_side);
  tests.iterations = cg(A, IdentityPreconditioner{}, right_hand_side, x, criteria).iterations;
  fill(x, 0);
  tests.preconditioned_iterations = cg(A, M, right_hand_side, x, criteria).iterations;
  return tests;
}

/// Floating-point operations as the benchmark counts them: 2 per nonzero of a product, 4 of a symmetric sweep, 2 per entry
/// of a dot product or an update.
template <Backend B>
void count_operations(const HpcgMultigrid<B>& M, HpcgResult& result) {
  double cycle = 0;
  for (int l = 0; l < M.nlevels; ++l)
    cycle += (l + 1 < M.nlevels ? 4 + 2 + 4 : 4) * double(M.nnz(l));  // sweeps before and after, a residual
  const double vectors = 2 * double(M.nrows(0)), product = 2 * double(M.nnz(0));
  result.flops_per_iteration = 3 * vectors + 3 * vectors + product + cycle;
  result.flops_per_solve = double(result.reference_iterations) * result.flops_per_iteration + 2 * vectors + product;
}

/// The product of the iteration. The rules want A treated as any sparse matrix, so not by its kinds of rows.
template <Backend B>
auto product_with(const B& on, const CsrView<double, std::int32_t, SpaceOf<B>>& A) {
  if constexpr (HostBackend<B>)
    return MatrixOperator(on, A);
  else
    return MatrixOperator(on, to_sell(on, A, 32, 1));
}

template <Backend B>
HpcgResult measured(const B& on, const BenchHpcgOptions& options, Order order) {
  const Lattice lattice{options.n, options.n, options.n};
  HpcgResult result{};
  result.order = order;
  result.tests = tests_of(on, options, order);
  const auto made = [&](Order order) {
    return std::make_unique<HpcgMultigrid<B>>(on, hpcg_matrix(on, lattice), lattice, order);
  };
  Vector<double, B> x(on, lattice.points()), b(on, lattice.points());
  const auto take_rhs = [&](const auto& A) { fill(x, 1), A.apply(x, b); };  // in the order of its rows
  const auto solve = [&](const auto& A, const auto& M, const Criteria& criteria) {
    fill(x, 0);
    return cg(A, M, b, x, criteria);
  };
  {
    const auto M = made(Order::natural);
    const MatrixOperator A(on, M->A());
    take_rhs(A);
    const Summary reference = solve(A, *M,
                                    {.relative_tolerance = least_reduction,
                                     .max_iterations = most_reference_iterations,
                                     .stop = &stop_requested()});
    result.reference_iterations = reference.iterations;
    result.reduction = reference.history.back();
  }
  const Stopwatch setup;
  const auto M = made(order);
  const auto A = product_with(on, M->A());
  take_rhs(A);
  on.synchronize();
  result.setup_seconds = setup.seconds();
  result.nrows = M->nrows(0), result.nnz = M->nnz(0);
  count_operations(*M, result);
  const Criteria goal{.relative_tolerance = result.reduction,
                      .max_iterations = 10 * most_reference_iterations,
                      .stop = &stop_requested()};
  solve(A, *M, goal);  // not timed
  while (!stop_requested() && (result.solves == 0 || result.solving_seconds < options.seconds)) {
    on.synchronize();
    const Stopwatch watch;
    const Summary summary = solve(A, *M, goal);
    on.synchronize();
    if (summary.status == Status::interrupted) break;
    result.solving_seconds += watch.seconds();
    result.iterations = summary.iterations;
    result.all_reached = result.all_reached && summary.status == Status::converged;
    ++result.solves;
  }
  fill(b, -1), axpy(1, b, x);
  result.error = norm2(x) / norm2(b);
  return result;
}

std::string text_of(const HpcgResult& r, Index n, const std::string& where) {
  const auto verdict = [](bool right) { return right ? "passed" : "FAILED"; };
  std::string text = formatted("HPCG on {}: {}^3 points, {}, 4 levels, sweeps {}\n\n", where, n,
                               plural(r.nnz, "nonzero"), r.order == Order::natural ? "in natural order" : "by colours");
  text += formatted("symmetry of A, M   {:.2g}, {:.2g} of the rounding bound\n", r.tests.asymmetry_of_A,
                    r.tests.asymmetry_of_M);
  text +=
      formatted("scaled diagonal    {} iterations (at most {}), with multigrid {} (at most {})\n", r.tests.iterations,
                HpcgTests::most_iterations, r.tests.preconditioned_iterations, HpcgTests::most_preconditioned);
  text += formatted("tests              {}\n", verdict(r.tests.passed()));
  text += formatted("reference          {} iterations in natural order reduce the residual to {:.3g}\n",
                    r.reference_iterations, r.reduction);
  text += formatted("timed              {} to the same residual in {}: {} each, {} per iteration{}\n",
                    plural(r.solves, "solve"), human_seconds(r.solving_seconds), plural(r.iterations, "iteration"),
                    human_seconds(r.solving_seconds / double(r.solves * r.iterations)),
                    r.all_reached ? "" : "; NOT REACHED");
  text += formatted("setup              {}, with the generation of the matrices\n\n", human_seconds(r.setup_seconds));
  text += formatted(
      "{:.1f} GFLOP/s as the rules rate: the operations of {} iterations per solve, a tenth of the setup charged to "
      "each\n",
      r.rating(), r.reference_iterations);
  text += formatted("{:.1f} GFLOP/s without the setup ({:.1f} by the operations of all iterations done)\n\n",
                    r.without_setup(), r.raw());
  text +=
      "Not an official result: one process, seidel's code; the residual is computed only where it is restricted, and "
      "the\n"
      "tests run on at most 64^3 points.\n";
  return text;
}

Json json_of(const HpcgResult& r, const BenchHpcgOptions& options, const std::string& where) {
  Json json = json_document("seidel.hpcg/1", options.command_line);
  json.set("where", where).set("n", std::int64_t(options.n)).set("nnz", r.nnz).set("order", to_string(r.order));
  json.set("asymmetry_of_A", r.tests.asymmetry_of_A).set("asymmetry_of_M", r.tests.asymmetry_of_M);
  json.set("iterations_scaled_diagonal", r.tests.iterations);
  json.set("iterations_scaled_diagonal_multigrid", r.tests.preconditioned_iterations);
  json.set("tests_passed", r.tests.passed()).set("reference_iterations", r.reference_iterations);
  json.set("reduction", r.reduction).set("iterations", r.iterations).set("error", r.error);
  json.set("interrupted", stop_requested().load());
  json.set("solves", r.solves).set("solving_seconds", r.solving_seconds).set("setup_seconds", r.setup_seconds);
  json.set("gflops_with_setup", r.rating()).set("gflops", r.without_setup()).set("gflops_raw", r.raw());
  return json;
}

}  // namespace

int run(const BenchHpcgOptions& options) {
  if (options.n % 8 != 0) throw UsageError(formatted("--n: found {}, expected a multiple of 8", options.n));
  const std::int64_t n = options.n;
  const Placement where = place(options, 27 * n * n * n);
  const bool alone = where.backend != BackendName::cuda && where.threads == 1;
  const Order order = options.order.value_or(alone ? Order::natural : Order::colours);
  const StopOnSignal stop;
  const HpcgResult result = with_backend(where, [&](const auto& on) { return measured(on, options, order); });
  if (result.solves == 0) {
    say(options, "interrupted before the first timed solve");
    return 1;
  }
  if (stop_requested()) say(options, "interrupted: only solves that were complete count");
  const std::string name = where.backend == BackendName::cuda ? where.device : plural(where.threads, "thread");
  print(options, text_of(result, options.n, name));
  if (!options.json.empty()) write_text(options.json, json_of(result, options, name).text());
  return result.tests.passed() && result.all_reached && !stop_requested() ? 0 : 1;
}

}  // namespace seidel::drivers
