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

/// What a block holds of its tile: entries as they come, while they are ranked; then sorted ones, first words, then the rest.
template <class Shape, class Value, class Place>
struct TileOfBuckets {
  static constexpr int size = tile_of<Shape>, warps = Shape::threads / warp_size, ngroups = size / warp_size;
  union OfWarp {
    RowsOfWarp<Shape::rounds> rows;
    std::uint16_t counters[Shape::max_buckets];
  };
  static_assert(sizeof(OfWarp) == sizeof(OfWarp::counters));
  struct Group {     // of 32 sorted entries
    unsigned begun;  // a bit for each that begins a bucket
    int before;      // buckets begun in groups before
  };
  union {
    struct {
      std::uint32_t words[size];  // first columns
      OfWarp of_warp[warps];
    } ranked;
    struct {
      union {
        struct {
          std::uint32_t unsorted[size], words[size];
        };
        Index columns[size];
        Value values[size];
      };
      Group groups[ngroups];
      Place to_place[Shape::max_buckets];  // of buckets that begin: where one goes, less where it begins in the tile
    } sorted;
  };
  int sums[warps + 1];

  /// How many buckets begin up to `at`.
  __device__ int begun_at(unsigned at) const {
    const Group group = sorted.groups[at / warp_size];
    return group.before + __popc(group.begun & (whole_warp >> (warp_size - 1 - at % warp_size)));
  }
};

/// The columns of a warp are on their way to shared memory. Those that are missing in the last tile are the last column, so
/// that they come last.
template <int rounds>
__device__ void fetch_columns(const Index* columns, int count, Index last_column, std::uint32_t* to) {
  constexpr int stretch = rounds * warp_size, at_once = 16 / sizeof(Index);
  if (count >= stretch && reinterpret_cast<std::uintptr_t>(columns) % 16 == 0) {
#pragma unroll
    for (int i = 0; i < rounds / at_once; ++i) {
      const int at = (i * warp_size + lane()) * at_once;
      __pipeline_memcpy_async(to + at, columns + at, 16);
    }
  } else {
#pragma unroll 1
    for (int at = lane(); at < stretch; at += warp_size)
      if (at < count)
        __pipeline_memcpy_async(to + at, columns + at, sizeof(Index));
      else
        to[at] = unsigned(last_column);
  }
  __pipeline_commit();
}

/// Where the buckets of the pairs of a thread go: 2 (threadIdx.x + q threads) and the next one.
template <class Shape, class Place, int pairs_per_thread>
__device__ void load_places(const Places<Place>& places, std::int64_t tile, Place (&place)[pairs_per_thread][2]) {
#pragma unroll
  for (int q = 0; q < pairs_per_thread; ++q)
    if (const int pair = threadIdx.x + q * Shape::threads; pair < Shape::max_buckets / 2) {
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
}

/// Groups know the buckets begun before, from the bits of all.
template <int threads, class Tile>
__device__ void add_begun(Tile& s) {
  constexpr int per_thread = (Tile::ngroups + threads - 1) / threads;
  int begun[per_thread], sum = 0;
#pragma unroll
  for (int i = 0; i < per_thread; ++i) {
    const int g = threadIdx.x * per_thread + i;
    begun[i] = g < Tile::ngroups ? __popc(s.sorted.groups[g].begun) : 0;
    sum += begun[i];
  }
  int before = block_exclusive_sum(sum, s.sums);
#pragma unroll
  for (int i = 0; i < per_thread; ++i) {
    if (const int g = threadIdx.x * per_thread + i; g < Tile::ngroups) s.sorted.groups[g].before = before;
    before += begun[i];
  }
}

/// Writes the sorted entries of a tile to their buckets.
template <class Shape, class Tile, class T>
__device__ void write_sorted(const Tile& s, const T* sorted, int count, T* results) {
  constexpr int at_once = 4;
  static_assert(Shape::rounds % at_once == 0);
#pragma unroll 2
  for (int some = 0; some < Shape::rounds; some += at_once) {
    std::ptrdiff_t to_place[at_once];
    T own[at_once];
#pragma unroll
    for (int j = 0; j < at_once; ++j) {
      const int at = threadIdx.x + (some + j) * Shape::threads;
      to_place[j] = s.sorted.to_place[s.begun_at(unsigned(at)) - 1];
      own[j] = sorted[at];
    }
#pragma unroll
    for (int j = 0; j < at_once; ++j)
      if (const int at = threadIdx.x + (some + j) * Shape::threads; at < count) results[to_place[j] + at] = own[j];
  }
}

/// Writes entries to buckets, unless the largest is too large. First a word of each, with its row and the low bits of its
/// column, or its row; the rest follows in the same room, so that tiles can be large.
template <class Shape, class Value, class Offset, class Place>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    fill_buckets(Part<Value, Offset> of, Cut cut, Places<Place> places, std::int64_t max_entries, Between<Value> to) {
  using Tile = TileOfBuckets<Shape, Value, Place>;
  constexpr int threads = Shape::threads, rounds = Shape::rounds, stretch = stretch_of<Shape>;
  constexpr int pairs = Shape::max_buckets / 2, pairs_per_thread = (pairs + threads - 1) / threads;
  extern __shared__ __align__(16) unsigned char shared[];
  auto& s = *reinterpret_cast<Tile*>(shared);
  let_next_begin();
  const int my_warp = threadIdx.x / warp_size, before_mine = my_warp * stretch;
  const std::int64_t tile = blockIdx.x, first = tile * Tile::size, mine = first + before_mine + lane();
  const int count = int(min(std::int64_t(Tile::size), of.nnz - first)), my_count = count - before_mine - lane();
  std::uint32_t* const my_words = s.ranked.words + before_mine + lane();  // and every 32nd, while below my_count
  std::uint16_t* const counters = s.ranked.of_warp[my_warp].counters;

  fetch_columns<rounds>(of.col_idx + first + before_mine, count - before_mine, of.first_column + of.ncols - 1,
                        s.ranked.words + before_mine);
  if (of.values) {
    constexpr int per_line = 128 / sizeof(Value);
#pragma unroll 1
    for (int at = threadIdx.x * per_line; at < count; at += threads * per_line)
      asm volatile("prefetch.global.L2 [%0];" ::"l"(of.values + first + at));
  }
  await_launch_before();  // which counted
  if (places.starts[Shape::max_buckets + 1] > max_entries) {
    __pipeline_wait_prior(0);
    return;
  }
  unsigned keys[rounds];  // a bucket and, above it, a rank; then a place in the tile
  if (places.buckets) {
#pragma unroll
    for (int i = 0; i < rounds; ++i)
      keys[i] = i * warp_size < my_count ? __ldcs(places.buckets + mine + i * warp_size) : Shape::max_buckets - 1;
  }
  __pipeline_wait_prior(0);
  __syncwarp();
  constexpr unsigned is_row = 1u << 31;  // the word has no column
  static_assert(max_width_bits < 31);
#pragma unroll
  for (int i = 0; i < rounds; ++i) {
    const unsigned column = my_words[i * warp_size] - unsigned(of.first_column);
    const unsigned bucket = places.buckets ? keys[i] : cut.equal_bucket_of(Index(column));
    my_words[i * warp_size] = !Shape::is_packed || (bucket & is_alone) ? is_row : cut.low_bits(column, bucket);
    keys[i] = bucket & ~is_alone;
  }
  if (!Shape::is_packed && of.rows) {
    for (int at = 0; at < min(my_count, stretch); at += warp_size) my_words[at] = unsigned(__ldcs(of.rows + mine + at));
  } else if (before_mine < count) {
    const std::int64_t my_stretch = tile * Tile::warps + my_warp;
    find_rows(of.row_ptr, places.first_row[my_stretch], places.first_row[my_stretch + 1], first + before_mine,
              min(count - before_mine, stretch), s.ranked.of_warp[my_warp].rows, [&](int at, Index row) {
                std::uint32_t& word = my_words[at - lane()];
                word = word & is_row ? unsigned(row) : unsigned(row) << cut.bits | word;
              });
  }
  Place place[pairs_per_thread][2] = {};
  load_places<Shape>(places, tile, place);
  __syncwarp();
  for (int i = lane(); i < Shape::max_buckets / 8; i += warp_size) reinterpret_cast<uint4*>(counters)[i] = {0, 0, 0, 0};
  __syncwarp();
  rank_in_warp<rounds>(
      counters, rounds, [&](int i) { return keys[i]; }, [&](int i, unsigned rank) { keys[i] |= rank << 16; });
  __syncthreads();
  unsigned begins[pairs_per_thread] =
      {};  // in the tile; two of them, each below a bit that says that there are entries
  static_assert(Tile::size <= 1 << 15);
  counts_to_places<Tile::warps>(
      reinterpret_cast<unsigned*>(s.ranked.of_warp), pairs, s.sums, [&](int pair, int begin, int second, int end) {
#pragma unroll
        for (int q = 0; q < pairs_per_thread; ++q)
          if (pair / threads == q)
            begins[q] = unsigned(begin | (begin < second) << 15) | unsigned(second | (second < end) << 15) << 16;
      });
  __syncthreads();
#pragma unroll
  for (int i = 0; i < rounds; ++i) keys[i] = (keys[i] >> 16) + counters[keys[i] & 0xffff];
  __syncthreads();
  for (int g = threadIdx.x; g < Tile::ngroups; g += threads) s.sorted.groups[g].begun = 0;
#pragma unroll
  for (int i = 0; i < rounds; ++i) s.sorted.words[keys[i]] = my_words[i * warp_size];
  __syncthreads();
  const auto for_each_begun = [&](auto take) {  // take(where the bucket begins in the tile, its place)
#pragma unroll
    for (int q = 0; q < pairs_per_thread; ++q)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        if (const unsigned begin = begins[q] >> 16 * half; begin >> 15 & 1) take(begin & 0x7fff, place[q][half]);
  };
  for_each_begun(
      [&](unsigned begin, Place) { atomicOr(&s.sorted.groups[begin / warp_size].begun, 1u << begin % warp_size); });
  __syncthreads();
  add_begun<threads>(s);
  __syncthreads();
  for_each_begun([&](unsigned begin, Place to) { s.sorted.to_place[s.begun_at(begin) - 1] = to - Place(begin); });

  constexpr int batch = rounds / 2;  // entries of a thread under way at once
  static_assert(rounds % batch == 0);
  const auto fetch = [&](const auto* from, auto& some, int some_first) {
#pragma unroll
    for (int j = 0; j < batch; ++j) {
      const int at = (some_first + j) * warp_size;
      some[j] = at < my_count ? __ldcs(from + mine + at) : 0;
    }
  };
  const auto sort_rest = [&](const auto* from, auto& some, auto* sorted) {  // the first batch was fetched
    __syncthreads();
#pragma unroll
    for (int some_first = 0; some_first < rounds; some_first += batch) {
      if (some_first > 0) fetch(from, some, some_first);
#pragma unroll
      for (int j = 0; j < batch; ++j) sorted[keys[some_first + j]] = some[j];
    }
    __syncthreads();
  };
  const auto write_words = [&] {
    __syncthreads();
    write_sorted<Shape>(s, s.sorted.words, count, reinterpret_cast<std::uint32_t*>(to.words));
  };
  Value some[batch];
  if constexpr (Shape::is_packed) {
    if (of.values) fetch(of.values, some, 0);
    write_words();
  } else {
    Index columns[batch];
    fetch(of.col_idx, columns, 0);
    write_words();
    sort_rest(of.col_idx, columns, s.sorted.columns);
    write_sorted<Shape>(s, s.sorted.columns, count, to.columns);
    if (of.values) fetch(of.values, some, 0);
  }
  if (!of.values) return;
  sort_rest(of.values, some, s.sorted.values);
  write_sorted<Shape>(s, s.sorted.values, count, to.values);
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
