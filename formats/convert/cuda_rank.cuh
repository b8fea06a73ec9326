// A stable sort by small keys within a block: places of entries by counters in shared memory, one of 16 bits for each
// warp and key.
#pragma once
#include <seidel/formats/runtime/cuda_warp.cuh>
#include <seidel/formats/runtime/types.hpp>

namespace seidel::convert_detail {

using namespace seidel::cuda;

/// The sum over the threads before this one of a block of 32 warps or fewer. All threads take part.
template <class Sum>
__device__ Sum block_exclusive_sum(Sum value, Sum* of_warp) {
  const int my_warp = threadIdx.x / warp_size;
  const Sum up_to = warp_inclusive_sum(value);
  if (lane() == warp_size - 1) of_warp[my_warp] = up_to;
  __syncthreads();
  Sum before = lane() < my_warp ? of_warp[lane()] : 0;
  if constexpr (sizeof(Sum) == sizeof(int)) {
    before = __reduce_add_sync(whole_warp, before);
  } else {
#pragma unroll
    for (int step = warp_size / 2; step > 0; step /= 2) before += __shfl_xor_sync(whole_warp, before, step);
  }
  return up_to - value + before;
}

/// Calls take(i, rank) for i = 0 ... rounds - 1: how many entries of this warp with the same key stand before entry i of
/// this lane. Entries are ordered by i, then by lane. counters: this warp's, zero before, the numbers of entries after.
template <int max_rounds, class KeyOf, class Take>
__device__ void rank_in_warp(std::uint16_t* counters, int rounds, KeyOf key_of, Take take) {
  constexpr int at_once = 4, max_shared_keys = 8;
  const auto pairs = reinterpret_cast<unsigned*>(counters);
  const unsigned lanes_below = (1u << lane()) - 1;
#pragma unroll
  for (int first = 0; first < max_rounds; first += at_once) {
    unsigned before[at_once], found[at_once];
#pragma unroll
    for (int j = 0; j < at_once && first + j < max_rounds; ++j) {
      if (first + j >= rounds) break;
      const unsigned key = key_of(first + j);
      before[j] = counters[key];
      __syncwarp();
      found[j] = atomicAdd(pairs + key / 2, key % 2 ? 1u << 16 : 1u);
      __syncwarp();
    }
    // The additions of lanes with the same key came in any order. Where a lane was not the first, its key is shared.
#pragma unroll
    for (int j = 0; j < at_once && first + j < max_rounds; ++j) {
      if (first + j >= rounds) break;
      const unsigned key = key_of(first + j);
      unsigned rank = key % 2 ? found[j] >> 16 : found[j] & 0xffff;
      unsigned late = __ballot_sync(whole_warp, rank != before[j]);
      if (__popc(late) > max_shared_keys) {
        rank = before[j] + unsigned(__popc(__match_any_sync(whole_warp, key) & lanes_below));
      } else {
#pragma unroll 1
        while (late) {
          const bool is_same = key == __shfl_sync(whole_warp, key, __ffs(int(late)) - 1);
          const unsigned same = __ballot_sync(whole_warp, is_same);
          if (is_same) rank = before[j] + unsigned(__popc(same & lanes_below));
          late &= ~same;
        }
      }
      take(first + j, rank);
    }
  }
}

/// The counters of all warps, npairs words each, become places in the block: entries stand by keys, then by warps.
/// Calls begins(pair, first, second, end): where the keys 2 pair and 2 pair + 1 begin, and the latter ends. sums: room for warps + 1.
template <int warps, class Begins>
__device__ void counts_to_places(unsigned* counters, int npairs, int* sums, Begins begins) {
  constexpr int threads = warps * warp_size;
  int before = 0;
  for (int some = 0; some < npairs; some += threads) {
    const int pair = some + int(threadIdx.x);
    unsigned both = 0;  // the entries of the two keys
    if (pair < npairs)
#pragma unroll
      for (int w = 0; w < warps; ++w) both += counters[w * npairs + pair];
    const unsigned low = both & 0xffff;
    const int own = int(low + (both >> 16)), first = before + block_exclusive_sum(own, sums);
    if (pair < npairs) {
      unsigned place = unsigned(first) | (unsigned(first) + low) << 16;
#pragma unroll
      for (int w = 0; w < warps; ++w) {
        const unsigned count = counters[w * npairs + pair];
        counters[w * npairs + pair] = place;
        place += count;
      }
      begins(pair, first, first + int(low), first + own);
    }
    if (some + threads >= npairs) break;
    if (threadIdx.x == threads - 1) sums[warps] = first + own;
    __syncthreads();
    before = sums[warps];
  }
}

}  // namespace seidel::convert_detail
