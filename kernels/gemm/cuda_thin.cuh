// Products of few terms: what takes longest is to write C, so some warps of a block compute while others write.
#pragma once
#include <seidel/kernels/gemm/cuda_tiles.cuh>

namespace seidel::gemm_detail {

/// A block keeps its rows of A, with all terms, in shared memory. Each of its groups of warps streams tiles of B past them and
/// computes a tile of C after the other; nothing but the exchange of the rows of A makes the groups wait for each other.
/// Source  the alternation of groups of warps ("ping-pong") is that of NVIDIA's CUTLASS.
template <class Math_, class ShapeOfGroup, int groups_, int max_terms_>
struct Thin {
  using Math = Math_;
  using Real = typename Math::Real;
  using S = ShapeOfGroup;
  static constexpr int groups = groups_, max_terms = max_terms_, threads = groups * S::threads;

  template <Contiguous of_a>
  using PanelA = SharedTile<Real, S::block_m, max_terms, Math::template order<of_a>>;
  template <Contiguous of_a>
  using StageA = SharedTile<Real, S::block_m, S::depth, Math::template order<of_a>, PanelA<of_a>::line>;
  template <Contiguous of_b>
  using TileB = SharedTile<Real, S::block_n, S::depth, Math::template order<of_b>>;
  template <Contiguous of_a, Contiguous of_b>
  static constexpr int shared_bytes = (PanelA<of_a>::size + groups * S::stages * TileB<of_b>::size) * int(sizeof(Real));
};

/// The threads of one group wait for each other.
template <int threads>
__device__ inline void wait_for_group(int group) {
  asm volatile("bar.sync %0, %1;" ::"r"(1 + group), "n"(threads) : "memory");
}

/// C = beta C + A B, C row-major, K at most T::max_terms. Blocks share the tiles of C out evenly, row after row.
template <class T, Contiguous of_a, Contiguous of_b, int width>
__global__ void __launch_bounds__(T::threads, 1)
    product_thin(const __grid_constant__ Operand<typename T::Real> A,
                 const __grid_constant__ Operand<typename T::Real> B, int K, typename T::Real beta, typename T::Real* C,
                 std::int64_t leading) {
  using Real = typename T::Real;
  using S = typename T::S;
  using StageA = typename T::template StageA<of_a>;
  using TileB = typename T::template TileB<of_b>;
  extern __shared__ __align__(16) unsigned char memory[];
  Real* const panel = reinterpret_cast<Real*>(memory);
  const int group = int(threadIdx.x) / S::threads, warp = int(threadIdx.x) / 32;
  Real* const ring = panel + T::template PanelA<of_a>::size + group * S::stages * TileB::size;
  Real* const last_stage = ring + (S::stages - 1) * TileB::size;
  const unsigned tiles_n = unsigned((B.extent + S::block_n - 1) / S::block_n);
  const std::uint64_t tiles = (A.extent + S::block_m - 1) / S::block_m * tiles_n;
  const unsigned last = unsigned(tiles * (blockIdx.x + 1) / gridDim.x),
                 first = unsigned(tiles * blockIdx.x / gridDim.x);

  unsigned fetched = first + group;  // the tile of C that B is fetched for
  int terms = K;                     // of it that are not fetched yet
  Real* later = ring;
  const auto make_fetcher = [&] {
    return FetcherOf<Real, TileB, of_b, S::threads, width>(B, tile_begin(B.extent, fetched % tiles_n, S::block_n));
  };
  auto fetcher = make_fetcher();
  const auto fetch = [&] {
    if (fetched < last) {
      fetcher.next(B, terms, later);
      terms -= S::depth;
      if (terms <= 0) {
        terms = K, fetched += T::groups;
        fetcher = make_fetcher();
      }
    }
    later = later == last_stage ? ring : later + TileB::size;
    end_of_stage();
  };
#pragma unroll
  for (int stage = 0; stage < S::stages - 1; ++stage) fetch();

  const int warp_m = warp % (S::threads / 32) / S::warps_n * S::warp_m, warp_n = warp % S::warps_n * S::warp_n;
  const Real *const first_a = panel + StageA::at(warp_m, 0), *const last_b = last_stage + TileB::at(warp_n, 0);
  const Real *a = first_a, *b = ring + TileB::at(warp_n, 0);
  typename T::Math math;
  unsigned tile = first + group;
  for (unsigned m = first / tiles_n; m * tiles_n < last; ++m) {
    const Extent rows = tile_extent(A.extent, m, S::block_m, beta == 0);
    __syncthreads();
    if (group == 0) {
      FetcherOf<Real, StageA, of_a, S::threads, width> fetch_a(A, rows.begin);
#pragma unroll 1
      for (int k = 0; k < K; k += S::depth) fetch_a.next(A, K - k, panel + StageA::at(0, k));
      end_of_stage();
    }
    wait_for_stages<0>();
    __syncthreads();
    math.template load_first<StageA, TileB>(first_a, b);
    for (; tile < last && tile / tiles_n == m; tile += T::groups) {
      const auto columns = [&] {
        return warp_extent(tile_extent(B.extent, tile % tiles_n, S::block_n, beta == 0), warp_n);
      };
      math.begin(beta, C, leading, warp_extent(rows, warp_m), columns());
      a = first_a;
      for (int k = 0; k < K; k += S::depth) {
        const auto advance = [&] {
          wait_for_stages<S::stages - 2>();
          wait_for_group<S::threads>(group);
          b = b == last_b ? b - (S::stages - 1) * TileB::size : b + TileB::size;
          a = k + S::depth < K ? a + StageA::at(0, S::depth) : first_a;
        };
        math.template add_stage<StageA, TileB>(a, b, advance, fetch);
      }
      math.store(C, leading, warp_extent(rows, warp_m), columns());
    }
  }
  wait_for_stages<0>();
}

}  // namespace seidel::gemm_detail
