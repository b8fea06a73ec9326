// Which back end, and why.
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

namespace {

// Waking threads costs some microseconds a kernel, and a sweep wakes them for each wavefront.
constexpr std::int64_t worth_threads = 250'000;
// Starting the driver and moving the matrix cost half a second; a GPU earns that on systems of this size.
constexpr std::int64_t worth_gpu = 5'000'000;

}  // namespace

const char* Placement::name() const {
  return backend == BackendName::cuda ? "cuda" : backend == BackendName::openmp ? "openmp" : "serial";
}

OpenMP host_threads(const CommonOptions& options) {
  if (options.backend == BackendName::serial) return {1};
  return {options.threads ? options.threads : available_threads()};
}

void require_backend(const CommonOptions& options) {
  if (options.backend != BackendName::cuda) return;
  if (const auto reason = cuda_unavailable_because(); !reason.empty()) throw BackendError("--backend cuda: " + reason);
}

Placement place(const CommonOptions& options, std::int64_t nnz) {
  const int threads = host_threads(options).threads;
  switch (options.backend) {
    case BackendName::serial: return {BackendName::serial, 1, "", "asked for"};
    case BackendName::openmp: return {BackendName::openmp, threads, "", "asked for"};
    case BackendName::cuda:
      require_backend(options);
      return {BackendName::cuda, threads, cuda_device_name(), "asked for"};
    case BackendName::automatic: break;
  }
  std::string no_gpu;
  if (built_with_cuda && nnz >= worth_gpu) {
    if (cuda_unavailable_because().empty())
      return {BackendName::cuda, threads, cuda_device_name(), formatted("{} nonzeros are worth a GPU", count(nnz))};
    no_gpu = ", and there is no GPU";
  }
  if (threads == 1) return {BackendName::serial, 1, "", "one thread" + no_gpu};
  if (nnz < worth_threads)
    return {BackendName::serial, 1, "",
            formatted("{} are too few to share out among {} threads", plural(nnz, "nonzero"), threads)};
  return {BackendName::openmp, threads, "", formatted("{} nonzeros are worth sharing out{}", count(nnz), no_gpu)};
}

}  // namespace seidel::drivers
