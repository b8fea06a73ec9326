// The table that documents show.
#include <seidel/drivers/bench/summary.hpp>

#include <algorithm>
#include <cmath>

namespace seidel::drivers {

namespace {

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

}  // namespace

std::vector<std::span<const Measurement>> tasks_of(std::span<const Measurement> all) {
  std::vector<std::span<const Measurement>> tasks;
  for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
    while (last < all.size() && same_task(all[first], all[last])) ++last;
    tasks.push_back(all.subspan(first, last - first));
  }
  return tasks;
}

Table summary_of(std::span<const Measurement> all, const Roofs& roofs) {
  Table table{{"matrix", "kernel", "on", "our CSR", "our best", "which", "of roof", "their best", "which", "gain, CSR",
               "gain, best"}};
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
  Table table{{"kernel", "on", "matrices", "CSR: mean (least, quartiles, most)", "below 1x",
               "best: mean (least, quartiles, most)", "below 1x"}};
  for (const Gains& g : groups)
    if (g.plain.size() > 1)
      table.row({g.kernel, g.place, std::to_string(g.plain.size()), spread_of(g.plain), below_one(g.plain),
                 spread_of(g.best), below_one(g.best)});
  return table;
}

}  // namespace seidel::drivers
