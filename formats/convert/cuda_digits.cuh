// The first half of a pass of a radix sort: how many entries of each digit stand in each tile, added up to where they go.
#pragma once
#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/formats/runtime/cuda_warp.cuh>

namespace seidel::convert_detail {

using namespace seidel::cuda;

inline constexpr int threads = 512, warps = threads / warp_size;
inline constexpr int rounds = 8;
inline constexpr int tile_size = threads * rounds;  // two tiles per multiprocessor, 64 KB under way for each
inline constexpr int stretch = rounds * warp_size;  // entries of a warp, one after the other
inline constexpr int tiles_per_group = 8;
static_assert(tiles_per_group * tile_size <= 1 << 16, "counts within a group fit in 16 bits");

inline std::int64_t ntiles(std::int64_t n) { return (n + tile_size - 1) / tile_size; }
inline std::int64_t ngroups(std::int64_t n) { return (ntiles(n) + tiles_per_group - 1) / tiles_per_group; }

template <int bits>
__device__ int digit_of(Index column, int shift) {
  return int(unsigned(column) >> shift & ((1u << bits) - 1));
}

/// Where digit d of tile t goes: the sum of three counts of entries.
template <class Offset>
struct Places {
  std::uint16_t* in_group;  // of digit d in the tiles before t of its group
  Offset* before_group;     // of digit d in the groups before
  Offset* starts;           // of digits below d
};

/// Counts the digits of a group of tiles. The columns are `apart` numbers apart.
template <int bits, class Offset>
__global__ void __launch_bounds__(threads)
    count_digits(const Index* columns, int apart, std::int64_t n, int shift, Places<Offset> places) {
  constexpr int digits = 1 << bits;
  __shared__ unsigned counts[digits];
  for (int d = threadIdx.x; d < digits; d += threads) counts[d] = 0;
  for (int t = 0; t < tiles_per_group; ++t) {
    const std::int64_t tile = std::int64_t(blockIdx.x) * tiles_per_group + t, first = tile * tile_size;
    if (first >= n) break;
    int digit[rounds];
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
      const std::int64_t k = first + threadIdx.x + i * threads;
      digit[i] = k < n ? digit_of<bits>(columns[k * apart], shift) : -1;
    }
    __syncthreads();
    for (int d = threadIdx.x; d < digits; d += threads) places.in_group[tile * digits + d] = std::uint16_t(counts[d]);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < rounds; ++i)
      if (digit[i] >= 0) atomicAdd(&counts[digit[i]], 1u);
  }
  __syncthreads();
  for (int d = threadIdx.x; d < digits; d += threads)
    places.before_group[std::int64_t(blockIdx.x) * digits + d] = Offset(counts[d]);
}

/// Counts of groups become counts of the groups before; starts[digit] becomes the count of all. A lane for each digit, a
/// warp for each part of the groups.
template <class Offset>
__global__ void __launch_bounds__(warp_size* warp_size) add_groups(int ngroups, int digits, Places<Offset> places) {
  __shared__ Offset sums[warp_size][warp_size];
  const int part = threadIdx.x / warp_size, digit = blockIdx.x * warp_size + lane();
  const int length = (ngroups + warp_size - 1) / warp_size, first = part * length, last = min(ngroups, first + length);
  Offset* const counts = places.before_group + digit;
  Offset sum = 0;
#pragma unroll 8
  for (int g = first; g < last; ++g) sum += counts[std::int64_t(g) * digits];
  sums[part][lane()] = sum;
  __syncthreads();
  Offset before = 0;
  for (int p = 0; p < part; ++p) before += sums[p][lane()];
  if (part == warp_size - 1) places.starts[digit] = before + sum;
#pragma unroll 8
  for (int g = first; g < last; ++g) {
    const Offset own = counts[std::int64_t(g) * digits];
    counts[std::int64_t(g) * digits] = before;
    before += own;
  }
}

/// Fills `places` from the columns of n entries, which are `apart` numbers apart.
template <int bits, class Offset>
void find_places(const Cuda& on, const Index* columns, int apart, std::int64_t n, int shift,
                 const Places<Offset>& places) {
  constexpr int digits = 1 << bits;
  const auto groups = unsigned(ngroups(n));
  count_digits<bits><<<groups, threads, 0, on.stream()>>>(columns, apart, n, shift, places);
  check_launch("counting digits");
  add_groups<<<digits / warp_size, warp_size * warp_size, 0, on.stream()>>>(int(groups), digits, places);
  check_launch("adding counts of digits");
  exclusive_sum(on, Span<Offset, Device>(places.starts, digits));
}

}  // namespace seidel::convert_detail
