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
  std::vector<BenchKernel> kernels;
  for (const Kernel* kernel : all_kernels())
    if (!kernel->in_suite.empty()) kernels.push_back({.kernel = kernel, .k = kernel->in_suite});
  std::vector<BenchItem> items;
  for (const std::string& matrix : suite_matrices(options.large))
    items.push_back({.operand = matrix, .kernels = kernels, .only_what_fits = true});
  return run_items(items, options, bench_places(options, {}), options, options);
}

}  // namespace seidel::drivers
