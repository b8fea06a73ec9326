// Rows of matrices that go from process to process, on the host. Columns are those of the whole matrix, unless said otherwise.
#pragma once
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <seidel/formats/runtime/shares.hpp>
#include <seidel/kernels/aggregation/strength.hpp>
#include <seidel/kernels/distributed/halo.hpp>

namespace seidel {

/// The numbers of all processes, one after the other.
template <class T>
Array<T> of_all(const Processes& all, const Array<T>& mine) {
  const std::size_t size = std::size_t(all.size());
  const std::vector<std::int64_t> own(size, mine.size()), one(size, 1);
  std::vector<std::int64_t> counts(size);
  exchange(all, own.data(), one, counts.data(), one);
  std::int64_t count = 0;
  for (const std::int64_t n : counts) count += n;
  Array<T> result;
  together(all, [&] { result = Array<T>(count); });
  const std::vector<HostSpan<const std::byte>> out(
      size, {reinterpret_cast<const std::byte*>(mine.data()), mine.size() * std::int64_t(sizeof(T))});
  all.exchange(out, processes_detail::pieces<std::byte>(result.data(), counts));
  return result;
}

/// Rows first ... first + count - 1.
template <class Offset>
Csr<double, Offset> rows_between(const Csr<double, Offset>& A, std::int64_t first, std::int64_t count) {
  const Offset begin = A.row_ptr[first];
  auto rows = Csr<double, Offset>::uninitialised(OpenMP{1}, Index(count), A.ncols, A.row_ptr[first + count] - begin);
  for (std::int64_t i = 0; i <= count; ++i) rows.row_ptr[i] = A.row_ptr[first + i] - begin;
  std::copy_n(A.col_idx.begin() + begin, rows.nnz(), rows.col_idx.begin());
  std::copy_n(A.values.begin() + begin, rows.nnz(), rows.values.begin());
  return rows;
}

/// Sends rows which[0], which[1], ... of A, out_counts[p] of them to process p, and returns those that come, in_counts[p] from there.
template <class Offset>
Csr<double, Offset> exchanged_rows(const Processes& all, const Csr<double, Offset>& A, std::span<const Index> which,
                                   const std::vector<std::int64_t>& out_counts,
                                   const std::vector<std::int64_t>& in_counts) {
  const std::size_t size = std::size_t(all.size());
  std::vector<std::int64_t> lengths, out_entries(size), in_entries(size);
  std::vector<Index> columns;
  std::vector<double> values;
  auto next = which.begin();
  for (std::size_t p = 0; p < size; ++p)
    for (std::int64_t n = out_counts[p]; n > 0; --n, ++next) {
      const Offset first = A.row_ptr[*next], last = A.row_ptr[*next + 1];
      columns.insert(columns.end(), A.col_idx.begin() + first, A.col_idx.begin() + last);
      values.insert(values.end(), A.values.begin() + first, A.values.begin() + last);
      lengths.push_back(last - first);
      out_entries[p] += last - first;
    }
  std::int64_t nrows = 0;
  for (const std::int64_t n : in_counts) nrows += n;
  std::vector<std::int64_t> in_lengths(static_cast<std::size_t>(nrows));
  exchange(all, lengths.data(), out_counts, in_lengths.data(), in_counts);
  Csr<double, Offset> rows{Index(nrows), A.ncols, Array<Offset>(nrows + 1), {}, {}};
  rows.row_ptr[0] = 0;
  std::int64_t i = 0;
  for (std::size_t p = 0; p < size; ++p)
    for (std::int64_t n = in_counts[p]; n > 0; --n, ++i) {
      rows.row_ptr[i + 1] = rows.row_ptr[i] + Offset(in_lengths[std::size_t(i)]);
      in_entries[p] += in_lengths[std::size_t(i)];
    }
  rows.take_entries(OpenMP{1}, rows.row_ptr[nrows]);
  exchange(all, columns.data(), out_entries, rows.col_idx.data(), in_entries);
  exchange(all, values.data(), out_entries, rows.values.data(), in_entries);
  return rows;
}

/// Of B, whose rows processes share as they do the columns of A: the rows for the columns of A here, [before; own; after].
template <class Offset>
Csr<double, Offset> rows_of_columns(const Processes& all, const Halo& halo, const Csr<double, Offset>& B) {
  const auto others =
      exchanged_rows(all, B, {halo.sent.data(), std::size_t(halo.sent.size())}, halo.sends, halo.receives);
  auto rows = Csr<double, Offset>::uninitialised(OpenMP{1}, Index(halo.columns()), B.ncols, others.nnz() + B.nnz());
  std::int64_t at = 0, row = 0;
  rows.row_ptr[0] = 0;
  const auto take = [&](const Csr<double, Offset>& from, std::int64_t first, std::int64_t count) {
    const Offset begin = from.row_ptr[first], end = from.row_ptr[first + count];
    for (std::int64_t i = first; i < first + count; ++i) rows.row_ptr[++row] = Offset(at) + from.row_ptr[i + 1] - begin;
    std::copy(from.col_idx.begin() + begin, from.col_idx.begin() + end, rows.col_idx.begin() + at);
    std::copy(from.values.begin() + begin, from.values.begin() + end, rows.values.begin() + at);
    at += end - begin;
  };
  take(others, 0, halo.before);
  take(B, 0, halo.own);
  take(others, halo.before, halo.after);
  return rows;
}

/// The other way: `parts` has a row for each column of A here, and the rows of other processes are added to theirs, in the order
/// of processes. Returns the sums of the rows that are own.
template <class Offset>
Csr<double, Offset> added_rows(const OpenMP& on, const Processes& all, const Halo& halo,
                               const Csr<double, Offset>& parts) {
  std::vector<Index> outside;
  for (std::int64_t c = 0; c < halo.columns(); ++c)
    if (c < halo.before || c >= halo.before + halo.own) outside.push_back(Index(c));
  const auto others = exchanged_rows(all, parts, outside, halo.receives, halo.sends);
  std::vector<std::pair<Index, Index>> added;  // own row, row of `others`
  for (std::int64_t k = 0; k < halo.sent.size(); ++k) added.emplace_back(halo.sent[k], Index(k));
  std::stable_sort(added.begin(), added.end(), [](const auto& a, const auto& b) { return a.first < b.first; });

  // What is added to a row makes it longer: such rows are found apart, those that nothing is added to are copied.
  struct Longer {
    Index row;
    std::vector<std::pair<Index, double>> entries;
  };
  std::vector<Longer> longer;
  for (auto next = added.begin(); next != added.end();) {
    Longer sum{next->first, {}};
    std::vector<std::pair<Index, double>> terms;
    const auto take = [&](const Csr<double, Offset>& from, std::int64_t row) {
      for (Offset k = from.row_ptr[row]; k < from.row_ptr[row + 1]; ++k)
        terms.emplace_back(from.col_idx[k], from.values[k]);
    };
    take(parts, halo.before + sum.row);
    for (; next != added.end() && next->first == sum.row; ++next) take(others, next->second);
    std::stable_sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& term : terms)
      if (!sum.entries.empty() && sum.entries.back().first == term.first)
        sum.entries.back().second += term.second;
      else
        sum.entries.push_back(term);
    longer.push_back(std::move(sum));
  }
  Csr<double, Offset> sums{Index(halo.own), parts.ncols, Array<Offset>(halo.own + 1), {}, {}};
  for (std::int64_t i = 0; i < halo.own; ++i)
    sums.row_ptr[i + 1] = parts.row_ptr[halo.before + i + 1] - parts.row_ptr[halo.before + i];
  for (const Longer& sum : longer) sums.row_ptr[sum.row + 1] = Offset(sum.entries.size());
  offsets_from_lengths(on, sums.row_ptr);
  sums.take_entries(on, sums.row_ptr[halo.own]);
  for_row_shares(on, std::as_const(sums.row_ptr).span(), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const Offset from = parts.row_ptr[halo.before + i];
      const Offset count = std::min(parts.row_ptr[halo.before + i + 1] - from, sums.row_ptr[i + 1] - sums.row_ptr[i]);
      std::copy_n(parts.col_idx.begin() + from, count, sums.col_idx.begin() + sums.row_ptr[i]);
      std::copy_n(parts.values.begin() + from, count, sums.values.begin() + sums.row_ptr[i]);
    }
  });
  for (const Longer& sum : longer) {
    Offset at = sums.row_ptr[sum.row];
    for (const auto& [column, value] : sum.entries) sums.col_idx[at] = column, sums.values[at++] = value;
  }
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

/// The diagonal of renumbered rows, as a matrix: what is not stored there is not stored here.
template <class Offset>
Csr<double, Offset> own_diagonal(const OpenMP& on, const Halo& halo, const CsrView<double, Offset, Host>& A) {
  Csr<double, Offset> D{A.nrows, A.nrows, Array<Offset>(A.nrows + std::int64_t(1)), {}, {}};
  const auto place = [&](std::int64_t i) {
    const auto first = A.col_idx.begin() + A.row_ptr[i], last = A.col_idx.begin() + A.row_ptr[i + 1];
    const auto found = std::lower_bound(first, last, halo.before + i);
    return found != last && *found == halo.before + i ? found - A.col_idx.begin() : -1;
  };
  for_each_index(on, A.nrows, 4, [&](std::int64_t i) { D.row_ptr[i + 1] = place(i) >= 0; });
  offsets_from_lengths(on, D.row_ptr);
  D.take_entries(on, D.row_ptr[A.nrows]);
  for_each_index(on, A.nrows, 4, [&](std::int64_t i) {
    if (const auto k = place(i); k >= 0) {
      D.col_idx[D.row_ptr[i]] = Index(i);
      D.values[D.row_ptr[i]] = A.values[k];
    }
  });
  return D;
}

/// Renumbered rows, with a row for each of their other columns that has a 1 on the diagonal alone: a square matrix.
template <class Offset>
Csr<double, Offset> with_rows_of_others(const OpenMP& on, const Halo& halo, const CsrView<double, Offset, Host>& A) {
  const std::int64_t n = halo.columns();
  auto square = Csr<double, Offset>::uninitialised(OpenMP{1}, Index(n), Index(n), A.nnz() + halo.before + halo.after);
  std::int64_t at = 0;
  square.row_ptr[0] = 0;
  const auto take_diagonal = [&](std::int64_t i) {
    square.col_idx[at] = Index(i);
    square.values[at] = 1;
    square.row_ptr[i + 1] = Offset(++at);
  };
  for (std::int64_t i = 0; i < halo.before; ++i) take_diagonal(i);
  for (std::int64_t i = 0; i < halo.own; ++i) square.row_ptr[halo.before + i + 1] = Offset(at) + A.row_ptr[i + 1];
  for_each_index(on, A.nnz(), 1, [&](std::int64_t k) {
    square.col_idx[at + k] = A.col_idx[k];
    square.values[at + k] = A.values[k];
  });
  at += A.nnz();
  for (std::int64_t i = halo.before + halo.own; i < n; ++i) take_diagonal(i);
  return square;
}

/// A copy of such a matrix with (a_ij + a_ji) / 2 between own rows.
template <class Offset>
Csr<double, Offset> with_symmetric_part(const OpenMP& on, const Halo& halo, const Csr<double, Offset>& square) {
  auto half = copied_to<Host>(on, square.view());
  const auto rows = rows_between(square, halo.before, halo.own);
  const auto of_block = symmetric_part(on, own_block(on, halo, rows.view()).view());
  const auto is_own = [&](Index c) { return c >= halo.before && c < halo.before + halo.own; };
  std::int64_t next = 0;
  for (Offset k = half.row_ptr[halo.before]; k < half.row_ptr[halo.before + halo.own]; ++k)
    if (is_own(half.col_idx[k])) half.values[k] = of_block.values[next++];
  return half;
}

}  // namespace seidel
