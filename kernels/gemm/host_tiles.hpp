// The tiles that this processor can run.
#pragma once
#include <seidel/formats/runtime/simd.hpp>
#include <seidel/kernels/gemm/gemm.hpp>
#include <seidel/kernels/gemm/tile.hpp>

namespace seidel::gemm_detail {

/// Of an instruction set that this processor has.
template <class Real>
const Tile<Real>& host_tile(InstructionSet set);

/// The product of gemm.hpp with the given tile.
template <class Real>
[[gnu::used]] void product_by(const Tile<Real>& tile, const OpenMP& on, Real alpha, DenseView<const Real, Host> A,
                              DenseView<const Real, Host> B, Real beta, DenseView<Real, Host> C);

}  // namespace seidel::gemm_detail
