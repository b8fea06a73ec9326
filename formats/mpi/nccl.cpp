// Sending between GPUs by NCCL: over NVLink or the bus, and over networks that reach into a GPU.
#include <nccl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <future>
#include <optional>

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

/// Processes of one communicator, and what they know each other by.
struct Members {
  explicit Members(MPI_Comm processes) {
    MPI_Comm_rank(processes, &rank);
    MPI_Comm_size(processes, &size);
    if (size > 1 && rank == 0) nccl_check(ncclGetUniqueId(&id), "NCCL");
    mpi_check(MPI_Bcast(&id, int(sizeof id), MPI_BYTE, 0, processes), "telling of NCCL");
  }
  int rank = 0, size = 1;
  ncclUniqueId id{};
};

/// One that is alone needs nobody.
class Line {
 public:
  explicit Line(const Members& of) {
    if (of.size > 1) nccl_check(ncclCommInitRank(&line_, of.size, of.id, of.rank), "connecting GPUs by NCCL");
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
  explicit Nccl(const ProcessGrid& grid) : row_(Members(grid.row())), column_(Members(grid.column())) {}
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

/// Connects while its process does other things, which takes half a second and more.
class NcclPeers final : public GpuPeers {
 public:
  NcclPeers(const Cuda& on, const Members& of)
      : connecting_(std::async(std::launch::async, [this, device = on.device(), of] { connect(device, of); })) {}
  void exchange(const Cuda& on, const std::vector<DeviceSpan<const std::byte>>& out,
                const std::vector<DeviceSpan<std::byte>>& in) const override {
    connecting_.get();
    exchange_by(*all_, on, out, in);
  }

 private:
  /// Sends a byte from each to each: connections are made when they are used for the first time.
  void connect(int device, const Members& of) {
    const Cuda on(CudaSettings{.device = device});
    all_.emplace(of);
    Array<std::byte, Device> out(on, of.size), in(on, of.size);
    const std::vector<std::int64_t> one(std::size_t(of.size), 1);
    exchange_by(*all_, on, processes_detail::pieces<const std::byte, Device>(out.data(), one),
                processes_detail::pieces<std::byte, Device>(in.data(), one));
    on.synchronize();
  }
  static void exchange_by(const Line& all, const Cuda& on, const std::vector<DeviceSpan<const std::byte>>& out,
                          const std::vector<DeviceSpan<std::byte>>& in) {
    nccl_check(ncclGroupStart(), "sending between GPUs");
    for (std::size_t p = 0; p < out.size(); ++p) {
      if (out[p].size() > 0)
        nccl_check(ncclSend(out[p].data(), std::size_t(out[p].size()), ncclUint8, int(p), all.get(), on.stream()),
                   "sending between GPUs");
      if (in[p].size() > 0)
        nccl_check(ncclRecv(in[p].data(), std::size_t(in[p].size()), ncclUint8, int(p), all.get(), on.stream()),
                   "sending between GPUs");
    }
    nccl_check(ncclGroupEnd(), "sending between GPUs");
  }

  std::optional<Line> all_;
  std::shared_future<void> connecting_;  // waits where it ends
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
  return std::make_unique<NcclPeers>(on, Members(all));
}

std::unique_ptr<GpuNetwork> gpu_network(const Cuda& on, const ProcessGrid& grid) {
  if (!each_has_its_own_gpu(on, grid.all())) return nullptr;
  return std::make_unique<Nccl>(grid);
}

}  // namespace seidel
