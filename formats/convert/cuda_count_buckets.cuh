// How many entries of each tile go to each bucket, and the places where they go.
#pragma once
#include <seidel/formats/convert/cuda_cut.cuh>
#include <seidel/formats/convert/cuda_note.cuh>
#include <seidel/formats/convert/cuda_rank.cuh>
#include <seidel/formats/convert/cuda_rows.cuh>
#include <seidel/formats/runtime/cuda_launch.cuh>
#include <seidel/formats/runtime/scratch.hpp>

namespace seidel::convert_detail {

/// Tiles are as large as shared memory allows: the fewer pieces a tile falls into, the less writing takes. A packed entry is
/// one word, with its row and the low bits of its column, and a value, and comes from A; else row and column are a word each.
struct Few {
  static constexpr int max_buckets = 1024, threads = 1024, rounds = 16, blocks = 1;
  static constexpr bool is_packed = true;
};
struct Short : Few {  // so few entries that tiles of Few would leave multiprocessors idle
  static constexpr int max_buckets = 512, threads = 512, rounds = 8, blocks = 2;
};
struct Medium : Few {
  static constexpr int max_buckets = 2048;
};
struct Many : Few {  // the counters of more warps would not fit
  static constexpr int max_buckets = 4096, threads = 512, rounds = 48;
};
struct Unpacked : Medium {
  static constexpr bool is_packed = false;
};
template <class Shape>
constexpr int tile_of = Shape::threads* Shape::rounds;
template <class Shape>
constexpr int stretch_of = Shape::rounds* warp_size;  // entries of a warp, one after the other
inline constexpr int max_tiles_at_once = 3;
static_assert((max_tiles_at_once - 1) * tile_of<Many> < 1 << 16);

/// Where entries lie between the steps.
template <class Value>
struct Between {
  Index* words;    // or rows
  Index* columns;  // null where packed
  Value* values;
};

/// Where bucket b of tile t goes: the sum of three counts of entries.
template <class Place>
struct Places {
  int tiles_at_once;        // a group
  std::uint16_t* in_group;  // of bucket b in the tiles before t of its group; null where that is one tile
  Place* before_group;      // of bucket b in the groups before
  Place* starts;            // of buckets below b; then of all buckets, then of the largest one that is not alone
  Index* first_row;         // of each stretch of entries, and of the last entry; null where entries know their rows
  std::uint16_t* buckets;   // of entries, as Cut has them; null for an equal cut, which tells them faster
};

inline constexpr int count_threads = 512, count_blocks = 4;  // blocks per multiprocessor

/// The first blocks find the rows of stretches, a thread each: that takes long, but bothers nobody. The others count entries of
/// buckets in each tile of a group. May begin before the launch before has ended, which made the table of buckets, if there is
/// one.
template <class Shape, class Value, class Offset, class Place>
__global__ void __launch_bounds__(count_threads, count_blocks)
    count_buckets(Part<Value, Offset> of, Cut cut, Places<Place> places, int row_blocks) {
  constexpr int threads = count_threads, tile_size = tile_of<Shape>, max_buckets = Shape::max_buckets;
  constexpr int all_rounds = tile_size / threads, rounds = all_rounds / (all_rounds > 24 ? 4 : all_rounds > 12 ? 2 : 1);
  constexpr int buckets_per_thread = (max_buckets + threads - 1) / threads;
  static_assert(tile_size % (rounds * threads) == 0);
  let_next_begin();
  if (places.buckets) await_launch_before();
  if (int(blockIdx.x) < row_blocks) {
    const std::int64_t s = std::int64_t(blockIdx.x) * threads + threadIdx.x, k = s * stretch_of<Shape>;
    if (k < of.nnz + stretch_of<Shape>)
      places.first_row[s] = row_of(of.row_ptr, Index(0), of.nrows - 1, min(k, of.nnz - 1));
    await_launch_before();
    return;
  }
  __shared__ unsigned counts[max_buckets];
  for (int b = threadIdx.x; b < max_buckets; b += threads) counts[b] = 0;
  unsigned before[buckets_per_thread] = {};
  const std::int64_t group = blockIdx.x - row_blocks, first_tile = group * places.tiles_at_once;
  __syncthreads();
  for (std::int64_t tile = first_tile; tile < first_tile + places.tiles_at_once; ++tile) {
    const std::int64_t begin = tile * tile_size;
    if (begin >= of.nnz) break;
#pragma unroll
    for (int some = 0; some < all_rounds; some += rounds) {
      int bucket[rounds];  // first columns
      const std::int64_t first = begin + some * threads + threadIdx.x;
#pragma unroll
      for (int i = 0; i < rounds; ++i)
        bucket[i] = first + i * threads < of.nnz ? of.col_idx[first + i * threads] - of.first_column : -1;
      if (places.buckets) {
#pragma unroll
        for (int& b : bucket) b = b >= 0 ? int(cut.fitted_bucket_of(b)) : -1;
      } else {
#pragma unroll
        for (int& b : bucket) b = b >= 0 ? int(cut.equal_bucket_of(b)) : -1;
      }
#pragma unroll
      for (int i = 0; i < rounds; ++i) {
        if (bucket[i] < 0) continue;
        atomicAdd(&counts[unsigned(bucket[i]) & ~is_alone], 1u);
        if (places.buckets) places.buckets[first + i * threads] = std::uint16_t(bucket[i]);
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < buckets_per_thread; ++i)
      if (const int b = threadIdx.x + i * threads; b < max_buckets) {
        if (places.in_group) places.in_group[tile * max_buckets + b] = std::uint16_t(before[i]);
        before[i] = counts[b];
      }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < buckets_per_thread; ++i)
    if (const int b = threadIdx.x + i * threads; b < max_buckets)
      places.before_group[group * max_buckets + b] = Place(before[i]);
  await_launch_before();
}

/// What the host learns of the buckets.
struct Largest {
  std::int64_t entries;  // of a bucket that is not alone
  std::int64_t nbuckets;
};

/// Counts of buckets become where they begin; then follow the count of all and the largest, for the host too. By one block.
template <int max_buckets, class Place>
__device__ void add_buckets(const Places<Place>& places, const Cut& cut, Note<Largest>* for_host, int number) {
  constexpr int threads = warp_size * warp_size, per_thread = (max_buckets + threads - 1) / threads;
  __shared__ Place sums[warp_size];
  __shared__ unsigned long long largest;
  const int found = cut.found ? *cut.found : cut.nbuckets;
  if (threadIdx.x == 0) largest = found > max_buckets ? std::numeric_limits<Place>::max() : 0;
  Place counts[per_thread], sum = 0, most = 0;
#pragma unroll
  for (int i = 0; i < per_thread; ++i) {
    const int b = int(threadIdx.x) * per_thread + i;
    counts[i] = b < max_buckets ? __ldcg(places.starts + b) : 0;
    sum += counts[i];
    if (b < min(found, max_buckets) && !cut.alone(b)) most = max(most, counts[i]);
  }
  Place begin = block_exclusive_sum(sum, sums);
#pragma unroll
  for (int i = 0; i < per_thread; ++i) {
    if (const int b = int(threadIdx.x) * per_thread + i; b < max_buckets) places.starts[b] = begin;
    begin += counts[i];
  }
  if (threadIdx.x == threads - 1) places.starts[max_buckets] = begin;
  atomicMax(&largest, (unsigned long long)(most));
  __syncthreads();
  if (threadIdx.x > 0) return;
  places.starts[max_buckets + 1] = Place(largest);
  for_host->value = {std::int64_t(largest), found};
  sign(for_host, number);
}

/// Counts of groups become counts of the groups before, and the last block adds up those of all. A lane for each bucket, a warp
/// for each part of the groups. ndone: 0 before and after.
template <int max_buckets, class Place>
__global__ void __launch_bounds__(warp_size* warp_size)
    add_groups(int ngroups, Places<Place> places, Cut cut, unsigned* ndone, Note<Largest>* for_host, int number) {
  __shared__ Place sums[warp_size][warp_size];
  __shared__ bool is_last;
  let_next_begin();
  await_launch_before();
  const int part = threadIdx.x / warp_size, bucket = blockIdx.x * warp_size + lane();
  const int length = (ngroups + warp_size - 1) / warp_size, first = part * length, last = min(ngroups, first + length);
  Place* const counts = places.before_group + bucket;
  Place sum = 0;
#pragma unroll 8
  for (int g = first; g < last; ++g) sum += counts[std::int64_t(g) * max_buckets];
  sums[part][lane()] = sum;
  __syncthreads();
  Place before = 0;
  for (int p = 0; p < part; ++p) before += sums[p][lane()];
  if (part == warp_size - 1) {
    places.starts[bucket] = before + sum;
    __threadfence();
    __syncwarp();
    if (lane() == 0) is_last = atomicAdd(ndone, 1u) == gridDim.x - 1;
  }
#pragma unroll 8
  for (int g = first; g < last; ++g) {
    const Place own = counts[std::int64_t(g) * max_buckets];
    counts[std::int64_t(g) * max_buckets] = before;
    before += own;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  if (threadIdx.x == 0) *ndone = 0;
  add_buckets<max_buckets>(places, cut, for_host, number);
}

/// Entries that were counted, or will be: the stream knows.
template <class Place>
struct Counts {
  Places<Place> places;
  std::int64_t ntiles;
  const Note<Largest>* largest;
  int number;  // of that note
};

/// `early`: the launch before is one of ours that calls let_next_begin(): a cut to fit, or one that reads A at most. Does not
/// wait.
template <class Shape, class Place, class Value, class Offset>
Counts<Place> count(const Cuda& on, Room& room, const Part<Value, Offset>& of, const Cut& cut, bool early = false) {
  constexpr int max_buckets = Shape::max_buckets;
  const std::int64_t n = of.nnz, ntiles = (n + tile_of<Shape> - 1) / tile_of<Shape>,
                     resident = std::int64_t(count_blocks) * on.multiprocessors(),
                     tiles_at_once = std::clamp<std::int64_t>((ntiles + resident - 1) / resident, 1, max_tiles_at_once),
                     ngroups = (ntiles + tiles_at_once - 1) / tiles_at_once,
                     nstretches = (n + stretch_of<Shape> - 1) / stretch_of<Shape>;
  const Places<Place> places{.tiles_at_once = int(tiles_at_once),
                             .in_group = tiles_at_once > 1 ? room.take<std::uint16_t>(ntiles * max_buckets) : nullptr,
                             .before_group = room.take<Place>(ngroups * max_buckets),
                             .starts = room.take<Place>(max_buckets + 2),
                             .first_row = of.rows ? nullptr : room.take<Index>(nstretches + 1),
                             .buckets = cut.firsts ? room.take<std::uint16_t>(n) : nullptr};
  const auto largest = reinterpret_cast<Note<Largest>*>(on.staging() + staging_of_counts);
  const Counts<Place> counts{places, ntiles, largest, next_note()};
  const auto count_tiles = count_buckets<Shape, Value, Offset, Place>;
  static const bool can_overlap = can_wait(count_tiles);
  const unsigned row_blocks = places.first_row ? blocks_for(nstretches + 1, count_threads) : 0;
  launch_after(on, early && can_overlap, count_tiles, {.blocks = row_blocks + ngroups, .threads = count_threads},
               "counting entries of buckets", of, cut, places, int(row_blocks));
  launch_after(on, can_overlap, add_groups<max_buckets, Place>,
               {.blocks = max_buckets / warp_size, .threads = warp_size * warp_size}, "adding counts of buckets",
               int(ngroups), places, cut, reinterpret_cast<unsigned*>(zero_counters(on, 1)), largest, counts.number);
  return counts;
}

}  // namespace seidel::convert_detail
