// Likely causes of a failure, each from a number that was measured.
#include <seidel/solvers/diagnose.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include <seidel/formats/properties.hpp>
#include <seidel/formats/quantity.hpp>
#include <seidel/formats/statistics.hpp>

namespace seidel {

namespace {

std::string text(double value) {
  char s[32];
  std::snprintf(s, sizeof s, "%.2g", value);
  return s;
}
std::string text(std::int64_t value) { return std::to_string(value); }

/// n with its two leading digits, rounded up.
std::int64_t two_digits(double n) {
  const double unit = std::pow(10, std::max(0.0, std::floor(std::log10(std::max(n, 1.0))) - 1));
  return std::int64_t(std::ceil(n / unit) * unit);
}

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
  bool full_diagonal() const { return A.diagonal_missing + A.diagonal_zero == 0; }
  double tolerance() const {
    return summary.norm_b > 0 ? std::max(criteria.relative_tolerance, criteria.absolute_tolerance / summary.norm_b)
                              : criteria.absolute_tolerance;
  }
  /// To a method that was not tried, or to gmres with more directions: all, where 8 n^2 bytes are at most 200 MB.
  std::string other_method() const {
    const auto tried = [&](std::string_view name) {
      if (summary.method == name) return true;
      for (const Attempt& attempt : summary.attempts)
        if (attempt.method == name) return true;
      return false;
    };
    if (!tried("gmres")) return "--method gmres";
    const std::int64_t restart = std::max(summary.restart, choice.restart);
    const std::int64_t more = rows.nrows <= 5000 ? rows.nrows : std::min<std::int64_t>(4 * restart, 10000);
    if (restart < more) return "--method gmres --set restart=" + std::to_string(more);
    return tried("bicgstab") ? "" : "--method bicgstab";
  }
  bool ended_by_limit() const {
    return summary.status == Status::iteration_limit || summary.status == Status::time_limit ||
           summary.status == Status::interrupted;
  }
  std::string symgs_advice() const {
    return choice.preconditioner != PreconditionerKind::symgs && full_diagonal()
               ? "symgs as preconditioner needs fewer iterations (--precond symgs)"
               : "";
  }
  /// Iterations to the tolerance, at the measured rate; infinity where the residual does not fall.
  double iterations_wanting() const;
  bool says(const char* words) const { return summary.reason.find(words) != std::string::npos; }
};

/// Decades that log10(residual) falls an iteration: least squares over the last half, at least 10 entries.
double decades_an_iteration(const std::vector<double>& history) {
  const std::size_t n = history.size(), first = std::min(n / 2, n > 10 ? n - 10 : 0);
  double count = 0, k_mean = 0, y_mean = 0, covariance = 0, variance = 0;
  const auto each = [&](const auto& what) {
    for (std::size_t k = first; k < n; ++k)
      if (history[k] > 0) what(double(k), std::log10(history[k]));
  };
  each([&](double k, double y) { ++count, k_mean += k, y_mean += y; });
  k_mean /= count, y_mean /= count;
  each([&](double k, double y) {
    covariance += (k - k_mean) * (y - y_mean);
    variance += (k - k_mean) * (k - k_mean);
  });
  return variance > 0 ? -covariance / variance : 0;
}

double Facts::iterations_wanting() const {
  const double rate = decades_an_iteration(summary.history), now = summary.history.back(), wanted = tolerance();
  const double more = wanted > 0 && now > wanted ? std::log10(now / wanted) / rate : 0;
  return rate > 0 && more < 1e9 ? more : std::numeric_limits<double>::infinity();
}

void holds_no_numbers(Facts& f) {
  if (f.A.nonfinite)
    f.add("A holds NaN or infinity",
          plural(f.A.nonfinite, "entry is", "entries are") + " not finite, the first in row " +
              text(f.A.first_nonfinite_row + 1) + ", column " + text(f.A.first_nonfinite_col + 1),
          "", "correct these entries");
}

void is_half_a_matrix(Facts& f) {
  if (f.A.one_triangle_only)
    f.add("only one triangle of a symmetric matrix is there",
          plural(f.A.below + f.A.above, "entry beside the diagonal, which is ", "entries beside the diagonal, all ") +
              (f.A.below ? "below" : "above") + " it",
          "", "if the matrix is meant to be symmetric, write `symmetric` for `general` in the first line of the file");
}

void is_singular(Facts& f) {
  if (f.rows.empty_rows)
    f.add("A is singular", plural(f.rows.empty_rows, "row has", "rows have") + " no entries", "",
          "remove the unknowns of empty rows, or give them a diagonal entry");
  if (f.rows.nrows > 0 && f.A.zero_row_sums == f.rows.nrows)
    f.add("A is singular with the constants in its null space",
          "the sum of each row vanishes (of " + text(f.rows.nrows) + "), so A times ones is 0", "",
          "x is determined up to a constant, and only for b that suits A: fix one unknown (leave out its row and "
          "column)");
}

void is_not_symmetric(Facts& f) {
  if (f.summary.method != "cg" || f.A.symmetric) return;
  f.add("A is not symmetric, and cg needs that",
        f.A.pattern_symmetric ? "the largest |a_ij - a_ji| is " + text(f.A.symmetry_error) + " of the largest |a_ij|"
                              : "some a_ij are stored without their a_ji; the largest |a_ij - a_ji| is " +
                                    text(f.A.symmetry_error) + " of the largest |a_ij|",
        "--method bicgstab");
}

void is_indefinite(Facts& f) {
  const bool negative_definite = f.A.symmetric && f.rows.nrows > 0 && f.A.diagonal_negative == f.rows.nrows;
  if (negative_definite) {
    f.add("A is negative definite, or indefinite: its sign is turned",
          plural(f.rows.nrows, "diagonal entry, which is", "diagonal entries, all") + " negative",
          f.summary.method == "cg" ? "--method bicgstab" : "", "solve -A x = -b, which has the same x: cg may take -A");
    return;
  }
  if (f.A.skew) {
    f.add("A is skew-symmetric: x'A x is 0 for every x", "a_ij = -a_ji for all entries, and the diagonal is zero",
          f.other_method());
    return;
  }
  if (f.ended_by_limit() && f.summary.history.size() > 2 && f.iterations_wanting() <= double(f.summary.iterations))
    return;  // it only needs a little longer
  const bool met = f.summary.status == Status::indefinite;
  for (const Attempt& before : f.summary.attempts)
    if (!met && before.status == Status::indefinite && !before.reason.starts_with("r'M")) {
      f.add("A is not positive definite", before.method + ": " + before.reason, f.other_method(),
            "indefinite systems converge slowly; more directions may help gmres");
      return;
    }
  const std::int64_t bad = f.A.diagonal_missing + f.A.diagonal_zero + f.A.diagonal_negative;
  if (met && f.says("M^-1")) {
    f.add("the preconditioner is not positive definite", f.summary.reason,
          f.choice.preconditioner == PreconditionerKind::none ? "--method gmres" : "--precond none");
  } else if (met || (f.A.symmetric && bad)) {
    std::string evidence = met ? f.summary.reason : "";
    if (f.A.symmetric && bad)
      evidence +=
          (met ? "; " : "") + plural(bad, "diagonal entry is", "diagonal entries are") +
          " not positive, the first in row " +
          text(1 + (f.A.first_bad_diagonal < 0        ? f.A.first_negative_diagonal
                    : f.A.first_negative_diagonal < 0 ? f.A.first_bad_diagonal
                                                      : std::min(f.A.first_bad_diagonal, f.A.first_negative_diagonal)));
    f.add("A is not positive definite", evidence, f.summary.method == "cg" ? "--method gmres" : f.other_method(),
          f.summary.method == "cg" ? "" : "indefinite systems converge slowly; more directions may help gmres");
  }
}

void has_no_diagonal(Facts& f) {
  if (f.full_diagonal() || f.A.skew) return;
  f.add("no preconditioner can be used, and the method alone converges slowly",
        plural(f.A.diagonal_missing + f.A.diagonal_zero, "row has", "rows have") +
            " no nonzero diagonal entry, the first is row " + text(f.A.first_bad_diagonal + 1),
        f.other_method(), "reorder the rows so that large entries stand on the diagonal");
}

void is_at_the_limit_of_precision(Facts& f) {
  const Summary& s = f.summary;
  const double limit = s.norm_b > 0 ? std::numeric_limits<double>::epsilon() * f.A.norm_inf * s.norm_x / s.norm_b : 0;
  const bool proved = s.status == Status::stagnated && !s.truth_checks.empty();
  if (!proved && !(s.relative_residual <= limit && s.status != Status::interrupted)) return;
  const double reached = std::max(s.relative_residual, std::numeric_limits<double>::min());
  const double unit = std::pow(10, std::floor(std::log10(reached)) - 1);
  f.add("the limit of double precision is reached",
        (proved ? "the recurrence says " + text(s.truth_checks.back().recurrence) + ", the true residual stays at "
                : std::string("the true residual is ")) +
            text(s.relative_residual) + "; rounding x alone changes A x by up to " + text(limit) + " of b",
        "--tol " + text(std::ceil(1.05 * reached / unit) * unit),
        "x is as good as double precision gives it: look at the backward error; scaling the rows and columns of A may "
        "help");
}

void is_badly_scaled(Facts& f) {
  const double ratio = f.A.min_abs > 0 ? f.A.max_abs / f.A.min_abs : 1;
  if (ratio < 1e8) return;
  const bool helpless = f.choice.preconditioner != PreconditionerKind::none || !f.full_diagonal();
  f.add("A is badly scaled", "magnitudes of its entries go from " + text(f.A.min_abs) + " to " + text(f.A.max_abs),
        helpless ? "" : "--precond symgs",
        helpless ? "scale rows and columns so that the entries are of one size" : "");
}

void needs_more_iterations(Facts& f) {
  const Summary& s = f.summary;
  if (!f.ended_by_limit()) return;
  if (s.history.size() < 3) {
    if (s.status != Status::interrupted)
      f.add("too few iterations to tell how it gets on", s.reason,
            s.status == Status::time_limit ? "--time-limit 60" : "--max-iterations 1000");
    return;
  }
  const double more = f.iterations_wanting();
  if (std::isinf(more)) {
    if (s.status != Status::interrupted)
      f.add("the method does not get on",
            "the residual did not fall in the last " + plural(std::int64_t(s.history.size() / 2), "iteration"),
            s.method == "cg" ? "" : f.other_method(),
            s.method == "cg"
                ? "give it more iterations: where the condition is bad cg may wander long before it converges"
                : "");
    return;
  }
  const double total = double(s.iterations) + more;
  const bool hopeless = total > 20 * double(s.iterations);
  const std::string longer =
      s.status == Status::time_limit
          ? "--time-limit " +
                text(two_digits(1.2 * total * s.seconds / double(std::max<std::int64_t>(1, s.iterations))))
          : "--max-iterations " + text(two_digits(1.1 * total));
  f.add("iterations too few: at this rate about " + text(two_digits(more)) + " more are needed",
        "the residual is " + text(s.history.back()) + ", and falls tenfold in about " +
            plural(two_digits(1 / decades_an_iteration(s.history)), "iteration"),
        !hopeless          ? longer
        : s.method == "cg" ? ""
                           : f.other_method(),
        !f.symgs_advice().empty() ? f.symgs_advice()
        : hopeless                ? "that is very slow: another method is better than more of the same"
                                  : "");
}

void is_stuck(Facts& f) {
  const Summary& s = f.summary;
  if (s.status == Status::stagnated && s.truth_checks.empty())
    f.add("gmres restarts too early for this matrix", s.reason, f.other_method(), f.symgs_advice());
  if (s.status == Status::breakdown && s.method == "bicgstab")
    f.add("bicgstab breaks down on this matrix", s.reason, f.other_method());
  if (s.status == Status::breakdown && s.method == "gmres" && f.says("exhausted"))
    f.add("A is singular, and b is not in its range", s.reason, "", "check how A and b were made");
  if (s.status == Status::breakdown && (f.says("NaN") || f.says("finite")) && !f.A.nonfinite && f.A.max_abs > 0)
    f.add("numbers leave the range of double precision", s.reason,
          f.choice.preconditioner == PreconditionerKind::symgs ? "--precond jacobi" : "", "scale A and b");
  if (s.status == Status::breakdown && f.says("underflow"))
    f.add("b is so small that its square underflows", "||b|| = " + text(s.norm_b), "",
          "scale b up, and x down in the end");
}

}  // namespace

std::vector<Diagnosis> diagnose(const MatrixProperties& properties, const RowStatistics& statistics,
                                const MethodChoice& choice, const Summary& summary, const Criteria& criteria) {
  if (summary.converged()) return {};
  Facts facts{properties, statistics, choice, summary, criteria, {}};
  for (const auto rule :
       {holds_no_numbers, is_half_a_matrix, is_singular, is_not_symmetric, is_indefinite, is_at_the_limit_of_precision,
        is_stuck, has_no_diagonal, needs_more_iterations, is_badly_scaled})
    rule(facts);
  return std::move(facts.found);
}

}  // namespace seidel
