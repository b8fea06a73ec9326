// Where a bench runs, and how reports name it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <seidel/drivers/bench/measure.hpp>
#include <seidel/drivers/options.hpp>
#include <seidel/drivers/report/json.hpp>

namespace seidel::drivers {

/// The selection that --backend asks for, and a GPU if it may be used and is there.
struct BenchPlaces {
  Selection selection;
  std::unique_ptr<Cuda> cuda;
  std::vector<int> threads;
};
/// Errors  BackendError for a back end that was asked for by name and is not there.
BenchPlaces bench_places(const CommonOptions& options, std::vector<int> thread_counts);

/// What the machine is: one line, and for JSON.
std::string machine_text(const BenchPlaces& places);
Json machine_json(const BenchPlaces& places);

}  // namespace seidel::drivers
