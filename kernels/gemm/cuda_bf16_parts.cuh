// FP32 operands in parts: each element becomes the sum of three numbers of 8 bits, for BF16 tensor cores.
#pragma once
#include <cuda_bf16.h>

#include <cstdint>

#include <seidel/formats/runtime/cuda_launch.cuh>

namespace seidel::gemm_detail {

/// Rows of A, or columns of B: element k of line i is data[i * line_step + k * term_step].
struct LinesOf {
  const float* data;
  std::int64_t line_step, term_step, count;
};

constexpr int parts = 3;                        // x = x_0 + x_1 + x_2, each of 8 bits
constexpr int core_lines = 8, step_terms = 16;  // 8 lines of 8 terms are what tensor cores read at once
constexpr int part_words = 2 * core_lines, words = parts * part_words;  // of 16 bytes: 8 lines, 16 terms

/// An operand in parts: 8 lines of 16 terms at (step * groups + group) * words, part after part, the first 8 terms of all
/// lines first; and what sums of a line are to be multiplied by. Lines behind the last one are zero.
struct Parts {
  uint4* data;
  float* factors;
  int groups;  // of 8 lines
};

__device__ inline unsigned packed(float low, float high) {
  const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const unsigned&>(both);
}

constexpr int block_lines = 2 * core_lines;  // of an operand, that a block brings into parts
constexpr int octet = 8;                     // terms that a thread holds

/// Which line of a block stands at a place of its parts. Columns of B change places, so that what a thread gets of a row of C
/// are four neighbours.
__device__ inline int line_at(int place, bool is_b) {
  return is_b ? place % core_lines / 2 * 4 + place / core_lines * 2 + place % 2 : place;
}

/// Elements k, k + 1, ... of a line, 0 from `end` on.
__device__ inline void load_terms(const float* line, std::int64_t step, int k, int end, float (&x)[octet]) {
  if (step == 1 && k + octet <= end && reinterpret_cast<std::uintptr_t>(line + k) % 16 == 0) {
    const float4 low = *reinterpret_cast<const float4*>(line + k),
                 high = *reinterpret_cast<const float4*>(line + k + 4);
    x[0] = low.x, x[1] = low.y, x[2] = low.z, x[3] = low.w;
    x[4] = high.x, x[5] = high.y, x[6] = high.z, x[7] = high.w;
  } else {
#pragma unroll
    for (int e = 0; e < octet; ++e) x[e] = k + e < end ? line[(k + e) * step] : 0.f;
  }
}

/// Brings 16 lines with all their terms into parts. A line is multiplied by a power of two, so that its largest element is near
/// one: then no part is too small for its 8 bits, but for elements that are 2^-100 times as large.
__global__ void to_parts(const __grid_constant__ LinesOf A, const __grid_constant__ LinesOf B, int terms,
                         const __grid_constant__ Parts a, const __grid_constant__ Parts b) {
  __shared__ int largest[block_lines];  // of each line, as bits
  cuda::let_next_begin();
  const bool is_b = int(blockIdx.x) >= a.groups / 2;
  const LinesOf& from = is_b ? B : A;
  const Parts& to = is_b ? b : a;
  const int block = is_b ? int(blockIdx.x) - a.groups / 2 : int(blockIdx.x);
  const int place = int(threadIdx.x) % block_lines, first = int(threadIdx.x) / block_lines * octet,
            stride = int(blockDim.x) / block_lines * octet;
  const std::int64_t index = std::int64_t(block) * block_lines + line_at(place, is_b);
  const float* const line = from.data + index * from.line_step;
  const int end = index < from.count ? terms : 0;
  if (threadIdx.x < block_lines) largest[threadIdx.x] = 0;
  __syncthreads();
  float mine = 0;
  for (int k = first; k < terms; k += stride) {
    float x[octet];
    load_terms(line, from.term_step, k, end, x);
#pragma unroll
    for (int e = 0; e < octet; ++e) mine = fmaxf(mine, fabsf(x[e]));
  }
  atomicMax(&largest[place], __float_as_int(mine));
  __syncthreads();
  constexpr int bias = 127,
                most = 62;  // so that neither products of scaled elements nor what is scaled back leave the range
  const int exponent = min(max((largest[place] >> 23) - bias, -most), most);
  if (threadIdx.x < block_lines) to.factors[index] = __int_as_float((bias + exponent) << 23);
  const float scale = __int_as_float((bias - exponent) << 23);
  for (int k = first; k < (terms + step_terms - 1) / step_terms * step_terms; k += stride) {
    float x[octet];
    load_terms(line, from.term_step, k, end, x);
    uint4* const at = to.data + (std::int64_t(k / step_terms) * to.groups + block * 2 + place / core_lines) * words +
                      k / octet % 2 * core_lines + place % core_lines;
#pragma unroll
    for (int e = 0; e < octet; ++e) x[e] *= scale;
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      unsigned pairs[octet / 2];
#pragma unroll
      for (int p = 0; p < octet / 2; ++p) {
        pairs[p] = packed(x[2 * p], x[2 * p + 1]);
        x[2 * p] -= __int_as_float(int(pairs[p] << 16)), x[2 * p + 1] -= __int_as_float(int(pairs[p] & 0xffff0000u));
      }
      at[part * part_words] = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
    }
  }
}

}  // namespace seidel::gemm_detail
