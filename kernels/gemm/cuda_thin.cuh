// Products of few terms: what takes longest is to write C, so each warp computes and writes without waiting for the others.
#pragma once
#include <algorithm>

#include <seidel/formats/dense.hpp>
#include <seidel/formats/runtime/backend.hpp>
#include <seidel/kernels/gemm/cuda_barrier.cuh>
#include <seidel/kernels/gemm/cuda_tiles.cuh>

namespace seidel::gemm_detail {

/// A block keeps a panel of rows of A, with all terms, in shared memory. Some of its threads fetch tiles of B, which stream past
/// the warps that compute; such a warp goes on to its next tile of C as soon as it has stored one, whatever the others do.
template <class Math_, class Shape_, int min_terms_, int max_terms_>
struct Thin {
  using Math = Math_;
  using Real = typename Math::Real;
  using S = Shape_;
  static constexpr int min_terms = min_terms_, max_terms = max_terms_, warps = S::threads / 32, fetchers = 128,
                       threads = S::threads + fetchers;

  template <Contiguous of_a>
  using PanelA = SharedTile<Real, S::block_m, max_terms, Math::template order<of_a>>;
  template <Contiguous of_a>
  using StageA = SharedTile<Real, S::block_m, S::depth, Math::template order<of_a>, PanelA<of_a>::line>;
  template <Contiguous of_b>
  using TileB = SharedTile<Real, S::block_n, S::depth, Math::template order<of_b>>;

  static constexpr int max_shared_bytes = 226 * 1024, room_size = warps * Math::room_size;
  /// As many tiles of B as there is room for, S::stages at the most.
  template <Contiguous of_a, Contiguous of_b>
  static constexpr int stages = std::min<int>(S::stages,
                                              (max_shared_bytes / int(sizeof(Real)) - PanelA<of_a>::size - room_size) /
                                                  TileB<of_b>::size);
  template <Contiguous of_a, Contiguous of_b>
  static constexpr int shared_bytes = (PanelA<of_a>::size + room_size + stages<of_a, of_b> * TileB<of_b>::size) *
                                      int(sizeof(Real));
};

/// The first `threads` threads of a block wait for each other.
template <int threads>
__device__ inline void wait_for_first() {
  asm volatile("bar.sync 1, %0;" ::"n"(threads) : "memory");
}

/// Rows of C that begin at the same place of a sector of memory (32 bytes), or of `bytes` where there would be too many classes:
/// every `count`-th row. A panel holds rows of one class only, and its tiles end where sectors do: one that is written in two parts
/// costs up to twice the time.
struct RowClasses {
  unsigned count;
  unsigned bytes;
};

/// C = beta C + A B, C row-major, K at most T::max_terms. Blocks share the tiles of C out evenly, panel after panel. Lines of A are
/// aligned to 16 bytes; if `width` is not 1, those of B and C are, too, and all rows of C are one class.
template <class T, Contiguous of_a, Contiguous of_b, int width>
__global__ void __launch_bounds__(T::threads, 1)
    product_thin(const __grid_constant__ Operand<typename T::Real> A,
                 const __grid_constant__ Operand<typename T::Real> B, int K, typename T::Real beta, typename T::Real* C,
                 std::int64_t leading, RowClasses any_classes) {
  using Real = typename T::Real;
  using S = typename T::S;
  using StageA = typename T::template StageA<of_a>;
  using TileB = typename T::template TileB<of_b>;
  constexpr int stages = T::template stages<of_a, of_b>;
  const RowClasses classes = width == 1 ? any_classes : RowClasses{1, sizeof(Real)};
  constexpr int width_a = 16 / sizeof(Real);
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ Barrier full[stages], empty[stages];
  Real* const panel = reinterpret_cast<Real*>(memory);
  Real* const ring = panel + T::template PanelA<of_a>::size;
  Real* const room = ring + stages * TileB::size;
  const unsigned max_shift = classes.bytes / unsigned(sizeof(Real)) - 1,
                 tiles_n = unsigned((B.extent + max_shift + S::block_n - 1) / S::block_n),
                 panels = unsigned(((A.extent - 1) / classes.count + S::block_m) / S::block_m);  // of a class
  const auto class_of = [&](unsigned m) { return width == 1 ? m / panels : 0; };                 // of panel m
  const auto shift_of = [&](unsigned m) {                                                        // of its tiles
    return int(reinterpret_cast<std::uintptr_t>(C + class_of(m) * leading) % classes.bytes / sizeof(Real));
  };
  const std::uint64_t tiles = std::uint64_t(panels) * classes.count * tiles_n;
  const unsigned first = unsigned(tiles * blockIdx.x / gridDim.x);
  unsigned left = unsigned(tiles * (blockIdx.x + 1) / gridDim.x) - first, m = first / tiles_n, n = first % tiles_n;
  if (threadIdx.x == 0)
    for (int stage = 0; stage < stages; ++stage) full[stage].init(2 * T::fetchers), empty[stage].init(T::warps);
  __syncthreads();

  RingPlace<stages> at;
  if (threadIdx.x >= S::threads) {
    const auto fill_next = [&](const auto& fetch) {
      empty[at.stage].wait(at.phase ^ 1);
      fetch();
      full[at.stage].arrive_with_copies();
      at.advance();
    };
    for (; left > 0; --left) {
      FetcherOf<Real, TileB, of_b, T::fetchers, width> fetcher(B, tile_begin(B.extent, n, S::block_n, shift_of(m)));
#pragma unroll 1
      for (int k = 0; k < K; k += S::depth) fill_next([&] { fetcher.next(B, K - k, ring + at.stage * TileB::size); });
      if (++n == tiles_n) n = 0, ++m;
    }
    fill_next([] {});  // after the last products warps load what is behind them
    wait_for_stages<0>();
    return;
  }

  const int warp = int(threadIdx.x) / 32, warp_m = warp / S::warps_n * S::warp_m,
            warp_n = warp % S::warps_n * S::warp_n;
  const Real *const first_a = panel + StageA::at(warp_m, 0), *const first_b = ring + TileB::at(warp_n, 0);
  const Real *a = first_a, *b = first_b;
  typename T::Math math;
  for (; left > 0; ++m, n = 0) {
    const unsigned of_class = class_of(m), place = m - of_class * panels;
    const Operand<Real> rows_of_a{A.data + of_class * A.leading, A.leading * classes.count,
                                  (A.extent - of_class + classes.count - 1) / classes.count, A.pad};
    const Extent rows = warp_extent(tile_extent(rows_of_a.extent, place, S::block_m, beta == 0), warp_m);
    wait_for_first<S::threads>();
    FetcherOf<Real, StageA, of_a, S::threads, width_a> fetch_a(rows_of_a,
                                                               tile_begin(rows_of_a.extent, place, S::block_m));
#pragma unroll 1
    for (int k = 0; k < K; k += S::depth) fetch_a.next(rows_of_a, K - k, panel + StageA::at(0, k));
    end_of_stage();
    wait_for_stages<0>();
    wait_for_first<S::threads>();
    full[at.stage].wait(at.phase);
    math.template load_first<StageA, TileB>(first_a, b);
    Real* const first_row = C + of_class * leading;
    const std::int64_t step = leading * classes.count;
    const int shift = shift_of(m);
    for (; left > 0 && n < tiles_n; --left, ++n) {
      const auto columns = [&] {
        Extent tile = tile_extent(B.extent, n, S::block_n, beta == 0, shift);
        if (width == 1 && n == 0) tile.end = min(tile.end, S::block_n - shift);
        return warp_extent(tile, warp_n);
      };
      math.begin(beta, first_row, step, rows, columns());
      a = first_a;
      for (int k = 0; k < K; k += S::depth) {
        const auto advance = [&] {
          __syncwarp();
          if (threadIdx.x % 32 == 0) empty[at.stage].arrive();
          at.advance();
          full[at.stage].wait(at.phase);
          b = first_b + at.stage * TileB::size;
          a = k + S::depth < K ? a + StageA::at(0, S::depth) : first_a;
        };
        math.template add_stage<StageA, TileB>(a, b, advance, [] {});
      }
      math.store(first_row, step, rows, columns(), room);
    }
  }
}

/// C = A B, if this takes less time than keeping rows of A; false, and nothing is done, if not. `A` holds rows of A, `B` columns of B,
/// of at most 160 terms each; all lines are aligned to 16 bytes, C is row-major. For GPUs of compute capability 9.0.
///
/// Repeats bit for bit: as gemm.hpp has it with TermOrder::ascending.
bool launched_columns(const Cuda& on, const DenseView<const double, Device>& A,
                      const DenseView<const double, Device>& B, const DenseView<double, Device>& C);

}  // namespace seidel::gemm_detail
