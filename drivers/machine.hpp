// What the program runs on, for reports.
#pragma once
#include <string>

namespace seidel::drivers {

/// "AMD EPYC 7763", or "an unknown processor".
std::string processor_name();
/// "avx512", "avx2" or "baseline".
const char* instruction_set_name();
/// How many processes mpirun started, of which this is one: Open MPI and MPICH say so. 1 without mpirun.
int processes_of_mpirun();
/// Which of them this is, from 0.
int rank_of_mpirun();

}  // namespace seidel::drivers
