// Charts and tables of a bench.
#include <seidel/drivers/bench/page.hpp>

#include <seidel/config.hpp>
#include <seidel/drivers/bench/summary.hpp>
#include <seidel/drivers/report/html.hpp>

namespace seidel::drivers {

namespace {

Bar bar_of(const Measurement& m) {
  const double median = m.sample.median(), rate = m.flops > 0 ? gflop_per_s(m, median) : gb_per_s(m, median);
  const std::string threads = m.rival->backend == BackendName::openmp ? ", " + plural(m.threads, "thread") : "";
  return {m.rival->name() + threads, rate, formatted("{:.3g}", rate), m.rival->role == Role::baseline ? 1 : 0};
}

void add_task(HtmlPage& page, std::span<const Measurement> task, const Roofs& roofs) {
  const Measurement& first = task.front();
  std::vector<Bar> bars;
  for (const Measurement& m : task)
    if (!m.sample.empty()) bars.push_back(bar_of(m));
  const std::string title = name_of_task(first) + " of " + first.operand;
  if (!bars.empty())
    page.bars(
        title + (first.flops > 0 ? ": GFLOP/s" : ": GB/s"),
        first.flops > 0 ? formatted("GFLOP/s, of {:.4g} MFLOP", first.flops * 1e-6) : "GB/s of the compulsory bytes",
        bars, {"seidel", "baseline"});
  std::string note = formatted("Must move {} = {}.", first.bytes_model, human_bytes(std::int64_t(first.bytes)));
  for (const std::string& reason : reasons_of(task)) note += formatted(" {}.", reason);
  page.table(title, table_of(task, roofs), note);
}

}  // namespace

std::string page_of(const Found& found, const std::string& machine, const CommonOptions& options) {
  const auto& [all, roofs, orders, interrupted] = found;
  std::size_t count[3] = {};
  for (const Measurement& m : all) ++count[std::size_t(m.verdict)];
  const auto& [right, wrong, refused] = count;
  HtmlPage page("seidel bench",
                formatted("{} right{}{}{}", plural(std::int64_t(right), "measurement"),
                          wrong ? formatted(", {} WRONG", wrong) : "",
                          refused ? formatted(", {} refused by their format", refused) : "",
                          interrupted ? ", then interrupted" : ""),
                wrong == 0 && !interrupted);
  std::vector<std::pair<std::string, std::string>> facts = {{"machine", machine}, {"version", version}};
  for (const auto& [name, said] : lines_of(roofs)) facts.push_back({"bandwidth, " + name, said});
  page.facts("What was run", facts);
  if (const Table summary = summary_of(all, roofs); summary.rows.size() > 1)
    page.table("Ours beside the fastest baseline", summary,
               "Times are medians; the last two columns say how many times faster than theirs.");
  if (const Table gains = gains_of(all); !gains.rows.empty())
    page.table("Over all matrices", gains, "How many times faster than the fastest baseline; means are geometric.");
  for (const auto task : tasks_of(all)) add_task(page, task, roofs);
  if (!orders.empty())
    page.table("The solves that the sweeps are for", table_of(orders),
               "To 1e-8 of b = A * ones, preconditioned by a pair of sweeps; setup finds the order, gathers the rows, "
               "analyses and copies.");
  page.table("What the columns say", legend());
  return page.html(options.command_line);
}

}  // namespace seidel::drivers
