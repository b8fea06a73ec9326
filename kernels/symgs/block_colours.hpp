// Colours of blocks: the middle way between natural order and colours of rows. A sweep is exact within a block of
// neighbouring rows, and blocks of one colour go at once.
#pragma once
#include <seidel/kernels/symgs/colours.hpp>

namespace seidel {

/// Iterations of cg to 1e-8 in natural order, by colours of rows, and of blocks of 128, 2048 rows: elasticity3d:16 79,
/// 105, 101, 86; hpcg:32 30, 33, 35, 32; poisson3d:48 56, 61, 67, 63. Small blocks gain nothing over colours of rows.
inline constexpr Index rows_per_colour_block = 2048;

namespace symgs_detail {
/// The pattern of blocks: block I is coupled to J where some row of I is to one of J. Instantiated for 32- and 64-bit
/// offsets.
struct BlockPattern {
  Array<std::int64_t> row_ptr;
  Array<Index> col_idx;  // ascending in each row
};
template <class Offset>
[[gnu::used]] BlockPattern block_pattern(const OpenMP& on, HostSpan<const Offset> row_ptr,
                                         HostSpan<const Index> col_idx, Index rows_per_block);

/// new_to_old: blocks by colour, in natural order within one; rows within a block as they stand.
Array<Index> block_order(HostSpan<const Index> colours_of_blocks, std::int64_t nrows, Index rows_per_block);
void require_rows_per_block(Index rows_per_block);
}  // namespace symgs_detail

/// The colour of each block of `rows_per_block` consecutive rows (the last may be smaller), from 0: the least that no
/// block before it has which A or A' couples it to. The same for any number of threads.
///
/// Shapes  A is square; values are not read.
/// Cost    one pass over the pattern, in parallel, and one over the much smaller pattern of blocks.
/// Errors  ShapeError; UsageError for rows_per_block below 1.
template <HostBackend B, class Real, class Offset>
Array<Index> block_colours(const B& on, const CsrView<Real, Offset, Host>& A,
                           Index rows_per_block = rows_per_colour_block) {
  require_square(A.nrows, A.ncols, "block_colours");
  symgs_detail::require_rows_per_block(rows_per_block);
  const auto blocks = symgs_detail::block_pattern<Offset>(OpenMP{on.threads}, A.row_ptr, A.col_idx, rows_per_block);
  return symgs_detail::greedy_colours_of<std::int64_t>(blocks.row_ptr, blocks.col_idx);
}

/// new_to_old of the rows gathered by the colours of their blocks. The sweep by blocks is the natural sweep of A
/// permuted by it (formats/permute.hpp): at most colours * rows_per_block wavefronts.
template <HostBackend B, class Real, class Offset>
Array<Index> block_colour_order(const B& on, const CsrView<Real, Offset, Host>& A,
                                Index rows_per_block = rows_per_colour_block) {
  return symgs_detail::block_order(block_colours(on, A, rows_per_block), A.nrows, rows_per_block);
}

}  // namespace seidel
