// Likely causes of a failure, each from a number that was measured.
#include <seidel/drivers/diagnose.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <seidel/formats/properties.hpp>
#include <seidel/formats/runtime/quantity.hpp>
#include <seidel/formats/statistics.hpp>

namespace seidel::drivers {

namespace {

using diagnose_detail::text;
std::string text(std::int64_t value) { return std::to_string(value); }

/// Factors of more rows may take very long; the program counts before it begins.
constexpr std::int64_t max_rows_of_factors = 300'000;

const std::int64_t usual_limit = Criteria().max_iterations;
std::string max_iterations(std::int64_t n) { return "--max-iterations " + text(n); }

/// All that a rule looks at; each rule adds what it finds.
struct Facts {
  const MatrixProperties& A;
  const RowStatistics& rows;
  const MethodChoice& choice;
  const Summary& summary;
  const Criteria& criteria;
  std::vector<Diagnosis> found;

  void add(std::string cause, std::string evidence, std::string remedy, std::string advice = "") {
    found.push_back({std::move(cause), std::move(evidence), std::move(remedy), std::move(advice)});
  }
  /// Whether that is so of the last method, or of one that was tried before.
  bool any(const auto& is) const {
    return is(summary) || std::any_of(summary.attempts.begin(), summary.attempts.end(), is);
  }
  bool full_diagonal() const { return A.diagonal_missing + A.diagonal_zero == 0; }
  double limit() const {
    const double its = summary.limit_of_precision(A.norm_inf);
    return std::isfinite(its) ? its : 0;  // an x beyond the range of double tells nothing of A
  }
  /// The truth disagrees, and that is due to A alone, not to a preconditioner.
  bool nothing_gained() const {
    return summary.truth_disagrees() && !preconditioned() && summary.relative_residual >= 0.1;
  }
  bool solved_but_for_rounding() const { return summary.relative_residual <= limit() && limit() < 0.01; }
  /// A p'Ap that was not positive, and that rounding explains.
  bool rounded(Status status, double curvature) const {
    return status == Status::indefinite && A.nearly_symmetric && curvature != 0 &&
           std::abs(curvature) <= double(rows.max) * std::numeric_limits<double>::epsilon() * A.norm_inf;
  }
  bool rounded() const {
    return any([&](const auto& of) { return rounded(of.status, of.curvature); });
  }
  bool preconditioned() const {
    return choice.preconditioner != PreconditionerKind::none &&
           (summary.attempts.empty() || summary.attempts.back().preconditioned);
  }
  bool broke_down(Breakdown why) const {
    return any([&](const auto& of) { return of.breakdown == why; });
  }
  bool overflowed() const { return broke_down(Breakdown::not_finite); }
  /// Of which then not all was in the range of double precision.
  bool found_x() const { return !summary.attempts.empty() && summary.attempts.back().status == Status::converged; }
  bool needs_symmetry() const { return summary.method == "cg" || summary.method == "minres"; }
  bool tried(std::string_view name) const {
    return any([&](const auto& of) { return of.method == name; });
  }
  std::string limits() const { return longer_limits(summary, criteria); }
  /// What may do better than a method, a preconditioner or a limit that was asked for: all that the program chooses by
  /// itself, with as many iterations as it usually takes. What that could not do is left to factors. There it ends:
  /// whoever follows advice is not led in circles.
  std::string other_way() const {
    if (!choice.automatic) return "--method auto --precond auto" + limits();
    if (!limits().empty()) return limits().substr(1);
    return tried("direct") || rows.nrows > max_rows_of_factors ? "" : "--method direct";
  }
  bool ended_by_limit() const {
    return summary.status == Status::iteration_limit || summary.status == Status::time_limit ||
           summary.status == Status::interrupted;
  }
  bool needs_a_little_longer() const {
    return ended_by_limit() && summary.history.size() > 2 && iterations_wanting() <= double(summary.iterations);
  }
  /// What finds the x with the least residual, if that was not tried, or not for long enough.
  std::string least_residual() const {
    if (!tried("lsmr")) return "--least-squares" + limits();
    return ended_by_limit() && !limits().empty() ? limits().substr(1) : "";
  }
  bool zero_pivot() const { return broke_down(Breakdown::zero_pivot); }  // factors found A singular
  std::string symgs_advice() const {
    const auto& M = choice.preconditioner;
    const bool weaker = M == PreconditionerKind::none || M == PreconditionerKind::jacobi;
    return weaker && full_diagonal() ? "symgs as preconditioner needs fewer iterations (--precond symgs)" : "";
  }
  /// Iterations to the tolerance, at the measured rate; infinity where the residual does not fall.
  double iterations_wanting() const;
};

double Facts::iterations_wanting() const {
  const double rate = decades_per_iteration(summary.history), now = summary.history.back(),
               wanted = criteria.target(summary.norm_b);
  const double more = wanted > 0 && now > wanted ? std::log10(now / wanted) / rate : 0;
  const bool lost = now > 1e6 * summary.history.front();  // a fall from there says nothing
  return rate > 0 && more < 1e9 && !lost ? more : std::numeric_limits<double>::infinity();
}

void holds_no_numbers(Facts& f) {
  if (f.A.nonfinite)
    f.add("A holds NaN or infinity",
          plural(f.A.nonfinite, "entry is", "entries are") + " not finite, the first in row " +
              text(f.A.first_nonfinite_row + 1) + ", column " + text(f.A.first_nonfinite_col + 1),
          "", "correct these entries");
}

void is_half_a_matrix(Facts& f) {
  if (f.ended_by_limit() &&  // too little was seen, or it was on its way
      (f.summary.history.size() < 3 || (!f.limits().empty() && std::isfinite(f.iterations_wanting()))))
    return;
  if (f.A.one_triangle_only)
    f.add("A is triangular, or only one triangle of a symmetric matrix is stored",
          plural(f.A.below + f.A.above, "off-diagonal entry, which is ", "off-diagonal entries, all ") +
              (f.A.below ? "below" : "above") + " it",
          f.needs_symmetry() && !f.choice.automatic ? f.other_way() : "",
          "if the matrix is meant to be symmetric, write `symmetric` for `general` in the first line of the file");
}

void is_singular(Facts& f) {
  if (f.rows.empty_rows)
    f.add("A is singular", plural(f.rows.empty_rows, "row has", "rows have") + " no entries", f.least_residual(),
          "remove the unknowns of empty rows, or give them a diagonal entry");
  else if (f.A.skew && f.rows.nrows % 2 == 1)
    f.add("A is singular", "it is skew-symmetric, and of odd order: " + plural(f.rows.nrows, "row"), f.least_residual(),
          "no skew-symmetric matrix of odd order has an inverse");
  else if (f.rows.nrows > 0 && f.A.zero_row_sums == f.rows.nrows && !f.needs_a_little_longer() &&
           !f.solved_but_for_rounding())
    f.add("A is singular with the constants in its null space",
          "the entries of each of the " + count(f.rows.nrows) + " rows add up to 0, so A times ones is 0",
          f.least_residual(),
          f.tried("lsmr") ? "b may not suit A" : "b may not suit A: the command finds the x with the least residual");
  else if (f.zero_pivot())
    f.add("A is singular", "a pivot of its factors is zero", f.least_residual(),
          "check how A and b were made: is an equation missing, or present twice?");
}

void leaves_the_range(Facts& f) {
  if (f.A.nonfinite || f.A.max_abs == 0) return;
  const bool of_b = f.summary.norm_b < f.A.max_abs;
  const auto usual = [](double size) { return size == 0 || (size > 1e-70 && size < 1e70); };  // products stay in range
  if (f.summary.breakdown == Breakdown::underflow)
    f.add(of_b ? "b is so small that products with it underflow" : "A is so small that products with it underflow",
          "||b|| = " + text(f.summary.norm_b) + ", the largest |a_ij| = " + text(f.A.max_abs),
          f.tried("gmres") ? "" : "--method gmres",
          of_b ? "scale b up, and x down in the end" : "scale A up, and x by the same number in the end");
  else if (f.overflowed() && !(usual(f.A.max_abs) && usual(f.summary.norm_b)))
    f.add("numbers leave the range of double precision", f.summary.reason, f.found_x() ? "" : f.other_way(),
          "scale A and b");
  else if (f.summary.breakdown == Breakdown::not_finite)
    f.add(f.summary.method + " diverged: its residual grew beyond all bounds", f.summary.reason, f.other_way());
}

/// Largest to smallest magnitude of the entries, where that is a sign of different units.
double spread(const Facts& f) {
  const double ratio = f.A.min_abs > 0 ? f.A.max_abs / f.A.min_abs : 1;
  return ratio < 1e8 ? 1 : ratio;
}

void is_nearly_singular(Facts& f) {
  const bool by_size =
      f.limit() >= 0.01 && f.summary.relative_residual <= 1e3 * f.limit();  // else x is far from any solution
  if (!(by_size || f.rounded() || f.nothing_gained()) || f.overflowed() || f.rows.empty_rows ||
      f.A.zero_row_sums == f.rows.nrows)
    return;
  f.add(spread(f) > 1 ? "A is badly scaled, or singular"
                      : "A is singular, or so nearly singular that double precision cannot tell the difference",
        f.rounded() ? "p'Ap was not positive, but its distance from 0 is within rounding error"
        : !by_size  ? "the recurrence says " + text(f.summary.truth_checks.back().recurrence) +
                         ", the true residual stays at " + text(f.summary.relative_residual)
                   : "||A|| ||x|| is " + text(f.limit() / std::numeric_limits<double>::epsilon()) +
                         " times ||b||, so rounding x alone changes A x by up to " + text(f.limit()) + " of b",
        f.choice.automatic ? "" : f.other_way(),
        "check how A and b were made: is an equation missing, or present twice? Scaling the rows and columns of "
        "A may help");
}

void is_not_preconditioned(Facts& f) {
  if (!f.preconditioned() || f.summary.breakdown == Breakdown::not_finite) return;
  const Summary& s = f.summary;
  const std::string name(to_string(f.choice.preconditioner));
  if (s.truth_disagrees() && !s.met_limit_of_precision(f.A.norm_inf))
    f.add(name + " does not suit A: rounding errors grow in it",
          "the recurrence says " + text(s.truth_checks.back().recurrence) + ", the true residual stays at " +
              text(s.relative_residual) + ", and rounding x explains no more than " + text(f.limit()),
          f.other_way());
  else if (s.method != "cg" && !mostly_dominated(f.A, f.rows) && !s.truth_disagrees() &&
           (s.status == Status::stagnated || s.status == Status::breakdown ||
            (f.ended_by_limit() && s.history.size() > 2 && std::isinf(f.iterations_wanting()))))
    f.add(name + " may not suit A",
          "the diagonal outweighs the rest of its row in " + count(f.A.weakly_dominant_rows) + " of " +
              plural(f.rows.nrows, "row", "rows") + " only; " + s.reason,
          f.other_way());
}

void is_not_symmetric(Facts& f) {
  if (!f.needs_symmetry() || f.A.nearly_symmetric) return;
  f.add("A is not symmetric, and " + f.summary.method + " needs that",
        f.A.pattern_symmetric ? "the largest |a_ij - a_ji| is " + text(f.A.symmetry_error) + " of the largest |a_ij|"
                              : "some a_ij are stored without their a_ji; the largest |a_ij - a_ji| is " +
                                    text(f.A.symmetry_error) + " of the largest |a_ij|",
        f.other_way());
}

void is_indefinite(Facts& f) {
  const bool negative_definite = f.A.nearly_symmetric && f.rows.nrows > 0 && f.A.diagonal_negative == f.rows.nrows;
  if (negative_definite) {
    f.add("A is negative definite, or indefinite: all diagonal entries are negative",
          plural(f.rows.nrows, "diagonal entry, which is", "diagonal entries, all") + " negative",
          f.choice.automatic ? "" : f.other_way(), "solve -A x = -b, which has the same x: cg may be able to solve it");
    return;
  }
  if (f.A.skew && f.A.max_abs > 0) {
    f.add("A is skew-symmetric: x'A x is 0 for every x", "a_ij = -a_ji for all entries, and the diagonal is zero",
          f.other_way());
    return;
  }
  const bool falls = f.summary.history.size() > 2 && std::isfinite(f.iterations_wanting());
  if (f.needs_a_little_longer() || f.summary.method == "direct" || (f.summary.method == "minres" && falls)) return;
  const bool met = f.summary.status == Status::indefinite;
  const std::string slow =
      f.summary.method == "cg" ? "" : "indefinite systems converge slowly; more directions may help gmres";
  if (f.rounded()) return;
  for (const Attempt& before : f.summary.attempts)
    if (!met && before.breakdown == Breakdown::indefinite_matrix) {
      f.add("A is not positive definite", before.method + ": " + before.reason, f.other_way(), slow);
      return;
    }
  const std::int64_t bad = f.A.diagonal_missing + f.A.diagonal_zero + f.A.diagonal_negative;
  if (f.summary.breakdown == Breakdown::indefinite_preconditioner && !(f.A.nearly_symmetric && bad)) {
    f.add("the preconditioner is not positive definite", f.summary.reason, f.other_way());
  } else if (met || (f.A.nearly_symmetric && bad)) {
    std::string evidence = met ? f.summary.reason : "";
    if (f.A.nearly_symmetric && bad)
      evidence +=
          (met ? "; " : "") + plural(bad, "diagonal entry is", "diagonal entries are") +
          " not positive, the first in row " +
          text(1 + (f.A.first_bad_diagonal < 0        ? f.A.first_negative_diagonal
                    : f.A.first_negative_diagonal < 0 ? f.A.first_bad_diagonal
                                                      : std::min(f.A.first_bad_diagonal, f.A.first_negative_diagonal)));
    f.add("A is not positive definite", evidence, f.other_way(), slow);
  }
}

void has_no_diagonal(Facts& f) {
  if (f.full_diagonal() || f.A.skew || f.preconditioned() || f.summary.method == "direct") return;
  f.add("no preconditioner can be used, and the method alone converges slowly",
        plural(f.A.diagonal_missing + f.A.diagonal_zero, "row has", "rows have") +
            " no nonzero diagonal entry, the first is row " + text(f.A.first_bad_diagonal + 1),
        f.other_way(), "a preconditioner that is asked for by name sees the rows in another order (--precond symgs)");
}

void is_at_the_limit_of_precision(Facts& f) {
  const Summary& s = f.summary;
  const double limit = f.limit();
  const bool proved = s.truth_disagrees();
  if (f.overflowed() || (proved ? (f.preconditioned() || f.nothing_gained()) && !s.met_limit_of_precision(f.A.norm_inf)
                                : !(s.relative_residual <= limit) || s.status == Status::interrupted))
    return;
  const double reached = std::max(s.relative_residual, 1e-15);  // below, one solve in two misses what another reached
  const double unit = std::pow(10, std::floor(std::log10(reached)) - 1);
  f.add("the limit of double precision is reached",
        (proved ? "the recurrence says " + text(s.truth_checks.back().recurrence) + ", the true residual stays at "
                : std::string("the true residual is ")) +
            text(s.relative_residual) + "; rounding x alone changes A x by up to " + text(limit) + " of b",
        !f.choice.automatic ? f.other_way()
        : reached < 0.1     ? "--tol " + text(std::ceil(2 * reached / unit) * unit)
                            : "",
        "x is as good as double precision gives it: look at the backward error; scaling the rows and columns of A may "
        "help");
}

void is_badly_scaled(Facts& f) {
  if (spread(f) == 1) return;
  const bool helpless = f.choice.preconditioner != PreconditionerKind::none || !f.full_diagonal();
  f.add("A is badly scaled", "magnitudes of its entries go from " + text(f.A.min_abs) + " to " + text(f.A.max_abs),
        helpless || f.choice.automatic ? "" : f.other_way(),
        helpless ? "scale rows and columns so that the entries are of one size" : "");
}

void needs_more_iterations(Facts& f) {
  const Summary& s = f.summary;
  if (!f.ended_by_limit()) return;
  if (s.method == "direct") {
    if (s.status != Status::interrupted)
      f.add("the limit of time is too short for factors", s.reason, diagnose_detail::more_seconds(f.criteria));
    return;
  }
  if (s.history.size() < 3) {
    if (s.status != Status::interrupted)
      f.add("too few iterations to tell how fast it converges", s.reason,
            s.status == Status::time_limit ? diagnose_detail::more_seconds(f.criteria) : max_iterations(usual_limit));
    return;
  }
  const double more = f.iterations_wanting();
  if (std::isinf(more)) {
    if (s.status != Status::interrupted)
      f.add("no progress",
            "the residual did not fall in the last " + plural(std::int64_t(s.history.size() / 2), "iteration"),
            f.other_way(),
            s.method == "cg" ? "allow more iterations: on an ill-conditioned matrix the residual of cg may stay large "
                               "for long before it falls"
                             : "");
    return;
  }
  const double total = double(s.iterations) + more;
  // Rates tend to fall: no more than a few times as long, and beyond the usual limit only once, and only what the program
  // chose itself.
  const bool hopeless = total > (f.choice.automatic ? 20 : 3) * double(s.iterations);
  const bool in_vain = s.status == Status::iteration_limit && f.criteria.max_iterations >= usual_limit &&
                       !(f.choice.automatic && f.criteria.max_iterations == usual_limit);
  const std::string longer =
      s.status == Status::time_limit
          ? "--time-limit " + text(two_digits(2 * total * s.seconds / double(std::max<std::int64_t>(1, s.iterations))))
          : max_iterations(std::max(usual_limit, two_digits(2 * total)));
  f.add("too few iterations: at this rate about " + plural(two_digits(more), "more is", "more are") + " needed",
        "the residual is " + text(s.history.back()) + ", and falls by a factor of 10 in about " +
            plural(two_digits(1 / decades_per_iteration(s.history)), "iteration"),
        hopeless || in_vain ? f.other_way() : longer,
        !f.symgs_advice().empty()      ? f.symgs_advice()
        : hopeless && s.method != "cg" ? "that is very slow: try another method rather than more iterations"
                                       : "");
}

void is_stuck(Facts& f) {
  const Summary& s = f.summary;
  const bool stuck = s.status == Status::stagnated && s.truth_checks.empty();
  if (stuck && s.method == "direct")
    f.add("A is singular as far as double precision can tell", s.reason, "", "check how A and b were made");
  else if (stuck && s.restart >= f.rows.nrows)
    f.add("A is singular or nearly so, and b is not in its range",
          "gmres keeps all " + text(std::int64_t(s.restart)) + " directions, and yet " + s.reason, f.other_way(),
          "check how A and b were made");
  else if (stuck)
    f.add(s.restart > 0 ? s.method + " restarts too early for this matrix" : s.method + " makes no progress", s.reason,
          f.other_way(), f.symgs_advice());
  if (s.breakdown == Breakdown::zero_rho || s.breakdown == Breakdown::zero_alpha_divisor ||
      s.breakdown == Breakdown::zero_omega)
    f.add(s.method + " breaks down on this matrix", s.reason, f.other_way());
  if (s.breakdown == Breakdown::exhausted)
    f.add(spread(f) > 1 ? "A is badly scaled, or it is singular and b is not in its range"
                        : "A is singular or nearly so, and b is not in its range",
          s.reason, f.choice.automatic ? "" : f.other_way(), "check how A and b were made");
}

}  // namespace

std::vector<Diagnosis> diagnose(const MatrixProperties& properties, const RowStatistics& statistics,
                                const MethodChoice& choice, const Summary& summary, const Criteria& criteria) {
  if (summary.converged()) return {};
  Facts facts{properties, statistics, choice, summary, criteria, {}};
  for (const auto rule : {holds_no_numbers, is_singular, leaves_the_range, is_half_a_matrix, is_not_symmetric,
                          is_nearly_singular, is_indefinite, is_not_preconditioned, is_at_the_limit_of_precision,
                          is_stuck, has_no_diagonal, needs_more_iterations, is_badly_scaled})
    rule(facts);
  if (statistics.empty_rows > 0 || facts.zero_pivot()) {  // no option makes A regular
    for (Diagnosis& one : facts.found)
      if (one.remedy != facts.least_residual()) one.remedy.clear();
    std::erase_if(facts.found, [](const Diagnosis& one) { return one.advice.empty(); });
  }
  return std::move(facts.found);
}

}  // namespace seidel::drivers
