// Products in FP32 by the BF16 tensor cores of a GPU, from operands in parts.
#pragma once
#include <cmath>

#include <seidel/formats/dense.hpp>
#include <seidel/kernels/gemm/cuda_barrier.cuh>
#include <seidel/kernels/gemm/cuda_bf16_parts.cuh>
#include <seidel/kernels/gemm/cuda_tiles.cuh>

namespace seidel::gemm_detail {

/// d = a b, or d += a b if `add`, for 64 x 16 and 16 x 128 elements, by four warps; begins only.
__device__ inline void multiply(float (&d)[64], std::uint64_t a, std::uint64_t b, bool add) {
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
      "}, %64, %65, add, 1, 1, 0, 0;\n"
      "}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
        "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
        "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),
        "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),
        "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
        "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
      : "l"(a), "l"(b), "r"(int(add)));
}

/// Where 8 lines and more of 16 terms lie in shared memory, as the tensor cores want to know it.
__device__ inline std::uint64_t descriptor(const uint4* at) {
  constexpr std::uint64_t to_next_terms = core_lines, to_next_lines = words;  // of 16 bytes
  return (unsigned(__cvta_generic_to_shared(at)) >> 4 & 0x3fff) | to_next_terms << 16 | to_next_lines << 32;
}

/// An element as gemm.hpp has it: for infinities and NaN, of which parts know nothing.
__device__ inline float by_definition(const LinesOf& A, const LinesOf& B, std::int64_t i, std::int64_t j, int terms,
                                      float alpha, float beta, float old) {
  float c = beta == 0 ? 0 : beta * old;
#pragma unroll 1
  for (int k = 0; k < terms && c == c; ++k)
    c = std::fma(A.data[i * A.line_step + k * A.term_step], alpha * B.data[j * B.line_step + k * B.term_step], c);
  return c;
}

/// Whether lines of C begin at multiples of 16 bytes.
__host__ __device__ inline bool lines_are_aligned(const DenseView<float, Device>& C) {
  return reinterpret_cast<std::uintptr_t>(C.data) % 16 == 0 && C.leading_dimension % 4 == 0;
}

struct PartsShape {
  static constexpr int block_m = 128, block_n = 128, stages = 8, warps = 8, warp_m = 16;  // warps that compute
  static constexpr int threads = 32 * (warps + 4);  // four warps share a limit of registers: one of them fetches
  static constexpr int words_m = block_m / core_lines * words, words_n = block_n / core_lines * words,
                       stage_words = words_m + words_n;
  static constexpr int room_rows = 8, room_line = block_n + 4;  // of C, for each warp
  static constexpr int shared_bytes =
      stages * stage_words * int(sizeof(uint4)) + warps * room_rows * room_line * int(sizeof(float));
};

/// Begins to add the products of a step: of 64 rows of A in `a` and 128 columns of B in `b`.
__device__ inline void begin_step(float (&of_terms)[64], const uint4* a, const uint4* b) {
  constexpr int pairs[6][2] = {{2, 0}, {0, 2}, {1, 1}, {1, 0}, {0, 1}, {0, 0}};
  const std::uint64_t first_a = descriptor(a), first_b = descriptor(b);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (int p = 0; p < 6; ++p)
    multiply(of_terms, first_a + pairs[p][0] * part_words, first_b + pairs[p][1] * part_words, p > 0);
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// All steps but the newest `pending` have ended.
template <int pending>
__device__ inline void wait_for_steps(float (&of_terms)[64]) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
#pragma unroll
  for (int e = 0; e < 64; ++e) asm volatile("" : "+f"(of_terms[e])::"memory");
}

/// C = alpha A B + beta C, C row-major, from parts. The three smallest of the nine products of parts are left out (bf16.hpp). Tensor
/// cores cut off what does not fit when they add, so they add the six products of 16 terms only, the smallest first; the sums of
/// 16 terms are added by the other cores, which round.
__global__ void __launch_bounds__(PartsShape::threads, 1)
    product_of_parts(const __grid_constant__ Parts A, const __grid_constant__ Parts B, int steps, float alpha,
                     float beta, const __grid_constant__ DenseView<float, Device> C,
                     const __grid_constant__ LinesOf of_a, const __grid_constant__ LinesOf of_b, int terms) {
  using S = PartsShape;
  extern __shared__ __align__(128) uint4 ring[];
  __shared__ Barrier full[S::stages], empty[S::stages];
  const unsigned tiles_m = unsigned(A.groups * core_lines / S::block_m),
                 tiles_n = unsigned(B.groups * core_lines / S::block_n), tiles = tiles_m * tiles_n;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < S::stages; ++stage) full[stage].init(1), empty[stage].init(S::warps);
    barriers_are_ready();
  }
  cuda::await_launch_before();
  __syncthreads();
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  RingPlace<S::stages> at;
  if (warp >= S::warps) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (warp > S::warps || lane > 0) return;
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      const TilePlace place = tile_place(tile, tiles_m, tiles_n);
      const uint4* a = A.data + std::int64_t(place.m) * S::words_m;
      const uint4* b = B.data + std::int64_t(place.n) * S::words_n;
      for (int step = 0; step < steps; ++step) {
        empty[at.stage].wait(at.phase ^ 1);
        uint4* const stage = ring + at.stage * S::stage_words;
        full[at.stage].arrive_expecting(S::stage_words * int(sizeof(uint4)));
        full[at.stage].copy(stage, a, S::words_m);
        full[at.stage].copy(stage + S::words_m, b, S::words_n);
        a += std::int64_t(A.groups) * words, b += std::int64_t(B.groups) * words;
        at.advance();
      }
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  const bool aligned = lines_are_aligned(C);
  float* const room = reinterpret_cast<float*>(ring + S::stages * S::stage_words) + warp * S::room_rows * S::room_line;
  RingPlace<S::stages> done;  // what is to be given back
  for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const TilePlace place = tile_place(tile, tiles_m, tiles_n);
    float sums[64] = {}, even[64], odd[64];
    const auto begin = [&](float(&of_terms)[64]) {
      full[at.stage].wait(at.phase);
      const uint4* const stage = ring + at.stage * S::stage_words;
      begin_step(of_terms, stage + warp / 4 * (S::words_m / 2), stage + S::words_m);
      at.advance();
    };
    const auto add = [&](const float(&of_terms)[64]) {
      if (lane == 0) empty[done.stage].arrive();
      done.advance();
#pragma unroll
      for (int e = 0; e < 64; ++e) sums[e] += of_terms[e];
    };
    // A step is computed while the one before it is added. `left` have not begun.
    begin(even);
#pragma unroll 1
    for (int left = steps - 1;; left -= 2) {
      if (left == 0) {
        wait_for_steps<0>(even), add(even);
        break;
      }
      begin(odd), wait_for_steps<1>(even), add(even);
      if (left == 1) {
        wait_for_steps<0>(odd), add(odd);
        break;
      }
      begin(even), wait_for_steps<1>(odd), add(odd);
    }

    const std::int64_t warp_row = std::int64_t(place.m) * S::block_m + warp * S::warp_m,
                       first_column = std::int64_t(place.n) * S::block_n, column = first_column + lane % 4 * 4;
    const int columns = int(min(std::int64_t(S::block_n), C.ncols - first_column));
    const bool plain = beta == 0 && aligned && warp_row + S::warp_m <= C.nrows && columns == S::block_n;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::int64_t first_row = warp_row + half * S::room_rows, row = first_row + lane / 4;
      const float of_row = A.factors[row];
      float4 of_columns[8];
#pragma unroll
      for (int j = 0; j < 8; ++j) of_columns[j] = *reinterpret_cast<const float4*>(B.factors + column + j * 16);
      float* const to = C.data + row * C.leading_dimension + column;
      float4 c[8];
      bool finite = true;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float* const sum = sums + 8 * j + half * 2;
        c[j].x = alpha * (sum[0] * of_row * of_columns[j].x), c[j].y = alpha * (sum[1] * of_row * of_columns[j].y);
        c[j].z = alpha * (sum[4] * of_row * of_columns[j].z), c[j].w = alpha * (sum[5] * of_row * of_columns[j].w);
        finite = finite && isfinite(c[j].x) && isfinite(c[j].y) && isfinite(c[j].z) && isfinite(c[j].w);
        if (plain) __stcs(reinterpret_cast<float4*>(to + j * 16), c[j]);
      }
      const bool as_computed = beta == 0 && __all_sync(0xffffffff, finite);
      if (!plain || !as_computed) {  // through shared memory, so that lanes write neighbours
#pragma unroll
        for (int j = 0; j < 8; ++j)
          *reinterpret_cast<float4*>(room + lane / 4 * S::room_line + lane % 4 * 4 + j * 16) = c[j];
        __syncwarp();
#pragma unroll 1
        for (int r = 0; r < S::room_rows && first_row + r < C.nrows; ++r) {
          const float* const from = room + r * S::room_line;
          float* const row_of_C = &C(first_row + r, first_column);
          if (as_computed) {
            // The first lanes have nothing at first, so that the others begin where a line of memory does.
            const int skipped = int(reinterpret_cast<std::uintptr_t>(row_of_C) / sizeof(float) % 32);
#pragma unroll
            for (int e = 0; e <= S::block_n; e += 32) {
              const int j = e + lane - skipped;
              if (j >= 0 && j < columns) row_of_C[j] = from[j];
            }
          } else {
#pragma unroll 1
            for (int j = lane; j < columns; j += 32) {
              const float old = row_of_C[j], element = beta == 0 ? from[j] : std::fma(beta, old, from[j]);
              row_of_C[j] = isfinite(element)
                                ? element
                                : by_definition(of_a, of_b, first_row + r, first_column + j, terms, alpha, beta, old);
            }
          }
        }
        __syncwarp();
      }
    }
  }
}

}  // namespace seidel::gemm_detail
