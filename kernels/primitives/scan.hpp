// Exclusive sums of an array: where the parts begin whose lengths it holds.
#pragma once
#include <seidel/formats/runtime/backend.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel {

namespace primitives_detail {

template <class Offset>
void exclusive_scan(const OpenMP& on, HostSpan<const std::int32_t> counts, HostSpan<Offset> offsets);
template <class Offset>
void exclusive_scan(const Cuda& on, DeviceSpan<const std::int32_t> counts, DeviceSpan<Offset> offsets);

}  // namespace primitives_detail

/// offsets[i] = counts[0] + ... + counts[i - 1].
///
/// Shapes  counts and offsets have n entries each; Offset is std::int32_t or std::int64_t. 32-bit offsets may be the
///         same memory as the counts.
/// Cost    one thread and Cuda: reads counts, writes offsets; several threads read counts twice. Cuda does not wait,
///         and takes 8 bytes of scratch memory per 4096 entries.
/// Errors  ShapeError. It is not checked that the sums fit into Offset (Cuda: that they are below 2^61 too).
/// Source  Merrill, Garland, Single-pass parallel prefix scan with decoupled look-back, NVIDIA NVR-2016-002.
template <Backend On, class Offset>
void exclusive_scan(const On& on, Span<const std::int32_t, typename On::Space> counts,
                    Span<Offset, typename On::Space> offsets) {
  if (counts.size() != offsets.size())
    throw ShapeError("exclusive_scan: found " + std::to_string(counts.size()) + " counts and " +
                     std::to_string(offsets.size()) + " offsets, expected as many of both");
  primitives_detail::exclusive_scan(on, counts, offsets);
}

}  // namespace seidel
