// Tiles of C by plain loops, which the compiler may turn into vector instructions.
#include <seidel/kernels/gemm/tile.hpp>

#include <cmath>

namespace seidel::gemm_detail {

namespace {

template <class Real_>
struct One {
  using Real = Real_;
  using Register = Real;
  static constexpr int width = 1;
  static Register load(const Real* p) { return *p; }
  static Register all(Real x) { return x; }
  static void store(Real* p, Register x) { *p = x; }
  static Register fma(Register x, Register y, Register z) { return std::fma(x, y, z); }
  static Register times(Register x, Register y) { return x * y; }
};

}  // namespace

const Tile<double> portable_tile_double = tile_of<One<double>, 8, 4>;
const Tile<float> portable_tile_float = tile_of<One<float>, 8, 4>;

}  // namespace seidel::gemm_detail
