// The pattern of blocks of neighbouring rows, and rows in the order of its colours.
#include <seidel/kernels/symgs/block_colours.hpp>

#include <algorithm>
#include <utility>

#include <seidel/formats/runtime/parallel.hpp>

namespace seidel::symgs_detail {

void require_rows_per_block(Index rows_per_block) {
  if (rows_per_block < 1)
    throw UsageError("colours of blocks: found blocks of " + std::to_string(rows_per_block) +
                     " rows, expected 1 or more\n  2048 are usual");
}

template <class Offset>
BlockPattern block_pattern(const OpenMP& on, HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx,
                           Index rows_per_block) {
  const std::int64_t nrows = std::max<std::int64_t>(row_ptr.size() - 1, 0);
  const std::int64_t nblocks = (nrows + rows_per_block - 1) / rows_per_block;
  BlockPattern found{Array<std::int64_t>(nblocks + 1), {}};
  std::vector<Array<Index>> last_seen_from(std::max(1, on.threads));  // of each part; allocated before threads begin
  for (auto& seen : last_seen_from) seen = Array<Index>(nblocks);
  /// Calls visit(block, other) once for each block that `block` is coupled to.
  const auto each_coupling = [&](const auto& visit) {
    parallel_parts(on, [&](int part, int nparts) {
      auto& seen_from = last_seen_from[part];
      std::fill(seen_from.begin(), seen_from.end(), -1);
      const Range blocks = even_share(nblocks, part, nparts);
      for (std::int64_t block = blocks.first; block < blocks.last; ++block) {
        const std::int64_t end = std::min(nrows, (block + 1) * rows_per_block);
        for (Offset k = row_ptr[block * rows_per_block]; k < row_ptr[end]; ++k) {
          const Index other = col_idx[k] / rows_per_block;
          if (std::exchange(seen_from[other], Index(block)) != block) visit(block, other);
        }
      }
    });
  };
  std::fill(found.row_ptr.begin(), found.row_ptr.end(), 0);
  each_coupling([&](std::int64_t block, Index) { ++found.row_ptr[block + 1]; });
  for (std::int64_t block = 0; block < nblocks; ++block) found.row_ptr[block + 1] += found.row_ptr[block];
  found.col_idx = Array<Index>(found.row_ptr[nblocks]);
  Array<std::int64_t> next = copied_to<Host>(std::as_const(found.row_ptr).span());
  each_coupling([&](std::int64_t block, Index other) { found.col_idx[next[block]++] = other; });
  parallel_for(on, nblocks, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t block = first; block < last; ++block)
      std::sort(found.col_idx.data() + found.row_ptr[block], found.col_idx.data() + found.row_ptr[block + 1]);
  });
  return found;
}

Array<Index> block_order(HostSpan<const Index> colours_of_blocks, std::int64_t nrows, Index rows_per_block) {
  Array<Index> new_to_old(nrows);
  std::int64_t at = 0;
  for (const Index block : colour_order(colours_of_blocks)) {
    const std::int64_t first = std::int64_t(block) * rows_per_block, last = std::min(nrows, first + rows_per_block);
    for (std::int64_t row = first; row < last; ++row) new_to_old[at++] = Index(row);
  }
  return new_to_old;
}

template BlockPattern block_pattern(const OpenMP&, HostSpan<const std::int32_t>, HostSpan<const Index>, Index);
template BlockPattern block_pattern(const OpenMP&, HostSpan<const std::int64_t>, HostSpan<const Index>, Index);

}  // namespace seidel::symgs_detail
