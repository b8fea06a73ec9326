// seidel bench suite: a fixed list, so that one command repeats a table.
#include <seidel/drivers/bench/run_plan.hpp>
#include <seidel/drivers/commands.hpp>

namespace seidel::drivers {

namespace {

/// Lattices, finite elements, random and skewed rows: small enough for a laptop, or large enough for a GPU.
std::vector<std::string> suite_matrices(bool large) {
  if (large)
    return {"poisson3d:256",
            "hpcg:192",
            "elasticity3d:96",
            "random:500000x500000:10000000",
            "random:4000000x4000000:64000000",
            "rmat:20"};
  return {"poisson3d:64", "hpcg:48", "elasticity3d:20", "random:100000x100000:1000000", "rmat:15"};
}

}  // namespace

int run(const BenchSuiteOptions& options) {
  std::vector<BenchItem> items;
  for (const std::string& matrix : suite_matrices(options.large)) {
    items.push_back({matrix, {{"spmv"}, {"spmm", {8, 32}}, {"transpose"}}});
    const bool full_diagonal = !matrix.starts_with("random") && !matrix.starts_with("rmat");
    if (full_diagonal) items.back().kernels.push_back({"symgs"});
  }
  return run_items(items, options, bench_places(options, {}), options, options);
}

}  // namespace seidel::drivers
