// A matrix with its unknowns in another order.
#pragma once
#include <seidel/formats/convert.hpp>

namespace seidel {

/// The inverse permutation: result[new_to_old[k]] = k.
/// Errors  ShapeError unless there are n entries; InputError naming the first entry that is outside 0 ... n-1 or
/// occurs twice.
Array<Index> inverse_permutation(const OpenMP& on, HostSpan<const Index> new_to_old, Index n);
Array<Index, Device> inverse_permutation(const Cuda& on, DeviceSpan<const Index> new_to_old, Index n);

/// P A P': row k of the result is row new_to_old[k] of A, its columns renumbered likewise and sorted.
/// Shapes  A is n x n and canonical; new_to_old has each of 0 ... n-1 once.
/// Cost    linear, parallel. The same bits on every back end. Temporary memory of 4 bytes per row; on the device, if a row
///         has more than 256 entries, 12 bytes and two offsets per entry, too.
/// Errors  ShapeError, InputError as inverse_permutation.
template <class Real, class Offset>
[[gnu::used]] Csr<Real, Offset> permuted(const OpenMP& on, const CsrView<Real, Offset, Host>& A,
                                         HostSpan<const Index> new_to_old);
template <class Real, class Offset>
[[gnu::used]] Csr<Real, Offset, Device> permuted(const Cuda& on, const CsrView<Real, Offset, Device>& A,
                                                 DeviceSpan<const Index> new_to_old);

}  // namespace seidel
