// Measures a list of kernels and matrices, and reports.
#include <seidel/drivers/bench/run_plan.hpp>

#include <iterator>

#include <seidel/config.hpp>
#include <seidel/drivers/bench/machine.hpp>
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

std::vector<Measurement> measured(const std::vector<BenchItem>& items, const std::vector<Layout>& layouts, int trials,
                                  const BenchPlaces& places, const CommonOptions& options) {
  LiveLine line(!options.quiet);
  std::vector<Measurement> all;
  int item_number = 0;
  const Stopwatch clock;
  for (const BenchItem& item : items) {
    const LoadedMatrix loaded = load_matrix(item.matrix, options, false);
    bench::Plan plan;
    plan.selection = places.selection, plan.k = item.k, plan.layouts = layouts, plan.threads = places.threads,
    plan.trials = trials;
    plan.progress = [&](int done, int jobs, const std::string& what) {
      const double share = (item_number + double(done) / std::max(jobs, 1)) / double(items.size());
      const double left = share > 0 ? clock.seconds() * (1 - share) / share : 0;
      if (line.due())
        line.show(formatted("{:.0f} %  {}{}", 100 * share, what,
                            share > 0.02 ? formatted("  about {} left", human_seconds(left)) : ""));
    };
    auto found = bench::measure(item.kernel, loaded.name, loaded.matrix, plan, places.cuda.get());
    all.insert(all.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
    ++item_number;
  }
  line.wipe();
  return all;
}

std::string page_of(const std::vector<Measurement>& all, const bench::Copies& copies, const BenchPlaces& places,
                    const CommonOptions& options) {
  std::size_t right = 0;
  for (const Measurement& m : all) right += m.verdict == bench::Verdict::right;
  const bool good = !bench::any_wrong(all);
  HtmlPage page("seidel bench",
                formatted("{} of {} measurements right{}", right, all.size(), good ? "" : ", some are WRONG"), good);
  std::vector<std::pair<std::string, std::string>> facts = {{"machine", machine_text(places)}, {"version", version}};
  if (copies.host_gb_per_s > 0) facts.push_back({"copy, host", formatted("{:.1f} GB/s", copies.host_gb_per_s)});
  if (copies.device_gb_per_s > 0) facts.push_back({"copy, GPU", formatted("{:.1f} GB/s", copies.device_gb_per_s)});
  page.facts("What was run", facts);
  for (std::size_t first = 0; first < all.size();) {
    std::size_t last = first;
    std::vector<std::vector<std::string>> rows;
    std::vector<Bar> bars;
    const auto title = [](const Measurement& m) {
      return formatted("{} of {}{}", m.rival->kernel, m.matrix,
                       m.rival->kernel == "spmm"
                           ? formatted(", k = {}, {}-major", m.k, m.layout == Layout::row_major ? "row" : "column")
                           : "");
    };
    for (; last < all.size() && title(all[last]) == title(all[first]); ++last) {
      const Measurement& m = all[last];
      rows.push_back(bench::table_row(m, all, copies));
      if (!m.sample.empty()) {
        const double rate = bench::gflop_per_s(m, m.sample.median());
        bars.push_back(
            {m.rival->name() + (m.rival->runs == bench::Runs::openmp ? formatted(", {} threads", m.threads) : ""), rate,
             formatted("{:.2f}", rate)});
      }
    }
    if (!bars.empty()) page.bars(title(all[first]) + ": GFLOP/s", "GFLOP/s, of 2 nnz k", bars);
    page.table(title(all[first]), bench::table_header(), rows);
    first = last;
  }
  page.text("Command", options.command_line);
  return page.html();
}

}  // namespace

int run_items(const std::vector<BenchItem>& items, const std::vector<Layout>& layouts, int trials,
              const BenchPlaces& places, const CommonOptions& options, const BenchOutputs& outputs) {
  if (!outputs.csv.empty()) require_writable("--csv", outputs.csv);
  if (!outputs.html.empty()) require_writable("--html", outputs.html);
  const std::vector<Measurement> all = measured(items, layouts, trials, places, options);
  bench::Copies copies;
  if (trials > 0) {
    if (places.selection.serial || places.selection.openmp)
      copies.host_gb_per_s =
          bench::host_copy_gb_per_s(OpenMP{*std::max_element(places.threads.begin(), places.threads.end())});
    if (places.cuda) copies.device_gb_per_s = bench::device_copy_gb_per_s(*places.cuda);
  }
  std::string text = machine_text(places) + "\n";
  if (copies.host_gb_per_s > 0) text += formatted("copy bandwidth of the host   {:.1f} GB/s\n", copies.host_gb_per_s);
  if (copies.device_gb_per_s > 0)
    text += formatted("copy bandwidth of the GPU    {:.1f} GB/s\n", copies.device_gb_per_s);
  print(options, text + "\n" + bench::table_of(all, copies, Paint(Terminal::of(1).colours)));
  if (!outputs.csv.empty()) write_text(outputs.csv, bench::csv_of(all, copies));
  if (!outputs.html.empty()) write_text(outputs.html, page_of(all, copies, places, options));
  if (!options.json.empty()) {
    Json json;
    json.set("schema", "seidel.bench/1")
        .set("version", version)
        .set("command", options.command_line)
        .set("machine", machine_json(places));
    json.set("copy_gb_per_s",
             std::move(Json().set("host", copies.host_gb_per_s).set("device", copies.device_gb_per_s)));
    json.set("measurements", bench::to_json(all, copies));
    write_text(options.json, json.text());
  }
  return bench::any_wrong(all) ? 1 : 0;
}

}  // namespace seidel::drivers
