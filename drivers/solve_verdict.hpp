// What may be said of x: solved, solved but not to be trusted, not solved.
#pragma once
#include <string>

namespace seidel {
struct Diagnosis;  // solvers/diagnose.hpp
}

namespace seidel::drivers {

struct Outcome;
struct SolveStory;

enum class SolveVerdict {
  solved,
  doubtful,  // the residual is small enough, the error of x is not
  not_solved,
};
SolveVerdict verdict_of(const SolveStory& story);
std::string_view to_string(SolveVerdict);  ///< as in JSON: "solved", "doubtful", "not solved"

/// An estimate is within a factor 10 of the error, so up to here that is certainly below 1 %.
inline constexpr double max_trusted_error = 1e-3;

/// "residual", "orthogonality": which of them made `outcome` solved.
std::string_view criterion_text(const Outcome& outcome);
/// "3.1e-09"; "0.31, orthogonal to the columns of A to 3.1e-09 (least squares),".
std::string residual_text(const SolveStory& story);
/// Whether it is worth telling how nearly the residual is orthogonal to the columns of A, and what to say of it.
bool orthogonality_matters(const Outcome& outcome);
std::string orthogonality_text(const SolveStory& story);
/// Why x is not to be trusted: "only about 2 digits of x can be trusted: its error is about 1.3e-03".
std::string doubt_text(const Outcome& outcome);
/// "1.3e-07 = max |x_i - x*_i| / max |x*_i|, estimated by 10 more iterations"; empty where nothing is known.
std::string error_text(const SolveStory& story);

/// Whether factors of A tell that the error of x is small, whatever the residual is.
bool is_right_by_factors(const Outcome& outcome);
/// Why such an x misses the target.
Diagnosis limit_of_precision(const SolveStory& story);

/// What may give more digits.
struct MoreDigits {
  std::string options = {};  // of the command line; empty where none helps
  std::string cost = {};     // "about 13 iterations more", or why none helps
};
MoreDigits more_digits(const SolveStory& story);

}  // namespace seidel::drivers
