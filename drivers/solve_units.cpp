// The units of A and b: powers of two that bring them to size 1 and back.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include <seidel/drivers/solve_decide.hpp>
#include <seidel/drivers/solve_problem.hpp>
#include <seidel/formats/runtime/shares.hpp>
#include <seidel/kernels/vector.hpp>

namespace seidel::drivers {

namespace {

/// Up to here squares, less 16 digits of each factor, are in the range of double.
constexpr int usual_exponent = 256;
constexpr double eps = std::numeric_limits<double>::epsilon();

bool is_usual(int exponent) { return std::abs(exponent) <= usual_exponent; }
bool is_usual(double size) { return !(size > 0 && std::isfinite(size)) || is_usual(std::ilogb(size)); }

/// The largest one in which the least size, which is not 0, does not underflow.
int max_unit_of(double least) {
  return std::isfinite(least) ? std::ilogb(least) - (std::numeric_limits<double>::min_exponent - 1)
                              : std::numeric_limits<int>::max();
}
/// Of the largest size, but such that the least does not underflow.
int unit_of(double least, double most) { return is_usual(most) ? 0 : std::min(std::ilogb(most), max_unit_of(least)); }

void multiply(const OpenMP& host, HostSpan<double> v, int exponent) {
  if (exponent == 0) return;
  for_each_index(host, v.size(), 1, [&](std::int64_t i) { v[i] = std::ldexp(v[i], exponent); });
}

void negate(const OpenMP& host, HostSpan<double> v) {
  for_each_index(host, v.size(), 1, [&](std::int64_t i) { v[i] = -v[i]; });
}

double largest(const OpenMP& host, HostSpan<const double> v) { return max_abs<OpenMP, double>(host, v); }
/// The least size other than 0.
double least(HostSpan<const double> v) {
  double least = std::numeric_limits<double>::infinity();
  for (const double value : v)
    if (value != 0) least = std::min(least, std::abs(value));
  return least;
}

}  // namespace

bool change_units_of_A(Problem& problem) {
  const auto& [A, rows] = problem.seen;
  auto& [of_A, negated, of_b] = problem.units;
  const auto values = problem.matrix.matrix.values.span();
  of_A = unit_of(A.min_abs, A.max_abs);
  multiply(problem.host, values, -of_A);
  negated = is_negated(A, rows) && !problem.least_squares();
  if (negated) negate(problem.host, values);
  return of_A != 0 || negated;
}

void change_units_of_b(Problem& problem) {
  auto& [of_A, negated, of_b] = problem.units;
  const SolveOptions& options = problem.options;
  const OpenMP& host = problem.host;
  of_b.assign(problem.b.size(), options.rhs.empty() ? of_A : 0);
  if (options.rhs.empty()) return;  // it was made of the A that is solved with
  std::vector<double> most;
  for (Array<double>& b : problem.b) {
    if (negated) negate(host, b.span());
    most.push_back(largest(host, b));
  }
  // A x0 must not be huge in those units, but it may be more than double precision holds beside b.
  const double largest_x0 = largest(host, problem.x0), largest_A = problem.seen.properties.max_abs;
  const int of_start = largest_x0 > 0 && largest_A > 0 ? of_A + std::ilogb(largest_A) + std::ilogb(largest_x0)
                                                       : std::numeric_limits<int>::min();
  if (of_start > usual_exponent || !std::ranges::all_of(most, [](double size) { return is_usual(size); })) {
    const bool may_differ = largest_x0 == 0 && options.absolute_tolerance == 0;  // which are one for all columns
    std::vector<double> smallest;
    double least_of_all = std::numeric_limits<double>::infinity(), largest_of_all = 0;
    for (std::size_t j = 0; j < problem.b.size(); ++j) {
      smallest.push_back(least(problem.b[j]));
      least_of_all = std::min(least_of_all, smallest[j]), largest_of_all = std::max(largest_of_all, most[j]);
    }
    for (std::size_t j = 0; j < problem.b.size(); ++j) {
      int unit = may_differ ? unit_of(smallest[j], most[j]) : unit_of(least_of_all, largest_of_all);
      if (largest_x0 > 0) unit = std::min(std::max(unit, of_start), max_unit_of(least_of_all));
      of_b[j] = is_usual(unit) ? 0 : unit;
      multiply(host, problem.b[j].span(), -of_b[j]);
    }
  }
  multiply(host, problem.x0.span(), of_A - of_b.front());
}

void restore_units(const Problem& problem, std::size_t column, HostSpan<const double> b, Outcome& outcome) {
  const int of_b = problem.units.of_b[column], of_x = of_b - problem.units.of_A;
  const OpenMP& host = problem.host;
  Summary& summary = outcome.summary;
  if (of_x != 0) {
    Vector<double, OpenMP> lost(host, copied_to<Host>(host, outcome.x.span()));
    const double largest = max_abs(lost);
    multiply(host, outcome.x.span(), of_x);
    Vector<double, OpenMP> back(host, copied_to<Host>(host, outcome.x.span()));
    multiply(host, back.span(), -of_x);
    axpy(-1, back, lost);
    const double change = max_abs(lost);  // NaN or infinity where x is beyond the range
    if (!(change <= eps * largest) && std::isfinite(largest)) {
      outcome.certificate = certify(host, problem.wide(), back, Vector<double, OpenMP>(host, copied_to<Host>(host, b)),
                                    problem.seen.properties.norm_inf);
      summary.relative_residual = outcome.certificate.relative_residual;
      const bool was_solved = outcome.solved;
      note_solved(criteria_of(problem), outcome);
      outcome.error = std::max(outcome.error, change / largest);
      if (!std::isfinite(change)) outcome.error_source = ErrorSource::none;
      if (was_solved && !outcome.solved) {
        summary.breakdown = Breakdown::not_finite;
        summary.end(Status::breakdown, "x is beyond the range of double precision");
      }
    }
  }
  summary.norm_b = std::ldexp(summary.norm_b, of_b);
  summary.norm_x = std::ldexp(summary.norm_x, of_x);
}

void tell_in_own_units(Problem& problem) {
  MatrixProperties& A = problem.seen.properties;
  for (double* const size : {&A.max_abs, &A.min_abs, &A.norm_inf, &A.norm_frobenius})
    *size = std::ldexp(*size, problem.units.of_A);
  std::ranges::fill(problem.units.of_b, 0);
}

}  // namespace seidel::drivers
