// From options to measurements to every report of them: what bench KERNEL and bench suite share.
#pragma once
#include <string>
#include <vector>

#include <seidel/drivers/bench/measure.hpp>

namespace seidel::drivers {

/// A kernel, in all the ways in which it is to be measured.
struct BenchKernel {
  const Kernel* kernel;
  std::vector<std::int64_t> k = {1};
  std::vector<Layout> layouts = {Layout::row_major};
  std::vector<std::string> orders = {};  // of sweeps: each is measured, and also solved with if the kernel says so
};

/// What is measured on one operand, which is made once: kernels that take the same kind.
struct BenchItem {
  std::string operand;
  std::vector<BenchKernel> kernels;
  bool only_what_fits = false;  // what cannot be read, and a kernel that cannot work on it, is left out, not an error
};

/// Measures every item, prints each table once it is measured, writes JSON, CSV and HTML at the end: also where Ctrl-C
/// or an operand that cannot be made ends it early. `rivals` is the registry, but for tests.
/// Returns the exit code: 1 if a rival was wrong, or if it was interrupted.
int run_items(const std::vector<BenchItem>& items, const BenchTrialOptions& options, const Plan& plan,
              std::span<const Rival> rivals = drivers::rivals());

}  // namespace seidel::drivers
