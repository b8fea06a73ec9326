// The transpose of a lattice, whose rows are of a few kinds: the kinds of two rows say where an entry of one is mirrored in the other.
#pragma once
#include <optional>

#include <seidel/formats/convert/cuda_buckets.hpp>

namespace seidel::convert_detail {

inline constexpr int max_kind_length = 64;  // entries of a row

/// Fills the arrays `to_...` where the pattern of A is symmetric, columns ascend, and rows are of at most 255 kinds (of the same
/// columns relative to the row) with at most `max_length` entries each, no more than the number above. All of that is proved. Returns the bytes of scratch
/// memory taken; else nothing, with anything in the arrays.
/// Cost    reads the pattern of A, then its values, and writes A'. Waits once. A with many kinds is left after some of its rows.
template <class Value, class Offset>
std::optional<std::int64_t> transpose_by_kinds(const Cuda& on, const Transposing<Value, Offset>& of, int max_length);

}  // namespace seidel::convert_detail
