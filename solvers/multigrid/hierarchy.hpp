// The matrices of a multigrid method, finest first.
#pragma once
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/lattice.hpp>
#include <seidel/solvers/multigrid/coarsest.hpp>
#include <seidel/solvers/multigrid/facts.hpp>
#include <seidel/solvers/multigrid/galerkin.hpp>

namespace seidel {

/// What a row of the coarse matrix stands for.
enum class CoarseRow {
  aggregate,  // of rows or of nodes (kernels/aggregation/aggregates.hpp)
  row,        // of the finer matrix (kernels/aggregation/classical.hpp)
};

/// How the P of a level was made, and so how new values change it.
enum class ProlongationKind {
  of_rows,         // smoothed, of aggregates of rows (kernels/aggregation/prolongator.hpp)
  of_nodes,        // smoothed, of aggregates of nodes (nodes.hpp)
  plain_of_nodes,  // the tentative one, T
  of_lattice,      // interpolation (kernels/aggregation/lattice.hpp)
  classical,       // where a coarse row is one of the finer matrix
  own,             // by a Coarsening of the caller (coarsening.hpp): it stays as it is
};

/// A matrix and what leads to the next coarser one. Where a SingleCycle (single_cycle.hpp) has taken over what a cycle needs,
/// `owned`, `restriction`, the values of `prolongation` and `inverse_diagonal` are empty on all levels but the coarsest.
template <class Offset, MemorySpace Space>
struct Level {
  using Working = std::conditional_t<std::is_same_v<Space, Host>, OpenMP, Cuda>;  // of the setup
  Csr<double, Offset, Space> owned = {};        // its A; empty on the finest level, where the arrays are the caller's
  CsrView<double, Offset, Space> A = {};        // of `owned`, but on the finest level
  Array<double, Space> inverse_diagonal = {};   // 0 for rows that a smoother must leave alone
  Csr<double, Offset, Space> restriction = {};  // R = P', to the next level; like P empty on the coarsest
  Csr<double, Offset, Space> prolongation = {};
  ProlongationKind kind = {};                 // of it; any on the coarsest
  Array<std::uint32_t, Space> strong = {};    // what P was made of, for new values: the couplings (packed_strong()),
  Array<Index, Space> aggregate = {};         // and the aggregate of each row; empty on the coarsest, and where what
  Array<std::uint8_t, Space> of_entry = {};   // they say of each entry of A is kept instead (entries_of_prolongator())
  Csr<double, Offset, Space> tentative = {};  // T instead of both where aggregates are of nodes,
  std::unique_ptr<SparseProduct<double, Offset, Working>> smoothing = {};  // and A T, from the first new values on
  Lattice lattice = {};  // of the rows instead, where P interpolates; nx = 0 elsewhere
  std::unique_ptr<GalerkinProduct<Offset, Working>> galerkin =
      {};  // of rows: from the first new values on, in place of `restriction`
           // and of `owned` of the next level
  LevelFacts facts = {};

  bool of_nodes() const { return kind == ProlongationKind::of_nodes || kind == ProlongationKind::plain_of_nodes; }
  CsrView<double, Offset, Space> R() const { return galerkin ? galerkin->R() : restriction.view(); }
};

template <class Offset, MemorySpace Space>
struct Hierarchy {
  std::vector<Level<Offset, Space>> levels;
  Csr<double, Offset, Space>
      coarsest_inverse;                    // every entry stored; empty where the coarsest level is too large for it
  Csr<double, Offset> coarsest = {};       // the matrix of that level on the host; empty likewise
  bool symmetric = true;                   // A is
  Definite definite = Definite::as_it_is;  // the inverse above
  bool dominant = false;                   // every row of the finest A is weakly dominated by its diagonal
};

/// Bytes that level l holds beside the finest A.
template <class Offset, class Space>
std::int64_t bytes_of(const Hierarchy<Offset, Space>& hierarchy, std::size_t l) {
  const auto of = [](const Csr<double, Offset, Space>& A) {
    return A.row_ptr.size() * std::int64_t(sizeof(Offset)) + A.col_idx.size() * std::int64_t(sizeof(Index)) +
           A.values.size() * std::int64_t(sizeof(double));
  };
  const auto& level = hierarchy.levels[l];
  return of(level.owned) + of(level.restriction) + of(level.prolongation) + of(level.tentative) +
         level.inverse_diagonal.size() * std::int64_t(sizeof(double)) + (level.galerkin ? level.galerkin->bytes() : 0) +
         (level.smoothing ? level.smoothing->bytes() : 0) +
         (level.strong.size() + level.aggregate.size()) * std::int64_t(sizeof(Index)) + level.of_entry.size() +
         (l + 1 == hierarchy.levels.size() ? of(hierarchy.coarsest_inverse) : 0);
}

}  // namespace seidel
