// The files of a solve: x and the history.
#pragma once
#include <string>
#include <vector>

#include <seidel/drivers/options.hpp>
#include <seidel/drivers/solve_on.hpp>

namespace seidel::drivers {

struct Written {
  std::string x;        // the file that x is in, or empty
  std::string failure;  // what could not be written, and why; empty if all was
};

/// If --out cannot be written, x goes to a folder of its own among the temporary files: it may have taken hours.
Written write_results(const SolveOptions& options, const std::vector<Outcome>& outcomes);

/// Says before a solve if the disk of --out may have no room for so many numbers.
void say_if_disk_is_full(const SolveOptions& options, std::int64_t numbers);

}  // namespace seidel::drivers
