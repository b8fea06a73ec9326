// What a report of several right-hand sides says beside that of the worst of them.
#include <seidel/drivers/solve_report.hpp>

#include <algorithm>
#include <tuple>

namespace seidel::drivers {

namespace {

constexpr std::size_t max_lines = 16;

/// Larger is worse.
std::tuple<int, double, double> badness(const SolveStory& story) {
  const Outcome& outcome = story.outcome;
  const SolveVerdict verdict = verdict_of(story);
  return {verdict == SolveVerdict::not_solved ? 2
          : verdict == SolveVerdict::doubtful ? 1
                                              : 0,
          verdict != SolveVerdict::not_solved && outcome.error_is_known() ? outcome.error : 0,
          outcome.certificate.relative_residual};
}

std::string column_text(const SolveStory& story) {
  const Outcome& outcome = story.outcome;
  return formatted("{}: {}, residual {}{}{}", to_string(verdict_of(story)), effort_text(outcome.summary),
                   brief(outcome.certificate.relative_residual),
                   outcome.error_is_known() ? ", error " + brief(outcome.error) : std::string(),
                   story.singular.known() ? ", in the null space " + brief(story.singular.part_of_b) : std::string());
}

}  // namespace

std::size_t worst_of(std::span<const SolveStory> columns) {
  const auto better = [](const SolveStory& a, const SolveStory& b) { return badness(a) < badness(b); };
  return std::size_t(std::max_element(columns.begin(), columns.end(), better) - columns.begin());
}

std::string columns_text(const SolveStory& story) {
  const std::size_t k = story.columns.size();
  const auto solved = std::size_t(std::count_if(story.columns.begin(), story.columns.end(),
                                                [](const SolveStory& column) { return column.outcome.solved; }));
  return formatted("{} right-hand sides, {} solved; the worst of them is column {}", k,
                   solved == k   ? "all"
                   : solved == 0 ? "none"
                                 : formatted("{}", solved),
                   story.column + 1);
}

std::vector<std::pair<std::string, std::string>> column_facts(const SolveStory& story) {
  const std::size_t k = story.columns.size();
  if (k < 2) return {};
  const std::size_t shown = story.problem.options.verbose ? k : std::min(max_lines, k);
  std::vector<std::pair<std::string, std::string>> facts;
  for (std::size_t j = 0; j < shown; ++j)
    facts.push_back({formatted("column {}", j + 1), column_text(story.columns[j])});
  if (shown < k) facts.push_back({"", formatted("and {} more (--verbose shows them)", k - shown)});
  return facts;
}

Json columns_json(const SolveStory& story) {
  return json_list(story.columns, [&](const SolveStory& column) {
    const Outcome& outcome = column.outcome;
    Json one;
    one.set("converged", outcome.solved).set("status", to_string(outcome.summary.status));
    one.set("verdict", to_string(verdict_of(column))).set("method", outcome.summary.method);
    one.set("iterations", outcome.summary.iterations);
    one.set("relative_residual", outcome.certificate.relative_residual)
        .set_if(outcome.error_is_known(), "error_estimate", outcome.error);
    one.set_if(outcome.error_is_known(), "error_estimate_source", to_string(outcome.error_source));
    one.set_if(story.singular.known(), "part_of_b", column.singular.part_of_b);
    one.set("solve_seconds", outcome.solve_seconds);
    return one;
  });
}

double over_columns(const SolveStory& story, double Outcome::*seconds) {
  double sum = 0;
  for (const SolveStory& column : story.columns) sum += column.outcome.*seconds;
  return sum;
}

}  // namespace seidel::drivers
