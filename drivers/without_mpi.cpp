// What takes the place of seidel gemm in a build without MPI.
#include <seidel/drivers/commands.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

int run(const GemmOptions&) {
  throw BackendError(
      "seidel gemm: this build has no MPI\n  install it (Debian, Ubuntu: apt-get install libopenmpi-dev openmpi-bin) "
      "and build "
      "with cmake --preset mpi");
}

}  // namespace seidel::drivers
