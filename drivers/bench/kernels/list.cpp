// The table of kernels.
#include <seidel/drivers/bench/kernels/tasks.hpp>

#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

std::span<const Kernel* const> all_kernels() {
  static constexpr const Kernel* all[] = {
      &kernels::spmv,
      &kernels::spmm,
      &kernels::symgs,
      &kernels::symgs_guess,
      &kernels::transpose,
      &kernels::transpose_values,
      &kernels::spgemm,
      &kernels::spgemm_values,
      &kernels::amg,
      &kernels::amg_values,
      &kernels::amg_cycle,
      &kernels::scan,
      &kernels::sort_segments,
      &kernels::merge_segments,
      &kernels::pointers_to_indices,
      &kernels::indices_to_pointers,
      &kernels::gemm,
      &kernels::gemm_fp32,
  };
  return all;
}

bool fits(const Kernel& kernel, const Operand& operand) try {
  kernel.require(operand);
  return true;
} catch (const InputError&) {
  return false;
}

}  // namespace seidel::drivers
