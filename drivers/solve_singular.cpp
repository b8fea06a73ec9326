// Singular systems: the null space of A as far as it is known, and what that means for b, x and the verdict.
#include <algorithm>
#include <cmath>
#include <limits>

#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/solve_one.hpp>
#include <seidel/drivers/solve_report.hpp>
#include <seidel/drivers/vector_source.hpp>
#include <seidel/formats/properties/seen.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/vector.hpp>

namespace seidel::drivers {

namespace {

/// A null space holds to rounding, but its file may have been written with few digits.
constexpr double max_defect = 1e-8, max_defect_of_left = 1e-12;

NullSpace null_space_in_file(const Problem& problem) {
  const Index n = problem.matrix.matrix.nrows;
  std::vector<double> columns;
  for (const auto& z :
       load_vectors("--null-space", problem.options.null_space, n, problem.matrix.name, problem.options))
    columns.insert(columns.end(), z.begin(), z.end());
  return NullSpace::spanned_by(std::move(columns), n);
}

NullSpace asked_for(const Problem& problem) {
  const std::string& asked = problem.options.null_space;
  if (lower_case(asked) == "constant") {
    NullSpace space = NullSpace::constants(problem.wide());
    if (space.dimension() == 0)
      throw InputError(
          formatted("--null-space constant: found rows of {} that do not sum to zero in each of its parts, "
                    "expected A * ones = 0\n  leave --null-space out, or give its vectors in a file",
                    problem.matrix.name));
    return space;
  }
  NullSpace space = null_space_in_file(problem);
  const double defect = space.defect(problem.wide(), problem.seen.properties.norm_inf, NullSpace::Side::right);
  if (space.dimension() == 0 || !(defect <= max_defect))
    throw InputError(formatted("--null-space {}: found {}, expected vectors z with A z = 0", asked,
                               space.dimension() == 0
                                   ? std::string("no vector other than zero")
                                   : formatted("A z of size {} relative to A and z", brief(defect))));
  return space;
}

/// What b has in rows without entries, if no x comes near enough to b because of that.
void note_empty_rows(const Problem& problem, const Array<double>& b, Singular& singular) {
  const auto A = problem.wide();
  double part = 0, norm_b = 0;
  Index first = -1;
  for (Index i = 0; i < A.nrows; ++i) {
    norm_b = std::hypot(norm_b, b[i]);
    if (A.row_ptr[i + 1] > A.row_ptr[i] || b[i] == 0) continue;
    part = std::hypot(part, b[i]);
    if (first < 0) first = i;
  }
  if (part <= std::max(problem.options.tolerance * norm_b, criteria_of(problem).absolute_tolerance)) return;
  singular.empty_row = first;
  singular.part_in_empty_rows = part / norm_b;
}

}  // namespace

NullSpace find_null_space(const Problem& problem) {
  if (problem.least_squares()) return {};  // x is of least norm anyway
  if (!problem.options.null_space.empty()) return asked_for(problem);
  // In a part of a large matrix they are not looked for: that would take as long as many a solve. Nor in one that cg is not for,
  // where factors come first.
  constexpr std::int64_t quickly_searched = 1 << 22;  // entries
  const auto& [properties, rows] = problem.seen;
  const bool for_cg = properties.nearly_symmetric && properties.diagonal_positive == rows.nrows;
  if (problem.seen.ones_vanish() || rows.empty_rows > 0 ||
      (for_cg && properties.zero_row_sums > 0 && rows.nnz <= quickly_searched))
    return NullSpace::constants(problem.wide());
  return {};
}

Singular look_at_rhs(const Problem& problem, Array<double>& b) {
  const SolveOptions& options = problem.options;
  const auto& [properties, rows] = problem.seen;
  Singular singular{.space = problem.null_space, .asked = !options.null_space.empty()};
  if (options.rhs.empty() || problem.least_squares()) return singular;
  const bool of_transpose = singular.known() && (properties.nearly_symmetric ||
                                                 singular.space.defect(problem.wide(), properties.norm_inf,
                                                                       NullSpace::Side::left) <= max_defect_of_left);
  if (!of_transpose) {
    if (rows.empty_rows > 0) note_empty_rows(problem, b, singular);
    return singular;
  }
  Array<double> rest = copied_to<Host>(OpenMP{1}, std::as_const(b).span());
  const double norm_b = norm2(Vector<double, OpenMP>(OpenMP{1}, b.span()));
  if (!std::isfinite(norm_b)) return singular;  // the solver refuses such a b
  const double part = singular.space.project(rest.span());
  if (norm_b > 0) singular.part_of_b = part / norm_b;
  if (norm2(Vector<double, OpenMP>(OpenMP{1}, rest.span())) <= properties_detail::sums_to_zero * norm_b)
    std::fill(rest.begin(), rest.end(), 0.0);  // rounding is no right-hand side
  const bool matters = singular.part_of_b > options.tolerance && part > criteria_of(problem).absolute_tolerance;
  if (!singular.asked && !matters) return singular;
  if (!singular.asked) singular.given_b = std::move(b);
  b = std::move(rest);
  return singular;
}

void finish_singular(const Problem& problem, const Singular& singular, HostSpan<const double> b, Outcome& outcome) {
  const OpenMP& host = problem.host;
  const auto largest = [&](const auto& v) { return max_abs<OpenMP, double>(host, v.span()); };
  if (!std::isfinite(largest(outcome.x))) return;
  (void)singular.space.project(outcome.x.span());
  using V = Vector<double, OpenMP>;
  const V x(host, outcome.x.span());
  const V right(host, copied_to<Host>(host, singular.inconsistent() ? std::as_const(singular.given_b).span() : b));
  outcome.certificate = certify(host, problem.wide(), x, right, problem.seen.properties.norm_inf);
  outcome.summary.relative_residual = outcome.certificate.relative_residual;
  outcome.summary.norm_b = norm2(right);  // of all of b
  outcome.solved = outcome.certificate.relative_residual <= criteria_of(problem).target(outcome.summary.norm_b);
  if (singular.inconsistent() && outcome.summary.converged()) {
    outcome.summary.end(Status::stagnated, "the part of b that some x gives is solved for");
    outcome.error_source = ErrorSource::none;
  }
  if (!outcome.known_x) return;
  Array<double> known = known_solution(problem);
  (void)singular.space.project(known.span());
  const double size = largest(known);
  for (std::int64_t i = 0; i < known.size(); ++i) known[i] -= outcome.x[i];
  outcome.note_error(ErrorSource::exact, largest(known) / (size > 0 ? size : 1));
  outcome.error_against_ones = -1;
}

void note_singular(Outcome& outcome) {
  outcome.error_against_ones = -1;  // ones are not the smallest solution
  outcome.note_error(ErrorSource::singular, std::numeric_limits<double>::infinity());
}

Outcome solve_singular(Problem& problem, const Array<double>& b, Decided& decided, const Criteria& criteria,
                       Outcome before) {
  Decided last{.where = decided.where, .needs = decided.needs, .available = decided.available};
  last.needs.choice = {.method = Method::lsmr,
                       .reason = formatted("lsmr, because A is singular, and {} failed", before.summary.method),
                       .automatic = true};
  last.needs.counted_bytes.reset();
  last.needs.arranged = false;
  last.memory = plan_solve(last.needs, last.available);
  const bool in_vain = decided.needs.choice.method == Method::lsmr;
  if (in_vain || last.memory.needed() > last.available || !(criteria.seconds > 0)) return before;
  Outcome outcome = std::move(iterate(problem, {&b, 1}, last, criteria).front());
  auto& attempts = before.summary.attempts;
  attempts.insert(attempts.end(), outcome.summary.attempts.begin(), outcome.summary.attempts.end());
  constexpr double rounding = 1e-10;  // by which two least residuals may differ
  if (!(outcome.certificate.relative_residual <= (1 + rounding) * before.certificate.relative_residual)) {
    std::rotate(attempts.rbegin(), attempts.rbegin() + 1, attempts.rbegin() + 2);  // the last one gave x
    return before;
  }
  outcome.summary.attempts = std::move(attempts);
  decided = std::move(last);
  note_singular(outcome);
  return outcome;
}

std::string singular_text(const Singular& singular, bool solved) {
  if (!singular.known()) return "";
  const std::int64_t vectors = singular.space.dimension();
  const auto [what, of_x] =
      !singular.space.is_constants()
          ? std::pair{formatted("{} of its null space as given", plural(vectors, "vector")), "is orthogonal to that"}
      : singular.space.is_one_constant()
          ? std::pair{std::string("A times a constant is zero within rounding"), "has mean zero"}
      : vectors == 1 ? std::pair{std::string("A times a constant on one part of its rows is zero within rounding"),
                                 "has mean zero there"}
                     : std::pair{formatted("A times a constant on any of {} separate parts is zero within rounding",
                                           count(vectors)),
                                 "has mean zero on each of them"};
  std::string text = "singular: " + what;
  if (solved) text += formatted("; x {}", of_x);
  if (singular.asked && singular.part_of_b > 0)
    text += formatted("; b is solved for without its part in the null space, {} of it", brief(singular.part_of_b));
  return text;
}

std::optional<Diagnosis> inconsistency(const SolveStory& story) {
  const Singular& singular = story.singular;
  const std::string limits = longer_limits(story.outcome.summary, criteria_of(story.problem));
  if (singular.empty_row >= 0)
    return Diagnosis{
        .cause = "A is singular, and b is not in its range",
        .evidence = formatted("row {} has no entries, and b is not zero there; no x has a residual below {}",
                              singular.empty_row + 1, brief(singular.part_in_empty_rows)),
        .remedy = "--least-squares" + limits,
        .advice = "the command finds the x with the least residual"};
  const double rounding = 1e-12;
  if (!singular.inconsistent() ||  // or that is not all that is left
      !(story.outcome.certificate.relative_residual <=
        (1 + rounding) * std::hypot(singular.part_of_b, tolerance_of(story))))
    return {};
  return Diagnosis{.cause = "A is singular, and b is not in its range",
                   .evidence = formatted("{} of b lies in the null space of A', so no x has a smaller residual",
                                         brief(singular.part_of_b)),
                   .remedy = "--null-space constant" + limits,
                   .advice = "x has the least residual; the command solves for b without that part"};
}

}  // namespace seidel::drivers
