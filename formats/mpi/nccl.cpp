// Sending between GPUs by NCCL: over NVLink or the bus, and over networks that reach into a GPU.
#include <nccl.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <seidel/formats/mpi/gpu_network.hpp>
#include <seidel/formats/runtime/array.hpp>
#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/processes.hpp>

namespace seidel {

namespace {

void nccl_check(ncclResult_t status, const char* what) {
  if (status != ncclSuccess) throw BackendError(std::string(what) + " failed: " + ncclGetErrorString(status));
}

/// Processes of one communicator. One that is alone in it needs nobody.
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

class NcclPeers final : public GpuPeers {
 public:
  /// Sends a byte from each to each: connections are made when they are used for the first time.
  NcclPeers(const Cuda& on, MPI_Comm all) : all_(all) {
    int size = 1;
    MPI_Comm_size(all, &size);
    Array<std::byte, Device> out(on, size), in(on, size);
    const std::vector<std::int64_t> one(std::size_t(size), 1);
    exchange(on, processes_detail::pieces<const std::byte, Device>(out.data(), one),
             processes_detail::pieces<std::byte, Device>(in.data(), one));
    on.synchronize();
  }
  void exchange(const Cuda& on, const std::vector<DeviceSpan<const std::byte>>& out,
                const std::vector<DeviceSpan<std::byte>>& in) const override {
    nccl_check(ncclGroupStart(), "sending between GPUs");
    for (std::size_t p = 0; p < out.size(); ++p) {
      if (out[p].size() > 0)
        nccl_check(ncclSend(out[p].data(), std::size_t(out[p].size()), ncclUint8, int(p), all_.get(), on.stream()),
                   "sending between GPUs");
      if (in[p].size() > 0)
        nccl_check(ncclRecv(in[p].data(), std::size_t(in[p].size()), ncclUint8, int(p), all_.get(), on.stream()),
                   "sending between GPUs");
    }
    nccl_check(ncclGroupEnd(), "sending between GPUs");
  }

 private:
  Line all_;
};

bool each_has_its_own_gpu(const Cuda& on, MPI_Comm processes) {
  using Name = std::array<char, sizeof(cudaUUID_t)>;
  cudaDeviceProp properties;
  cuda_check(cudaGetDeviceProperties(&properties, on.device()), "asking for the name of a GPU");
  Name mine;
  std::memcpy(mine.data(), &properties.uuid, mine.size());
  int size = 1;
  MPI_Comm_size(processes, &size);
  std::vector<Name> all(static_cast<std::size_t>(size));
  mpi_check(MPI_Allgather(mine.data(), int(mine.size()), MPI_CHAR, all.data(), int(mine.size()), MPI_CHAR, processes),
            "comparing GPUs");
  std::sort(all.begin(), all.end());
  return std::adjacent_find(all.begin(), all.end()) == all.end();
}

}  // namespace

std::unique_ptr<GpuPeers> gpu_peers(const Cuda& on, MPI_Comm all) {
  int size = 1;
  MPI_Comm_size(all, &size);
  if (size == 1 || !each_has_its_own_gpu(on, all)) return nullptr;
  return std::make_unique<NcclPeers>(on, all);
}

std::unique_ptr<GpuNetwork> gpu_network(const Cuda& on, const ProcessGrid& grid) {
  if (!each_has_its_own_gpu(on, grid.all())) return nullptr;
  return std::make_unique<Nccl>(grid);
}

}  // namespace seidel
