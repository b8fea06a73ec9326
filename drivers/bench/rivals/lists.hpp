// The lists of rivals: one a kernel of ours, one a library of others.
#pragma once
#include <seidel/drivers/bench/rival.hpp>

namespace seidel::bench {

std::span<const Rival> spmv_rivals();
std::span<const Rival> spmm_rivals();
std::span<const Rival> symgs_rivals();
std::span<const Rival> eigen_rivals();
std::span<const Rival> cusparse_rivals();  // empty without CUDA

}  // namespace seidel::bench
