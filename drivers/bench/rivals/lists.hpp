// The lists of rivals: one a kernel of ours, one a library of others.
#pragma once
#include <seidel/drivers/bench/rival.hpp>

namespace seidel::drivers {

std::vector<Rival> spmv_rivals();
std::vector<Rival> spmm_rivals();
std::vector<Rival> symgs_rivals();
std::vector<Rival> transpose_rivals();
std::vector<Rival> eigen_rivals();
std::vector<Rival> cusparse_rivals();  // empty without CUDA

}  // namespace seidel::drivers
