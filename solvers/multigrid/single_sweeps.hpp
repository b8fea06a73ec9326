// What the cycles in single precision of one process and of several have in common; single_cycle.hpp has the formulas and letters.
#pragma once
#include <cmath>
#include <vector>

#include <seidel/kernels/blas1/blas1.hpp>
#include <seidel/kernels/level_products/level_products.hpp>

namespace seidel {

namespace multigrid_detail {

/// t_1 ... t_K of the sweeps before the correction; product(x, c, y) is one with A^. Returns t_K.
inline const float* residuals_of_sweeps(const std::vector<float>& dampings, const float* b, float* const* t,
                                        const auto& product) {
  const float* residual = b;
  for (std::size_t k = 0; k < dampings.size(); ++k) {
    const float w = dampings[k];
    product(residual, Combination{.product = -w, .terms = {{1 - w, residual}}}, t[k]);
    residual = t[k];
  }
  return residual;
}

/// x of these sweeps, the correction and the sweeps after it: correct(c, y) is Q x_c with what it is added to. `before` is x before
/// the last sweep, where there are two.
inline void sweeps_after(const std::vector<float>& dampings, const float* b, float* const* t, const auto& correct,
                         const auto& product, float* before, const auto& x) {
  Combination sum;
  const std::size_t sweeps = dampings.size();
  for (std::size_t k = 0; k <= sweeps; ++k) sum.terms[k] = {dampings[k % sweeps], k == 0 ? b : t[k - 1]};
  if (sweeps == 1) return correct(sum, x);
  correct(sum, before);
  const float w = dampings[1];
  product(before, Combination{.product = -w, .terms = {{1 - w, before}, {w, b}}}, x);
}

// Small matrices leave a GPU idle unless several lanes share a row.
inline constexpr int short_row_lanes = 8;
int lanes_for(const auto& A) {
  constexpr Index large = 1 << 17;
  return A.nrows >= large ? 1 : A.nnz() < 16 * std::int64_t(A.nrows) ? 4 : 8;
}

/// Q of a level that nothing corrects.
template <Backend B>
LevelMatrix<SpaceOf<B>> without_entries(const B& on, Index nrows) {
  const std::vector<Index> no_steps(std::size_t((nrows + slice_places - 1) / slice_places + 1));
  return {.nrows = nrows, .step_ptr = Array<Index, SpaceOf<B>>(on, no_steps)};
}

/// Multiplies the scales of the finest level by a power of two, so that entries in single precision do not overflow. Returns the
/// square of its reciprocal, by which results are multiplied.
template <Backend B>
double shift_scale(const B& on, double max_scale, Array<double, SpaceOf<B>>& scale) {
  const double exponent = max_scale > 0 ? std::ilogb(max_scale) : 0;
  axpby<B, double>(on, 0, scale, std::exp2(-exponent), scale.span());
  return std::exp2(2 * exponent);
}

}  // namespace multigrid_detail

}  // namespace seidel
