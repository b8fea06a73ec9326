// The matrices of a multigrid cycle in single precision, laid out for products alone.
//
// A slice is 32 places side by side, the lanes of a warp; a row has `lanes` neighbouring ones of them. Entry k of a row is in
// step k / lanes of its slice, in its lane k % lanes. What a row lacks to the longest one of its slice is filled with zeros.
//
//   lanes = 8:  step 0   row 0: entries 0 ... 7 | row 1: entries 0 ... 7  | row 2 ... | row 3 ...
//               step 1   row 0: entries 8 ... 15 | row 1: ...
#pragma once
#include <cmath>
#include <cstdint>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/array.hpp>
#include <seidel/kernels/aggregation/hash.hpp>
#include <seidel/kernels/primitives/scan.hpp>

namespace seidel {

inline constexpr int slice_places = 32;

template <MemorySpace Space>
struct LevelView {
  Index nrows, ncols;
  int lanes;                          // per row: 1, 4, 8 or 32
  Span<const Index, Space> step_ptr;  // one entry per slice and one more: its first step
  Span<const Index, Space> col_idx;   // 32 per step, as `values`; 0 where a row has no entry
  Span<const float, Space> values;
};

template <MemorySpace Space>
struct LevelMatrix {
  Index nrows = 0, ncols = 0;
  int lanes = 1;
  Array<Index, Space> step_ptr, col_idx;
  Array<float, Space> values;

  LevelView<Space> view() const { return {nrows, ncols, lanes, step_ptr, col_idx, values}; }
  std::int64_t bytes() const {
    return (step_ptr.size() + col_idx.size()) * std::int64_t(sizeof(Index)) +
           values.size() * std::int64_t(sizeof(float));
  }
};

namespace level_detail {

/// A row of a matrix that is to be laid out: its length, and entry k.
struct LevelEntry {
  Index column = 0;
  float value = 0;
};

/// left_i a_ij right_j, rounded once, after the products in double; without the diagonal where `off_diagonal` says so.
/// Rows with left_i = 0 are empty; of the others, that lose their diagonal, all must have it.
template <class Offset, class Space>
struct ScaledRows {
  CsrView<double, Offset, Space> A;
  Span<const double, Space> left, right;
  bool off_diagonal = false;

  SEIDEL_HD Index length(Index i) const {
    return left[i] == 0 ? 0 : Index(A.row_ptr[i + 1] - A.row_ptr[i]) - Index(off_diagonal);
  }
  SEIDEL_HD LevelEntry entry(Index i, Index k) const {
    Offset e = A.row_ptr[i] + k;
    if (off_diagonal && A.col_idx[e] >= i) ++e;
    const Index j = A.col_idx[e];
    return {j, float(A.values[e] * (left[i] * right[j]))};
  }
};

/// left_i (P - omega D^-1 A P)_ij right_j, as above. The pattern is that of AP, which holds that of P.
template <class Offset, class Space>
struct CorrectionRows {
  CsrView<double, Offset, Space> AP, P;
  double omega;
  Span<const double, Space> inverse_diagonal, left, right;

  SEIDEL_HD Index length(Index i) const { return left[i] == 0 ? 0 : Index(AP.row_ptr[i + 1] - AP.row_ptr[i]); }
  SEIDEL_HD LevelEntry entry(Index i, Index k) const {
    const Offset e = AP.row_ptr[i] + k;
    const Index j = AP.col_idx[e];
    double p = 0;
    for (Offset f = P.row_ptr[i]; f < P.row_ptr[i + 1]; ++f)
      if (P.col_idx[f] == j) p = P.values[f];
    return {j, float(std::fma(-omega * inverse_diagonal[i], AP.values[e], p) * (left[i] * right[j]))};
  }
};

/// Of the modes p of a level, a_ii = p' A p of the next one, those with less than this part of p' D p are left to the finer
/// level: below it rounding in single precision is larger than what there is to solve.
inline constexpr double vanishing_mode = 0x1p-40;

/// scale_i = sqrt(1 / a_ii), and its reciprocal: 0 where the diagonal is 0, `of_negative` where it is negative, and 0 where a
/// mode vanishes. R is that of the level before with its inverse_scale, or has no rows.
template <class Offset, class Space>
struct ScaleToUnitDiagonal {
  Span<const double, Space> inverse_diagonal;
  double of_negative;
  CsrView<double, Offset, Space> R;
  Span<const double, Space> inverse_scale_before;
  Span<double, Space> scale, inverse_scale;
  SEIDEL_HD void operator()(std::int64_t i) const {
    const double d = inverse_diagonal[i];
    double size = 0;  // p' D p
    for (Offset k = R.nrows > 0 ? R.row_ptr[i] : 0; R.nrows > 0 && k < R.row_ptr[i + 1]; ++k) {
      const double scaled = R.values[k] * inverse_scale_before[R.col_idx[k]];
      size = std::fma(scaled, scaled, size);
    }
    const bool vanishes = size * d > 1 / vanishing_mode;
    scale[i] = d < 0 ? of_negative : vanishes ? 0 : std::sqrt(d);
    inverse_scale[i] = d > 0 && !vanishes ? 1 / scale[i] : 0;
  }
};

/// Where Lanczos steps for a matrix scaled to a unit diagonal may start: a hash of i in (-1/2, 1/2], 0 where scale_i = 0.
template <class Space>
struct StartOfLevel {
  Span<const double, Space> scale;
  Span<float, Space> x;
  SEIDEL_HD void operator()(std::int64_t i) const {
    x[i] = scale[i] > 0 ? float(double(aggregation_detail::hashed(Index(i), 0)) * 0x1p-31 - 0.5) : 0;
  }
};

/// steps[slice] = steps that the slice takes; one more entry, 0.
template <class Rows, class Space>
struct CountSteps {
  Rows rows;
  Index nrows;
  int lanes;
  Span<Index, Space> steps;
  SEIDEL_HD void operator()(std::int64_t slice) const {
    const int rows_per_slice = slice_places / lanes;
    Index longest = 0;
    for (int r = 0; r < rows_per_slice; ++r) {
      const std::int64_t i = slice * rows_per_slice + r;
      const Index length = i < nrows ? rows.length(Index(i)) : 0;
      longest = length > longest ? length : longest;
    }
    steps[slice] = (longest + lanes - 1) / lanes;
    if (slice == 0) steps[steps.size() - 1] = 0;
  }
};

/// Calls body(i) for i = 0 ... n-1, in any order. Instantiated for what this folder does. Does not wait.
template <class Body>
[[gnu::used]] void for_each_place(const OpenMP& on, std::int64_t n, const Body& body);
template <class Body>
[[gnu::used]] void for_each_place(const Cuda& on, std::int64_t n, const Body& body);

/// Fills the steps of all slices of M, whose memory is there. Does not wait.
template <class Rows>
[[gnu::used]] void fill_slices(const OpenMP& on, const Rows& rows, LevelMatrix<Host>& M);
template <class Rows>
[[gnu::used]] void fill_slices(const Cuda& on, const Rows& rows, LevelMatrix<Device>& M);

}  // namespace level_detail

/// Lays out `rows` (ScaledRows or CorrectionRows) with so many lanes per row, in the memory of `old` where that has the size.
/// Cost  reads the rows once, and their lengths before. A GPU is waited for once, for the size.
template <Backend B, class Rows>
LevelMatrix<typename B::Space> level_matrix(const B& on, Index nrows, Index ncols, int lanes, const Rows& rows,
                                            LevelMatrix<typename B::Space> old = {}) {
  using namespace level_detail;
  using Space = typename B::Space;
  const std::int64_t nslices = (std::int64_t(nrows) * lanes + slice_places - 1) / slice_places;
  LevelMatrix<Space> M{
      nrows, ncols, lanes, Array<Index, Space>(on, nslices + 1), std::move(old.col_idx), std::move(old.values)};
  if (nslices == 0) {
    for_each_place(on, 1, CountSteps<Rows, Space>{rows, 0, lanes, M.step_ptr});
    return M;
  }
  for_each_place(on, nslices, CountSteps<Rows, Space>{rows, nrows, lanes, M.step_ptr});
  exclusive_scan(on, Span<const Index, Space>(M.step_ptr), M.step_ptr.span());
  const std::int64_t nsteps = copied_to<Host>(on, std::as_const(M.step_ptr).span().subspan(nslices, 1))[0];
  if (M.values.size() != nsteps * slice_places) {
    M.col_idx = {}, M.values = {};  // before more is taken
    M.col_idx = Array<Index, Space>(on, nsteps * slice_places);
    M.values = Array<float, Space>(on, nsteps * slice_places);
  }
  fill_slices(on, rows, M);
  return M;
}

}  // namespace seidel
