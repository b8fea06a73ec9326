// What a warp does with tiles of A and B on the tensor cores: in FP64, sums by fma, k ascending.
#pragma once
#include <seidel/kernels/gemm/cuda_tiles.cuh>

namespace seidel::gemm_detail {

/// c += a b, a square of 16 x 8 elements and `step` terms.
template <int step>
__device__ inline void multiply(double (&c)[4], const double (&a)[step / 2], const double (&b)[step / 4]) {
#if __CUDA_ARCH__ >= 900
  if constexpr (step == 4)
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(b[0]));
  else
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#endif
}

/// Squares of 16 x 8 elements, 4 terms at a time. Each of their sums is the chain of fma in the order of k (tests compare
/// it with the host's), which no manual says. `has_room`: store() gets room in shared memory.
template <class S, int step_ = 4, bool has_room = true>
struct TensorMath {
  using Real = double;
  static constexpr int tiles_m = S::warp_m / 16, tiles_n = S::warp_n / 8, step = step_;
  static constexpr int room_line = S::warp_n + 8, room_size = has_room ? 8 * room_line : 0;
  static_assert(tiles_n % 2 == 0);

  /// Of a tile in shared memory: that of the operand.
  template <Contiguous of_operand>
  static constexpr Contiguous order = of_operand;

  double c[tiles_m][tiles_n][4];

  __device__ void begin(double beta, const double* C, std::int64_t leading, const Extent& rows, const Extent& columns) {
#pragma unroll
    for (int i = 0; i < tiles_m; ++i)
#pragma unroll
      for (int j = 0; j < tiles_n; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) c[i][j][e] = 0;
    if (beta == 0) return;
    C += rows.begin * leading + columns.begin;
#pragma unroll
    for (int i = 0; i < tiles_m; ++i)
#pragma unroll
      for (int j = 0; j < tiles_n; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int row = i * 16 + quad_of() + e / 2 * 8, column = j * 8 + lane_in_quad() * 2 + e % 2;
          if (holds(rows, row) && holds(columns, column)) c[i][j][e] = beta * C[row * leading + column];
        }
  }

  /// Loads what the first step needs. `a` and `b` are the places of this warp in a stage.
  template <class TileA, class TileB>
  __device__ void load_first(const double* a, const double* b) {
    load_y<TileB>(b, 0, y[0]);
#pragma unroll
    for (int i = 0; i < (tiles_m == 1 ? 1 : tiles_m - 1); ++i) load_x<TileA>(a, 0, i, x[i]);
  }
  /// Adds the terms of one stage. A row of squares of A is loaded again after the row behind it was multiplied: no load
  /// waits until products have read its registers, and each has time until its turn. advance() waits for the next
  /// stage and moves a and b there; fetch() may overwrite the one before this.
  template <class TileA, class TileB, class Advance, class Fetch>
  __device__ void add_stage(const double*& a, const double*& b, const Advance& advance, const Fetch& fetch) {
    constexpr int steps = TileB::depth / step;
    static_assert(steps % 2 == 0);
    if constexpr (tiles_m == 1) {
#pragma unroll
      for (int s = 0; s < steps; ++s) {
        const int next = (s + 1) % steps * step;
        if (s == steps - 1) advance();
        load_x<TileA>(a, next, 0, x[(s + 1) % 2]);
        load_y<TileB>(b, next, y[(s + 1) % 2]);
        if (s == 0) fetch();
#pragma unroll
        for (int j = 0; j < tiles_n; ++j) multiply<step>(c[0][j], x[s % 2], y[s % 2][j]);
      }
    } else {
#pragma unroll
      for (int s = 0; s < steps; ++s)
#pragma unroll
        for (int i = 0; i < tiles_m; ++i) {
#pragma unroll
          for (int j = 0; j < tiles_n; ++j) multiply<step>(c[i][j], x[i], y[s % 2][j]);
          const int next = (s + 1) % steps * step;
          if (i > 0) {
            load_x<TileA>(a, next, i - 1, x[i - 1]);
            if (s == 0 && i == 1) fetch();
          } else {
            load_x<TileA>(a, s * step, tiles_m - 1, x[tiles_m - 1]);
            if (s == steps - 1) advance();
            load_y<TileB>(b, next, y[(s + 1) % 2]);
          }
        }
    }
  }

  /// Neighbouring quads exchange halves of what they hold, so that 8 lanes write 128 bytes of a row: lines that are written in
  /// halves cost the memory twice the time.
  /// `room` is in shared memory, for room_size elements of each warp.
  __device__ void store(double* C, std::int64_t leading, const Extent& rows, const Extent& columns,
                        double* room) const {
    C += rows.begin * leading + columns.begin;
    const bool aligned = reinterpret_cast<std::uintptr_t>(C) % 16 == 0 && leading % 2 == 0;
    if (aligned && holds_all(rows, S::warp_m) && holds_all(columns, S::warp_n)) {
      double* const mine = C + quad_of() / 2 * 2 * leading + quad_of() % 2 * 8 + lane_in_quad() * 2;
      for_each_pair([&](int row, int column, double first, double second) {
        __stcs(reinterpret_cast<double2*>(mine + row * leading + column), make_double2(first, second));
      });
    } else if constexpr (has_room) {
      store_by_element(C, leading, rows, columns, room + int(threadIdx.x) / 32 * room_size);
    } else {
      const int my_row = quad_of() / 2 * 2, my_column = quad_of() % 2 * 8 + lane_in_quad() * 2;
      for_each_pair([&](int row, int column, double first, double second) {
        row += my_row, column += my_column;
        if (holds(rows, row) && holds(columns, column)) C[row * leading + column] = first;
        if (holds(rows, row) && holds(columns, column + 1)) C[row * leading + column + 1] = second;
      });
    }
  }

 private:
  /// At an edge, or where rows of C are not aligned: through shared memory, so that the lanes of a warp write neighbours.
  __device__ void store_by_element(double* C, std::int64_t leading, const Extent& rows, const Extent& columns,
                                   double* room) const {
#pragma unroll
    for (int i = 0; i < tiles_m; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int j = 0; j < tiles_n; ++j)
          *reinterpret_cast<double2*>(room + quad_of() * room_line + j * 8 + lane_in_quad() * 2) =
              make_double2(c[i][j][2 * half], c[i][j][2 * half + 1]);
        __syncwarp();
        store_lines<8, S::warp_n, room_line>(C, leading, rows, columns, room,
                                             [&](int row) { return i * 16 + half * 8 + row; });
        __syncwarp();
      }
  }
  /// Calls put(row, column, first, second) for neighbours in a row, which it counts from this thread's own place on.
  __device__ void for_each_pair(const auto& put) const {
    const bool odd = quad_of() % 2;
#pragma unroll
    for (int i = 0; i < tiles_m; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int j = 0; j < tiles_n; j += 2) {
          double even_row[2], odd_row[2];
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            const double left = c[i][j][2 * half + e], right = c[i][j + 1][2 * half + e];
            const double given = __shfl_xor_sync(0xffffffff, odd ? left : right, 4);
            even_row[e] = odd ? given : left, odd_row[e] = odd ? right : given;
          }
          put(i * 16 + half * 8, j * 8, even_row[0], even_row[1]);
          put(i * 16 + half * 8 + 1, j * 8, odd_row[0], odd_row[1]);
        }
  }

  __device__ static int quad_of() { return int(threadIdx.x) % 32 / 4; }
  __device__ static int lane_in_quad() { return int(threadIdx.x) % 4; }

  template <class TileA>
  __device__ static void load_x(const double* a, int k, int i, double (&to)[step / 2]) {
#pragma unroll
    for (int e = 0; e < step / 2; ++e)
      to[e] = a[TileA::at(i * 16 + e % 2 * 8 + quad_of(), k + e / 2 * 4 + lane_in_quad())];
  }
  template <class TileB>
  __device__ static void load_y(const double* b, int k, double (&to)[tiles_n][step / 4]) {
#pragma unroll
    for (int j = 0; j < tiles_n; ++j)
#pragma unroll
      for (int e = 0; e < step / 4; ++e) to[j][e] = b[TileB::at(j * 8 + quad_of(), k + e * 4 + lane_in_quad())];
  }

  double x[tiles_m == 1 ? 2 : tiles_m][step / 2], y[2][tiles_n][step / 4];
};

}  // namespace seidel::gemm_detail
