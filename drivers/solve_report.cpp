// What `seidel solve` has to say, as text.
#include <cmath>

#include <seidel/drivers/direct.hpp>
#include <seidel/drivers/levels.hpp>
#include <seidel/drivers/report/command_line.hpp>
#include <seidel/drivers/solve_report.hpp>
#include <seidel/drivers/solve_team.hpp>
#include <seidel/formats/runtime/simd.hpp>

namespace seidel::drivers {

namespace {

std::string kind_of_matrix(const Problem& problem) {
  const MatrixProperties& p = problem.seen.properties;
  if (!p.square) return "rectangular";
  std::string text = p.symmetric           ? "symmetric"
                     : p.nearly_symmetric  ? "symmetric but for rounding"
                     : p.skew              ? "skew-symmetric"
                     : p.pattern_symmetric ? "not symmetric (its pattern is)"
                                           : "not symmetric";
  const std::int64_t bad = p.diagonal_missing + p.diagonal_zero;
  if (bad > 0)
    text += formatted(", {} zero on the diagonal", plural(bad, "row is", "rows are"));
  else if (p.diagonal_negative == 0)
    text += problem.units.negated ? ", diagonal negative" : ", diagonal positive";
  else if (p.diagonal_positive == 0)
    text += ", diagonal negative";
  else
    text += ", diagonal entries of both signs";
  return text;
}

std::string processor_text() {
  std::string text =
      formatted("{}, {} allowed, {}", processor_name(), plural(available_threads(), "thread"), instruction_set_name());
  if (best_instruction_set() == InstructionSet::baseline) text += " (without AVX2 every product is slow)";
  return text;
}

std::string place_text(const Placement& where) {
  const std::string each = where.backend == BackendName::cuda     ? where.device
                           : where.backend == BackendName::openmp ? plural(where.threads, "thread")
                                                                  : "one core";
  return where.team ? formatted("{} processes with {} each", where.team->size(), each) : each;
}

}  // namespace

std::string method_text(const SolveStory& story) {
  const MethodChoice& choice = story.decided.needs.choice;
  const std::string form = choice.form == Form::eisenstat  ? ", in Eisenstat's form: one read of A per iteration"
                           : choice.form == Form::flexible ? ", in its flexible form"
                                                           : "";
  if (choice.method == Method::gmres)
    return (choice.restart >= story.problem.seen.rows.nrows
                ? "gmres, never restarted"
                : formatted("gmres, restarted after {}", plural(choice.restart, "iteration"))) +
           form;
  if (choice.method == direct_method) return formatted("direct: {}", story.outcome.preconditioner);
  return std::string(to_string(choice.method)) + form;
}

std::string backend_text(const Placement& where) {
  std::string text(to_string(where.backend));
  if (where.backend == BackendName::cuda) text += " on " + where.device;
  if (where.backend == BackendName::openmp) text += ", " + plural(where.threads, "thread");
  if (where.team) text += formatted(", {} processes of mpirun", where.team->size());
  return text + " (" + where.because + ")";
}

std::string_view step_of(std::string_view method) { return method == direct_method.name ? "solve" : "iteration"; }

std::string attempt_text(const Attempt& attempt) {
  const bool has_none = !attempt.preconditioned && attempt.method != direct_method.name;
  return formatted("{}{}, residual {}: {}", plural(attempt.iterations, step_of(attempt.method)),
                   has_none ? " without preconditioner" : "",
                   std::isfinite(attempt.relative_residual) ? brief(attempt.relative_residual) : "not finite",
                   attempt.reason);
}

double believed(const Summary& summary) {
  const auto at = std::size_t(summary.returned_iteration);
  return at < summary.history.size() ? summary.history[at] : -1;
}

double tolerance_of(const SolveStory& story) { return criteria_of(story.problem).target(story.outcome.summary.norm_b); }

std::string effort_text(const Summary& summary) {
  return plural(summary.iterations, step_of(summary.method)) +
         (summary.method == direct_method.name ? " with factors of A" : " of " + summary.method);
}

std::string reached_text(const SolveStory& story) {
  const std::string target = story.outcome.least_squares ? "" : formatted(" (target {})", brief(tolerance_of(story)));
  return formatted("||b - Ax|| / ||b|| = {}{} after {}{}", residual_text(story), target,
                   effort_text(story.outcome.summary), story.outcome.refined ? " and corrections by factors" : "");
}

namespace {

/// What the solver said of the residual, where that is something else.
std::string estimate_of_solver(const SolveStory& story) {
  if (story.problem.least_squares()) return "";  // it knows both criteria as one number
  const double said = believed(story.outcome.summary);
  const bool same = brief(said) == brief(story.outcome.certificate.relative_residual);
  return said < 0 || same || story.outcome.summary.error ? ""
                                                         : formatted(" (the solver's own estimate: {})", brief(said));
}

/// The verdict, and what to do next.
void add_verdict(Lines& lines, const SolveStory& story, const Paint& paint) {
  const SolveOptions& options = story.problem.options;
  const Outcome& outcome = story.outcome;
  const Summary& summary = outcome.summary;
  const SolveVerdict verdict = verdict_of(story);
  if (verdict == SolveVerdict::doubtful) {
    lines.raw(paint.red(formatted("solved to the {} asked for:", criterion_text(outcome))) + " " + reached_text(story));
    lines.item("  but", doubt_text(outcome));
    const MoreDigits more = more_digits(story);
    if (more.options.empty())
      lines.item("", more.cost);
    else
      lines.raw("  try:           " + command_with(options.command_line, more.options) +
                (more.cost.empty() ? "" : "   # " + more.cost));
    return;
  }
  if (verdict == SolveVerdict::solved) {
    lines.raw(paint.green("solved:") + " " + reached_text(story));
    if (story.out.empty())
      lines.raw("next:   " + command_with(options.command_line, "--out x.mtx") +
                (options.rhs.empty() ? "   # your own right-hand side: --rhs b.mtx" : ""));
    return;
  }
  if (summary.status == Status::interrupted) {
    lines.raw(paint.red("NOT solved:") + " interrupted after " + effort_text(summary));
    // Factors have no x to go on from, and --x0 is one x for all right-hand sides.
    if (summary.method == direct_method.name || story.columns.size() > 1) return;
    lines.raw(story.out.empty() || story.out == "-"
                  ? "next:   " + command_with(options.command_line, "--out x.mtx") + "   # save x to resume later"
                  : "next:   " + command_with(options.command_line, "--x0 " + quoted(story.out)) +
                        "   # resumes from the saved x");
    return;
  }
  const auto& diagnosis = story.diagnosis;
  lines.raw(paint.red("NOT solved:") + " " + (diagnosis.empty() ? summary.reason : diagnosis.front().cause));
  lines.item("  ended", summary.reason);
  bool first = true;
  for (const auto& one : diagnosis) {
    if (!first) lines.item("  or perhaps", one.cause);
    if (!one.evidence.empty() && one.evidence != summary.reason) lines.item("  evidence", one.evidence);
    if (!one.advice.empty()) lines.item("  advice", one.advice);
    if (!one.remedy.empty()) lines.raw("  try:           " + command_with(options.command_line, one.remedy));
    first = false;
    if (!options.verbose) break;
  }
  if (diagnosis.size() > 1 && !options.verbose)
    lines.item("", formatted("{} with --verbose", plural(std::int64_t(diagnosis.size()) - 1, "other possible cause")));
}

/// The numbers behind the verdict.
void add_evidence(Lines& lines, const SolveStory& story) {
  const SolveOptions& options = story.problem.options;
  const Outcome& outcome = story.outcome;
  const Summary& summary = outcome.summary;
  if (!outcome.solved || options.verbose)  // else the verdict has said it
    lines.item("residual", formatted("{} = ||b - Ax|| / ||b||, verified in twice the precision; target {}{}",
                                     brief(outcome.certificate.relative_residual), brief(tolerance_of(story)),
                                     outcome.least_squares ? ", which no x reaches" : estimate_of_solver(story)));
  if (orthogonality_matters(outcome)) lines.item("orthogonality", orthogonality_text(story));
  if (!outcome.least_squares)
    lines.item("backward error", formatted("{}: x is exact for a system changed by this fraction",
                                           brief(outcome.certificate.backward_error)));
  if (const std::string error = error_text(story); !error.empty()) lines.item("error", error);
  if (summary.attempts.size() > 1)
    for (const auto& attempt : summary.attempts) lines.item(attempt.method, attempt_text(attempt));
  if (options.verbose)
    lines.item(formatted("{}s", step_of(summary.method)),
               summary.iterations > 0 && summary.seconds > 0
                   ? formatted("{} ({} each)", count(summary.iterations),
                               human_seconds(summary.seconds / double(summary.iterations)))
                   : count(summary.iterations));
  for (const auto& [name, text] : column_facts(story)) lines.item(name, text);
  if (!story.out.empty()) lines.item("written", story.out == "-" ? "x to standard output" : "x to " + story.out);
  if (!options.history.empty() && options.history != "-") lines.item("", "history to " + options.history);
}

bool by_factors(const SolveStory& story) { return story.decided.needs.choice.method == direct_method; }

/// What was solved.
void add_system(Lines& lines, const SolveStory& story) {
  const std::string& x0 = story.problem.options.x0;
  const RowStatistics& rows = story.problem.seen.rows;
  lines.item("matrix", formatted("{} x {}, {} ({:.1f} per row), {}", count(rows.nrows), count(rows.ncols),
                                 plural(rows.nnz, "nonzero"), rows.mean, kind_of_matrix(story.problem)));
  for (const auto& note : notes(story.problem.matrix)) lines.item("", note);
  if (story.problem.seen.properties.square && story.problem.seen.properties.one_triangle_only)
    lines.item("",
               formatted("all entries are {} the diagonal: if this is half of a symmetric matrix, its file must say "
                         "`symmetric` in the first line",
                         story.problem.seen.properties.below > 0 ? "on or below" : "on or above"));
  if (const std::string text = singular_text(story.singular, story.outcome.solved); !text.empty()) lines.item("", text);
  lines.item("right-hand side", right_hand_side_text(story));
  if (!x0.empty())
    lines.item("start", formatted("x from {}{}", x0, by_factors(story) ? " (the factors need none)" : ""));
}

/// How.
void add_method(Lines& lines, const SolveStory& story, const Paint& paint) {
  const SolveOptions& options = story.problem.options;
  const Outcome& outcome = story.outcome;
  const MethodChoice& choice = story.decided.needs.choice;
  const bool direct = by_factors(story);
  lines.item("method", choice.reason);
  if (const std::string details = method_text(story);
      details != choice.method.name && (options.verbose || direct || choice.form == Form::eisenstat))
    lines.item("", details);
  if (options.verbose)
    lines.item(direct ? "factors" : "preconditioner",
               formatted("{}{} {}", direct ? "" : outcome.preconditioner + ", ",
                         direct && outcome.summary.status == Status::time_limit ? "not made, after" : "made in",
                         human_seconds(outcome.preconditioner_seconds)));
  else if (outcome.preconditioner_shift != 0)
    lines.item("preconditioner", outcome.preconditioner);
  if (options.verbose) add_levels(lines, outcome.levels, paint);
  if (story.colours_instead > 0) {
    lines.item(
        "note",
        formatted("only {:.1f} rows per wavefront: this order cannot use a second core or a GPU. "
                  "Ordered by colours, a sweep has {} that depend on each other, but it may need more iterations; try",
                  double(story.problem.seen.rows.nrows) / double(outcome.wavefronts),
                  plural(story.colours_instead, "step")));
    lines.raw("                 " + command_with(options.command_line, "--order colours"));
  }
}

/// Where, in what time and with how much memory.
void add_cost(Lines& lines, const SolveStory& story) {
  const bool verbose = story.problem.options.verbose;
  const RowStatistics& rows = story.problem.seen.rows;
  const MemoryPlan& memory = story.decided.memory;
  const double refining = over_columns(story, &Outcome::refine_seconds);
  lines.item("time",
             formatted("{} {}, setup {}, solving {}, {}checking {}, on {}",
                       story.problem.matrix.file ? "reading" : "generating", human_seconds(story.problem.read_seconds),
                       human_seconds(story.setup_seconds), human_seconds(over_columns(story, &Outcome::solve_seconds)),
                       refining > 0 ? formatted("factors {}, ", human_seconds(refining)) : "",
                       human_seconds(over_columns(story, &Outcome::certify_seconds)), place_text(story.decided.where)));
  if (!verbose && !memory.large()) return;
  lines.item("back end", backend_text(story.decided.where));
  lines.item("machine", processor_text());
  lines.item("memory", formatted("{} for the matrix, {} more to solve{}; {} were free",
                                 human_bytes(12 * rows.nnz + 8 * (rows.nrows + 1)),
                                 human_bytes(memory.needed() - memory.of_fallback),
                                 memory.of_fallback > 0 ? formatted(" ({} if another method has to take over)",
                                                                    human_bytes(memory.needed()))
                                                        : "",
                                 human_bytes(memory.available)));
  if (!verbose) return;
  for (const auto& part : memory.items)
    if (part.bytes > 0) lines.item("", formatted("{} for {}", human_bytes(part.bytes), part.what));
  if (!by_factors(story))
    lines.item("products", formatted("{}, prepared in {}", story.outcome.product_format,
                                     human_seconds(story.outcome.product_seconds)));
}

}  // namespace

std::string right_hand_side_text(const SolveStory& story) {
  if (story.columns.size() > 1)
    return formatted("B, the {} columns of {}", story.columns.size(), story.problem.options.rhs);
  if (!story.problem.options.rhs.empty()) return "b from " + story.problem.options.rhs;
  if (story.problem.seen.ones_vanish())
    return "b = A * x with x_i = 1 or -1, because A * ones is zero, and no --rhs was given";
  return story.problem.seen.has_dependent_columns() || (story.outcome.solved && story.outcome.error_against_ones < 0)
             ? "b = A * ones, because no --rhs was given: ones are one of many solutions"
             : "b = A * ones, because no --rhs was given: x should be all ones";
}

std::string solve_text(const SolveStory& story, const Terminal& terminal) {
  const Paint paint(terminal.colours);
  Lines lines(terminal);
  lines.raw(paint.bold("seidel solve " + story.problem.matrix.name)).blank();
  if (story.columns.size() > 1) lines.raw(columns_text(story) + ":").blank();
  add_verdict(lines, story, paint);
  add_evidence(lines.blank(), story);
  add_system(lines.blank(), story);
  add_method(lines, story, paint);
  add_cost(lines, story);
  return lines.text();
}

}  // namespace seidel::drivers
