// How the device looks at rows: short ones by a thread each, long ones by a warp; and how what threads saw is joined.
#pragma once
#include <algorithm>
#include <cstring>

#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/formats/runtime/cuda_warp.cuh>
#include <seidel/formats/runtime/scratch.hpp>

namespace seidel::properties_detail {

using cuda::lane;
using cuda::warp_size;
using cuda::whole_warp;

inline constexpr int block_size = 256, max_blocks = 1024;
/// Entries of the longest row that a thread takes alone: its neighbours wait for it, and a warp adds up a row one by one.
inline constexpr int max_alone = 256;

/// What the threads of a block saw, joined into *to by one of them.
template <class Seen>
__device__ void join_block(Seen seen, Seen* to) {
  __shared__ unsigned words[block_size / warp_size][sizeof(Seen) / 4];
  for (int by = warp_size / 2; by; by /= 2) seen.join(cuda::shuffle_down(seen, by));
  if (lane() == 0) memcpy(words[threadIdx.x / warp_size], &seen, sizeof(Seen));
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned warp = 1; warp < blockDim.x / warp_size; ++warp) {
    Seen other;
    memcpy(&other, words[warp], sizeof(Seen));
    seen.join(other);
  }
  *to = seen;
}

template <class Seen>
__global__ void join_all(const Seen* seen, int n, Seen* to) {
  Seen mine;
  for (int i = int(threadIdx.x); i < n; i += block_size) mine.join(seen[i]);
  join_block(mine, to);
}

template <class Seen, class Visit>
__global__ void look_at_groups(Visit visit, Seen* to) {
  Seen seen;
  const auto& A = visit.A;
  const std::int64_t step = std::int64_t(gridDim.x) * block_size;
  const std::int64_t thread = std::int64_t(blockIdx.x) * block_size + threadIdx.x;
  for (std::int64_t first = thread - lane(); first < A.nrows; first += step) {  // the same for all lanes
    const std::int64_t row = first + lane();
    const bool exists = row < A.nrows;
    const bool is_long = exists && A.row_ptr[row + 1] - A.row_ptr[row] > max_alone;
    if (exists && !is_long) visit.alone(row, seen);
    for (unsigned waiting = __ballot_sync(whole_warp, is_long); waiting; waiting &= waiting - 1)
      visit.together(first + __ffs(int(waiting)) - 1, seen);
  }
  join_block(seen, to + blockIdx.x);
}

inline int blocks_to_look(std::int64_t nrows) {
  return int(std::clamp<std::int64_t>((nrows + block_size - 1) / block_size, 1, max_blocks));
}

/// Short rows of visit.A go to visit.alone(row, seen), each by a thread, long ones to visit.together(row, seen), each by
/// a warp; what all threads saw is joined into *to, device memory. Does not wait.
template <class Seen, class Visit>
void look_at_rows(const Cuda& on, const Visit& visit, const char* what, Seen* to) {
  Scratch<Cuda> scratch(on);
  const int blocks = blocks_to_look(visit.A.nrows);
  const auto partial = scratch.take<Seen>(blocks);
  look_at_groups<<<blocks, block_size, 0, on.stream()>>>(visit, partial.data());
  check_launch(what);
  join_all<<<1, block_size, 0, on.stream()>>>(partial.data(), blocks, to);
  check_launch("joining what was seen");
}

}  // namespace seidel::properties_detail
