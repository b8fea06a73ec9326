// How many GPUs there are.
#include <seidel/drivers/mpi_session.hpp>
#include <seidel/formats/runtime/cuda_check.hpp>

namespace seidel::drivers {

int cuda_device_count() {
  int count = 0;
  cuda_check(cudaGetDeviceCount(&count), "counting GPUs");
  return count;
}

}  // namespace seidel::drivers
