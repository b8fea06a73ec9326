// What a solver has to say when it ends.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace seidel {

enum class Status {
  converged,        // the true residual is within the tolerance
  iteration_limit,  //
  time_limit,       //
  stagnated,        // more iterations of this kind gain nothing
  indefinite,       // cg met p'Ap <= 0, or r'M^-1 r <= 0
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
  indefinite_preconditioner,  // cg: r'M^-1 r <= 0
  zero_rho,                   // bicgstab: the residual is orthogonal to the shadow residual
  zero_alpha_divisor,         // bicgstab: A p is orthogonal to the shadow residual
  zero_omega,                 // bicgstab: A s is orthogonal to s
  exhausted,                  // gmres: no new direction is left, and none of those found leads to the solution
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
};

struct Summary {
  Status status = Status::iteration_limit;
  Breakdown breakdown = Breakdown::none;
  std::string reason;            // why it ended, one sentence
  std::string method;            // "cg", "bicgstab", "gmres"
  std::int64_t iterations = 0;   // each applies A and M^-1 once; of bicgstab twice
  std::vector<double> history;   // ||r|| / ||b|| of the recurrence, entry 0 is the start; at most 2^20 + 1 entries
  double relative_residual = 0;  // the TRUE one of the x returned, ||b - A x|| / ||b||, recomputed; 0 where b = 0
  double seconds = 0;

  // What was seen, for diagnose().
  /// x is the iterate after so many iterations: the last one, unless an earlier one was better.
  std::int64_t returned_iteration = 0;
  std::vector<TruthCheck> truth_checks;  // each time the recurrence said yes
  double norm_b = 0, norm_x = 0;         // 2-norms, of b and of the x returned
  double curvature = 0;                  // cg, indefinite: p'Ap / p'p where that was not positive
  int restart = 0;                       // gmres: directions a cycle
  std::vector<Attempt> attempts;         // solve(): all methods tried, the last one is told above; else empty

  bool converged() const { return status == Status::converged; }
};

}  // namespace seidel
