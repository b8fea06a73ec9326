// How the steps of aggregation run: a function of one row, for each row, on every back end.
#pragma once
#include <cmath>
#include <limits>

#include <seidel/formats/csr.hpp>
#include <seidel/kernels/blas1/blas1.hpp>
#include <seidel/kernels/primitives/scan.hpp>

namespace seidel {

namespace aggregation_detail {

/// Calls of_row(i) for each row i of a matrix with these row pointers, in any order; a row may write what is its own, and
/// read what no other row writes. Instantiated for the functions of rows of this folder (instances.hpp). Does not wait.
template <class Offset, class OfRow>
[[gnu::used]] void for_each_row(const OpenMP& on, HostSpan<const Offset> row_ptr, const OfRow& of_row);
template <class Offset, class OfRow>
[[gnu::used]] void for_each_row(const Cuda& on, DeviceSpan<const Offset> row_ptr, const OfRow& of_row);

/// Calls of_row(i, A') for each row i of A, in any order, where A' is A with only the entries of row i at hand: on a GPU faster
/// than the above where columns and values are read. Does not wait.
template <class Offset, class OfRow>
[[gnu::used]] void for_each_row_of(const OpenMP& on, const CsrView<double, Offset, Host>& A, const OfRow& of_row);
template <class Offset, class OfRow>
[[gnu::used]] void for_each_row_of(const Cuda& on, const CsrView<double, Offset, Device>& A, const OfRow& of_row);

/// Calls of_entry(i, k) for each entry k of each row i, in any order: on a GPU faster than of_row for what is done entry by
/// entry.
template <class Offset, class OfEntry>
[[gnu::used]] void for_each_entry(const OpenMP& on, HostSpan<const Offset> row_ptr, const OfEntry& of_entry);
template <class Offset, class OfEntry>
[[gnu::used]] void for_each_entry(const Cuda& on, DeviceSpan<const Offset> row_ptr, const OfEntry& of_entry);

/// Calls of(k) for k = 0 ... n - 1, in any order, for work that is not by rows.
template <class Of>
[[gnu::used]] void for_each_of(const OpenMP& on, std::int64_t n, const Of& of);
template <class Of>
[[gnu::used]] void for_each_of(const Cuda& on, std::int64_t n, const Of& of);

/// Whether of_row(i) is true for any row; it is called for all of them. The same, but that the host waits for the answer.
template <class Offset, class OfRow>
[[gnu::used]] bool any_row(const OpenMP& on, HostSpan<const Offset> row_ptr, const OfRow& of_row);
template <class Offset, class OfRow>
[[gnu::used]] bool any_row(const Cuda& on, DeviceSpan<const Offset> row_ptr, const OfRow& of_row);

/// places[i] = counts[0] + ... + counts[i - 1]; the last of the counts must be 0. Returns the sum, for which the host waits.
template <Backend B, class Offset>
std::int64_t places_of(const B& on, Span<const std::int32_t, SpaceOf<B>> counts, Span<Offset, SpaceOf<B>> places) {
  exclusive_scan(on, counts, places);
  return copied_to<Host>(on, Span<const Offset, SpaceOf<B>>(places).subspan(places.size() - 1, 1))[0];
}

}  // namespace aggregation_detail
}  // namespace seidel
