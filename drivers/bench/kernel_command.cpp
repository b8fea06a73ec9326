// seidel bench KERNEL MATRIX..., and --list.
#include <algorithm>

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

}  // namespace seidel::drivers
