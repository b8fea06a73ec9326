// Which rows a sweep may take at once: wavefronts of the natural order, colours for another order.
#pragma once
#include <functional>
#include <vector>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel {

/// Wavefront w is rows[start[w]] ... rows[start[w + 1] - 1]. Each row depends on rows of earlier wavefronts only,
/// forward; of later ones only, backward.
struct Wavefronts {
  Array<Index, Host> rows;          // all rows, by wavefront, ascending within one
  std::vector<std::int64_t> start;  // count() + 1 entries

  std::int64_t count() const { return std::int64_t(start.size()) - 1; }
};

namespace orders_detail {
// From a square matrix's pattern. Instantiated for 32- and 64-bit offsets.
template <class Offset>
Wavefronts wavefronts_of(HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx);
template <class Offset>
Index count_of_wavefronts(HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx, std::int64_t begin,
                          std::int64_t end);
template <class Offset>
std::int64_t count_of_levels(HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx, std::int64_t enough);
template <class Offset>
Array<Index> greedy_colours_of(HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx,
                               const std::function<void()>& on_step);
template <class Offset>
Array<Index, Device> greedy_colours_of(const Cuda& on, Span<const Offset, Device> row_ptr,
                                       Span<const Index, Device> col_idx);
}  // namespace orders_detail

/// A row's wavefront is one more than the largest among the rows before it that A or A' couples it to, so that one
/// order serves both directions and unsymmetric patterns.
///
/// Shapes  A is square, columns ascending; values are not read.
/// Cost    one pass over the pattern in natural order, on one thread; 4 bytes per row beside the result.
/// Errors  ShapeError.
template <class Real, class Offset>
Wavefronts wavefronts(const CsrView<Real, Offset, Host>& A) {
  require_square(A.nrows, A.ncols, "wavefronts");
  return orders_detail::wavefronts_of(A.row_ptr, A.col_idx);
}

/// The number of wavefronts of rows first ... last - 1 among themselves: A has no fewer.
/// Cost    one pass over the pattern of these rows, on one thread; 4 bytes for each of them.
template <class Real, class Offset>
std::int64_t count_of_wavefronts(const CsrView<Real, Offset, Host>& A, std::int64_t first, std::int64_t last) {
  return orders_detail::count_of_wavefronts(A.row_ptr, A.col_idx, first, last);
}

/// How far A reaches, in whatever order its rows are: the levels of a breadth-first search along its entries, which begins at
/// the first row of each component; of the component with most levels. Counts no further than `enough`.
///
/// Shapes  A is square, its pattern symmetric; values are not read.
/// Cost    at most one pass over the pattern, row by row as the search meets them, on one thread; 5 bytes per row.
/// Errors  ShapeError.
template <class Real, class Offset>
std::int64_t count_of_levels(const CsrView<Real, Offset, Host>& A, std::int64_t enough) {
  require_square(A.nrows, A.ncols, "count_of_levels");
  return orders_detail::count_of_levels(A.row_ptr, A.col_idx, enough);
}

/// The colour of each row, from 0: the least that no row before it has which A or A' couples it to. Rows of one colour
/// are not coupled, so that a sweep by colours has as few wavefronts as there are colours. The same on every back end.
///
/// Shapes  A is square; values are not read.
/// Cost    one pass over the pattern, and one more over the rows left for each further 64 colours; on one thread; 8 bytes per
///         row beside the result. Calls on_step() now and then: what that throws ends it.
/// Errors  ShapeError.
template <HostBackend B, class Real, class Offset>
Array<Index> greedy_colours(
    const B&, const CsrView<Real, Offset, Host>& A, const std::function<void()>& on_step = [] {}) {
  require_square(A.nrows, A.ncols, "greedy_colours");
  return orders_detail::greedy_colours_of(A.row_ptr, A.col_idx, on_step);
}
/// The same colours in device memory, each row by a thread that waits for the rows before it. Waits for the stream.
/// Errors  ShapeError; BackendError if a wait did not end.
template <class Real, class Offset>
Array<Index, Device> greedy_colours(const Cuda& on, const CsrView<Real, Offset, Device>& A) {
  require_square(A.nrows, A.ncols, "greedy_colours");
  return orders_detail::greedy_colours_of(on, A.row_ptr, A.col_idx);
}

/// new_to_old of the rows gathered by colour, in natural order within one. The sweep by colours is the natural sweep of
/// A permuted by it (formats/permute.hpp). `turn`: of all colours c, the one with turn[c] = 0 first and so on; empty: in the
/// order of their numbers.
Array<Index> colour_order(const OpenMP& on, HostSpan<const Index> colours, HostSpan<const Index> turn = {});
/// Sorts on the device. Does not wait.
Array<Index, Device> colour_order(const Cuda& on, Span<const Index, Device> colours, HostSpan<const Index> turn = {});

}  // namespace seidel
