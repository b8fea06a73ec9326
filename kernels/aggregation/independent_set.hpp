// Roots of aggregates: a maximal set of rows no two of which are within distance 2 of each other in the graph of strong
// couplings.
//
// In each round every undecided row v has a tuple, (a hash of v and the round). v becomes a root if its tuple is the least
// within distance 2, and is covered if there is a root within distance 2. Distance 2 is walked in two steps of distance 1:
//   nearest_v = the least tuple within distance 1 of v, or `beside_a_root`
//   v is a root if nearest_w is v's own tuple for all w within distance 1, covered if any nearest_w is `beside_a_root`.
// The set depends on the graph alone, not on who computes it.
// Source  Bell, Dalton, Olson, Exposing fine-grained parallelism in algebraic multigrid methods, SIAM J. Sci. Comput.
//         34(4), 2012, algorithm 5.
#pragma once
#include <seidel/formats/runtime/array.hpp>
#include <seidel/kernels/aggregation/hash.hpp>
#include <seidel/kernels/aggregation/strength.hpp>

namespace seidel {

/// Of a row; `outside` are those that neither become roots nor connect others.
enum class RootState : unsigned char { undecided, root, covered, outside };

namespace aggregation_detail {

// Tuples are 1 ... 2^31 (hash.hpp), so that none is one of these marks.
inline constexpr std::uint32_t root_tuple = 0, of_outside = 0xfffffffeu, beside_a_root = 0xffffffffu;

template <class Offset, class Space>
struct BeginSet {
  Span<const RootState, Space> state;
  Span<std::uint32_t, Space> tuple, nearest;
  SEIDEL_HD void operator()(Index v) const {
    const bool outside = state[v] == RootState::outside;
    tuple[v] = outside ? beside_a_root : hashed(v, 0);  // the largest does not count
    nearest[v] = outside ? of_outside : root_tuple;     // the latter: not yet known
  }
};

/// w, or v where w is negative, by bits: compilers make a branch of a choice here, which no processor can foretell.
SEIDEL_HD inline Index neighbour_or(Index v, Index w) { return w ^ ((w ^ v) & (w >> 31)); }

template <class Offset, class Space>
struct FindNearest {
  StrongView<Offset, Space> graph;
  Span<const std::uint32_t, Space> tuple;
  Span<std::uint32_t, Space> nearest;

  SEIDEL_HD void operator()(Index v) const {
    if (nearest[v] >= of_outside) return;  // for good
    std::uint32_t least = tuple[v];
    for (Offset k = graph.row_ptr[v]; k < graph.row_ptr[v + 1]; ++k) {
      const std::uint32_t t = tuple[neighbour_or(v, graph.neighbour[k])];
      least = t < least ? t : least;
    }
    nearest[v] = least == root_tuple ? beside_a_root : least;
  }
};

/// Whether v is still undecided; then it has its tuple of the next round.
template <class Offset, class Space>
struct Decide {
  StrongView<Offset, Space> graph;
  Span<const std::uint32_t, Space> nearest;
  int round;
  Span<std::uint32_t, Space> tuple;
  Span<RootState, Space> state;

  SEIDEL_HD bool operator()(Index v) const {
    const std::uint32_t own = tuple[v];
    if (own == root_tuple || own == beside_a_root) return false;
    bool least = nearest[v] == own, covered = nearest[v] == beside_a_root;
    for (Offset k = graph.row_ptr[v]; k < graph.row_ptr[v + 1]; ++k) {
      const std::uint32_t near = nearest[neighbour_or(v, graph.neighbour[k])];
      least &= (near == own) | (near == of_outside);
      covered |= near == beside_a_root;
    }
    tuple[v] = covered ? beside_a_root : least ? root_tuple : hashed(v, round + 1);
    if (covered || least) state[v] = covered ? RootState::covered : RootState::root;
    return !covered && !least;
  }
};

}  // namespace aggregation_detail

/// Decides the undecided rows: each becomes a root or is covered by one.
///
/// In/out  state: undecided or outside on entry. On return no row is undecided, unless the graph is not symmetric: then a
///         few may be.
/// Cost    about log(n) rounds, each of which reads the rows that are still open; 8 bytes per row. The host waits once in
///         three rounds.
template <Backend B, class Offset>
void independent_set(const B& on, const StrongView<Offset, SpaceOf<B>>& graph, Span<RootState, SpaceOf<B>> state) {
  using namespace aggregation_detail;
  using Space = SpaceOf<B>;
  constexpr int max_rounds = 100;  // on a symmetric graph at least one row is decided in each, and about half are
  Array<std::uint32_t, Space> tuple(on, state.size()), nearest(on, state.size());
  for_each_row(on, graph.row_ptr, BeginSet<Offset, Space>{state, tuple, nearest});
  constexpr int rounds_per_look = 3;  // a round too many costs less than to wait after each
  for (int round = 0; round < max_rounds; ++round) {
    const Decide<Offset, Space> decide{graph, nearest, round, tuple, state};
    for_each_row(on, graph.row_ptr, FindNearest<Offset, Space>{graph, tuple, nearest});
    if (round % rounds_per_look != rounds_per_look - 1)
      for_each_row(on, graph.row_ptr, decide);
    else if (!any_row(on, graph.row_ptr, decide))
      return;
  }
}

}  // namespace seidel
