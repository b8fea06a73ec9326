// A radix sort that carries rows and values along, by digits of the column, the lowest first. Each pass counts the digits
// of tiles, adds the counts up to places, and lets each tile write its entries in the order of their digits, so that
// neighbours go to neighbouring places. Between passes an entry is one record: what a tile writes to a digit is then one
// piece of memory, where three arrays would make three pieces.
#include <cuda_pipeline.h>

#include <seidel/formats/convert/cuda_digits.cuh>
#include <seidel/formats/convert/cuda_distribution.hpp>
#include <seidel/formats/convert/cuda_rank.cuh>
#include <seidel/formats/convert/cuda_rows.cuh>
#include <seidel/formats/runtime/scratch.hpp>

namespace seidel::convert_detail {

namespace {

using namespace seidel::cuda;

constexpr int few_bits = 8, many_bits = 10;

/// Two passes of 10 bits take less time than three of 8, three of 8 less than three of 10.
struct Passes {
  int n, bits;
};
Passes passes_for(Index ncols) {
  const int width = int(std::bit_width(std::uint32_t(std::max(ncols, 2) - 1)));
  const int n = (width + many_bits - 1) / many_bits;
  return {n, width <= few_bits * n ? few_bits : many_bits};
}

/// An entry between two passes: its row, its column, the bits of its value.
using Record = uint4;

enum class Input { matrix, records };

/// What is sorted: A's entries in the first pass, records in the others.
template <class Value, class Offset>
struct From {
  std::int64_t n;
  const Index* columns;
  const Value* values;     // null: the structure alone
  const Offset* row_ptr;   // of A; the first entry of stretch s is one of row first_row[s]
  const Index* first_row;  // and the last entry one of the last
  const Record* records;   // null in the first pass
};
/// Records; in the last pass rows and values, and counts[column] grows by its entries.
template <class Value, class Offset>
struct To {
  Record* records;  // null in the last pass
  Index* rows;
  Value* values;
  Offset* counts;
};

__device__ void add(std::int32_t* counter, int n) { atomicAdd(counter, n); }
__device__ void add(std::int64_t* counter, int n) {
  atomicAdd(reinterpret_cast<unsigned long long*>(counter), (unsigned long long)(std::int64_t(n)));
}

/// What a block holds of its tile: values as they come, then the others first as they come, later in order.
template <int bits, class Value, class Offset>
struct Tile {
  static constexpr int digits = 1 << bits;
  struct Ranking {
    std::uint16_t of_warp[warps][digits];  // entries of the digit in the warp, then the place of its next one
    RowsOfWarp<rounds> rows[warps];
  };
  struct Sorted {
    int2 entries[tile_size];          // row and column
    std::uint16_t source[tile_size];  // where the value is
  };
  Value values[tile_size];
  union {
    Ranking ranking;
    Sorted sorted;
  };
  Offset to_place[digits];  // where the digit goes, less where it begins in the tile
  int sums[warps + 1];
};

/// One pass. In the last one entries of a column stand side by side in the tile.
template <Input input, int bits, class Value, class Offset>
__global__ void __launch_bounds__(threads, 2)
    distribute(From<Value, Offset> from, To<Value, Offset> to, int shift, Places<Offset> places) {
  using Tile = Tile<bits, Value, Offset>;
  constexpr int digits = Tile::digits, pairs = digits / 2;  // of counters: one word
  static_assert(pairs <= threads);
  extern __shared__ __align__(16) unsigned char shared[];
  auto& s = *reinterpret_cast<Tile*>(shared);
  const int my_warp = threadIdx.x / warp_size;
  const std::int64_t tile = blockIdx.x, first = tile * tile_size;
  const int count = int(min(std::int64_t(tile_size), from.n - first));
  const int mine = my_warp * stretch + lane();  // and every 32nd after it: the order of a warp is that of places
  auto& of_warp = s.ranking.of_warp[my_warp];
  const auto counters = reinterpret_cast<unsigned*>(s.ranking.of_warp);  // two digits each

  int2 entries[rounds];
#pragma unroll
  for (int2& entry : entries) entry = {0, -1};  // what is missing in the last tile comes last
  if constexpr (input == Input::records) {
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
      const int at = mine + i * warp_size;
      if (at >= count) continue;
      const Record record = __ldcs(from.records + first + at);
      entries[i] = {int(record.x), int(record.y)};
      s.values[at] = Value(record.z | std::uint64_t(record.w) << 32);
    }
  } else {
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
      const int at = mine + i * warp_size;
      if (at >= count) continue;
      entries[i].y = __ldcs(from.columns + first + at);
      if (from.values) __pipeline_memcpy_async(s.values + at, from.values + first + at, sizeof(Value));
    }
  }
  __pipeline_commit();
  const int pair = threadIdx.x;
  Offset place[2] = {};
  if (pair < pairs) {
    const unsigned in_group = reinterpret_cast<const unsigned*>(places.in_group)[tile * pairs + pair];
    const Offset* const before_group = places.before_group + tile / tiles_per_group * digits + 2 * pair;
    place[0] = Offset(in_group & 0xffff) + before_group[0] + places.starts[2 * pair];
    place[1] = Offset(in_group >> 16) + before_group[1] + places.starts[2 * pair + 1];
  }
  for (int i = threadIdx.x; i < warps * pairs / 4; i += threads) reinterpret_cast<uint4*>(counters)[i] = {0, 0, 0, 0};
  if constexpr (input == Input::matrix) {
    const std::int64_t mine_first = tile * warps + my_warp, last = (from.n - 1) / stretch + 1;
    Index rows[rounds] = {};
    if (mine_first < last)
      find_rows(from.row_ptr, __ldg(from.first_row + mine_first), __ldg(from.first_row + mine_first + 1),
                first + my_warp * stretch, count - my_warp * stretch, s.ranking.rows[my_warp], rows);
#pragma unroll
    for (int i = 0; i < rounds; ++i) entries[i].x = rows[i];
  }
  __syncthreads();

  std::uint16_t rank[rounds];
  rank_in_warp<rounds>(
      of_warp, rounds, [&](int i) { return unsigned(digit_of<bits>(entries[i].y, shift)); },
      [&](int i, unsigned r) { rank[i] = std::uint16_t(r); });
  __syncthreads();
  counts_to_places<warps>(counters, pairs, s.sums, [&](int, int begin, int second) {
    s.to_place[2 * pair] = place[0] - Offset(begin);
    s.to_place[2 * pair + 1] = place[1] - Offset(second);
  });
  __syncthreads();
#pragma unroll
  for (int i = 0; i < rounds; ++i) rank[i] = std::uint16_t(rank[i] + of_warp[digit_of<bits>(entries[i].y, shift)]);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < rounds; ++i) {
    if (mine + i * warp_size >= count) continue;
    s.sorted.entries[rank[i]] = entries[i];
    s.sorted.source[rank[i]] = std::uint16_t(mine + i * warp_size);
  }
  __pipeline_wait_prior(0);
  __syncthreads();

  const auto place_of = [&](int at) { return s.to_place[digit_of<bits>(s.sorted.entries[at].y, shift)] + Offset(at); };
  if (to.records) {
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
      const int at = threadIdx.x + i * threads;
      if (at >= count) continue;
      const auto [row, column] = s.sorted.entries[at];
      const std::uint64_t value = s.values[s.sorted.source[at]];
      to.records[place_of(at)] = {unsigned(row), unsigned(column), unsigned(value), unsigned(value >> 32)};
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < rounds; ++i) {
    const int at = threadIdx.x + i * threads;
    if (at >= count) continue;
    const auto [row, column] = s.sorted.entries[at];
    const Offset k = place_of(at);
    to.rows[k] = row;
    if (to.values) to.values[k] = s.values[s.sorted.source[at]];
    const bool is_first = at == 0 || s.sorted.entries[at - 1].y != column;
    const bool is_last = at + 1 == count || s.sorted.entries[at + 1].y != column;
    if (is_first || is_last) add(to.counts + column, (is_last ? at + 1 : 0) - (is_first ? at : 0));
  }
}

template <int bits, class Value, class Offset>
void pass(const Cuda& on, const From<Value, Offset>& from, const To<Value, Offset>& to, int shift,
          const Places<Offset>& places) {
  if (from.records)
    find_places<bits>(on, reinterpret_cast<const Index*>(from.records) + 1, sizeof(Record) / sizeof(Index), from.n,
                      shift, places);
  else
    find_places<bits>(on, from.columns, 1, from.n, shift, places);
  const auto kernel =
      from.records ? distribute<Input::records, bits, Value, Offset> : distribute<Input::matrix, bits, Value, Offset>;
  constexpr int shared = int(sizeof(Tile<bits, Value, Offset>));
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "a distribution");
  kernel<<<unsigned(ntiles(from.n)), threads, shared, on.stream()>>>(from, to, shift, places);
  check_launch("distributing entries");
}

}  // namespace

template <class Value, class Offset>
std::int64_t transpose_by_distribution(const Cuda& on, const Transposing<Value, Offset>& of) {
  const std::int64_t n = of.nnz, nstretches = (n + stretch - 1) / stretch;
  const Span<Offset, Device> counts(of.to_ptr, of.ncols + std::int64_t(1));
  cuda_check(cudaMemsetAsync(of.to_ptr, 0, sizeof(Offset) * std::size_t(counts.size()), on.stream()),
             "clearing counts");
  if (n == 0) return 0;
  const Passes passes = passes_for(of.ncols);
  std::int64_t bytes = 0;
  Scratch<Cuda> scratch(on);
  const auto take = [&]<class T>(T*& p, std::int64_t size) {
    p = scratch.take<T>(size).data();
    bytes += size * std::int64_t(sizeof(T));
  };
  Record* between[2] = {};
  if (passes.n > 1) take(between[0], n);
  if (passes.n > 2) take(between[1], n);
  Index* first_row = nullptr;
  take(first_row, nstretches + 1);
  Places<Offset> places{};
  const std::int64_t digits = std::int64_t(1) << passes.bits;
  take(places.in_group, ntiles(n) * digits);
  take(places.before_group, ngroups(n) * digits);
  take(places.starts, digits);

  for_each(on, nstretches + 1, "finding rows of entries",
           [row_ptr = of.row_ptr, last = of.nrows - 1, n, first_row] __device__(std::int64_t s) {
             first_row[s] = row_of(row_ptr, Index(0), last, min(s * stretch, n - 1));
           });
  From<Value, Offset> from{.n = n,
                           .columns = of.col_idx,
                           .values = of.values,
                           .row_ptr = of.row_ptr,
                           .first_row = first_row,
                           .records = nullptr};
  for (int p = 0; p < passes.n; ++p) {
    const bool is_last = p + 1 == passes.n;
    const To<Value, Offset> to{
        .records = is_last ? nullptr : between[p % 2], .rows = of.to_idx, .values = of.to_values, .counts = of.to_ptr};
    const auto go = passes.bits == few_bits ? pass<few_bits, Value, Offset> : pass<many_bits, Value, Offset>;
    go(on, from, to, p * passes.bits, places);
    from.records = to.records;
  }
  exclusive_sum(on, counts);
  return bytes;
}

template std::int64_t transpose_by_distribution(const Cuda&, const Transposing<std::uint32_t, std::int32_t>&);
template std::int64_t transpose_by_distribution(const Cuda&, const Transposing<std::uint32_t, std::int64_t>&);
template std::int64_t transpose_by_distribution(const Cuda&, const Transposing<std::uint64_t, std::int32_t>&);
template std::int64_t transpose_by_distribution(const Cuda&, const Transposing<std::uint64_t, std::int64_t>&);

}  // namespace seidel::convert_detail
