// Tiles of C by AVX-512: 24 of the 32 registers hold sums. This file is compiled for AVX-512.
#include <seidel/kernels/gemm/tile.hpp>

#include <immintrin.h>

namespace seidel::gemm_detail {

namespace {

struct Fma {
  static __m512d of(__m512d x, __m512d y, __m512d z) { return _mm512_fmadd_pd(x, y, z); }
  static __m512 of(__m512 x, __m512 y, __m512 z) { return _mm512_fmadd_ps(x, y, z); }
};

}  // namespace

const Tile<double> avx512_tile_double = tile_of<VectorLanes<double, 64, Fma>, 3, 8>;
const Tile<float> avx512_tile_float = tile_of<VectorLanes<float, 64, Fma>, 3, 8>;

}  // namespace seidel::gemm_detail
