// Binary search, on the host and on the device alike.
#pragma once
#include <seidel/formats/runtime/types.hpp>

namespace seidel {

/// The first i of low ... high-1 for which before(i) is false, or high; before is true up to some place and false from
/// there on. About log2(high - low) calls.
template <class Integer, class Before>
SEIDEL_HD constexpr Integer partition_point(Integer low, Integer high, const Before& before) {
  while (low < high) {
    const Integer middle = low + (high - low) / 2;
    if (before(middle))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// How many of n ascending keys are below `key`. With key + 1: how many are at most `key`.
SEIDEL_HD constexpr std::int64_t count_below(const Index* keys, std::int64_t n, std::int64_t key) {
  return partition_point(std::int64_t(0), n, [=](std::int64_t i) { return keys[i] < key; });
}

}  // namespace seidel
