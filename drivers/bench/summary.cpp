// The tables that documents show, and a page of all.
#include <algorithm>
#include <cmath>

#include <seidel/config.hpp>
#include <seidel/drivers/bench/output.hpp>
#include <seidel/drivers/report/html.hpp>

namespace seidel::drivers {

namespace {

/// Measurements of the same matrix, kernel, order, k and layout, which stand side by side in `all`.
std::vector<std::span<const Measurement>> tasks_of(std::span<const Measurement> all) {
  std::vector<std::span<const Measurement>> tasks;
  for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
    while (last < all.size() && same_task(all[first], all[last])) ++last;
    tasks.push_back(all.subspan(first, last - first));
  }
  return tasks;
}

bool same_place(const Measurement& a, const Measurement& b) {
  return a.rival->backend == b.rival->backend && a.threads == b.threads;
}

std::string place_of(const Measurement& m) {
  return m.rival->backend == BackendName::openmp ? plural(m.threads, "thread")
         : m.rival->backend == BackendName::cuda ? "GPU"
                                                 : "serial";
}

/// A rival without its kernel and its back end: "csr", "sell.sorted".
std::string short_name(const Rival& rival) {
  return std::string(rival.format) + (rival.variant.empty() ? "" : formatted(".{}", rival.variant));
}

/// seidel's in the format that the kernel's first rival has.
bool is_default(const Rival& rival) {
  const auto first = std::ranges::find(rivals(), rival.kernel, &Rival::kernel);
  return rival.role == Role::exact && rival.variant.empty() && rival.format == first->format;
}

/// The fastest of ours where `plain` runs.
const Measurement& best_of(const Measurement& plain, std::span<const Measurement> task) {
  const Measurement* best = &plain;
  for (const Measurement& m : task)
    if (same_place(m, plain) && m.rival->role != Role::baseline && !m.sample.empty() &&
        m.sample.median() < best->sample.median())
      best = &m;
  return *best;
}

Table::Row row_of(const Measurement& plain, std::span<const Measurement> task, const Roofs& roofs) {
  const Measurement* const best = &best_of(plain, task);
  const double seconds = best->sample.median(), roof = roofs.of(best->rival->backend, best->threads).roof();
  Table::Row row = {plain.operand,
                    name_of_task(plain),
                    place_of(plain),
                    human_seconds(plain.sample.median()),
                    human_seconds(seconds),
                    short_name(*best->rival),
                    roof > 0 ? formatted("{:.0f} %", 100 * gb_per_s(*best, seconds) / roof) : "-"};
  if (const Measurement* baseline = baseline_of(plain, task)) {
    const double theirs = baseline->sample.median();
    row.insert(row.end(),
               {human_seconds(theirs), short_name(*baseline->rival),
                formatted("{:.2f}x", theirs / plain.sample.median()), formatted("{:.2f}x", theirs / seconds)});
  }
  return row;
}

/// "1.32x (0.81x, 1.10x, 1.52x, 3.00x)": the geometric mean, and the least, the quartiles beside the median, the most.
std::string spread_of(std::vector<double> gains) {
  std::sort(gains.begin(), gains.end());
  double logarithms = 0;
  for (const double gain : gains) logarithms += std::log(gain);
  const auto at = [&](double share) { return gains[std::size_t(std::lround(share * double(gains.size() - 1)))]; };
  return formatted("{:.2f}x ({:.2f}, {:.2f}, {:.2f}, {:.2f}, {:.2f})", std::exp(logarithms / double(gains.size())),
                   gains.front(), at(0.25), at(0.5), at(0.75), gains.back());
}

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

Table summary_of(std::span<const Measurement> all, const Roofs& roofs) {
  Table table{{"matrix", "kernel", "on", "our default", "our best", "which", "of roof", "their best", "which",
               "gain, default", "gain, best"}};
  for (const auto task : tasks_of(all))
    for (const Measurement& m : task)
      if (is_default(*m.rival) && !m.sample.empty()) {
        table.row(row_of(m, task, roofs));
        table.rows.back().resize(table.header.size(), "-");
      }
  return table;
}

Table gains_of(std::span<const Measurement> all) {
  struct Gains {
    std::string kernel, place;
    std::vector<double> plain, best;
  };
  std::vector<Gains> groups;
  for (const auto task : tasks_of(all))
    for (const Measurement& m : task) {
      const Measurement* const baseline = baseline_of(m, task);
      if (!is_default(*m.rival) || m.sample.empty() || !baseline) continue;
      const std::string kernel = name_of_task(m), place = place_of(m);
      auto group = std::ranges::find_if(groups, [&](const Gains& g) { return g.kernel == kernel && g.place == place; });
      if (group == groups.end()) group = groups.insert(group, {kernel, place, {}, {}});
      const double theirs = baseline->sample.median();
      group->plain.push_back(theirs / m.sample.median());
      group->best.push_back(theirs / best_of(m, task).sample.median());
    }
  const auto below_one = [](const std::vector<double>& gains) {
    return std::to_string(std::ranges::count_if(gains, [](double gain) { return gain < 1; }));
  };
  Table table{{"kernel", "on", "matrices", "default: mean (least, quartiles, most)", "below 1x",
               "best: mean (least, quartiles, most)", "below 1x"}};
  for (const Gains& g : groups)
    if (g.plain.size() > 1)
      table.row({g.kernel, g.place, std::to_string(g.plain.size()), spread_of(g.plain), below_one(g.plain),
                 spread_of(g.best), below_one(g.best)});
  return table;
}

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
