// Table, CSV and JSON of measurements.
#include <seidel/drivers/bench/output.hpp>

#include <algorithm>

#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/report/format.hpp>

namespace seidel::drivers {

namespace {

bool same_processor(const Measurement& a, const Measurement& b) {
  return (a.rival->backend == BackendName::cuda) == (b.rival->backend == BackendName::cuda);
}
std::string_view to_string(Layout layout) { return layout == Layout::row_major ? "row" : "col"; }

std::string title_of(const Measurement& m) {
  const std::string costs = m.flops > 0 ? formatted("; counts {:.4g} MFLOP", m.flops * 1e-6) : "";
  return formatted("{} of {}: {}\nmust move {} = {}{}\n\n", name_of_task(m), m.operand, m.description, m.bytes_model,
                   human_bytes(std::int64_t(m.bytes)), costs);
}

/// seidel's serial default on the same task; null if it was not timed.
const Measurement* serial_of(const Measurement& m, std::span<const Measurement> all) {
  const auto found = std::ranges::find_if(all, [&](const Measurement& other) {
    return other.rival->backend == BackendName::serial && other.rival->role == Role::exact &&
           other.rival->variant.empty() && same_task(m, other) && !other.sample.empty();
  });
  return found == all.end() ? nullptr : &*found;
}

/// Two digits behind the point, or as many as show anything.
std::string rate(double value) { return value < 0.1 ? formatted("{:.2g}", value) : formatted("{:.2f}", value); }

std::vector<std::string> timed_cells(const Measurement& m, std::span<const Measurement> task, const Roofs& roofs) {
  const double median = m.sample.median(), roof = roofs.of(m.rival->backend, m.threads).roof();
  const Measurement* baseline = baseline_of(m, task);
  return {human_seconds(median),
          human_seconds(m.sample.min()),
          formatted("{:.1f} %", 100 * m.sample.spread()),
          m.flops > 0 ? rate(gflop_per_s(m, median)) : "-",
          formatted("{:.1f}", gb_per_s(m, median)),
          roof > 0 ? formatted("{:.0f} %", 100 * gb_per_s(m, median) / roof) : "-",
          m.setup_seconds > 0 ? human_seconds(m.setup_seconds) : "0",
          m.workspace_bytes > 0 ? human_bytes(m.workspace_bytes) : "0",
          std::string(to_string(m.cache)),
          baseline ? formatted("{:.2f}x", baseline->sample.median() / median) : "-"};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> lines_of(const Roofs& roofs) {
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&](const std::string& name, const Streams& s) {
    if (s.roof() > 0) lines.emplace_back(name, formatted("copy {:.1f}, triad {:.1f} GB/s", s.copy, s.triad));
  };
  for (const auto& [threads, streams] : roofs.host) add(plural(threads, "thread"), streams);
  add("GPU", roofs.device);
  return lines;
}

std::string list_of(std::span<const Rival> rivals, const Kernel* kernel, const std::string& only, const Paint& paint) {
  Table table{{"rival", "bits of the serial default", "what"}};
  for (const Rival& rival : rivals)
    if ((!kernel || rival.kernel == kernel) && matches(only, rival.name()))
      table.row({rival.name(), rival.role == Role::exact ? "yes" : "within rounding", std::string(rival.what)});
  return table.text(paint);
}

void say_interrupted(const BenchOptions& options) {
  std::vector<std::string> files;
  for (const std::string& path : {options.csv, options.html, options.json})
    if (!path.empty()) files.push_back(path == "-" ? "standard output" : path);
  say(options, "interrupted; what was measured before is printed above" +
                   (files.empty() ? "" : ", and written to " + joined(files)));
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

double gflop_per_s(const Measurement& m, double seconds) { return m.flops / seconds * 1e-9; }
double gb_per_s(const Measurement& m, double seconds) { return m.bytes / seconds * 1e-9; }

const Measurement* baseline_of(const Measurement& m, std::span<const Measurement> all) {
  const Measurement* fastest = nullptr;
  for (const Measurement& other : all)
    if (other.rival->role == Role::baseline && same_task(m, other) && same_processor(m, other) &&
        other.threads <= m.threads && !other.sample.empty() &&
        (!fastest || other.sample.median() < fastest->sample.median()))
      fastest = &other;
  return fastest;
}

bool same_task(const Measurement& a, const Measurement& b) {
  return a.operand == b.operand && a.order == b.order && a.rival->kernel == b.rival->kernel &&
         a.options.k == b.options.k && a.options.layout == b.options.layout;
}

std::string name_of_task(const Measurement& m) {
  const Kernel& kernel = *m.rival->kernel;
  const auto& [k, layout] = m.options;
  std::string name(kernel.name);
  if (!m.order.empty()) name += formatted(", order {}", m.order);
  if (kernel.columns.size() > 1 || k > 1)
    name += formatted(", k = {}{}", k, layout == Layout::row_major ? "" : ", column-major");
  return name;
}

Table table_of(std::span<const Measurement> task, const Roofs& roofs) {
  Table table{{"rival", "threads", "median", "fastest", "spread", "GFLOP/s", "GB/s", "of roof", "setup", "memory",
               "cache", "vs baseline"}};
  for (const Measurement& m : task) {
    Table::Row cells = {m.rival->name(), m.rival->backend == BackendName::cuda ? "gpu" : std::to_string(m.threads)};
    const Table::Row rest =
        m.sample.empty() ? Table::Row{std::string(to_string(m.verdict))} : timed_cells(m, task, roofs);
    cells.insert(cells.end(), rest.begin(), rest.end());
    cells.resize(table.header.size(), "-");
    table.row(std::move(cells));
  }
  return table;
}

Table legend() {
  return {
      {"column", "meaning"},
      {{"spread", "half the distance between the quartiles of the trials, over the median"},
       {"GFLOP/s", "2 nnz k and the like over the median; padding never counts"},
       {"GB/s", "the bytes that must move, over the median"},
       {"of roof", "GB/s over the faster of copy and triad, both measured in this run with as many threads"},
       {"setup", "conversion or analysis, once per matrix"},
       {"memory", "beside the CSR matrix and the operands"},
       {"cache",
        "cold: the operands would fit, so it was overwritten before each trial (warm: was not); large: they would not"},
       {"vs baseline",
        "times faster than the fastest baseline: others' code on no more threads, or on a GPU"}}};
}

std::vector<std::string> reasons_of(std::span<const Measurement> task) {
  struct Said {
    std::string names, what;
  };
  std::vector<Said> all;  // each once, of all to whom it applies
  for (const Measurement& m : task) {
    if (m.verdict == Verdict::right) continue;
    const std::string name = m.rival->name(), what = formatted("{}: {}", to_string(m.verdict), m.reason);
    const auto said = std::ranges::find(all, what, &Said::what);
    if (said == all.end())
      all.push_back({name, what});
    else if (!said->names.ends_with(name))  // with other threads
      said->names += ", " + name;
  }
  std::vector<std::string> reasons;
  for (const auto& [names, what] : all) reasons.push_back(names + " " + what);
  return reasons;
}

std::string text_of(std::span<const Measurement> task, const Roofs& roofs, const Paint& paint) {
  std::string text = title_of(task.front()) + table_of(task, roofs).text(paint);
  for (const std::string& reason : reasons_of(task)) text += reason + "\n";
  return text;
}

std::string csv_of(const std::vector<Measurement>& measurements, const Roofs& roofs) {
  std::string text =
      "kernel,matrix,nrows,ncols,nnz,row_mean,row_variance,row_max,padding_indicator,format,rival,backend,threads,k,"
      "layout,trial,seconds,"
      "gflop_per_s,gb_per_s,share_of_copy,flushed,setup_seconds,workspace_bytes,verdict,order,share_of_roof,"
      "speedup_over_serial,speedup_over_baseline\n";
  for (const Measurement& m : measurements) {
    const Streams streams = roofs.of(m.rival->backend, m.threads);
    const auto share = [&](double seconds, double of) {
      return of > 0 && seconds > 0 ? formatted("{:.6g}", gb_per_s(m, seconds) / of) : "";
    };
    const std::string sizes =
        m.rows ? formatted("{},{},{},{:.6g},{:.6g},{},{:.6g}", m.rows->nrows, m.rows->ncols, m.rows->nnz, m.rows->mean,
                           m.rows->variance, m.rows->max, m.rows->padding_indicator)
               : ",,,,,,";
    const std::string before =
        formatted("{},{},{},{},{},{},{},{},{}", m.rival->kernel->name, csv_cell(m.operand), sizes, m.rival->format,
                  m.rival->name(), to_string(m.rival->backend), m.threads, m.options.k, to_string(m.options.layout));
    const std::string after = formatted("{},{:.6g},{},{},{},", m.cache == Cache::cold ? 1 : 0, m.setup_seconds,
                                        m.workspace_bytes, to_string(m.verdict), m.order);
    const auto faster_than = [&](const Measurement* other) {
      return other && !m.sample.empty() ? formatted("{:.4g}", other->sample.median() / m.sample.median()) : "";
    };
    const std::string speedups =
        formatted("{},{}", faster_than(serial_of(m, measurements)), faster_than(baseline_of(m, measurements)));
    if (m.sample.empty()) text += before + ",,,,,," + after + ",,\n";
    for (std::size_t t = 0; t < m.sample.trials().size(); ++t) {
      const double seconds = m.sample.trials()[t];
      text += formatted("{},{},{:.9g},{:.6g},{:.6g},{},{}{},{}\n", before, t, seconds, gflop_per_s(m, seconds),
                        gb_per_s(m, seconds), share(seconds, streams.copy), after, share(seconds, streams.roof()),
                        speedups);
    }
  }
  return text;
}

Json to_json(const Roofs& roofs) {
  Json all = Json::array();
  const auto add = [&](std::string_view where, int threads, const Streams& s) {
    if (s.roof() <= 0) return;
    Json one;
    one.set("backend", where).set("threads", threads).set("copy_gb_per_s", s.copy).set("triad_gb_per_s", s.triad);
    all.push(std::move(one));
  };
  for (const auto& [threads, streams] : roofs.host) add("host", threads, streams);
  add("cuda", 1, roofs.device);
  return all;
}

Json to_json(const std::vector<Measurement>& measurements, const Roofs& roofs) {
  return json_list(measurements, [&](const Measurement& m) {
    Json one;
    one.set("kernel", m.rival->kernel->name).set("matrix", m.operand);
    if (m.rows) {
      one.set("nrows", m.rows->nrows).set("ncols", m.rows->ncols).set("nnz", m.rows->nnz);
      one.set("row_mean", m.rows->mean).set("row_variance", m.rows->variance).set("row_max", m.rows->max);
      one.set("padding_indicator", m.rows->padding_indicator);
    }
    one.set("format", m.rival->format).set("rival", m.rival->name());
    one.set("backend", to_string(m.rival->backend)).set("threads", m.threads);
    one.set("baseline", m.rival->role == Role::baseline);
    if (!m.order.empty()) one.set("order", m.order);
    one.set("k", m.options.k).set("layout", to_string(m.options.layout)).set("verdict", to_string(m.verdict));
    if (!m.reason.empty()) one.set("reason", m.reason);
    if (m.verdict == Verdict::right) one.set("error_over_bound", m.error);
    one.set("setup_seconds", m.setup_seconds).set("workspace_bytes", m.workspace_bytes);
    one.set("flops", m.flops).set("bytes", m.bytes).set("bytes_model", m.bytes_model);
    one.set("flushed", m.cache == Cache::cold).set("cache", to_string(m.cache));
    if (!m.sample.empty()) {
      const double median = m.sample.median();
      one.set("seconds", m.sample.trials()).set("median_seconds", median);
      one.set("min_seconds", m.sample.min()).set("spread", m.sample.spread());
      one.set("gflop_per_s", gflop_per_s(m, median)).set("gb_per_s", gb_per_s(m, median));
      const Streams streams = roofs.of(m.rival->backend, m.threads);
      const double rate = gb_per_s(m, median);
      if (streams.copy > 0) one.set("share_of_copy", rate / streams.copy).set("share_of_roof", rate / streams.roof());
      if (const Measurement* baseline = baseline_of(m, measurements))
        one.set("speedup_over_baseline", baseline->sample.median() / median);
    }
    return one;
  });
}

}  // namespace seidel::drivers
