// Entries of each row sorted by column: stable, linear.
#pragma once
#include <functional>
#include <vector>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/shares.hpp>

namespace seidel::convert_detail {

/// Sorts rows by Key(column), entries of the same key in their order. Short ones by insertion, long ones byte by byte: then
/// the thread takes as much memory as the longest of its rows.
template <class Value, class Key = std::identity>
class RowSorter {
 public:
  explicit RowSorter(int nthreads) : rooms_(std::size_t(nthreads)) {}

  void operator()(Index* columns, Value* values, std::int64_t n, int thread) {
    if (std::ranges::is_sorted(columns, columns + n, {}, key)) return;
    if (n <= max_insertion)
      by_insertion(columns, values, n);
    else
      by_bytes(columns, values, n, rooms_[std::size_t(thread)]);
  }

 private:
  static constexpr std::int64_t max_insertion = 48;
  static constexpr Key key = {};
  struct Room {
    Array<Index> columns;
    Array<Value> values;
  };

  static void by_insertion(Index* columns, Value* values, std::int64_t n) {
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

  static void by_bytes(Index* columns, Value* values, std::int64_t n, Room& room) {
    if (room.columns.size() < n) {
      room = {};
      room = {Array<Index>(n + n / 8), Array<Value>(n + n / 8)};  // the next may be a little longer
    }
    Index low = key(columns[0]), high = low;
    for (std::int64_t k = 1; k < n; ++k) low = std::min(low, key(columns[k])), high = std::max(high, key(columns[k]));
    Index *from = columns, *to = room.columns.data();
    Value *from_values = values, *to_values = room.values.data();
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

  std::vector<Room> rooms_;  // of threads
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
