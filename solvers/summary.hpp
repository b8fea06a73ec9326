// What a solver has to say when it ends.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace seidel {

enum class Status {
  converged,        // the true residual is within the tolerance
  iteration_limit,  //
  time_limit,       //
  stagnated,        // more iterations of this kind gain nothing
  indefinite,       // cg met p'Ap <= 0, or cg or minres r'M^-1 r <= 0
  breakdown,        // the method divided by zero, or met NaN or infinity
  interrupted,      // the stop request
};
/// "converged", "iteration_limit", ...
std::string_view to_string(Status);

/// What stopped a method that could not go on.
enum class Breakdown {
  none,
  not_finite,                 // NaN or infinity appeared, or numbers left the range of their type
  underflow,                  // a product of vectors is 0 because its terms are too small for their type
  indefinite_matrix,          // cg: p'Ap <= 0
  indefinite_preconditioner,  // cg, minres: r'M^-1 r <= 0
  zero_rho,                   // bicgstab: the residual is orthogonal to the shadow residual
  zero_alpha_divisor,         // bicgstab, idr: A p is orthogonal to the shadow residual, or shadow vector
  zero_omega,                 // bicgstab: A s is orthogonal to s; idr: A s = 0
  exhausted,                  // gmres, minres, lsmr: no new direction is left, and those found lead to no solution
  zero_pivot,                 // factors of A cannot be made: A is singular
};

/// The recurrence said yes: what it said, and what b - A x is. Both relative to ||b||.
struct TruthCheck {
  std::int64_t iteration;
  double recurrence, truth;
};

/// One method that solve() tried.
struct Attempt {
  std::string method;
  Status status;
  std::string reason;
  std::int64_t iterations;
  double relative_residual;  // the true one
  double seconds;
  Breakdown breakdown;
  double curvature;            // as in Summary
  bool preconditioned = true;  // false: solve() went on without the preconditioner that it was given
  std::string_view preconditioner = "none";  // by name, for a report; solve() leaves it as it is
};

/// How nearly x is a least-squares solution: lsmr.hpp.
struct Optimality {
  double orthogonality = 0;  // the TRUE ||A'r|| / (||A|| ||r||), recomputed, of the x returned; 0 where r = 0
  double norm_A = 0;         // the ||A|| in it
};

/// What going on beyond the target showed.
struct ErrorEstimate {
  double change = 0;                // max |y_i - x_i| / max |y_i|, from the x at the target to the y of the end
  double residual = 0, beyond = 0;  // true ||b - A x|| / ||b|| and ||b - A y|| / ||b||
  bool at_least = false;            // the residual did not fall to a tenth, so the error may be larger
  std::int64_t iterations = 0;      // beyond the target
  double seconds = 0;

  /// Whether nothing was found: x could not be changed, and the residual does not say that it need not be.
  bool is_void() const { return at_least && iterations == 0; }

  /// About max |z_i - x*_i| / max |x*_i|, where A x* = b and z is the one of x and y with the smaller residual. `rounding`
  /// is what the residual of a rounded x* is, eps ||A|| ||x|| / ||b||, or 0 where that is not known.
  ///
  /// The error of x is about the change. That of y is smaller, between not at all and as the residual is; twice the
  /// latter was within a factor 10 of the truth nearly always (docs/notes/errors.md). Where the residual rose although the
  /// recurrence fell, y has lost digits by rounding and x has not: the change is its error at most. Where the recurrence
  /// did not fall either, the error is taken to be as much larger than the change as the residual grew. An error in the
  /// numerical null space of A, which no iterate has seen, is missed.
  double error(double rounding = 0) const;
};

struct Summary {
  Status status = Status::iteration_limit;
  Breakdown breakdown = Breakdown::none;
  std::string reason;            // why it ended, one sentence
  std::string method;            // "cg", "minres", ...
  std::int64_t iterations = 0;   // each applies A and M^-1 once; of bicgstab twice
  std::vector<double> history;   // ||r|| / ||b|| of the recurrence, entry 0 is the start; at most 2^20 + 1 entries
  double relative_residual = 0;  // the TRUE one of the x returned, ||b - A x|| / ||b||, recomputed; 0 where b = 0
  double seconds = 0;

  // What was seen, for diagnose().
  /// x is the iterate after so many iterations: the last one, unless an earlier one was better.
  std::int64_t returned_iteration = 0;
  std::vector<TruthCheck> truth_checks;  // each time the recurrence said yes
  std::optional<ErrorEstimate> error;    // where Criteria::error_tolerance asks for it, and the target was reached
  std::optional<Optimality> optimality;  // lsmr
  double norm_b = 0, norm_x = 0;         // 2-norms, of b and of the x returned
  double curvature = 0;                  // cg, indefinite: p'Ap / p'p where that was not positive
  int restart = 0;                       // gmres: directions per cycle
  std::vector<Attempt> attempts;         // solve(): all methods tried, the last one is told above; else empty

  void end(Status how, std::string why) { status = how, reason = std::move(why); }
  bool converged() const { return status == Status::converged; }
  /// What `attempts` keeps of a method.
  Attempt as_attempt() const {
    return {.method = method,
            .status = status,
            .reason = reason,
            .iterations = iterations,
            .relative_residual = relative_residual,
            .seconds = seconds,
            .breakdown = breakdown,
            .curvature = curvature};
  }
  /// The recurrence reached the target, the true residual did not, and restarts from it gained nothing.
  bool truth_disagrees() const { return status == Status::stagnated && !truth_checks.empty(); }
  /// What rounding x alone changes in A x, in parts of b: a smaller residual is an accident.
  double limit_of_precision(double norm_inf_of_A) const {
    return norm_b > 0 ? std::numeric_limits<double>::epsilon() * norm_inf_of_A * norm_x / norm_b : 0;
  }
  /// The truth disagrees, and rounding explains that: iterates that were larger than x and the errors of many iterations
  /// may be worth a factor 1000. Otherwise another method may do better.
  bool met_limit_of_precision(double norm_inf_of_A) const {
    return truth_disagrees() && relative_residual <= 1e3 * limit_of_precision(norm_inf_of_A);
  }
};

}  // namespace seidel
