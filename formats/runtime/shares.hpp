// Helpers of conversions and generators: work that moves data, gains nothing from vector instructions and is the same
// on one core and on several. Results never depend on the number of threads.
#pragma once
#include <atomic>
#include <limits>
#include <type_traits>

#include <seidel/formats/runtime/array.hpp>
#include <seidel/formats/runtime/parallel.hpp>

namespace seidel {

/// Calls body(i, part) for i = 0 ... n-1, each as a thread becomes free: for few, uneven pieces.
void for_each_in_turn(const OpenMP& on, std::int64_t n, FunctionRef<std::int64_t, int> body);

/// Calls body(i) for i = 0 ... n-1, in even shares; `weight` says what one of them costs.
void for_each_index(const OpenMP& on, std::int64_t n, std::int64_t weight, const auto& body) {
  for_shares(on, n, weight, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t i = first; i < last; ++i) body(i);
  });
}

/// shared = min(shared, value), whatever other threads do to it: a std::atomic, or a std::atomic_ref.
template <class Shared>
void fetch_min(Shared&& shared, typename std::remove_cvref_t<Shared>::value_type value) {
  for (auto known = shared.load(); value < known && !shared.compare_exchange_weak(known, value);) continue;
}
template <class Shared>
void fetch_max(Shared&& shared, typename std::remove_cvref_t<Shared>::value_type value) {
  for (auto known = shared.load(); known < value && !shared.compare_exchange_weak(known, value);) continue;
}

/// The smallest i of 0 ... n-1 for which is_bad(i), or n.
std::int64_t first_where(const OpenMP& on, std::int64_t n, std::int64_t weight, const auto& is_bad) {
  std::atomic<std::int64_t> found = n;
  for_shares(on, n, weight, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t i = first; i < last; ++i)
      if (is_bad(i)) return fetch_min(found, i);
  });
  return found.load();
}

/// The first row of a CSR matrix for which is_bad(row), or the number of rows.
template <class Offset, class IsBad>
std::int64_t first_row_where(const OpenMP& on, HostSpan<const Offset> row_ptr, const IsBad& is_bad) {
  std::atomic<std::int64_t> found = row_ptr.size() - 1;
  for_row_shares(on, row_ptr, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last && row < found.load(std::memory_order_relaxed); ++row)
      if (is_bad(row)) return fetch_min(found, row);
  });
  return found.load();
}

/// Turns lengths into offsets: on entry ptr[i + 1] is the length of i, on return ptr[i] the sum of the lengths before
/// i. Errors  ResourceError if the sum does not fit into Offset.
void offsets_from_lengths(const OpenMP& on, auto&& ptr) {
  using Offset = std::remove_reference_t<decltype(ptr[0])>;
  const std::int64_t n = ptr.size() - 1;
  const int npieces = n < 2 * worth_per_thread ? 1 : std::max(1, on.threads);  // however many threads there are
  Array<std::int64_t> sums(npieces + 1);
  sums[0] = 0;
  for_each_in_turn(on, npieces, [&](std::int64_t piece, int) {
    const Range mine = even_share(n, int(piece), npieces);
    std::int64_t sum = 0;
    for (std::int64_t i = mine.first; i < mine.last; ++i) sum += ptr[i + 1];
    sums[piece + 1] = sum;
  });
  for (int piece = 0; piece < npieces; ++piece) sums[piece + 1] += sums[piece];
  const std::int64_t total = sums[npieces];
  if (total > std::numeric_limits<Offset>::max())
    throw ResourceError("found " + std::to_string(total) + " entries, expected at most " +
                        std::to_string(std::numeric_limits<Offset>::max()) +
                        " with 32-bit row pointers\n  take 64-bit row pointers");
  ptr[0] = 0;
  for_each_in_turn(on, npieces, [&](std::int64_t piece, int) {
    const Range mine = even_share(n, int(piece), npieces);
    std::int64_t sum = sums[piece];
    for (std::int64_t i = mine.first; i < mine.last; ++i) ptr[i + 1] = Offset(sum += ptr[i + 1]);
  });
}

}  // namespace seidel
