// seidel bench read: reading a Matrix Market file, against a bare scan of its bytes on one thread, in the same run.
#include <seidel/config.hpp>
#include <seidel/drivers/bench/sample.hpp>
#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/matrix_source.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/html.hpp>
#include <seidel/drivers/report/json.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/matrix_market/matrix_market.hpp>
#include <seidel/formats/matrix_market/scan.hpp>
#include <seidel/formats/runtime/array.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>

namespace seidel::drivers {

namespace {

/// Seconds to take as much memory as the matrix has (and text that was inflated), touch it, and give it back. The
/// system clears fresh memory, which takes a twentieth of a read; but a virtual machine may have to ask its host for
/// every page that it has not had for a second or two, which takes longer than reading. Done before each read, it is
/// measured apart.
double first_touch(const ReadReport& report) {
  const Stopwatch watch;
  Array<char> memory(12 * report.nnz + 8 * report.nrows +
                     (report.file_bytes < report.text_bytes ? report.text_bytes : 0) + 1);
  for (std::int64_t k = 0; k < memory.size(); k += 4096) memory[k] = 1;
  return watch.seconds();
}

/// What was measured; seconds are medians.
struct Measured {
  ReadReport report;
  ScanResult scan = {};
  double scan_seconds = 0, touch_seconds = 0;
  struct Read {
    int threads;
    double seconds, ratio;  // against the scan, per core
  };
  std::vector<Read> reads = {};

  double rate(double seconds) const { return double(scan.bytes) / seconds / 1e9; }
  std::string size() const {
    return human_bytes(scan.bytes) +
           (scan.inflated ? formatted(" of text, {} compressed", human_bytes(report.file_bytes)) : "");
  }
  std::string scan_name() const { return scan.inflated ? "zlib alone" : "bare scan"; }
};

Measured measured(const BenchReadOptions& options) {
  Measured m{.report = read_matrix_market(options.file).report};  // brings the file into the memory cache
  Sample scans, touches;
  for (int i = 0; i < options.repetitions; ++i) {
    m.scan = scan_matrix_market(options.file);
    scans.add(m.scan.seconds);
  }
  m.scan_seconds = scans.median();
  std::vector<int> threads = {1};
  if (const int all = host_threads(options).threads; all > 1) threads.push_back(all);
  for (const int n : threads) {
    ReadOptions read;
    read.threads = n;
    Sample seconds;
    for (int i = 0; i < options.repetitions; ++i) {
      touches.add(first_touch(m.report));
      seconds.add(read_matrix_market(options.file, read).report.seconds);
    }
    m.reads.push_back({n, seconds.median(), m.scan_seconds / seconds.median() / (m.scan.inflated ? 1 : n)});
  }
  m.touch_seconds = touches.median();
  return m;
}

Table table_of(const Measured& m) {
  Table table{{"what", "threads", "time", "GB/s", m.scan.inflated ? "of zlib" : "of the scan, per core"}};
  table.row({m.scan_name(), "1", human_seconds(m.scan_seconds), formatted("{:.3f}", m.rate(m.scan_seconds)), "1.00"});
  table.row({"first touch of the memory", "1", human_seconds(m.touch_seconds), "", ""});
  for (const auto& r : m.reads)
    table.row({"read", std::to_string(r.threads), human_seconds(r.seconds), formatted("{:.3f}", m.rate(r.seconds)),
               formatted("{:.2f}", r.ratio)});
  return table;
}

std::string text_of(const Measured& m, const BenchReadOptions& options) {
  const ReadReport& report = m.report;
  const Terminal terminal = terminal_of(options);
  const Paint paint(terminal.colours);
  Lines lines(terminal);
  lines.raw(paint.bold("seidel bench read " + options.file)).blank();
  lines.item("file", formatted("{}, {} x {}, {}, {} {}", m.size(), count(report.nrows), count(report.ncols),
                               plural(report.entries, "entry", "entries"), name(report.field), name(report.symmetry)));
  lines.item("machine", formatted("{}, {}", processor_name(), plural(available_threads(), "thread")));
  lines.item("measured", formatted("the median of {}, the file in the memory cache after the first",
                                   plural(options.repetitions, "run")));
  return lines.blank().text() + table_of(m).text(paint);
}

std::string page_of(const Measured& m, const BenchReadOptions& options) {
  HtmlPage page("seidel bench read", "Reading " + options.file, true);
  page.facts(
      "What was run",
      {{"entries", count(m.report.entries)}, {"size", m.size()}, {"machine", processor_name()}, {"version", version}});
  page.table("Reading beside a bare scan", table_of(m), "Medians; the file is in the memory cache after the first.");
  std::vector<Bar> bars;
  const auto add = [&](const std::string& what, double rate) {
    bars.push_back({what, rate, formatted("{:.3f}", rate)});
  };
  add(m.scan_name(), m.rate(m.scan_seconds));
  for (const auto& r : m.reads) add("read, " + plural(r.threads, "thread"), m.rate(r.seconds));
  page.bars("How fast", "GB/s", bars);
  return page.html(options.command_line);
}

Json json_of(const Measured& m, const BenchReadOptions& options) {
  Json json = json_document("seidel.bench.read/1", options.command_line);
  json.set("file", options.file).set("bytes", std::int64_t(m.scan.bytes)).set("entries", m.report.entries);
  json.set("processor", processor_name()).set("repetitions", options.repetitions);
  json.set("scan_seconds", m.scan_seconds).set("scan_gb_per_s", m.rate(m.scan_seconds));
  json.set("first_touch_seconds", m.touch_seconds)
      .set("read", json_list(m.reads, [&](const Measured::Read& r) {
             Json one;
             one.set("threads", r.threads).set("seconds", r.seconds).set("gb_per_s", m.rate(r.seconds));
             one.set("of_scan_per_core", r.ratio).set("of_scan_a_core", r.ratio);
             return one;
           }));
  return json;
}

}  // namespace

int run(const BenchReadOptions& options) {
  if (options.file == "-") throw UsageError("FILE: standard input can be read only once, expected the name of a file");
  require_file("", options.file, false);
  const Measured found = measured(options);
  print(options, text_of(found, options));
  if (!options.html.empty()) write_text(options.html, page_of(found, options));
  if (!options.json.empty()) write_text(options.json, json_of(found, options).text());
  return 0;
}

}  // namespace seidel::drivers
