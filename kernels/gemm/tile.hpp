// A tile of C in the registers of a core, for one instruction set. No other header of the project is included where this
// is compiled for more than the least processor: an inline function of theirs could replace the other files' copies of
// it.
#pragma once
#include <cstdint>

namespace seidel::gemm_detail {

/// A tile of `rows` x `columns` elements of a column-major C:  C = beta C + sum over k of a_k b_k', k ascending, by fma;
/// 0 instead of beta C if beta is 0. `a` holds `rows` elements for each k, `b` holds `columns`.
template <class Real>
struct Tile {
  int rows, columns;
  void (*run)(std::int64_t K, const Real* a, const Real* b, Real beta, Real* C, std::int64_t leading);
};

extern const Tile<double> avx512_tile_double, avx2_tile_double, portable_tile_double;
extern const Tile<float> avx512_tile_float, avx2_tile_float, portable_tile_float;

namespace {

/// Lanes is a register of `width` elements: load, all (each lane the same), store, fma, times. The tile is `high` of them
/// high, and all of it must stay in registers.
template <class Lanes, int high, int columns>
void run_tile(std::int64_t K, const typename Lanes::Real* a, const typename Lanes::Real* b, typename Lanes::Real beta,
              typename Lanes::Real* C, std::int64_t leading) {
  using Register = typename Lanes::Register;
  constexpr int width = Lanes::width;
  Register c[columns][high];
  const Register factor = Lanes::all(beta);
#pragma GCC unroll 16
  for (int j = 0; j < columns; ++j)
#pragma GCC unroll 16
    for (int i = 0; i < high; ++i)
      c[j][i] = beta == 0 ? Lanes::all(0) : Lanes::times(factor, Lanes::load(C + j * leading + i * width));
  for (std::int64_t k = 0; k < K; ++k, a += high * width, b += columns) {
    Register x[high];
#pragma GCC unroll 16
    for (int i = 0; i < high; ++i) x[i] = Lanes::load(a + i * width);
#pragma GCC unroll 16
    for (int j = 0; j < columns; ++j) {
      const Register y = Lanes::all(b[j]);
#pragma GCC unroll 16
      for (int i = 0; i < high; ++i) c[j][i] = Lanes::fma(x[i], y, c[j][i]);
    }
  }
#pragma GCC unroll 16
  for (int j = 0; j < columns; ++j)
#pragma GCC unroll 16
    for (int i = 0; i < high; ++i) Lanes::store(C + j * leading + i * width, c[j][i]);
}

/// Vector registers of so many bytes; Fma has their fused multiply-add.
template <class Real_, int bytes, class Fma>
struct VectorLanes {
  using Real = Real_;
  using Register [[gnu::vector_size(bytes)]] = Real;
  static constexpr int width = bytes / sizeof(Real);
  using InMemory [[gnu::vector_size(bytes), gnu::aligned(alignof(Real)), gnu::may_alias]] = Real;
  static Register load(const Real* p) { return *reinterpret_cast<const InMemory*>(p); }
  static Register all(Real x) { return x - Register{}; }
  static void store(Real* p, Register x) { *reinterpret_cast<InMemory*>(p) = x; }
  static Register fma(Register x, Register y, Register z) { return Fma::of(x, y, z); }
  static Register times(Register x, Register y) { return x * y; }
};

template <class Lanes, int high, int columns>
constexpr Tile<typename Lanes::Real> tile_of = {high * Lanes::width, columns, run_tile<Lanes, high, columns>};

}  // namespace

}  // namespace seidel::gemm_detail
