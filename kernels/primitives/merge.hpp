// Where a merge of two sorted segments can be cut, so that parts of it are merged independently.
#pragma once
#include <cstdint>

#include <seidel/formats/runtime/types.hpp>

namespace seidel::primitives_detail {

struct Segments {
  const Index* left;
  std::int64_t nleft;
  const Index* right;
  std::int64_t nright;
};

/// So many of either segment come before the cut.
struct Cut {
  std::int64_t left, right;
};

/// How many of n ascending keys are below `key`, or at most `key`.
SEIDEL_HD inline std::int64_t count_below(const Index* keys, std::int64_t n, Index key) {
  std::int64_t low = 0;
  while (low < n) {
    const std::int64_t middle = low + (n - low) / 2;
    if (keys[middle] < key)
      low = middle + 1;
    else
      n = middle;
  }
  return low;
}
SEIDEL_HD inline std::int64_t count_up_to(const Index* keys, std::int64_t n, Index key) {
  std::int64_t low = 0;
  while (low < n) {
    const std::int64_t middle = low + (n - low) / 2;
    if (keys[middle] <= key)
      low = middle + 1;
    else
      n = middle;
  }
  return low;
}

/// The cut after `before` entries of the result: where the merge path crosses that diagonal.
SEIDEL_HD inline Cut cut_on_path(const Segments& both, std::int64_t before) {
  std::int64_t low = before > both.nright ? before - both.nright : 0, high = before < both.nleft ? before : both.nleft;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (both.left[middle] <= both.right[before - middle - 1])
      low = middle + 1;
    else
      high = middle;
  }
  return {low, before - low};
}

/// Splitters are the entries 0, distance, 2 distance ... of either segment. The cut before the one of this rank among
/// all of them; the end of the merge for ranks beyond the last.
SEIDEL_HD inline Cut cut_at_splitter(const Segments& both, std::int64_t distance, std::int64_t rank) {
  const std::int64_t nleft = (both.nleft + distance - 1) / distance, nright = (both.nright + distance - 1) / distance;
  if (rank >= nleft + nright) return {both.nleft, both.nright};
  // The merge path of the splitters alone: so many of the left ones come before.
  std::int64_t low = rank > nright ? rank - nright : 0, high = rank < nleft ? rank : nleft;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (both.left[middle * distance] <= both.right[(rank - middle - 1) * distance])
      low = middle + 1;
    else
      high = middle;
  }
  const std::int64_t left = low, right = rank - low;
  const bool is_left = left < nleft && (right >= nright || both.left[left * distance] <= both.right[right * distance]);
  if (is_left) return {left * distance, count_below(both.right, both.nright, both.left[left * distance])};
  return {count_up_to(both.left, both.nleft, both.right[right * distance]), right * distance};
}

}  // namespace seidel::primitives_detail
