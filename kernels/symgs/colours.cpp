// Greedy colours in natural order, 64 at a time.
#include <seidel/kernels/symgs/colours.hpp>

#include <bit>

namespace seidel {

namespace symgs_detail {

template <class Offset>
Array<Index> greedy_colours_of(HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx) {
  const std::int64_t n = std::max<std::int64_t>(row_ptr.size() - 1, 0);
  constexpr Index none = -1;
  Array<Index> colour(n, none);
  Array<std::uint64_t> pushed(n);  // colours base ... base + 63 that rows before have, coupled by A'
  // A row that finds all 64 colours of a pass taken waits for the next, which looks at the next 64.
  Index base = 0;
  for (std::int64_t left = n; left > 0; base += 64) {
    std::fill(pushed.begin(), pushed.end(), 0);
    for (std::int64_t i = 0; i < n; ++i) {
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

template Array<Index> greedy_colours_of(HostSpan<const std::int32_t>, HostSpan<const Index>);
template Array<Index> greedy_colours_of(HostSpan<const std::int64_t>, HostSpan<const Index>);

}  // namespace symgs_detail

Array<Index> colour_order(HostSpan<const Index> colours) {
  Index ncolours = 0;
  for (const Index c : colours) ncolours = std::max(ncolours, c + 1);
  std::vector<std::int64_t> next(ncolours + 1, 0);
  for (const Index c : colours) ++next[c + 1];
  for (Index c = 0; c < ncolours; ++c) next[c + 1] += next[c];
  Array<Index> new_to_old(colours.size());
  for (std::int64_t i = 0; i < colours.size(); ++i) new_to_old[next[colours[i]]++] = Index(i);
  return new_to_old;
}

}  // namespace seidel
