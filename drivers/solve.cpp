// seidel solve, in five steps: load, inspect (solve_load.cpp), decide (solve_decide.cpp), solve, report.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/progress.hpp>
#include <seidel/drivers/signals.hpp>
#include <seidel/drivers/solve_decide.hpp>
#include <seidel/drivers/solve_direct.hpp>
#include <seidel/drivers/solve_least_squares.hpp>
#include <seidel/drivers/solve_load.hpp>
#include <seidel/drivers/solve_report.hpp>
#include <seidel/drivers/solve_singular.hpp>
#include <seidel/drivers/solve_write.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>
#include <seidel/solvers/finite.hpp>

namespace seidel::drivers {

namespace {

/// For loaded.b and more_b.
std::vector<Outcome> iterate(const SolveOptions& options, const Loaded& loaded, LoadedThere& there,
                             const Inspected& seen, Decided& decided, const Criteria& criteria,
                             std::vector<HostSpan<const double>> more_b = {}) {
  const auto with = [&]<class Offset>(const CsrView<double, Offset, Host>& A,
                                      const CsrView<double, Offset, Device>& A_there,
                                      const CsrView<double, Offset, Host>& arranged_A) {
    const System<Offset> system{
        .A = A,
        .b = loaded.b,
        .x0 = loaded.x0,
        .norm_inf_of_A = seen.properties.norm_inf,
        .ones = options.rhs.empty() && !ones_vanish(seen.properties, seen.rows) && !has_dependent_columns(seen.rows),
        .A_there = A_there,
        .b_there = there.b.span(),
        .near_null = loaded.near_null.view(),
        .arrangement = decided.arranged ? &decided.arranged->by : nullptr,
        .arranged_A = arranged_A,
        .norm_frobenius_of_A = seen.properties.norm_frobenius,
        .more_b = more_b,
        .symmetric = seen.properties.symmetric,
        .ones_are_seen = !ones_vanish(seen.properties, seen.rows) && seen.rows.empty_rows == 0};
    return solve_columns_on(decided.where, system, decided.needs.choice, criteria);
  };
  try {
    std::vector<Outcome> outcomes =
        loaded.row_ptr.empty()
            ? with(loaded.wide(), there.wide.view(), decided.arranged ? decided.arranged->wide.view() : loaded.wide())
            : with(loaded.narrow(), there.narrow.view(),
                   decided.arranged ? decided.arranged->narrow.view() : loaded.narrow());
    if (outcomes.front().preconditioner_bytes > 0) {  // as it was, for the report
      decided.needs.counted_bytes = outcomes.front().preconditioner_bytes;
      decided.memory = plan_solve(decided.needs, decided.available);
    }
    return outcomes;
  } catch (const ZeroDiagonal& error) {
    throw InputError(loaded.matrix.name + ": " + error.what() +
                     (options.permute == Permute::none ? " (--precond none, or --permute auto)" : " (--precond none)"));
  } catch (const InputError& error) {  // of another row that the preconditioner cannot use
    throw InputError(loaded.matrix.name + ": " + error.what());
  }
}

/// From here on the factors are what gave x.
void take_factors(Decided& decided, const DirectSolver& factors, const std::string& why) {
  decided.needs.choice = {.method = direct_method,
                          .reason = formatted("direct, because {}", why),
                          .automatic = decided.needs.choice.automatic};
  decided.needs.factor_bytes = factors.forecast().bytes;
  decided.needs.counted_bytes.reset();
  decided.needs.cuda = false;
  decided.where.backend = BackendName::serial;
  decided.where.threads = 1;
  decided.where.because = "factors are computed on one core";
  decided.memory = plan_solve(decided.needs, without_margin(available_bytes(Host{})));
}

/// Seconds that factors may take to tell the error of an x that was found: a fifth of those that it took, or all of them
/// if it may not be trusted; or so few that nobody minds.
double seconds_to_refine(const Loaded& loaded, const Outcome& outcome) {
  const auto& seen = outcome.summary.error;
  const bool doubtful =
      !(outcome.error <= max_trusted_error) || (seen && (seen->at_least || seen->beyond > seen->residual));
  const double taken = double(outcome.summary.iterations) *
                       seconds_per_iteration(loaded.matrix.matrix.nrows, loaded.matrix.matrix.nnz());
  return doubtful ? std::max(taken, seconds_worth_trust) : std::max(taken / 5, seconds_of_no_matter);
}

/// As factors_of(); those that another right-hand side needed are taken again.
std::shared_ptr<DirectSolver> refining_factors(const Loaded& loaded, const Inspected& seen, double seconds,
                                               Decided& decided) {
  if (!decided.refining) decided.refining = factors_of(loaded, seen, seconds);
  return decided.refining && decided.refining->forecast().seconds <= seconds ? decided.refining : nullptr;
}

bool met_zero_pivot(const Summary& summary) {
  return std::any_of(summary.attempts.begin(), summary.attempts.end(),
                     [](const Attempt& attempt) { return attempt.breakdown == Breakdown::zero_pivot; });
}

/// Where A is singular, lsmr finds the x of least norm if any x solves it, and otherwise one with the least residual. What is
/// worse than what was found before is forgotten.
Outcome solve_singular(const SolveOptions& options, const Loaded& loaded, LoadedThere& there, const Inspected& seen,
                       Decided& decided, const Criteria& criteria, Outcome before) {
  Decided last{.where = decided.where, .needs = decided.needs, .available = decided.available};
  last.needs.choice = {.method = Method::lsmr,
                       .reason = formatted("lsmr, because A is singular, and {} failed", before.summary.method),
                       .automatic = true};
  last.needs.counted_bytes.reset();
  last.needs.arranged = false;
  last.memory = plan_solve(last.needs, last.available);
  if (last.memory.needed() > last.available || !(criteria.seconds > 0)) return before;
  Outcome outcome = std::move(iterate(options, loaded, there, seen, last, criteria).front());
  auto& attempts = before.summary.attempts;
  attempts.insert(attempts.end(), outcome.summary.attempts.begin(), outcome.summary.attempts.end());
  constexpr double rounding = 1e-10;  // by which two least residuals may differ
  if (!(outcome.certificate.relative_residual <= (1 + rounding) * before.certificate.relative_residual)) {
    std::rotate(attempts.rbegin(), attempts.rbegin() + 1, attempts.rbegin() + 2);  // the last one gave x
    return before;
  }
  outcome.summary.attempts = std::move(attempts);
  decided = std::move(last);
  outcome.error_against_ones = -1;  // ones are not the smallest solution
  outcome.error_source = ErrorSource::singular;
  outcome.error = std::numeric_limits<double>::infinity();
  return outcome;
}

/// Those of the options, with what a reader sees meanwhile.
Criteria watched(const SolveOptions& options, SolveProgress& progress) {
  Criteria criteria = criteria_of(options);
  criteria.stop = &stop_requested();
  criteria.on_iteration = [&](const IterationReport& report) {
    progress(report.iteration, report.relative_residual, report.seconds);
  };
  return criteria;
}

/// For loaded.b. `iterated` is what the iteration found, if that is known.
Outcome solve(const SolveOptions& options, const Loaded& loaded, LoadedThere& there, const Inspected& seen,
              const Singular& singular, Decided& decided, std::optional<Outcome> iterated = {}) {
  SolveProgress progress(!options.quiet, options.tolerance);
  Criteria criteria = watched(options, progress);
  const OpenMP host = host_threads(options);
  const bool chosen = automatic(options.request), limited = options.max_iterations < SolveOptions().max_iterations;
  std::vector<Attempt> attempts;
  Array<double> b_here;  // where b was made on a GPU
  const auto system = [&] {
    if constexpr (built_with_cuda)
      if (loaded.b.empty() && b_here.empty() && decided.where.gpu)
        b_here = copied_to<Host>(*decided.where.gpu, std::as_const(there.b).span());
    return DirectSystem{.A = loaded.narrow(),
                        .b = loaded.b.empty() ? HostSpan<const double>(b_here) : HostSpan<const double>(loaded.b),
                        .norm_inf_of_A = seen.properties.norm_inf,
                        .ones = options.rhs.empty() && !ones_vanish(seen.properties, seen.rows)};
  };
  const auto directly = [&](DirectSolver& factors, const std::string& why) {
    Outcome outcome = solve_directly(host, system(), factors, criteria);
    attempts.insert(attempts.end(), outcome.summary.attempts.begin(), outcome.summary.attempts.end());
    outcome.summary.attempts = attempts;
    if (outcome.solved && chosen) take_factors(decided, factors, why);
    return outcome;
  };
  const auto finish = [&](Outcome& outcome, DirectSolver* factors) {
    outcome.known_x = options.rhs.empty();
    finish_singular(options, singular, loaded, seen, system().b, outcome);
    if (factors && outcome.solved) refine_outside(singular.space, host, system(), *factors, outcome);
  };
  std::optional<Outcome> by_factors;
  if (decided.factors) {
    Outcome& outcome = by_factors.emplace(directly(
        *decided.factors, seen.properties.first_bad_diagonal >= 0
                              ? formatted("row {} has no nonzero diagonal entry, so there is no preconditioner",
                                          seen.properties.first_bad_diagonal + 1)
                              : "its factors have hardly more entries than A, and cost less than iterations"));
    if (outcome.solved || !chosen) {
      if (singular.known()) finish(outcome, decided.factors.get());
      return std::move(outcome);
    }
  }
  Outcome outcome =
      iterated ? std::move(*iterated) : std::move(iterate(options, loaded, there, seen, decided, criteria).front());
  outcome.summary.attempts.insert(outcome.summary.attempts.begin(), attempts.begin(), attempts.end());
  attempts = outcome.summary.attempts;
  if (singular.known()) {
    if (!outcome.solved && chosen && !limited && !stop_requested()) {
      criteria.seconds -= outcome.setup_seconds + outcome.solve_seconds;  // A has null vectors beside those that are known
      outcome = solve_singular(options, loaded, there, seen, decided, criteria, std::move(outcome));
    }
    const auto factors = outcome.solved && outcome.error_source != ErrorSource::singular
                             ? refining_factors(loaded, seen, seconds_to_refine(loaded, outcome), decided)
                             : nullptr;
    finish(outcome, factors.get());
    return outcome;
  }
  if (stop_requested()) return outcome;
  if (least_squares(options)) {
    if (outcome.solved && outcome.error_source == ErrorSource::going_on && !loaded.row_ptr.empty())
      refine_least_squares(host, system(), loaded.x0,
                           norm_2_at_least(outcome.summary, loaded.narrow(), seen.properties.norm_frobenius),
                           seconds_to_refine(loaded, outcome), criteria, outcome);
    return outcome;
  }
  if (outcome.solved) {
    if (has_dependent_columns(seen.rows) && outcome.error_source == ErrorSource::none)
      outcome.error_source = ErrorSource::singular, outcome.error = std::numeric_limits<double>::infinity();
    else if (outcome.summary.iterations > 0 &&
             (outcome.error_source != ErrorSource::none || criteria.error_tolerance) &&
             (!options.rhs.empty() || !(outcome.error <= max_trusted_error)))
      if (const auto factors = decided.factors
                                   ? decided.factors
                                   : refining_factors(loaded, seen, seconds_to_refine(loaded, outcome), decided))
        refine_directly(host, system(), *factors, chosen ? Refine::x : Refine::error_only, criteria, outcome);
    return outcome;
  }
  if (!chosen || limited) return outcome;
  criteria.seconds -= outcome.setup_seconds + outcome.solve_seconds;
  bool found_singular = false;
  const bool first = by_factors.has_value();
  auto factors = decided.factors;
  if (!first) factors = factors_of(loaded, seen, std::min(max_direct_seconds, criteria.seconds));
  if (factors) {
    const std::string why = formatted("{} failed", outcome.summary.method);
    if (!first) by_factors = directly(*factors, why);
    if (by_factors->solved) return std::move(*by_factors);
    found_singular = by_factors->singular;
    if (is_right_by_factors(*by_factors) ||
        by_factors->certificate.relative_residual < outcome.certificate.relative_residual) {
      if (first) std::rotate(attempts.begin(), attempts.begin() + 1, attempts.end());  // what gave x is told last
      by_factors->summary.attempts = attempts;
      outcome = std::move(*by_factors);
      take_factors(decided, *factors, why);
    } else if (!first) {
      outcome.summary.attempts.insert(outcome.summary.attempts.end() - 1, attempts.back());
    }
  }
  if (seen.rows.empty_rows == 0 && !found_singular && !met_zero_pivot(outcome.summary)) return outcome;
  return solve_singular(options, loaded, there, seen, decided, criteria, std::move(outcome));
}

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
                               const std::vector<Singular>& singular, std::vector<Decided>& decided) {
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
      return solve(options, loaded, there, seen, singular[j], decided[j],
                   iterated.empty() ? std::nullopt : std::optional(std::move(iterated[j])));
    }));
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
  const Inspected seen = inspect(options, where, loaded, there);
  const NullSpace space = find_null_space(options, seen, loaded);
  std::vector<Singular> singular;
  for (std::size_t j = 0; j < loaded.columns(); ++j)
    singular.push_back(loaded.with_column(j, [&] { return look_at_rhs(options, seen, loaded, space); }));
  std::vector<Decided> decided;
  decided.push_back(decide(options, where, loaded, there, seen, singular.front()));
  say_if_disk_is_full(options, loaded.matrix.matrix.ncols * std::int64_t(loaded.columns()));
  const double setup_seconds = setup.seconds();
  const std::vector<Outcome> outcomes = solve_all(options, loaded, there, seen, singular, decided);
  const Written written = write_results(options, outcomes);
  SolveOptions told_options = options;
  told_options.out = written.x;
  std::vector<SolveStory> stories;
  for (std::size_t j = 0; j < outcomes.size(); ++j)
    stories.push_back({.options = told_options,
                       .loaded = loaded.matrix,
                       .properties = seen.properties,
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
