// How columns are cut into buckets of neighbours: all of them equally wide, or each with its share of the entries.
#pragma once
#include <bit>

#include <seidel/formats/convert/cuda_part.cuh>
#include <seidel/formats/convert/cuda_rank.cuh>
#include <seidel/formats/runtime/cuda_launch.cuh>
#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/formats/runtime/scratch.hpp>

namespace seidel::convert_detail {

using namespace seidel::cuda;

inline constexpr int max_width_bits = 11;
inline constexpr Index max_width = 1 << max_width_bits;  // columns of a bucket, each of which has a counter per warp
inline constexpr unsigned is_alone = 1u << 15;  // beside the number of a bucket: it has one column, and needs no sort

/// Columns are counted from the first of a part. All but `nbuckets`, `bits` and `width` are null where buckets are equal.
struct Cut {
  int nbuckets = 0;
  int bits = 0;     // the low bits of a column tell it from the others in its bucket
  Index width = 0;  // of an equal bucket: b holds columns b * width ... (b + 1) * width - 1
  std::uint32_t inverse = 0;
  int unit_bits = 0;  // ranges of 2^unit_bits columns stay together
  const std::uint16_t* bucket_of_unit = nullptr;
  const Index* firsts = nullptr;  // the first column of each bucket, then the end of the last
  const int* found = nullptr;     // buckets, known to the device first; it may be more than there is room for

  static Cut equal(Index ncols, std::int64_t nbuckets) {
    Cut cut{.width = std::max(Index((ncols + nbuckets - 1) / nbuckets), Index(2))};
    cut.bits = int(std::bit_width(std::uint32_t(cut.width - 1)));
    cut.nbuckets = int((ncols + std::int64_t(cut.width) - 1) / cut.width);
    cut.inverse = std::uint32_t(((std::uint64_t(1) << (31 + cut.bits)) + std::uint64_t(cut.width) - 1) /
                                std::uint64_t(cut.width));
    return cut;
  }
  /// Division exact for all columns: Granlund, Montgomery, Division by invariant integers using multiplication, PLDI 1994.
  __device__ unsigned equal_bucket_of(Index column) const { return __umulhi(unsigned(column), inverse) >> (bits - 1); }
  __device__ unsigned fitted_bucket_of(Index column) const { return bucket_of_unit[column >> unit_bits]; }
  /// They ascend with the columns of a bucket.
  __device__ unsigned low_bits(unsigned column, unsigned bucket) const {
    return firsts ? column & ((1u << bits) - 1) : column - bucket * unsigned(width);
  }
  __device__ Index first_of(int bucket) const { return firsts ? __ldg(firsts + bucket) : bucket * width; }
  __device__ Index width_of(int bucket, Index ncols) const {
    return firsts ? __ldg(firsts + bucket + 1) - __ldg(firsts + bucket) : min(width, ncols - bucket * width);
  }
  __device__ bool alone(int bucket) const { return firsts && firsts[bucket + 1] - firsts[bucket] == 1; }
};

__device__ inline void add(std::int32_t* counter, int n) { atomicAdd(counter, n); }
__device__ inline void add(std::int64_t* counter, int n) {
  atomicAdd(reinterpret_cast<unsigned long long*>(counter), (unsigned long long)(std::int64_t(n)));
}

/// What a cut to fit is asked for.
struct Fit {
  double share;  // entries of a bucket; one with a half more has one column, as far as entries were counted
  int bits;      // a bucket lies within columns with the same higher bits
  int max_buckets;
  std::int64_t step;  // one entry of `step` is counted
};

/// Units are cut by a block for each chunk of them, which takes a piece after the other, a few units per thread.
struct Units {
  static constexpr int threads = 1024, per_thread = 4, piece_bits = 12, max_chunks = 512;
  static_assert(threads * per_thread == 1 << piece_bits);
  std::int64_t count;
  int bits;        // a unit has 2^bits columns
  int chunk_bits;  // a chunk 2^chunk_bits units

  std::int64_t nchunks() const { return ((count - 1) >> chunk_bits) + 1; }
};

/// The sum of numbers of chunks before this block's.
template <class Sum>
__device__ Sum sum_before(const Sum* of_chunk, Sum* sums) {
  Sum own = 0;
  for (int c = threadIdx.x; c < int(blockIdx.x); c += Units::threads) own += of_chunk[c];
  const Sum before = block_exclusive_sum(own, sums);
  if (threadIdx.x == Units::threads - 1) sums[warp_size] = before + own;
  __syncthreads();
  return sums[warp_size];
}

/// One entry of `step`, of units and of chunks: both are 0 before.
template <class Value, class Offset>
__global__ void __launch_bounds__(Units::threads)
    count_sample(Part<Value, Offset> of, Units units, std::int64_t n, unsigned step, Offset* counts, Offset* of_chunk) {
  __shared__ unsigned chunks[Units::max_chunks];
  let_next_begin();
  for (int c = threadIdx.x; c < Units::max_chunks; c += Units::threads) chunks[c] = 0;
  __syncthreads();
  if (const std::int64_t i = std::int64_t(blockIdx.x) * Units::threads + threadIdx.x; i < n) {
    const std::int64_t k = i * step + (unsigned(i) * 2654435761u >> 8) % step;
    const Index unit = (of.col_idx[k] - of.first_column) >> units.bits;
    add(counts + unit, 1);
    atomicAdd(&chunks[unit >> units.chunk_bits], 1u);
  }
  __syncthreads();
  for (int c = threadIdx.x; c < Units::max_chunks; c += Units::threads)
    if (chunks[c] > 0) add(of_chunk + c, int(chunks[c]));
}

/// A bit for each unit with which a bucket begins: where another share is full, and before and after a unit with half a share.
template <class Offset>
__global__ void __launch_bounds__(Units::threads)
    cut_units(Units units, double shares, int bits, const Offset* counts, const Offset* of_chunk, unsigned* begins,
              int* begins_of_chunk) {
  constexpr int per_thread = Units::per_thread, threads_per_word = 32 / per_thread;
  __shared__ Offset sums[warp_size + 1];
  __shared__ int nbegins;
  let_next_begin();
  await_launch_before();
  if (threadIdx.x == 0) nbegins = 0;
  Offset before_piece = sum_before(of_chunk, sums);
  const std::int64_t begin = std::int64_t(blockIdx.x) << units.chunk_bits,
                     end = min(units.count, begin + (std::int64_t(1) << units.chunk_bits));
  int mine = 0;
  for (std::int64_t piece = begin; piece < end; piece += Units::threads * per_thread) {
    const std::int64_t first = piece + threadIdx.x * per_thread;
    Offset count[per_thread + 1], sum = 0;  // that of the unit before comes first
#pragma unroll
    for (int i = 0; i <= per_thread; ++i) {
      count[i] = first + i > 0 && first + i <= end ? counts[first + i - 1] : 0;
      if (i > 0) sum += count[i];
    }
    __syncthreads();  // before sums are written to again
    const Offset of_block = block_exclusive_sum(sum, sums);
    Offset before = before_piece + of_block;
    if (threadIdx.x == Units::threads - 1) sums[warp_size] = before + sum;
    const auto is_full = [&](Offset n) { return double(n) * shares >= 0.5; };
    unsigned begun = 0;
#pragma unroll
    for (int i = 0; i < per_thread; ++i) {
      const std::int64_t u = first + i;
      const bool begins_here =
          u == 0 || ((u << units.bits) & ((std::int64_t(1) << bits) - 1)) == 0 ||
          std::int64_t(double(before) * shares) != std::int64_t(double(before - count[i]) * shares) ||
          is_full(count[i]) || is_full(count[i + 1]);
      begun |= unsigned(u < end && begins_here) << i;
      before += count[i + 1];
    }
    mine += __popc(begun);
    unsigned word = begun << threadIdx.x % threads_per_word * per_thread;
#pragma unroll
    for (int step = 1; step < threads_per_word; step *= 2) word |= __shfl_xor_sync(whole_warp, word, step);
    if (threadIdx.x % threads_per_word == 0 && first < end) begins[first / 32] = word;
    __syncthreads();
    before_piece = sums[warp_size];
  }
  mine = __reduce_add_sync(whole_warp, mine);
  if (lane() == 0) atomicAdd(&nbegins, mine);
  __syncthreads();
  if (threadIdx.x == 0) begins_of_chunk[blockIdx.x] = nbegins;
}

/// Numbers buckets. of_chunk becomes 0 again.
template <class Offset>
__global__ void __launch_bounds__(Units::threads)
    number_buckets(Units units, Index ncols, int max_buckets, const unsigned* begins, const int* begins_of_chunk,
                   Offset* of_chunk, std::uint16_t* bucket_of_unit, Index* firsts, int* found) {
  constexpr int per_thread = Units::per_thread;
  __shared__ int sums[warp_size + 1];
  let_next_begin();
  await_launch_before();
  if (threadIdx.x == 0) of_chunk[blockIdx.x] = 0;
  int before_piece = sum_before(begins_of_chunk, sums);
  const std::int64_t begin = std::int64_t(blockIdx.x) << units.chunk_bits,
                     end = min(units.count, begin + (std::int64_t(1) << units.chunk_bits));
  for (std::int64_t piece = begin; piece < end; piece += Units::threads * per_thread) {
    const std::int64_t first = piece + threadIdx.x * per_thread;
    const auto bit_of = [&](std::int64_t u) { return begins[u / 32] >> u % 32 & 1; };
    unsigned begun = first < end ? begins[first / 32] >> first % 32 & ((1u << per_thread) - 1) : 0;
    if (first + per_thread >= units.count || bit_of(first + per_thread)) begun |= 1u << per_thread;
    const int own = __popc(begun & ((1u << per_thread) - 1));
    __syncthreads();  // before sums are written to again
    int bucket = before_piece + block_exclusive_sum(own, sums) - 1;
    if (threadIdx.x == Units::threads - 1) sums[warp_size] = bucket + 1 + own;
#pragma unroll
    for (int i = 0; i < per_thread; ++i) {
      const std::int64_t u = first + i;
      if (u >= end) break;
      const bool is_first = begun >> i & 1, is_last = u + 1 == units.count || (begun >> (i + 1) & 1);
      const std::int64_t column = u << units.bits, next = min((u + 1) << units.bits, std::int64_t(ncols));
      bucket += is_first;
      if (is_first && bucket < max_buckets) firsts[bucket] = Index(column);
      if (is_last && bucket < max_buckets) firsts[bucket + 1] = Index(next);
      if (u + 1 == units.count) *found = bucket + 1;
      bucket_of_unit[u] = std::uint16_t(unsigned(min(bucket, max_buckets - 1)) |
                                        (is_first && is_last && next - column == 1 ? is_alone : 0));
    }
    __syncthreads();
    before_piece = sums[warp_size];
  }
}

/// Entries of columns are counted, and added up. Counts, and then the buckets of units, lie in of.to_ptr. The last launch calls
/// let_next_begin().
template <class Value, class Offset>
Cut cut_to_fit(const Cuda& on, Room& room, const Part<Value, Offset>& of, const Fit& fit) {
  constexpr std::int64_t many_columns = 1 << 21;  // more columns than these and than entries are not told apart
  Cut cut{.bits = fit.bits};
  while (of.ncols >> cut.unit_bits > std::max(of.nnz, many_columns)) ++cut.unit_bits;
  Units units{.count = ((std::int64_t(of.ncols) - 1) >> cut.unit_bits) + 1,
              .bits = cut.unit_bits,
              .chunk_bits = Units::piece_bits};
  while (units.nchunks() > Units::max_chunks) ++units.chunk_bits;
  const std::int64_t n = of.nnz / fit.step;
  const double shares = double(of.nnz) / double(n) / fit.share;  // per entry counted
  Index* const firsts = room.take<Index>(fit.max_buckets + 1);
  int* const found = room.take<int>(1);
  Room own(on, room.of);
  unsigned* const begins = own.take<unsigned>(units.count / 32 + 1);
  int* const begins_of_chunk = own.take<int>(units.nchunks());
  auto* const of_chunk =
      reinterpret_cast<Offset*>(zero_counters(on, Units::max_chunks * std::int64_t(sizeof(Offset) / sizeof(Index))));
  Offset* const counts = of.to_ptr;
  const auto bucket_of_unit = reinterpret_cast<std::uint16_t*>(counts);
  cuda_check(cudaMemsetAsync(counts, 0, sizeof(Offset) * std::size_t(units.count), on.stream()), "clearing counts");
  launch(on, count_sample<Value, Offset>, blocks_for(n, Units::threads), Units::threads, "counting entries of columns",
         of, units, n, unsigned(fit.step), counts, of_chunk);
  static const bool can_overlap = can_wait(cut_units<Offset>);
  const LaunchShape shape{.blocks = units.nchunks(), .threads = Units::threads};
  launch_after(on, can_overlap, cut_units<Offset>, shape, "cutting columns", units, shares, fit.bits, counts, of_chunk,
               begins, begins_of_chunk);
  launch_after(on, can_overlap, number_buckets<Offset>, shape, "numbering buckets", units, of.ncols, fit.max_buckets,
               begins, begins_of_chunk, of_chunk, bucket_of_unit, firsts, found);
  cut.bucket_of_unit = bucket_of_unit;
  cut.firsts = firsts;
  cut.found = found;
  return cut;
}

}  // namespace seidel::convert_detail
