// The steps of the analysis, in order; each is a source of its own (NAME.cu).
#pragma once
#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/backend.hpp>
#include <seidel/kernels/orders/cuda_couplings.cuh>
#include <seidel/kernels/symgs/cuda/layout.hpp>

namespace seidel::symgs_detail::device {

using orders_detail::Pattern;

/// What the device finds out, read back between steps.
struct Findings {
  Index bad_row;       // the first that no sweep can use; nrows: none
  Index longest_part;  // terms left or right of a diagonal
  unsigned nodes;      // bit s: all rows in groups of s have one pattern
  Index last_wavefront;
  unsigned lopsided;           // a row of a sample has an upper entry whose mirror image is missing
  unsigned disorder;           // an upper entry leads to no later wavefront
  unsigned hung;               // a wait was given up: the columns of some row do not ascend
  unsigned moved;              // some row's place is not its own number
  int slice_width[2];          // of the widest slice of each triangle
  unsigned long long sums[2];  // of blocks of rows with more than 2048 terms in a part
};

/// Place of the diagonal entry; the analysis has found that there is one.
template <class Real, class Offset>
__device__ Offset diagonal_of(const CsrView<Real, Offset, Device>& A, Index row) {
  return Pattern<Offset>{A.nrows, A.row_ptr.data(), A.col_idx.data()}.lower_bound(row, row);
}

__device__ bool is_finite(auto v) { return v - v == 0; }

inline constexpr Index examined_every = 1021;  // rows a sample of which tells what the pattern is like

/// Entries left of the diagonal of each row. Fills bad_row (no diagonal entry), longest_part and nodes.
template <class Offset>
Array<Index, Device> lower_lengths(const Cuda& on, const Pattern<Offset>& A, Findings* findings);

/// The wavefront of each node of `node` rows, from 0: one more than the largest among the nodes before it that A or A'
/// couples it to. Fills last_wavefront and hung.
template <class Offset>
Array<Index, Device> node_wavefronts(const Cuda& on, const Pattern<Offset>& A, const Index* lower, int node,
                                     Findings* findings);

/// What the layout needs of the order beside the arrangement. A unit is a node of rows, or a row; a class is the units
/// of one wavefront whose rows are all short, or all long.
struct SortedRows {
  Array<Index, Device> place_of_row;
  Array<Index, Device> slice_position;  // of its first unit; slices + 1
  Array<Index, Device> key;             // of each position: its class, in order
  Array<Index, Device> unit;            // at each position
  Array<Index, Device> class_start;     // first position of each class, and the end
  int classes_per_wavefront = 1;        // 2: its short rows, then its long ones
};
/// Rows in order of wavefronts, natural within one, in slices. Takes nrows, node, has_long and nwavefronts, fills the
/// rest.
template <class Offset>
SortedRows order_rows(const Cuda& on, const Pattern<Offset>& A, const Index* lower,
                      const Array<Index, Device>& wavefront, Findings* findings, SweepOrder& rows);

/// Both triangles: sizes and items. `distance`: wavefronts between a row and the one that it awaits first.
template <class Real, class Offset>
void lay_out(const Cuda& on, const Pattern<Offset>& A, const Index* lower, const SortedRows& order, float distance,
             Findings* findings, Plan<Real>& plan);

/// Writes columns (as places), values and reciprocals into the streams; without place_of_row only the latter two.
/// Fills bad_row.
template <class Real, class Offset>
void fill(const Cuda& on, const CsrView<Real, Offset, Device>& A, const Index* place_of_row, Findings* findings,
          Plan<Real>& plan);

}  // namespace seidel::symgs_detail::device
