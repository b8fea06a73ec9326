// Colours: rows of one colour are not coupled, so that a sweep by colours has as few wavefronts as there are colours.
#pragma once
#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel {

namespace symgs_detail {
/// Instantiated for 32- and 64-bit offsets.
template <class Offset>
[[gnu::used]] Array<Index> greedy_colours_of(HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx);
template <class Offset>
[[gnu::used]] Array<Index, Device> greedy_colours_of(const Cuda& on, Span<const Offset, Device> row_ptr,
                                                     Span<const Index, Device> col_idx);
}  // namespace symgs_detail

/// The colour of each row, from 0: the least that no row before it has which A or A' couples it to. The same on every
/// back end.
///
/// Shapes  A is square; values are not read.
/// Cost    one pass over the pattern, and one more over the rows left for each further 64 colours; on one thread.
/// Errors  ShapeError.
template <HostBackend B, class Real, class Offset>
Array<Index> greedy_colours(const B&, const CsrView<Real, Offset, Host>& A) {
  require_square(A.nrows, A.ncols, "greedy_colours");
  return symgs_detail::greedy_colours_of(A.row_ptr, A.col_idx);
}
/// The same colours in device memory, each row by a thread that waits for the rows before it. Waits for the stream.
/// Errors  ShapeError; BackendError if a wait did not end.
template <class Real, class Offset>
Array<Index, Device> greedy_colours(const Cuda& on, const CsrView<Real, Offset, Device>& A) {
  require_square(A.nrows, A.ncols, "greedy_colours");
  return symgs_detail::greedy_colours_of(on, A.row_ptr, A.col_idx);
}

/// new_to_old of the rows gathered by colour, in natural order within one. The sweep by colours is the natural sweep of
/// A permuted by it (formats/permute.hpp).
Array<Index> colour_order(HostSpan<const Index> colours);

}  // namespace seidel
