// Why it did not converge, from what was seen.
#pragma once
#include <string>
#include <vector>

#include <seidel/solvers/choose_method.hpp>
#include <seidel/solvers/criteria.hpp>
#include <seidel/solvers/summary.hpp>

namespace seidel::drivers {

/// One likely cause, most likely first.
struct Diagnosis {
  std::string cause;     // "A is singular with the constants in its null space"
  std::string evidence;  // the numbers that say so
  std::string remedy;    // options of `seidel solve` to try, like "--method gmres"; may be empty
  std::string advice;    // what to do in words; may be empty
};

/// Empty if the summary says converged. A function of its arguments alone.
std::vector<Diagnosis> diagnose(const MatrixProperties& properties, const RowStatistics& statistics,
                                const MethodChoice& choice, const Summary& summary, const Criteria& criteria);

/// The same for lsmr() with Goal::least_squares.
std::vector<Diagnosis> diagnose_least_squares(const MatrixProperties& properties, const Summary& summary,
                                              const Criteria& criteria);

/// " --max-iterations 20000 --time-limit 60": options that raise the limits which may have kept a solve from its end; or "".
std::string longer_limits(const Summary& summary, const Criteria& criteria);

/// Of lsmr() that was exhausted: b is not in the range of A. `is_singular` where that is known of A.
Diagnosis no_solution(const Summary& summary, bool is_singular);

namespace diagnose_detail {
/// "0.25", "1.3e-07": two digits.
std::string text(double value);
/// The option that gives ten times as long, and a minute at least.
std::string more_seconds(const Criteria& criteria);
}  // namespace diagnose_detail

/// Decades by which a residual falls per iteration: least squares over the last half of its history, at least 10
/// entries.
double decades_per_iteration(const std::vector<double>& history);
/// n with its two leading digits, rounded up.
std::int64_t two_digits(double n);

}  // namespace seidel::drivers
