// First a stable distribution of all entries to buckets of neighbouring columns. Then a block per bucket sorts it in shared
// memory, in its place, and knows its row pointers. Between the steps an entry is its value and one word, which holds its
// row and its column within the bucket, so both lie in the arrays of the result.
#include <cuda_pipeline.h>

#include <seidel/formats/convert/cuda_buckets.hpp>
#include <seidel/formats/convert/cuda_digits.cuh>
#include <seidel/formats/convert/cuda_rank.cuh>
#include <seidel/formats/convert/cuda_rows.cuh>
#include <seidel/formats/convert/cuda_sort_buckets.cuh>
#include <seidel/formats/runtime/cuda_state.hpp>
#include <seidel/formats/runtime/scratch.hpp>

namespace seidel::convert_detail {

namespace {

/// The first step. Tiles are as large as shared memory allows: the fewer pieces a tile falls into, the less writing takes.
struct Few {
  static constexpr int max_buckets = 1024, threads = 1024, rounds = 12;
};
struct Many {
  static constexpr int max_buckets = 4096, threads = 512, rounds = 20;
};
template <class Shape>
constexpr int tile_of = Shape::threads* Shape::rounds;
template <class Shape>
constexpr int stretch_of = Shape::rounds* warp_size;
constexpr int tiles_at_once = 4;
static_assert((tiles_at_once - 1) * tile_of<Few> < 1 << 16 && (tiles_at_once - 1) * tile_of<Many> < 1 << 16);

template <class Offset>
struct Counting {
  std::int64_t n;
  const Index* columns;
  const Offset* row_ptr;
  Index last_row;
  Index* first_row;  // of each stretch of entries that a warp takes, and of the last entry
  Places<std::int32_t> places;
};

/// Entries of buckets in each tile. A thread for each stretch finds its row.
template <class Shape, class Offset>
__global__ void __launch_bounds__(Shape::threads) count_buckets(Counting<Offset> to, Cut cut) {
  constexpr int threads = Shape::threads, rounds = Shape::rounds, tile_size = tile_of<Shape>;
  constexpr int stretches = tiles_at_once * tile_size / stretch_of<Shape>;
  static_assert(stretches < threads);
  __shared__ unsigned counts[Shape::max_buckets];
  for (int b = threadIdx.x; b < Shape::max_buckets; b += threads) counts[b] = 0;
  for (int t = 0; t < tiles_at_once; ++t) {
    const std::int64_t tile = std::int64_t(blockIdx.x) * tiles_at_once + t, first = tile * tile_size;
    if (first >= to.n) break;
    int bucket[rounds];
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
      const std::int64_t k = first + threadIdx.x + i * threads;
      bucket[i] = k < to.n ? int(cut.bucket_of(to.columns[k])) : -1;
    }
    if (t == 0 && threadIdx.x <= stretches) {
      const std::int64_t s = std::int64_t(blockIdx.x) * stretches + threadIdx.x, k = s * stretch_of<Shape>;
      if (k < to.n + stretch_of<Shape>) to.first_row[s] = row_of(to.row_ptr, Index(0), to.last_row, min(k, to.n - 1));
    }
    __syncthreads();
    for (int b = threadIdx.x; b < Shape::max_buckets; b += threads)
      to.places.in_group[tile * Shape::max_buckets + b] = std::uint16_t(counts[b]);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < rounds; ++i)
      if (bucket[i] >= 0) atomicAdd(&counts[bucket[i]], 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < Shape::max_buckets; b += threads)
    to.places.before_group[std::int64_t(blockIdx.x) * Shape::max_buckets + b] = std::int32_t(counts[b]);
}

/// One block. Counts of buckets become where they begin; then follow the count of all and the largest, for the host too.
template <class Shape>
__global__ void __launch_bounds__(1024) add_buckets(std::int32_t* starts, int* for_host) {
  constexpr int per_thread = Shape::max_buckets / 1024;
  __shared__ int sums[warp_size], largest;
  if (threadIdx.x == 0) largest = 0;
  int counts[per_thread], sum = 0, most = 0;
#pragma unroll
  for (int i = 0; i < per_thread; ++i) {
    counts[i] = starts[threadIdx.x * per_thread + i];
    sum += counts[i], most = max(most, counts[i]);
  }
  int begin = block_exclusive_sum(sum, sums);
#pragma unroll
  for (int i = 0; i < per_thread; ++i) starts[threadIdx.x * per_thread + i] = begin, begin += counts[i];
  if (threadIdx.x == 1023) starts[Shape::max_buckets] = begin;
  atomicMax(&largest, most);
  __syncthreads();
  if (threadIdx.x == 0) starts[Shape::max_buckets + 1] = *for_host = largest;
}

/// What a block holds of its tile: values as they come, then the others sorted.
template <class Shape, class Value>
struct TileOfBuckets {
  static constexpr int size = tile_of<Shape>, warps = Shape::threads / warp_size;
  Value values[size];
  union {
    RowsOfWarp<Shape::rounds> rows[warps];
    std::uint16_t of_warp[warps][Shape::max_buckets];
    struct {
      std::uint32_t words[size];
      std::uint32_t sources[size];  // the bucket, and where the value is
    } sorted;
  };
  std::int32_t to_place[Shape::max_buckets];  // where the bucket goes, less where it begins in the tile
  int sums[warps + 1];
};

/// Writes words and values to buckets, unless the largest is too large. What is missing in the last tile comes last in it.
template <class Shape, class Value, class Offset>
__global__ void __launch_bounds__(Shape::threads, 1)
    fill_buckets(Transposing<Value, Offset> of, Cut cut, const Index* first_row, Places<std::int32_t> places) {
  using Tile = TileOfBuckets<Shape, Value>;
  constexpr int threads = Shape::threads, rounds = Shape::rounds, pairs = Shape::max_buckets / 2;
  constexpr int pairs_per_thread = (pairs + threads - 1) / threads;
  extern __shared__ __align__(16) unsigned char shared[];
  auto& s = *reinterpret_cast<Tile*>(shared);
  if (places.starts[Shape::max_buckets + 1] > max_entries<Large>) return;
  const int my_warp = threadIdx.x / warp_size;
  const std::int64_t tile = blockIdx.x, first = tile * Tile::size;
  const int count = int(min(std::int64_t(Tile::size), of.nnz - first));
  const int mine = my_warp * stretch_of<Shape> + lane();  // and every 32nd after it
  const Index* const columns = of.col_idx + first;

  unsigned words[rounds], keys[rounds];  // a key is a bucket and, below it, a rank
#pragma unroll
  for (int i = 0; i < rounds; ++i) {
    const int at = mine + i * warp_size;
    keys[i] = unsigned(at < count ? __ldcs(columns + at) : of.ncols - 1);
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
  {
    Index rows[rounds] = {};
    const std::int64_t my_stretch = tile * Tile::warps + my_warp;
    if (my_stretch * stretch_of<Shape> < of.nnz)
      find_rows(of.row_ptr, __ldg(first_row + my_stretch), __ldg(first_row + my_stretch + 1),
                my_stretch * stretch_of<Shape>, count - my_warp * stretch_of<Shape>, s.rows[my_warp], rows);
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
      const unsigned bucket = cut.bucket_of(Index(keys[i]));
      words[i] = unsigned(rows[i]) << cut.bits | (keys[i] - bucket * unsigned(cut.width));
      keys[i] = bucket << 16;
    }
  }
  std::int32_t place[pairs_per_thread][2] = {};
#pragma unroll
  for (int q = 0; q < pairs_per_thread; ++q)
    if (const int pair = threadIdx.x + q * threads; pair < pairs) {
      const unsigned in_group = reinterpret_cast<const unsigned*>(places.in_group)[tile * pairs + pair];
      const std::int32_t* const before = places.before_group + tile / tiles_at_once * Shape::max_buckets + 2 * pair;
      place[q][0] = std::int32_t(in_group & 0xffff) + before[0] + places.starts[2 * pair];
      place[q][1] = std::int32_t(in_group >> 16) + before[1] + places.starts[2 * pair + 1];
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
  }
  __pipeline_wait_prior(0);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < rounds; ++i) {
    const int at = threadIdx.x + i * threads;
    const unsigned source = s.sorted.sources[at];
    const std::int32_t k = s.to_place[source >> 16] + at;
    if (at >= count) continue;
    of.to_idx[k] = Index(s.sorted.words[at]);
    if (of.values) of.to_values[k] = s.values[source & 0xffff];
  }
}

template <class Shape, class Value, class Offset>
std::optional<std::int64_t> transpose_by(const Cuda& on, const Transposing<Value, Offset>& of, const Cut& cut) {
  const std::int64_t n = of.nnz, ntiles = (n + tile_of<Shape> - 1) / tile_of<Shape>,
                     ngroups = (ntiles + tiles_at_once - 1) / tiles_at_once,
                     nstretches = (n + stretch_of<Shape> - 1) / stretch_of<Shape>;
  std::int64_t bytes = 0;
  Scratch<Cuda> scratch(on);
  const auto take = [&]<class T>(T*& p, std::int64_t size) {
    p = scratch.take<T>(size).data();
    bytes += size * std::int64_t(sizeof(T));
  };
  Counting<Offset> counting{.n = n,
                            .columns = of.col_idx,
                            .row_ptr = of.row_ptr,
                            .last_row = of.nrows - 1,
                            .first_row = nullptr,
                            .places = {}};
  auto& places = counting.places;
  take(counting.first_row, nstretches + 1);
  take(places.in_group, ntiles * Shape::max_buckets);
  take(places.before_group, ngroups * Shape::max_buckets);
  take(places.starts, Shape::max_buckets + 2);

  count_buckets<Shape><<<unsigned(ngroups), Shape::threads, 0, on.stream()>>>(counting, cut);
  check_launch("counting entries of buckets");
  add_groups<<<Shape::max_buckets / warp_size, warp_size * warp_size, 0, on.stream()>>>(int(ngroups),
                                                                                        Shape::max_buckets, places);
  check_launch("adding counts of buckets");
  const auto largest = reinterpret_cast<int*>(on.staging());
  add_buckets<Shape><<<1, 1024, 0, on.stream()>>>(places.starts, largest);
  check_launch("adding counts of buckets");
  cuda_check(cudaEventRecord(on.state()->mark, on.stream()), "marking how far work has come");
  const auto kernel = fill_buckets<Shape, Value, Offset>;
  constexpr int shared = int(sizeof(TileOfBuckets<Shape, Value>));
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "buckets");
  kernel<<<unsigned(ntiles), Shape::threads, shared, on.stream()>>>(of, cut, counting.first_row, places);
  check_launch("filling buckets");
  ++on.state()->waits;
  cuda_check(cudaEventSynchronize(on.state()->mark), "work on the device");  // while buckets are filled
  if (*largest > max_entries<Large>) return {};
  const auto sort =
      *largest <= max_entries<Small> ? sort_buckets<Small, Value, Offset> : sort_buckets<Large, Value, Offset>;
  sort(on, of, cut, places.starts);
  return bytes;
}

}  // namespace

template <class Value, class Offset>
std::optional<std::int64_t> transpose_by_buckets(const Cuda& on, const Transposing<Value, Offset>& of,
                                                 double crowding) {
  constexpr double filled = 0.96;               // of the room for a bucket, on average
  constexpr double hopeless = 1.5;              // times too many entries, by a sample, which may be wrong
  constexpr std::int64_t worth_a_block = 2048;  // entries: smaller buckets only where columns ask for them
  if (of.nnz == 0) return {};
  const int row_bits = std::bit_width(std::uint32_t(std::max(of.nrows, 2) - 1));
  const std::int64_t max_columns = std::min<std::int64_t>(max_width, std::int64_t(1) << (32 - row_bits)),
                     for_columns = (of.ncols + max_columns - 1) / max_columns;
  const auto buckets_for = [&](int entries) {
    return std::max(for_columns, std::int64_t(double(of.nnz) / (filled * entries)) + 1);
  };
  const std::int64_t many = buckets_for(max_entries<Large>),
                     wanted = std::max(buckets_for(max_entries<Small>), of.nnz / worth_a_block);
  const auto with = [&]<class Shape>(Shape) -> std::optional<std::int64_t> {
    const Cut cut(of.ncols, std::min<std::int64_t>(wanted, Shape::max_buckets));
    if (crowding * double(of.nnz) / cut.nbuckets > hopeless * max_entries<Large>) return {};
    return transpose_by<Shape>(on, of, cut);
  };
  return many <= Few::max_buckets ? with(Few{}) : many <= Many::max_buckets ? with(Many{}) : std::nullopt;
}

template std::optional<std::int64_t> transpose_by_buckets(const Cuda&, const Transposing<std::uint32_t, std::int32_t>&,
                                                          double);
template std::optional<std::int64_t> transpose_by_buckets(const Cuda&, const Transposing<std::uint32_t, std::int64_t>&,
                                                          double);
template std::optional<std::int64_t> transpose_by_buckets(const Cuda&, const Transposing<std::uint64_t, std::int32_t>&,
                                                          double);
template std::optional<std::int64_t> transpose_by_buckets(const Cuda&, const Transposing<std::uint64_t, std::int64_t>&,
                                                          double);

}  // namespace seidel::convert_detail
