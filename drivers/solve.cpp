// seidel solve, in five steps: load, inspect (solve_load.cpp), decide (solve_decide.cpp), solve (solve_one.cpp), report.
#include <malloc.h>
#include <unistd.h>

#include <optional>

#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/progress.hpp>
#include <seidel/drivers/signals.hpp>
#include <seidel/drivers/solve_columns.hpp>
#include <seidel/drivers/solve_load.hpp>
#include <seidel/drivers/solve_one.hpp>
#include <seidel/drivers/solve_report.hpp>
#include <seidel/drivers/solve_singular.hpp>
#include <seidel/drivers/solve_units.hpp>
#include <seidel/drivers/solve_write.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>

namespace seidel::drivers {

namespace {

/// Solved is what the certificate says, whatever the solver says of its own residual.
void judge_by_certificate(Outcome& outcome) {
  Summary& summary = outcome.summary;
  if (summary.converged() == outcome.solved) return;
  summary.status = outcome.solved ? Status::converged : Status::stagnated;
  summary.reason =
      outcome.solved ? "verified in twice the precision, x is within the tolerance"
                     : "the solver's own residual met the tolerance, the one verified in twice the precision does not";
}

/// Each right-hand side, those that iterations are for together. `decided` is that of each in the end.
std::vector<Outcome> solve_all(const SolveOptions& options, Loaded& loaded, LoadedThere& there, const Inspected& seen,
                               const std::vector<Singular>& singular, const Units& units,
                               std::vector<Decided>& decided) {
  const std::size_t k = loaded.columns();
  std::vector<Outcome> iterated, outcomes;
  if (k > 1 && !decided.front().factors) {
    SolveProgress progress(!options.quiet, options.tolerance);
    iterated = iterate(options, loaded, there, seen, decided.front(), watched(options, progress),
                       {loaded.more_b.begin(), loaded.more_b.end()});
  }
  decided.resize(k, decided.front());
  for (std::size_t j = 0; j < k; ++j) {
    if (j > 0) decided[j].refining = decided[j - 1].refining;
    outcomes.push_back(loaded.with_column(j, [&] {
      return solve_one(options, loaded, there, seen, singular[j], decided[j],
                       iterated.empty() ? std::nullopt : std::optional(std::move(iterated[j])));
    }));
    restore_units(units, options, loaded, seen, j,
                  singular[j].inconsistent() ? std::as_const(singular[j].given_b).span() : loaded.column(j),
                  outcomes.back());
    judge_by_certificate(outcomes.back());
  }
  return outcomes;
}

/// What diagnose() has to say, for the reader of a report.
std::vector<Diagnosis> causes_of(const SolveStory& story) {
  if (story.outcome.solved) return {};
  const Summary& summary = story.outcome.summary;
  if (auto cause = inconsistency(story)) return {std::move(*cause)};
  if (is_right_by_factors(story.outcome)) return {limit_of_precision(story)};
  if (summary.breakdown == Breakdown::exhausted && summary.optimality) return {no_solution(summary)};
  return story.options.request.goal == Goal::least_squares
             ? diagnose_least_squares(story.properties, summary, criteria_of(story.options))
             : diagnose(story.properties, story.rows, story.choice, summary, criteria_of(story.options));
}

/// Steps that a sweep by colours would have, where a parallel back end gains nothing from natural order; else 0.
std::int64_t colours_instead_of(const SolveOptions& options, const Loaded& loaded, const Decided& decided,
                                const Outcome& outcome) {
  const bool chain = decided.where.backend != BackendName::serial && decided.needs.choice.order == Order::natural &&
                     decided.needs.choice.preconditioner.orders.size() > 1 &&
                     outcome.wavefronts * rows_of_no_parallelism > loaded.matrix.matrix.nrows;
  return chain ? count_of_colours(host_threads(options), loaded.wide()) : 0;
}

void report(const SolveOptions& options, SolveStory story, const Written& written) {
  story.diagnosis = causes_of(story);
  const bool output_is_taken = options.out == "-" || options.history == "-";
  print(options,
        solve_text(story, Terminal::of(output_is_taken || options.json == "-" ? STDERR_FILENO : STDOUT_FILENO)),
        output_is_taken);
  if (!options.html.empty()) write_text(options.html, solve_page(story));
  if (!written.failure.empty()) throw ResourceError(written.failure);
  if (!options.json.empty()) write_text(options.json, solve_json(story).text());
}

}  // namespace

int run(const SolveOptions& options) {
  // Fixed, large arrays go back to the system when they are done with, whatever was freed before: poisson3d:128 by
  // colours held 846 MB instead of 713. Not for programs that take and free the same again and again.
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  require_backend(options);
  Loaded loaded = load(options);
  const StopOnSignal stop(options.quiet);  // from here on Ctrl-C ends with a report
  const Stopwatch setup;
  Placement where = options.request.method == direct_method ? Placement{.because = "factors are computed on one core"}
                                                            : place(options, loaded.matrix.matrix.nnz());
  narrow(options, loaded);
  LoadedThere there;
  if (where.backend == BackendName::cuda) {
    where.gpu.emplace(CudaSettings{.host = host_threads(options)});
    there = upload(*where.gpu, loaded);
  }
  Inspected seen = inspect(options, where, loaded, there);
  Units units = change_units(host_threads(options), seen.properties, loaded);
  if (units.of_A != 0) {
    there = {};
    if (where.gpu) there = upload(*where.gpu, loaded);
    seen = inspect(options, where, loaded, there);
  }
  change_units(options, seen.properties, loaded, units);
  const NullSpace space = find_null_space(options, seen, loaded);
  std::vector<Singular> singular;
  for (std::size_t j = 0; j < loaded.columns(); ++j)
    singular.push_back(loaded.with_column(j, [&] { return look_at_rhs(options, seen, loaded, space); }));
  std::vector<Decided> decided;
  decided.push_back(decide(options, where, loaded, there, seen, singular.front()));
  say_if_disk_is_full(options, loaded.matrix.matrix.ncols * std::int64_t(loaded.columns()));
  const double setup_seconds = setup.seconds();
  const std::vector<Outcome> outcomes = solve_all(options, loaded, there, seen, singular, units, decided);
  const Written written = write_results(options, outcomes);
  SolveOptions told_options = options;
  told_options.out = written.x;
  const MatrixProperties properties = in_own_units(units, seen.properties);
  std::vector<SolveStory> stories;
  for (std::size_t j = 0; j < outcomes.size(); ++j)
    stories.push_back({.options = told_options,
                       .loaded = loaded.matrix,
                       .properties = properties,
                       .rows = seen.rows,
                       .singular = singular[j],
                       .where = decided[j].where,
                       .choice = decided[j].needs.choice,
                       .memory = decided[j].memory,
                       .arrangement = decided[j].arranged ? &decided[j].arranged->by : nullptr,
                       .outcome = outcomes[j],
                       .read_seconds = loaded.seconds,
                       .setup_seconds = setup_seconds + outcomes[j].setup_seconds});
  const std::size_t worst = worst_of(stories);
  SolveStory told = stories[worst];
  told.columns = stories;
  told.column = worst;
  told.colours_instead = colours_instead_of(options, loaded, decided[worst], told.outcome);
  report(options, told, written);
  return told.outcome.solved ? 0 : 1;
}

}  // namespace seidel::drivers
