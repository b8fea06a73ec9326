// seidel bench machine: what this machine can do at best.
#include <map>

#include <seidel/config.hpp>
#include <seidel/drivers/bench/machine.hpp>
#include <seidel/drivers/bench/measure.hpp>
#include <seidel/drivers/bench/output.hpp>
#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/html.hpp>
#include <seidel/drivers/with_backend.hpp>

namespace seidel::drivers {

namespace {

/// One kind of processor, with all that was measured of it.
struct Side {
  std::string key, title;  // "host", "AMD EPYC, 2 of 2 cores"
  std::vector<Ceiling> ceilings;
};

Table table_of(const Side& side) {
  Table table{{"ceiling", "median", "least", "most", "unit", "what"}};
  for (const auto& c : side.ceilings)
    table.row({c.name, formatted("{:.4g}", c.value), formatted("{:.4g}", c.low), formatted("{:.4g}", c.high), c.unit,
               c.what});
  return table;
}

std::string csv_of(const std::vector<Side>& sides) {
  std::string text = "processor,name,unit,value,low,high,trials,what\n";
  for (const Side& side : sides)
    for (const auto& c : side.ceilings)
      text += formatted("{},{},{},{:.6g},{:.6g},{:.6g},{},{}\n", side.key, csv_cell(c.name), c.unit, c.value, c.low,
                        c.high, c.trials, csv_cell(c.what));
  return text;
}

Json json_of(const Side& side) {
  return json_list(side.ceilings, [](const Ceiling& c) {
    Json one;
    one.set("name", c.name).set("unit", c.unit).set("value", c.value).set("low", c.low).set("high", c.high);
    one.set("trials", c.trials).set("what", c.what);
    return one;
  });
}

std::string page_of(const std::vector<Side>& sides, const CommonOptions& options) {
  HtmlPage page("seidel bench machine", "What this machine can do at best", true);
  page.facts("What was run", {{"instruction set", instruction_set_name()}, {"version", version}});
  for (const Side& side : sides) {
    page.table(side.title, table_of(side), "Medians over the trials, and the extremes.");
    std::map<std::string, std::vector<Bar>> by_unit;
    for (const auto& c : side.ceilings) by_unit[c.unit].push_back({c.name, c.value, formatted("{:.4g}", c.value)});
    for (const auto& [unit, bars] : by_unit) page.bars(side.key + ": " + unit, unit, bars);
  }
  return page.html(options.command_line);
}

}  // namespace

int run(const BenchMachineOptions& options) {
  const Plan plan = plan_for(options);
  std::vector<Side> sides;
  const auto add = [&](Side side) {
    print(options,
          (sides.empty() ? "" : "\n") + side.title + "\n\n" + table_of(side).text(Paint(Terminal::of(1).colours)),
          options.csv == "-" || options.html == "-");
    sides.push_back(std::move(side));
  };
  Json json = json_document("seidel.bench.machine/1", options.command_line);
  json.set("machine", machine_json(plan));
  if (options.backend != BackendName::cuda) {
    const OpenMP on{options.backend == BackendName::serial ? 1 : plan.threads.front()};
    add({"host",
         formatted("{}, {} on {}", processor_name(), plural(on.threads, "thread"), plural(available_threads(), "core")),
         host_ceilings(on)});
    json.set("host_threads", on.threads);
  }
  if constexpr (built_with_cuda)
    if (plan.cuda) add({"device", cuda_device_name(), device_ceilings(*plan.cuda)});
  for (const Side& side : sides) json.set(side.key, json_of(side));
  if (!options.csv.empty()) write_text(options.csv, csv_of(sides));
  if (!options.html.empty()) write_text(options.html, page_of(sides, options));
  if (!options.json.empty()) write_text(options.json, json.text());
  return 0;
}

}  // namespace seidel::drivers
