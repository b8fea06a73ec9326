// A radix sort that carries rows and values along. Each digit costs one pass over memory: a block takes the next tile,
// ranks its entries by digit while they travel to shared memory, learns from the tiles before it where its own begin (by
// decoupled look-back, one thread for each digit), and writes them in order, so that neighbours go to neighbouring places.
#include <cuda_pipeline.h>

#include <seidel/formats/convert/cuda_distribution.hpp>
#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/formats/runtime/cuda_warp.cuh>
#include <seidel/formats/runtime/scratch.hpp>

namespace seidel::convert_detail {

namespace {

using namespace seidel::cuda;

constexpr int warp = 32, threads = 512, warps = threads / warp;
constexpr int rounds = 8, tile_size = threads * rounds;  // two tiles per multiprocessor, 64 KB under way for each
constexpr int min_bits = 6, max_bits = 8, digits = 1 << max_bits;
constexpr int max_passes = 4;
static_assert(digits <= threads);

/// Digits of a column, the lowest first.
struct Passes {
  int n = 0;
  int shift[max_passes] = {}, bits[max_passes] = {};
};

Passes passes_for(Index ncols) {
  const int width = int(std::bit_width(std::uint32_t(std::max(ncols, 2) - 1)));
  Passes passes;
  passes.n = (width + max_bits - 1) / max_bits;
  for (int p = 0, shift = 0; p < passes.n; ++p) {
    passes.shift[p] = shift;
    passes.bits[p] = std::max(min_bits, (width - shift + passes.n - p - 1) / (passes.n - p));
    shift += passes.bits[p];
  }
  return passes;
}

__device__ unsigned digit_of(Index column, int shift, int bits) {
  return unsigned(column) >> shift & ((1u << bits) - 1);
}

/// counts[pass * digits + digit] += the columns with this digit.
__global__ void __launch_bounds__(threads)
    count_digits(const Index* columns, std::int64_t n, Passes passes, unsigned long long* counts) {
  __shared__ unsigned mine[max_passes * digits];
  for (int i = threadIdx.x; i < max_passes * digits; i += threads) mine[i] = 0;
  __syncthreads();
  const std::int64_t step = std::int64_t(gridDim.x) * threads;
  for (std::int64_t k = std::int64_t(blockIdx.x) * threads + threadIdx.x; k < n; k += step) {
    const Index column = columns[k];
    for (int p = 0; p < passes.n; ++p)
      atomicAdd(&mine[p * digits + digit_of(column, passes.shift[p], passes.bits[p])], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < passes.n * digits; i += threads)
    if (mine[i]) atomicAdd(&counts[i], (unsigned long long)(mine[i]));
}

/// The inclusive sum over the threads of a block.
__device__ std::int64_t block_inclusive_sum(std::int64_t value, std::int64_t* of_warp) {
  const int lane = threadIdx.x % warp, my_warp = threadIdx.x / warp;
  for (int step = 1; step < warp; step *= 2) {
    const std::int64_t before = __shfl_up_sync(whole_warp, value, step);
    if (lane >= step) value += before;
  }
  if (lane == warp - 1) of_warp[my_warp] = value;
  __syncthreads();
  for (int w = 0; w < my_warp; ++w) value += of_warp[w];
  __syncthreads();
  return value;
}

/// Counts become the places where digits begin. A block for each pass.
__global__ void __launch_bounds__(digits) find_starts(unsigned long long* counts) {
  __shared__ std::int64_t of_warp[warps];
  unsigned long long& mine = counts[blockIdx.x * digits + threadIdx.x];
  const auto own = std::int64_t(mine);
  mine = (unsigned long long)(block_inclusive_sum(own, of_warp) - own);
}

/// rows[k] is the row of entry k, by `group` threads per row.
template <class Offset>
__global__ void expand_rows(const Offset* row_ptr, Index nrows, int group, Index* rows) {
  const std::int64_t thread = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x, row = thread / group;
  if (row >= nrows) return;
  const Offset end = row_ptr[row + 1];
  for (Offset k = row_ptr[row] + Offset(thread % group); k < end; k += group) rows[k] = Index(row);
}

template <class Value>
struct From {
  const Index *columns, *rows;
  const Value* values;
};
template <class Value>
struct To {
  Index *columns, *rows;  // no columns: the last pass
  Value* values;
};

/// What a tile has told of a digit: nothing yet, how many entries of its own, or how many up to its end. With the
/// number in one word, so that who sees the one sees the other.
enum class Told : unsigned { nothing = 0, own = 1, so_far = 2 };
using Word = unsigned long long;
__device__ Word word_of(Told told, std::int64_t n) { return Word(n) << 2 | Word(told); }

/// Entries of the digit in all tiles before `tile`. Several words are asked for at once: each takes its time.
__device__ std::int64_t count_before(const volatile Word* told, std::int64_t tile, unsigned digit) {
  constexpr int ahead = 8;
  std::int64_t sum = 0;
  for (std::int64_t t = tile - 1; t >= 0;) {
    Word words[ahead];
#pragma unroll
    for (int i = 0; i < ahead; ++i) words[i] = t - i >= 0 ? told[(t - i) * digits + digit] : word_of(Told::so_far, 0);
#pragma unroll
    for (int i = 0; i < ahead; ++i) {
      if (Told(words[i] & 3) == Told::nothing) break;
      sum += std::int64_t(words[i] >> 2);
      if (Told(words[i] & 3) == Told::so_far) return sum;
      --t;
    }
  }
  return sum;
}

/// The lanes whose digit is this lane's, among those that have an entry.
template <int bits>
__device__ unsigned lanes_alike(unsigned digit, bool valid) {
  unsigned alike = __ballot_sync(whole_warp, valid);
#pragma unroll
  for (int b = 0; b < bits; ++b) {
    const bool one = digit >> b & 1;
    const unsigned ones = __ballot_sync(whole_warp, one);
    alike &= one ? ones : ~ones;
  }
  return alike;
}

__device__ void add(std::int32_t* counter, int n) { atomicAdd(counter, n); }
__device__ void add(std::int64_t* counter, int n) {
  atomicAdd(reinterpret_cast<unsigned long long*>(counter), (unsigned long long)(std::int64_t(n)));
}

/// What a block holds of its tile.
template <class Value, class Offset>
struct Tile {
  Value values[tile_size];
  Index columns[tile_size], rows[tile_size];
  unsigned short source[tile_size];       // of the entry at each place of the sorted tile
  unsigned short of_warp[warps][digits];  // entries of the digit in the warp, then in the warps before it
  unsigned short begin[digits];           // of the digit in the sorted tile
  Offset to_place[digits];                // where the digit goes, less where it begins in the tile
  std::int64_t sums[warps];
  unsigned number;
};

/// One pass. starts[d]: where digit d begins in the result; taken counts the tiles given out. In the last pass entries
/// of a column stand side by side in the tile, and counts[column] grows by their number.
template <int bits, class Value, class Offset>
__global__ void __launch_bounds__(threads, 2)
    distribute(From<Value> from, To<Value> to, std::int64_t n, int shift, const Word* starts, Word* told,
               unsigned* taken, Offset* counts) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto& s = *reinterpret_cast<Tile<Value, Offset>*>(shared);
  const int lane = threadIdx.x % warp, my_warp = threadIdx.x / warp;
  if (threadIdx.x == 0) s.number = atomicAdd(taken, 1u);
  for (int i = threadIdx.x; i < warps * digits / 2; i += threads) reinterpret_cast<unsigned*>(s.of_warp)[i] = 0;
  __syncthreads();
  const std::int64_t tile = s.number, first = tile * tile_size;
  const int count = int(min(std::int64_t(tile_size), n - first));
  const int mine = my_warp * rounds * warp + lane;  // and every 32nd after it: the order of a warp is that of places

  Index column[rounds];
#pragma unroll
  for (int i = 0; i < rounds; ++i) {
    const int at = mine + i * warp;
    column[i] = at < count ? __ldcs(from.columns + first + at) : 0;
    if (at >= count) continue;
    __pipeline_memcpy_async(s.rows + at, from.rows + first + at, sizeof(Index));
    if (from.values) __pipeline_memcpy_async(s.values + at, from.values + first + at, sizeof(Value));
  }
  __pipeline_commit();
  unsigned short rank[rounds];  // of the entry among those of its digit in its warp
#pragma unroll
  for (int i = 0; i < rounds; ++i) {
    const bool valid = mine + i * warp < count;
    const unsigned digit = digit_of(column[i], shift, bits), alike = lanes_alike<bits>(digit, valid);
    const unsigned before = s.of_warp[my_warp][digit];
    __syncwarp();
    if (valid && lane == __ffs(int(alike)) - 1) s.of_warp[my_warp][digit] = (unsigned short)(before + __popc(alike));
    __syncwarp();
    rank[i] = (unsigned short)(before + __popc(alike & ((1u << lane) - 1)));
    s.columns[mine + i * warp] = column[i];
  }
  __syncthreads();

  const unsigned digit = threadIdx.x;
  volatile Word* const seen = told;
  int own = 0;
  if (digit < digits) {
    for (int w = 0; w < warps; ++w) {
      const int of_this = s.of_warp[w][digit];
      s.of_warp[w][digit] = (unsigned short)own;
      own += of_this;
    }
    seen[tile * digits + digit] = word_of(tile > 0 ? Told::own : Told::so_far, own);
  }
  const auto in_tile = int(block_inclusive_sum(own, s.sums)) - own;
  if (digit < digits) s.begin[digit] = (unsigned short)in_tile;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < rounds; ++i) {
    const unsigned d = digit_of(column[i], shift, bits);
    if (mine + i * warp < count)
      s.source[rank[i] + s.begin[d] + s.of_warp[my_warp][d]] = (unsigned short)(mine + i * warp);
  }
  if (digit < digits) {
    const std::int64_t before = count_before(seen, tile, digit);
    if (tile > 0) seen[tile * digits + digit] = word_of(Told::so_far, before + own);
    s.to_place[digit] = Offset(std::int64_t(starts[digit]) + before - in_tile);
  }
  __pipeline_wait_prior(0);
  __syncthreads();

#pragma unroll
  for (int i = 0; i < rounds; ++i) {
    const int at = threadIdx.x + i * threads;
    if (at >= count) continue;
    const int source = s.source[at];
    const Index c = s.columns[source];
    const Offset place = s.to_place[digit_of(c, shift, bits)] + Offset(at);
    to.rows[place] = s.rows[source];
    if (from.values) to.values[place] = s.values[source];
    if (to.columns) {
      to.columns[place] = c;
    } else {
      const bool is_first = at == 0 || s.columns[s.source[at - 1]] != c;
      const bool is_last = at + 1 == count || s.columns[s.source[at + 1]] != c;
      if (is_first || is_last) add(counts + c, (is_last ? at + 1 : 0) - (is_first ? at : 0));
    }
  }
}

/// The kernel for digits of so many bits: what ranks them is unrolled.
template <class Value, class Offset>
auto kernel_for(int bits) {
  return bits == 6   ? distribute<6, Value, Offset>
         : bits == 7 ? distribute<7, Value, Offset>
                     : distribute<8, Value, Offset>;
}

}  // namespace

template <class Value, class Offset>
std::int64_t transpose_by_distribution(const Cuda& on, const Transposing<Value, Offset>& of) {
  const std::int64_t n = of.nnz, ntiles = (n + tile_size - 1) / tile_size;
  const Span<Offset, Device> counts(of.to_ptr, of.ncols + std::int64_t(1));
  const auto clear = [&](void* p, std::int64_t bytes) {
    cuda_check(cudaMemsetAsync(p, 0, std::size_t(bytes), on.stream()), "clearing counters");
  };
  clear(counts.data(), counts.size() * std::int64_t(sizeof(Offset)));
  if (n == 0) return 0;
  const Passes passes = passes_for(of.ncols);
  std::int64_t bytes = 0;
  Scratch<Cuda> scratch(on);
  const auto take = [&]<class T>(T*& p, std::int64_t size) {
    p = scratch.take<T>(size).data();
    bytes += size * std::int64_t(sizeof(T));
  };
  // The result serves as memory between passes, too: the last pass but one writes to `between`, the one before it to
  // the result, and so on.
  To<Value> between{}, result{nullptr, of.to_idx, of.to_values};
  Index* rows = nullptr;  // of A's entries: where the first pass does not write
  if (passes.n > 1) {
    take(between.columns, n), take(between.rows, n);
    if (of.values) take(between.values, n);
  }
  if (passes.n > 2) take(result.columns, n);
  const bool first_to_result = passes.n % 2 == 1;
  if (passes.n == 1)
    take(rows, n);
  else
    rows = first_to_result ? between.rows : result.rows;
  Word *starts = nullptr, *told = nullptr;
  unsigned* taken = nullptr;
  take(starts, max_passes * digits), take(told, ntiles * digits), take(taken, max_passes);
  clear(starts, max_passes * digits * std::int64_t(sizeof(Word))),
      clear(taken, max_passes * std::int64_t(sizeof(*taken)));

  const auto blocks = unsigned(std::min<std::int64_t>((n + tile_size - 1) / tile_size, 8 * on.multiprocessors()));
  count_digits<<<blocks, threads, 0, on.stream()>>>(of.col_idx, n, passes, starts);
  check_launch("counting digits");
  find_starts<<<unsigned(passes.n), digits, 0, on.stream()>>>(starts);
  check_launch("finding where digits begin");
  const int group = n > 24 * std::int64_t(of.nrows) ? 32 : n > 6 * std::int64_t(of.nrows) ? 8 : 2;
  expand_rows<<<blocks_for(std::int64_t(of.nrows) * group, threads), threads, 0, on.stream()>>>(of.row_ptr, of.nrows,
                                                                                                group, rows);
  check_launch("expanding rows");
  From<Value> from{of.col_idx, rows, of.values};
  for (int p = 0; p < passes.n; ++p) {
    const bool is_last = p + 1 == passes.n;
    To<Value> to = (passes.n - p) % 2 == 1 ? result : between;
    if (is_last) to.columns = nullptr;
    clear(told, ntiles * digits * std::int64_t(sizeof(Word)));
    const auto kernel = kernel_for<Value, Offset>(passes.bits[p]);
    constexpr int shared = int(sizeof(Tile<Value, Offset>));
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "a distribution");
    kernel<<<unsigned(ntiles), threads, shared, on.stream()>>>(from, to, n, passes.shift[p], starts + p * digits, told,
                                                               taken + p, of.to_ptr);
    check_launch("distributing entries");
    from = {to.columns, to.rows, to.values};
  }
  exclusive_sum(on, counts);
  return bytes;
}

template std::int64_t transpose_by_distribution(const Cuda&, const Transposing<std::uint32_t, std::int32_t>&);
template std::int64_t transpose_by_distribution(const Cuda&, const Transposing<std::uint32_t, std::int64_t>&);
template std::int64_t transpose_by_distribution(const Cuda&, const Transposing<std::uint64_t, std::int32_t>&);
template std::int64_t transpose_by_distribution(const Cuda&, const Transposing<std::uint64_t, std::int64_t>&);

}  // namespace seidel::convert_detail
