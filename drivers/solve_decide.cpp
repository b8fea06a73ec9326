// Which method, of which matrix its preconditioner is made, whether factors come first, and what memory that takes.
#include <seidel/drivers/solve_decide.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/signals.hpp>
#include <seidel/kernels/aggregation/nodes.hpp>
#include <seidel/kernels/orders/orders.hpp>
#include <seidel/kernels/spmv/hubs.hpp>
#include <seidel/solvers/choose_order.hpp>

namespace seidel::drivers {

namespace {

/// Rows and columns are scaled where the largest entries of two rows differ by more than this.
constexpr double much = 1e3;

/// The largest entry of the row that has the largest one, relative to that of the row that has the smallest one.
double spread_of_rows(const CsrView<double, std::int64_t, Host>& A) {
  double most = 0, least = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < A.nrows; ++i) {
    double largest = 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) largest = std::max(largest, std::abs(A.values[k]));
    if (largest > 0) most = std::max(most, largest), least = std::min(least, largest);
  }
  return most > 0 ? most / least : 1;
}

bool may_permute(const Problem& problem) {
  const MethodRequest& request = problem.options.request;
  const Inspected& seen = problem.seen;
  if (!problem.options.permute || request.preconditioner == PreconditionerKind::none) return false;
  if (request.method && (request.method->needs != Needs::square || *request.method == direct_method)) return false;
  // Of a symmetric matrix, rows in another order are not symmetric: only where there is no other way, and that is one.
  if (request.preconditioner && request.preconditioner->needs_definite) return false;
  return seen.rows.empty_rows == 0 &&
         (request.preconditioner || !(seen.properties.nearly_symmetric || seen.properties.skew));
}

bool may_scale(const Problem& problem) {
  const MethodRequest& request = problem.options.request;
  if (!problem.options.scale || request.preconditioner) return false;
  if (!request.method || request.method->needs == Needs::square) return request.method != direct_method;
  return request.method->needs != Needs::nothing &&
         problem.seen.properties.nearly_symmetric;  // its scales are symmetric, too
}

/// Rows that bring nonzeros to a diagonal with zeros, which no preconditioner takes; scales where no preconditioner is
/// used and norms of rows differ much. Nothing where neither helps, where it was refused, or for lsmr, which takes no
/// preconditioner.
std::unique_ptr<Arranged> arrange(const Problem& problem) {
  const MatrixProperties& of_A = problem.seen.properties;
  const RowStatistics& rows = problem.seen.rows;
  const bool full_diagonal = of_A.first_bad_diagonal < 0, unscaled = !problem.options.scale;
  if (full_diagonal || rows.empty_rows > 0) {
    const MethodChoice choice = choose_method(of_A, rows, problem.options.request);
    if (choice.method.needs == Needs::nothing) return {};
    // Those do not change when rows and columns are scaled.
    if (choice.preconditioner != PreconditionerKind::none) return {};
  }
  auto to = std::make_unique<Arranged>();
  problem.with_matrix([&](const auto& A) {
    if (!full_diagonal && may_permute(problem))
      if (Matching found = max_product_matching(A); found.matched == A.nrows) {
        to->by = std::move(found.arrangement);
        if (unscaled) to->by.row_scale = {}, to->by.column_scale = {};
        to->why = formatted("made of A with its rows permuted{}, because {} zero on the diagonal",
                            unscaled ? "" : " and scaled",
                            plural(of_A.diagonal_missing + of_A.diagonal_zero, "row is", "rows are"));
      }
    if (to->by.empty() && may_scale(problem) && spread_of_rows(problem.wide()) > much) {
      to->by = equilibration(A);
      to->why = "but rows and columns are scaled, because their entries differ much in size";
    }
    if (to->by.empty()) return;
    auto made = arranged(A, to->by);
    to->seen = {.properties = properties(problem.host, made.view()), .rows = row_statistics(problem.host, made.view())};
    to->A = std::move(made);
  });
  return to->by.empty() ? nullptr : std::move(to);
}

/// `--order auto`. Otherwise natural unless told otherwise: it has the same bits on every back end.
OrderChoice fastest_order(const Problem& problem) {
  if (!problem.where.gpu) return choose_order_on_host();
  const auto A = problem.wide();
  const Index rows_per_node = unknowns_per_node<OpenMP, std::int64_t>(problem.host, A);
  return choose_order(gpu_sweeps, {.nrows = A.nrows,
                                   .nnz = A.nnz(),
                                   .steps = wavefronts(A).count() / rows_per_node,
                                   .colours = count_of_colours(problem),
                                   .dominated = mostly_dominated(problem.seen.properties, problem.seen.rows)});
}

bool positive_definite(const Inspected& seen) {  // or likely so
  return seen.properties.nearly_symmetric && seen.properties.diagonal_positive == seen.rows.nrows;
}

/// Whether A may be nearly a tree, whose factors have hardly more entries than A itself, and which needs many iterations:
/// the rows of a mesh have five entries or more. Not where what was asked for concerns iterations.
bool may_be_tree(const Problem& problem) {
  const SolveOptions& options = problem.options;
  const auto unset = [&](const auto& kind) { return options.request.settings.usual(kind.get().settings); };
  return problem.seen.rows.mean <= 4 && seconds_to_count(problem.wide().nnz()) <= seconds_of_no_matter &&
         options.x0.empty() && options.max_iterations == SolveOptions().max_iterations &&
         std::ranges::all_of(program_methods, unset) && std::ranges::all_of(preconditioners, unset);
}

/// Factors that come first: asked for, or not too expensive and no preconditioner can be used, or cheaper than 50
/// iterations.
std::unique_ptr<DirectSolver> first_factors(const Problem& problem, const Singular& singular) {
  const SolveOptions& options = problem.options;
  if (options.request.method == direct_method) {
    if (!problem.is_narrow()) throw UsageError("--method direct: A has more entries than its factors may have");
    return std::make_unique<DirectSolver>(problem.narrow(), positive_definite(problem.seen), options.time_limit);
  }
  if (!automatic(options.request) || problem.seen.rows.empty_rows > 0 || singular.known()) return {};
  if (problem.seen.properties.first_bad_diagonal >= 0)
    return factors_of(problem, max_direct_seconds, options.time_limit);
  if (!may_be_tree(problem)) return {};
  return factors_of(problem, 50 * seconds_per_iteration(problem), options.time_limit);
}

/// Whether sweeps have more steps, one after the other, than a GPU that nobody asked for is good for. Looks at some thousandths
/// of the rows, at the beginning, the middle and the end.
bool is_for_host(const Problem& problem, const Decided& decided) {
  const MethodChoice& choice = decided.needs.choice;
  if (!problem.where.gpu || problem.options.backend != BackendName::automatic) return false;
  if (!choice.preconditioner.sweeps || choice.order != Order::natural) return false;
  const auto look = [](const auto& A) {
    const std::int64_t steps = steps_for_host(A.nnz()), rows = std::min<std::int64_t>(A.nrows, 4 * steps);
    const std::int64_t rest = A.nrows - rows;
    return std::ranges::any_of(std::array{std::int64_t(0), rest / 2, rest}, [&](std::int64_t first) {
      return count_of_wavefronts(A, first, first + rows) >= steps;
    });
  };
  if (!decided.arranged) return look(problem.wide());
  return std::visit([&](const auto& A) { return look(A.view()); }, decided.arranged->A);
}

void leave_gpu(Problem& problem, Decided& decided) {
  if (Array<double>& b = problem.b.front(); b.empty()) b = copied_to<Host>(*problem.where.gpu, problem.b_there.span());
  problem.there = {}, problem.b_there = {};
  problem.where = place_on_host(problem.options, problem.wide().nnz());
  problem.where.because += "; a GPU would be slower, since most rows of a sweep wait for those before";
  decided.where = problem.where;
  decided.needs.cuda = false;
}

}  // namespace

std::int64_t count_of_colours(const Problem& problem) {
  const Array<Index> colours = greedy_colours(problem.host, problem.wide());
  return colours.empty() ? 0 : 1 + *std::max_element(colours.begin(), colours.end());
}

double seconds_per_iteration(const Problem& problem) {
  return 4e-9 * double(problem.wide().nnz()) + 1e-8 * double(problem.wide().nrows);
}

std::unique_ptr<DirectSolver> factors_of(const Problem& problem, double seconds, double time_limit) {
  seconds = std::min(seconds, time_limit);
  if (!problem.is_narrow() || !(seconds_to_count(problem.wide().nnz()) <= seconds)) return {};
  auto factors = std::make_unique<DirectSolver>(problem.narrow(), positive_definite(problem.seen), time_limit);
  const bool fits = 2 * factors->forecast().bytes <= without_margin(available_bytes(Host{}));
  return fits && factors->forecast().seconds <= seconds ? std::move(factors) : nullptr;
}

Criteria criteria_of(const Problem& problem) {
  const SolveOptions& options = problem.options;
  Criteria criteria;
  criteria.relative_tolerance = options.tolerance;
  const auto& of_b = problem.units.of_b;
  criteria.absolute_tolerance = std::ldexp(options.absolute_tolerance, of_b.empty() ? 0 : -of_b.front());
  criteria.max_iterations = options.max_iterations;
  criteria.seconds = options.time_limit;
  criteria.goal = options.request.goal;
  criteria.error_tolerance = options.error_tolerance;
  if ((!options.rhs.empty() || problem.least_squares()) && !criteria.error_tolerance)
    criteria.error_tolerance = std::numeric_limits<double>::infinity();
  return criteria;
}

Criteria watched(const Problem& problem, SolveProgress& progress) {
  Criteria criteria = criteria_of(problem);
  criteria.stop = &stop_requested();
  criteria.on_iteration = [&](const IterationReport& report) {
    progress(report.iteration, report.relative_residual, report.seconds);
  };
  return criteria;
}

Decided decide(Problem& problem, const Singular& singular) try {
  const SolveOptions& options = problem.options;
  const auto A = problem.wide();
  Decided decided{
      .where = problem.where, .factors = first_factors(problem, singular), .null_space_known = singular.known()};
  if (!decided.factors && !singular.known() && !problem.least_squares()) decided.arranged = arrange(problem);
  auto [properties, rows] = decided.arranged ? decided.arranged->seen : problem.seen;
  // Products are with A itself, and a preconditioner of permuted rows is not symmetric, whatever these rows are.
  const bool symmetric_A = problem.seen.properties.nearly_symmetric,
             permuted = decided.arranged && !decided.arranged->by.row_of.empty();
  if (!symmetric_A || permuted) properties.symmetric = properties.nearly_symmetric = false;
  const auto& gpu = problem.where.gpu;
  Questions questions{.levels = [&](std::int64_t enough) { return count_of_levels(A, enough); },
                      .of_symmetric_A = symmetric_A && permuted};
  if (options.order_by_time) questions.order = [&] { return fastest_order(problem); };
  SolveNeeds& needs =
      decided.needs = {.nrows = A.nrows,
                       .nnz = A.nnz(),
                       .choice = choose_method(properties, rows, options.request, questions),
                       .cuda = gpu.has_value(),
                       .estimates = criteria_of(problem).error_tolerance.has_value(),
                       .narrow_offsets = problem.is_narrow(),
                       .columns = std::int64_t(problem.b.size()),
                       .near_null_vectors = problem.near_null.vectors.view().ncols,
                       .arranged = decided.arranged != nullptr,
                       .uneven_rows = spmv_detail::Hubs::rows_allow(problem.seen.rows.mean, problem.seen.rows.variance),
                       .ncols = A.ncols};
  if (problem.where.team && !options.request.settings.find(form_setting) && needs.choice.form == Form::eisenstat)
    needs.choice.form = Form::plain;  // which the blocks of processes do not have
  if (decided.arranged) {
    needs.choice.reason += "; " + decided.arranged->why;
    needs.choice.norm_inf = problem.seen.properties.norm_inf;  // products are with A itself
  }
  if (problem.units.negated) needs.choice.reason = negated_because + needs.choice.reason;
  if (is_for_host(problem, decided)) leave_gpu(problem, decided);
  if (needs.choice.method == direct_method) needs.factor_bytes = decided.factors->forecast().bytes;
  const std::int64_t available = decided.available =  // the plan counts what is there already
      without_margin(gpu ? available_bytes(*gpu) + problem.bytes_there() : available_bytes(Host{}));
  const std::int64_t unless_this_is_plenty = options.verbose ? 0 : available;  // the plan is said then
  if (!needs.arranged && worth_counting(needs, unless_this_is_plenty) &&
      problem.seen.properties.first_bad_diagonal < 0) {
    SolveNeeds least = at_least(needs);
    least.choice = affordable(least, available);
    plan_solve(least, available).require();  // counting takes memory, too
    const OpenMP on{decided.where.backend == BackendName::openmp ? decided.where.threads : 1};
    needs.counted_bytes = needs.choice.preconditioner.count(on, A, needs.choice);
  }
  needs.choice = affordable(needs, available);
  decided.memory = plan_solve(needs, available);
  decided.memory.require();
  if (options.verbose || decided.memory.large()) say(options, "to solve, " + decided.memory.text());
  return decided;
} catch (const InputError& error) {  // A is not what the preconditioner that was asked for needs
  throw InputError(problem.matrix.name + ": " + error.what());
}

}  // namespace seidel::drivers
