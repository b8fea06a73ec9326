// A stable distribution of entries to buckets: those of each tile are counted, the counts added up to places, and each tile
// writes its entries in the order of their buckets, so that neighbours go to neighbouring places.
#pragma once
#include <cuda_pipeline.h>

#include <seidel/formats/convert/cuda_cut.cuh>
#include <seidel/formats/convert/cuda_rank.cuh>
#include <seidel/formats/convert/cuda_rows.cuh>
#include <seidel/formats/runtime/cuda_state.hpp>

namespace seidel::convert_detail {

/// Tiles are as large as shared memory allows: the fewer pieces a tile falls into, the less writing takes. A packed entry is
/// one word, with its row and the low bits of its column, and a value, and comes from A; else row and column are a word each.
struct Few {
  static constexpr int max_buckets = 1024, threads = 1024, rounds = 12;
  static constexpr bool is_packed = true;
};
struct Medium {  // with 2048 buckets the counters of so many warps would not fit
  static constexpr int max_buckets = 1952, threads = 1024, rounds = 12;
  static constexpr bool is_packed = true;
};
struct Many {
  static constexpr int max_buckets = 4096, threads = 512, rounds = 20;
  static constexpr bool is_packed = true;
};
struct Unpacked {
  static constexpr int max_buckets = 2048, threads = 512, rounds = 20;
  static constexpr bool is_packed = false;
};
template <class Shape>
constexpr int tile_of = Shape::threads* Shape::rounds;
template <class Shape>
constexpr int stretch_of = Shape::rounds* warp_size;  // entries of a warp, one after the other
constexpr int tiles_at_once = 4;                      // a group
static_assert((tiles_at_once - 1) * tile_of<Few> < 1 << 16 && (tiles_at_once - 1) * tile_of<Many> < 1 << 16);

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
  std::uint16_t* in_group;  // of bucket b in the tiles before t of its group
  Place* before_group;      // of bucket b in the groups before
  Place* starts;            // of buckets below b; then of all buckets, then of the largest one that is not alone
  Index* first_row;         // of each stretch of entries, and of the last entry; null where entries know their rows
  std::uint16_t* buckets;   // of entries, as Cut has them; null for an equal cut, which tells them faster
};

/// Entries of buckets in each tile. A thread for each stretch finds its row.
template <class Shape, class Value, class Offset, class Place>
__global__ void __launch_bounds__(Shape::threads) count_buckets(Part<Value, Offset> of, Cut cut, Places<Place> places) {
  constexpr int threads = Shape::threads, rounds = Shape::rounds, tile_size = tile_of<Shape>;
  constexpr int stretches = tiles_at_once * tile_size / stretch_of<Shape>;
  static_assert(stretches < threads);
  __shared__ unsigned counts[Shape::max_buckets];
  for (int b = threadIdx.x; b < Shape::max_buckets; b += threads) counts[b] = 0;
  for (int t = 0; t < tiles_at_once; ++t) {
    const std::int64_t tile = std::int64_t(blockIdx.x) * tiles_at_once + t, first = tile * tile_size;
    if (first >= of.nnz) break;
    int bucket[rounds];  // first columns
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
      const std::int64_t k = first + threadIdx.x + i * threads;
      bucket[i] = k < of.nnz ? of.col_idx[k] - of.first_column : -1;
    }
    if (places.buckets) {
#pragma unroll
      for (int& b : bucket) b = b >= 0 ? int(cut.fitted_bucket_of(b)) : -1;
    } else {
#pragma unroll
      for (int& b : bucket) b = b >= 0 ? int(cut.equal_bucket_of(b)) : -1;
    }
    if (t == 0 && threadIdx.x <= stretches && places.first_row) {
      const std::int64_t s = std::int64_t(blockIdx.x) * stretches + threadIdx.x, k = s * stretch_of<Shape>;
      if (k < of.nnz + stretch_of<Shape>)
        places.first_row[s] = row_of(of.row_ptr, Index(0), of.nrows - 1, min(k, of.nnz - 1));
    }
    __syncthreads();
    for (int b = threadIdx.x; b < Shape::max_buckets; b += threads)
      places.in_group[tile * Shape::max_buckets + b] = std::uint16_t(counts[b]);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
      if (bucket[i] < 0) continue;
      atomicAdd(&counts[unsigned(bucket[i]) & ~is_alone], 1u);
      if (places.buckets) places.buckets[first + threadIdx.x + i * threads] = std::uint16_t(bucket[i]);
    }
  }
  __syncthreads();
  for (int b = threadIdx.x; b < Shape::max_buckets; b += threads)
    places.before_group[std::int64_t(blockIdx.x) * Shape::max_buckets + b] = Place(counts[b]);
}

/// Counts of groups become counts of the groups before; starts[bucket] becomes the count of all. A lane for each bucket, a
/// warp for each part of the groups.
template <class Place>
__global__ void __launch_bounds__(warp_size* warp_size) add_groups(int ngroups, int nbuckets, Places<Place> places) {
  __shared__ Place sums[warp_size][warp_size];
  const int part = threadIdx.x / warp_size, bucket = blockIdx.x * warp_size + lane();
  const int length = (ngroups + warp_size - 1) / warp_size, first = part * length, last = min(ngroups, first + length);
  Place* const counts = places.before_group + bucket;
  Place sum = 0;
#pragma unroll 8
  for (int g = first; g < last; ++g) sum += counts[std::int64_t(g) * nbuckets];
  sums[part][lane()] = sum;
  __syncthreads();
  Place before = 0;
  for (int p = 0; p < part; ++p) before += sums[p][lane()];
  if (part == warp_size - 1) places.starts[bucket] = before + sum;
#pragma unroll 8
  for (int g = first; g < last; ++g) {
    const Place own = counts[std::int64_t(g) * nbuckets];
    counts[std::int64_t(g) * nbuckets] = before;
    before += own;
  }
}

/// What the host learns of the buckets.
struct Largest {
  std::int64_t entries;  // of a bucket that is not alone
  std::int64_t nbuckets;
};

/// One block. Counts of buckets become where they begin; then follow the count of all and the largest, for the host too.
template <class Shape, class Place>
__global__ void __launch_bounds__(1024) add_buckets(Place* starts, Cut cut, Largest* for_host) {
  constexpr int per_thread = (Shape::max_buckets + 1023) / 1024;
  __shared__ Place sums[warp_size];
  __shared__ unsigned long long largest;
  const int found = cut.found ? *cut.found : cut.nbuckets;
  if (threadIdx.x == 0) largest = found > Shape::max_buckets ? std::numeric_limits<Place>::max() : 0;
  Place counts[per_thread], sum = 0, most = 0;
#pragma unroll
  for (int i = 0; i < per_thread; ++i) {
    const int b = int(threadIdx.x) * per_thread + i;
    counts[i] = b < Shape::max_buckets ? starts[b] : 0;
    sum += counts[i];
    if (b < min(found, Shape::max_buckets) && !cut.alone(b)) most = max(most, counts[i]);
  }
  Place begin = block_exclusive_sum(sum, sums);
#pragma unroll
  for (int i = 0; i < per_thread; ++i) {
    if (const int b = int(threadIdx.x) * per_thread + i; b < Shape::max_buckets) starts[b] = begin;
    begin += counts[i];
  }
  if (threadIdx.x == 1023) starts[Shape::max_buckets] = begin;
  atomicMax(&largest, (unsigned long long)(most));
  __syncthreads();
  if (threadIdx.x > 0) return;
  starts[Shape::max_buckets + 1] = Place(largest);
  *for_host = {std::int64_t(largest), found};
}

/// What a block holds of its tile: values as they come, then the others sorted.
template <class Shape, class Value, class Place>
struct TileOfBuckets {
  static constexpr int size = tile_of<Shape>, warps = Shape::threads / warp_size;
  Value values[size];
  union {
    RowsOfWarp<Shape::rounds> rows[warps];
    std::uint16_t of_warp[warps][Shape::max_buckets];
    struct {
      std::uint32_t words[size];
      std::uint32_t sources[size];  // the bucket, and where the value is
      Index columns[Shape::is_packed ? 1 : size];
    } sorted;
  };
  Place to_place[Shape::max_buckets];  // where the bucket goes, less where it begins in the tile
  int sums[warps + 1];
};

/// Writes entries to buckets, unless the largest is too large. What is missing in the last tile comes last in it.
template <class Shape, class Value, class Offset, class Place>
__global__ void __launch_bounds__(Shape::threads, 1)
    fill_buckets(Part<Value, Offset> of, Cut cut, Places<Place> places, std::int64_t max_entries, Between<Value> to) {
  using Tile = TileOfBuckets<Shape, Value, Place>;
  constexpr int threads = Shape::threads, rounds = Shape::rounds, pairs = Shape::max_buckets / 2;
  constexpr int pairs_per_thread = (pairs + threads - 1) / threads;
  extern __shared__ __align__(16) unsigned char shared[];
  auto& s = *reinterpret_cast<Tile*>(shared);
  if (places.starts[Shape::max_buckets + 1] > max_entries) return;
  const int my_warp = threadIdx.x / warp_size;
  const std::int64_t tile = blockIdx.x, first = tile * Tile::size;
  const int count = int(min(std::int64_t(Tile::size), of.nnz - first));
  const int mine = my_warp * stretch_of<Shape> + lane();  // and every 32nd after it
  const Index* const columns_of = of.col_idx + first;

  unsigned columns[rounds], words[rounds], keys[rounds];  // a key is a bucket and, below it, a rank
#pragma unroll
  for (int i = 0; i < rounds; ++i) {
    const int at = mine + i * warp_size;
    columns[i] = at < count ? unsigned(__ldcs(columns_of + at)) : 0;
  }
  if (places.buckets) {
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
      const int at = mine + i * warp_size;
      keys[i] = at < count ? __ldcs(places.buckets + first + at) : 0;
    }
  }
  if (!Shape::is_packed && of.rows) {
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
      const int at = mine + i * warp_size;
      words[i] = at < count ? unsigned(__ldcs(of.rows + first + at)) : 0;
    }
  }
  if (of.values) {
    constexpr int at_once = 16 / sizeof(Value);
    static_assert(rounds % at_once == 0);
    const Value* const values = of.values + first;
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(values) % 16 == 0;
#pragma unroll
    for (int i = 0; i < rounds / at_once; ++i) {
      const int at = at_once * (int(threadIdx.x) + i * threads);
      if (is_aligned && at + at_once <= count)
        __pipeline_memcpy_async(s.values + at, values + at, 16);
      else
        for (int j = at; j < min(at + at_once, count); ++j)
          __pipeline_memcpy_async(s.values + j, values + j, sizeof(Value));
    }
  }
  __pipeline_commit();
  if (Shape::is_packed || !of.rows) {
    Index rows[rounds] = {};
    const std::int64_t my_stretch = tile * Tile::warps + my_warp;
    if (my_stretch * stretch_of<Shape> < of.nnz)
      find_rows(of.row_ptr, __ldg(places.first_row + my_stretch), __ldg(places.first_row + my_stretch + 1),
                my_stretch * stretch_of<Shape>, count - my_warp * stretch_of<Shape>, s.rows[my_warp], rows);
#pragma unroll
    for (int i = 0; i < rounds; ++i) words[i] = unsigned(rows[i]);
  }
#pragma unroll
  for (int i = 0; i < rounds; ++i) {
    const unsigned column = columns[i] - unsigned(of.first_column);
    const unsigned bucket = places.buckets ? keys[i] : cut.equal_bucket_of(Index(column));
    if (Shape::is_packed && !(bucket & is_alone)) words[i] = words[i] << cut.bits | cut.low_bits(column, bucket);
    keys[i] = mine + i * warp_size < count ? (bucket & ~is_alone) << 16 : unsigned(Shape::max_buckets - 1) << 16;
  }
  Place place[pairs_per_thread][2] = {};
#pragma unroll
  for (int q = 0; q < pairs_per_thread; ++q)
    if (const int pair = threadIdx.x + q * threads; pair < pairs) {
      const unsigned in_group = reinterpret_cast<const unsigned*>(places.in_group)[tile * pairs + pair];
      const Place* const before = places.before_group + tile / tiles_at_once * Shape::max_buckets + 2 * pair;
      place[q][0] = Place(in_group & 0xffff) + before[0] + places.starts[2 * pair];
      place[q][1] = Place(in_group >> 16) + before[1] + places.starts[2 * pair + 1];
    }
  __syncthreads();
  for (int i = threadIdx.x; i < int(sizeof(s.of_warp) / 16); i += threads)
    reinterpret_cast<uint4*>(s.of_warp)[i] = {0, 0, 0, 0};
  __syncthreads();

  rank_in_warp<rounds>(
      s.of_warp[my_warp], rounds, [&](int i) { return keys[i] >> 16; }, [&](int i, unsigned rank) { keys[i] |= rank; });
  __syncthreads();
  counts_to_places<Tile::warps>(reinterpret_cast<unsigned*>(s.of_warp), pairs, s.sums,
                                [&](int pair, int begin, int second) {
#pragma unroll
                                  for (int q = 0; q < pairs_per_thread; ++q)
                                    if (pair / threads == q) {
                                      s.to_place[2 * pair] = place[q][0] - begin;
                                      s.to_place[2 * pair + 1] = place[q][1] - second;
                                    }
                                });
  __syncthreads();
#pragma unroll
  for (int i = 0; i < rounds; ++i) keys[i] += s.of_warp[my_warp][keys[i] >> 16];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < rounds; ++i) {
    const unsigned at = keys[i] & 0xffff;
    s.sorted.words[at] = words[i];
    s.sorted.sources[at] = (keys[i] & 0xffff0000) | unsigned(mine + i * warp_size);
    if constexpr (!Shape::is_packed) s.sorted.columns[at] = Index(columns[i]);
  }
  __pipeline_wait_prior(0);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < rounds; ++i) {
    const int at = threadIdx.x + i * threads;
    const unsigned source = s.sorted.sources[at];
    const Place k = s.to_place[source >> 16] + at;
    if (at >= count) continue;
    to.words[k] = Index(s.sorted.words[at]);
    if constexpr (!Shape::is_packed) to.columns[k] = s.sorted.columns[at];
    if (of.values) to.values[k] = s.values[source & 0xffff];
  }
}

/// The buckets of a part, after it was distributed.
template <class Place>
struct Buckets {
  Place* starts;  // in device memory
  int nbuckets;
  std::int64_t largest;  // entries of a bucket that is not alone; buckets are not filled if they are too many
};

/// Distributes the entries of a part. Waits while buckets are filled.
template <class Shape, class Place, class Value, class Offset>
Buckets<Place> fill(const Cuda& on, Room& room, const Part<Value, Offset>& of, const Cut& cut, std::int64_t max_entries,
                    const Between<Value>& to) {
  const std::int64_t n = of.nnz, ntiles = (n + tile_of<Shape> - 1) / tile_of<Shape>,
                     ngroups = (ntiles + tiles_at_once - 1) / tiles_at_once,
                     nstretches = (n + stretch_of<Shape> - 1) / stretch_of<Shape>;
  const Places<Place> places{.in_group = room.take<std::uint16_t>(ntiles * Shape::max_buckets),
                             .before_group = room.take<Place>(ngroups * Shape::max_buckets),
                             .starts = room.take<Place>(Shape::max_buckets + 2),
                             .first_row = of.rows ? nullptr : room.take<Index>(nstretches + 1),
                             .buckets = cut.firsts ? room.take<std::uint16_t>(n) : nullptr};
  count_buckets<Shape><<<unsigned(ngroups), Shape::threads, 0, on.stream()>>>(of, cut, places);
  check_launch("counting entries of buckets");
  add_groups<<<Shape::max_buckets / warp_size, warp_size * warp_size, 0, on.stream()>>>(int(ngroups),
                                                                                        Shape::max_buckets, places);
  check_launch("adding counts of buckets");
  const auto largest = reinterpret_cast<Largest*>(on.staging());
  add_buckets<Shape><<<1, 1024, 0, on.stream()>>>(places.starts, cut, largest);
  check_launch("adding counts of buckets");
  cuda_check(cudaEventRecord(on.state()->mark, on.stream()), "marking how far work has come");
  const auto kernel = fill_buckets<Shape, Value, Offset, Place>;
  constexpr int shared = int(sizeof(TileOfBuckets<Shape, Value, Place>));
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "buckets");
  kernel<<<unsigned(ntiles), Shape::threads, shared, on.stream()>>>(of, cut, places, max_entries, to);
  check_launch("filling buckets");
  ++on.state()->waits;
  cuda_check(cudaEventSynchronize(on.state()->mark), "work on the device");
  return {places.starts, int(largest->nbuckets), largest->entries};
}

}  // namespace seidel::convert_detail
