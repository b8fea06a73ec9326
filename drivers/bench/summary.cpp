// The table that documents show.
#include <seidel/drivers/bench/summary.hpp>

#include <algorithm>

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

std::vector<std::string> row_of(const Measurement& plain, std::span<const Measurement> task, const Roofs& roofs) {
  const Measurement* best = &plain;
  for (const Measurement& m : task)
    if (same_place(m, plain) && m.rival->role != Role::baseline && !m.sample.empty() &&
        m.sample.median() < best->sample.median())
      best = &m;
  const double seconds = best->sample.median(), roof = roofs.of(best->rival->backend, best->threads).roof();
  std::vector<std::string> row = {plain.operand,
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
  row.resize(summary_header().size(), "-");
  return row;
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

std::vector<std::string> summary_header() {
  return {"matrix",  "kernel",     "on",    "our CSR",   "our best",  "which",
          "of roof", "their best", "which", "gain, CSR", "gain, best"};
}

std::vector<std::vector<std::string>> summary_rows(std::span<const Measurement> all, const Roofs& roofs) {
  std::vector<std::vector<std::string>> rows;
  for (const auto task : tasks_of(all))
    for (const Measurement& m : task)
      if (is_default(*m.rival) && !m.sample.empty()) rows.push_back(row_of(m, task, roofs));
  return rows;
}

}  // namespace seidel::drivers
