// seidel solve, in five steps: load, inspect, decide, solve, report.
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
#include <seidel/formats/runtime/shares.hpp>
#include <seidel/kernels/spmv/spmv.hpp>
#include <seidel/kernels/symgs/orders.hpp>
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

/// Row pointers of 32 bits, half the bytes to read in each product; empty where they do not hold the number of entries.
Array<std::int32_t> narrowed(const OpenMP& host, const Array<std::int64_t>& row_ptr) {
  if (row_ptr[row_ptr.size() - 1] > std::numeric_limits<std::int32_t>::max()) return {};
  Array<std::int32_t> narrow(row_ptr.size());
  for_shares(host, row_ptr.size(), 1, [&](std::int64_t first, std::int64_t last, int) {
    std::copy(row_ptr.begin() + first, row_ptr.begin() + last, narrow.begin() + first);
  });
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

/// Everything that was read.
struct Loaded {
  LoadedMatrix matrix = {};
  Array<double> b = {}, x0 = {};  // empty: A * ones, made by inspect(); zeros
  double seconds = 0;
  Array<std::int32_t> row_ptr = {};  // of 32 bits, or empty

  CsrView<double, std::int64_t, Host> wide() const { return matrix.matrix.view(); }
  CsrView<double, std::int32_t, Host> narrow() const {
    const auto& A = matrix.matrix;
    return {A.nrows, A.ncols, row_ptr, A.col_idx, A.values};
  }
};

/// The matrix in the memory of the GPU that solves with it, and b = A * ones.
struct LoadedThere {
  Csr<double, std::int32_t, Device> narrow = {};  // one of the two
  Csr<double, std::int64_t, Device> wide = {};
  Array<double, Device> b = {};

  std::int64_t bytes() const {
    return 12 * (narrow.nnz() + wide.nnz()) + 4 * narrow.row_ptr.size() + 8 * (wide.row_ptr.size() + b.size());
  }
  /// look(A) with the one that is there.
  template <class Look>
  auto with_matrix(const Look& look) const {
    return narrow.row_ptr.empty() ? look(wide.view()) : look(narrow.view());
  }
};

/// What the entries of A show.
struct Inspected {
  MatrixProperties properties = {};
  RowStatistics rows = {};
};

/// How it will be solved, before memory is taken for that.
struct Decided {
  Placement where = {};
  SolveNeeds needs = {};  // with the choice of the method
  std::int64_t available = 0;
  MemoryPlan memory = {};
};

void require_files(const SolveOptions& options) {
  require_writable("--out", options.out);
  require_writable("--history", options.history);
  require_writable("--html", options.html);
  require_apart(  // x may take the place of the x that it began with
      {{"--out", options.out}, {"--history", options.history}, {"--html", options.html}, {"--json", options.json}},
      {{"MATRIX", options.matrix}, {"--rhs", options.rhs}});
}

Loaded load(const SolveOptions& options) {
  const Stopwatch reading;
  const auto state_plan = [&](std::int64_t nrows, std::int64_t nnz) {
    const bool cuda = place(options, nnz).backend == BackendName::cuda;
    const MemoryPlan least = plan_read(nrows, nnz, options.request, cuda, without_margin(available_bytes(Host{})));
    least.require();
    if (cuda) plan_read_for_gpu(nrows, nnz, options.request, without_margin(available_bytes(Device{}))).require();
    if (options.verbose || least.large()) say(options, "at least " + least.text());
  };
  Loaded loaded{.matrix = load_matrix(options.matrix, options, options.repair, state_plan)};
  const auto& A = loaded.matrix.matrix;
  if (!options.rhs.empty()) loaded.b = load_vector("--rhs", options.rhs, A.nrows, loaded.matrix.name, options);
  if (!options.x0.empty()) loaded.x0 = load_vector("--x0", options.x0, A.ncols, loaded.matrix.name, options);
  loaded.seconds = reading.seconds();
  return loaded;
}

/// Brings the matrix to where it is solved, once.
LoadedThere upload(const Cuda& on, const Loaded& loaded) {
  if (loaded.row_ptr.empty()) return {.wide = copied_to<Device>(on, loaded.wide())};
  return {.narrow = copied_to<Device>(on, loaded.narrow())};
}

/// A * ones. Errors  InputError for a row whose sum overflows.
template <Backend B, class Offset>
Array<double, SpaceOf<B>> times_ones(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A,
                                     const std::string& name) {
  Array<double, SpaceOf<B>> ones(on, A.ncols), b(on, A.nrows);
  fill<B, double>(on, ones.span(), 1);
  spmv<B>(on, A, ones.span(), b.span());
  if (const std::int64_t row = first_nonfinite(on, std::as_const(b).span()); row >= 0)
    throw InputError(
        formatted("{}: found a row {} whose sum overflows, expected A * ones, the right-hand side, to be "
                  "finite\n  give another one with --rhs, or scale A down",
                  name, row + 1));
  return b;
}

/// Looks at A where it lies, and makes b there unless one was given.
Inspected inspect(const SolveOptions& options, const Placement& where, Loaded& loaded, LoadedThere& there) {
  const std::string& name = loaded.matrix.name;
  const auto look = [&](const auto& on, const auto& A, auto& b) {
    Inspected seen{.properties = properties(on, A)};
    require_solvable(loaded.matrix, seen.properties);
    seen.rows = row_statistics(on, A);
    if (options.rhs.empty()) b = times_ones(on, A, name);
    return seen;
  };
  if constexpr (built_with_cuda)
    if (where.gpu) return there.with_matrix([&](const auto& A) { return look(*where.gpu, A, there.b); });
  return look(host_threads(options), loaded.wide(), loaded.b);
}

/// `--order auto`. Otherwise natural unless told otherwise: it has the same bits on every back end.
OrderChoice fastest_order(const OpenMP& host, const CsrView<double, std::int64_t, Host>& A, const Inspected& seen,
                          bool cuda) {
  if (!cuda) return choose_order_on_host();
  return choose_order(gpu_sweeps, {.nrows = A.nrows,
                                   .nnz = A.nnz(),
                                   .steps = wavefronts(host, A).count() / rows_per_node(A),
                                   .colours = count_of_colours(host, A),
                                   .dominated = 2 * seen.properties.weakly_dominant_rows >= A.nrows});
}

/// Places per entry in SELL.
double sell_padding(const Cuda& on, const LoadedThere& there) {
  if constexpr (built_with_cuda)
    return there.with_matrix([&](const auto& A) { return format_bytes(on, A).sell_padding; });
  return 1;
}

Criteria criteria_of(const SolveOptions& options) {
  Criteria criteria;
  criteria.relative_tolerance = options.tolerance;
  criteria.absolute_tolerance = options.absolute_tolerance;
  criteria.max_iterations = options.max_iterations;
  criteria.seconds = options.time_limit;
  criteria.error_tolerance = options.error_tolerance;
  if (!options.rhs.empty() && !criteria.error_tolerance)
    criteria.error_tolerance = std::numeric_limits<double>::infinity();
  return criteria;
}

Decided decide(const SolveOptions& options, const Placement& where, const Loaded& loaded, const LoadedThere& there,
               const Inspected& seen) {
  const OpenMP host = host_threads(options);
  const auto A = loaded.wide();
  Decided decided{.where = where};
  const bool cuda = where.gpu.has_value();
  std::function<OrderChoice()> order;
  if (options.order_by_time) order = [&] { return fastest_order(host, A, seen, cuda); };
  SolveNeeds& needs = decided.needs = {.nrows = A.nrows,
                                       .nnz = A.nnz(),
                                       .choice = choose_method(seen.properties, seen.rows, options.request, order),
                                       .cuda = cuda,
                                       .estimates = criteria_of(options).error_tolerance.has_value(),
                                       .narrow_offsets = !loaded.row_ptr.empty(),
                                       .sell_padding = cuda ? sell_padding(*where.gpu, there) : 1};
  const std::int64_t available = decided.available =  // the plan counts what is there already
      without_margin(cuda ? available_bytes(*where.gpu) + there.bytes() : available_bytes(Host{}));
  const std::int64_t unless_this_is_plenty = options.verbose ? 0 : available;  // the plan is said then
  if (worth_counting(needs, unless_this_is_plenty) && seen.properties.first_bad_diagonal < 0) {
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

Outcome solve(const SolveOptions& options, const Loaded& loaded, LoadedThere& there, const Inspected& seen,
              Decided& decided) {
  SolveProgress progress(!options.quiet, options.tolerance);
  Criteria criteria = criteria_of(options);
  criteria.stop = &stop_requested();
  criteria.on_iteration = [&](const IterationReport& report) {
    progress(report.iteration, report.relative_residual, report.seconds);
  };
  const auto with = [&]<class Offset>(const CsrView<double, Offset, Host>& A,
                                      const CsrView<double, Offset, Device>& A_there) {
    const System<Offset> system{.A = A,
                                .b = loaded.b,
                                .x0 = loaded.x0,
                                .norm_inf_of_A = seen.properties.norm_inf,
                                .sell_padding = decided.needs.sell_padding,
                                .ones = options.rhs.empty(),
                                .A_there = A_there,
                                .b_there = there.b.span()};
    return solve_on(decided.where, system, decided.needs.choice, criteria);
  };
  try {
    Outcome outcome =
        loaded.row_ptr.empty() ? with(loaded.wide(), there.wide.view()) : with(loaded.narrow(), there.narrow.view());
    if (outcome.preconditioner_bytes > 0) {  // as it was, for the report
      decided.needs.counted_bytes = outcome.preconditioner_bytes;
      decided.memory = plan_solve(decided.needs, decided.available);
    }
    return outcome;
  } catch (const ZeroDiagonal& error) {
    throw InputError(loaded.matrix.name + ": " + error.what() + " (--precond none)");
  }
}

/// What diagnose() has to say, for the reader of a report.
std::vector<Diagnosis> causes_of(const SolveStory& story) {
  if (story.outcome.solved) return {};
  Summary summary = story.outcome.summary;
  if (summary.converged()) summary.status = Status::stagnated;  // by its own residual, but not by the certificate
  return diagnose(story.properties, story.rows, story.choice, summary, criteria_of(story.options));
}

/// Steps that a sweep by colours would have, where a parallel back end gains nothing from natural order; else 0.
std::int64_t colours_instead_of(const SolveOptions& options, const Loaded& loaded, const Decided& decided,
                                const Outcome& outcome) {
  const bool chain = decided.where.backend != BackendName::serial && decided.needs.choice.order == Order::natural &&
                     decided.needs.choice.preconditioner.orders.size() > 1 &&
                     outcome.wavefronts * rows_of_no_parallelism > loaded.matrix.matrix.nrows;
  return chain ? count_of_colours(host_threads(options), loaded.wide()) : 0;
}

void report(const SolveOptions& options, SolveStory story) {
  story.diagnosis = causes_of(story);
  WriteOptions write;
  write.threads = host_threads(options).threads;
  if (!options.out.empty()) write_vector(options.out, story.outcome.x, write);
  if (!options.history.empty()) write_text(options.history, history_csv(story.outcome.summary.history));
  const bool output_is_taken = options.out == "-" || options.history == "-";
  print(options,
        solve_text(story, Terminal::of(output_is_taken || options.json == "-" ? STDERR_FILENO : STDOUT_FILENO)),
        output_is_taken);
  if (!options.json.empty()) write_text(options.json, solve_json(story).text());
  if (!options.html.empty()) write_text(options.html, solve_page(story));
}

}  // namespace

int run(const SolveOptions& options) {
  // Fixed, large arrays go back to the system when they are done with, whatever was freed before: poisson3d:128 by
  // colours held 846 MB instead of 713. Not for programs that take and free the same again and again.
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  require_backend(options);
  require_files(options);
  Loaded loaded = load(options);
  const StopOnSignal stop;  // from here on Ctrl-C ends with a report
  const Stopwatch setup;
  Placement where = place(options, loaded.matrix.matrix.nnz());
  loaded.row_ptr = narrowed(host_threads(options), loaded.matrix.matrix.row_ptr);
  LoadedThere there;
  if (where.backend == BackendName::cuda) {
    where.gpu.emplace(CudaSettings{.host = host_threads(options)});
    there = upload(*where.gpu, loaded);
  }
  const Inspected seen = inspect(options, where, loaded, there);
  Decided decided = decide(options, where, loaded, there, seen);
  const double setup_seconds = setup.seconds();
  const Outcome outcome = solve(options, loaded, there, seen, decided);
  report(options, {.options = options,
                   .loaded = loaded.matrix,
                   .properties = seen.properties,
                   .rows = seen.rows,
                   .where = decided.where,
                   .choice = decided.needs.choice,
                   .memory = decided.memory,
                   .outcome = outcome,
                   .colours_instead = colours_instead_of(options, loaded, decided, outcome),
                   .read_seconds = loaded.seconds,
                   .setup_seconds = setup_seconds + outcome.setup_seconds});
  return outcome.solved ? 0 : 1;
}

}  // namespace seidel::drivers
