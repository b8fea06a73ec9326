// What the commands on many processes share: MPI itself, and where each process computes.
#pragma once
#include <exception>
#include <optional>
#include <string>

#include <seidel/drivers/options.hpp>
#include <seidel/formats/mpi/process_grid.hpp>
#include <seidel/formats/runtime/backend.hpp>
#include <seidel/kernels/gemm/mpi/distributed.hpp>

namespace seidel::drivers {

/// MPI from here to the end of the scope.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;

  int rank = 0, size = 1, local_rank = 0, local_size = 1;  // of all processes; of those on this machine
  int local_cores = 1;                                     // that those may use together
};

/// work(session) on each process: the exit code. What it throws, it throws on all of them: the first process tells of it.
int on_all_processes(const auto& work) {
  const MpiSession session;
  try {
    return work(session);
  } catch (...) {
    if (session.rank == 0) throw;
  }
  return 0;
}

/// Waits for all processes, those that come early without keeping a core busy.
void meet();

struct GridShape {
  int rows = 0, columns = 0;
};
/// As square as can be.
GridShape squarest(int processes);
/// "2x3". Errors  UsageError.
GridShape grid_shape(const std::string& text);

DistributedGemm distributed_gemm(const std::string& method);

/// The back end of one process: its share of the cores of its machine, or one of the machine's GPUs in turn.
struct ProcessPlace {
  OpenMP host;
  std::optional<Cuda> gpu = {};
  std::string describe() const;
};
/// Every process calls it. Errors  BackendError.
ProcessPlace process_place(const CommonOptions& options, const MpiSession& session);

/// Ends all processes at once, wherever they are: for an error of one for which others would wait for ever.
[[noreturn]] void end_all_processes(const MpiSession& session, const std::exception& error);

/// Calls work(on) with that back end. What it throws ends all processes at once, since others may wait for this one.
void on_process_place(const ProcessPlace& place, const MpiSession& session, const auto& work) {
  try {
    if constexpr (built_with_cuda)
      if (place.gpu) return work(*place.gpu);
    work(place.host);
  } catch (const std::exception& error) {
    end_all_processes(session, error);
  }
}

}  // namespace seidel::drivers
