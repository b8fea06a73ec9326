// Tiles of C by AVX2: 12 of the 16 registers hold sums. This file is compiled for AVX2.
#include <seidel/kernels/gemm/tile.hpp>

#include <immintrin.h>

namespace seidel::gemm_detail {

namespace {

struct Doubles {
  using Real = double;
  using Register = __m256d;
  static constexpr int width = 4;
  static Register load(const double* p) { return _mm256_loadu_pd(p); }
  static Register all(double x) { return _mm256_set1_pd(x); }
  static void store(double* p, Register x) { _mm256_storeu_pd(p, x); }
  static Register fma(Register x, Register y, Register z) { return _mm256_fmadd_pd(x, y, z); }
  static Register times(Register x, Register y) { return _mm256_mul_pd(x, y); }
};

struct Floats {
  using Real = float;
  using Register = __m256;
  static constexpr int width = 8;
  static Register load(const float* p) { return _mm256_loadu_ps(p); }
  static Register all(float x) { return _mm256_set1_ps(x); }
  static void store(float* p, Register x) { _mm256_storeu_ps(p, x); }
  static Register fma(Register x, Register y, Register z) { return _mm256_fmadd_ps(x, y, z); }
  static Register times(Register x, Register y) { return _mm256_mul_ps(x, y); }
};

}  // namespace

const Tile<double> avx2_tile_double = tile_of<Doubles, 3, 4>;
const Tile<float> avx2_tile_float = tile_of<Floats, 3, 4>;

}  // namespace seidel::gemm_detail
