// Back ends, threads and the names of the machine.
#include <seidel/drivers/bench/places.hpp>

#include <algorithm>

#include <seidel/config.hpp>
#include <seidel/drivers/machine.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/with_backend.hpp>

namespace seidel::drivers {

Plan plan_for(const CommonOptions& options, std::vector<int> thread_counts) {
  require_backend(options);
  Plan plan;
  plan.threads = thread_counts.empty() ? std::vector<int>{host_threads(options).threads} : std::move(thread_counts);
  if (options.backend != BackendName::automatic) plan.selection.backends = {options.backend};
  if (options.backend == BackendName::cuda ||
      (options.backend == BackendName::automatic && cuda_unavailable_because().empty()))
    plan.cuda.emplace();
  return plan;
}

std::string machine_text(const Plan& plan) {
  const int used = plan.selection.wants(BackendName::openmp)   ? std::ranges::max(plan.threads)
                   : plan.selection.wants(BackendName::serial) ? 1
                                                               : 0;
  return formatted("{}, {}{}, {}{}", processor_name(), used ? formatted("{} of ", used) : "",
                   plural(available_threads(), "core"), instruction_set_name(),
                   plan.cuda ? "; " + cuda_device_name() : "");
}

Json machine_json(const Plan& plan) {
  Json machine;
  machine.set("processor", processor_name()).set("instruction_set", instruction_set_name());
  machine.set("cores", available_threads());
  machine.set("gpu", plan.cuda ? Json(cuda_device_name()) : Json(nullptr)).set("version", version);
  return machine;
}

}  // namespace seidel::drivers
