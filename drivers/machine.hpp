// What the program runs on, for reports.
#pragma once
#include <string>

namespace seidel::drivers {

/// "AMD EPYC 7763", or "an unknown processor".
std::string processor_name();
/// "avx512", "avx2" or "baseline".
const char* instruction_set_name();

}  // namespace seidel::drivers
