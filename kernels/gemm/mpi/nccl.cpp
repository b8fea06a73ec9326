// Sending between GPUs by NCCL: over NVLink or the bus, and over networks that reach into a GPU.
#include <nccl.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/gemm/mpi/gpu_network.hpp>

namespace seidel {

namespace {

void nccl_check(ncclResult_t status, const char* what) {
  if (status != ncclSuccess) throw BackendError(std::string(what) + " failed: " + ncclGetErrorString(status));
}

/// The processes of one row or column. Those alone in it need nobody.
class Line {
 public:
  explicit Line(MPI_Comm processes) {
    int rank = 0, size = 1;
    MPI_Comm_rank(processes, &rank);
    MPI_Comm_size(processes, &size);
    if (size == 1) return;
    ncclUniqueId id{};
    if (rank == 0) nccl_check(ncclGetUniqueId(&id), "NCCL");
    mpi_check(MPI_Bcast(&id, int(sizeof id), MPI_BYTE, 0, processes), "telling of NCCL");
    nccl_check(ncclCommInitRank(&line_, size, id, rank), "connecting GPUs by NCCL");
  }
  ~Line() {
    if (line_) ncclCommDestroy(line_);
  }
  Line(const Line&) = delete;
  ncclComm_t get() const { return line_; }

 private:
  ncclComm_t line_ = nullptr;
};

class Nccl final : public GpuNetwork {
 public:
  explicit Nccl(const ProcessGrid& grid) : row_(grid.row()), column_(grid.column()) {}
  void send(const Cuda& on, const std::vector<Broadcast<Device>>& blocks) const override {
    nccl_check(ncclGroupStart(), "sending between GPUs");
    for (const auto& [along, root, bytes] : blocks) {
      const ncclComm_t line = (along == Along::row ? row_ : column_).get();
      if (line)
        nccl_check(
            ncclBroadcast(bytes.data(), bytes.data(), std::size_t(bytes.size()), ncclUint8, root, line, on.stream()),
            "sending between GPUs");
    }
    nccl_check(ncclGroupEnd(), "sending between GPUs");
  }

 private:
  Line row_, column_;
};

bool each_has_its_own_gpu(const Cuda& on, const ProcessGrid& grid) {
  using Name = std::array<char, sizeof(cudaUUID_t)>;
  cudaDeviceProp properties;
  cuda_check(cudaGetDeviceProperties(&properties, on.device()), "asking for the name of a GPU");
  Name mine;
  std::memcpy(mine.data(), &properties.uuid, mine.size());
  std::vector<Name> all(std::size_t(grid.rows()) * std::size_t(grid.columns()));
  mpi_check(MPI_Allgather(mine.data(), int(mine.size()), MPI_CHAR, all.data(), int(mine.size()), MPI_CHAR, grid.all()),
            "comparing GPUs");
  std::sort(all.begin(), all.end());
  return std::adjacent_find(all.begin(), all.end()) == all.end();
}

}  // namespace

std::unique_ptr<GpuNetwork> gpu_network(const Cuda& on, const ProcessGrid& grid) {
  if (!each_has_its_own_gpu(on, grid)) return nullptr;
  return std::make_unique<Nccl>(grid);
}

}  // namespace seidel
