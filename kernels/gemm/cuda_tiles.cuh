// Tiles of C on the GPU: a block walks along k with tiles of A and B in shared memory, which arrive while it computes.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include <seidel/formats/runtime/types.hpp>

namespace seidel::gemm_detail {

/// Which index of an operand is contiguous in memory: k, or the row of A (the column of B).
enum class Contiguous { k, other };

/// An operand as a kernel sees it: element (i, k) is at i * leading + k or at k * leading + i.
template <class Real>
struct Operand {
  const Real* data;
  std::int64_t leading;
  std::int64_t extent;  // i = 0 ... extent - 1
  Real pad;             // stands for terms beyond the end: 0 in A, -0 in B; their product is -0, which no sum feels
};

/// What a launch is made of. A warp computes warp_m x warp_n elements of a block's block_m x block_n.
template <int block_m_, int block_n_, int depth_, int warp_m_, int warp_n_, int stages_, int per_multiprocessor_>
struct Shape {
  static constexpr int block_m = block_m_, block_n = block_n_, depth = depth_, warp_m = warp_m_, warp_n = warp_n_,
                       stages = stages_, per_multiprocessor = per_multiprocessor_;
  static constexpr int warps_n = block_n / warp_n, threads = 32 * (block_m / warp_m) * warps_n;
};

/// Copies one element, or 16 bytes, into shared memory behind the thread's back.
template <int width, class Real>
__device__ void copy_async(Real* to, const Real* from) {
  constexpr int bytes = width * sizeof(Real);
#if __CUDA_ARCH__ >= 800
  const unsigned place = unsigned(__cvta_generic_to_shared(to));
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from));
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(bytes));
#else
  for (int e = 0; e < width; ++e) to[e] = from[e];
#endif
}
__device__ inline void end_of_stage() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;");
#endif
}
/// All but the newest `pending` stages have arrived.
template <int pending>
__device__ inline void wait_for_stages() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(pending));
#endif
}

/// `extent` x `depth` elements in shared memory, in the order of global memory. Lines are 4 elements longer than they
/// need be: then neither the fragments of a tensor core nor the squares of the other kernel meet in a bank.
template <class Real, int extent_, int depth_, Contiguous memory_,
          int line_ = (memory_ == Contiguous::k ? depth_ : extent_) + 4>
struct SharedTile {
  static constexpr int extent = extent_, depth = depth_, line = line_;
  static constexpr Contiguous memory = memory_;
  static constexpr int size = line * (memory == Contiguous::k ? extent : depth);
  __device__ static int at(int i, int k) { return memory == Contiguous::k ? i * line + k : k * line + i; }
};

/// Brings the tiles of an operand, one after the other along k, `width` elements at a time: one, or 16 bytes if lines begin at
/// multiples of that. What it holds is kept small: registers are what the kernel lacks first.
template <class Real, class Tile, int threads, int width>
class Fetcher {
 public:
  __device__ Fetcher(const Operand<Real>& from, std::int64_t first_i)
      : left_(int(min(from.extent - first_i, std::int64_t(Tile::extent)))) {
    const std::int64_t across = by_k ? first_i + my_line() : my_line();
    mine_ = from.data + across * from.leading + (by_k ? my_place() : first_i + my_place());
  }

  /// Begins to fetch the next tile into `tile`; `terms` of it are before the end of k.
  __device__ void next(const Operand<Real>& from, int terms, Real* tile) {
    if (left_ == Tile::extent && terms >= Tile::depth) {
      Real* to = tile + my_line() * Tile::line + my_place();
      const Real* element = mine_;
#pragma unroll
      for (int pass = 0; pass < passes; ++pass) {
#pragma unroll
        for (int e = 0; e < vector; e += width) copy_async<width>(to + e, element + e);
        to += lines_per_pass * Tile::line, element += lines_per_pass * from.leading;
      }
    } else {
      at_end(from, terms, tile);
    }
    mine_ += by_k ? Tile::depth : Tile::depth * from.leading;
  }

 private:
  static constexpr bool by_k = Tile::memory == Contiguous::k;
  static constexpr int vector = 16 / sizeof(Real), per_line = (by_k ? Tile::depth : Tile::extent) / vector,
                       lines_per_pass = threads / per_line,
                       passes = (by_k ? Tile::extent : Tile::depth) / lines_per_pass;
  static_assert(threads % per_line == 0 && passes * lines_per_pass == (by_k ? Tile::extent : Tile::depth));

  __device__ static int my_line() { return int(threadIdx.x) % threads / per_line; }
  __device__ static int my_place() { return int(threadIdx.x) % per_line * vector; }

  /// Element by element where an operand ends. What is past the end of lines is left as it is: no element of C that is stored
  /// depends on it.
  __device__ void at_end(const Operand<Real>& from, int terms, Real* tile) const {
    Real* to = tile + my_line() * Tile::line + my_place();
    const Real* element = mine_;
#pragma unroll 1
    for (int line = my_line(); line < passes * lines_per_pass; line += lines_per_pass) {
#pragma unroll
      for (int e = 0; e < vector; e += width)
        if ((by_k ? line < left_ : line < terms) && my_place() + e + width <= (by_k ? terms : left_))
          copy_async<width>(to + e, element + e);
        else
          by_element(from, line, e, terms, to, element);
      to += lines_per_pass * Tile::line, element += lines_per_pass * from.leading;
    }
  }
  __device__ void by_element(const Operand<Real>& from, int line, int first, int terms, Real* to,
                             const Real* element) const {
#pragma unroll
    for (int e = first; e < first + width; ++e) {
      const int i = by_k ? line : my_place() + e, k = by_k ? my_place() + e : line;
      if (k >= terms)
        to[e] = from.pad;
      else if (i < left_)
        copy_async<1>(to + e, element + e);
    }
  }

  const Real* mine_;  // of the next tile
  int left_;          // lines, or elements of a line, before the end of the operand
};

/// Brings the tiles of an operand whose terms are contiguous into tiles whose lines are, element by element: 8 terms of 4
/// lines, as a warp copies them, fill whole sectors of memory and meet in no bank.
template <class Real, class Tile, int threads>
class TurningFetcher {
 public:
  __device__ TurningFetcher(const Operand<Real>& from, std::int64_t first_i)
      : mine_(from.data + (first_i + my_line()) * from.leading + my_term()),
        left_(int(min(from.extent - first_i, std::int64_t(Tile::extent)))) {}

  __device__ void next(const Operand<Real>& from, int terms, Real* tile) {
    Real* const to = tile + Tile::at(my_line(), my_term());
    const Real* element = mine_;
    if (left_ == Tile::extent && terms >= Tile::depth) {
#pragma unroll
      for (int line = 0; line < Tile::extent; line += lines_per_pass, element += lines_per_pass * from.leading)
#pragma unroll
        for (int k = 0; k < Tile::depth; k += terms_per_pass) copy_async<1>(to + Tile::at(line, k), element + k);
    } else {
#pragma unroll 1
      for (int line = 0; line < Tile::extent; line += lines_per_pass, element += lines_per_pass * from.leading)
        for (int k = 0; k < Tile::depth; k += terms_per_pass)
          if (my_term() + k >= terms)
            to[Tile::at(line, k)] = from.pad;
          else if (my_line() + line < left_)
            copy_async<1>(to + Tile::at(line, k), element + k);
    }
    mine_ += Tile::depth;
  }

 private:
  static constexpr int terms_per_pass = 8, lines_per_pass = threads / terms_per_pass;
  static_assert(Tile::memory == Contiguous::other && Tile::extent % lines_per_pass == 0 &&
                Tile::depth % terms_per_pass == 0);
  __device__ static int my_line() { return int(threadIdx.x) % threads / terms_per_pass; }
  __device__ static int my_term() { return int(threadIdx.x) % terms_per_pass; }

  const Real* mine_;  // of the next tile
  int left_;          // lines before the end of the operand
};

/// The fetcher of an operand for tiles of one order.
template <class Real, class Tile, Contiguous of, int threads, int width>
using FetcherOf =
    std::conditional_t<of == Tile::memory, Fetcher<Real, Tile, threads, width>, TurningFetcher<Real, Tile, threads>>;

/// Where a tile, or the part of a warp, lies along one dimension of C, and which of its rows (columns) it stores. The last tile
/// moves back until it ends with C, so that no loop along k has to look for that end. What its neighbour stores, too, it
/// leaves out, unless C is not read: then both store the same bits. `shift`: tiles begin so many rows earlier.
struct Extent {
  std::int64_t begin;
  int first, end;  // of the rows, counted from begin
};
__device__ inline std::int64_t tile_begin(std::int64_t extent, std::int64_t index, int size, int shift = 0) {
  return max(min(index * size - shift, extent - size), std::int64_t(0));
}
__device__ inline Extent tile_extent(std::int64_t extent, std::int64_t index, int size, bool may_repeat,
                                     int shift = 0) {
  const std::int64_t begin = tile_begin(extent, index, size, shift);
  return {begin, may_repeat ? 0 : int(index * size - shift - begin), int(min(extent - begin, std::int64_t(size)))};
}
__device__ inline Extent warp_extent(const Extent& tile, int offset) {
  return {tile.begin + offset, tile.first - offset, tile.end - offset};
}
__device__ inline bool holds(const Extent& of, int place) { return of.first <= place && place < of.end; }
__device__ inline bool holds_all(const Extent& of, int size) { return of.first <= 0 && size <= of.end; }

/// A warp writes what it holds in `room`, lines of nrows x ncols elements, so that its lanes write neighbours. Row r of them is
/// row row_of(r) of the warp's part of C.
template <int nrows, int ncols, int line, class Real, class RowOf>
__device__ void store_lines(Real* C, std::int64_t leading, const Extent& rows, const Extent& columns, const Real* room,
                            const RowOf& row_of) {
  static_assert(nrows * ncols % 32 == 0);
#pragma unroll
  for (int first = 0; first < nrows * ncols; first += 32) {
    const int e = first + int(threadIdx.x) % 32, row = row_of(e / ncols), column = e % ncols;
    if (holds(rows, row) && holds(columns, column)) C[row * leading + column] = room[e / ncols * line + column];
  }
}

/// Blocks take tiles of C in groups of 8 rows of tiles, so that those at work share A and B in the cache.
struct TilePlace {
  unsigned m, n;
};
__device__ inline TilePlace tile_place(unsigned index, unsigned tiles_m, unsigned tiles_n) {
  constexpr unsigned group = 8;
  const unsigned first = index / (group * tiles_n) * group, rest = index % (group * tiles_n);
  const unsigned rows = min(tiles_m - first, group);
  return {first + rest % rows, rest / rows};
}

/// C = beta C + A B, C row-major. Math holds a thread's elements of C and adds stage after stage to them.
template <class Math, class ShapeOf, Contiguous of_a, Contiguous of_b, int width>
__global__ void __launch_bounds__(ShapeOf::threads, ShapeOf::per_multiprocessor)
    product_tile(const __grid_constant__ Operand<typename Math::Real> A,
                 const __grid_constant__ Operand<typename Math::Real> B, int K, typename Math::Real beta,
                 typename Math::Real* C, std::int64_t leading) {
  using Real = typename Math::Real;
  using S = ShapeOf;
  using TileA = SharedTile<Real, S::block_m, S::depth, Math::template order<of_a>>;
  using TileB = SharedTile<Real, S::block_n, S::depth, Math::template order<of_b>>;
  constexpr int stage_size = TileA::size + TileB::size;
  extern __shared__ __align__(16) unsigned char memory[];
  Real* const stages = reinterpret_cast<Real*>(memory);
  const auto next_stage = [stages](Real* stage) {
    return stage == stages + (S::stages - 1) * stage_size ? stages : stage + stage_size;
  };
  const TilePlace place = tile_place(blockIdx.x, unsigned((A.extent + S::block_m - 1) / S::block_m),
                                     unsigned((B.extent + S::block_n - 1) / S::block_n));
  FetcherOf<Real, TileA, of_a, S::threads, width> fetch_a(A, tile_begin(A.extent, place.m, S::block_m));
  FetcherOf<Real, TileB, of_b, S::threads, width> fetch_b(B, tile_begin(B.extent, place.n, S::block_n));
  int terms = K;                        // that are not fetched yet
  Real *now = stages, *later = stages;  // stages to compute with, and to fetch into
  const auto fetch = [&] {
    if (terms > 0) fetch_a.next(A, terms, later), fetch_b.next(B, terms, later + TileA::size);
    terms -= S::depth;
    later = next_stage(later);
    end_of_stage();
  };
#pragma unroll
  for (int stage = 0; stage < S::stages - 1; ++stage) fetch();

  const int warp = int(threadIdx.x) / 32;
  const int warp_m = warp / S::warps_n * S::warp_m, warp_n = warp % S::warps_n * S::warp_n;
  Math math;
  const auto rows = [&] { return warp_extent(tile_extent(A.extent, place.m, S::block_m, beta == 0), warp_m); };
  const auto columns = [&] { return warp_extent(tile_extent(B.extent, place.n, S::block_n, beta == 0), warp_n); };
  math.begin(beta, C, leading, rows(), columns());
  const Real *a = nullptr, *b = nullptr;  // of this warp
  const auto stage_is = [&](Real* stage) {
    now = stage;
    a = stage + TileA::at(warp_m, 0), b = stage + TileA::size + TileB::at(warp_n, 0);
  };
  const auto advance = [&] {  // all have loaded what they need of this stage, and the next one has arrived
    wait_for_stages<S::stages - 2>();
    __syncthreads();
    stage_is(next_stage(now));
  };
  stage_is(stages);
  wait_for_stages<S::stages - 2>();
  __syncthreads();
  math.template load_first<TileA, TileB>(a, b);
  for (int k = 0; k < K; k += S::depth) math.template add_stage<TileA, TileB>(a, b, advance, fetch);
  math.store(C, leading, rows(), columns(), stages);
}

template <class Math, class S, Contiguous of_a, Contiguous of_b>
constexpr int shared_bytes =
    S::stages*(SharedTile<typename Math::Real, S::block_m, S::depth, Math::template order<of_a>>::size +
               SharedTile<typename Math::Real, S::block_n, S::depth, Math::template order<of_b>>::size) *
    int(sizeof(typename Math::Real));

}  // namespace seidel::gemm_detail
