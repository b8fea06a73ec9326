// A = L D L' or P A Q = L U by Eigen: what a factorisation would take, and what it solves.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <seidel/formats/csr.hpp>
#include <seidel/solvers/methods.hpp>

namespace seidel::drivers {

/// The entry `direct`, the program's own: the library needs no Eigen.
extern const Method direct_method;
inline const auto program_methods = [] {
  std::vector<std::reference_wrapper<const Method>> all(std::begin(methods), std::end(methods));
  all.push_back(direct_method);
  return all;
}();

/// What factors of A would take, counted from its pattern: of LU, without what pivots beside the diagonal add.
struct DirectForecast {
  std::int64_t entries = 0;  // of the factors
  double flops = 0;
  std::int64_t bytes = 0;  // with what is needed beside them
  double seconds = 0;      // on one core
};

/// Between -1/2 and 1/2, no two alike: rows that are equal, as those of a singular matrix may be, see different numbers.
inline double fraction(std::int64_t i) { return double(std::uint32_t(i) * 2654435761U) / 4294967296.0 - 0.5; }

/// What finding a DirectForecast takes.
double seconds_to_count(std::int64_t nnz);

/// What `auto` spends on factors where other methods failed or have no preconditioner, and where an x may not be trusted.
inline constexpr double max_direct_seconds = 20, seconds_worth_trust = 0.5, seconds_of_no_matter = 0.01;

/// Ordered by approximate minimum degree; LDL' for what is likely to be positive definite, LU otherwise or where a pivot of LDL' is
/// not positive. LU is that of P R A C, with the rows and the powers of two of max_product_matching(): large entries stand on the
/// diagonal, and are the pivots as long as they are not much smaller than others, whatever the units of the rows are. A dense row
/// then stays among the last ones, where partial pivoting may take it first and fill all others. Runs on one core, on the host.
/// Source  Li, Demmel, SuperLU_DIST, ACM Trans. Math. Softw. 29(2), 2003.
class DirectSolver {
 public:
  /// Cost  orders A and counts; about 70 bytes per nonzero meanwhile. A must outlive this. Once a stop is requested (signals.hpp),
  /// or after max_seconds of work, what is not done is given up: the forecast of an order that was not found is infinite.
  DirectSolver(const CsrView<double, std::int32_t, Host>& A, bool positive,
               double max_seconds = std::numeric_limits<double>::infinity());
  ~DirectSolver();

  const DirectForecast& forecast() const { return forecast_; }
  /// False if A is singular: a pivot is zero. The work is done once. False, too, if it was given up.
  bool factorise();
  /// Whether that, or an order, was given up: this is of no more use then.
  bool given_up() const { return given_up_; }
  /// Factors of A + E, where A is singular. E has entries of 1e-10 of the largest |a_ij| of their row, on the diagonal and,
  /// unless A is symmetric or skew-symmetric, where the largest product of pivots is; so A + E is regular, almost always.
  /// Refinement with them finds a solution of A x = b where there is one: with A x* = b, a step leaves the residual
  /// E (A + E)^-1 A (x* - x), which is small. False if these have a zero pivot, too.
  bool factorise_nearby();
  /// d = A^-1 r, or (A + E)^-1 r. After factorise() or factorise_nearby().
  void solve(HostSpan<const double> r, HostSpan<double> d) const;
  /// Whether A is singular as far as double precision can tell. Factors of a singular A are those of A + E with E of the size
  /// of rounding: their inverse is large, and makes a z of size 1 with A z nearly 0, of which a correction toward A z = 0 leaves
  /// most only if A is singular. Sizes are those of R A C, where no entry is much larger than 1, whatever the units of
  /// rows and unknowns are. Cost  two solve() at most.
  bool is_singular() const;
  /// Spent on factors so far.
  double seconds() const { return seconds_; }
  /// "LDL', 12,345 entries"; "unfinished" where they were given up.
  std::string description() const;

 private:
  struct Factors;
  bool compute(double expected_seconds, std::function<void(Factors&)> work);
  bool find_order();
  CsrView<double, std::int32_t, Host> A_;
  std::shared_ptr<Factors> factors_;
  DirectForecast forecast_;
  double max_seconds_;
  bool given_up_ = false;
  double seconds_ = 0;
};

}  // namespace seidel::drivers
