// Aggregates: small sets of strongly coupled rows, each of which becomes one row of the coarse matrix.
//
//   1. Roots are an independent set at distance 2; each takes its strong neighbours.
//   2. Where asked for, an independent set at distance 2 of the rows that are left gives further roots: those with two such
//      neighbours or more, which they take. Fewer rows are left over then, and the coarse matrices stay as sparse.
//   3. Each row that is left joins the aggregate to which the sum of its strong couplings is largest (the one with the
//      smaller number, if sums are equal). Every row is within distance 2 of a root of step 1, so there is one.
// Aggregates are numbered in the order of their roots. Rows without a strong coupling are in none: -1.
// Source  Vanek, Mandel, Brezina, Computing 56, 1996, section 5; Bell, Dalton, Olson, SIAM J. Sci. Comput. 34(4), 2012.
#pragma once
#include <seidel/kernels/aggregation/independent_set.hpp>

namespace seidel {

/// How often roots are looked for: the second set costs more and keeps iterations from growing with the problem.
enum class RootSets { one, two };

template <MemorySpace Space>
struct Aggregates {
  Index count = 0;
  Array<Index, Space> of_row;  // 0 ... count-1, or -1
  std::int64_t lone = 0;       // rows in no aggregate that their diagonal does not dominate either
  std::int64_t dominated = 0;  // rows in no aggregate that a smoother solves: off-diagonal sum below half the diagonal
};

namespace aggregation_detail {

template <class Offset, class Space>
struct BeginWithCoupled {
  StrongView<Offset, Space> graph;
  Span<RootState, Space> state;
  SEIDEL_HD void operator()(Index v) const {
    bool coupled = false;
    for (Offset k = graph.row_ptr[v]; k < graph.row_ptr[v + 1] && !coupled; ++k) coupled = graph.neighbour[k] >= 0;
    state[v] = coupled ? RootState::undecided : RootState::outside;
  }
};

/// Rows that no root of the first set takes are the graph of the second.
template <class Offset, class Space>
struct BeginWithFree {
  StrongView<Offset, Space> graph;
  Span<const RootState, Space> first;
  Span<RootState, Space> second;
  SEIDEL_HD void operator()(Index v) const {
    bool free = first[v] == RootState::covered;
    for (Offset k = graph.row_ptr[v]; k < graph.row_ptr[v + 1] && free; ++k)
      if (const Index w = graph.neighbour[k]; w >= 0 && first[w] == RootState::root) free = false;
    second[v] = free ? RootState::undecided : RootState::outside;
  }
};

/// Roots of both sets, those of the second only with two free neighbours or more.
template <class Offset, class Space>
struct CountRoot {
  StrongView<Offset, Space> graph;
  Span<const RootState, Space> first, second;  // second: empty where there is none
  Span<std::int32_t, Space> is_root;           // one more entry, 0
  SEIDEL_HD void operator()(Index v) const {
    bool root = first[v] == RootState::root;
    if (!root && !second.empty() && second[v] == RootState::root) {
      int free = 0;
      for (Offset k = graph.row_ptr[v]; k < graph.row_ptr[v + 1] && free < 2; ++k)
        if (const Index w = graph.neighbour[k]; w >= 0 && second[w] != RootState::outside) ++free;
      root = free == 2;
    }
    is_root[v] = root;
    if (v == 0) is_root[is_root.size() - 1] = 0;
  }
};

template <class Offset, class Space>
struct TakeNeighbours {
  StrongView<Offset, Space> graph;
  Span<const RootState, Space> first;
  Span<const std::int32_t, Space> number;  // number[v + 1] > number[v]: v is a root
  Span<Index, Space> taken;
  SEIDEL_HD void operator()(Index v) const {
    const auto is_root = [&](Index w) { return number[w + 1] > number[w]; };
    Index by = -1;
    if (is_root(v)) {
      by = number[v];
    } else {
      for (Offset k = graph.row_ptr[v]; k < graph.row_ptr[v + 1]; ++k) {
        const Index w = graph.neighbour[k];
        if (w < 0 || !is_root(w)) continue;
        const bool of_first = first[w] == RootState::root;
        if (by < 0 || of_first) by = number[w];
        if (of_first) break;
      }
    }
    taken[v] = by;
  }
};

template <class Offset, class Space>
struct JoinStrongest {
  StrongView<Offset, Space> graph;
  Span<const double, Space> values;
  Span<const Index, Space> taken;
  Span<Index, Space> of_row;
  SEIDEL_HD void operator()(Index v) const {
    constexpr int room = 16;  // aggregates beyond the first so many are not looked at
    Index candidate[room], best = taken[v];
    double coupling[room], most = -1;
    int count = 0;
    for (Offset k = graph.row_ptr[v]; taken[v] < 0 && k < graph.row_ptr[v + 1]; ++k) {
      const Index w = graph.neighbour[k], a = w >= 0 ? taken[w] : -1;
      if (a < 0) continue;
      int c = 0;
      while (c < count && candidate[c] != a) ++c;
      if (c == room) continue;
      if (c == count) candidate[count] = a, coupling[count++] = 0;
      coupling[c] += std::fabs(values[k]);
    }
    for (int c = 0; c < count; ++c)
      if (coupling[c] > most || (coupling[c] == most && candidate[c] < best)) best = candidate[c], most = coupling[c];
    of_row[v] = best;
  }
};

inline constexpr Index in_no_aggregate = -1;
inline constexpr double dominated_below = 0.5;  // of the sum beside the diagonal, over the diagonal

/// Rows without an aggregate, by whether their diagonal dominates them.
template <class Offset, class Space>
struct CountLone {
  Span<const Index, Space> of_row;
  Span<const double, Space> off_diagonal;
  bool dominated;
  Span<std::int32_t, Space> is_such;  // one more entry, 0
  SEIDEL_HD void operator()(Index v) const {
    is_such[v] = of_row[v] == in_no_aggregate && (off_diagonal[v] < dominated_below) == dominated;
    if (v == 0) is_such[is_such.size() - 1] = 0;
  }
};

/// Counts `lone` and `dominated`. `scratch` has n + 1 entries.
template <Backend B, class Offset>
void count_lone(const B& on, Span<const Offset, SpaceOf<B>> row_ptr, const RowScales<SpaceOf<B>>& scales,
                Span<std::int32_t, SpaceOf<B>> scratch, Aggregates<SpaceOf<B>>& found) {
  const auto count = [&](bool dominated) {
    for_each_row(on, row_ptr, CountLone<Offset, SpaceOf<B>>{found.of_row, scales.off_diagonal, dominated, scratch});
    return places_of<B, std::int32_t>(on, scratch, scratch);
  };
  found.lone = count(false);
  found.dominated = count(true);
}

}  // namespace aggregation_detail

/// The aggregates of A for the strong couplings `graph` of it; `scales` are those of A.
///
/// Cost    reads the graph about ten times for one set of roots, some rows more often; 22 bytes per row. The host waits
///         once in three rounds of a set, and three times.
template <Backend B, class Offset>
Aggregates<SpaceOf<B>> aggregates(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A,
                                  const StrongView<Offset, SpaceOf<B>>& graph, const RowScales<SpaceOf<B>>& scales,
                                  RootSets sets) {
  using namespace aggregation_detail;
  using Space = SpaceOf<B>;
  const std::int64_t n = A.nrows;
  Aggregates<Space> found{.of_row = Array<Index, Space>(on, n)};
  if (n == 0) return found;
  Array<RootState, Space> first(on, n), second;
  for_each_row(on, graph.row_ptr, BeginWithCoupled<Offset, Space>{graph, first});
  independent_set(on, graph, first);
  if (sets == RootSets::two) {
    second = Array<RootState, Space>(on, n);
    for_each_row(on, graph.row_ptr, BeginWithFree<Offset, Space>{graph, first, second});
    independent_set(on, graph, second);
  }
  Array<std::int32_t, Space> number(on, n + 1);
  for_each_row(on, graph.row_ptr, CountRoot<Offset, Space>{graph, first, second, number});
  found.count = Index(places_of<B, std::int32_t>(on, number, number));
  {
    Array<Index, Space> taken(on, n);
    for_each_row(on, graph.row_ptr, TakeNeighbours<Offset, Space>{graph, first, number, taken});
    for_each_row(on, graph.row_ptr, JoinStrongest<Offset, Space>{graph, A.values, taken, found.of_row});
  }
  count_lone(on, graph.row_ptr, scales, number, found);
  return found;
}

}  // namespace seidel
