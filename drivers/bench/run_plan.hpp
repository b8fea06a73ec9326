// From options to measurements to every report of them: what bench KERNEL and bench suite share.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <seidel/drivers/bench/measure.hpp>
#include <seidel/drivers/bench/output.hpp>
#include <seidel/drivers/options.hpp>

namespace seidel::drivers {

/// One kernel on one matrix.
struct BenchItem {
  std::string kernel, matrix;
  std::vector<std::int64_t> k;
  std::vector<std::string> orders = {};  // of symgs: each is measured, and solved with
};

/// The selection that --backend asks for, and a GPU if it may be used and is there.
struct BenchPlaces {
  bench::Selection selection;
  std::unique_ptr<Cuda> cuda;
  std::vector<int> threads;
};
BenchPlaces bench_places(const CommonOptions& options, std::vector<int> thread_counts);

/// What the machine is, for JSON and pages.
Json machine_json(const BenchPlaces& places);

/// Measures every item, prints the tables, writes JSON, CSV and HTML. Returns the exit code: 1 if a rival was wrong.
/// `rivals` is the registry, but for tests.
int run_items(const std::vector<BenchItem>& items, const std::vector<Layout>& layouts, int trials,
              const BenchPlaces& places, const CommonOptions& options, const BenchOutputs& outputs,
              std::span<const bench::Rival> rivals = bench::rivals());

}  // namespace seidel::drivers
