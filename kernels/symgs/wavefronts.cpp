// Wavefronts of a pattern, in one pass.
#include <seidel/kernels/symgs/wavefronts.hpp>

namespace seidel::symgs_detail {

Wavefronts gathered(const Array<Index>& wavefront_of, Index count) {
  Wavefronts found{Array<Index>(wavefront_of.size()), std::vector<std::int64_t>(count + 1, 0)};
  for (const Index w : wavefront_of) ++found.start[w + 1];
  for (Index w = 0; w < count; ++w) found.start[w + 1] += found.start[w];
  std::vector<std::int64_t> next(found.start.begin(), found.start.end() - 1);
  for (std::int64_t i = 0; i < wavefront_of.size(); ++i) found.rows[next[wavefront_of[i]]++] = Index(i);
  return found;
}

template <class Offset>
Wavefronts wavefronts_of(HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx) {
  const std::int64_t n = std::max<std::int64_t>(row_ptr.size() - 1, 0);
  Array<Index> level(n, 0);
  Index nlevels = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    Index mine = level[i];  // what rows before have pushed here: that is A'
    Offset k = row_ptr[i];
    const Offset last = row_ptr[i + 1];
    for (; k < last && col_idx[k] < i; ++k) mine = std::max(mine, level[col_idx[k]] + 1);
    level[i] = mine;
    for (; k < last; ++k)
      if (col_idx[k] > i) level[col_idx[k]] = std::max(level[col_idx[k]], mine + 1);
    nlevels = std::max(nlevels, mine + 1);
  }

  return gathered(level, nlevels);
}

template Wavefronts wavefronts_of(HostSpan<const std::int32_t>, HostSpan<const Index>);
template Wavefronts wavefronts_of(HostSpan<const std::int64_t>, HostSpan<const Index>);

}  // namespace seidel::symgs_detail
