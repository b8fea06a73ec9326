// Starting MPI, and sharing cores and GPUs out among the processes of a machine.
#include <seidel/drivers/mpi_session.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <seidel/drivers/option_values.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

MpiSession::MpiSession() {
  // Pointers into a file that processes share, which we do not use: Open MPI 4.1 fails to open any file where it
  // cannot make them.
  setenv("OMPI_MCA_sharedfp", "^sm", 0);
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm on_this_machine;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &on_this_machine);
  MPI_Comm_rank(on_this_machine, &local_rank);
  MPI_Comm_size(on_this_machine, &local_size);
  cpu_set_t mine, of_all;
  sched_getaffinity(0, sizeof mine, &mine);
  MPI_Allreduce(&mine, &of_all, int(sizeof mine), MPI_BYTE, MPI_BOR, on_this_machine);
  const bool is_less_than_bound = available_threads() < CPU_COUNT(&mine);  // by a quota that all processes share
  local_cores = is_less_than_bound && !std::getenv("OMP_NUM_THREADS") ? available_threads() : CPU_COUNT(&of_all);
  MPI_Comm_free(&on_this_machine);
}
MpiSession::~MpiSession() { MPI_Finalize(); }

void meet() {
  MPI_Request request;
  mpi_check(MPI_Ibarrier(MPI_COMM_WORLD, &request), "waiting for processes");
  for (int done = 0; !done;) {
    mpi_check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "waiting for processes");
    if (!done) usleep(200);
  }
}

GridShape squarest(int processes) {
  int sizes[2] = {0, 0};
  MPI_Dims_create(processes, 2, sizes);
  return {sizes[0], sizes[1]};
}

GridShape grid_shape(const std::string& text) {
  std::int64_t sizes[2];
  if (!read_extents(text, sizes) || sizes[0] < 1 || sizes[1] < 1 || sizes[0] > (1 << 20) || sizes[1] > (1 << 20))
    throw UsageError(formatted("--grid: found '{}', expected rows and columns of processes: 2x3", text));
  return {int(sizes[0]), int(sizes[1])};
}

DistributedGemm distributed_gemm(const std::string& method) {
  return method == "summa" ? DistributedGemm::summa : DistributedGemm::row_sums;
}

std::string ProcessPlace::describe() const {
  return gpu ? cuda_device_name() : plural(host.threads, "thread") + " each";
}

ProcessPlace process_place(const CommonOptions& options, const MpiSession& session) {
  const int share = std::max(1, std::min(available_threads(), session.local_cores / session.local_size));
  ProcessPlace place{.host = {options.backend == BackendName::serial ? 1 : options.threads ? options.threads : share}};
  together(MPI_COMM_WORLD, [&] {
    require_backend(options);
    if constexpr (built_with_cuda)
      if (options.backend == BackendName::cuda)
        place.gpu.emplace(CudaSettings{.device = session.local_rank % cuda_device_count(), .host = place.host});
  });
  return place;
}

void end_all_processes(const MpiSession& session, const std::exception& error) {
  std::fprintf(stderr, "seidel: process %d: %s\n", session.rank, error.what());
  MPI_Abort(MPI_COMM_WORLD, 5);
  std::abort();  // not reached, but MPI does not say so
}

}  // namespace seidel::drivers
