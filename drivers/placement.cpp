// Which back end, and why.
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

namespace {

// Waking threads costs some microseconds per kernel, and again in each sweep.
constexpr std::int64_t worth_threads = 250'000;
// Starting the driver and moving the matrix cost half a second; a GPU earns that on systems of this size.
constexpr std::int64_t worth_gpu = 5'000'000;

}  // namespace

OpenMP host_threads(const CommonOptions& options) {
  if (options.backend == BackendName::serial) return {1};
  return {options.threads ? options.threads : available_threads()};
}

void require_backend(const CommonOptions& options) {
  if (options.backend != BackendName::cuda) return;
  if (const auto reason = cuda_unavailable_because(); !reason.empty())
    throw BackendError("--backend cuda: " + reason + " (--backend openmp)");
}

Placement place(const CommonOptions& options, std::int64_t nnz) {
  const int threads = host_threads(options).threads;
  switch (options.backend) {
    case BackendName::serial: return {.backend = BackendName::serial, .because = "asked for"};
    case BackendName::openmp: return {.backend = BackendName::openmp, .threads = threads, .because = "asked for"};
    case BackendName::cuda:
      require_backend(options);
      return {.backend = BackendName::cuda, .threads = threads, .device = cuda_device_name(), .because = "asked for"};
    case BackendName::automatic: break;
  }
  std::string no_gpu;
  if (built_with_cuda && nnz >= worth_gpu) {
    if (cuda_unavailable_because().empty())
      return {.backend = BackendName::cuda,
              .threads = threads,
              .device = cuda_device_name(),
              .because = formatted("{} nonzeros are worth a GPU", count(nnz))};
    no_gpu = ", and there is no GPU";
  }
  Placement host = place_on_host(options, nnz);
  host.because += no_gpu;
  return host;
}

Placement place_on_host(const CommonOptions& options, std::int64_t nnz) {
  const int threads = host_threads(options).threads;
  if (threads == 1) return {.backend = BackendName::serial, .because = "one thread"};
  if (nnz < worth_threads)
    return {.backend = BackendName::serial,
            .because = formatted("{}: too small to gain from {} threads", plural(nnz, "nonzero"), threads)};
  return {.backend = BackendName::openmp,
          .threads = threads,
          .because = formatted("{} nonzeros are worth several threads", count(nnz))};
}

}  // namespace seidel::drivers
