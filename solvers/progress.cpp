// When an iteration ends, and what it may say of itself.
#include <seidel/solvers/progress.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/quantity.hpp>

namespace seidel {

namespace {

constexpr std::int64_t max_history = std::int64_t(1) << 20;
constexpr int rounds_without_gain = 10;

std::string text(double value) {
  if (std::isnan(value)) return "NaN";  // of either sign
  char s[32];
  std::snprintf(s, sizeof s, "%.3g", value);
  return s;
}

/// A count with two digits that mean something.
std::string rounded(double n) {
  const double unit = std::pow(10, std::max(0.0, std::floor(std::log10(n)) - 1));
  return n < 1e15 ? count(std::int64_t(std::round(n / unit) * unit)) : text(n);
}

/// The product that was not positive, or what was zero.
const char* text(Breakdown breakdown) {
  switch (breakdown) {
    case Breakdown::indefinite_matrix: return "p'Ap";
    case Breakdown::indefinite_preconditioner: return "r'M^-1 r";
    case Breakdown::zero_rho: return "rho = 0 (the residual is orthogonal to the shadow residual)";
    case Breakdown::zero_alpha_divisor: return "A p is orthogonal to its shadow";
    case Breakdown::zero_omega: return "omega = 0 (A s is 0, or orthogonal to s)";
    case Breakdown::exhausted:
      return "no new direction is left, and those found do not lead to a solution (is A singular?)";
    default: return "";
  }
}

}  // namespace

std::string_view to_string(Status status) {
  constexpr std::string_view words[] = {"converged",  "iteration_limit", "time_limit", "stagnated",
                                        "indefinite", "breakdown",       "interrupted"};
  return words[int(status)];
}

Progress::Progress(std::string_view method, const Criteria& criteria, double norm_b) : criteria_(criteria) {
  if (!(criteria.relative_tolerance >= 0 && criteria.absolute_tolerance >= 0))
    throw UsageError("a tolerance is negative or NaN: found relative " + text(criteria.relative_tolerance) +
                     ", absolute " + text(criteria.absolute_tolerance) + ", expected 0 or more");
  if (criteria.max_iterations < 0 || !(criteria.seconds >= 0))
    throw UsageError("a limit is negative or NaN: found " + counted(criteria.max_iterations, "iteration") + ", " +
                     text(criteria.seconds) + " s, expected 0 or more");
  summary_.method = method;
  summary_.norm_b = norm_b;
  summary_.history.reserve(std::min(criteria.max_iterations, max_history) + 1);
  summary_.truth_checks.reserve(64);
  threshold_ = std::max(criteria.relative_tolerance * norm_b, criteria.absolute_tolerance);
  latest_ = round_from_ = std::numeric_limits<double>::infinity();
}

bool Progress::end(Status status, Breakdown breakdown, std::string reason) {
  if (beyond_) {
    beyond_->ended = true;
    return false;
  }
  summary_.status = status;
  summary_.breakdown = breakdown;
  summary_.reason = std::move(reason);
  ended_ = true;
  return false;
}

/// Whether ten rounds have passed since the norm last fell by the factor `enough`.
bool Progress::Patience::is_over(double norm, double enough) {
  if (norm <= enough * from) {
    from = norm;
    rounds = 0;
  }
  return ++rounds > rounds_without_gain;
}

bool Progress::worth_another_round(double true_norm) {
  if (small_enough(latest_)) {
    if (true_norm <= round_from_ / 2) return true;
    return end(Status::stagnated, "the recurrence says that the target is reached, but the true residual is " +
                                      text(relative(true_norm)) + ", and a restart from it does not reduce it");
  }
  if (broke_down_ != Breakdown::none) {
    if (!breakdowns_.is_over(true_norm, 0.5)) return true;
    return end(Status::breakdown, broke_down_, summary_.method + " broke down repeatedly: " + text(broke_down_));
  }
  if (criteria_.impatient && true_norm > round_from_ / 10)
    return end(Status::stagnated, "a restart gained less than a digit");
  if (cycles_.is_over(true_norm, 0.999))
    return end(Status::stagnated,
               std::to_string(rounds_without_gain) + " restarts together reduced the residual by less than 0.1 %");
  const double wanting = ++rounds_ < 2 * rounds_without_gain ? 0 : iterations_wanting(true_norm);
  if (wanting <= 2 * double(criteria_.max_iterations)) return true;  // that is no better a forecast than a factor 2
  return end(Status::stagnated, "at the rate of the last " + plural(summary_.iterations / 2, "iteration") + ", about " +
                                    rounded(wanting) + " more are needed");
}

/// How many more are needed at the rate of the last half.
double Progress::iterations_wanting(double true_norm) const {
  const std::int64_t half = summary_.iterations / 2;
  if (half >= std::int64_t(summary_.history.size()) || !(threshold_ > 0)) return 0;
  const double gained = std::log(summary_.history[std::size_t(half)] / relative(true_norm));
  return gained > 0 ? std::log(true_norm / threshold_) / gained * double(summary_.iterations - half)
                    : std::numeric_limits<double>::infinity();
}

bool Progress::unsolved(double true_norm) {
  summary_.relative_residual = relative(true_norm);
  const bool first = summary_.history.empty();
  if (first)
    summary_.history.push_back(relative(true_norm));
  else if (small_enough(latest_) && summary_.truth_checks.size() < summary_.truth_checks.capacity())
    summary_.truth_checks.push_back({summary_.iterations, relative(latest_), relative(true_norm)});
  if (!std::isfinite(true_norm))
    return end(Status::breakdown, Breakdown::not_finite,
               first ? "b - A x is not finite for the initial guess: A holds NaN or infinity, or A x overflows"
                     : "b - A x is no longer finite");
  if (small_enough(true_norm)) return end(Status::converged, "the true residual is within the tolerance");
  if (ended_ || (!first && !worth_another_round(true_norm))) return false;
  latest_ = round_from_ = true_norm;
  broke_down_ = Breakdown::none;
  return true;
}

void Progress::go_beyond(double from) {
  const std::int64_t n = summary_.iterations;
  latest_ = from;
  ended_ = false;
  beyond_ = {.target = from,
             .threshold = from / 10,
             .min = min_iterations_per_tenth(),
             .max = std::max<std::int64_t>(
                 5, std::isfinite(*criteria_.error_tolerance) ? criteria_.max_iterations - n : n * 3 / 10),
             .from_seconds = watch_.seconds()};
}

/// The residuals of idr and bicgstab are uneven: one iteration may fall to a tenth, and change x by less than its error.
std::int64_t Progress::min_iterations_per_tenth() const { return (summary_.iterations + 19) / 20; }

bool Progress::go_further(double change) {
  if (change <= *criteria_.error_tolerance) return end(Status::converged, "");  // of what goes on beyond the target
  // One tenth may not be enough: without an iteration, x would be compared with itself.
  do {
    if (!(beyond_->threshold > 0)) return false;
    beyond_->threshold /= 10;
  } while (latest_ <= beyond_->threshold);
  beyond_->min = beyond_->iterations + min_iterations_per_tenth();
  return true;
}

bool Progress::goes_on_from(double true_norm) {
  if (beyond_->iterations == std::exchange(beyond_->round_from, beyond_->iterations) || !std::isfinite(true_norm))
    return false;
  latest_ = true_norm;
  return true;
}

void Progress::come_back() {
  estimate_ = {.at_least = !(latest_ <= beyond_->threshold),
               .iterations = beyond_->iterations,
               .seconds = estimate_.seconds + watch_.seconds() - beyond_->from_seconds};
  latest_ = beyond_->target;
  beyond_.reset();
}

void Progress::estimated(double change, double true_norm, double norm_beyond) {
  estimate_.change = change;
  estimate_.residual = relative(true_norm);
  estimate_.beyond = relative(norm_beyond);
  summary_.relative_residual = std::min(estimate_.residual, estimate_.beyond);
  summary_.error = estimate_;
}

double ErrorEstimate::error(double rounding) const {
  const double fell = residual > 0 ? std::max(beyond, rounding) / residual : 1;
  const double part = at_least && fell > 1 ? fell : std::min(1.0, 2 * fell);
  return std::max(change * part, std::numeric_limits<double>::epsilon());
}

bool Progress::running() {
  if (beyond_) {
    const bool enough = beyond_->iterations >= beyond_->min && latest_ <= beyond_->threshold;
    return !beyond_->ended && !enough && !criteria_.stop_requested() && beyond_->iterations < beyond_->max &&
           watch_.seconds() < criteria_.seconds;
  }
  if (small_enough(latest_)) return false;
  if (criteria_.stop_requested()) return end(Status::interrupted, "a stop was requested");
  if (summary_.iterations >= criteria_.max_iterations)
    return end(Status::iteration_limit,
               "the limit of " + plural(criteria_.max_iterations, "iteration") + " is reached");
  if (watch_.seconds() >= criteria_.seconds) return end(Status::time_limit, "the limit of time is reached");
  return true;
}

bool Progress::record(double norm) {
  if (!std::isfinite(norm))
    return end(Status::breakdown, Breakdown::not_finite,
               "the residual is NaN or infinite after iteration " + std::to_string(summary_.iterations + 1));
  if (beyond_) {
    ++beyond_->iterations;
    latest_ = norm;
    return true;
  }
  ++summary_.iterations;
  latest_ = norm;
  if (summary_.history.size() < summary_.history.capacity()) summary_.history.push_back(relative(norm));
  if (criteria_.on_iteration) criteria_.on_iteration({summary_.iterations, relative(norm), watch_.seconds()});
  return true;
}

void Progress::improve(double norm) {
  latest_ = norm;
  if (std::int64_t(summary_.history.size()) == summary_.iterations + 1) summary_.history.back() = relative(norm);
}

bool Progress::not_positive(double product, Breakdown otherwise, bool underflowed) {
  const std::string found =
      std::string(text(otherwise)) + " = " + text(product) + " in iteration " + std::to_string(summary_.iterations + 1);
  if (!std::isfinite(product))
    return end(Status::breakdown, Breakdown::not_finite, found + ": NaN or infinity, or an overflow");
  if (underflowed) return end(Status::breakdown, Breakdown::underflow, found + ": it underflows");
  const std::string what = otherwise == Breakdown::indefinite_preconditioner ? "preconditioner" : "matrix";
  return end(Status::indefinite, otherwise, found + ", which is positive if the " + what + " is positive definite");
}

Summary Progress::summary(double norm_x, std::int64_t returned) {
  summary_.norm_x = norm_x;
  summary_.returned_iteration = returned;
  summary_.seconds = watch_.seconds() - estimate_.seconds;
  return std::move(summary_);
}

}  // namespace seidel
