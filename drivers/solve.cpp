// seidel solve, in five steps: load, inspect (solve_problem.cpp), decide (solve_decide.cpp), solve (solve_one.cpp), report.
#include <malloc.h>

#include <optional>

#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/signals.hpp>
#include <seidel/drivers/solve_one.hpp>
#include <seidel/drivers/solve_report.hpp>
#include <seidel/drivers/solve_team.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>

namespace seidel::drivers {

namespace {

/// Wavefronts of fewer rows leave nothing for a second thread to do.
constexpr std::int64_t rows_of_no_parallelism = 4;

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
std::vector<Outcome> solve_all(Problem& problem, const std::vector<Singular>& singular, std::vector<Decided>& decided) {
  const std::size_t k = problem.b.size();
  std::vector<Outcome> iterated, outcomes;
  if (k > 1 && !decided.front().factors) {
    SolveProgress progress(!problem.options.quiet, problem.options.tolerance);
    iterated = iterate(problem, problem.b, decided.front(), watched(problem, progress));
  }
  decided.resize(k, decided.front());
  for (std::size_t j = 0; j < k; ++j) {
    const Array<double>& b = problem.b[j];
    if (j > 0) decided[j].refining = decided[j - 1].refining;
    outcomes.push_back(solve_one(problem, b, singular[j], decided[j],
                                 iterated.empty() ? std::nullopt : std::optional(std::move(iterated[j]))));
    restore_units(problem, j, singular[j].inconsistent() ? singular[j].given_b : b, outcomes.back());
    judge_by_certificate(outcomes.back());
  }
  return outcomes;
}

/// What diagnose() has to say, for the reader of a report.
std::vector<Diagnosis> causes_of(const SolveStory& story) {
  if (story.outcome.solved) return {};
  const Summary& summary = story.outcome.summary;
  if (auto cause = inconsistency(story)) return {std::move(*cause)};
  if (story.outcome.is_right_by_factors()) return {limit_of_precision(story)};
  if (story.decided.factors && summary.method == direct_method.name && summary.status == Status::time_limit)
    return {too_little_time(story)};
  const auto& [properties, rows] = story.problem.seen;
  const Criteria criteria = criteria_of(story.problem);
  if (story.problem.least_squares()) {
    Summary certified = summary;
    certified.relative_residual = story.outcome.certificate.relative_residual;
    if (const auto& found = story.outcome.certificate.orthogonality) certified.optimality->orthogonality = *found;
    return diagnose_least_squares(properties, certified, criteria);
  }
  const bool one_size = properties.max_abs <= 1e8 * properties.min_abs;  // else tiny rows are orthogonal to all
  if (summary.breakdown == Breakdown::exhausted && summary.optimality && one_size &&
      !(summary.relative_residual <= summary.limit_of_precision(properties.norm_inf)))
    return {no_solution(summary, story.singular.known() || story.outcome.error_source == ErrorSource::singular)};
  return diagnose(properties, rows, story.decided.needs.choice, summary, criteria);
}

/// Steps that a sweep by colours would have, where a parallel back end gains nothing from natural order; else 0.
std::int64_t colours_instead_of(const SolveStory& story) {
  const MethodChoice& choice = story.decided.needs.choice;
  const bool chain = story.decided.where.backend != BackendName::serial && choice.order == Order::natural &&
                     choice.preconditioner.orders.size() > 1 &&
                     story.outcome.wavefronts * rows_of_no_parallelism > story.problem.seen.rows.nrows;
  const std::int64_t colours = chain ? count_of_colours(story.problem) : 0;
  return colours * rows_of_no_parallelism <= story.problem.seen.rows.nrows ? colours : 0;
}

void report(SolveStory story, const Written& written) {
  story.diagnosis = causes_of(story);
  story.colours_instead = colours_instead_of(story);
  story.out = written.x;
  const SolveOptions& options = story.problem.options;
  const bool output_is_taken = options.out == "-" || options.history == "-";
  print(options, solve_text(story, terminal_of(options, output_is_taken)), output_is_taken);
  if (!options.html.empty()) write_text(options.html, solve_page(story));
  if (!written.failure.empty()) throw ResourceError(written.failure);
  if (!options.json.empty()) write_text(options.json, solve_json(story).text());
}

/// Spent on them already, which the outcome of a solve with them counts, too.
double seconds_of_factors(const Decided& decided) { return decided.factors ? decided.factors->seconds() : 0; }

/// With the processes of `team`, if there are others.
int solve_with(Team* team, const SolveOptions& options) {
  // Fixed, large arrays go back to the system when they are done with, whatever was freed before: poisson3d:128 by
  // colours held 846 MB instead of 713. Not for programs that take and free the same again and again.
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  require_backend(options);
  Problem problem = load(options, team ? team->size() : 1);
  const StopOnSignal stop(options.quiet);  // from here on Ctrl-C ends with a report
  const Stopwatch setup;
  place(problem, team);
  inspect(problem);
  if (change_units_of_A(problem)) inspect(problem);
  change_units_of_b(problem);
  problem.null_space = find_null_space(problem);
  std::vector<Singular> singular;
  for (Array<double>& b : problem.b) singular.push_back(look_at_rhs(problem, b));
  std::vector<Decided> decided;
  decided.push_back(decide(problem, singular.front()));
  say_if_disk_is_full(options, problem.wide().ncols * std::int64_t(problem.b.size()));
  const double setup_seconds = setup.seconds(), ordering_seconds = seconds_of_factors(decided.front());
  const std::vector<Outcome> outcomes = solve_all(problem, singular, decided);
  const Written written = write_results(options, outcomes);
  tell_in_own_units(problem);
  std::vector<SolveStory> stories;
  for (std::size_t j = 0; j < outcomes.size(); ++j)
    stories.push_back({.problem = problem,
                       .singular = singular[j],
                       .decided = decided[j],
                       .outcome = outcomes[j],
                       .setup_seconds = setup_seconds + outcomes[j].setup_seconds -
                                        (outcomes[j].summary.method == direct_method.name ? ordering_seconds : 0)});
  const std::size_t worst = worst_of(stories);
  SolveStory told = stories[worst];
  told.columns = stories;
  told.column = worst;
  report(told, written);
  return told.outcome.solved ? 0 : 1;
}

}  // namespace

int run(const SolveOptions& options) {
  return with_team(options, [&](Team* team) { return solve_with(team, options); });
}

}  // namespace seidel::drivers
