// Sending between the GPUs of different processes without the host.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include <seidel/formats/mpi/process_grid.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel {

/// Whom a block is sent to: all of my row of the grid, or of my column.
enum class Along { row, column };

/// Bytes that process `root` of that row or column has, and all of it shall have.
template <class Space>
struct Broadcast {
  Along along;
  int root;
  Span<std::byte, Space> bytes;
};

/// Source  NVIDIA, NCCL user guide, "Collective operations".
class GpuNetwork {
 public:
  virtual ~GpuNetwork() = default;
  /// All of them at once, in the order of the stream; does not wait. Every process calls it with the same list, each
  /// with its own row, column and memory. Errors  BackendError.
  virtual void send(const Cuda& on, const std::vector<Broadcast<Device>>& blocks) const = 0;
};

/// Each process with each other.
/// Source  NVIDIA, NCCL user guide, "Point-to-point communication".
class GpuPeers {
 public:
  virtual ~GpuPeers() = default;
  /// As Processes::exchange(), in the order of the stream; does not wait. Errors  BackendError.
  virtual void exchange(const Cuda& on, const std::vector<DeviceSpan<const std::byte>>& out,
                        const std::vector<DeviceSpan<std::byte>>& in) const = 0;
};
/// None if this build has no NCCL, or two of the processes share a GPU. Every process calls it, and waits for all. They connect
/// on a thread of their own; the first exchange waits for that. Errors  BackendError, some of them of the first exchange.
std::unique_ptr<GpuPeers> gpu_peers(const Cuda& on, MPI_Comm all);

/// None if this build has no NCCL, or two processes of the grid share a GPU. Every process calls it, and waits for all.
/// Errors  BackendError.
std::unique_ptr<GpuNetwork> gpu_network(const Cuda& on, const ProcessGrid& grid);

}  // namespace seidel
