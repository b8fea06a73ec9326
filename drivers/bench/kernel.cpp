// seidel bench KERNEL MATRIX..., and --list.
#include <seidel/drivers/bench/output.hpp>
#include <seidel/drivers/bench/run_plan.hpp>
#include <seidel/drivers/commands.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

int run(const BenchKernelOptions& options) {
  if (options.list) {
    print(options, list_of(rivals(), options.kernel, options.only, Paint(Terminal::of(1).colours)));
    return 0;
  }
  BenchPlaces places = bench_places(options, options.thread_counts);
  places.selection.only = options.only;
  bool any = false;
  for (const Rival& rival : rivals())
    any |= rival.kernel == options.kernel && places.selection.wants(rival) &&
           (rival.backend != BackendName::cuda || places.cuda);
  if (!any)
    throw UsageError(
        formatted("--only {}: no rival of {} has such a name on these back ends\n  see seidel bench {} --list",
                  options.only, options.kernel, options.kernel));
  BenchKernel kernel{options.kernel};
  if (!options.k.empty()) kernel.k = options.k;
  kernel.layouts.clear();
  for (const std::string& layout : options.layouts)
    kernel.layouts.push_back(layout == "row" ? Layout::row_major : Layout::column_major);
  kernel.orders = options.orders;
  std::vector<BenchItem> items;
  for (const std::string& matrix : options.matrices) items.push_back({matrix, {kernel}});
  return run_items(items, options, places, options, options);
}

}  // namespace seidel::drivers
