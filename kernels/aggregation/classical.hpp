// Classical coarsening: some rows become the rows of the coarse matrix, the others are interpolated from them.
//
//   1. Coarse rows are a maximal independent set of the graph of strong couplings. The measure of a row is the number of its
//      strong couplings and, among equal ones, a hash. In each round an undecided row becomes coarse if no undecided
//      neighbour has a larger measure, and fine if a neighbour is coarse.
//   2. A coarse row takes the value of its coarse row. A fine row i is interpolated from C_i: its strong coarse neighbours, and
//      those of its strong fine neighbours k in F_i (extended+i):
//
//        w_ij = -(a_ij + sum over k in F_i of a_ik a~_kj / s_ik) / d_i,    s_ik = sum over l in C_i, and l = i, of a~_kl
//        d_i  = a_ii + sum over other n of a_in + sum over k in F_i of a_ik a~_ki / s_ik
//
//      a~_kl is a_kl if that has the sign of a_ik, else 0. "Other n" are weak and not in C_i; those without a strong coupling
//      do not count, since a smoother solves them. Of each row the four largest w_ij are kept (of equal ones those of the
//      smaller columns) and scaled to the sum of all, so that constants are interpolated exactly where rows of A sum to zero.
//
// Rows without a strong coupling are neither coarse nor fine: their rows of P are empty.
// Source  De Sterck, Yang, Heys, Reducing complexity in parallel algebraic multigrid preconditioners, SIAM J. Matrix Anal.
//         Appl. 27(4), 2006: the set, PMIS; De Sterck, Falgout, Nolting, Yang, Distance-two interpolation for parallel
//         algebraic multigrid, Numer. Linear Algebra Appl. 15, 2008: extended+i.
#pragma once
#include <seidel/kernels/aggregation/aggregates.hpp>
#include <seidel/kernels/aggregation/prolongator.hpp>

namespace seidel {

namespace aggregation_detail {

inline constexpr Index fine_row = -2;  // in place of an aggregate; coarse rows have their number there

/// Every coupled row as a fine one, until it is known to be coarse.
template <class Offset, class Space>
struct MeasureRow {
  StrongView<Offset, Space> graph;
  Span<std::uint64_t, Space> measure;  // 0: not coarse
  Span<std::int32_t, Space> is_coarse;
  Span<Index, Space> of_row;
  SEIDEL_HD void operator()(Index v) const {
    std::uint64_t couplings = 0;
    for (Offset k = graph.row_ptr[v]; k < graph.row_ptr[v + 1]; ++k) couplings += graph.neighbour[k] >= 0;
    measure[v] = couplings > 0 ? couplings << 32 | hashed(v, 0) : 0;
    is_coarse[v] = 0;
    of_row[v] = couplings > 0 ? fine_row : in_no_aggregate;
    if (v == 0) is_coarse[is_coarse.size() - 1] = 0;
  }
};

template <class Offset, class Space>
struct ChooseCoarse {
  StrongView<Offset, Space> graph;
  Span<const std::uint64_t, Space> measure;
  Span<std::int32_t, Space> is_coarse;
  SEIDEL_HD void operator()(Index v) const {
    if (is_coarse[v] || measure[v] == 0) return;
    for (Offset k = graph.row_ptr[v]; k < graph.row_ptr[v + 1]; ++k)
      if (const Index w = graph.neighbour[k]; w >= 0 && measure[w] > measure[v]) return;
    is_coarse[v] = 1;
  }
};

/// Whether v is still undecided.
template <class Offset, class Space>
struct CoverFine {
  StrongView<Offset, Space> graph;
  Span<const std::int32_t, Space> is_coarse;
  Span<std::uint64_t, Space> measure;
  SEIDEL_HD bool operator()(Index v) const {
    if (is_coarse[v] || measure[v] == 0) return false;
    for (Offset k = graph.row_ptr[v]; k < graph.row_ptr[v + 1]; ++k)
      if (const Index w = graph.neighbour[k]; w >= 0 && is_coarse[w]) {
        measure[v] = 0;
        return false;
      }
    return true;
  }
};

template <class Space>
struct NumberCoarse {
  Span<const std::int32_t, Space> number;
  Span<Index, Space> of_row;
  SEIDEL_HD void operator()(Index v) const {
    if (number[v + 1] > number[v]) of_row[v] = number[v];
  }
};

/// Coarse rows that a row may be interpolated from, in the order in which they are found, each with a sum. Those beyond `room`
/// are left out: four will be kept.
struct Candidates {
  static constexpr int room = 32, slots = 64;
  int count = 0;
  Index row[room];
  double sum[room];
  std::uint8_t slot[slots];  // 1 + the place of what hashes there, or behind what does; 0: nothing

  SEIDEL_HD Candidates() {
    for (std::uint8_t& s : slot) s = 0;
  }
  /// The slot that it is in, or else the free one where it would be.
  SEIDEL_HD int slot_of(Index coarse) const {
    int s = int(std::uint32_t(coarse) * 0x9e3779b1u >> 26);
    while (slot[s] != 0 && row[slot[s] - 1] != coarse) s = (s + 1) % slots;
    return s;
  }
  SEIDEL_HD void insert(Index coarse) {
    const int s = slot_of(coarse);
    if (slot[s] != 0 || count == room) return;
    row[count] = coarse, sum[count] = 0;
    slot[s] = std::uint8_t(++count);
  }
  /// Its place, or -1.
  SEIDEL_HD int place(Index coarse) const { return coarse < 0 ? -1 : slot[slot_of(coarse)] - 1; }
};

/// The weights of a fine row.
template <class Offset, class Space>
struct ExtendedRow {
  /// The strong coupling to a longer row counts as weak: that row would be read for each of its entries.
  static constexpr Offset max_length = 1024;
  /// Weights with another sum, of a d_i that nearly cancels, are scaled to 1.
  static constexpr double max_sum = 2;
  CsrView<double, Offset, Space> A;
  Span<const std::uint32_t, Space> strong;  // packed_strong()
  Span<const Index, Space> of_row;

  SEIDEL_HD bool passes_on(Offset k) const {
    const Index j = A.col_idx[k];
    return is_strong(strong, k) && of_row[j] == fine_row && A.row_ptr[j + 1] - A.row_ptr[j] <= max_length;
  }
  SEIDEL_HD void insert_coarse_neighbours(Index i, Candidates& from) const {
    for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (const Index c = of_row[A.col_idx[k]]; c >= 0 && is_strong(strong, k)) from.insert(c);
  }
  /// Divides a_ik among C_i; returns what falls to i itself.
  SEIDEL_HD double passed_on(Index i, Index k, double a_ik, Candidates& from) const {
    int place[Candidates::room + 1], count = 0;  // of entries of row k, i as -1; its columns are distinct
    double a[Candidates::room + 1], sum = 0, own = 0;
    for (Offset q = A.row_ptr[k]; q < A.row_ptr[k + 1]; ++q) {
      const Index l = A.col_idx[q];
      if ((l != i && of_row[l] < 0) || (A.values[q] < 0) != (a_ik < 0)) continue;
      const int at = from.place(of_row[l]);
      if (l != i && at < 0) continue;
      place[count] = at;
      a[count++] = A.values[q];
      sum += A.values[q];
    }
    if (sum == 0) return a_ik;  // an unsymmetric pattern
    const double share = a_ik / sum;
    for (int t = 0; t < count; ++t) (place[t] < 0 ? own : from.sum[place[t]]) += share * a[t];
    return own;
  }
  /// Finds C_i, and the sums whose quotients by -d_i are the weights. Returns d_i.
  SEIDEL_HD double find(Index i, Candidates& from) const {
    insert_coarse_neighbours(i, from);
    for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (passes_on(k)) insert_coarse_neighbours(A.col_idx[k], from);
    double d = 0;
    for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const Index j = A.col_idx[k];
      if (const int place = from.place(of_row[j]); place >= 0)
        from.sum[place] += A.values[k];
      else if (j != i && passes_on(k))
        d += passed_on(i, j, A.values[k], from);
      else if (of_row[j] != in_no_aggregate)
        d += A.values[k];
    }
    return d;
  }
  /// value[0 ... count-1]: the weights at these columns, which are some of the candidates, scaled to the sum of all.
  SEIDEL_HD void scaled(const Candidates& from, double d, const Index* column, int count, double* value) const {
    double all = 0, kept = 0;
    for (int t = 0; t < from.count; ++t) all += from.sum[t];
    for (int t = 0; t < count; ++t) kept += value[t] = from.sum[from.place(column[t])];
    if (const double sum = -all / d; !(sum > 0 && sum <= max_sum)) d = all != 0 ? -all : 1;
    const double scale = count < from.count && std::fabs(kept) > 0.1 * std::fabs(all) ? all / kept : 1;
    for (int t = 0; t < count; ++t) value[t] = -(scale * value[t] / d);
  }
};

template <class Offset, class Space>
struct ChooseWeights {
  ExtendedRow<Offset, Space> row;
  Span<Index, Space> chosen;  // of row i from max_prolongator_entries * i on
  Span<double, Space> weight;
  Span<std::int32_t, Space> count;  // one more entry, 0

  SEIDEL_HD void operator()(Index i) const {
    const std::int64_t first = std::int64_t(max_prolongator_entries) * i;
    count[i] = 0;
    if (i == 0) count[count.size() - 1] = 0;
    if (row.of_row[i] >= 0) {
      chosen[first] = row.of_row[i], weight[first] = 1;
      count[i] = 1;
    } else if (row.of_row[i] == fine_row) {
      Candidates from;
      const double d = row.find(i, from);
      LargestEntries largest;
      for (int t = 0; t < from.count; ++t) {
        const double magnitude = std::fabs(from.sum[t]);
        largest.add(from.row[t], magnitude >= 0 ? magnitude : 0);  // not that it is not a number
      }
      largest.ascending(&chosen[first]);
      row.scaled(from, d, &chosen[first], largest.count, &weight[first]);
      count[i] = largest.count;
    }
  }
};

template <class Offset, class Space>
struct UpdateWeights {
  ExtendedRow<Offset, Space> row;
  Span<const Offset, Space> row_ptr;
  Span<const Index, Space> col_idx;
  Span<double, Space> values;
  SEIDEL_HD void operator()(Index i) const {
    const Offset first = row_ptr[i];
    if (row.of_row[i] >= 0) {
      values[first] = 1;
    } else if (row.of_row[i] == fine_row) {
      Candidates from;
      const double d = row.find(i, from);
      row.scaled(from, d, &col_idx[first], int(row_ptr[i + 1] - first), &values[first]);
    }
  }
};

}  // namespace aggregation_detail

/// The coarse rows of A for the strong couplings `graph` of it, as aggregates of one row each; of_row of fine rows is
/// aggregation_detail::fine_row.
///
/// Cost    about log(n) rounds, each of which reads the graph of the rows that are still open; 16 bytes per row. The host waits
///         once in three rounds, and three times.
template <Backend B, class Offset>
Aggregates<SpaceOf<B>> coarse_rows(const B& on, const StrongView<Offset, SpaceOf<B>>& graph,
                                   const RowScales<SpaceOf<B>>& scales) {
  using namespace aggregation_detail;
  using Space = SpaceOf<B>;
  const std::int64_t n = graph.row_ptr.size() - 1;
  Aggregates<Space> found{.of_row = Array<Index, Space>(on, n)};
  if (n == 0) return found;
  Array<std::int32_t, Space> number(on, n + 1);
  {
    Array<std::uint64_t, Space> measure(on, n);
    for_each_row(on, graph.row_ptr, MeasureRow<Offset, Space>{graph, measure, number, found.of_row});
    constexpr int rounds_per_look = 3;
    const CoverFine<Offset, Space> cover{graph, number, measure};
    for (int round = 0;; ++round) {  // the undecided row of the largest measure is decided in each
      for_each_row(on, graph.row_ptr, ChooseCoarse<Offset, Space>{graph, measure, number});
      if (round % rounds_per_look != rounds_per_look - 1)
        for_each_row(on, graph.row_ptr, cover);
      else if (!any_row(on, graph.row_ptr, cover))
        break;
    }
  }
  found.count = Index(places_of<B, std::int32_t>(on, number, number));
  for_each_row(on, graph.row_ptr, NumberCoarse<Space>{number, found.of_row});
  count_lone(on, graph.row_ptr, scales, number, found);
  return found;
}

/// The values of P in the pattern that it has, for new values of A, the same strong couplings and coarse rows.
/// Cost  as classical_interpolation(). Does not wait.
template <Backend B, class Offset>
void update_classical(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A,
                      Span<const std::uint32_t, SpaceOf<B>> strong, Span<const Index, SpaceOf<B>> of_row,
                      Csr<double, Offset, SpaceOf<B>>& P) {
  using namespace aggregation_detail;
  for_each_row(on, A.row_ptr, UpdateWeights<Offset, SpaceOf<B>>{{A, strong, of_row}, P.row_ptr, P.col_idx, P.values});
}

/// P for A, the strong couplings of A (packed_strong()) and its coarse_rows().
///
/// Shapes  A is n x n, with the sign of its diagonal the same in all rows; P is n x rows.count.
/// Cost    reads for each fine row twice the rows of its strong fine neighbours; 52 bytes per row beside P. The host
///         waits once, for the size of P.
template <Backend B, class Offset>
Csr<double, Offset, SpaceOf<B>> classical_interpolation(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A,
                                                        Span<const std::uint32_t, SpaceOf<B>> strong,
                                                        const Aggregates<SpaceOf<B>>& rows) {
  using namespace aggregation_detail;
  using Space = SpaceOf<B>;
  const std::int64_t n = A.nrows;
  Csr<double, Offset, Space> P{A.nrows, rows.count, Array<Offset, Space>(on, n + 1), {}, {}};
  Array<Index, Space> chosen(on, max_prolongator_entries * n);
  Array<double, Space> weight(on, max_prolongator_entries * n);
  Array<std::int32_t, Space> count(on, n + 1);
  for_each_row(on, A.row_ptr, ChooseWeights<Offset, Space>{{A, strong, rows.of_row}, chosen, weight, count});
  P.take_entries(on, places_of<B, Offset>(on, count, P.row_ptr));
  for_each_row(on, A.row_ptr, PlaceChosen<Offset, Space>{chosen, P.row_ptr, P.col_idx, weight, P.values});
  return P;
}

}  // namespace seidel
