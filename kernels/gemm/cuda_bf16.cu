// Products in FP32 by BF16 tensor cores: which pay, and their parts. Compiled for compute capability 9.0 alone, for whose tensor
// cores this code is.
#include <algorithm>

#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/formats/runtime/scratch.hpp>
#include <seidel/kernels/gemm/bf16.hpp>
#include <seidel/kernels/gemm/cuda_bf16.cuh>

namespace seidel::gemm_detail {

namespace {

using S = PartsShape;
constexpr const char* name = "a dense product";

std::int64_t tiles_of(const DenseView<float, Device>& C) {
  return std::int64_t(blocks_for(C.nrows, S::block_m)) * blocks_for(C.ncols, S::block_n);
}

/// C has at most 32,768 rows and columns, in row-major order.
void add_terms(const Cuda& on, float alpha, const LinesOf& A, const LinesOf& B, int terms, float beta,
               const DenseView<float, Device>& C) {
  Scratch<Cuda> scratch(on);
  const int steps = int(blocks_for(terms, step_terms));
  const auto parts_of = [&](std::int64_t lines, int block) {
    const int groups = int(blocks_for(lines, block)) * block / core_lines;
    return Parts{scratch.take<uint4>(std::int64_t(groups) * steps * words).data(),
                 scratch.take<float>(std::int64_t(groups) * core_lines).data(), groups};
  };
  const Parts a = parts_of(A.count, S::block_m), b = parts_of(B.count, S::block_n);
  constexpr int max_octets = 16;
  const int octets = std::min(int(blocks_for(terms, octet)), max_octets);
  cuda::launch(on, to_parts, (a.groups + b.groups) / 2, octets * block_lines, name, A, B, terms, a, b);
  cuda_check(cudaFuncSetAttribute(product_of_parts, cudaFuncAttributeMaxDynamicSharedMemorySize, S::shared_bytes),
             name);
  const std::int64_t tiles = tiles_of(C);
  cuda::launch_after(on, true, product_of_parts,
                     {.blocks = std::min<std::int64_t>(tiles, on.multiprocessors()),
                      .threads = S::threads,
                      .shared_bytes = S::shared_bytes},
                     name, a, b, steps, alpha, beta, C, A, B, terms);
}

}  // namespace

bool have_bf16(const Cuda& on) {
  int major = 0, minor = 0;
  cuda_check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, on.device()), name);
  cuda_check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, on.device()), name);
  return major == 9 && minor == 0;
}

bool bf16_pays(const Cuda& on, const DenseView<const float, Device>& A, const DenseView<const float, Device>&,
               const DenseView<float, Device>& C) {
  constexpr std::int64_t min_terms = 17, some_terms = 64, many_terms = 144, min_side = 384, long_sum = 4;
  constexpr double min_products = 1 << 27, min_use = 0.7;  // of the tiles
  constexpr int min_busy = 45;                             // percent of the multiprocessors
  const std::int64_t side = std::min(C.nrows, C.ncols), terms = A.ncols;
  const double elements = double(C.nrows) * double(C.ncols);
  if (terms < min_terms || side < min_side || elements * double(terms) < min_products) return false;
  // With few terms, time goes into writing C, which tiles at its edges do slowly.
  if (terms < some_terms && !lines_are_aligned(C)) return false;
  if (terms < many_terms && elements < (terms < some_terms ? 1 << 23 : 3 << 20)) return false;
  const std::int64_t tiles = tiles_of(C);
  // cuBLAS cuts long sums where there are fewer tiles than multiprocessors.
  const std::int64_t min_tiles = terms > long_sum * side ? on.multiprocessors() : min_busy * on.multiprocessors() / 100;
  return tiles >= min_tiles && elements >= min_use * double(tiles) * S::block_m * S::block_n && have_bf16(on);
}

void product_by_bf16(const Cuda& on, float alpha, const DenseView<const float, Device>& A,
                     const DenseView<const float, Device>& B, float beta, const DenseView<float, Device>& C,
                     std::int64_t max_scratch) {
  if (C.layout == Layout::column_major)  // C' = B' A'
    return product_by_bf16(on, alpha, transposed(B), transposed(A), beta, transposed(C), max_scratch);
  constexpr std::int64_t max_lines = 32768, min_terms = 1024, bytes_per_element = 6;
  const auto lines_of = [](const DenseView<const float, Device>& M) {
    const bool by_rows = M.layout == Layout::row_major;
    return LinesOf{M.data, by_rows ? M.leading_dimension : 1, by_rows ? 1 : M.leading_dimension, M.nrows};
  };
  for (std::int64_t i = 0; i < C.nrows; i += max_lines)
    for (std::int64_t j = 0; j < C.ncols; j += max_lines) {
      const std::int64_t rows = std::min(max_lines, C.nrows - i), columns = std::min(max_lines, C.ncols - j);
      const auto fitting =
          int(std::min(std::max(max_scratch / (bytes_per_element * (rows + columns)), min_terms), A.ncols));
      const std::int64_t terms =
          std::int64_t(step_terms) *
          blocks_for(blocks_for(A.ncols, int(blocks_for(A.ncols, fitting))), step_terms);  // at once, evenly
      for (std::int64_t k = 0; k < A.ncols; k += terms) {
        const std::int64_t count = std::min(terms, A.ncols - k);
        add_terms(on, alpha, lines_of(block(A, i, k, rows, count)),
                  lines_of(transposed(block(B, k, j, count, columns))), int(count), k == 0 ? beta : 1,
                  block(C, i, j, rows, columns));
      }
    }
}

}  // namespace seidel::gemm_detail
