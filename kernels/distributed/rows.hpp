// Rows of matrices that go from process to process. Columns are those of the whole matrix, unless said otherwise. What goes passes
// through the host; what stays does not leave the memory of the back end.
#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

#include <seidel/formats/convert.hpp>
#include <seidel/kernels/aggregation/strength.hpp>
#include <seidel/kernels/distributed/exchange.hpp>

namespace seidel {

/// One number of each process, by one message.
inline std::vector<double> one_of_each(const Processes& all, double mine) {
  std::vector<double> numbers(static_cast<std::size_t>(all.size()));
  all.gather({&mine, 1}, std::vector<int>(numbers.size(), 1), numbers.data());
  return numbers;
}
inline double sum_of_all(const Processes& all, double mine) {
  const auto found = one_of_each(all, mine);
  return std::accumulate(found.begin(), found.end(), 0.0);
}
inline double largest_of_all(const Processes& all, double mine) { return std::ranges::max(one_of_each(all, mine)); }
/// Dealt out as processes have rows.
inline RowShares shares_of(const Processes& all, std::int64_t rows_here) {
  const auto counts = one_of_each(all, double(rows_here));
  return RowShares(std::vector<std::int64_t>(counts.begin(), counts.end()));
}

/// The elements of all processes, one after the other.
template <class T>
Array<T> of_all(const Processes& all, const Array<T>& mine) {
  const RowShares shares = shares_of(all, mine.size());
  Array<T> result;
  together(all, [&] { result = Array<T>(shares.n()); });
  gather_from_all<T>(OpenMP{1}, all, mine, shares.counts(), result);
  return result;
}

/// Sends out_counts[p] rows of A to process p, one after the other, and returns those that come, in_counts[p] from there.
template <class Offset>
Csr<double, Offset> exchanged_rows(const Processes& all, const Csr<double, Offset>& A,
                                   const std::vector<std::int64_t>& out_counts,
                                   const std::vector<std::int64_t>& in_counts) {
  const auto entries_of = [](const Array<Offset>& row_ptr, const std::vector<std::int64_t>& counts) {
    std::vector<std::int64_t> entries;
    std::int64_t row = 0;
    for (const std::int64_t n : counts) entries.push_back(row_ptr[row + n] - row_ptr[row]), row += n;
    return entries;
  };
  Array<Offset> lengths(A.row_ptr.size());  // behind a 0
  std::adjacent_difference(A.row_ptr.begin(), A.row_ptr.end(), lengths.begin());
  const std::int64_t nrows = std::accumulate(in_counts.begin(), in_counts.end(), std::int64_t(0));
  Csr<double, Offset> rows{Index(nrows), A.ncols, Array<Offset>(nrows + 1, Offset(0)), {}, {}};
  exchange(all, lengths.data() + 1, out_counts, rows.row_ptr.data() + 1, in_counts);
  std::partial_sum(rows.row_ptr.begin(), rows.row_ptr.end(), rows.row_ptr.begin());
  const auto out_entries = entries_of(A.row_ptr, out_counts), in_entries = entries_of(rows.row_ptr, in_counts);
  rows.take_entries(OpenMP{1}, rows.row_ptr[nrows]);
  exchange(all, A.col_idx.data(), out_entries, rows.col_idx.data(), in_entries);
  exchange(all, A.values.data(), out_entries, rows.values.data(), in_entries);
  return rows;
}

/// Of A, whose rows processes share as they do the columns of another matrix: the rows for the columns of that here, as its halo says,
/// [before; own; after].
template <Backend B, class Offset>
Csr<double, Offset, SpaceOf<B>> rows_of_columns(const B& on, const Processes& all, const Halo& halo,
                                                const CsrView<double, Offset, SpaceOf<B>>& A) {
  using Space = SpaceOf<B>;
  Csr<double, Offset> sent;
  together(all, [&] {
    const Array<Index, Space> which = copied_to<Space>(on, halo.sent);
    sent = moved_to<Host>(on, made_of_rows(on, which.size(), A.ncols, ChosenRows<Offset, Space>{{A}, which}));
  });
  const auto others = exchanged_rows(all, sent, halo.sends, halo.receives);
  Csr<double, Offset, Space> rows;
  together(all, [&] {
    Csr<double, Offset, Space> kept;
    const auto there = brought_to(on, others.view(), kept);
    rows = made_of_rows(
        on, halo.columns(), A.ncols,
        RowRanges<Offset, Space>{{{there, 0, halo.before}, {A, 0, halo.own}, {there, halo.before, halo.after}}});
  });
  return rows;
}

/// The other way: `parts` has a row for each column there, and the rows of other processes are added to theirs, in the order
/// of processes. Returns the sums of the rows that are own.
template <Backend B, class Offset>
Csr<double, Offset, SpaceOf<B>> added_rows(const B& on, const Processes& all, const Halo& halo,
                                           const CsrView<double, Offset, SpaceOf<B>>& parts) {
  using Space = SpaceOf<B>;
  Csr<double, Offset> of_others;
  together(all, [&] {
    of_others = moved_to<Host>(
        on,
        made_of_rows(on, halo.before + halo.after, parts.ncols,
                     RowRanges<Offset, Space>{{{parts, 0, halo.before}, {parts, halo.before + halo.own, halo.after}}}));
  });
  const auto come = exchanged_rows(all, of_others, halo.receives, halo.sends);
  Csr<double, Offset, Space> sums;
  together(all, [&] {
    const std::vector<Index> longer =
        halo_detail::each_once(host_of(on), halo.sent);  // rows to which something is added
    std::vector<Index> in_parts;
    for (const Index row : longer) in_parts.push_back(Index(row + halo.before));

    const Array<Index, Space> which(on, in_parts), replaced(on, longer);
    const auto mine =
        moved_to<Host>(on, made_of_rows(on, which.size(), parts.ncols, ChosenRows<Offset, Space>{{parts}, which}));
    std::vector<Index> row_idx, col_idx;
    std::vector<double> values;
    const auto add = [&](std::int64_t to, const Csr<double, Offset>& A, Index row) {
      for (Offset k = A.row_ptr[row]; k < A.row_ptr[row + 1]; ++k)
        row_idx.push_back(Index(to)), col_idx.push_back(A.col_idx[k]), values.push_back(A.values[k]);
    };
    for (Index i = 0; i < mine.nrows; ++i) add(i, mine, i);
    for (Index i = 0; i < come.nrows; ++i)
      add(count_below(longer.data(), std::int64_t(longer.size()), halo.sent[i]), come, i);
    const auto nnz = std::int64_t(values.size());
    const CooView<double, Host> terms{
        mine.nrows, mine.ncols, {row_idx.data(), nnz}, {col_idx.data(), nnz}, {values.data(), nnz}};
    const auto added = to_csr<Offset>(OpenMP{1}, terms);
    Csr<double, Offset, Space> kept;
    sums = made_of_rows(
        on, halo.own, parts.ncols,
        ReplacedRows<Offset, Space>{{parts}, Index(halo.before), replaced, {brought_to(on, added.view(), kept)}});
  });
  return sums;
}

/// The whole of a square matrix with n rows, on every process, of renumbered rows from `first` on.
template <class Offset>
Csr<double, Offset> whole_of(const Processes& all, std::int64_t first, const Halo& halo,
                             const CsrView<double, Offset, Host>& rows, std::int64_t n) {
  Array<Index> columns(rows.nnz());
  for (std::int64_t k = 0; k < columns.size(); ++k) {
    const std::int64_t c = rows.col_idx[k];
    columns[k] = c < halo.before              ? halo.outside[c]
                 : c < halo.before + halo.own ? Index(first + c - halo.before)
                                              : halo.outside[c - halo.own];
  }
  Array<Offset> lengths(rows.nrows);
  for (Index i = 0; i < rows.nrows; ++i) lengths[i] = rows.row_ptr[i + 1] - rows.row_ptr[i];
  Csr<double, Offset> whole{Index(n), Index(n), Array<Offset>(n + 1), of_all(all, columns),
                            of_all(all, Array<double>(std::vector<double>(rows.values.begin(), rows.values.end())))};
  const Array<Offset> length = of_all(all, lengths);
  whole.row_ptr[0] = 0;
  for (std::int64_t i = 0; i < n; ++i) whole.row_ptr[i + 1] = whole.row_ptr[i] + length[i];
  return whole;
}

namespace rows_detail {

/// The entries of row i between own columns get the values of row i of `block`.
template <class Offset, class Space>
struct TakeBlock {
  CsrView<double, Offset, Space> rows, block;
  Index first;
  Span<double, Space> values;
  SEIDEL_HD void operator()(std::int64_t i) const {
    Offset next = block.row_ptr[i];
    for (Offset k = rows.row_ptr[i]; k < rows.row_ptr[i + 1]; ++k)
      if (rows.col_idx[k] >= first && rows.col_idx[k] < first + block.ncols) values[k] = block.values[next++];
  }
};

}  // namespace rows_detail

/// A copy of renumbered rows with (a_ij + a_ji) / 2 between own rows.
template <Backend B, class Offset>
Csr<double, Offset, SpaceOf<B>> with_symmetric_part(const B& on, const Halo& halo,
                                                    const CsrView<double, Offset, SpaceOf<B>>& rows) {
  using Space = SpaceOf<B>;
  const auto of_rows = own_block(on, halo, rows), block = symmetric_part(on, of_rows.view());
  auto half = copied_to<Space>(on, rows);
  distributed_detail::for_each_of(
      on, rows.nrows, rows_detail::TakeBlock<Offset, Space>{rows, block.view(), Index(halo.before), half.values});
  return half;
}

}  // namespace seidel
