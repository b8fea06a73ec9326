// Wavefronts of a pattern, in one pass.
#include <seidel/kernels/symgs/wavefronts.hpp>

namespace seidel::symgs_detail {

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

  Wavefronts found{Array<Index>(n), std::vector<std::int64_t>(nlevels + 1, 0)};
  for (const Index l : level) ++found.start[l + 1];
  for (Index l = 0; l < nlevels; ++l) found.start[l + 1] += found.start[l];
  std::vector<std::int64_t> next(found.start.begin(), found.start.end() - 1);
  for (std::int64_t i = 0; i < n; ++i) found.rows[next[level[i]]++] = Index(i);
  return found;
}

template Wavefronts wavefronts_of(HostSpan<const std::int32_t>, HostSpan<const Index>);
template Wavefronts wavefronts_of(HostSpan<const std::int64_t>, HostSpan<const Index>);

}  // namespace seidel::symgs_detail
