// Coarsening where an aggregate needs several numbers: several unknowns per node, several near-null vectors.
//
//   T as in kernels/aggregation/tentative.hpp;   P = (I - 4 / (3 lambda) D^-1 A) T,   or T where that is plain
//
// A coarse node has as many unknowns as there are near-null vectors.
#pragma once
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <seidel/kernels/aggregation/aggregates.hpp>
#include <seidel/kernels/aggregation/nodes.hpp>
#include <seidel/kernels/aggregation/tentative.hpp>
#include <seidel/kernels/blas1/blas1.hpp>
#include <seidel/solvers/multigrid/hierarchy.hpp>

namespace seidel {

/// Prolongation of nodes from the second level to the finest.
enum class FirstLevel {
  plain,     // T: a half to a seventh of the setup's time
  smoothed,  // a quarter to a third fewer iterations: for many solves with one matrix
};

namespace multigrid_detail {

/// What the aggregates of a level are made of, and what they must be able to represent.
template <MemorySpace Space>
struct NearNull {
  Index unknowns_per_node = 1;
  Blocks blocks = Blocks::any;
  MultiVectorView<const double, Space> modes = {};  // a column each; none: aggregates of rows, constant in each
  std::optional<MultiVector<double, Space>> owned = {};

  void take(MultiVector<double, Space> made) {
    owned = std::move(made);
    modes = std::as_const(*owned).view();
  }
};

/// Each column times a power of two that brings it to size 1: only their span matters.
template <class B>
MultiVector<double, SpaceOf<B>> of_size_1(const B& on, const MultiVectorView<const double, SpaceOf<B>>& modes) {
  MultiVector<double, SpaceOf<B>> scaled(on, modes.nrows, modes.ncols, Layout::column_major);
  Array<double, SpaceOf<B>> scale(on, 2);
  const auto to = scaled.view();
  for (std::int64_t c = 0; c < modes.ncols; ++c) {
    const Span<const double, SpaceOf<B>> column(&modes.data[modes.at(0, c)], modes.nrows);
    blas1::find_scale(on, column.data(), column.size(), scale.data());
    convert<B, double, double>(on, scale.data(), column, {&to.data[to.at(0, c)], modes.nrows});
  }
  return scaled;
}

/// Of the finest level: `modes` if any are given, else translations where a node has several unknowns, of which there are as
/// many as the pattern or the values show if unknowns_per_node is 0. Errors  as coarsened().
template <class B, class Offset>
NearNull<SpaceOf<B>> near_null_of(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A, Index unknowns_per_node,
                                  const MultiVectorView<const double, SpaceOf<B>>& modes) {
  const Index in_pattern = seidel::unknowns_per_node(on, A);
  if (unknowns_per_node == 0) unknowns_per_node = in_pattern > 1 ? in_pattern : unknowns_by_translations(on, A);
  NearNull<SpaceOf<B>> found{.unknowns_per_node = unknowns_per_node, .modes = modes};
  if (in_pattern % found.unknowns_per_node == 0) found.blocks = Blocks::full;
  if (const Index per_node = found.unknowns_per_node; per_node > max_unknowns_per_node || A.nrows % per_node != 0)
    throw ShapeError("amg: found " + std::to_string(A.nrows) + " rows and " + std::to_string(per_node) +
                     " unknowns per node, expected at most " + std::to_string(max_unknowns_per_node) +
                     " of them, and a multiple of them as rows");
  if (modes.ncols > max_unknowns_per_node)
    throw ShapeError("amg: found " + std::to_string(modes.ncols) + " near-null vectors, expected at most " +
                     std::to_string(max_unknowns_per_node));
  if (modes.ncols > 0) {
    require_shape(modes, A.nrows, modes.ncols, "amg", "the array of near-null vectors");
    if (modes.layout != Layout::column_major) throw ShapeError("amg: near-null vectors must be the columns of memory");
  }
  bool unusual = false;  // squares leave the range of double
  for (std::int64_t c = 0; c < modes.ncols; ++c) {
    const Span<const double, SpaceOf<B>> column(&modes.data[modes.at(0, c)], modes.nrows);
    const double size = max_abs<B, double>(on, column);
    unusual = unusual || (size > 0 && !(size >= 0x1p-256 && size <= 0x1p256));
    if (!std::isfinite(size))
      throw InputError("amg: found an entry in row " + std::to_string(first_nonfinite(on, column) + 1) +
                       " of near-null vector " + std::to_string(c + 1) +
                       " that is NaN or infinite, expected finite numbers only");
  }
  if (unusual) found.take(of_size_1(on, modes));
  if (modes.ncols == 0 && found.unknowns_per_node > 1) found.take(translations(on, A, found.unknowns_per_node));
  return found;
}

/// The values of a P that is smoothed, for new ones of A. The first ones analyse A T, and the analysis is kept.
template <class B, class Offset>
void update_prolongator_of_nodes(const B& on, Level<Offset, SpaceOf<B>>& level, double omega) {
  using Space = SpaceOf<B>;
  const auto T = level.tentative.view();
  if (level.smoothing)
    level.smoothing->update_values(level.A, T);
  else
    level.smoothing = std::make_unique<SparseProduct<double, Offset, B>>(on, level.A, T);
  const Span<double, Space> products = level.smoothing->values();
  smooth_rows(on, level.smoothing->C(), products, std::as_const(level.inverse_diagonal).span(), omega, T);
  level.prolongation.values = copied_to<Space>(on, Span<const double, Space>(products));
}

/// T and P of a level for these aggregates of its nodes. Then near_null is that of the next level.
template <class B, class Offset>
void prolong_nodes(const B& on, Level<Offset, SpaceOf<B>>& level, Span<const double, SpaceOf<B>> inverse_diagonal,
                   const Aggregates<SpaceOf<B>>& found, FirstLevel first, double omega,
                   NearNull<SpaceOf<B>>& near_null) {
  const Index count = Index(near_null.modes.ncols);
  auto made =
      tentative(on, level.A, inverse_diagonal, found.of_row, found.count, near_null.unknowns_per_node, near_null.modes);
  level.tentative = std::move(made.T);
  const bool plain = first == FirstLevel::plain;
  level.kind = plain ? ProlongationKind::plain_of_nodes : ProlongationKind::of_nodes;
  level.prolongation = plain ? copied_to<SpaceOf<B>>(on, level.tentative.view())
                             : smoothed(on, level.A, inverse_diagonal, omega, level.tentative.view());
  near_null.take(std::move(made.coarse_modes));
  near_null.unknowns_per_node = count;
  near_null.blocks = Blocks::full;
}

}  // namespace multigrid_detail
}  // namespace seidel
