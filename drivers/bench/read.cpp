// seidel bench read: reading a Matrix Market file, against a bare scan of its bytes on one thread, in the same run.
#include <unistd.h>

#include <seidel/config.hpp>
#include <seidel/drivers/bench/sample.hpp>
#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/machine.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/html.hpp>
#include <seidel/drivers/report/json.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/stopwatch.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/matrix_market/matrix_market.hpp>
#include <seidel/formats/matrix_market/scan.hpp>
#include <seidel/formats/runtime/array.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

namespace {

struct Timing {
  int threads;
  double seconds, ratio;  // against the scan, a core
};

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

}  // namespace

int run(const BenchReadOptions& options) {
  if (options.file == "-") throw UsageError("FILE: standard input can be read only once, expected the name of a file");
  const ReadReport report = read_matrix_market(options.file).report;  // brings the file into the memory cache
  Sample scans;
  ScanResult scan;
  for (int i = 0; i < options.repetitions; ++i) {
    scan = scan_matrix_market(options.file);
    scans.add(scan.seconds);
  }
  const double scan_seconds = scans.median();
  std::vector<Timing> timings;
  std::vector<int> threads = {1};
  if (const int all = host_threads(options).threads; all > 1) threads.push_back(all);
  Sample touches;
  for (const int n : threads) {
    ReadOptions read;
    read.threads = n;
    Sample seconds;
    for (int i = 0; i < options.repetitions; ++i) {
      touches.add(first_touch(report));
      seconds.add(read_matrix_market(options.file, read).report.seconds);
    }
    timings.push_back({n, seconds.median(), scan_seconds / seconds.median() / (scan.inflated ? 1 : n)});
  }

  const auto rate = [&](double seconds) { return double(scan.bytes) / seconds / 1e9; };
  const Terminal terminal = Terminal::of(options.json == "-" ? STDERR_FILENO : STDOUT_FILENO);
  const Paint paint(terminal.colours);
  Lines lines(terminal);
  lines.raw(paint.bold("seidel bench read " + options.file)).blank();
  lines.item("file",
             formatted("{}, {} x {}, {}, {} {}", human_bytes(scan.bytes), count(report.nrows), count(report.ncols),
                       plural(report.entries, "entry", "entries"), name(report.field), name(report.symmetry)));
  lines.item("machine", formatted("{}, {}", processor_name(), plural(available_threads(), "thread")));
  lines.item("measured", formatted("the median of {}, the file in the memory cache after the first",
                                   plural(options.repetitions, "run")));
  lines.blank();
  Table table{{"what", "threads", "seconds", "GB/s", scan.inflated ? "of zlib" : "of the scan, a core"}};
  table.row({scan.inflated ? "zlib alone" : "bare scan", "1", formatted("{:.4f}", scan_seconds),
             formatted("{:.3f}", rate(scan_seconds)), "1.00"});
  table.row({"first touch of the memory", "1", formatted("{:.4f}", touches.median()), "", ""});
  for (const auto& t : timings)
    table.row({"read", std::to_string(t.threads), formatted("{:.4f}", t.seconds), formatted("{:.3f}", rate(t.seconds)),
               formatted("{:.2f}", t.ratio)});
  print(options, lines.text() + table.text(paint));
  if (!options.html.empty()) {
    HtmlPage page("seidel bench read", "Reading " + options.file, true);
    page.facts("What was run", {{"entries", count(report.entries)},
                                {"bytes", human_bytes(scan.bytes)},
                                {"machine", processor_name()},
                                {"version", version}});
    page.table("Reading beside a bare scan", table, "Medians; the file is in the memory cache after the first.");
    const auto bar = [&](const std::string& what, double seconds) {
      return Bar{what, rate(seconds), formatted("{:.3f}", rate(seconds))};
    };
    std::vector<Bar> bars = {bar(scan.inflated ? "zlib alone" : "bare scan", scan_seconds)};
    for (const auto& t : timings) bars.push_back(bar("read, " + plural(t.threads, "thread"), t.seconds));
    page.bars("How fast", "GB/s", bars);
    page.text("Command", options.command_line);
    write_text(options.html, page.html());
  }
  if (!options.json.empty()) {
    Json json = json_document("seidel.bench.read/1", options.command_line);
    json.set("file", options.file).set("bytes", std::int64_t(scan.bytes)).set("entries", std::int64_t(scan.entries));
    json.set("processor", processor_name()).set("repetitions", options.repetitions);
    json.set("scan_seconds", scan_seconds).set("scan_gb_per_s", rate(scan_seconds));
    json.set("first_touch_seconds", touches.median())
        .set("read", json_list(timings, [&](const Timing& t) {
               Json one;
               one.set("threads", t.threads).set("seconds", t.seconds).set("gb_per_s", rate(t.seconds));
               one.set("of_scan_per_core", t.ratio).set("of_scan_a_core", t.ratio);
               return one;
             }));
    write_text(options.json, json.text());
  }
  return 0;
}

}  // namespace seidel::drivers
