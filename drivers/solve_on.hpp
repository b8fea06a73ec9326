// A system solved and certified on one back end.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/arrange.hpp>
#include <seidel/formats/csr.hpp>
#include <seidel/solvers/certify.hpp>
#include <seidel/solvers/choose_method.hpp>
#include <seidel/solvers/criteria.hpp>
#include <seidel/solvers/multigrid/facts.hpp>
#include <seidel/solvers/summary.hpp>

namespace seidel::drivers {

struct Outcome;

/// What is to be solved, in host memory; A and b may lie in the memory of Placement::gpu too.
template <class Offset>
struct System {
  CsrView<double, Offset, Host> A;
  HostSpan<const double> b, x0;  // x0 is empty for zero; b where it lies on the GPU
  double norm_inf_of_A = 0;
  bool ones = false;                             // b is A * ones
  CsrView<double, Offset, Device> A_there = {};  // empty: copied there
  DeviceSpan<double> b_there = {};
  NearNullVectors near_null = {};
  const Arrangement* arrangement = nullptr;  // where the preconditioner is made of another matrix:
  CsrView<double, Offset, Host> arranged_A = {};
  double norm_frobenius_of_A = 0;                   // for least squares
  std::vector<HostSpan<const double>> more_b = {};  // right-hand sides that are solved with the same preparation
  bool symmetric = false;
  bool ones_are_seen = false;     // A * ones is not zero
  bool null_space_known = false;  // that x is kept out of
  /// With how many iterations to look for an error of the outcome that no iterate has seen (solve_unseen.hpp).
  std::function<std::int64_t(const Outcome&)> iterations_to_look = [](const Outcome&) { return 0; };
};

/// How the error of x is known.
enum class ErrorSource {
  none,        // it is not: x was not found
  exact,       // the solution is known: ones, or zero where b = 0
  going_on,    // Summary::error
  constants,   // b - A x shows an error along the constants
  unseen,      // and along another vector that A maps to nearly nothing
  refinement,  // factors of A
  singular,    // factors of A, and they say that x is not determined in double precision
};

/// An estimate is within a factor 10 of the error, so up to here that is certainly below 1 %.
inline constexpr double max_trusted_error = 1e-3;

std::string_view to_string(ErrorSource);  ///< as in JSON: "exact", "going on"

/// What was done before the first iteration.
struct Setup {
  double setup_seconds = 0;
  std::string product_format;             // Product::describe()
  double product_seconds = 0;             // to prepare it, part of setup_seconds
  std::string preconditioner;             // as it was made: "symgs in natural order, 94 wavefronts per sweep"
  double preconditioner_seconds = 0;      // to make it, part of setup_seconds
  std::int64_t preconditioner_bytes = 0;  // MadePreconditioner::M.bytes()
  double preconditioner_shift = 0;        // as MadePreconditioner::shift
  std::int64_t wavefronts = 0;            // of its sweeps; 0 without
  std::vector<LevelFacts> levels;         // as MadePreconditioner::levels
};

/// What there is to say of products, and of a preconditioner, that took so long to make.
void note_product(Setup& setup, const auto& product, double seconds) {
  setup.product_format = product.describe() + formatted(", {:.3g} bytes per nonzero", product.bytes_per_nonzero());
  setup.product_seconds = seconds;
}
void note_preconditioner(Setup& setup, const auto& made, double seconds) {
  setup.preconditioner = made.M.describe();
  setup.preconditioner_seconds = seconds;
  setup.preconditioner_bytes = made.M.bytes();
  setup.preconditioner_shift = made.shift;
  setup.wavefronts = made.wavefronts;
  setup.levels = made.levels;
}

struct Outcome : Setup {
  Summary summary;
  Certificate certificate;
  bool solved = false;         // the certificate is within the tolerance
  bool least_squares = false;  // by its orthogonality alone: no x has a smaller residual
  Array<double> x;
  bool known_x = false;            // b was made from it
  double error_against_ones = -1;  // max |x_i - 1|; negative where b is not A * ones, or ones are not the x looked for
  ErrorSource error_source = ErrorSource::none;
  double error = 0;                  // max |x_i - x*_i| / max |x*_i|, A x* = b, as well as it is known
  bool at_least = false;             // ErrorSource::constants: a bound from below
  bool singular = false;             // factors of A say that double precision does not determine x
  std::int64_t look_iterations = 0;  // for what no iterate has seen
  double look_seconds = 0;
  bool refined = false;       // x was corrected by factors after the iteration
  double refine_seconds = 0;  // of these
  double solve_seconds = 0, certify_seconds = 0;

  bool error_is_known() const { return error_source != ErrorSource::none; }
  void note_error(ErrorSource source, double its, bool from_below = false) {
    error_source = source, error = its, at_least = from_below;
  }
  /// Whether factors of A tell that the error of x is small, whatever the residual is.
  bool is_right_by_factors() const { return error_source == ErrorSource::refinement && error <= max_trusted_error; }
};

/// Of A, from what lsmr saw of it and from its rank, which its shape bounds.
double norm_2_at_least(const Summary& lsmr, const auto& A, double norm_frobenius) {
  return std::max(lsmr.optimality->norm_A,
                  norm_frobenius / std::sqrt(std::max(1.0, double(std::min(A.nrows, A.ncols)))));
}

/// Whether outcome.certificate meets the criteria, and by which of the two.
void note_solved(const Criteria& criteria, Outcome& outcome);

/// Solves for b and each of more_b, from the same x0, and certifies. By cg the columns go in step where that pays
/// (solvers/cg_columns.hpp), otherwise one after the other; each x has the bits that it has alone. criteria.seconds is
/// for the setup and all of them together. Instantiated for 32- and 64-bit offsets.
template <class Offset>
std::vector<Outcome> solve_columns_on(const Placement& where, const System<Offset>& system, const MethodChoice& choice,
                                      const Criteria& criteria);

/// The same for b alone.
template <class Offset>
Outcome solve_on(const Placement& where, const System<Offset>& system, const MethodChoice& choice,
                 const Criteria& criteria) {
  return std::move(solve_columns_on(where, system, choice, criteria).front());
}

}  // namespace seidel::drivers
