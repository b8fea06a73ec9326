// What `seidel solve` has to say, as JSON.
#include <seidel/drivers/levels.hpp>
#include <seidel/drivers/report/command_line.hpp>
#include <seidel/drivers/solve_report.hpp>
#include <seidel/drivers/solve_team.hpp>

namespace seidel::drivers {

namespace {

/// The details of the preconditioner, and the form that the method takes with it.
Json settings_json(const MethodChoice& choice) {
  Json json;
  for (const Setting& setting : choice.preconditioner.settings) {
    const double value = choice.settings[setting];
    json.set(setting.key, !setting.words.empty() ? Json(setting.words[std::size_t(value)])
                          : setting.whole        ? Json(std::int64_t(value))
                                                 : Json(value));
  }
  json.set("form", to_string(choice.form));
  return json;
}

/// What came out.
void set_outcome(Json& json, const SolveStory& story) {
  const SolveOptions& options = story.problem.options;
  const Outcome& outcome = story.outcome;
  const Summary& summary = outcome.summary;
  json.set("converged", outcome.solved).set("status", to_string(summary.status)).set("reason", summary.reason);
  json.set("iterations", summary.iterations).set("relative_residual", outcome.certificate.relative_residual);
  json.set_if(believed(summary) >= 0, "recurrence_residual", believed(summary));
  json.set("refined", outcome.refined);
  json.set("backward_error", outcome.certificate.backward_error).set("tolerance", options.tolerance);
  json.set("absolute_tolerance", options.absolute_tolerance);
  json.set("goal", options.request.goal == Goal::least_squares ? "least squares" : "solution");
  json.set_if(outcome.solved, "criterion", criterion_text(outcome));
  json.set("orthogonality", outcome.certificate.orthogonality);
  json.set_if(outcome.error_against_ones >= 0, "error_against_ones", outcome.error_against_ones);
  json.set("verdict", to_string(verdict_of(story))).set_if(outcome.error_is_known(), "error_estimate", outcome.error);
  json.set_if(outcome.error_is_known(), "error_estimate_source", to_string(outcome.error_source));
  json.set("error_estimate_iterations",
           summary.error ? Json(summary.error->iterations + outcome.look_iterations) : Json(nullptr));
  json.set("error_estimate_is_lower_bound",
           outcome.at_least || (outcome.error_source == ErrorSource::going_on && summary.error->at_least));
}

/// What was solved, and how.
void set_choice(Json& json, const SolveStory& story) {
  const std::string& rhs = story.problem.options.rhs;
  const MethodChoice& choice = story.decided.needs.choice;
  const Summary& summary = story.outcome.summary;
  const auto& arranged = story.decided.arranged;
  json.set("permuted", arranged && !arranged->by.row_of.empty());
  json.set("scaled", arranged && !arranged->by.row_scale.empty());
  const Singular& singular = story.singular;
  Json null_space;
  null_space.set("dimension", singular.space.dimension()).set("constants", singular.space.is_constants());
  null_space.set("part_of_b", singular.part_of_b).set("projected", singular.asked);
  json.set_if(singular.known(), "null_space", std::move(null_space));
  json.set("rhs", !rhs.empty() ? rhs : story.problem.seen.ones_vanish() ? "A * signs" : "A * ones");
  json.set("method", summary.method).set("preconditioner", summary.attempts.back().preconditioner);
  json.set_if(choice.preconditioner.orders.size() > 1, "order", to_string(choice.order)).set("choice", choice.reason);
  for (const PreconditionerKind& kind : preconditioners)
    if (!kind.settings.empty())
      json.set(kind.name, kind == choice.preconditioner ? settings_json(choice) : Json(nullptr));
  json.set("attempts", json_list(summary.attempts, [&](const Attempt& attempt) {
             Json one;
             one.set("method", attempt.method).set("preconditioner", attempt.preconditioner);
             one.set("status", to_string(attempt.status)).set("reason", attempt.reason);
             one.set("iterations", attempt.iterations).set("relative_residual", attempt.relative_residual);
             one.set("seconds", attempt.seconds);
             return one;
           }));
}

void set_place(Json& json, const Placement& where) {
  json.set("backend", to_string(where.backend)).set("backend_choice", where.because).set("threads", where.threads);
  json.set("processes", where.team ? where.team->size() : 1);
  Json machine;
  machine.set("processor", processor_name()).set("instructions", instruction_set_name());
  json.set("machine", std::move(machine.set_if(!where.device.empty(), "gpu", where.device)));
}

Json seconds_json(const SolveStory& story) {
  const Outcome& outcome = story.outcome;
  const double going_on = outcome.summary.error ? outcome.summary.error->seconds : 0.0;
  Json seconds;
  seconds.set("read", story.problem.read_seconds).set("setup", story.setup_seconds);
  seconds.set("preconditioner", outcome.preconditioner_seconds);
  seconds.set("solve", over_columns(story, &Outcome::solve_seconds));
  seconds.set("estimate", going_on + outcome.look_seconds + outcome.refine_seconds);
  seconds.set("certify", over_columns(story, &Outcome::certify_seconds));
  return seconds;
}

}  // namespace

Json solve_json(const SolveStory& story) {
  const SolveOptions& options = story.problem.options;
  const Outcome& outcome = story.outcome;
  Json json = json_document("seidel.solve/1", options.command_line);
  set_outcome(json, story);
  set_choice(json, story);
  set_place(json, story.decided.where);
  Json matrix = matrix_json(story.problem.matrix);
  matrix.set("symmetric", story.problem.seen.properties.symmetric);
  matrix.set("nearly_symmetric", story.problem.seen.properties.nearly_symmetric);
  json.set("matrix", std::move(matrix)).set("products", outcome.product_format);
  json.set("shift", outcome.preconditioner_shift);
  set_levels(json, outcome.levels);
  json.set_if(outcome.wavefronts > 0, "wavefronts", outcome.wavefronts);
  json.set("seconds", seconds_json(story));
  json.set(
      "memory",
      Json().set("needed_bytes", story.decided.memory.needed()).set("available_bytes", story.decided.memory.available));
  json.set("diagnosis", json_list(story.diagnosis, [&](const Diagnosis& one) {
             Json cause;
             cause.set("cause", one.cause).set("evidence", one.evidence).set("advice", one.advice);
             return std::move(cause.set_if(!one.remedy.empty(), "try", command_with(options.command_line, one.remedy)));
           }));
  json.set("history", outcome.summary.history);
  json.set("column", std::int64_t(story.column) + 1).set("columns", columns_json(story));
  json.set_if(!story.out.empty(), "out", story.out);
  return json;
}

}  // namespace seidel::drivers
