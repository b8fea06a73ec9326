// seidel bench machine: what this machine can do at best.
#include <seidel/config.hpp>
#include <seidel/drivers/bench/machine.hpp>
#include <seidel/drivers/bench/run_plan.hpp>
#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/machine.hpp>
#include <seidel/drivers/output_file.hpp>

namespace seidel::drivers {

namespace {

std::string table_of(const std::vector<bench::Ceiling>& ceilings) {
  Table table({"ceiling", "median", "least", "most", "unit", "what"});
  for (const auto& c : ceilings)
    table.row({c.name, formatted("{:.4g}", c.value), formatted("{:.4g}", c.low), formatted("{:.4g}", c.high), c.unit,
               c.what});
  return table.text(Paint(Terminal::of(1).colours));
}

Json json_of(const std::vector<bench::Ceiling>& ceilings) {
  Json all = Json::array();
  for (const auto& c : ceilings) {
    Json one;
    one.set("name", c.name)
        .set("unit", c.unit)
        .set("value", c.value)
        .set("low", c.low)
        .set("high", c.high)
        .set("trials", c.trials)
        .set("what", c.what);
    all.push(std::move(one));
  }
  return all;
}

}  // namespace

int run(const BenchMachineOptions& options) {
  const BenchPlaces places = bench_places(options, {});
  Json json;
  json.set("schema", "seidel.bench.machine/1")
      .set("version", version)
      .set("command", options.command_line)
      .set("machine", machine_json(places));
  if (options.backend != BackendName::cuda) {
    const OpenMP on{options.backend == BackendName::serial ? 1 : places.threads.front()};
    const auto host = bench::host_ceilings(on);
    print(options,
          formatted("{}, {} of {} cores\n\n", processor_name(), on.threads, available_threads()) + table_of(host));
    json.set("host_threads", on.threads).set("host", json_of(host));
  }
  if constexpr (built_with_cuda)
    if (places.cuda) {
      const auto device = bench::device_ceilings(*places.cuda);
      print(options, formatted("\n{}\n\n", cuda_device_name()) + table_of(device));
      json.set("device", json_of(device));
    }
  if (!options.json.empty()) write_text(options.json, json.text());
  return 0;
}

}  // namespace seidel::drivers
