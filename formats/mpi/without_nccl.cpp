// What takes the place of NCCL in a build without it.
#include <seidel/formats/mpi/gpu_network.hpp>

namespace seidel {

std::unique_ptr<GpuPeers> gpu_peers(const Cuda&, MPI_Comm) { return nullptr; }
std::unique_ptr<GpuNetwork> gpu_network(const Cuda&, const ProcessGrid&) { return nullptr; }

}  // namespace seidel
