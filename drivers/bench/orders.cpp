// Natural order beside colours.
#include <seidel/drivers/bench/orders.hpp>

#include <seidel/drivers/bench/contest.hpp>
#include <seidel/drivers/solve_on.hpp>

namespace seidel::drivers {

std::vector<OrderRow> order_rows(const Matrix& A, std::span<const Measurement> pairs, const Roofs& roofs,
                                 const std::atomic<bool>& stop) {
  const Contest contest = contest_of(OpenMP{}, A.view(), {.stop = &stop});
  const MatrixProperties& seen = contest.properties;
  const System<std::int32_t> system{contest.A.view(), contest.b, {}, seen.norm_inf, false};
  MethodChoice choice;
  choice.method = seen.symmetric && seen.diagonal_negative == 0 ? Method::cg : Method::bicgstab;
  choice.preconditioner = PreconditionerKind::symgs;
  std::vector<OrderRow> rows;
  for (const Measurement& pair : pairs) {
    if (pair.order.empty() || !pair.rival->variant.empty() || pair.verdict != Verdict::right) continue;
    choice.order = pair.order == "colours" ? Order::colours : Order::natural;
    const Placement where{.backend = pair.rival->backend, .threads = pair.threads};
    const Outcome outcome = solve_on(where, system, choice, contest.criteria);
    if (stop) break;
    const double seconds = pair.sample.empty() ? 0 : pair.sample.median(),
                 gb = seconds > 0 ? gb_per_s(pair, seconds) : 0;
    const Streams streams = roofs.of(pair.rival->backend, pair.threads);
    rows.push_back({pair.operand, pair.order, std::string(to_string(choice.method)), pair.rival->backend, pair.threads,
                    outcome.setup_seconds, seconds, streams.copy > 0 ? gb / streams.copy : 0,
                    streams.roof() > 0 ? gb / streams.roof() : 0, outcome.wavefronts, outcome.summary.iterations,
                    outcome.solved, outcome.setup_seconds + outcome.solve_seconds});
  }
  return rows;
}

Table table_of(const std::vector<OrderRow>& rows) {
  Table table{{"matrix", "order", "back end", "threads", "setup", "per pair", "of roof", "wavefronts", "iterations",
               "with", "time to solution"}};
  for (const OrderRow& row : rows)
    table.row({row.matrix, row.order, std::string(to_string(row.backend)),
               row.backend == BackendName::cuda ? "gpu" : std::to_string(row.threads), human_seconds(row.setup_seconds),
               row.pair_seconds > 0 ? human_seconds(row.pair_seconds) : "-",
               row.share_of_roof > 0 ? formatted("{:.0f} %", 100 * row.share_of_roof) : "-", count(row.wavefronts),
               count(row.iterations), row.method, row.solved ? human_seconds(row.solution_seconds) : "not reached"});
  return table;
}

Json to_json(const std::vector<OrderRow>& rows) {
  return json_list(rows, [](const OrderRow& row) {
    Json one;
    one.set("matrix", row.matrix).set("order", row.order).set("method", row.method);
    one.set("backend", to_string(row.backend)).set("threads", row.threads).set("setup_seconds", row.setup_seconds);
    one.set_if(row.pair_seconds > 0, "pair_seconds", row.pair_seconds);
    one.set_if(row.share_of_copy > 0, "share_of_copy", row.share_of_copy);
    one.set_if(row.share_of_roof > 0, "share_of_roof", row.share_of_roof);
    one.set("wavefronts", row.wavefronts).set("iterations", row.iterations).set("solved", row.solved);
    one.set("solution_seconds", row.solution_seconds);
    return one;
  });
}

}  // namespace seidel::drivers
