// Where a merge of two sorted segments can be cut, so that parts of it are merged independently.
#pragma once
#include <seidel/formats/runtime/search.hpp>

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

/// The cut after `before` entries of the result: where the merge path crosses that diagonal.
SEIDEL_HD inline Cut cut_on_path(const Segments& both, std::int64_t before) {
  const std::int64_t left =
      partition_point(before > both.nright ? before - both.nright : 0, before < both.nleft ? before : both.nleft,
                      [&](std::int64_t i) { return both.left[i] <= both.right[before - i - 1]; });
  return {left, before - left};
}

/// Splitters are the entries 0, distance, 2 distance ... of either segment. The cut before the one of this rank among
/// all of them; the end of the merge for ranks beyond the last.
SEIDEL_HD inline Cut cut_at_splitter(const Segments& both, std::int64_t distance, std::int64_t rank) {
  const std::int64_t nleft = (both.nleft + distance - 1) / distance, nright = (both.nright + distance - 1) / distance;
  if (rank >= nleft + nright) return {both.nleft, both.nright};
  // The merge path of the splitters alone: so many of the left ones come before.
  const std::int64_t left =
      partition_point(rank > nright ? rank - nright : 0, rank < nleft ? rank : nleft,
                      [&](std::int64_t i) { return both.left[i * distance] <= both.right[(rank - i - 1) * distance]; });
  const std::int64_t right = rank - left;
  const bool is_left = left < nleft && (right >= nright || both.left[left * distance] <= both.right[right * distance]);
  if (is_left) return {left * distance, count_below(both.right, both.nright, both.left[left * distance])};
  return {count_below(both.left, both.nleft, both.right[right * distance] + std::int64_t(1)), right * distance};
}

}  // namespace seidel::primitives_detail
