// The prolongator of smoothed aggregation: from one number per aggregate to one number per row.
//
//   P = (I - omega D_F^-1 A_F) T,   T_ij = 1 if row i is in aggregate j, else 0
//
// A_F is A with weak couplings added to the diagonal, D_F its diagonal: so constants are kept, and rows of P, and with them
// the coarse matrix, stay short. Where that would leave less than 5 % of a diagonal entry, the entry is kept as it is. Of
// each row of P the four largest entries are kept (of equal ones those of the smaller columns) and scaled to the sum of all.
// Rows in no aggregate have no entries.
// Source  Vanek, Mandel, Brezina, Computing 56, 1996, sections 3 and 5; De Sterck, Yang, Heys, Reducing complexity in
//         parallel algebraic multigrid preconditioners, SIAM J. Matrix Anal. Appl. 27(4), 2006: entries cut, sums restored.
#pragma once
#include <algorithm>

#include <seidel/kernels/aggregation/aggregates.hpp>

namespace seidel {

namespace aggregation_detail {

inline constexpr int max_prolongator_entries = 4;

/// For each entry a_ij of A what P needs to know: whether i = j, whether it is a strong coupling, and the aggregate of j.
template <class Offset, class Space>
struct CoupledEntries {
  Span<const std::uint32_t, Space> strong;  // packed_strong()
  Span<const Index, Space> of_row;
  static constexpr bool reads_columns = true;

  SEIDEL_HD bool is_diagonal(Index i, Offset k, const CsrView<double, Offset, Space>& A) const {
    return A.col_idx[k] == i;
  }
  SEIDEL_HD bool is_strong(Offset k) const { return aggregation_detail::is_strong(strong, k); }
  SEIDEL_HD Index aggregate(Offset k, const CsrView<double, Offset, Space>& A) const { return of_row[A.col_idx[k]]; }
  /// The aggregate of entry t of a row of P.
  SEIDEL_HD static Index aggregate_of(const Index* columns, int t) { return columns[t]; }
};

/// The same where P is known, in a byte per entry of A: an aggregate is given by its place, 0 to 3, in the row of P.
template <class Offset, class Space>
struct PlacedEntries {
  Span<const std::uint8_t, Space> kinds;
  static constexpr bool reads_columns = false;
  // 0 ... 3 is the place; besides
  static constexpr std::uint8_t cut = 4, no_aggregate = 5, weak = 6, place = 7, diagonal = 8;

  SEIDEL_HD bool is_diagonal(Index, Offset k, const CsrView<double, Offset, Space>&) const {
    return kinds[k] & diagonal;
  }
  SEIDEL_HD bool is_strong(Offset k) const { return kinds[k] != weak; }
  SEIDEL_HD Index aggregate(Offset k, const CsrView<double, Offset, Space>&) const {
    const Index at = kinds[k] & place;
    return at == no_aggregate ? -1 : at;
  }
  SEIDEL_HD static Index aggregate_of(const Index*, int t) { return t; }
};

/// The sums of the entries that a row of P keeps, 0 behind them, scaled to the sum of all terms where some are cut.
SEIDEL_HD inline void scale_to_sum(const double* sum, double all, bool cut, int count, double* values) {
  double kept = 0;
  for (int t = 0; t < max_prolongator_entries; ++t) kept += sum[t];
  const double scale = cut && std::fabs(kept) > 0.1 * std::fabs(all) ? all / kept : 1;
  for (int t = 0; t < max_prolongator_entries; ++t)
    if (t < count) values[t] = scale * sum[t];
}

/// Row i of (I - omega D_F^-1 A_F) T, term by term.
template <class Offset, class Space, class Entries = CoupledEntries<Offset, Space>>
struct SmoothedRow {
  Entries entries;
  double omega;

  /// The diagonal entry of A_F.
  SEIDEL_HD static double filtered(double diagonal, double weak) {
    const double lumped = diagonal + weak;
    return lumped / diagonal > 0.05 ? lumped : diagonal;
  }
  /// Calls add(aggregate, value) for each term, in the order of the columns of A.
  SEIDEL_HD void terms(Index i, const CsrView<double, Offset, Space>& A, const auto& add) const {
    double diagonal = 0, weak = 0;
    for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      if (entries.is_diagonal(i, k, A))
        diagonal = A.values[k];
      else if (!entries.is_strong(k))
        weak += A.values[k];
    }
    const double divisor = filtered(diagonal, weak);
    for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const bool on_diagonal = entries.is_diagonal(i, k, A);
      if (!on_diagonal && !entries.is_strong(k)) continue;
      const Index a = entries.aggregate(k, A);
      if (a >= 0) add(a, on_diagonal ? 1 - omega : -(omega * (A.values[k] / divisor)));
    }
  }
  /// The values of row i of P, whose columns are known.
  SEIDEL_HD void values_at(Index i, const CsrView<double, Offset, Space>& A, int count, const Index* columns,
                           double* values) const {
    if (count == 0) return;
    Index column[max_prolongator_entries];
    for (int t = 0; t < max_prolongator_entries; ++t) column[t] = t < count ? Entries::aggregate_of(columns, t) : -1;
    double sum[max_prolongator_entries] = {}, all = 0;
    bool cut = false;
    terms(i, A, [&](Index a, double value) {
      all += value;
      bool found = false;
      for (int t = 0; t < max_prolongator_entries; ++t)
        if (column[t] == a) sum[t] += value, found = true;
      cut = cut || !found;
    });
    scale_to_sum(sum, all, cut, count, values);
  }
};

/// The sums of terms by aggregate, of the `room` smallest numbers of aggregates above `last`, ascending.
struct SumsByAggregate {
  static constexpr int room = 16;
  static constexpr Index nothing = std::numeric_limits<Index>::max();
  Index last;
  bool more = false;  // there are larger ones
  Index aggregate[room];
  double sum[room];

  SEIDEL_HD explicit SumsByAggregate(Index above) : last(above) {
    for (int t = 0; t < room; ++t) aggregate[t] = nothing, sum[t] = 0;
  }
  /// What is larger makes room, place by place, until nothing is left to be put down. No place depends on a value, and there is
  /// no way out but the end of the loop, so that a GPU keeps all in registers.
  SEIDEL_HD void add(Index a, double value) {
    if (a <= last) return;
    for (int t = 0; t < room && a != nothing; ++t) {
      if (aggregate[t] == a) {
        sum[t] += value;
        a = nothing;
      } else if (aggregate[t] > a) {
        const Index larger = aggregate[t];
        const double its_sum = sum[t];
        aggregate[t] = a, sum[t] = value;
        a = larger, value = its_sum;
      }
    }
    if (a != nothing) more = true;
  }
};

/// The columns of a row of P with the largest magnitudes, of equal ones the smaller columns.
struct LargestEntries {
  int count = 0;
  Index column[max_prolongator_entries] = {};  // by magnitude, then by column
  double magnitude[max_prolongator_entries] = {-1, -1, -1, -1};

  /// All behind the place of a new one move: no place depends on a value, so that a GPU keeps all in registers. NaN is the largest.
  SEIDEL_HD void add(Index a, double m) {
    bool moving = false;
    for (int s = 0; s < max_prolongator_entries; ++s)
      if (moving || !(magnitude[s] >= m) || (magnitude[s] == m && column[s] > a)) {
        moving = true;
        const Index smaller = column[s];
        const double its_magnitude = magnitude[s];
        column[s] = a, magnitude[s] = m;
        a = smaller, m = its_magnitude;
      }
    count = count < max_prolongator_entries ? count + 1 : count;
  }
  SEIDEL_HD void ascending(Index* chosen) const {
    for (int t = 0; t < max_prolongator_entries; ++t) {
      int rank = 0;
      for (int s = 0; s < max_prolongator_entries; ++s) rank += s < count && column[s] < column[t];
      if (t < count) chosen[rank] = column[t];
    }
  }
};

/// Chooses the columns of a row of P: ascending, in chosen[4 i] and behind it; their number in `count`.
template <class Offset, class Space>
struct ChooseColumns {
  SmoothedRow<Offset, Space> row;
  Span<Index, Space> chosen;
  Span<std::int32_t, Space> count;  // one more entry, 0

  SEIDEL_HD void operator()(Index i, const CsrView<double, Offset, Space>& A) const {
    LargestEntries largest;
    if (row.entries.of_row[i] >= 0) {
      Index last = -1;
      for (bool more = true; more;) {  // a row of many aggregates is read again for each 16 of them
        SumsByAggregate sums(last);
        row.terms(i, A, [&](Index a, double value) { sums.add(a, value); });
        for (int t = 0; t < SumsByAggregate::room; ++t) {
          if (sums.aggregate[t] == SumsByAggregate::nothing) break;
          largest.add(sums.aggregate[t], std::fabs(sums.sum[t]));
        }
        more = sums.more;
        last = sums.aggregate[SumsByAggregate::room - 1];
      }
    }
    largest.ascending(&chosen[std::int64_t(max_prolongator_entries) * i]);
    count[i] = largest.count;
    if (i == 0) count[count.size() - 1] = 0;
  }
};

/// From room for all entries that a row may have to their places in P.
template <class Offset, class Space>
struct PlaceChosen {
  Span<const Index, Space> chosen;
  Span<const Offset, Space> row_ptr;
  Span<Index, Space> col_idx;
  Span<const double, Space> weight = {};  // none: columns alone
  Span<double, Space> values = {};
  SEIDEL_HD void operator()(Index i) const {
    const std::int64_t from = std::int64_t(max_prolongator_entries) * i - row_ptr[i];
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      col_idx[k] = chosen[from + k];
      if (!weight.empty()) values[k] = weight[from + k];
    }
  }
};

template <class Offset, class Space, class Entries = CoupledEntries<Offset, Space>>
struct ValuesOfRow {
  static constexpr bool reads_columns = Entries::reads_columns;
  SmoothedRow<Offset, Space, Entries> row;
  Span<const Offset, Space> row_ptr;
  Span<const Index, Space> col_idx;
  Span<double, Space> values;

  SEIDEL_HD void operator()(Index i, const CsrView<double, Offset, Space>& A) const {
    const Offset first = row_ptr[i];
    row.values_at(i, A, int(row_ptr[i + 1] - first), col_idx.data() + first, values.data() + first);
  }
};

/// Columns and values of a row of P on the host, in one pass if it meets few aggregates: as ChooseColumns and ValuesOfRow.
template <class Offset>
struct ChooseEntries {
  SmoothedRow<Offset, Host> row;
  HostSpan<Index> chosen;
  HostSpan<double> weight;
  HostSpan<std::int32_t> count;  // one more entry, 0

  void operator()(Index i, const CsrView<double, Offset, Host>& A) const {
    constexpr int few = 64;
    Index met[few + 1];
    double sum[few + 1], all = 0;
    int n = 0;
    if (row.entries.of_row[i] >= 0)
      row.terms(i, A, [&](Index a, double value) {
        if (n > few) return;
        int t = 0;
        while (t < n && met[t] != a) ++t;
        if (t == n) met[n] = a, sum[n++] = 0;
        sum[t] += value, all += value;
      });
    const std::int64_t to = std::int64_t(max_prolongator_entries) * i;
    if (n > few) {
      ChooseColumns<Offset, Host>{row, chosen, count}(i, A);
      return row.values_at(i, A, count[i], &chosen[to], &weight[to]);
    }
    LargestEntries largest;
    for (int t = 0; t < n; ++t) largest.add(met[t], std::fabs(sum[t]));
    largest.ascending(&chosen[to]);
    double kept[max_prolongator_entries] = {};
    for (int s = 0; s < largest.count; ++s) kept[s] = sum[std::find(met, met + n, chosen[to + s]) - met];
    scale_to_sum(kept, all, n > largest.count, largest.count, &weight[to]);
    count[i] = largest.count;
    if (i == 0) count[count.size() - 1] = 0;
  }
};

/// Makes PlacedEntries::kinds.
template <class Offset, class Space>
struct PlaceEntry {
  CoupledEntries<Offset, Space> entries;
  CsrView<double, Offset, Space> A;
  Span<const Offset, Space> row_ptr;  // of P
  Span<const Index, Space> col_idx;
  Span<std::uint8_t, Space> kinds;

  SEIDEL_HD void operator()(Index i, Offset k) const {
    using Placed = PlacedEntries<Offset, Space>;
    const bool diagonal = entries.is_diagonal(i, k, A);
    std::uint8_t kind = Placed::weak;
    if (diagonal || entries.is_strong(k)) {
      const Index a = entries.aggregate(k, A);
      kind = a < 0 ? Placed::no_aggregate : Placed::cut;
      for (Offset t = row_ptr[i]; t < row_ptr[i + 1]; ++t)
        if (col_idx[t] == a) kind = std::uint8_t(t - row_ptr[i]);
    }
    kinds[k] = diagonal ? kind | Placed::diagonal : kind;
  }
};

}  // namespace aggregation_detail

/// What update_prolongator() needs of each entry of A: what it is to P, by the strong couplings and the aggregate of each row of
/// which P was made. Cost  reads the columns of A and P once; a byte per entry of A. Does not wait.
template <Backend B, class Offset>
Array<std::uint8_t, SpaceOf<B>> entries_of_prolongator(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A,
                                                       Span<const std::uint32_t, SpaceOf<B>> strong,
                                                       Span<const Index, SpaceOf<B>> of_row,
                                                       const Csr<double, Offset, SpaceOf<B>>& P) {
  using namespace aggregation_detail;
  Array<std::uint8_t, SpaceOf<B>> kinds(on, A.nnz());
  for_each_entry(on, A.row_ptr,
                 PlaceEntry<Offset, SpaceOf<B>>{{strong, of_row}, A, P.row_ptr, P.col_idx, kinds.span()});
  return kinds;
}

/// The values of P in the pattern that it has, for new values of A, the same strong couplings and aggregates: `entries` are
/// entries_of_prolongator(). Cost  reads the values of A and a byte for each once, writes the values of P. Does not wait.
template <Backend B, class Offset>
void update_prolongator(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A,
                        Span<const std::uint8_t, SpaceOf<B>> entries, double omega,
                        Csr<double, Offset, SpaceOf<B>>& P) {
  using namespace aggregation_detail;
  using Placed = PlacedEntries<Offset, SpaceOf<B>>;
  for_each_row_of(on, A, ValuesOfRow<Offset, SpaceOf<B>, Placed>{{{entries}, omega}, P.row_ptr, P.col_idx, P.values});
}

/// P for A, the strong couplings of A (packed_strong()) and its aggregates.
///
/// Shapes  A is n x n, P is n x aggregates.count.
/// Cost    reads A twice, on the host once, and rows of many aggregates more often; 20 bytes per row beside P, on the host 52. The
///         host waits once, for the size of P.
template <Backend B, class Offset>
Csr<double, Offset, SpaceOf<B>> prolongator(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A,
                                            Span<const std::uint32_t, SpaceOf<B>> strong,
                                            const Aggregates<SpaceOf<B>>& aggregates, double omega) {
  using namespace aggregation_detail;
  using Space = SpaceOf<B>;
  const std::int64_t n = A.nrows;
  Csr<double, Offset, Space> P{A.nrows, aggregates.count, Array<Offset, Space>(on, n + 1), {}, {}};
  Array<Index, Space> chosen(on, max_prolongator_entries * n);
  Array<std::int32_t, Space> count(on, n + 1);
  const SmoothedRow<Offset, Space> row{{strong, aggregates.of_row}, omega};
  if constexpr (HostBackend<B>) {
    Array<double, Space> weight(on, max_prolongator_entries * n);
    for_each_row_of(on, A, ChooseEntries<Offset>{row, chosen, weight, count});
    P.take_entries(on, places_of<B, Offset>(on, count, P.row_ptr));
    for_each_row(on, A.row_ptr, PlaceChosen<Offset, Space>{chosen, P.row_ptr, P.col_idx, weight, P.values});
  } else {
    for_each_row_of(on, A, ChooseColumns<Offset, Space>{row, chosen, count});
    P.take_entries(on, places_of<B, Offset>(on, count, P.row_ptr));
    for_each_row(on, A.row_ptr, PlaceChosen<Offset, Space>{chosen, P.row_ptr, P.col_idx});
    for_each_row_of(on, A, ValuesOfRow<Offset, Space>{row, P.row_ptr, P.col_idx, P.values});
  }
  return P;
}

}  // namespace seidel
