// Wavefronts, greedy colours and levels of a pattern, in one pass each.
#include <seidel/kernels/orders/orders.hpp>

#include <algorithm>
#include <bit>

namespace seidel {

namespace {

/// Rows gathered by their key in 0 ... nkeys - 1, ascending within one.
Wavefronts gathered(HostSpan<const Index> key, Index nkeys) {
  Wavefronts found{Array<Index>(key.size()), std::vector<std::int64_t>(nkeys + 1, 0)};
  for (const Index k : key) ++found.start[k + 1];
  for (Index k = 0; k < nkeys; ++k) found.start[k + 1] += found.start[k];
  std::vector<std::int64_t> next(found.start.begin(), found.start.end() - 1);
  for (std::int64_t i = 0; i < key.size(); ++i) found.rows[next[key[i]]++] = Index(i);
  return found;
}

/// Of rows begin ... end - 1 among themselves.
template <class Offset>
Array<Index> wavefront_of_each(HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx, std::int64_t begin,
                               std::int64_t end) {
  Array<Index> of_rows(end - begin, 0);
  const auto wavefront = [&](std::int64_t row) -> Index& { return of_rows[row - begin]; };
  for (std::int64_t i = begin; i < end; ++i) {
    Index mine = wavefront(i);  // what rows before have pushed here: that is A'
    Offset k = row_ptr[i];
    const Offset last = row_ptr[i + 1];
    while (k < last && col_idx[k] < begin) ++k;
    for (; k < last && col_idx[k] < i; ++k) mine = std::max(mine, wavefront(col_idx[k]) + 1);
    wavefront(i) = mine;
    for (; k < last && col_idx[k] < end; ++k)
      if (col_idx[k] > i) wavefront(col_idx[k]) = std::max(wavefront(col_idx[k]), mine + 1);
  }
  return of_rows;
}

Index count_of(HostSpan<const Index> wavefronts) {
  return wavefronts.empty() ? 0 : *std::max_element(wavefronts.begin(), wavefronts.end()) + 1;
}

}  // namespace

namespace orders_detail {

template <class Offset>
Wavefronts wavefronts_of(HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx) {
  const auto wavefronts = wavefront_of_each(row_ptr, col_idx, 0, std::max<std::int64_t>(row_ptr.size() - 1, 0));
  return gathered(wavefronts, count_of(wavefronts));
}

template <class Offset>
Index count_of_wavefronts(HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx, std::int64_t begin,
                          std::int64_t end) {
  return count_of(wavefront_of_each(row_ptr, col_idx, begin, end));
}

template <class Offset>
std::int64_t count_of_levels(HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx, std::int64_t enough) {
  const std::int64_t n = std::max<std::int64_t>(row_ptr.size() - 1, 0);
  Array<char> met(n, 0);
  Array<Index> queue(n);  // the rows met, level by level
  std::int64_t most = 0, end = 0;
  const auto meet = [&](Index i) {
    if (!met[i]) met[i] = 1, queue[end++] = i;
  };
  for (Index first = 0; first < n && most < enough; ++first) {
    std::int64_t levels = 0, at = end;
    for (meet(first); at < end && levels < enough; ++levels)
      for (const std::int64_t level_end = end; at < level_end; ++at)
        for (Offset k = row_ptr[queue[at]]; k < row_ptr[queue[at] + 1]; ++k) meet(col_idx[k]);
    most = std::max(most, levels);
  }
  return most;
}

template <class Offset>
Array<Index> greedy_colours_of(HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx,
                               const std::function<void()>& on_step) {
  const std::int64_t n = std::max<std::int64_t>(row_ptr.size() - 1, 0);
  constexpr Index none = -1;
  Array<Index> colour(n, none);
  Array<std::uint64_t> pushed(n);  // colours base ... base + 63 that rows before have, coupled by A'
  // A row that finds all 64 colours of a pass taken waits for the next, which looks at the next 64.
  Index base = 0;
  for (std::int64_t left = n; left > 0; base += 64) {
    std::fill(pushed.begin(), pushed.end(), 0);
    for (std::int64_t i = 0; i < n; ++i) {
      if (i % 1024 == 0) on_step();
      if (colour[i] != none && colour[i] < base) continue;  // of an earlier pass: takes none of these colours
      std::uint64_t taken = pushed[i];
      Offset k = row_ptr[i];
      const Offset last = row_ptr[i + 1];
      for (; k < last && col_idx[k] < i; ++k)
        if (const Index theirs = colour[col_idx[k]]; theirs >= base) taken |= std::uint64_t(1) << (theirs - base);
      if (~taken == 0) continue;
      const int mine = std::countr_one(taken);
      colour[i] = base + mine;
      --left;
      for (; k < last; ++k)
        if (col_idx[k] > i) pushed[col_idx[k]] |= std::uint64_t(1) << mine;
    }
  }
  return colour;
}

template Wavefronts wavefronts_of(HostSpan<const std::int32_t>, HostSpan<const Index>);
template Wavefronts wavefronts_of(HostSpan<const std::int64_t>, HostSpan<const Index>);
template Index count_of_wavefronts(HostSpan<const std::int32_t>, HostSpan<const Index>, std::int64_t, std::int64_t);
template Index count_of_wavefronts(HostSpan<const std::int64_t>, HostSpan<const Index>, std::int64_t, std::int64_t);
template std::int64_t count_of_levels(HostSpan<const std::int32_t>, HostSpan<const Index>, std::int64_t);
template std::int64_t count_of_levels(HostSpan<const std::int64_t>, HostSpan<const Index>, std::int64_t);
template Array<Index> greedy_colours_of(HostSpan<const std::int32_t>, HostSpan<const Index>,
                                        const std::function<void()>&);
template Array<Index> greedy_colours_of(HostSpan<const std::int64_t>, HostSpan<const Index>,
                                        const std::function<void()>&);

}  // namespace orders_detail

Array<Index> colour_order(const OpenMP& on, HostSpan<const Index> colours, HostSpan<const Index> turn) {
  if (!turn.empty()) {
    Array<Index> turns(colours.size());
    for (std::int64_t i = 0; i < colours.size(); ++i) turns[i] = turn[colours[i]];
    return colour_order(on, turns);
  }
  return std::move(gathered(colours, colours.empty() ? 0 : *std::max_element(colours.begin(), colours.end()) + 1).rows);
}

}  // namespace seidel
