// Which back end, and why; the names of what the program runs on.
#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/simd.hpp>

namespace seidel::drivers {

namespace {

// Waking threads costs some microseconds per kernel, and again in each sweep.
constexpr std::int64_t worth_threads = 250'000;
// Starting the driver and moving the matrix cost half a second; a GPU earns that on systems of this size.
constexpr std::int64_t worth_gpu = 5'000'000;

/// What mpirun has told this process: Open MPI or MPICH.
int told(const char* by_open_mpi, const char* by_mpich, int otherwise) {
  for (const char* variable : {by_open_mpi, by_mpich})
    if (const char* const value = std::getenv(variable)) return std::atoi(value);
  return otherwise;
}

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

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) {
      const auto colon = line.find(": ");
      if (colon != std::string::npos && colon + 2 < line.size()) return line.substr(colon + 2);
    }
  return "an unknown processor";
}

const char* instruction_set_name() {
  switch (best_instruction_set()) {
    case InstructionSet::avx512: return "avx512";
    case InstructionSet::avx2: return "avx2";
    case InstructionSet::baseline: break;
  }
  return "baseline";
}

int processes_of_mpirun() { return std::max(1, told("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", 1)); }
int rank_of_mpirun() { return told("OMPI_COMM_WORLD_RANK", "PMI_RANK", 0); }

}  // namespace seidel::drivers
