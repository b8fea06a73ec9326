// What may be said of x: solved, solved but not to be trusted, not solved.
#include <algorithm>
#include <cmath>

#include <seidel/drivers/solve_report.hpp>

namespace seidel::drivers {

namespace {

/// The error that x may have.
double allowed(const SolveStory& story) { return story.problem.options.error_tolerance.value_or(max_trusted_error); }

/// Of least squares whose x changed as it went on, while what should fall did not: how far that determines x is not known.
bool is_bounded_below_only(const Outcome& outcome) {
  return outcome.summary.optimality && outcome.error_source == ErrorSource::going_on && outcome.summary.error->at_least;
}

/// What was done to find what no iterate has seen.
std::string look_text(const Outcome& outcome) {
  if (outcome.look_iterations == 0) return "";
  return formatted(", and {} for another right-hand side ({})", count(outcome.look_iterations),
                   human_seconds(outcome.look_seconds));
}

}  // namespace

SolveVerdict verdict_of(const SolveStory& story) {
  const Outcome& outcome = story.outcome;
  if (!outcome.solved) return SolveVerdict::not_solved;
  return (outcome.error_is_known() && !(outcome.error <= allowed(story))) || is_bounded_below_only(outcome)
             ? SolveVerdict::doubtful
             : SolveVerdict::solved;
}

std::string_view to_string(SolveVerdict verdict) {
  constexpr std::string_view names[] = {"solved", "doubtful", "not solved"};  // in the order of the values
  return names[int(verdict)];
}

std::string_view to_string(ErrorSource source) {
  constexpr std::string_view names[] = {"none", "exact", "going on", "constants", "unseen", "refinement", "singular"};
  return names[int(source)];
}

std::string_view criterion_text(const Outcome& outcome) { return outcome.least_squares ? "orthogonality" : "residual"; }

std::string residual_text(const SolveStory& story) {
  const auto& [residual, backward_error, orthogonality] = story.outcome.certificate;
  return story.outcome.least_squares ? formatted("{}, orthogonal to the columns of A to {} (least squares),",
                                                 brief(residual), brief(*orthogonality))
                                     : brief(residual);
}

bool orthogonality_matters(const Outcome& outcome) {
  return outcome.certificate.orthogonality && (outcome.least_squares || !outcome.solved);
}

std::string orthogonality_text(const SolveStory& story) {
  return formatted("{} = ||A'r|| / (||A|| ||r||), r = b - Ax; target {}; x is exact for an A changed by this fraction",
                   brief(*story.outcome.certificate.orthogonality), brief(story.problem.options.tolerance));
}

std::string doubt_text(const Outcome& outcome) {
  const double error = outcome.error;
  if (!std::isfinite(error)) return "no digit of x can be trusted";
  if (is_bounded_below_only(outcome))
    return formatted("the error of x is not known: it is at least about {}", brief(error));
  const auto digits = std::int64_t(std::floor(-std::log10(error)));
  return formatted("{}: its error is {} {}",
                   digits < 1 ? "no digit of x can be trusted"
                              : formatted("only about {} of x can be trusted", plural(digits, "digit")),
                   outcome.at_least ? "at least" : "about", brief(error));
}

std::string error_text(const SolveStory& story) {
  const Outcome& outcome = story.outcome;
  const RowStatistics& rows = story.problem.seen.rows;
  if (outcome.error_against_ones >= 0) return formatted("{}, the largest |x_i - 1|", brief(outcome.error_against_ones));
  switch (outcome.error_source) {
    case ErrorSource::none:
      return outcome.solved && !story.problem.options.rhs.empty()
                 ? formatted("unknown: {} found no further iterate to compare x with", outcome.summary.method)
                 : "";
    case ErrorSource::exact:
      return outcome.known_x
                 ? formatted("{} = max |x_i - x*_i| / max |x*_i|, b = A x*; neither has a part in the null space",
                             brief(outcome.error))
             : story.singular.part_of_b > 0 ? "0, because nothing of b is left"
                                            : "0, because b = 0";
    case ErrorSource::singular:
      return rows.empty_rows > 0 ? "unknown: A is singular"
                                 : "unknown: A is singular as far as double precision can tell";
    case ErrorSource::refinement:
      return formatted("about {} = max |x_i - x*_i| / max |x*_i|, from corrections by factors of {}{}",
                       brief(outcome.error),
                       !story.problem.least_squares() ? "A"
                       : rows.ncols > rows.nrows      ? "[I A'; A 0]"
                                                      : "[I A; A' 0]",
                       outcome.refine_seconds > 0 ? formatted(" ({})", human_seconds(outcome.refine_seconds)) : "");
    case ErrorSource::constants:
      return formatted("{}about {} = max |x_i - x*_i| / max |x*_i|, a constant that b - Ax hardly shows",
                       outcome.at_least ? "at least " : "", brief(outcome.error));
    case ErrorSource::unseen:
      return formatted("about {} = max |x_i - x*_i| / max |x*_i|, along a vector that A maps to nearly nothing{}",
                       brief(outcome.error), look_text(outcome));
    case ErrorSource::going_on: break;
  }
  const ErrorEstimate& estimate = *outcome.summary.error;
  return formatted("{} {} = max |x_i - x*_i| / max |x*_i|, as far as {} ({}){}",
                   estimate.at_least ? "at least about" : "about", brief(outcome.error),
                   plural(estimate.iterations, "more iteration shows", "more iterations show"),
                   human_seconds(estimate.seconds), look_text(outcome));
}

Diagnosis limit_of_precision(const SolveStory& story) {
  const double reached = story.outcome.certificate.relative_residual;
  const double unit = std::pow(10, std::floor(std::log10(reached)) - 1);  // of the second digit
  return {
      .cause = "the limit of double precision is reached",
      .evidence = formatted("by corrections with factors of A the error of x is about {}; rounding such an x to double "
                            "changes A x by more than the target",
                            brief(story.outcome.error)),
      .remedy = reached < 0.1 ? "--tol " + brief(std::ceil(2 * reached / unit) * unit) : "",
      .advice = "x is as good as double precision gives it"};
}

Diagnosis too_little_time(const SolveStory& story) {
  const double forecast = story.decided.factors->forecast().seconds;
  return {.cause = "the limit of time is too short for factors",
          .evidence = story.outcome.summary.reason,
          .remedy = std::isfinite(forecast) && story.problem.options.time_limit < forecast
                        ? formatted("--time-limit {}", two_digits(std::max(60.0, 2 * forecast)))
                        : diagnose_detail::more_seconds(criteria_of(story.problem)),
          .advice = ""};
}

MoreDigits more_digits(const SolveStory& story) {
  const Outcome& outcome = story.outcome;
  const Summary& summary = outcome.summary;
  const double residual = outcome.certificate.relative_residual;
  const double goal = allowed(story);
  const bool along_one = outcome.error_source == ErrorSource::constants || outcome.error_source == ErrorSource::unseen;
  if (is_bounded_below_only(outcome))
    return {.options = formatted("--tol {}", brief(story.problem.options.tolerance / 100)),
            .cost = "a smaller tolerance may show it"};
  const bool least_squares = story.problem.least_squares();
  if (outcome.error_source == ErrorSource::exact && least_squares)
    return {.cost = "A is badly conditioned, or its columns are dependent: then x is the smallest solution, not ones"};
  const bool grew = summary.error && summary.error->beyond > summary.error->residual;
  if (const std::int64_t empty = story.problem.seen.rows.empty_rows; empty > 0)
    return {.cost = formatted(
                "A is singular, because {} no entries: x is one of many solutions. Remove the unknowns of such "
                "rows, or give them a diagonal entry",
                plural(empty, "row has", "rows have"))};
  if (outcome.error_source == ErrorSource::singular || outcome.singular)
    return {.cost = "A is singular as far as double precision can tell: x is one of many solutions"};
  if (goal < std::numeric_limits<double>::epsilon()) return {.cost = "double precision has no more than 16 digits"};
  if (const double target = residual * goal / outcome.error / 2;
      along_one && target > summary.limit_of_precision(story.problem.seen.properties.norm_inf))
    return {.options = "--tol " + brief(target),
            .cost = "A maps a vector to nearly nothing, so much of it in x hardly shows"};
  const bool by_factors =
      outcome.error_source == ErrorSource::refinement;  // they find more digits than a method that was named
  const bool may_correct =
      by_factors && !least_squares && summary.method != "direct" && !automatic(story.problem.options.request);
  const MoreDigits no_more =
      may_correct ? MoreDigits{.options = "--method auto --precond auto", .cost = "factors of A may correct x"}
                  : MoreDigits{.cost = "A is so badly conditioned that double precision gives no more"};
  const double limit = summary.limit_of_precision(story.problem.seen.properties.norm_inf);
  if (residual <= (grew ? 1e3 * limit : limit) || summary.method == "direct" || along_one ||
      (by_factors && least_squares))
    return no_more;
  const double decades = std::log10(outcome.error / goal);
  if (const std::int64_t most = story.problem.options.max_iterations;
      summary.error && summary.iterations + summary.error->iterations >= most &&
      (!by_factors || most < SolveOptions().max_iterations)) {
    const auto& [change, at_target, beyond, at_least, iterations, seconds] = *summary.error;
    if (beyond < at_target && decades * double(iterations) < 10 * double(most) * std::log10(at_target / beyond))
      return {.options = formatted("--max-iterations {}", 10 * most), .cost = "the limit of iterations was reached"};
    return by_factors ? no_more : MoreDigits{.cost = "more iterations gave no more digits"};
  }
  if (by_factors || story.problem.options.error_tolerance) return no_more;
  const double rate = decades_per_iteration(summary.history);
  return {.options = formatted("--error-tol {}", brief(goal)),
          .cost = rate > 0 && decades / rate < 1e9
                      ? formatted("about {} more", plural(two_digits(decades / rate), "iteration"))
                      : ""};
}

}  // namespace seidel::drivers
