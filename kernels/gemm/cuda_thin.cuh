// Products of few terms: what takes longest is to write C, so one half of a block writes while the other one computes.
#pragma once
#include <seidel/kernels/gemm/cuda_tiles.cuh>

namespace seidel::gemm_detail {

/// A block keeps its rows of A, with all terms, in shared memory. Each of its groups of 4 warps streams tiles of B past them and
/// writes a tile of C after the other; nothing but the exchange of the rows of A makes the groups wait for each other.
/// Source  the alternation of groups of warps ("ping-pong") is that of NVIDIA's CUTLASS.
struct Thin {
  static constexpr int max_terms = 160, groups = 2, group_threads = 128, threads = groups * group_threads;
  using S = Shape<128, 64, 16, 64, 32, 3, 1>;  // of a group

  template <Contiguous of_a>
  using PanelA = SharedTile<double, S::block_m, max_terms, of_a>;
  template <Contiguous of_b>
  using TileB = SharedTile<double, S::block_n, S::depth, of_b>;
  template <Contiguous of_a, Contiguous of_b>
  static constexpr int shared_bytes = (PanelA<of_a>::size + groups * S::stages * TileB<of_b>::size) * 8;
};

/// Begins to fetch `terms` terms of the lines from first_i on, by all threads of the block; up to the next multiple of
/// `depth` terms are padded.
template <class Tile, int depth>
__device__ void fetch_panel(const Operand<double>& from, std::int64_t first_i, int terms, double* panel) {
  constexpr bool by_k = Tile::memory == Contiguous::k;
  const int padded = (terms + depth - 1) / depth * depth,
            left = int(min(from.extent - first_i, std::int64_t(Tile::extent)));
  const int ends = by_k ? terms : left, lines = by_k ? left : terms;
  const int per_line = (by_k ? padded : Tile::extent) / 2, all = per_line * (by_k ? Tile::extent : padded);
  const double* const data = from.data + (by_k ? first_i * from.leading : first_i);
  for (int vector = int(threadIdx.x); vector < all; vector += Thin::threads) {
    const int line = vector / per_line, place = vector % per_line * 2;
    double* const to = panel + line * Tile::line + place;
    const double* const element = data + line * from.leading + place;
    if (line < lines && place + 2 <= ends)
      copy_async(to, element);
    else
      for (int e = 0; e < 2; ++e) to[e] = line < lines && place + e < ends ? element[e] : from.pad;
  }
  end_of_stage();
}

/// The threads of one group wait for each other.
__device__ inline void wait_for_group(int group) {
  asm volatile("bar.sync %0, %1;" ::"r"(1 + group), "n"(Thin::group_threads) : "memory");
}

/// C = beta C + A B, C row-major, K at most Thin::max_terms. Blocks share the tiles of C out evenly, row after row.
template <class Math, Contiguous of_a, Contiguous of_b>
__global__ void __launch_bounds__(Thin::threads, 1)
    product_thin(const __grid_constant__ Operand<double> A, const __grid_constant__ Operand<double> B, int K,
                 double beta, double* C, std::int64_t leading) {
  using S = Thin::S;
  using PanelA = Thin::PanelA<of_a>;
  using TileB = Thin::TileB<of_b>;
  extern __shared__ __align__(16) unsigned char memory[];
  double* const panel = reinterpret_cast<double*>(memory);
  const int group = int(threadIdx.x) / Thin::group_threads;
  double *const ring = panel + PanelA::size + group * S::stages * TileB::size, *const last_stage =
                                                                                   ring + (S::stages - 1) * TileB::size;
  const unsigned tiles_n = unsigned((B.extent + S::block_n - 1) / S::block_n);
  const std::uint64_t tiles = (A.extent + S::block_m - 1) / S::block_m * tiles_n;
  const unsigned last = unsigned(tiles * (blockIdx.x + 1) / gridDim.x),
                 first = unsigned(tiles * blockIdx.x / gridDim.x);

  unsigned fetched = first + group;  // the tile of C that B is fetched for
  int terms = K;                     // of it that are not fetched yet
  double* later = ring;
  const auto make_fetcher = [&] {
    return Fetcher<double, TileB, Thin::group_threads>(B, std::int64_t(fetched % tiles_n) * S::block_n);
  };
  auto fetcher = make_fetcher();
  const auto fetch = [&] {
    if (fetched < last) {
      fetcher.next(B, terms, later);
      terms -= S::depth;
      if (terms <= 0) {
        terms = K, fetched += Thin::groups;
        fetcher = make_fetcher();
      }
    }
    later = later == last_stage ? ring : later + TileB::size;
    end_of_stage();
  };
#pragma unroll
  for (int stage = 0; stage < S::stages - 1; ++stage) fetch();

  const int warp = int(threadIdx.x) % Thin::group_threads / 32;
  const int warp_m = warp / S::warps_n * S::warp_m, warp_n = warp % S::warps_n * S::warp_n;
  const double *const first_a = panel + PanelA::at(warp_m, 0), *const last_b = last_stage + TileB::at(warp_n, 0);
  const double *a = first_a, *b = ring + TileB::at(warp_n, 0);
  Math math;
  unsigned tile = first + group;
  for (unsigned m = first / tiles_n; m * tiles_n < last; ++m) {
    const std::int64_t row = std::int64_t(m) * S::block_m;
    __syncthreads();
    fetch_panel<PanelA, S::depth>(A, row, K, panel);
    wait_for_stages<0>();
    __syncthreads();
    math.template load_first<PanelA, TileB>(first_a, b);
    for (; tile < last && tile / tiles_n == m; tile += Thin::groups) {
      const std::int64_t i = row + warp_m, j = std::int64_t(tile % tiles_n) * S::block_n + warp_n;
      double* const c = C + i * leading + j;
      math.begin(beta, c, leading, A.extent - i, B.extent - j);
      a = first_a;
      for (int k = 0; k < K; k += S::depth) {
        const auto advance = [&] {
          wait_for_stages<S::stages - 2>();
          wait_for_group(group);
          b = b == last_b ? b - (S::stages - 1) * TileB::size : b + TileB::size;
          a = k + S::depth < K ? a + PanelA::at(0, S::depth) : first_a;
        };
        math.template add_stage<PanelA, TileB>(a, b, advance, fetch);
      }
      math.store(c, leading, A.extent - i, B.extent - j);
    }
  }
  wait_for_stages<0>();
}

}  // namespace seidel::gemm_detail
