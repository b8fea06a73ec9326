// A solve as one page for a browser.
#include <seidel/config.hpp>
#include <seidel/drivers/report/command_line.hpp>
#include <seidel/drivers/report/html.hpp>
#include <seidel/drivers/solve_report.hpp>

namespace seidel::drivers {

namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

std::string headline(const SolveStory& story) {
  const Outcome& outcome = story.outcome;
  if (verdict_of(story) == SolveVerdict::doubtful)
    return formatted("solved to the {} asked for: {}, but {}", criterion_text(outcome), reached_text(story),
                     doubt_text(outcome));
  if (outcome.solved) return formatted("solved: {}, {}", reached_text(story), human_seconds(outcome.solve_seconds));
  return formatted("NOT solved: residual {}; {}", brief(outcome.certificate.relative_residual), outcome.summary.reason);
}

Facts what_was_run(const SolveStory& story) {
  const RowStatistics& rows = story.problem.seen.rows;
  const MemoryPlan& memory = story.decided.memory;
  Facts facts = {{"matrix", formatted("{}: {} x {}, {}", story.problem.matrix.name, count(rows.nrows),
                                      count(rows.ncols), plural(rows.nnz, "nonzero"))}};
  for (const auto& note : notes(story.problem.matrix)) facts.push_back({"", note});
  if (const std::string text = singular_text(story.singular, story.outcome.solved); !text.empty())
    facts.push_back({"", text});
  facts.push_back({"right-hand side", right_hand_side_text(story)});
  if (story.columns.size() > 1) facts.push_back({"", columns_text(story)});
  facts.push_back({"method", method_text(story)});
  facts.push_back({"preconditioner", story.outcome.preconditioner});
  facts.push_back({"because", story.decided.needs.choice.reason});
  facts.push_back({"machine", processor_name() + ", " + instruction_set_name()});
  facts.push_back({"back end", backend_text(story.decided.where)});
  facts.push_back({"memory", formatted("{} beside the matrix; {} were free", human_bytes(memory.needed()),
                                       human_bytes(memory.available))});
  facts.push_back({"version", version});
  return facts;
}

Facts what_came_out(const SolveStory& story) {
  const Outcome& outcome = story.outcome;
  const Summary& summary = outcome.summary;
  Facts facts;
  for (const auto& attempt : summary.attempts)
    if (summary.attempts.size() > 1) facts.push_back({attempt.method, attempt_text(attempt)});
  facts.push_back(
      {"true residual", formatted("{} = ||b - Ax|| / ||b||, in twice the precision; target {}",
                                  brief(outcome.certificate.relative_residual), brief(tolerance_of(story)))});
  if (orthogonality_matters(outcome)) facts.push_back({"orthogonality", orthogonality_text(story)});
  if (!outcome.least_squares) facts.push_back({"backward error", brief(outcome.certificate.backward_error)});
  if (const std::string error = error_text(story); !error.empty()) facts.push_back({"error", error});
  facts.push_back({formatted("{}s", step_of(summary.method)), count(summary.iterations)});
  facts.push_back({"ended", summary.reason});
  return facts;
}

Facts evidence_and_remedy(const SolveStory& story, const Diagnosis& one) {
  Facts facts;
  if (!one.evidence.empty() && one.evidence != story.outcome.summary.reason)
    facts.push_back({"evidence", one.evidence});
  if (!one.advice.empty()) facts.push_back({"advice", one.advice});
  if (!one.remedy.empty()) facts.push_back({"try", command_with(story.problem.options.command_line, one.remedy)});
  return facts;
}

}  // namespace

std::string solve_page(const SolveStory& story) {
  const Summary& summary = story.outcome.summary;
  const SolveOptions& options = story.problem.options;
  const bool least_squares = options.request.goal == Goal::least_squares;
  HtmlPage page("seidel solve " + story.problem.matrix.name, headline(story),
                verdict_of(story) == SolveVerdict::solved);
  page.facts("What was run", what_was_run(story));
  page.facts("What came out", what_came_out(story));
  if (const auto columns = column_facts(story); !columns.empty()) page.facts("Each right-hand side", columns);
  for (const auto& one : story.diagnosis)
    page.facts((&one == &story.diagnosis.front() ? "Likely: " : "Or perhaps: ") + one.cause,
               evidence_and_remedy(story, one));
  LineChart chart{
      "iteration", least_squares ? "residual or orthogonality" : "relative residual", true, {{summary.method, {}}}};
  for (std::size_t i = 0; i < summary.history.size(); ++i)
    chart.series[0].points.push_back(
        {double(i), summary.history[i], formatted("iteration {}: {}", i, brief(summary.history[i]))});
  page.chart(
      least_squares ? "The smaller of residual and orthogonality, by the recurrence" : "Residual of the recurrence",
      chart);
  page.table("Times",
             {{"step", "time"},
              {{story.problem.matrix.file ? "reading" : "generating", human_seconds(story.problem.read_seconds)},
               {"setup", human_seconds(story.setup_seconds)},
               {"solving", human_seconds(over_columns(story, &Outcome::solve_seconds))},
               {"checking the residual", human_seconds(over_columns(story, &Outcome::certify_seconds))}}});
  return page.html(options.command_line);
}

}  // namespace seidel::drivers
