// The processes of an MPI communicator.
#pragma once
#include <mpi.h>

#include <memory>

#include <seidel/formats/mpi/gpu_network.hpp>
#include <seidel/formats/runtime/processes.hpp>

namespace seidel {

/// Those of `all`, which must outlive this. Errors of its members  BackendError with what MPI says.
class MpiProcesses final : public Processes {
 public:
  explicit MpiProcesses(MPI_Comm all);
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void gather(HostSpan<const double> mine, const std::vector<int>& counts, double* all) const override;
  void exchange(const std::vector<HostSpan<const std::byte>>& out,
                const std::vector<HostSpan<std::byte>>& in) const override;
  bool exchange_on(const Cuda& on, const std::vector<DeviceSpan<const std::byte>>& out,
                   const std::vector<DeviceSpan<std::byte>>& in) const override;

  /// From here on exchange_on() is by NCCL, where there is a way: as gpu_peers(). Every process calls it, with the GPU that it uses.
  void connect(const Cuda& gpu) { peers_ = gpu_peers(gpu, all_); }
  /// Whether there is.
  bool are_connected() const { return peers_ != nullptr; }

 private:
  std::unique_ptr<GpuPeers> peers_;
  MPI_Comm all_;
  int rank_ = 0, size_ = 1;
};

}  // namespace seidel
