// What a warp does with tiles of A and B: sums by fma, k ascending, on the cores or on the tensor cores.
#pragma once
#include <cmath>

#include <seidel/kernels/gemm/cuda_tiles.cuh>

namespace seidel::gemm_detail {

/// On the cores: a lane holds `quads_m` x `quads_n` squares of 4 x 4 elements; 4 x 8 lanes lie side by side.
template <class Real_, class S>
struct FmaMath {
  using Real = Real_;
  static constexpr int lanes_m = 4, lanes_n = 8, quad = 4;
  static constexpr int quads_m = S::warp_m / (lanes_m * quad), quads_n = S::warp_n / (lanes_n * quad);
  struct alignas(16) Quad {
    Real of[quad];
  };

  Real c[quads_m * quad][quads_n * quad];

  __device__ static int row_of(int i) {
    return i / quad * lanes_m * quad + int(threadIdx.x) % 32 / lanes_n * quad + i % quad;
  }
  __device__ static int column_of(int q) { return q * lanes_n * quad + int(threadIdx.x) % lanes_n * quad; }

  __device__ void begin(Real beta, const Real* C, std::int64_t leading, std::int64_t rows, std::int64_t columns) {
#pragma unroll
    for (int i = 0; i < quads_m * quad; ++i)
#pragma unroll
      for (int j = 0; j < quads_n * quad; ++j) {
        const int row = row_of(i), column = column_of(j / quad) + j % quad;
        c[i][j] = beta != 0 && row < rows && column < columns ? beta * C[row * leading + column] : Real(0);
      }
  }

  static constexpr int step = 1;
  struct Fragments {
    Quad x[quads_m], y[quads_n];
  };
  template <class TileA, class TileB>
  __device__ static void load(const Real* a, int first_a, const Real* b, int first_b, int k, Fragments& to) {
#pragma unroll
    for (int q = 0; q < quads_m; ++q)
      to.x[q] = *reinterpret_cast<const Quad*>(a + TileA::at(first_a + row_of(q * quad), k));
#pragma unroll
    for (int q = 0; q < quads_n; ++q)
      to.y[q] = *reinterpret_cast<const Quad*>(b + TileB::at(first_b + column_of(q), k));
  }
  __device__ void add(const Fragments& of) {
#pragma unroll
    for (int i = 0; i < quads_m * quad; ++i)
#pragma unroll
      for (int j = 0; j < quads_n * quad; ++j)
        c[i][j] = std::fma(of.x[i / quad].of[i % quad], of.y[j / quad].of[j % quad], c[i][j]);
  }

  __device__ void store(Real* C, std::int64_t leading, std::int64_t rows, std::int64_t columns) const {
    const bool aligned = reinterpret_cast<std::uintptr_t>(C) % 16 == 0 && leading * sizeof(Real) % 16 == 0;
#pragma unroll
    for (int i = 0; i < quads_m * quad; ++i)
#pragma unroll
      for (int q = 0; q < quads_n; ++q) {
        const int row = row_of(i), column = column_of(q);
        if (row >= rows) continue;
        Real* const to = C + row * leading + column;
        if (aligned && column + quad <= columns) {
          Quad four;
#pragma unroll
          for (int e = 0; e < quad; ++e) four.of[e] = c[i][q * quad + e];
          *reinterpret_cast<Quad*>(to) = four;
        } else {
#pragma unroll
          for (int e = 0; e < quad; ++e)
            if (column + e < columns) to[e] = c[i][q * quad + e];
        }
      }
  }
};

/// On the tensor cores, in FP64: squares of 16 x 8 elements, `mma_k` terms at a time. Each of their sums is the chain of
/// fma in the order of k (tests compare it with the host's), which no manual says.
template <class S, int mma_k = 4>
struct TensorMath {
  using Real = double;
  static constexpr int tiles_m = S::warp_m / 16, tiles_n = S::warp_n / 8, steps = mma_k / 4;

  double c[tiles_m][tiles_n][4];

  __device__ static int quad_of() { return int(threadIdx.x) % 32 / 4; }
  __device__ static int lane_in_quad() { return int(threadIdx.x) % 4; }
  __device__ static int row_of(int i, int e) { return i * 16 + quad_of() + e / 2 * 8; }
  __device__ static int column_of(int j) { return j * 8 + lane_in_quad() * 2; }

  __device__ void begin(double beta, const double* C, std::int64_t leading, std::int64_t rows, std::int64_t columns) {
#pragma unroll
    for (int i = 0; i < tiles_m; ++i)
#pragma unroll
      for (int j = 0; j < tiles_n; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int row = row_of(i, e), column = column_of(j) + e % 2;
          c[i][j][e] = beta != 0 && row < rows && column < columns ? beta * C[row * leading + column] : 0.0;
        }
  }

  __device__ static void multiply(double (&c)[4], const double (&a)[2 * steps], const double (&b)[steps]) {
#if __CUDA_ARCH__ >= 900
    if constexpr (mma_k == 4)
      asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
          : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
          : "d"(a[0]), "d"(a[1]), "d"(b[0]));
    else if constexpr (mma_k == 8)
      asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
          : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
          : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
    else
      asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%5,%6,%7,%8,%9,%10,%11},"
          "{%12,%13,%14,%15},{%0,%1,%2,%3};"
          : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
          : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
            "d"(b[1]), "d"(b[2]), "d"(b[3]));
#endif
  }

  static constexpr int step = mma_k;
  struct Fragments {
    double x[tiles_m][2 * steps], y[tiles_n][steps];
  };
  template <class TileA, class TileB>
  __device__ static void load(const double* a, int first_a, const double* b, int first_b, int k, Fragments& to) {
#pragma unroll
    for (int i = 0; i < tiles_m; ++i)
#pragma unroll
      for (int e = 0; e < 2 * steps; ++e)
        to.x[i][e] = a[TileA::at(first_a + i * 16 + quad_of() + e % 2 * 8, k + e / 2 * 4 + lane_in_quad())];
#pragma unroll
    for (int j = 0; j < tiles_n; ++j)
#pragma unroll
      for (int e = 0; e < steps; ++e)
        to.y[j][e] = b[TileB::at(first_b + j * 8 + quad_of(), k + e * 4 + lane_in_quad())];
  }
  __device__ void add(const Fragments& of) {
#pragma unroll
    for (int i = 0; i < tiles_m; ++i)
#pragma unroll
      for (int j = 0; j < tiles_n; ++j) multiply(c[i][j], of.x[i], of.y[j]);
  }

  __device__ void store(double* C, std::int64_t leading, std::int64_t rows, std::int64_t columns) const {
    const bool aligned = reinterpret_cast<std::uintptr_t>(C) % 16 == 0 && leading % 2 == 0;
#pragma unroll
    for (int i = 0; i < tiles_m; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int j = 0; j < tiles_n; ++j) {
          const int row = row_of(i, 2 * half), column = column_of(j);
          if (row >= rows) continue;
          double* const to = C + row * leading + column;
          if (aligned && column + 1 < columns) {
            *reinterpret_cast<double2*>(to) = make_double2(c[i][j][2 * half], c[i][j][2 * half + 1]);
          } else {
            if (column < columns) to[0] = c[i][j][2 * half];
            if (column + 1 < columns) to[1] = c[i][j][2 * half + 1];
          }
        }
  }
};

}  // namespace seidel::gemm_detail
