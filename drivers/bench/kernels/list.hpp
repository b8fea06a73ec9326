// The kernels there are. A new one: its file, its line here and in list.cpp, its rivals, its test.
#pragma once
#include <seidel/drivers/bench/kernel.hpp>

namespace seidel::drivers {

/// What makes a task: the constructor of Its, which takes an operand of this kind, the options, and what tells apart
/// kernels that share the task.
template <class Its, class Kind, auto... variant>
std::unique_ptr<Task> made(Operand& operand, const TaskOptions& options) {
  return std::make_unique<Its>(dynamic_cast<Kind&>(operand), options, variant...);
}

namespace kernels {

extern const Kernel spmv, spmm;
extern const Kernel symgs, symgs_guess;
extern const Kernel transpose, transpose_values;
extern const Kernel spgemm, spgemm_values;
extern const Kernel amg, amg_values, amg_cycle;
extern const Kernel scan;
extern const Kernel sort_segments, merge_segments, pointers_to_indices, indices_to_pointers;
extern const Kernel gemm, gemm_fp32;

}  // namespace kernels

}  // namespace seidel::drivers
