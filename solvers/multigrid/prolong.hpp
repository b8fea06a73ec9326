// P of a level: by aggregates of rows or nodes, on a lattice, by classical coarsening, or as the caller has it.
#pragma once
#include <string>
#include <type_traits>
#include <utility>

#include <seidel/formats/check.hpp>
#include <seidel/kernels/aggregation/classical.hpp>
#include <seidel/kernels/aggregation/lattice.hpp>
#include <seidel/kernels/aggregation/lone.hpp>
#include <seidel/kernels/aggregation/prolongator.hpp>
#include <seidel/solvers/multigrid/coarsening.hpp>
#include <seidel/solvers/multigrid/hierarchy.hpp>
#include <seidel/solvers/multigrid/nodes.hpp>

namespace seidel {

struct CoarseningOptions {
  double strength = 0.25;  // theta of kernels/aggregation/strength.hpp, 0 to 1
  Index coarsest = 256;    // a level of no more rows is the last one, and is solved directly
  int max_levels = 25;
  Index unknowns_per_node = 0;                  // 0: as many as A shows (kernels/aggregation/nodes.hpp)
  FirstLevel first = FirstLevel::plain;         // of nodes; that of rows is always smoothed
  CoarseRow coarse_row = CoarseRow::aggregate;  // or row: classical coarsening
  bool symmetric = true;                        // false: what is strong is told by (A + A') / 2
  Definite definite = Definite::as_it_is;       // made, the coarsest inverse: for minres, where A is indefinite
  Lattice lattice = {};  // of the rows: every second point of it is taken, for aggregates; nx = 0: none
  std::function<void()> on_step = [] {};  // called twice per level by coarsened(); what it throws ends that
};

namespace multigrid_detail {

/// Whether so many coarse rows are: not where they are nine of ten.
inline bool is_worth_a_level(std::int64_t coarse_rows, std::int64_t rows) {
  return coarse_rows > 0 && double(coarse_rows) <= 0.9 * double(rows);
}

/// What make(theta) gives, the aggregates of a level of so many rows, for the strength asked for, or for a smaller one if that
/// leaves too many rows.
auto aggregated(LevelFacts& facts, std::int64_t nrows, double strength, const auto& make) {
  for (int attempt = 0;; ++attempt) {
    auto found = make(strength);
    const std::int64_t to_coarsen = std::max<std::int64_t>(1, nrows - found.dominated);
    const bool failed = 2 * (found.count + found.lone) > to_coarsen;
    if (!failed || strength == 0) {
      facts.strength = strength;
      facts.lone = found.lone;
      return found;
    }
    strength = attempt < 2 ? strength / 4 : 0;
  }
}

/// Those of its nodes, from one set of roots: two give twice the rows below the second level, which cost more in the setup
/// than the iterations that they save. Couplings are not kept: P does not depend on them.
template <class B, class Offset>
Aggregates<SpaceOf<B>> aggregated_nodes(const B& on, Level<Offset, SpaceOf<B>>& level,
                                        const CsrView<double, Offset, SpaceOf<B>>& couplings,
                                        const NearNull<SpaceOf<B>>& near_null, double strength) {
  const auto A = node_matrix(on, couplings, near_null.unknowns_per_node, near_null.blocks);
  Array<Index, SpaceOf<B>> neighbour(on, A.nnz());
  const auto scales = row_scales(on, A.view());
  auto found = aggregated(level.facts, A.nrows, strength, [&](double theta) {
    mark_strong(on, A.view(), scales, Strength::to_both, theta, neighbour);
    return aggregates(on, A.view(), {A.row_ptr, neighbour}, scales, RootSets::one);
  });
  level.facts.lone *= near_null.unknowns_per_node;
  return found;
}

/// omega of the prolongator.
inline double damping(const LevelFacts& facts) { return 4.0 / 3 / facts.largest_eigenvalue; }

/// P as the caller has it. Errors  ShapeError, and InputError where it is not canonical, which on a GPU is not looked at.
template <class B, class Offset>
Csr<double, Offset, SpaceOf<B>> own_prolongation(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A,
                                                 const AnyCoarsening<B, Offset>& coarsening) {
  auto P = coarsening(on, A);
  if (P.ncols > 0 && P.nrows != A.nrows)
    throw ShapeError("amg: found " + std::to_string(P.nrows) + " rows of P for a level of " + std::to_string(A.nrows) +
                     ", expected as many");
  if constexpr (std::is_same_v<SpaceOf<B>, Host>)
    if (P.ncols > 0) check(on, P.view());
  return P;
}

/// Those of its rows, or coarse rows, and in `neighbour` the couplings that are strong for them; where they are too many for a next
/// level, lone rows have not joined. `measures` are scales of the `couplings`, which are of A or of its symmetric part.
template <class B, class Offset>
Aggregates<SpaceOf<B>> aggregated_rows(const B& on, Level<Offset, SpaceOf<B>>& level, std::size_t l,
                                       const CoarseningOptions& options,
                                       const CsrView<double, Offset, SpaceOf<B>>& couplings,
                                       const RowScales<SpaceOf<B>>& measures, Span<Index, SpaceOf<B>> neighbour) {
  const bool classical = options.coarse_row == CoarseRow::row;
  auto found = aggregated(level.facts, level.A.nrows, options.strength, [&](double theta) {
    const StrongView<Offset, SpaceOf<B>> graph{level.A.row_ptr, neighbour};
    mark_strong(on, couplings, measures, classical ? Strength::to_either : Strength::to_both, theta, neighbour);
    return classical ? coarse_rows(on, graph, measures)
                     : aggregates(on, couplings, graph, measures, l == 0 ? RootSets::one : RootSets::two);
  });
  if (!classical && is_worth_a_level(found.count, level.A.nrows)) {
    join_lone(on, couplings, measures, level.facts.strength, neighbour, found);
    level.facts.lone = found.lone;
  }
  return found;
}

/// P of a level, unless that would leave nine rows of ten: then it is empty. Returns the lattice of the next level, if there is
/// one. `near_null` and `scales` are those of the level.
template <class B, class Offset>
Lattice prolong(const B& on, Level<Offset, SpaceOf<B>>& level, std::size_t l, const CoarseningOptions& options,
                const AnyCoarsening<B, Offset>& coarsening, NearNull<SpaceOf<B>>& near_null,
                const RowScales<SpaceOf<B>>& scales) {
  const auto few = [&](std::int64_t coarse_rows) { return is_worth_a_level(coarse_rows, level.A.nrows); };
  if (coarsening) {
    auto P = own_prolongation(on, level.A, coarsening);
    level.kind = ProlongationKind::own;
    if (few(P.ncols)) level.prolongation = std::move(P);
    return {};
  }
  if (level.lattice.nx > 0) {
    level.kind = ProlongationKind::of_lattice;
    const Lattice coarse = halved(on, level.A, level.lattice);
    if (few(coarse.points())) level.prolongation = interpolation(on, level.A, level.lattice, coarse);
    return coarse;
  }
  Csr<double, Offset, SpaceOf<B>> half;
  RowScales<SpaceOf<B>> scales_of_half;
  if (!options.symmetric) half = symmetric_part(on, level.A), scales_of_half = row_scales(on, half.view());
  const auto couplings = options.symmetric ? level.A : half.view();
  const auto& measures = options.symmetric ? scales : scales_of_half;
  level.facts.unknowns_per_node = near_null.unknowns_per_node;
  if (near_null.modes.ncols > 0) {
    const auto found = aggregated_nodes(on, level, couplings, near_null, options.strength);
    if (few(found.count * near_null.modes.ncols))
      prolong_nodes(on, level, scales.inverse_diagonal, found, l == 0 ? options.first : FirstLevel::smoothed,
                    damping(level.facts), near_null);
    return {};
  }
  Array<Index, SpaceOf<B>> neighbour(on, level.A.nnz());
  const bool classical = options.coarse_row == CoarseRow::row;
  auto found = aggregated_rows(on, level, l, options, couplings, measures, neighbour.span());
  if (!few(found.count)) return {};
  level.strong = packed_strong<B>(on, neighbour);
  level.kind = classical ? ProlongationKind::classical : ProlongationKind::of_rows;
  level.prolongation = classical ? classical_interpolation(on, level.A, level.strong, found)
                                 : prolongator(on, level.A, level.strong, found, damping(level.facts));
  level.aggregate = std::move(found.of_row);
  return {};
}

}  // namespace multigrid_detail
}  // namespace seidel
