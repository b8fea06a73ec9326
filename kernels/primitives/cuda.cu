// Scans on the GPU in one pass over memory, by decoupled look-back: a block takes the next tile, tells those after it
// what its tile sums to, adds up what those before it have told, then tells the sum of all up to its own end.
#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/formats/runtime/cuda_warp.cuh>
#include <seidel/formats/runtime/scratch.hpp>
#include <seidel/kernels/primitives/scan.hpp>

namespace seidel::primitives_detail {

namespace {

using cuda::whole_warp;

// A thread holds four loads of four counts: enough bytes under way to fill the memory system, and few registers.
constexpr int warp = 32, warps = 8, vectors = 4, width = 4;
constexpr int tile_size = warps * warp * vectors * width;

/// What a tile has told: nothing yet, its own sum, or the sum of all tiles up to it. With the sum in one word, so that
/// who sees the one sees the other, and no fence is needed.
enum class Told : unsigned { nothing = 0, own_sum = 1, sum_so_far = 2 };
using Word = unsigned long long;
__device__ Word word_of(Told told, std::int64_t sum) { return Word(sum) << 2 | Word(told); }
__device__ Told told_by(Word word) { return Told(word & 3); }
__device__ std::int64_t sum_in(Word word) { return std::int64_t(word) >> 2; }  // with its sign

__device__ std::int64_t warp_sum(std::int64_t value) {
  for (int step = warp / 2; step > 0; step /= 2) value += __shfl_xor_sync(whole_warp, value, step);
  return value;
}

/// The sum of all tiles before `tile`, by one warp: 32 of them at a time, until one has told the sum of all up to it.
__device__ std::int64_t sum_before(const volatile Word* told, std::int64_t tile, int lane) {
  std::int64_t sum = 0;
  for (std::int64_t last = tile - 1;; last -= warp) {
    const std::int64_t mine = last - lane;
    Word word = word_of(Told::sum_so_far, 0);  // in front of the first tile
    do {
      if (mine >= 0) word = told[mine];
    } while (__any_sync(whole_warp, told_by(word) == Told::nothing));
    const unsigned whole = __ballot_sync(whole_warp, told_by(word) == Told::sum_so_far);
    const int nearest = whole ? __ffs(int(whole)) - 1 : warp - 1;
    sum += warp_sum(lane <= nearest ? sum_in(word) : 0);
    if (whole) return sum;
  }
}

struct Counts {
  std::int32_t of[width];
  __device__ std::int64_t sum() const { return std::int64_t(of[0]) + of[1] + of[2] + of[3]; }
};

/// counts[at] ... counts[at + 3]; zeros from n on.
__device__ Counts load(const std::int32_t* counts, std::int64_t at, std::int64_t n, bool aligned) {
  if (aligned && at + width <= n) {
    const int4 four = __ldcs(reinterpret_cast<const int4*>(counts + at));
    return {{four.x, four.y, four.z, four.w}};
  }
  Counts some;
  for (int k = 0; k < width; ++k) some.of[k] = at + k < n ? counts[at + k] : 0;
  return some;
}

__device__ void store_four(std::int32_t* to, const std::int64_t (&sums)[width]) {
  *reinterpret_cast<int4*>(to) = make_int4(int(sums[0]), int(sums[1]), int(sums[2]), int(sums[3]));
}
__device__ void store_four(std::int64_t* to, const std::int64_t (&sums)[width]) {
  reinterpret_cast<longlong2*>(to)[0] = make_longlong2(sums[0], sums[1]);
  reinterpret_cast<longlong2*>(to)[1] = make_longlong2(sums[2], sums[3]);
}

/// offsets[at] ... offsets[at + 3], of those below n; `sum` is the first.
template <class Offset>
__device__ void store(Offset* offsets, std::int64_t at, std::int64_t n, bool aligned, std::int64_t sum,
                      const Counts& counts) {
  std::int64_t sums[width];
  for (int k = 0; k < width; ++k) sums[k] = sum, sum += counts.of[k];
  if (aligned && at + width <= n) return store_four(offsets + at, sums);
  for (int k = 0; k < width; ++k)
    if (at + k < n) offsets[at + k] = Offset(sums[k]);
}

/// Tiles are taken in the order in which blocks begin, so that those awaited run already. told[t] is of tile t; the
/// word behind the last counts the tiles that were taken.
template <class Offset>
__global__ void __launch_bounds__(warps* warp)
    scan_tile(const std::int32_t* counts, Offset* offsets, std::int64_t n, bool aligned, Word* told, Word* taken) {
  __shared__ std::int64_t tile_shared, before_shared, sum_of_warp[warps];
  const int lane = threadIdx.x % warp, my_warp = threadIdx.x / warp;
  if (threadIdx.x == 0) tile_shared = std::int64_t(atomicAdd(taken, Word(1)));
  __syncthreads();
  const std::int64_t tile = tile_shared;
  const std::int64_t first = tile * tile_size + (my_warp * vectors * warp + lane) * width;
  Counts mine[vectors];
  for (int v = 0; v < vectors; ++v) mine[v] = load(counts, first + v * warp * width, n, aligned);
  std::int64_t before[vectors], sum = 0;  // of the warp's entries before each vector
  for (int v = 0; v < vectors; ++v) {
    const std::int64_t own = mine[v].sum(), up_to = cuda::warp_inclusive_sum(own);
    before[v] = sum + up_to - own;
    sum += __shfl_sync(whole_warp, up_to, warp - 1);
  }
  if (lane == 0) sum_of_warp[my_warp] = sum;
  __syncthreads();
  std::int64_t of_tile = 0, of_warps_before = 0;
  for (int w = 0; w < warps; ++w) {
    if (w < my_warp) of_warps_before += sum_of_warp[w];
    of_tile += sum_of_warp[w];
  }
  if (my_warp == 0) {
    volatile Word* const seen = told;
    if (lane == 0 && tile > 0) seen[tile] = word_of(Told::own_sum, of_tile);
    const std::int64_t of_tiles_before = tile > 0 ? sum_before(seen, tile, lane) : 0;
    if (lane == 0) {
      seen[tile] = word_of(Told::sum_so_far, of_tiles_before + of_tile);
      before_shared = of_tiles_before;
    }
  }
  __syncthreads();
  const std::int64_t start = before_shared + of_warps_before;
  for (int v = 0; v < vectors; ++v) store(offsets, first + v * warp * width, n, aligned, start + before[v], mine[v]);
}

template <class T>
bool is_aligned(const T* p, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes == 0;
}

}  // namespace

template <class Offset>
void exclusive_scan(const Cuda& on, DeviceSpan<const std::int32_t> counts, DeviceSpan<Offset> offsets) {
  const std::int64_t n = counts.size(), tiles = (n + tile_size - 1) / tile_size;
  if (n == 0) return;
  Scratch<Cuda> scratch(on);
  const auto told = scratch.take<Word>(tiles + 1);
  cuda_check(cudaMemsetAsync(told.data(), 0, std::size_t(told.size()) * sizeof(Word), on.stream()), "a scan");
  const bool aligned = is_aligned(counts.data(), sizeof(int4)) && is_aligned(offsets.data(), sizeof(int4));
  scan_tile<<<unsigned(tiles), warps * warp, 0, on.stream()>>>(counts.data(), offsets.data(), n, aligned, told.data(),
                                                               told.data() + tiles);
  check_launch("a scan");
}

template void exclusive_scan(const Cuda&, DeviceSpan<const std::int32_t>, DeviceSpan<std::int32_t>);
template void exclusive_scan(const Cuda&, DeviceSpan<const std::int32_t>, DeviceSpan<std::int64_t>);

}  // namespace seidel::primitives_detail
