// A stable distribution of entries to buckets: those of each tile are counted, the counts added up to places, and each tile
// writes its entries in the order of their buckets, so that neighbours go to neighbouring places.
#pragma once
#include <cuda_pipeline.h>

#include <seidel/formats/convert/cuda_count_buckets.cuh>

namespace seidel::convert_detail {

/// What one instruction loads.
template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T first, second;
};

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
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    fill_buckets(Part<Value, Offset> of, Cut cut, Places<Place> places, std::int64_t max_entries, Between<Value> to) {
  using Tile = TileOfBuckets<Shape, Value, Place>;
  constexpr int threads = Shape::threads, rounds = Shape::rounds, pairs = Shape::max_buckets / 2;
  constexpr int pairs_per_thread = (pairs + threads - 1) / threads;
  extern __shared__ __align__(16) unsigned char shared[];
  auto& s = *reinterpret_cast<Tile*>(shared);
  let_next_begin();
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
  await_launch_before();  // which counted
  if (places.starts[Shape::max_buckets + 1] > max_entries) {
    __pipeline_wait_prior(0);
    return;
  }
  if (places.buckets) {
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
      const int at = mine + i * warp_size;
      keys[i] = at < count ? __ldcs(places.buckets + first + at) : 0;
    }
  }
  if (Shape::is_packed || !of.rows) {
    Index rows[rounds] = {};
    const std::int64_t my_stretch = tile * Tile::warps + my_warp;
    if (my_stretch * stretch_of<Shape> < of.nnz)
      find_rows(of.row_ptr, places.first_row[my_stretch], places.first_row[my_stretch + 1],
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
      const auto load = [&]<class T>(const T* counts) { return reinterpret_cast<const Pair<T>*>(counts)[pair]; };
      const auto before = load(places.before_group + tile / places.tiles_at_once * Shape::max_buckets),
                 starts = load(places.starts);
      place[q][0] = before.first + starts.first;
      place[q][1] = before.second + starts.second;
      if (places.in_group) {
        const auto in_group = load(places.in_group + tile * Shape::max_buckets);
        place[q][0] += Place(in_group.first);
        place[q][1] += Place(in_group.second);
      }
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

/// Distributes the entries of a part that were counted. Waits while buckets are filled.
template <class Shape, class Place, class Value, class Offset>
Buckets<Place> fill(const Cuda& on, const Part<Value, Offset>& of, const Cut& cut, const Counts<Place>& counts,
                    std::int64_t max_entries, const Between<Value>& to) {
  const auto kernel = fill_buckets<Shape, Value, Offset, Place>;
  constexpr int shared = int(sizeof(TileOfBuckets<Shape, Value, Place>));
  static const bool can_overlap = can_wait(kernel);
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "buckets");
  launch_after(on, can_overlap, kernel, {.blocks = counts.ntiles, .threads = Shape::threads, .shared_bytes = shared},
               "filling buckets", of, cut, counts.places, max_entries, to);
  const Largest largest = read(on, counts.largest, counts.number);
  return {counts.places.starts, int(largest.nbuckets), largest.entries};
}

}  // namespace seidel::convert_detail
