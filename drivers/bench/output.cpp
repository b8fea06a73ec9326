// Table, CSV and JSON of measurements.
#include <seidel/drivers/bench/output.hpp>

#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace seidel::bench {

namespace {

bool same_task(const Measurement& a, const Measurement& b) {
  return a.matrix == b.matrix && a.rival->kernel == b.rival->kernel && a.k == b.k && a.layout == b.layout;
}
bool same_processor(const Measurement& a, const Measurement& b) {
  return (a.rival->runs == Runs::cuda) == (b.rival->runs == Runs::cuda);
}
std::string_view to_string(Layout layout) { return layout == Layout::row_major ? "row" : "col"; }

std::string human_time(double seconds) {
  if (seconds <= 0) return "-";
  return seconds < 1e-3 ? fmt::format("{:.1f} us", seconds * 1e6) : seconds < 1 ? fmt::format("{:.3f} ms", seconds * 1e3) : fmt::format("{:.3f} s", seconds);
}
std::string human_bytes(std::int64_t bytes) {
  return bytes == 0 ? "-" : bytes < 1000000 ? fmt::format("{:.1f} kB", double(bytes) * 1e-3) : fmt::format("{:.1f} MB", double(bytes) * 1e-6);
}

}  // namespace

double gflop_per_s(const Measurement& m, double seconds) { return m.flops / seconds * 1e-9; }
double gb_per_s(const Measurement& m, double seconds) { return m.bytes / seconds * 1e-9; }

bool is_baseline(const Rival& rival) {
  return rival.variant.starts_with("eigen") || rival.variant.starts_with("cusparse") || rival.variant.starts_with("cublas");
}

double baseline_seconds(const Measurement& m, const std::vector<Measurement>& all) {
  double fastest = 0;
  for (const Measurement& other : all)
    if (is_baseline(*other.rival) && same_task(m, other) && same_processor(m, other) && !other.sample.empty() &&
        (fastest == 0 || other.sample.median() < fastest))
      fastest = other.sample.median();
  return fastest;
}

void write_table(std::ostream& out, const std::vector<Measurement>& measurements, const Copies& copies) {
  std::size_t width = 6;
  for (const Measurement& m : measurements) width = std::max(width, m.rival->name().size());
  const Measurement* before = nullptr;
  for (const Measurement& m : measurements) {
    if (!before || !same_task(*before, m)) {
      out << fmt::format("{}{} of {}: {} x {}, {} nonzeros, {:.1f} a row (longest {})", before ? "\n" : "", m.rival->kernel, m.matrix, m.nrows, m.ncols, m.nnz,
                         m.rows.mean, m.rows.max);
      if (m.rival->kernel == "spmm") out << fmt::format(", k = {}, {}-major", m.k, m.layout == Layout::row_major ? "row" : "column");
      out << fmt::format("\nbytes: {} = {}\n\n", m.bytes_model, human_bytes(std::int64_t(m.bytes)));
      out << fmt::format("{:<{}}  {:>7}  {:>11}  {:>11}  {:>6}  {:>8}  {:>8}  {:>6}  {:>11}  {:>9}  {:>5}  {:>11}\n", "rival", width, "threads", "median", "fastest",
                         "spread", "GFLOP/s", "GB/s", "copy", "setup", "memory", "cache", "vs baseline");
    }
    before = &m;
    out << fmt::format("{:<{}}  {:>7}  ", m.rival->name(), width, m.rival->runs == Runs::cuda ? "gpu" : std::to_string(m.threads));
    if (m.verdict != Verdict::right) {
      out << to_string(m.verdict) << ": " << m.reason.substr(0, m.reason.find('\n')) << "\n";
      continue;
    }
    if (m.sample.empty()) {
      out << fmt::format("right (error {:.2g} of its bound), not timed\n", m.error);
      continue;
    }
    const double median = m.sample.median(), copy = copies.of(m.rival->runs), baseline = baseline_seconds(m, measurements);
    out << fmt::format("{:>11}  {:>11}  {:>5.1f}%  {:>8.2f}  {:>8.1f}  {:>6}  {:>11}  {:>9}  {:>5}  {:>11}\n", human_time(median), human_time(m.sample.min()),
                       100 * m.sample.spread(), gflop_per_s(m, median), gb_per_s(m, median), copy > 0 ? fmt::format("{:.0f}%", 100 * gb_per_s(m, median) / copy) : "-",
                       human_time(m.setup_seconds), human_bytes(m.workspace_bytes), m.flushed ? "cold" : "large",
                       baseline > 0 ? fmt::format("{:.2f}x", baseline / median) : "-");
  }
}

void write_csv(std::ostream& out, const std::vector<Measurement>& measurements, const Copies& copies) {
  out << "kernel,matrix,nrows,ncols,nnz,row_mean,row_variance,row_max,padding_indicator,format,rival,backend,threads,k,layout,trial,seconds,"
         "gflop_per_s,gb_per_s,share_of_copy,flushed,setup_seconds,workspace_bytes,verdict\n";
  const auto quoted = [](std::string text) { return text.find_first_of(",\"\n") == text.npos ? text : '"' + text + '"'; };
  for (const Measurement& m : measurements) {
    const auto row = [&](std::string trial, double seconds) {
      const double copy = copies.of(m.rival->runs);
      const auto number = [&](double value) { return seconds > 0 ? fmt::format("{:.6g}", value) : ""; };
      out << fmt::format("{},{},{},{},{},{:.6g},{:.6g},{},{:.6g},{},{},{},{},{},{},{},{},{},{},{},{},{:.6g},{},{}\n", m.rival->kernel, quoted(m.matrix), m.nrows, m.ncols, m.nnz,
                         m.rows.mean, m.rows.variance, m.rows.max, m.rows.padding_indicator, m.rival->format, m.rival->name(), to_string(m.rival->runs), m.threads, m.k,
                         to_string(m.layout), trial, number(seconds), number(gflop_per_s(m, seconds)), number(gb_per_s(m, seconds)),
                         copy > 0 ? number(gb_per_s(m, seconds) / copy) : "", m.flushed ? 1 : 0, m.setup_seconds, m.workspace_bytes, to_string(m.verdict));
    };
    if (m.sample.empty()) row("", 0);
    for (std::size_t t = 0; t < m.sample.trials().size(); ++t) row(std::to_string(t), m.sample.trials()[t]);
  }
}

nlohmann::json to_json(const std::vector<Measurement>& measurements, const Copies& copies) {
  nlohmann::json all = nlohmann::json::array();
  for (const Measurement& m : measurements) {
    nlohmann::json one = {{"kernel", m.rival->kernel},
                          {"matrix", m.matrix},
                          {"nrows", m.nrows},
                          {"ncols", m.ncols},
                          {"nnz", m.nnz},
                          {"row_mean", m.rows.mean},
                          {"row_variance", m.rows.variance},
                          {"row_max", m.rows.max},
                          {"padding_indicator", m.rows.padding_indicator},
                          {"format", m.rival->format},
                          {"rival", m.rival->name()},
                          {"backend", to_string(m.rival->runs)},
                          {"threads", m.threads},
                          {"k", m.k},
                          {"layout", to_string(m.layout)},
                          {"verdict", to_string(m.verdict)},
                          {"setup_seconds", m.setup_seconds},
                          {"workspace_bytes", m.workspace_bytes},
                          {"flops", m.flops},
                          {"bytes", m.bytes},
                          {"bytes_model", m.bytes_model},
                          {"flushed", m.flushed}};
    if (!m.reason.empty()) one["reason"] = m.reason;
    if (m.verdict == Verdict::right) one["error_over_bound"] = m.error;
    if (!m.sample.empty()) {
      const double median = m.sample.median(), copy = copies.of(m.rival->runs), baseline = baseline_seconds(m, measurements);
      one["seconds"] = m.sample.trials();
      one["median_seconds"] = median, one["min_seconds"] = m.sample.min(), one["spread"] = m.sample.spread();
      one["gflop_per_s"] = gflop_per_s(m, median), one["gb_per_s"] = gb_per_s(m, median);
      if (copy > 0) one["share_of_copy"] = gb_per_s(m, median) / copy;
      if (baseline > 0) one["speedup_over_baseline"] = baseline / median;
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace seidel::bench
