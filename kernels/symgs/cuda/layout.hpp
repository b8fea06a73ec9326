// How the natural-order sweep on a GPU lays out a matrix: rows in the order of wavefronts, in slices of 32 lanes; for
// each triangle one stream of entries, a slice's together, in the order in which the sweep meets them.
#pragma once
#include <limits>
#include <vector>

#include <seidel/formats/runtime/array.hpp>
#include <seidel/kernels/sum.hpp>

namespace seidel::symgs_detail::device {

inline constexpr int lanes = 32;
inline constexpr int largest_node = 6;  // rows of one pattern that are taken together, at most
inline constexpr int unit_bytes = 128;  // streams are addressed in these

/// What a warp does.
enum class Kind : unsigned {
  slice,       // one lane per row; all of one wavefront
  runs,        // the same, and lanes that follow each other share a list of columns, each counted from its own place
  row,         // one row with a part of more than 64 terms: all lanes sum it
  block,       // 2048 terms of a row that has more
  blocked_row  // the row itself, from the sums of its blocks
};

/// One warp's task. Tasks stand in the order of the sweep: each waits for earlier ones only.
struct alignas(16) Item {
  unsigned at;  // of its entries in the stream, in units
  Index place;  // of its first row in the sweep's vectors; block: where its sum goes
  Index watch;  // a place a few wavefronts earlier, awaited before all else, or -1; blocked_row: its first block sum;
                // runs: bit l where lane l begins one
  unsigned shape;  // kind, rows and width

  SEIDEL_HD Kind kind() const { return Kind(shape & 7); }
  SEIDEL_HD int rows() const { return int(shape >> 3 & 63); }
  SEIDEL_HD int width() const { return int(shape >> 9); }  // entries per lane; row, block: terms; blocked_row: blocks
};

SEIDEL_HD inline unsigned shape_of(Kind kind, int rows, int width) {
  return unsigned(kind) | unsigned(rows) << 3 | unsigned(width) << 9;
}

template <class Real>
inline constexpr unsigned value_units = lanes * sizeof(Real) / unit_bytes;  // of a value a lane

/// A slice's entries: columns, then values, `width` per lane; the reciprocal diagonal; then the couplings within a node,
/// node - 1 per lane. Entry k of lane l is entry k * stride + l, where the stride is 32, or, in an arrangement without
/// gaps, the number of the slice's rows. Shorter rows have nothing (no_column, value 0) first: a sum that starts so
/// stays +0. In a slice of more than 64 terms these stand otherwise (colour_parts.cuh).
inline constexpr Index no_column = std::numeric_limits<Index>::min();  // still negative with a place added
/// Lists of `width` columns: one a lane, side by side, or one a run, one after another.
SEIDEL_HD inline unsigned column_units(int width, int lists) { return unsigned(width * lists + lanes - 1) / lanes; }
inline constexpr int max_runs = 8;  // of a slice that keeps a list for each
template <class Real>
SEIDEL_HD unsigned slice_units(int width, int node, int lists, int stride) {
  return column_units(width, lists) +
         unsigned((std::int64_t(width) + node) * stride * std::int64_t(sizeof(Real)) + unit_bytes - 1) / unit_bytes;
}
/// `terms` columns, then values, each padded to a full warp; and, for a whole row, its reciprocal diagonal.
template <class Real>
SEIDEL_HD unsigned terms_units(int terms) {
  return unsigned((terms + lanes - 1) / lanes) * (1 + value_units<Real>);
}

SEIDEL_HD inline int blocks_of(std::int64_t terms) { return int((terms + sum_block - 1) / sum_block); }
/// Of a row whose one part or other is long: items and units for a part of `terms` terms.
SEIDEL_HD inline int row_items(std::int64_t terms) { return terms <= sum_block ? 1 : blocks_of(terms) + 1; }
template <class Real>
SEIDEL_HD unsigned row_units(std::int64_t terms) {
  if (terms <= sum_block) return terms_units<Real>(int(terms)) + 1;
  const int full = int(terms / sum_block);
  return unsigned(full) * terms_units<Real>(sum_block) + terms_units<Real>(int(terms % sum_block)) + 1;
}

SEIDEL_HD inline Index ceil_div(Index a, Index b) { return a / b + (a % b != 0); }

/// One triangle: what one direction of the sweep reads.
template <class Real>
struct Triangle {
  Array<std::byte, Device> stream;
  std::int64_t stream_bytes = 0;
  Array<Item, Device> items;
  Array<Index, Device> first_item;  // of each slice, in the order of the sweep (backward: last slice first)
  Array<Real, Device> sums;         // of blocks; unset between sweeps
  int width = 0;                    // of its widest slice
  std::vector<Index> widths;        // of the widest of each wavefront; if slices are summed in parts

  std::int64_t bytes() const {
    return stream_bytes + items.size() * std::int64_t(sizeof(Item)) + first_item.size() * std::int64_t(sizeof(Index)) +
           sums.size() * std::int64_t(sizeof(Real));
  }
};

/// The order of the sweep.
struct SweepOrder {
  Index nrows = 0, places = 0, slices = 0;
  int node = 1;               // rows taken together: all rows in groups of so many have one pattern
  bool wide = false;          // wavefronts are few and wide, as colours are: one launch each
  bool dense = false;         // wavefronts hold few rows, or some rows are long: slices are stored without gaps
  bool in_parts = false;      // and slices hold rows with parts of more than 64 terms, to be summed in 32 lanes' way
  bool as_it_stands = false;  // and these are the rows' own: row p is at place p
  bool has_long = false;      // some part of a row has more than 64 terms
  Index nwavefronts = 0;      // of nodes, whose rows follow each other
  Array<Index, Device> row_of_place;  // -1: no row
  Array<Index, Device> slice_place;   // slices + 1
  std::vector<Index> first_slice;     // of each wavefront, and the end; if wide

  /// Places are positions in the sorted order: nothing lies between wavefronts.
  bool packed() const { return wide || dense; }
  std::int64_t bytes() const { return (row_of_place.size() + slice_place.size()) * std::int64_t(sizeof(Index)); }
};

template <class Real>
struct Plan : SweepOrder {
  Triangle<Real> half[2];  // lower (forward), upper (backward)

  std::int64_t bytes() const { return SweepOrder::bytes() + half[0].bytes() + half[1].bytes(); }
};

}  // namespace seidel::symgs_detail::device
