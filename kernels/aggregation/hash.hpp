// Numbers in place of random ones: functions of a row and a round, the same on every back end.
#pragma once
#include <seidel/kernels/aggregation/rows.hpp>

namespace seidel {

namespace aggregation_detail {

/// 1 ... 2^31, in each round another permutation of 0 ... 2^31 - 1, plus 1: different rows have different numbers, and none
/// has 0 or more than 2^31.
SEIDEL_HD inline std::uint32_t hashed(Index row, int round) {
  constexpr std::uint32_t mask = 0x7fffffffu;  // each step below is one-to-one on 31 bits
  std::uint32_t h = (std::uint32_t(row) + std::uint32_t(round) * 0x9e3779b1u) & mask;
  h = ((h ^ h >> 16) * 0x7feb352du) & mask;
  h = ((h ^ h >> 15) * 0x6b43a9b5u) & mask;
  return (h ^ h >> 16) + 1;
}

template <class Space>
struct StartOfRow {
  Span<const double, Space> inverse_diagonal;
  Span<double, Space> x;
  SEIDEL_HD void operator()(Index i) const {
    const double d = std::fabs(inverse_diagonal[i]);
    x[i] = d > 0 ? (double(hashed(i, 0)) * 0x1p-31 - 0.5) / std::sqrt(d) : 0;
  }
};

}  // namespace aggregation_detail

/// x_i = h_i sqrt(|a_ii|), h_i in (-1/2, 1/2] a hash of i, 0 where 1 / a_ii is given as 0: where Lanczos steps for D^-1 A may
/// start, since in the inner product of D^-1 all rows have the same part in it, however A is scaled.
/// `row_ptr`: of A. Cost  reads one vector, writes one. Does not wait.
template <Backend B, class Offset>
void fill_start(const B& on, Span<const Offset, SpaceOf<B>> row_ptr, Span<const double, SpaceOf<B>> inverse_diagonal,
                Span<double, SpaceOf<B>> x) {
  aggregation_detail::for_each_row(on, row_ptr, aggregation_detail::StartOfRow<SpaceOf<B>>{inverse_diagonal, x});
}

}  // namespace seidel
