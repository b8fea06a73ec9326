// Wavefronts: sets of rows that a sweep in natural order may do at once.
#pragma once
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

namespace symgs_detail {
/// Rows (or other things) gathered by their wavefront.
Wavefronts gathered(const Array<Index>& wavefront_of, Index count);

/// The same from the pattern of a square matrix. Instantiated for 32- and 64-bit offsets.
template <class Offset>
[[gnu::used]] Wavefronts wavefronts_of(HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx);
}  // namespace symgs_detail

/// A row's wavefront is one more than the largest among the rows before it that A or A' couples it to, so that one
/// order serves both directions and unsymmetric patterns.
///
/// Shapes  A is square, columns ascending; values are not read.
/// Cost    one pass over the pattern in natural order, on one thread; n entries of memory beside the result.
/// Errors  ShapeError.
template <HostBackend B, class Real, class Offset>
Wavefronts wavefronts(const B&, const CsrView<Real, Offset, Host>& A) {
  require_square(A.nrows, A.ncols, "wavefronts");
  return symgs_detail::wavefronts_of(A.row_ptr, A.col_idx);
}

}  // namespace seidel
