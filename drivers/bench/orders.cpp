// Natural order beside colours.
#include <seidel/drivers/bench/contest.hpp>
#include <seidel/drivers/bench/output.hpp>

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
    Outcome outcome = solve_on(where, system, choice, contest.criteria);
    if (stop) break;
    outcome.x = {};
    rows.push_back({pair, roofs.of(pair.rival->backend, pair.threads), choice.method.name, std::move(outcome)});
  }
  return rows;
}

Table table_of(const std::vector<OrderRow>& rows) {
  Table table{{"matrix", "order", "back end", "threads", "setup", "per pair", "of roof", "wavefronts", "iterations",
               "with", "time to solution"}};
  for (const OrderRow& row : rows) {
    const auto& [pair, roof, method, solve] = row;
    const double share = row.share_of(roof.roof());
    table.row({pair.operand, pair.order, std::string(to_string(pair.rival->backend)),
               pair.rival->backend == BackendName::cuda ? "gpu" : std::to_string(pair.threads),
               human_seconds(solve.setup_seconds), row.seconds() > 0 ? human_seconds(row.seconds()) : "-",
               share > 0 ? formatted("{:.0f} %", 100 * share) : "-", count(solve.wavefronts),
               count(solve.summary.iterations), std::string(method),
               solve.solved ? human_seconds(solve.setup_seconds + solve.solve_seconds) : "not reached"});
  }
  return table;
}

Json to_json(const std::vector<OrderRow>& rows) {
  return json_list(rows, [](const OrderRow& row) {
    const auto& [pair, roof, method, solve] = row;
    const double of_copy = row.share_of(roof.copy), of_roof = row.share_of(roof.roof());
    Json one;
    one.set("matrix", pair.operand).set("order", pair.order).set("method", method);
    one.set("backend", to_string(pair.rival->backend)).set("threads", pair.threads);
    one.set("setup_seconds", solve.setup_seconds).set_if(row.seconds() > 0, "pair_seconds", row.seconds());
    one.set_if(of_copy > 0, "share_of_copy", of_copy).set_if(of_roof > 0, "share_of_roof", of_roof);
    one.set("wavefronts", solve.wavefronts).set("iterations", solve.summary.iterations).set("solved", solve.solved);
    one.set("solution_seconds", solve.setup_seconds + solve.solve_seconds);
    return one;
  });
}

}  // namespace seidel::drivers
