// Tiles of C by AVX2: 12 of the 16 registers hold sums. This file is compiled for AVX2.
#include <seidel/kernels/gemm/tile.hpp>

#include <immintrin.h>

namespace seidel::gemm_detail {

namespace {

struct Fma {
  static __m256d of(__m256d x, __m256d y, __m256d z) { return _mm256_fmadd_pd(x, y, z); }
  static __m256 of(__m256 x, __m256 y, __m256 z) { return _mm256_fmadd_ps(x, y, z); }
};

}  // namespace

const Tile<double> avx2_tile_double = tile_of<VectorLanes<double, 32, Fma>, 3, 4>;
const Tile<float> avx2_tile_float = tile_of<VectorLanes<float, 32, Fma>, 3, 4>;

}  // namespace seidel::gemm_detail
