// Products of few terms in FP64 whose blocks keep columns of B.
#pragma once
#include <seidel/formats/dense.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel::gemm_detail {

/// C = A B, if this takes less time than keeping rows of A; false, and nothing is done, if not. `A` holds rows of A, `B` columns of B,
/// of at most 160 terms each; all lines are aligned to 16 bytes, C is row-major. For GPUs of compute capability 9.0.
///
/// Repeats bit for bit: as gemm.hpp has it with TermOrder::ascending.
bool launched_columns(const Cuda& on, const DenseView<const double, Device>& A,
                      const DenseView<const double, Device>& B, const DenseView<double, Device>& C);

}  // namespace seidel::gemm_detail
