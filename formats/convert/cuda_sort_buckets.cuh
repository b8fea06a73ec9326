// How a block sorts a bucket of entries in shared memory.
#pragma once
#include <seidel/formats/convert/cuda_fill_buckets.cuh>

namespace seidel::convert_detail {

/// For a largest bucket that leaves room for two blocks per multiprocessor, or for one.
struct Small {
  static constexpr int threads = 512, rounds = 20, blocks = 2;
};
struct Large {
  static constexpr int threads = 1024, rounds = 21, blocks = 1;
};
template <class Size>
inline constexpr int max_entries = Size::threads* Size::rounds;

/// What a block holds of its bucket: one of these after the other.
template <class Size, class Value>
union Bucket {
  std::uint16_t of_warp[Size::threads / warp_size][max_width];
  Index rows[max_entries<Size>];
  Value values[max_entries<Size>];
};

/// Sorts a bucket by columns, in its place if it is packed. One that is alone, of any size, is at most moved to its place.
template <class Size, bool is_packed, class Value, class Offset, class Place>
__global__ void __launch_bounds__(Size::threads, Size::blocks)
    sort_bucket(Part<Value, Offset> of, Cut cut, const Place* starts, Between<Value> from) {
  constexpr int threads = Size::threads, max_rounds = Size::rounds, warps = threads / warp_size;
  constexpr int values_at_once = 6;
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ int sums[warps + 1];
  await_launch_before();  // which filled buckets
  auto& s = *reinterpret_cast<Bucket<Size, Value>*>(shared);
  const int my_warp = threadIdx.x / warp_size;
  const Place start = starts[blockIdx.x];
  const int count = int(starts[blockIdx.x + 1] - start);
  const Index first = cut.first_of(blockIdx.x), width = cut.width_of(blockIdx.x, of.ncols);
  const auto words_of = reinterpret_cast<const unsigned*>((is_packed ? of.to_idx : from.words) + start);
  const Value* const values_of = (is_packed ? of.to_values : from.values) + start;
  Index* const to_idx = of.to_idx + start;
  Value* const to_values = of.to_values + start;
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) of.to_ptr[of.ncols] = Offset(of.before + start + count);
  if (cut.alone(blockIdx.x)) {
    if (threadIdx.x == 0) of.to_ptr[first] = Offset(of.before + start);
    if constexpr (!is_packed)
      for (int at = threadIdx.x; at < count && from.words != of.to_idx; at += threads) {
        to_idx[at] = Index(words_of[at]);
        if (of.values) to_values[at] = values_of[at];
      }
    return;
  }
  const int rounds = (count + threads - 1) / threads, mine = my_warp * rounds * warp_size + lane();
  const int npairs = (width + 1) / 2;
  const auto counters = reinterpret_cast<unsigned*>(s.of_warp);
  const auto my_counters = reinterpret_cast<std::uint16_t*>(counters + my_warp * npairs);
  const unsigned mask = (1u << cut.bits) - 1;
  const unsigned lowest = is_packed ? cut.low_bits(unsigned(first), blockIdx.x) : unsigned(of.first_column + first);
  const auto keys_of = is_packed ? words_of : reinterpret_cast<const unsigned*>(from.columns + start);

  unsigned words[max_rounds], ranks[(max_rounds + 1) / 2] = {};  // words, or columns; two ranks per word
  const auto rank_of = [&](int i) { return ranks[i / 2] >> i % 2 * 16 & 0xffff; };
#pragma unroll
  for (int i = 0; i < max_rounds; ++i) {  // what is missing in the last round comes last
    const int at = mine + i * warp_size;
    words[i] = i < rounds && at < count ? __ldcs(keys_of + at) : lowest + unsigned(width - 1);
  }
  const auto column_of = [&](int i) { return (is_packed ? words[i] & mask : words[i]) - lowest; };
  if (of.values)
    for (int at = threadIdx.x * 16; at < count; at += threads * 16)
      asm volatile("prefetch.global.L2 [%0];" ::"l"(values_of + at));
  for (int i = threadIdx.x; i < warps * npairs; i += threads) counters[i] = 0;
  __syncthreads();
  rank_in_warp<max_rounds>(my_counters, rounds, column_of,
                           [&](int i, unsigned rank) { ranks[i / 2] |= rank << i % 2 * 16; });
  __syncthreads();
  counts_to_places<warps>(counters, npairs, sums, [&](int pair, int begin, int second, int) {
    of.to_ptr[first + 2 * pair] = Offset(of.before + start + begin);
    if (2 * pair + 1 < width) of.to_ptr[first + 2 * pair + 1] = Offset(of.before + start + second);
  });
  __syncthreads();
#pragma unroll
  for (int i = 0; i < max_rounds; ++i) ranks[i / 2] += unsigned(my_counters[column_of(i)]) << i % 2 * 16;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < max_rounds; ++i) {
    if (i >= rounds) continue;
    if constexpr (is_packed)
      s.rows[rank_of(i)] = Index(words[i] >> cut.bits);
    else if (const int at = mine + i * warp_size; at < count)
      s.rows[rank_of(i)] = Index(__ldcs(words_of + at));
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < max_rounds; ++i)
    if (const int at = threadIdx.x + i * threads; at < count) __stcs(to_idx + at, s.rows[at]);
  if (!of.values) return;
  __syncthreads();
#pragma unroll
  for (int some_first = 0; some_first < max_rounds; some_first += values_at_once) {
    Value some[values_at_once] = {};
#pragma unroll
    for (int j = 0; j < values_at_once && some_first + j < max_rounds; ++j)
      if (const int at = mine + (some_first + j) * warp_size; some_first + j < rounds && at < count)
        some[j] = __ldcs(values_of + at);
#pragma unroll
    for (int j = 0; j < values_at_once && some_first + j < max_rounds; ++j)
      if (some_first + j < rounds) s.values[rank_of(some_first + j)] = some[j];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < max_rounds; ++i)
    if (const int at = threadIdx.x + i * threads; at < count) __stcs(to_values + at, s.values[at]);
}

template <bool is_packed, class Value, class Offset, class Place>
void sort(const Cuda& on, const Part<Value, Offset>& of, const Cut& cut, const Buckets<Place>& buckets,
          const Between<Value>& from) {
  const auto launch = [&]<class Size>(Size) {
    const auto kernel = sort_bucket<Size, is_packed, Value, Offset, Place>;
    constexpr int shared = int(sizeof(Bucket<Size, Value>));
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "buckets");
    static const bool can_overlap = can_wait(kernel);
    launch_after(on, can_overlap, kernel,
                 {.blocks = buckets.nbuckets, .threads = Size::threads, .shared_bytes = shared}, "sorting buckets", of,
                 cut, buckets.starts, from);
  };
  buckets.largest <= max_entries<Small> ? launch(Small{}) : launch(Large{});
}

}  // namespace seidel::convert_detail
