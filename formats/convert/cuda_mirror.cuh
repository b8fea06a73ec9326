// The transpose of a matrix whose pattern is symmetric: nothing is sorted, each value is fetched from its mirrored place.
#pragma once
#include <seidel/formats/convert/cuda_buckets.hpp>
#include <seidel/formats/runtime/cuda_warp.cuh>
#include <seidel/formats/runtime/search.hpp>

namespace seidel::convert_detail {

using namespace seidel::cuda;

/// Where row c of A begins and ends, and the place that entry (c, r) is likely to have in it: the one that it has if row
/// c is row r mirrored. Rows of a lattice are, but at its boundaries.
template <class Offset>
struct Image {
  Offset first, last, guess;
};
template <class Value, class Offset>
__device__ Image<Offset> image_of(const Transposing<Value, Offset>& of, Index c, Offset from_begin) {
  const Offset first = __ldg(of.row_ptr + c), last = __ldg(of.row_ptr + c + 1);
  return {first, last, last - first > from_begin ? last - 1 - from_begin : first};
}

/// The place of column r in row c of A, or -1. found is the column at the guess.
template <class Value, class Offset>
__device__ std::int64_t place_of(const Transposing<Value, Offset>& of, const Image<Offset>& row, Index r, Index found) {
  constexpr int max_walk = 8;
  const auto [first, last, guess] = row;
  if (first == last) return -1;
  Offset at = guess;
  for (int step = 0; step < max_walk && found < r && at + 1 < last; ++step) found = __ldg(of.col_idx + ++at);
  for (int step = 0; step < max_walk && found > r && at > first; ++step) found = __ldg(of.col_idx + --at);
  if (found == r) return at;
  at = partition_point(first, last, [&](Offset k) { return __ldg(of.col_idx + k) < r; });
  return at < last && __ldg(of.col_idx + at) == r ? std::int64_t(at) : -1;
}

inline constexpr int mirror_threads = 256;
inline constexpr int mirror_rounds = 4;  // of a block, whose rows follow each other and share lines of the first cache

/// A' where the pattern of A is symmetric, by `group` threads per row: each value is fetched from its mirrored place,
/// beside the column that proves the place to be right. broken becomes 1 where an entry has no image or columns do not
/// ascend: else distinct entries have distinct images, and all of them are found.
template <int group, class Value, class Offset>
__global__ void __launch_bounds__(mirror_threads, 2048 / mirror_threads)
    mirror(Transposing<Value, Offset> of, int* broken) {
  constexpr int rows_at_once = mirror_threads / group;
  const std::int64_t begin_row = std::int64_t(blockIdx.x) * rows_at_once * mirror_rounds;
  const Index end_row = Index(min(std::int64_t(of.nrows), begin_row + rows_at_once * mirror_rounds));
  if (blockIdx.x == 0 && threadIdx.x == 0) of.to_ptr[of.nrows] = of.row_ptr[of.nrows];
  bool whole = true;
  for (std::int64_t r = begin_row + threadIdx.x / group; r < end_row; r += rows_at_once) {
    const Offset begin = of.row_ptr[r], end = of.row_ptr[r + 1];
    const int mine = threadIdx.x % group;
    if (mine == 0) of.to_ptr[r] = begin;
    for (Offset k = begin + mine; k < end; k += group) {
      const Index c = __ldg(of.col_idx + k);
      const Image<Offset> row = image_of(of, c, Offset(k - begin));
      const Offset guess = min(row.guess, Offset(of.nnz - 1));  // an empty last row has none
      const Index found = __ldg(of.col_idx + guess);
      Value value = of.values ? __ldg(of.values + guess) : 0;
      const std::int64_t at = place_of(of, row, Index(r), found);
      whole &= at >= 0 && (k == begin || __ldg(of.col_idx + k - 1) < c);
      __stcs(of.to_idx + k, c);
      if (!of.values || at < 0) continue;
      if (at != guess) value = __ldg(of.values + at);
      __stcs(of.to_values + k, value);
    }
  }
  if (!whole) *broken = 1;
}

/// The same where each node has `size` unknowns: the rows of a node have the same columns, which are all unknowns of some
/// nodes. One place per pair of nodes is looked for and proved, and what a warp fetches lies in pieces of `size` values. A
/// warp per node; broken becomes 1 where A is not made of such nodes, too. nrows is a multiple of `size`.
template <int size, class Value, class Offset>
__global__ void __launch_bounds__(mirror_threads, size <= 3 ? 6 : 4)
    mirror_nodes(Transposing<Value, Offset> of, int* broken) {
  constexpr int warps = mirror_threads / warp_size, turns = 3, nodes_per_turn = warp_size / size;
  constexpr int at_once = turns * warp_size / size * size, stride = at_once + 1;  // entries of a row
  __shared__ Value images[warps][size * stride];                                  // by rows
  __shared__ Index met[warps][at_once / size];                                    // the first column of each node
  const int my_warp = threadIdx.x / warp_size, part = lane() % size;
  Value* const image = images[my_warp];
  Index* const nodes = met[my_warp];
  const std::int64_t node = std::int64_t(blockIdx.x) * warps + my_warp, last_place = of.nnz - 1;
  if (node >= of.nrows / size) return;
  if (__any_sync(whole_warp, *static_cast<volatile int*>(broken) != 0)) return;  // a wrong guess ends soon
  const Index r = Index(node * size);
  const Offset begin = __ldg(of.row_ptr + r), length = __ldg(of.row_ptr + r + 1) - begin;
  bool whole = length % size == 0;
  if (lane() < size) {
    whole &= __ldg(of.row_ptr + r + lane() + 1) == begin + Offset(lane() + 1) * length;
    of.to_ptr[r + lane()] = begin + Offset(lane()) * length;
  }
  if (node == 0 && lane() == 0) of.to_ptr[of.nrows] = of.row_ptr[of.nrows];
  Index before = -1;
  for (Offset first = 0; __all_sync(whole_warp, whole) && first < length; first += at_once) {
    const int count = int(min(Offset(at_once), length - first));
#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
      const int e = turn * warp_size + lane();
      Index c[size] = {};
      if (e < count) {
#pragma unroll
        for (int i = 0; i < size; ++i) c[i] = __ldcs(of.col_idx + begin + i * length + first + e);
#pragma unroll
        for (int i = 0; i < size; ++i) {
          whole &= c[i] == c[0];
          __stcs(of.to_idx + begin + i * length + first + e, c[i]);
        }
        if (e % size == 0) nodes[e / size] = c[0];
      }
      __syncwarp();
      if (e < count) whole &= c[0] == nodes[e / size] + e % size;
      if (e < count && e % size == 0) whole &= c[0] % size == 0 && c[0] > (e == 0 ? before : nodes[e / size - 1]);
    }
    before = nodes[(count - 1) / size];
#pragma unroll
    for (int some = 0; some < at_once / size; some += nodes_per_turn) {
      const int other = some + lane() / size;  // each lane fetches entry `part` of all rows of that node
      if (lane() / size >= nodes_per_turn || other >= count / size) continue;
      const Index c = nodes[other];
      const Offset row = __ldg(of.row_ptr + c), step = __ldg(of.row_ptr + c + 1) - row;
      const Offset from_begin = first + other * size;
      const Offset likely = step > from_begin ? row + step - size - from_begin : row;
      const Offset guess = min(likely, Offset(last_place));
      const Index found = __ldg(of.col_idx + guess);
      Value values[size] = {};
      const auto fetch = [&](std::int64_t at) {  // where nodes are not whole, anything of A
#pragma unroll
        for (int i = 0; i < size; ++i)
          values[i] = __ldg(of.values + min(at + i * std::int64_t(step) + part, last_place));
      };
      if (of.values) fetch(guess);
      if (found != r) {
        const std::int64_t at = place_of(of, {row, row + step, guess}, r, found);
        whole &= at >= 0;
        if (of.values && at >= 0) fetch(at);
      }
#pragma unroll
      for (int i = 0; i < size; ++i) image[part * stride + other * size + i] = values[i];
    }
    __syncwarp();
    if (of.values)
#pragma unroll
      for (int i = 0; i < size; ++i)
#pragma unroll
        for (int turn = 0; turn < turns; ++turn)
          if (const int e = turn * warp_size + lane(); e < count)
            __stcs(of.to_values + begin + i * length + first + e, image[i * stride + e]);
    __syncwarp();
  }
  if (!whole) *broken = 1;
}

}  // namespace seidel::convert_detail
