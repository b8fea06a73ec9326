// Entries in buckets of neighbouring columns, and how a block sorts a bucket in shared memory.
#pragma once
#include <bit>

#include <seidel/formats/convert/cuda_distribution.hpp>
#include <seidel/formats/convert/cuda_rank.cuh>

namespace seidel::convert_detail {

/// Bucket b holds columns b * width ... (b + 1) * width - 1.
struct Cut {
  int nbuckets = 0;
  Index width = 0;
  int bits = 0;  // of a column within its bucket
  std::uint32_t inverse = 0;

  Cut(Index ncols, std::int64_t nbuckets_)
      : width(std::max(Index((ncols + nbuckets_ - 1) / nbuckets_), Index(2))),
        bits(std::bit_width(std::uint32_t(width - 1))) {
    nbuckets = int((ncols + std::int64_t(width) - 1) / width);
    inverse = std::uint32_t(((std::uint64_t(1) << (31 + bits)) + std::uint64_t(width) - 1) / std::uint64_t(width));
  }
  /// Exact for all columns: Granlund, Montgomery, Division by invariant integers using multiplication, PLDI 1994.
  __device__ unsigned bucket_of(Index column) const { return __umulhi(unsigned(column), inverse) >> (bits - 1); }
};

/// For a largest bucket that leaves room for two blocks per multiprocessor, or for one.
struct Small {
  static constexpr int threads = 512, rounds = 20, blocks = 2;
};
struct Large {
  static constexpr int threads = 1024, rounds = 21, blocks = 1;
};
template <class Size>
inline constexpr int max_entries = Size::threads* Size::rounds;
inline constexpr Index max_width = 2048;  // columns of a bucket, each of which has a counter per warp

/// What a block holds of its bucket: one of these after the other.
template <class Size, class Value>
union Bucket {
  std::uint16_t of_warp[Size::threads / warp_size][max_width];
  Index rows[max_entries<Size>];
  Value values[max_entries<Size>];
};

/// Sorts a bucket by columns.
template <class Size, class Value, class Offset>
__global__ void __launch_bounds__(Size::threads, Size::blocks)
    sort_bucket(Transposing<Value, Offset> of, Cut cut, const std::int32_t* starts) {
  constexpr int threads = Size::threads, max_rounds = Size::rounds, warps = threads / warp_size;
  constexpr int values_at_once = 6;
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ int sums[warps + 1];
  auto& s = *reinterpret_cast<Bucket<Size, Value>*>(shared);
  const int my_warp = threadIdx.x / warp_size;
  const std::int32_t start = starts[blockIdx.x], count = starts[blockIdx.x + 1] - start;
  const int rounds = (count + threads - 1) / threads, mine = my_warp * rounds * warp_size + lane();
  const auto words_of = reinterpret_cast<const unsigned*>(of.to_idx + start);
  Value* const values = of.to_values + start;
  const Index first_column = Index(blockIdx.x) * cut.width;
  const int npairs = (cut.width + 1) / 2;
  const auto counters = reinterpret_cast<unsigned*>(s.of_warp);
  const auto my_counters = reinterpret_cast<std::uint16_t*>(counters + my_warp * npairs);
  const unsigned mask = (1u << cut.bits) - 1;

  unsigned words[max_rounds], ranks[(max_rounds + 1) / 2] = {};  // two ranks per word
  const auto rank_of = [&](int i) { return ranks[i / 2] >> i % 2 * 16 & 0xffff; };
#pragma unroll
  for (int i = 0; i < max_rounds; ++i) {  // what is missing in the last round comes last
    const int at = mine + i * warp_size;
    words[i] = i < rounds && at < count ? __ldcs(words_of + at) : unsigned(cut.width - 1);
  }
  if (of.values)
    for (int at = threadIdx.x * 16; at < count; at += threads * 16)
      asm volatile("prefetch.global.L2 [%0];" ::"l"(values + at));
  for (int i = threadIdx.x; i < warps * npairs; i += threads) counters[i] = 0;
  __syncthreads();
  rank_in_warp<max_rounds>(
      my_counters, rounds, [&](int i) { return words[i] & mask; },
      [&](int i, unsigned rank) { ranks[i / 2] |= rank << i % 2 * 16; });
  __syncthreads();
  counts_to_places<warps>(counters, npairs, sums, [&](int pair, int begin, int second) {
    const Index column = first_column + 2 * pair, width = min(cut.width, of.ncols - first_column);
    if (2 * pair < width) of.to_ptr[column] = start + begin;
    if (2 * pair + 1 < width) of.to_ptr[column + 1] = start + second;
  });
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) of.to_ptr[of.ncols] = start + count;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < max_rounds; ++i) ranks[i / 2] += unsigned(my_counters[words[i] & mask]) << i % 2 * 16;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < max_rounds; ++i)
    if (i < rounds) s.rows[rank_of(i)] = Index(words[i] >> cut.bits);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < max_rounds; ++i)
    if (const int at = threadIdx.x + i * threads; at < count) __stcs(of.to_idx + start + at, s.rows[at]);
  if (!of.values) return;
  __syncthreads();
#pragma unroll
  for (int first = 0; first < max_rounds; first += values_at_once) {
    Value some[values_at_once] = {};
#pragma unroll
    for (int j = 0; j < values_at_once && first + j < max_rounds; ++j)
      if (const int at = mine + (first + j) * warp_size; first + j < rounds && at < count)
        some[j] = __ldcs(values + at);
#pragma unroll
    for (int j = 0; j < values_at_once && first + j < max_rounds; ++j)
      if (first + j < rounds) s.values[rank_of(first + j)] = some[j];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < max_rounds; ++i)
    if (const int at = threadIdx.x + i * threads; at < count) __stcs(values + at, s.values[at]);
}

template <class Size, class Value, class Offset>
void sort_buckets(const Cuda& on, const Transposing<Value, Offset>& of, const Cut& cut, const std::int32_t* starts) {
  const auto kernel = sort_bucket<Size, Value, Offset>;
  constexpr int shared = int(sizeof(Bucket<Size, Value>));
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "buckets");
  kernel<<<unsigned(cut.nbuckets), Size::threads, shared, on.stream()>>>(of, cut, starts);
  check_launch("sorting buckets");
}

}  // namespace seidel::convert_detail
