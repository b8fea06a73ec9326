// Measures a list of kernels and matrices, and reports.
#include <seidel/drivers/bench/run_plan.hpp>

#include <iterator>

#include <seidel/config.hpp>
#include <seidel/drivers/bench/machine.hpp>
#include <seidel/drivers/bench/orders.hpp>
#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/machine.hpp>
#include <seidel/drivers/matrix_source.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/html.hpp>
#include <seidel/drivers/report/progress.hpp>
#include <seidel/drivers/stopwatch.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/errors.hpp>

namespace seidel::drivers {

using bench::Measurement;

BenchPlaces bench_places(const CommonOptions& options, std::vector<int> thread_counts) {
  require_backend(options);
  BenchPlaces places;
  places.threads = thread_counts.empty() ? std::vector<int>{host_threads(options).threads} : std::move(thread_counts);
  const BackendName asked = options.backend;
  places.selection.serial = asked == BackendName::automatic || asked == BackendName::serial;
  places.selection.openmp = asked == BackendName::automatic || asked == BackendName::openmp;
  places.selection.cuda = asked == BackendName::automatic || asked == BackendName::cuda;
  if (places.selection.cuda && (asked == BackendName::cuda || cuda_unavailable_because().empty()))
    places.cuda = std::make_unique<Cuda>();
  return places;
}

Json machine_json(const BenchPlaces& places) {
  Json machine;
  machine.set("processor", processor_name())
      .set("instruction_set", instruction_set_name())
      .set("cores", available_threads());
  machine.set("gpu", places.cuda ? Json(cuda_device_name()) : Json(nullptr)).set("version", version);
  return machine;
}

namespace {

std::string machine_text(const BenchPlaces& places) {
  return formatted("{}, {} cores used at most, {}{}", processor_name(),
                   *std::max_element(places.threads.begin(), places.threads.end()), instruction_set_name(),
                   places.cuda ? "; " + cuda_device_name() : "");
}

/// Everything that was measured.
struct Found {
  std::vector<Measurement> all;
  bench::Roofs roofs;
  std::vector<bench::OrderRow> orders;
};

bench::Roofs roofs_of(const BenchPlaces& places) {
  bench::Roofs roofs;
  const auto measure = [&](int threads) {
    if (!roofs.host.contains(threads)) roofs.host[threads] = bench::host_streams(OpenMP{threads});
  };
  if (places.selection.serial) measure(1);
  if (places.selection.openmp)
    for (const int threads : places.threads) measure(threads);
  if (places.cuda) roofs.device = bench::device_streams(*places.cuda);
  return roofs;
}

Found measured(const std::vector<BenchItem>& items, const std::vector<Layout>& layouts, int trials,
               const BenchPlaces& places, const CommonOptions& options, std::span<const bench::Rival> rivals) {
  LiveLine line(!options.quiet);
  Found found;
  if (trials > 0) found.roofs = roofs_of(places);
  int item_number = 0;
  const Stopwatch clock;
  for (const BenchItem& item : items) {
    const LoadedMatrix loaded = load_matrix(item.matrix, options, false);
    bench::Plan plan;
    plan.selection = places.selection, plan.k = item.k, plan.layouts = layouts, plan.threads = places.threads,
    plan.trials = trials;
    const double parts = item.orders.empty() ? 1 : double(item.orders.size()) + 1;  // the solves are one more
    int part = 0;
    plan.progress = [&](int done, int jobs, const std::string& what) {
      const double share = (item_number + (part + double(done) / std::max(jobs, 1)) / parts) / double(items.size());
      if (line.due()) line.show(progress_text(share, clock.seconds(), what));
    };
    const std::size_t first = found.all.size();
    const auto measure = [&](const bench::Matrix& A, const std::string& order) {
      for (auto& m : bench::measure(item.kernel, loaded.name, A, plan, places.cuda.get(), rivals)) {
        m.order = order;
        found.all.push_back(std::move(m));
      }
      ++part;
    };
    if (item.orders.empty()) measure(loaded.matrix, "");
    for (const std::string& order : item.orders)
      if (order == "natural")
        measure(loaded.matrix, order);
      else
        measure(bench::in_order(loaded.matrix, order), order);
    if (!item.orders.empty()) {
      const std::vector<Measurement> pairs(found.all.begin() + std::ptrdiff_t(first), found.all.end());
      if (line.due()) line.show(loaded.name + ": the solves that the sweeps are for");
      for (auto& row : bench::order_rows(loaded.matrix, pairs, found.roofs)) found.orders.push_back(std::move(row));
    }
    ++item_number;
  }
  line.wipe();
  return found;
}

std::string page_of(const Found& found, const BenchPlaces& places, const CommonOptions& options) {
  const auto& [all, roofs, orders] = found;
  std::size_t right = 0;
  for (const Measurement& m : all) right += m.verdict == bench::Verdict::right;
  const bool good = !bench::any_wrong(all);
  HtmlPage page("seidel bench",
                formatted("{} of {} measurements right{}", right, all.size(), good ? "" : ", some are WRONG"), good);
  std::vector<std::pair<std::string, std::string>> facts = {{"machine", machine_text(places)}, {"version", version}};
  for (const auto& [name, said] : bench::lines_of(roofs)) facts.push_back({"bandwidth, " + name, said});
  page.facts("What was run", facts);
  for (std::size_t first = 0; first < all.size();) {
    std::size_t last = first;
    std::vector<std::vector<std::string>> rows;
    std::vector<Bar> bars;
    const auto title = [](const Measurement& m) {
      return formatted("{} of {}{}{}", m.rival->kernel, m.matrix, m.order.empty() ? "" : ", order " + m.order,
                       m.rival->kernel == "spmm"
                           ? formatted(", k = {}, {}-major", m.k, m.layout == Layout::row_major ? "row" : "column")
                           : "");
    };
    for (; last < all.size() && title(all[last]) == title(all[first]); ++last) {
      const Measurement& m = all[last];
      rows.push_back(bench::table_row(m, all, roofs));
      if (!m.sample.empty()) {
        const double median = m.sample.median(),
                     rate = m.flops > 0 ? bench::gflop_per_s(m, median) : bench::gb_per_s(m, median);
        bars.push_back(
            {m.rival->name() +
                 (m.rival->runs == bench::Runs::openmp ? formatted(", {}", plural(m.threads, "thread")) : ""),
             rate, formatted("{:.2f}", rate)});
      }
    }
    const bool flops = all[first].flops > 0;
    if (!bars.empty())
      page.bars(title(all[first]) + (flops ? ": GFLOP/s" : ": GB/s"),
                flops ? "GFLOP/s, of 2 nnz k" : "GB/s of the compulsory bytes", bars);
    page.table(title(all[first]), bench::table_header(), rows);
    first = last;
  }
  if (!orders.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& row : orders) rows.push_back(bench::cells(row));
    page.table("The solves that the sweeps are for", bench::orders_header(), rows);
  }
  page.text("Command", options.command_line);
  return page.html();
}

}  // namespace

int run_items(const std::vector<BenchItem>& items, const std::vector<Layout>& layouts, int trials,
              const BenchPlaces& places, const CommonOptions& options, const BenchOutputs& outputs,
              std::span<const bench::Rival> rivals) {
  if (!outputs.csv.empty()) require_writable("--csv", outputs.csv);
  if (!outputs.html.empty()) require_writable("--html", outputs.html);
  const Found found = measured(items, layouts, trials, places, options, rivals);
  const auto& [all, roofs, orders] = found;
  std::string text = machine_text(places) + "\n";
  for (const auto& [name, said] : bench::lines_of(roofs)) text += formatted("bandwidth, {:<10}  {}\n", name, said);
  const Paint paint(Terminal::of(1).colours);
  text.append("\n").append(bench::table_of(all, roofs, paint));
  if (!orders.empty()) text.append("\n").append(bench::table_of(orders, paint));
  print(options, text);
  if (!outputs.csv.empty()) write_text(outputs.csv, bench::csv_of(all, roofs));
  if (!outputs.html.empty()) write_text(outputs.html, page_of(found, places, options));
  if (!options.json.empty()) {
    Json json;
    json.set("schema", "seidel.bench/1")
        .set("version", version)
        .set("command", options.command_line)
        .set("machine", machine_json(places));
    const auto& host = roofs.host;
    json.set(
        "copy_gb_per_s",
        std::move(Json().set("host", host.empty() ? 0 : host.rbegin()->second.copy).set("device", roofs.device.copy)));
    json.set("roofs", bench::to_json(roofs));
    json.set("measurements", bench::to_json(all, roofs));
    if (!orders.empty()) json.set("orders", bench::to_json(orders));
    write_text(options.json, json.text());
  }
  return bench::any_wrong(all) ? 1 : 0;
}

}  // namespace seidel::drivers
