// What the program runs on, for reports.
#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <seidel/drivers/machine.hpp>
#include <seidel/formats/runtime/simd.hpp>

namespace seidel::drivers {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) {
      const auto colon = line.find(": ");
      if (colon != std::string::npos && colon + 2 < line.size()) return line.substr(colon + 2);
    }
  return "an unknown processor";
}

const char* instruction_set_name() {
  switch (best_instruction_set()) {
    case InstructionSet::avx512: return "avx512";
    case InstructionSet::avx2: return "avx2";
    case InstructionSet::baseline: break;
  }
  return "baseline";
}

namespace {
/// What mpirun has told this process: Open MPI or MPICH.
int told(const char* by_open_mpi, const char* by_mpich, int otherwise) {
  for (const char* variable : {by_open_mpi, by_mpich})
    if (const char* const value = std::getenv(variable)) return std::atoi(value);
  return otherwise;
}
}  // namespace

int processes_of_mpirun() { return std::max(1, told("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", 1)); }
int rank_of_mpirun() { return told("OMPI_COMM_WORLD_RANK", "PMI_RANK", 0); }

}  // namespace seidel::drivers
