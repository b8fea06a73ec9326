// The matrices of a multigrid cycle in single precision, laid out for products alone.
//
// A slice is 32 places side by side, the lanes of a warp; a row has `lanes` neighbouring ones of them. Entry k of a row is in
// step k / lanes of its slice, in its lane k % lanes. What a row lacks to the longest one of its slice is filled with zeros.
//
//   lanes = 8:  step 0   row 0: entries 0 ... 7 | row 1: entries 0 ... 7  | row 2 ... | row 3 ...
//               step 1   row 0: entries 8 ... 15 | row 1: ...
//
// On the host the rows of a node, which have the same columns but for their diagonal, share what is stored of these where a row has
// 8 lanes or 32. A slice is then a node: the steps of its first row, as many places wide as the row has lanes, those of its second
// row, and so on. step_ptr counts the steps of one row.
//
// A^ of few kinds of rows, with one lane each, has no slices: its rows are told by their kinds (kinds.hpp).
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/array.hpp>
#include <seidel/kernels/aggregation/hash.hpp>
#include <seidel/kernels/level_products/kinds.hpp>
#include <seidel/kernels/primitives/scan.hpp>

namespace seidel {

inline constexpr int slice_places = 32;

/// What the rows of a node have in common: blocks of neighbouring columns, of which LevelMatrix::col_idx has the first of each.
struct NodeColumns {
  Index rows = 1, columns = 1;         // of a node, of a block
  Array<std::int64_t> block_ptr = {};  // one entry per node and one more: its first block
  Array<Index> left_out = {};  // the entry that the first row of each node lacks; its second row lacks the next one

  std::int64_t bytes() const {
    return block_ptr.size() * std::int64_t(sizeof(std::int64_t)) + left_out.size() * std::int64_t(sizeof(Index));
  }
};

template <MemorySpace Space>
struct LevelView {
  Index nrows, ncols;
  int lanes;                          // per row: 1, 4, 8 or 32
  Span<const Index, Space> step_ptr;  // one entry per slice and one more: its first step
  Span<const Index, Space> col_idx;   // 32 per step, as `values`; 0 where a row has no entry
  Span<const float, Space> values;
  const NodeColumns* nodes;                           // null where each row has columns of its own
  const level_detail::RowKinds<float, Space>* kinds;  // null where there are slices
};

template <MemorySpace Space>
struct LevelMatrix {
  Index nrows = 0, ncols = 0;
  int lanes = 1;
  Array<Index, Space> step_ptr = {}, col_idx = {};
  Array<float, Space> values = {};
  NodeColumns nodes = {};  // of one row, and nothing is stored of them, where each row has columns of its own
  std::optional<level_detail::RowKinds<float, Space>> kinds = {};

  LevelView<Space> view() const {
    return {
        nrows, ncols, lanes, step_ptr, col_idx, values, nodes.rows > 1 ? &nodes : nullptr, kinds ? &*kinds : nullptr};
  }
  std::int64_t bytes() const {
    return (kinds ? kinds->bytes() : 0) + (step_ptr.size() + col_idx.size()) * std::int64_t(sizeof(Index)) +
           values.size() * std::int64_t(sizeof(float)) + nodes.bytes();
  }
};

namespace level_detail {

// Rows of a matrix to be laid out, made of the matrix `stored`. Row i has length(i) entries; a Row gives the column of entry k, and
// for k = 0, 1, ... one after another its value.

/// Entry (i, j) is left_i a_ij right_j, computed in double and rounded once; a row with left_i = 0 is zero. With `off_diagonal` the
/// diagonal, (i, first + i), is left out: every row with another left_i must store it.
template <class Offset, class Space>
struct ScaledRows {
  CsrView<double, Offset, Space> stored;
  Span<const double, Space> left, right;
  bool off_diagonal = false;
  Index first = 0;

  SEIDEL_HD Index length(Index i) const {
    const Index length = Index(stored.row_ptr[i + 1] - stored.row_ptr[i]);
    return length > 0 ? length - Index(off_diagonal) : 0;
  }

  /// `columns` and `values` are the stored entries of row i, wherever they are.
  struct Row {
    const Index* columns;
    const double* values;
    const double* right;
    double left;
    Index diagonal;  // from this column on entries are stored one place further, since it is left out; or no column is

    SEIDEL_HD Row(const ScaledRows& of, Index i, const Index* columns_, const double* values_)
        : columns(columns_),
          values(values_),
          right(of.right.data()),
          left(of.left[i]),
          diagonal(of.off_diagonal ? of.first + i : std::numeric_limits<Index>::max()) {}
    SEIDEL_HD Index column(Index k) const { return columns[k + Index(columns[k] >= diagonal)]; }
    SEIDEL_HD float value(Index k, Index j) const {
      return left == 0 ? 0 : float(values[k + Index(j > diagonal)] * (left * right[j]));
    }
  };
};

/// left_i (P - omega D^-1 A P)_ij right_j, as above. The pattern is that of A P, `stored`, which holds that of P.
template <class Offset, class Space>
struct CorrectionRows {
  CsrView<double, Offset, Space> stored, P;
  double omega;
  Span<const double, Space> inverse_diagonal, left, right;

  SEIDEL_HD Index length(Index i) const { return Index(stored.row_ptr[i + 1] - stored.row_ptr[i]); }

  struct Row {
    const Index* columns;
    const double* values;
    const double* right;
    double left, factor;
    const Index* P_columns;
    const double* P_values;
    Index next, last;  // of the entries of P in this row
    static constexpr Index no_column = -1;
    static constexpr double no_value = 0;

    SEIDEL_HD Row(const CorrectionRows& of, Index i, const Index* columns_, const double* values_)
        : columns(columns_),
          values(values_),
          right(of.right.data()),
          left(of.left[i]),
          factor(-of.omega * of.inverse_diagonal[i]),
          P_columns(of.P.col_idx.data() + of.P.row_ptr[i]),
          P_values(of.P.values.data() + of.P.row_ptr[i]),
          next(0),
          last(Index(of.P.row_ptr[i + 1] - of.P.row_ptr[i])) {
      if constexpr (std::is_same_v<Space, Host>)
        if (last == 0) P_columns = &no_column, P_values = &no_value, last = 1;
    }
    SEIDEL_HD Index column(Index k) const { return columns[k]; }
    SEIDEL_HD float value(Index k, Index j) {
      double p = 0;
      if constexpr (std::is_same_v<Space, Host>) {  // every k comes, so that no branch need tell whether P has it
        const Index at = next < last ? next : last - 1;
        const bool has = P_columns[at] == j;
        p = std::bit_cast<double>(std::bit_cast<std::uint64_t>(P_values[at]) & -std::uint64_t(has));
        next += has;
      } else {
        while (next < last && P_columns[next] < j) ++next;
        if (next < last && P_columns[next] == j) p = P_values[next];
      }
      return left == 0 ? 0 : float(std::fma(factor, values[k], p) * (left * right[j]));
    }
  };
};

/// A mode p of a level is a column of P; the next level has a_ii = p' A p. Below this part of p' D p the mode vanishes: it is left to
/// the finer level, since rounding in single precision is larger than what there is to solve.
inline constexpr double vanishing_mode = 0x1p-40;

/// sizes_i = p' D p of the mode in row i of R; `inverse_scale` is D^(1/2) of the level that R leads from.
template <class Offset, class Space>
struct SizesOfModes {
  Span<const double, Space> inverse_scale;
  Span<double, Space> sizes;

  SEIDEL_HD void operator()(Index i, const CsrView<double, Offset, Space>& R) const {
    double size = 0;
    for (Offset k = R.row_ptr[i]; k < R.row_ptr[i + 1]; ++k) {
      const double scaled = R.values[k] * inverse_scale[R.col_idx[k]];
      size = std::fma(scaled, scaled, size);
    }
    sizes[i] = size;
  }
};

/// scale_i = sqrt(1 / a_ii), or `of_negative` if a_ii < 0, or 0 if a_ii = 0 or the mode vanishes; inverse_scale_i is its reciprocal
/// where a_ii > 0, else 0. Without `sizes` no mode vanishes.
template <class Space>
struct ScaleToUnitDiagonal {
  Span<const double, Space> inverse_diagonal, sizes;
  double of_negative;
  Span<double, Space> scale, inverse_scale;

  SEIDEL_HD void operator()(std::int64_t i) const {
    const double d = inverse_diagonal[i];
    const bool vanishes = !sizes.empty() && sizes[i] * d > 1 / vanishing_mode;
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

/// Calls body(i) for i = 0 ... n-1, in any order. Instantiated for what this folder does. Does not wait.
template <class Body>
[[gnu::used]] void for_each_place(const OpenMP& on, std::int64_t n, const Body& body);
template <class Body>
[[gnu::used]] void for_each_place(const Cuda& on, std::int64_t n, const Body& body);

/// Calls body(i, R') for each row i of R, in any order, where R' is R with only the entries of row i at hand. Does not wait.
template <class Offset, class Body>
[[gnu::used]] void for_each_row_of(const OpenMP& on, const CsrView<double, Offset, Host>& R, const Body& body);
template <class Offset, class Body>
[[gnu::used]] void for_each_row_of(const Cuda& on, const CsrView<double, Offset, Device>& R, const Body& body);

/// M.step_ptr[slice] = steps that the slice takes; one more entry, 0. Does not wait.
[[gnu::used]] void count_steps(const OpenMP& on, const auto& rows, LevelMatrix<Host>& M);
[[gnu::used]] void count_steps(const Cuda& on, const auto& rows, LevelMatrix<Device>& M);

enum class Fill { columns_and_values, values };
/// Fills the steps of all slices of M, whose memory is there. Does not wait.
[[gnu::used]] void fill_slices(const OpenMP& on, const auto& rows, Fill what, LevelMatrix<Host>& M);
[[gnu::used]] void fill_slices(const Cuda& on, const auto& rows, Fill what, LevelMatrix<Device>& M);

/// Lays out rows as those of nodes in M, which has its shape and lanes; false, and M is as it was, if they are not of nodes, or too
/// long. Cost  where the first two rows differ, none; else the pattern of `rows` once or twice beside what is written.
[[gnu::used]] bool lay_out_nodes(const OpenMP& on, const auto& rows, LevelMatrix<Host>& M);
[[gnu::used]] void refill_nodes(const OpenMP& on, const auto& rows, LevelMatrix<Host>& M);

}  // namespace level_detail

/// Lays out `rows` (ScaledRows or CorrectionRows) with so many lanes per row.
/// Cost  reads the rows once, and their lengths before, or finds their kinds. A GPU is waited for once, for the size, and for kinds.
template <Backend B, class Rows>
LevelMatrix<typename B::Space> level_matrix(const B& on, Index nrows, Index ncols, int lanes, const Rows& rows) {
  using namespace level_detail;
  using Space = typename B::Space;
  const std::int64_t nslices = (std::int64_t(nrows) * lanes + slice_places - 1) / slice_places;
  LevelMatrix<Space> M{.nrows = nrows, .ncols = ncols, .lanes = lanes};
  if constexpr (requires { rows.off_diagonal; })
    if (rows.off_diagonal && lanes == 1) {
      M.kinds = scaled_kinds(on, rows.stored, rows.first, rows.right);
      if (M.kinds) return M;
    }
  if constexpr (HostBackend<B>)
    if (lay_out_nodes(on, rows, M)) return M;
  M.step_ptr = Array<Index, Space>(on, nslices + 1);
  count_steps(on, rows, M);
  if (nslices == 0) return M;
  exclusive_scan(on, Span<const Index, Space>(M.step_ptr), M.step_ptr.span());
  const std::int64_t nsteps = copied_to<Host>(on, M.step_ptr.span().subspan(nslices, 1))[0];
  M.col_idx = Array<Index, Space>(on, nsteps * slice_places);
  M.values = Array<float, Space>(on, nsteps * slice_places);
  fill_slices(on, rows, Fill::columns_and_values, M);
  return M;
}

/// The values of M for new ones of the rows that it was made of, in the pattern that they had.
/// Cost  reads the columns of M and the values of the rows once, writes the values of M. Allocates nothing, does not wait; but where
///       rows were told by their kinds, it is made anew.
template <Backend B, class Rows>
void refill(const B& on, const Rows& rows, LevelMatrix<typename B::Space>& M) {
  if (M.kinds) {
    M = level_matrix(on, M.nrows, M.ncols, M.lanes, rows);
    return;
  }
  if constexpr (HostBackend<B>)
    if (M.nodes.rows > 1) return level_detail::refill_nodes(on, rows, M);
  if (M.step_ptr.size() > 1) level_detail::fill_slices(on, rows, level_detail::Fill::values, M);
}

}  // namespace seidel
