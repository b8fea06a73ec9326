// seidel solve: reads, looks, solves, certifies, reports.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/progress.hpp>
#include <seidel/drivers/signals.hpp>
#include <seidel/drivers/solve_report.hpp>
#include <seidel/drivers/stopwatch.hpp>
#include <seidel/kernels/spmv/spmv.hpp>
#include <seidel/kernels/symgs/colours.hpp>
#include <seidel/kernels/symgs/nodes.hpp>
#include <seidel/kernels/symgs/wavefronts.hpp>
#include <seidel/solvers/choose_order.hpp>
#include <seidel/solvers/finite.hpp>

namespace seidel::drivers {

namespace {

void require_solvable(const LoadedMatrix& loaded, const MatrixProperties& properties) {
  const auto& A = loaded.matrix;
  if (A.nrows != A.ncols)
    throw ShapeError(
        formatted("{}: found {} and {}, expected as many rows as columns\n"
                  "  a rectangular system has no x that solves it in general; least squares are not in this version",
                  loaded.name, plural(A.nrows, "row"), plural(A.ncols, "column")));
  if (properties.nonfinite > 0) {
    const std::string place =
        loaded.file && !loaded.file->first_nonfinite.empty() ? loaded.file->first_nonfinite : loaded.name;
    throw InputError(
        formatted("{}: found {} NaN or infinite (first at row {}, column {}), expected finite numbers\n"
                  "  seidel info and seidel convert take such a matrix, seidel solve does not",
                  place, plural(properties.nonfinite, "entry that is", "entries that are"),
                  properties.first_nonfinite_row + 1, properties.first_nonfinite_col + 1));
  }
}

/// Row pointers of 32 bits, where they hold the number of entries: half the bytes to read in each product.
Array<std::int32_t> narrowed(const Array<std::int64_t>& row_ptr) {
  Array<std::int32_t> narrow(row_ptr.size());
  std::copy(row_ptr.begin(), row_ptr.end(), narrow.begin());
  return narrow;
}

std::string history_csv(const std::vector<double>& history) {
  std::string text = "iteration,relative_residual\n";
  for (std::size_t i = 0; i < history.size(); ++i) text += formatted("{},{}\n", i, history[i]);
  return text;
}

std::int64_t count_of_colours(const OpenMP& host, const CsrView<double, std::int64_t, Host>& A) {
  const Array<Index> colours = greedy_colours(host, A);
  return colours.empty() ? 0 : 1 + *std::max_element(colours.begin(), colours.end());
}

/// The system and how to solve it, as decided before any back end is touched.
struct Task {
  const SolveOptions& options;
  const LoadedMatrix& loaded;
  const MatrixProperties& properties;
  const Array<double>&b, &x0;
  const Placement& where;
  const MethodChoice& choice;
  double sell_padding;
};

Criteria criteria_of(const SolveOptions& options) {
  Criteria criteria;
  criteria.relative_tolerance = options.tolerance;
  criteria.absolute_tolerance = options.absolute_tolerance;
  criteria.max_iterations = options.max_iterations;
  criteria.seconds = options.time_limit;
  return criteria;
}

template <class Offset>
Outcome solve_with(const Task& task, const CsrView<double, Offset, Host>& A) {
  SolveProgress progress(!task.options.quiet, task.options.tolerance);
  Criteria criteria = criteria_of(task.options);
  criteria.stop = &stop_requested();
  criteria.on_iteration = [&](const IterationReport& report) {
    progress(report.iteration, report.relative_residual, report.seconds);
  };
  const System<Offset> system{
      A, task.b, task.x0, task.properties.norm_inf, task.sell_padding, task.options.rhs.empty()};
  return solve_on(task.where, system, task.choice, criteria);
}

/// What diagnose() has to say, for the reader of a report.
std::vector<Diagnosis> causes_of(const SolveStory& story) {
  if (story.outcome.solved) return {};
  Summary summary = story.outcome.summary;
  if (summary.converged()) summary.status = Status::stagnated;  // by its own residual, but not by the certificate
  return diagnose(story.properties, story.rows, story.choice, summary, criteria_of(story.options));
}

}  // namespace

int run(const SolveOptions& options) {
  // Fixed, large arrays go back to the system when they are done with, whatever was freed before: poisson3d:128 by
  // colours held 846 MB instead of 713. Not for programs that take and free the same again and again.
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  require_backend(options);
  require_writable("--out", options.out);
  require_writable("--history", options.history);
  require_writable("--html", options.html);
  require_apart(  // x may take the place of the x that it began with
      {{"--out", options.out}, {"--history", options.history}, {"--html", options.html}, {"--json", options.json}},
      {{"MATRIX", options.matrix}, {"--rhs", options.rhs}});
  const OpenMP host = host_threads(options);

  const Stopwatch reading;
  const auto state_plan = [&](std::int64_t nrows, std::int64_t nnz) {
    const bool cuda = place(options, nnz).backend == BackendName::cuda;
    const MemoryPlan least = plan_read(nrows, nnz, options.request, cuda, available_bytes(Host{}));
    least.require();
    if (options.verbose || least.large()) say(options, "at least " + least.text());
  };
  const LoadedMatrix loaded = load_matrix(options.matrix, options, options.repair, state_plan);
  const auto A = loaded.matrix.view();
  Array<double> b, x0;
  if (!options.rhs.empty()) b = load_vector("--rhs", options.rhs, A.nrows, loaded.name, options);
  if (!options.x0.empty()) x0 = load_vector("--x0", options.x0, A.ncols, loaded.name, options);
  const double read_seconds = reading.seconds();

  const StopOnSignal stop;  // from here on Ctrl-C ends with a report
  const Stopwatch setup;
  const MatrixProperties properties_of_A = properties(host, A);
  require_solvable(loaded, properties_of_A);
  const RowStatistics rows = row_statistics(host, A);
  if (options.rhs.empty()) {
    const Array<double> ones(A.ncols, 1.0);
    b = Array<double>(A.nrows);
    spmv<OpenMP>(host, A, ones.span(), b.span());
    if (const std::int64_t row = first_nonfinite(std::as_const(b).span()); row >= 0)
      throw InputError(
          formatted("{}: found a row {} whose sum overflows, expected A * ones, the right-hand side, to be "
                    "finite\n  give another one with --rhs, or scale A down",
                    loaded.name, row + 1));
  }
  const Placement where = place(options, A.nnz());
  const bool cuda = where.backend == BackendName::cuda;
  // Natural order unless told otherwise: it has the same bits on every back end.
  std::function<OrderChoice()> order;
  if (options.order_by_time)
    order = [&] {
      if (!cuda) return choose_order_on_host();
      const std::int64_t steps = wavefronts(host, A).count() / rows_per_node(A);
      const bool dominated = 2 * properties_of_A.weakly_dominant_rows >= A.nrows;
      return choose_order(gpu_sweeps, {A.nrows, A.nnz(), steps, count_of_colours(host, A), dominated});
    };
  const bool narrow = A.nnz() <= std::numeric_limits<std::int32_t>::max();
  const double padding = cuda ? format_bytes(host, A).sell_padding : 1;
  const std::int64_t available = cuda ? available_bytes(Device{}) : available_bytes(Host{});
  SolveNeeds needs{A.nrows, A.nnz(), choose_method(properties_of_A, rows, options.request, order),
                   cuda,    narrow,  padding};
  const std::int64_t unless_this_is_plenty = options.verbose ? 0 : available;  // the plan is said then
  if (worth_counting(needs, unless_this_is_plenty) && properties_of_A.first_bad_diagonal < 0) {
    SolveNeeds least = at_least(needs);
    least.choice = affordable(least, available);
    plan_solve(least, available).require();  // counting takes memory, too
    const OpenMP on{where.backend == BackendName::openmp ? where.threads : 1};
    needs.counted_bytes = needs.choice.preconditioner.count(on, A, needs.choice);
  }
  const MethodChoice choice = needs.choice = affordable(needs, available);
  MemoryPlan memory = plan_solve(needs, available);
  memory.require();
  if (options.verbose || memory.large()) say(options, "to solve, " + memory.text());
  const Task task{options, loaded, properties_of_A, b, x0, where, choice, padding};
  const double looked_seconds = setup.seconds();

  Outcome outcome;
  try {
    if (narrow) {
      const auto row_ptr = narrowed(loaded.matrix.row_ptr);
      outcome = solve_with<std::int32_t>(task, {A.nrows, A.ncols, row_ptr, A.col_idx, A.values});
    } else {
      outcome = solve_with<std::int64_t>(task, A);
    }
  } catch (const ZeroDiagonal& error) {
    throw InputError(loaded.name + ": " + error.what());
  }

  if (outcome.preconditioner_bytes > 0) {  // as it was, for the report
    needs.counted_bytes = outcome.preconditioner_bytes;
    memory = plan_solve(needs, available);
  }

  // Natural order that a parallel back end gains nothing from: what would colours do?
  const bool chain = where.backend != BackendName::serial && choice.order == Order::natural &&
                     outcome.wavefronts * rows_of_no_parallelism > A.nrows;
  const std::int64_t colours_instead = chain ? count_of_colours(host, A) : 0;

  SolveStory story{options, loaded,          properties_of_A, rows,
                   where,   choice,          memory,          outcome,
                   {},      colours_instead, read_seconds,    looked_seconds + outcome.setup_seconds};
  story.diagnosis = causes_of(story);

  WriteOptions write;
  write.threads = host.threads;
  if (!options.out.empty()) write_vector(options.out, outcome.x, write);
  if (!options.history.empty()) write_text(options.history, history_csv(outcome.summary.history));
  const bool output_is_taken = options.out == "-" || options.history == "-";
  print(options,
        solve_text(story, Terminal::of(output_is_taken || options.json == "-" ? STDERR_FILENO : STDOUT_FILENO)),
        output_is_taken);
  if (!options.json.empty()) write_text(options.json, solve_json(story).text());
  if (!options.html.empty()) write_text(options.html, solve_page(story));
  return outcome.solved ? 0 : 1;
}

}  // namespace seidel::drivers
