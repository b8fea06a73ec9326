// The one order in which seidel adds products, on every back end: rows of a matrix and dot products alike.
//
// Up to 64 terms: from left to right. More: blocks of 2048 terms; in each block 32 lanes, lane l takes terms l, l + 32, ...
// from left to right; lanes are added as a binary tree (l with l + 16, l + 8, ...); block sums are added pairwise in a tree
// over block numbers (neighbours in pairs, an odd last one passes). A GPU warp and four AVX-512 registers both do just this.
#pragma once
#include <cmath>

#include <seidel/formats/runtime/types.hpp>

namespace seidel {

inline constexpr int short_sum = 64;  // terms that are added from left to right
inline constexpr int sum_lanes = 32;
inline constexpr int sum_block = 2048;  // terms of a block

/// m sums that are taken together, each as it would be alone.
template <class Real, int m>
struct SumGroup {
  Real of[m];
  SEIDEL_HD friend SumGroup operator+(SumGroup a, const SumGroup& b) {
    for (int j = 0; j < m; ++j) a.of[j] = a.of[j] + b.of[j];
    return a;
  }
};

/// Adds block sums, pushed in order of block numbers, in the fixed tree; holds one partial sum per level.
/// Sums of whole subtrees may be pushed instead, as long as all have the same power-of-two number of blocks.
template <class Sum>
class PairwiseTree {
 public:
  SEIDEL_HD void push(Sum s) {
    int level = 0;
    for (std::int64_t bits = count_++; bits & 1; bits >>= 1) s = partial_[level++] + s;
    partial_[level] = s;
  }
  SEIDEL_HD Sum sum() const {
    Sum s{};
    bool empty = true;
    int level = 0;
    for (std::int64_t bits = count_; bits; bits >>= 1, ++level)
      if (bits & 1) s = empty ? partial_[level] : partial_[level] + s, empty = false;
    return s;
  }

 private:
  std::int64_t count_ = 0;
  Sum partial_[40];  // 2^40 blocks of 2048 terms are more than any index reaches
};

/// Terms first, first + step, ... below last, from left to right. term(k, s) returns s + t_k, fused.
template <class Sum, class Term>
SEIDEL_HD Sum sum_left_to_right(std::int64_t first, std::int64_t last, std::int64_t step, const Term& term) {
  Sum s{};
  for (std::int64_t k = first; k < last; k += step) s = term(k, s);
  return s;
}

/// One block: at most 2048 terms from `first`, in 32 lanes.
template <class Sum, class Term>
SEIDEL_HD Sum sum_of_block(std::int64_t first, std::int64_t last, const Term& term) {
  Sum lane[sum_lanes] = {};
  std::int64_t k = first;
  for (; k + sum_lanes <= last; k += sum_lanes)
    for (int l = 0; l < sum_lanes; ++l) lane[l] = term(k + l, lane[l]);
  for (int l = 0; k + l < last; ++l) lane[l] = term(k + l, lane[l]);
  for (int width = sum_lanes / 2; width; width /= 2)
    for (int l = 0; l < width; ++l) lane[l] = lane[l] + lane[l + width];
  return lane[0];
}

/// More than 64 terms, on one thread.
template <class Sum, class Term>
SEIDEL_HD Sum sum_of_long(std::int64_t n, const Term& term) {
  if (n <= sum_block) return sum_of_block<Sum>(0, n, term);
  PairwiseTree<Sum> tree;
  for (std::int64_t first = 0; first < n; first += sum_block)
    tree.push(sum_of_block<Sum>(first, first + sum_block < n ? first + sum_block : n, term));
  return tree.sum();
}

/// t_0 + ... + t_(n-1) in the one order, on one thread.
template <class Sum, class Term>
SEIDEL_HD Sum sum_of_products(std::int64_t n, const Term& term) {
  return n <= short_sum ? sum_left_to_right<Sum>(0, n, 1, term) : sum_of_long<Sum>(n, term);
}

}  // namespace seidel
