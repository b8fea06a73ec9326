// seidel bench KERNEL MATRIX..., and --list; seidel bench suite: a fixed list, so that one command repeats a table, or a folder of files.
#include <algorithm>
#include <filesystem>

#include <seidel/drivers/bench/kernels/tasks.hpp>
#include <seidel/drivers/bench/output.hpp>
#include <seidel/drivers/bench/run_plan.hpp>
#include <seidel/drivers/commands.hpp>
#include <seidel/formats/runtime/errors.hpp>

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

/// The Matrix Market files of a folder, by name. Errors  InputError where there are none.
std::vector<std::string> matrices_in(const std::string& folder) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(folder)) throw InputError(formatted("--files: found {}, expected a folder", folder));
  std::vector<std::string> files;
  for (const auto& file : fs::directory_iterator(folder))
    if (const std::string name = file.path().string(); name.ends_with(".mtx") || name.ends_with(".mtx.gz"))
      files.push_back(name);
  if (files.empty()) throw InputError(formatted("--files: found no .mtx or .mtx.gz file in {}", folder));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int run(const BenchKernelOptions& options) {
  if (options.list) {
    print(options, list_of(rivals(), options.kernel, options.only, Paint(Terminal::of(1).colours)));
    return 0;
  }
  Plan plan = plan_for(options, options.thread_counts);
  plan.selection.only = options.only;
  const Kernel& kernel = *options.kernel;
  const bool any = std::ranges::any_of(rivals(), [&](const Rival& rival) {
    return rival.kernel == &kernel && plan.selection.wants(rival) && (rival.backend != BackendName::cuda || plan.cuda);
  });
  if (!any)
    throw UsageError(
        formatted("--only {}: no rival of {} has such a name on these back ends\n  see seidel bench {} --list",
                  options.only, kernel.name, kernel.name));
  BenchKernel asked{.kernel = &kernel, .orders = options.orders};
  if (!options.k.empty()) asked.k = options.k;
  asked.layouts.clear();
  for (const std::string& layout : options.layouts)
    asked.layouts.push_back(layout == "row" ? Layout::row_major : Layout::column_major);
  std::vector<BenchItem> items;
  for (const std::string& operand : options.operands) items.push_back({operand, {asked}});
  return run_items(items, options, plan);
}

int run(const BenchSuiteOptions& options) {
  std::vector<BenchKernel> kernels;
  for (const Kernel* kernel : all_kernels())
    if (!kernel->in_suite.empty()) kernels.push_back({.kernel = kernel, .k = kernel->in_suite});
  std::vector<BenchItem> items;
  for (const std::string& matrix : options.files.empty() ? suite_matrices(options.large) : matrices_in(options.files))
    items.push_back({.operand = matrix, .kernels = kernels, .only_what_fits = true});
  return run_items(items, options, plan_for(options));
}

}  // namespace seidel::drivers
