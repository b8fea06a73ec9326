// Which back end, why, and the step from that decision at run time to a type; the names of what the program runs on.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <seidel/drivers/options.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel::drivers {

class Team;  // solve_team.hpp

struct Placement {
  BackendName backend = BackendName::serial;  // never automatic
  int threads = 1;
  std::string device = {};       // the GPU's name, for cuda
  std::string because = {};      // "asked for", "9,000,000 nonzeros are worth a GPU", ...
  std::optional<Cuda> gpu = {};  // where a matrix lies already
  Team* team = nullptr;          // processes that solve together, each there
};

/// Threads that the host may use for reading, generating and analysis.
OpenMP host_threads(const CommonOptions& options);

/// Refuses a back end that was asked for by name and is not there, before any work is done. Errors  BackendError.
void require_backend(const CommonOptions& options);

/// The back end for work on `nnz` nonzeros. Starts the GPU's driver only if cuda was asked for, or auto with enough
/// work.
/// Errors  BackendError saying what is missing and how to get it.
Placement place(const CommonOptions& options, std::int64_t nnz);
/// The cores of the host for so many nonzeros.
Placement place_on_host(const CommonOptions& options, std::int64_t nnz);

/// "AMD EPYC 7763", or "an unknown processor".
std::string processor_name();
/// "avx512", "avx2" or "baseline".
const char* instruction_set_name();
/// How many processes mpirun started, of which this is one: Open MPI and MPICH say so. 1 without mpirun.
int processes_of_mpirun();
/// Which of them this is, from 0.
int rank_of_mpirun();

/// work(on) with the back end of `where`.
auto with_backend(const Placement& where, const auto& work) {
  if constexpr (built_with_cuda)
    if (where.backend == BackendName::cuda) return work(where.gpu ? *where.gpu : Cuda{});
  return work(OpenMP{where.threads});
}

}  // namespace seidel::drivers
