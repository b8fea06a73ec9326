// A matrix with its unknowns in another order.
#pragma once
#include <seidel/formats/convert.hpp>

namespace seidel {

/// new_to_old the other way round: result[new_to_old[k]] = k.
/// Errors  ShapeError unless there are n entries; InputError naming the first entry that is outside 0 ... n-1 or there
/// twice.
Array<Index> inverse_permutation(const OpenMP& on, HostSpan<const Index> new_to_old, Index n);

/// P A P': row k of the result is row new_to_old[k] of A, its columns renumbered likewise and sorted.
/// Shapes  A is n x n and canonical; new_to_old has each of 0 ... n-1 once.
/// Cost    linear, parallel. The same bits for any number of threads.
/// Errors  ShapeError, InputError as inverse_permutation.
template <class Real, class Offset>
Csr<Real, Offset> permuted(const OpenMP& on, const CsrView<Real, Offset, Host>& A, HostSpan<const Index> new_to_old);
template <class Real, class Offset>
Csr<Real, Offset> permuted(const Serial& on, const CsrView<Real, Offset, Host>& A, HostSpan<const Index> new_to_old) {
  return permuted(as_openmp(on), A, new_to_old);
}

}  // namespace seidel
