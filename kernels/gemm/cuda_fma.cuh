// What a warp does with tiles of A and B on the cores: sums by fma, k ascending.
#pragma once
#include <cmath>

#include <seidel/kernels/gemm/cuda_tiles.cuh>

namespace seidel::gemm_detail {

/// On the cores: a lane holds `quads_m` x `quads_n` squares of 4 x 4 elements; 4 x 8 lanes lie side by side. Lanes 0 and 1 lie in
/// one row and lanes 0 and 2 in one column, and so on: shared memory then serves half a warp at once when it loads a quad per
/// lane, a quarter otherwise.
template <class Real_, class S>
struct FmaMath {
  using Real = Real_;
  static constexpr int lanes_m = 4, lanes_n = 8, quad = 4;
  static constexpr int quads_m = S::warp_m / (lanes_m * quad), quads_n = S::warp_n / (lanes_n * quad);
  struct alignas(16) Quad {
    Real of[quad];
  };

  /// Of a tile in shared memory, whatever the order of the operand: quads are loaded along lines.
  template <Contiguous of_operand>
  static constexpr Contiguous order = Contiguous::other;

  Real c[quads_m * quad][quads_n * quad];

  __device__ static int my_lane_m() { return int(threadIdx.x) / 2 % 2 + int(threadIdx.x) % 32 / 16 * 2; }
  __device__ static int my_lane_n() { return int(threadIdx.x) % 2 + int(threadIdx.x) / 4 % 4 * 2; }
  __device__ static int row_of(int i, int lane_m = my_lane_m()) {
    return i / quad * lanes_m * quad + lane_m * quad + i % quad;
  }
  __device__ static int column_of(int q) { return q * lanes_n * quad + my_lane_n() * quad; }

  __device__ void begin(Real beta, const Real* C, std::int64_t leading, const Extent& rows, const Extent& columns) {
#pragma unroll
    for (int i = 0; i < quads_m * quad; ++i)
#pragma unroll
      for (int j = 0; j < quads_n * quad; ++j) c[i][j] = 0;
    if (beta == 0) return;
    C += rows.begin * leading + columns.begin;
#pragma unroll
    for (int i = 0; i < quads_m * quad; ++i)
#pragma unroll
      for (int j = 0; j < quads_n * quad; ++j) {
        const int row = row_of(i), column = column_of(j / quad) + j % quad;
        if (holds(rows, row) && holds(columns, column)) c[i][j] = beta * C[row * leading + column];
      }
  }

  /// Loads what the first step needs. `a` and `b` are the places of this warp in a stage.
  template <class TileA, class TileB>
  __device__ void load_first(const Real* a, const Real* b) {
    load<TileA, TileB>(a, b, 0, fragments[0]);
  }
  /// Adds the terms of one stage. What the next step needs is loaded before, so that products follow each other without
  /// a gap; advance() waits for the next stage and moves a and b there; fetch() may overwrite
  /// the one before this.
  template <class TileA, class TileB, class Advance, class Fetch>
  __device__ void add_stage(const Real*& a, const Real*& b, const Advance& advance, const Fetch& fetch) {
    static_assert(TileA::depth % 2 == 0);
#pragma unroll
    for (int k = 0; k < TileA::depth; ++k) {
      if (k == TileA::depth - 1) advance();
      load<TileA, TileB>(a, b, (k + 1) % TileA::depth, fragments[(k + 1) % 2]);
      if (k == 0) fetch();
      add(fragments[k % 2]);
    }
  }

  static constexpr int room_line = S::warp_n + quad, room_size = lanes_m * room_line;
  /// `room` is in shared memory, for room_size elements of each warp.
  __device__ void store(Real* C, std::int64_t leading, const Extent& rows, const Extent& columns, Real* room) const {
    C += rows.begin * leading + columns.begin;
    const bool aligned = reinterpret_cast<std::uintptr_t>(C) % 16 == 0 && leading * sizeof(Real) % 16 == 0;
    if (aligned && holds_all(rows, S::warp_m) && holds_all(columns, S::warp_n)) {
      Real* const mine = C + row_of(0) * leading + column_of(0);
#pragma unroll
      for (int i = 0; i < quads_m * quad; ++i)
#pragma unroll
        for (int q = 0; q < quads_n; ++q)
          store_quad(mine + (row_of(i) - row_of(0)) * leading + (column_of(q) - column_of(0)), &c[i][q * quad]);
    } else {
      store_by_element(C, leading, rows, columns, room + int(threadIdx.x) / 32 * room_size);
    }
  }

 private:
  struct Fragments {
    Quad x[quads_m], y[quads_n];
  };
  /// Past the second cache, which C would fill with what nobody reads soon.
  __device__ static void store_quad(Real* to, const Real* from) {
    static_assert(quad == 4);
    if constexpr (sizeof(Real) == 4) {
      __stcs(reinterpret_cast<float4*>(to), make_float4(from[0], from[1], from[2], from[3]));
    } else {
      __stcs(reinterpret_cast<double2*>(to), make_double2(from[0], from[1]));
      __stcs(reinterpret_cast<double2*>(to) + 1, make_double2(from[2], from[3]));
    }
  }
  /// At an edge, or where rows of C are not aligned: through shared memory, so that the lanes of a warp write neighbours.
  __device__ void store_by_element(Real* C, std::int64_t leading, const Extent& rows, const Extent& columns,
                                   Real* room) const {
#pragma unroll
    for (int i = 0; i < quads_m * quad; ++i) {
#pragma unroll
      for (int j = 0; j < quads_n * quad; ++j)
        room[my_lane_m() * room_line + column_of(j / quad) + j % quad] = c[i][j];
      __syncwarp();
      store_lines<lanes_m, S::warp_n, room_line>(C, leading, rows, columns, room,
                                                 [i](int lane_m) { return row_of(i, lane_m); });
      __syncwarp();
    }
  }
  template <class TileA, class TileB>
  __device__ static void load(const Real* a, const Real* b, int k, Fragments& to) {
#pragma unroll
    for (int q = 0; q < quads_m; ++q) to.x[q] = *reinterpret_cast<const Quad*>(a + TileA::at(row_of(q * quad), k));
#pragma unroll
    for (int q = 0; q < quads_n; ++q) to.y[q] = *reinterpret_cast<const Quad*>(b + TileB::at(column_of(q), k));
  }
  __device__ void add(const Fragments& of) {
#pragma unroll
    for (int i = 0; i < quads_m * quad; ++i)
#pragma unroll
      for (int step = 0; step < quads_n * quad; ++step) {  // there and back: neighbouring products share an operand
        const int j = i % 2 == 0 ? step : quads_n * quad - 1 - step;
        c[i][j] = std::fma(of.x[i / quad].of[i % quad], of.y[j / quad].of[j % quad], c[i][j]);
      }
  }

  Fragments fragments[2];
};

}  // namespace seidel::gemm_detail
