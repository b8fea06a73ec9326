// Entries of each row sorted by column: stable, linear, without allocation in the parallel part.
#pragma once
#include <functional>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/shares.hpp>

namespace seidel::convert_detail {

/// Sorts few entries by key(column), equal ones in their order.
template <class Value, class Key>
void sort_by_insertion(Index* columns, Value* values, std::int64_t n, const Key& key) {
  for (std::int64_t k = 1; k < n; ++k) {
    const Index column = columns[k];
    const Value value = values[k];
    std::int64_t at = k;
    for (; at > 0 && key(columns[at - 1]) > key(column); --at)
      columns[at] = columns[at - 1], values[at] = values[at - 1];
    columns[at] = column;
    values[at] = value;
  }
}

/// The same for many, byte by byte; the rooms are for n entries. All keys are low ... high.
template <class Value, class Key>
void sort_by_bytes(Index* columns, Value* values, std::int64_t n, Index* column_room, Value* value_room, Index low,
                   Index high, const Key& key) {
  Index *from = columns, *to = column_room;
  Value *from_values = values, *to_values = value_room;
  for (int shift = 0; shift < 32 && (std::uint32_t(high - low) >> shift) != 0; shift += 8) {
    const auto byte = [&](Index column) { return std::uint32_t(key(column) - low) >> shift & 255; };
    std::int64_t place[256] = {};
    for (std::int64_t k = 0; k < n; ++k) ++place[byte(from[k])];
    std::int64_t sum = 0;
    for (auto& p : place) sum += std::exchange(p, sum);
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t at = place[byte(from[k])]++;
      to[at] = from[k];
      to_values[at] = from_values[k];
    }
    std::swap(from, to);
    std::swap(from_values, to_values);
  }
  if (from != columns) {
    std::copy(from, from + n, columns);
    std::copy(from_values, from_values + n, values);
  }
}

/// Sorts rows by column, entries of the same column in their order. Short ones by insertion, long ones byte by byte.
template <class Real>
class RowSorter {
 public:
  /// For rows of at most `longest` entries, on `nthreads` threads, columns below ncols.
  RowSorter(int nthreads, std::int64_t longest, Index ncols)
      : room_(longest <= max_insertion ? 0 : longest),
        last_column_(std::max<Index>(ncols, 1) - 1),
        columns_(room_ * nthreads),
        values_(room_ * nthreads) {}

  void operator()(Index* columns, Real* values, std::int64_t n, int thread) {
    if (std::is_sorted(columns, columns + n)) return;
    if (n <= max_insertion)
      sort_by_insertion(columns, values, n, std::identity());
    else
      sort_by_bytes(columns, values, n, columns_.data() + thread * room_, values_.data() + thread * room_, 0,
                    last_column_, std::identity());
  }

 private:
  static constexpr std::int64_t max_insertion = 48;

  std::int64_t room_;
  Index last_column_;
  Array<Index> columns_;
  Array<Real> values_;
};

/// The most entries in a row.
template <class Offset>
std::int64_t longest_row(const OpenMP& on, HostSpan<const Offset> row_ptr) {
  std::atomic<std::int64_t> longest = 0;
  for_shares(on, row_ptr.size() - 1, 1, [&](std::int64_t first, std::int64_t last, int) {
    std::int64_t mine = 0;
    for (std::int64_t i = first; i < last; ++i) mine = std::max<std::int64_t>(mine, row_ptr[i + 1] - row_ptr[i]);
    fetch_max(longest, mine);
  });
  return longest.load();
}

/// Calls body(first row, last row, thread) for some hundred pieces of the rows, as threads become free.
template <class Offset, class Body>
void for_row_pieces(const OpenMP& on, HostSpan<const Offset> row_ptr, const Body& body) {
  const std::int64_t nrows = row_ptr.size() - 1;
  if (on.threads <= 1 || nrows + row_ptr[nrows] < 2 * worth_per_thread) return body(std::int64_t(0), nrows, 0);
  const int npieces = 8 * on.threads;
  for_each_in_turn(on, npieces, [&](std::int64_t piece, int thread) {
    const Range mine = share_by_nonzeros(row_ptr, int(piece), npieces);
    body(mine.first, mine.last, thread);
  });
}

}  // namespace seidel::convert_detail
