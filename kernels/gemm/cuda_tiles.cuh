// Tiles of C on the GPU: a block walks along k with tiles of A and B in shared memory, which arrive while it computes.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include <seidel/formats/runtime/types.hpp>

namespace seidel::gemm_detail {

/// Which index of an operand is contiguous in memory: k, or the row of A (the column of B).
enum class Contiguous { k, other };

/// An operand as a kernel sees it: element (i, k) is at i * leading + k or at k * leading + i. Lines begin at multiples of 16 bytes.
template <class Real>
struct Operand {
  const Real* data;
  std::int64_t leading;
  std::int64_t extent;  // i = 0 ... extent - 1
  Real scale;           // each element is multiplied by it where it is used
  Real pad;             // stands for elements beyond the end: a pad of A times one of B gives -0, which no sum feels
};

/// What a launch is made of. A warp computes warp_m x warp_n elements of a block's block_m x block_n.
template <int block_m_, int block_n_, int depth_, int warp_m_, int warp_n_, int stages_, int per_multiprocessor_>
struct Shape {
  static constexpr int block_m = block_m_, block_n = block_n_, depth = depth_, warp_m = warp_m_, warp_n = warp_n_,
                       stages = stages_, per_multiprocessor = per_multiprocessor_;
  static constexpr int warps_n = block_n / warp_n, threads = 32 * (block_m / warp_m) * warps_n;
};

/// Copies 16 bytes into shared memory behind the thread's back.
__device__ inline void copy_async(void* to, const void* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(unsigned(__cvta_generic_to_shared(to))), "l"(from));
#else
  *static_cast<int4*>(to) = *static_cast<const int4*>(from);
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

/// `extent` x `depth` elements in shared memory, in the order of global memory. Lines are 4 elements longer than they need be:
/// then neither the fragments of a tensor core nor the squares of the other kernel meet in a bank.
template <class Real, int extent_, int depth_, Contiguous memory_>
struct SharedTile {
  static constexpr int extent = extent_, depth = depth_;
  static constexpr Contiguous memory = memory_;
  static constexpr int line = (memory == Contiguous::k ? depth : extent) + 4;
  static constexpr int size = line * (memory == Contiguous::k ? extent : depth);
  __device__ static int at(int i, int k) { return memory == Contiguous::k ? i * line + k : k * line + i; }
};

/// Brings the tiles of an operand, one after the other along k.
template <class Real, class Tile, int threads>
class Fetcher {
 public:
  __device__ Fetcher(const Operand<Real>& from, std::int64_t first_i, std::int64_t K)
      : from_(from), K_(K), first_i_(first_i), whole_(first_i + Tile::extent <= from.extent) {
    const std::int64_t across = by_k ? first_i + my_line() : my_line();
    mine_ = from.data + across * from.leading + (by_k ? my_place() : first_i + my_place());
  }

  /// Begins to fetch the next tile into `tile`.
  __device__ void next(Real* tile) {
    if (whole_ && k_ + Tile::depth <= K_) {
      Real* to = tile + my_line() * Tile::line + my_place();
      const Real* element = mine_;
#pragma unroll
      for (int pass = 0; pass < passes; ++pass) {
        copy_async(to, element);
        to += lines_per_pass * Tile::line, element += lines_per_pass * from_.leading;
      }
    } else {
      at_edge(tile);
    }
    mine_ += by_k ? Tile::depth : Tile::depth * from_.leading;
    k_ += Tile::depth;
  }

 private:
  static constexpr bool by_k = Tile::memory == Contiguous::k;
  static constexpr int vector = 16 / sizeof(Real), per_line = (by_k ? Tile::depth : Tile::extent) / vector,
                       lines_per_pass = threads / per_line,
                       passes = (by_k ? Tile::extent : Tile::depth) / lines_per_pass;
  static_assert(threads % per_line == 0 && passes * lines_per_pass == (by_k ? Tile::extent : Tile::depth));

  __device__ static int my_line() { return int(threadIdx.x) / per_line; }
  __device__ static int my_place() { return int(threadIdx.x) % per_line * vector; }

  /// Vectors that reach over an end are copied by elements.
  __device__ void at_edge(Real* tile) const {
    const std::int64_t ends = by_k ? K_ - k_ : from_.extent - first_i_;  // of lines, counted from the tile's corner
    const std::int64_t lines = by_k ? from_.extent - first_i_ : K_ - k_;
#pragma unroll 1
    for (int pass = 0; pass < passes; ++pass) {
      const int line = my_line() + pass * lines_per_pass, place = my_place();
      Real* const to = tile + line * Tile::line + place;
      const Real* const element = mine_ + std::int64_t(pass) * lines_per_pass * from_.leading;
      if (line < lines && place + vector <= ends)
        copy_async(to, element);
      else
        for (int e = 0; e < vector; ++e) to[e] = line < lines && place + e < ends ? element[e] : from_.pad;
    }
  }

  const Operand<Real>& from_;
  const Real* mine_;  // of the next tile
  std::int64_t k_ = 0, K_, first_i_;
  bool whole_;
};

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

/// C = beta C + A B, C row-major. Math holds a thread's elements of C and adds the products of a tile to them.
template <class Math, class ShapeOf, Contiguous of_a, Contiguous of_b>
__global__ void __launch_bounds__(ShapeOf::threads, ShapeOf::per_multiprocessor)
    product_tile(const __grid_constant__ Operand<typename Math::Real> A,
                 const __grid_constant__ Operand<typename Math::Real> B, std::int64_t K, typename Math::Real beta,
                 typename Math::Real* C, std::int64_t leading) {
  using Real = typename Math::Real;
  using S = ShapeOf;
  using TileA = SharedTile<Real, S::block_m, S::depth, of_a>;
  using TileB = SharedTile<Real, S::block_n, S::depth, of_b>;
  constexpr int stage_size = TileA::size + TileB::size;
  extern __shared__ __align__(16) unsigned char memory[];
  Real* const stages = reinterpret_cast<Real*>(memory);
  const TilePlace place = tile_place(blockIdx.x, unsigned((A.extent + S::block_m - 1) / S::block_m),
                                     unsigned((B.extent + S::block_n - 1) / S::block_n));
  const std::int64_t first_m = std::int64_t(place.m) * S::block_m, first_n = std::int64_t(place.n) * S::block_n;
  Fetcher<Real, TileA, S::threads> a(A, first_m, K);
  Fetcher<Real, TileB, S::threads> b(B, first_n, K);
  const int tiles = int((K + S::depth - 1) / S::depth);
  const auto fetch = [&](int tile, int stage) {
    if (tile < tiles) {
      a.next(stages + stage * stage_size);
      b.next(stages + stage * stage_size + TileA::size);
    }
    end_of_stage();
  };
#pragma unroll
  for (int t = 0; t < S::stages - 1; ++t) fetch(t, t);
  Math math;
  const int warp = int(threadIdx.x) / 32;
  const int warp_m = warp / S::warps_n * S::warp_m, warp_n = warp % S::warps_n * S::warp_n;
  const std::int64_t rows = A.extent - first_m - warp_m, columns = B.extent - first_n - warp_n;
  Real* const c = C + (first_m + warp_m) * leading + first_n + warp_n;
  math.begin(beta, c, leading, rows, columns);
  const bool scaled = A.scale != 1 || B.scale != 1;
  int now = 0, later = S::stages - 1;  // stages
  for (int t = 0; t < tiles; ++t) {
    wait_for_stages<S::stages - 2>();
    __syncthreads();
    fetch(t + S::stages - 1, later);
    const Real *const of_this_a = stages + now * stage_size, *const of_this_b = of_this_a + TileA::size;
    if (scaled)  // the choice is made once per tile: within one it would keep loads from being issued ahead
      math.template add<TileA, TileB>(
          of_this_a, warp_m, of_this_b, warp_n, [&](Real x) { return A.scale * x; },
          [&](Real x) { return B.scale * x; });
    else
      math.template add<TileA, TileB>(
          of_this_a, warp_m, of_this_b, warp_n, [](Real x) { return x; }, [](Real x) { return x; });
    later = now, now = now + 1 == S::stages ? 0 : now + 1;
  }
  math.store(c, leading, rows, columns);
}

template <class Real, class S, Contiguous of_a, Contiguous of_b>
constexpr int shared_bytes =
    S::stages *
    (SharedTile<Real, S::block_m, S::depth, of_a>::size + SharedTile<Real, S::block_n, S::depth, of_b>::size) *
    int(sizeof(Real));

}  // namespace seidel::gemm_detail
