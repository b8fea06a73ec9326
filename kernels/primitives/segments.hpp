// What the transpositions of the study (ScanTrans, MergeTrans) are made of: pointers and indices, sorted segments and
// their merges. Each on one core, on several and on a GPU, with the same results.
#pragma once
#include <string>

#include <seidel/formats/runtime/backend.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel {

/// Keys with a number each, which goes where its key goes.
template <class Space>
struct KeyedNumbers {
  Span<Index, Space> keys;  // at least 0
  Span<Index, Space> numbers;

  std::int64_t size() const { return keys.size(); }
};

/// How the work of merging two long segments is divided.
enum class MergeBy {
  splitters,  // every 128th key of either segment is ranked in the other; what lies between two is merged
  path,       // equal parts of the result; where each begins is found on a diagonal of the merge matrix
};

/// Segments that sort_segments takes, and the shared memory of a block holds.
inline constexpr std::int64_t max_sorted_segment = 1024;

namespace primitives_detail {

void sort_segments(const OpenMP& on, std::int64_t length, KeyedNumbers<Host> pairs);
void sort_segments(const Cuda& on, std::int64_t length, KeyedNumbers<Device> pairs);
void merge_segments(const OpenMP& on, MergeBy by, std::int64_t length, KeyedNumbers<Host> from, KeyedNumbers<Host> to);
void merge_segments(const Cuda& on, MergeBy by, std::int64_t length, KeyedNumbers<Device> from,
                    KeyedNumbers<Device> to);

inline void require_equal(const char* who, std::int64_t found, std::int64_t expected) {
  if (found != expected)
    throw ShapeError(std::string(who) + ": found spans of " + std::to_string(found) + " and " +
                     std::to_string(expected) + " entries, expected as many in both");
}

}  // namespace primitives_detail

/// indices[k] = i for pointers[i] <= k < pointers[i + 1]: the row of each entry.
/// Shapes  n + 1 pointers, of which the last is the number of indices, which is not checked.
/// Cost    reads the pointers, writes the indices.
void pointers_to_indices(const OpenMP& on, HostSpan<const std::int32_t> pointers, HostSpan<Index> indices);
void pointers_to_indices(const Cuda& on, DeviceSpan<const std::int32_t> pointers, DeviceSpan<Index> indices);

/// pointers[i] = how many indices are below i. The indices may stand in any order.
/// Shapes  n + 1 pointers; indices are below n, which is not checked.
/// Cost    host: n counters per thread. Cuda: reads the indices once, adds by atomics where they differ from their
///         neighbour's, and scans the counts.
void indices_to_pointers(const OpenMP& on, HostSpan<const Index> indices, HostSpan<std::int32_t> pointers);
void indices_to_pointers(const Cuda& on, DeviceSpan<const Index> indices, DeviceSpan<std::int32_t> pointers);

/// Sorts each `length` consecutive pairs by key, stably; the last segment may be shorter.
/// Cuda    a thread per pair counts those of its segment that come before it, in shared memory.
/// Errors  ShapeError; UsageError unless length is 1 ... max_sorted_segment.
template <Backend On>
void sort_segments(const On& on, std::int64_t length, KeyedNumbers<typename On::Space> pairs) {
  primitives_detail::require_equal("sort_segments", pairs.numbers.size(), pairs.keys.size());
  if (length < 1 || length > max_sorted_segment)
    throw UsageError("sort_segments: found segments of " + std::to_string(length) + ", expected 1 to " +
                     std::to_string(max_sorted_segment));
  primitives_detail::sort_segments(on, length, pairs);
}

/// Merges each two neighbouring sorted segments of `length` pairs (the last ones may be shorter, or have no neighbour)
/// from `from` into `to`; of equal keys those of the left segment come first.
/// Cuda    pairs of segments that fit in shared memory together are merged there, longer ones as `by` says.
/// Errors  ShapeError; UsageError for a length below 1.
/// Source  Green, McColl, Bader, GPU merge path: a GPU merging algorithm, ICS 2012; Satish, Harris, Garland, Designing
///         efficient sorting algorithms for manycore GPUs, IPDPS 2009 (splitters).
template <Backend On>
void merge_segments(const On& on, MergeBy by, std::int64_t length, KeyedNumbers<typename On::Space> from,
                    KeyedNumbers<typename On::Space> to) {
  for (const std::int64_t size : {from.numbers.size(), to.keys.size(), to.numbers.size()})
    primitives_detail::require_equal("merge_segments", size, from.size());
  if (length < 1)
    throw UsageError("merge_segments: found segments of " + std::to_string(length) + ", expected 1 or more");
  primitives_detail::merge_segments(on, by, length, from, to);
}

}  // namespace seidel
