// Which method, whether factors come first, and what memory that takes.
#include <seidel/drivers/solve_decide.hpp>

#include <algorithm>
#include <functional>

#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/solve_direct.hpp>
#include <seidel/kernels/aggregation/nodes.hpp>
#include <seidel/kernels/orders/orders.hpp>
#include <seidel/kernels/spmv/hubs.hpp>
#include <seidel/solvers/choose_order.hpp>

namespace seidel::drivers {

namespace {

/// `--order auto`. Otherwise natural unless told otherwise: it has the same bits on every back end.
OrderChoice fastest_order(const OpenMP& host, const CsrView<double, std::int64_t, Host>& A, const Inspected& seen,
                          bool cuda) {
  if (!cuda) return choose_order_on_host();
  const Index rows_per_node = unknowns_per_node<OpenMP, std::int64_t>(host, A);
  return choose_order(gpu_sweeps, {.nrows = A.nrows,
                                   .nnz = A.nnz(),
                                   .steps = wavefronts(host, A).count() / rows_per_node,
                                   .colours = count_of_colours(host, A),
                                   .dominated = 2 * seen.properties.weakly_dominant_rows >= A.nrows});
}

bool positive_definite(const Inspected& seen) {  // or likely so
  return seen.properties.symmetric && seen.properties.diagonal_positive == seen.rows.nrows;
}

/// Whether A may be nearly a tree, whose factors have hardly more entries than A itself, and which needs many iterations:
/// the rows of a mesh have five entries or more. Not where what was asked for concerns iterations.
bool may_be_tree(const SolveOptions& options, const Loaded& loaded, const Inspected& seen) {
  const auto unset = [&](const auto& kind) { return options.request.settings.usual(kind.get().settings); };
  return seen.rows.mean <= 4 && seconds_to_count(loaded.matrix.matrix.nnz()) <= seconds_of_no_matter &&
         options.x0.empty() && options.max_iterations == SolveOptions().max_iterations &&
         std::ranges::all_of(program_methods, unset) && std::ranges::all_of(preconditioners, unset);
}

/// Factors that come first: asked for, or not too expensive and no preconditioner can be used, or cheaper than 50
/// iterations.
std::unique_ptr<DirectSolver> first_factors(const SolveOptions& options, const Loaded& loaded, const Inspected& seen,
                                            const Singular& singular) {
  if (options.request.method == direct_method) {
    if (loaded.row_ptr.empty()) throw UsageError("--method direct: A has more entries than its factors may have");
    return std::make_unique<DirectSolver>(loaded.narrow(), positive_definite(seen), options.time_limit);
  }
  if (!automatic(options.request) || seen.rows.empty_rows > 0 || singular.known()) return {};
  if (seen.properties.first_bad_diagonal >= 0) return factors_of(loaded, seen, max_direct_seconds, options.time_limit);
  if (!may_be_tree(options, loaded, seen)) return {};
  const auto& A = loaded.matrix.matrix;
  return factors_of(loaded, seen, 50 * seconds_per_iteration(A.nrows, A.nnz()), options.time_limit);
}

}  // namespace

std::int64_t count_of_colours(const OpenMP& host, const CsrView<double, std::int64_t, Host>& A) {
  const Array<Index> colours = greedy_colours(host, A);
  return colours.empty() ? 0 : 1 + *std::max_element(colours.begin(), colours.end());
}

std::unique_ptr<DirectSolver> factors_of(const Loaded& loaded, const Inspected& seen, double seconds,
                                         double time_limit) {
  seconds = std::min(seconds, time_limit);
  if (loaded.row_ptr.empty() || !(seconds_to_count(loaded.matrix.matrix.nnz()) <= seconds)) return {};
  auto factors = std::make_unique<DirectSolver>(loaded.narrow(), positive_definite(seen), time_limit);
  const bool fits = 2 * factors->forecast().bytes <= without_margin(available_bytes(Host{}));
  return fits && factors->forecast().seconds <= seconds ? std::move(factors) : nullptr;
}

Criteria criteria_of(const SolveOptions& options) {
  Criteria criteria;
  criteria.relative_tolerance = options.tolerance;
  criteria.absolute_tolerance = options.absolute_tolerance;
  criteria.max_iterations = options.max_iterations;
  criteria.seconds = options.time_limit;
  criteria.goal = options.request.goal;
  criteria.error_tolerance = options.error_tolerance;
  if ((!options.rhs.empty() || least_squares(options)) && !criteria.error_tolerance)
    criteria.error_tolerance = std::numeric_limits<double>::infinity();
  return criteria;
}

Decided decide(const SolveOptions& options, const Placement& where, const Loaded& loaded, const LoadedThere& there,
               const Inspected& seen, const Singular& singular) {
  const OpenMP host = host_threads(options);
  const auto A = loaded.wide();
  Decided decided{
      .where = where, .factors = first_factors(options, loaded, seen, singular), .null_space_known = singular.known()};
  if (!decided.factors && !singular.known() && !least_squares(options))
    decided.arranged = arrange(options, loaded, seen);
  const Inspected& shape = decided.arranged ? decided.arranged->seen : seen;
  const bool cuda = where.gpu.has_value();
  std::function<OrderChoice()> order;
  if (options.order_by_time) order = [&] { return fastest_order(host, A, seen, cuda); };
  SolveNeeds& needs = decided.needs = {.nrows = A.nrows,
                                       .nnz = A.nnz(),
                                       .choice = choose_method(shape.properties, shape.rows, options.request, order),
                                       .cuda = cuda,
                                       .estimates = criteria_of(options).error_tolerance.has_value(),
                                       .narrow_offsets = !loaded.row_ptr.empty(),
                                       .columns = std::int64_t(loaded.columns()),
                                       .near_null_vectors = loaded.near_null.vectors.view().ncols,
                                       .arranged = decided.arranged != nullptr,
                                       .uneven_rows = spmv_detail::Hubs::rows_allow(seen.rows.mean, seen.rows.variance),
                                       .ncols = A.ncols};
  if (decided.arranged) {
    needs.choice.reason += "; " + decided.arranged->why;
    needs.choice.norm_inf = seen.properties.norm_inf;  // products are with A itself
  }
  if (needs.choice.method == direct_method) needs.factor_bytes = decided.factors->forecast().bytes;
  const std::int64_t available = decided.available =  // the plan counts what is there already
      without_margin(cuda ? available_bytes(*where.gpu) + there.bytes() : available_bytes(Host{}));
  const std::int64_t unless_this_is_plenty = options.verbose ? 0 : available;  // the plan is said then
  if (!needs.arranged && worth_counting(needs, unless_this_is_plenty) && seen.properties.first_bad_diagonal < 0) {
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
}

}  // namespace seidel::drivers
