// What a row of a product with several vectors sums: what a row of one product does, for W columns side by side.
#pragma once
#include <seidel/kernels/spmv/row.hpp>

namespace seidel {

/// W sums side by side, each of its own column; the sum of kernels/sum.hpp taken on all at once.
template <class Real, int W>
struct Columns {
  Real at[W];

  friend SEIDEL_HD Columns operator+(const Columns& a, const Columns& b) {
    Columns sum;
    for (int j = 0; j < W; ++j) sum.at[j] = a.at[j] + b.at[j];
    return sum;
  }
};

}  // namespace seidel
