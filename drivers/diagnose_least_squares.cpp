// Likely causes why no least-squares solution was reached, each from a number that was measured.
#include <algorithm>
#include <cmath>

#include <seidel/drivers/diagnose.hpp>
#include <seidel/formats/properties.hpp>
#include <seidel/formats/runtime/quantity.hpp>

namespace seidel::drivers {

using diagnose_detail::text;

namespace {

/// What would bring a criterion of this size, rounded up.
std::string tolerance_above(double reached) {
  const double unit = std::pow(10, std::floor(std::log10(reached)) - 1);
  return "--tol " + text(std::ceil(1.05 * reached / unit) * unit);
}

Diagnosis too_few_iterations(const Summary& s, const Criteria& criteria) {
  const bool by_time = s.status == Status::time_limit;
  if (s.history.size() < 3)
    return {.cause = "too few iterations to tell how fast it converges",
            .evidence = s.reason,
            .remedy = by_time ? diagnose_detail::more_seconds(criteria)
                              : "--max-iterations " + std::to_string(Criteria().max_iterations),
            .advice = ""};
  const double rate = decades_per_iteration(s.history), now = s.history.back();
  const double more = rate > 0 ? std::log10(now / criteria.relative_tolerance) / rate : 0;
  const std::string advice =
      "columns of A of similar length, and fewer that are nearly dependent, need fewer iterations";
  if (!(more > 0 && more < 1e9))
    return {.cause = "no progress",
            .evidence = "neither residual nor orthogonality fell in the last " +
                        plural(std::int64_t(s.history.size() / 2), "iteration"),
            .remedy = "",
            .advice = advice};
  const double total = double(s.iterations) + more;
  const std::int64_t limit = std::max(Criteria().max_iterations, two_digits(2 * total));
  const double seconds = 1.2 * total * s.seconds / double(std::max<std::int64_t>(1, s.iterations));
  return {
      .cause = "too few iterations: at this rate about " + plural(two_digits(more), "more is", "more are") + " needed",
      .evidence = "the smaller of residual and orthogonality is " + text(now) +
                  ", and falls by a factor of 10 in about " + plural(two_digits(1 / rate), "iteration"),
      .remedy =
          by_time ? "--time-limit " + std::to_string(two_digits(seconds)) : "--max-iterations " + std::to_string(limit),
      .advice = advice};
}

}  // namespace

std::vector<Diagnosis> diagnose_least_squares(const MatrixProperties& A, const Summary& s, const Criteria& criteria) {
  if (s.converged()) return {};
  if (s.breakdown == Breakdown::not_finite)
    return {{.cause = "numbers leave the range of double precision",
             .evidence = s.reason,
             .remedy = "",
             .advice = "scale A and b: the largest |a_ij| is " + text(A.max_abs) + ", ||b|| = " + text(s.norm_b)}};
  if (s.status == Status::iteration_limit || s.status == Status::time_limit || s.status == Status::interrupted)
    return {too_few_iterations(s, criteria)};
  const double reached = std::min(s.relative_residual, s.optimality->orthogonality);
  return {{.cause = "the limit of double precision is reached",
           .evidence = "||b - A x|| / ||b|| is " + text(s.relative_residual) + ", ||A'r|| / (||A|| ||r||) is " +
                       text(s.optimality->orthogonality) + ", and a restart from there reduces neither",
           .remedy = reached > 0 && reached < 0.1 ? tolerance_above(reached) : "",
           .advice = "columns of A of similar length may help"}};
}

Diagnosis no_solution(const Summary& s, bool is_singular) {
  constexpr double rounding = 1e-14;  // a condition that is as high may make it more orthogonal than that
  const bool nearly = !is_singular && s.optimality->orthogonality > rounding;
  return {.cause = std::string("A is singular") + (nearly ? " or nearly so" : "") + ", and b is not in its range",
          .evidence = std::string("no x") + (nearly ? " of moderate size" : "") + " has a smaller residual than " +
                      text(s.relative_residual) + ": it is orthogonal to the columns of A to " +
                      text(s.optimality->orthogonality),
          .remedy = "--least-squares",
          .advice = "the command calls this x solved: the smallest with the least residual"};
}

}  // namespace seidel::drivers
