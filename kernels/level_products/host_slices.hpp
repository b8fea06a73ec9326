// How slices are shared out among the threads of the host.
#pragma once
#include <algorithm>
#include <type_traits>

#include <seidel/formats/runtime/parallel.hpp>

namespace seidel::level_detail {

inline constexpr int entries_ahead = 512;  // a product asks for them: processors do not look beyond a page
inline constexpr int floats_per_line = 16;

/// Calls body(n, j) for groups of N, N / 2, ... 1 columns, as many of each as there are, from column j on.
template <int N>
void in_groups(int k, int j, const auto& body) {
  for (; j + N <= k; j += N) body(std::integral_constant<int, N>(), j);
  if constexpr (N > 1) in_groups<N / 2>(k, j, body);
}

/// Calls body(first, last) for shares of the slices, by their steps, of which each has so many places.
inline void for_slice_shares(const OpenMP& on, HostSpan<const Index> step_ptr, int places,
                             FunctionRef<std::int64_t, std::int64_t> body) {
  const std::int64_t nslices = step_ptr.size() - 1;
  const std::int64_t entries = nslices > 0 ? step_ptr[nslices] * std::int64_t(places) : 0;
  if (on.threads <= 1 || entries < 2 * worth_per_thread) return body(0, std::max<std::int64_t>(nslices, 0));
  parallel_parts(on, [&](int part, int nparts) {
    const Range mine = share_by_nonzeros(step_ptr, part, nparts);
    body(mine.first, mine.last);
  });
}

}  // namespace seidel::level_detail
