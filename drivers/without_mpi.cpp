// What takes the place of seidel gemm in a build without MPI.
#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/solve_team.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

namespace {

[[noreturn]] int refuse(const char* command) {
  throw BackendError(
      std::string(command) +
      ": this build has no MPI\n  install it (Debian, Ubuntu: apt-get install libopenmpi-dev openmpi-bin) and build "
      "with cmake --preset mpi");
}

}  // namespace

int with_team(const SolveOptions&, const std::function<int(Team*)>& lead) { return lead(nullptr); }
int run(const GemmOptions&) { return refuse("seidel gemm"); }
int run(const BenchGemmMpiOptions&) { return refuse("seidel bench gemm-mpi"); }

}  // namespace seidel::drivers
