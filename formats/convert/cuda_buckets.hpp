// A transposition in two steps: all entries to buckets of neighbouring columns, then each bucket sorted in shared memory.
#pragma once
#include <optional>

#include <seidel/formats/convert/cuda_distribution.hpp>

namespace seidel::convert_detail {

/// Fills the arrays `to_...`, or says no, with anything in them: a bucket does not fit into shared memory where columns are
/// unevenly filled, or there are too many of them for buckets. Returns the bytes of scratch memory taken: none per entry,
/// for between the steps entries lie in the result. crowding: how many times more entries than the average the fullest
/// range of columns has, as far as that is known. Waits once.
template <class Value, class Offset>
std::optional<std::int64_t> transpose_by_buckets(const Cuda& on, const Transposing<Value, Offset>& of, double crowding);

}  // namespace seidel::convert_detail
