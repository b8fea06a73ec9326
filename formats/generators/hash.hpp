// Random numbers by counter: number k of row i is a function of seed, i and k alone, so it does not depend on who
// draws it. Integers and exact floating-point operations only: the same bits on every machine.
#pragma once
#include <algorithm>
#include <cstdint>

#include <seidel/formats/runtime/types.hpp>

namespace seidel::generators {

/// Source  Steele, Lea, Flood, Fast splittable pseudorandom number generators, OOPSLA 2014 (splitmix64).
SEIDEL_HD constexpr std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/// What is drawn, so that draws of different kinds are independent.
enum class Draw : std::uint64_t { lengths, columns, values, edges };

/// The stream of one row (or edge).
class Stream {
 public:
  constexpr Stream(std::uint64_t seed, Draw kind, std::uint64_t row)
      : key_(mixed(mixed(mixed(seed + step) + std::uint64_t(kind) + 1) + row * step)) {}
  /// 64 random bits: number k.
  constexpr std::uint64_t operator()(std::uint64_t k) const { return mixed(key_ + (k + 1) * step); }

 private:
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15u;
  std::uint64_t key_;
};

/// 0 ... n-1, as uniformly as 64 bits allow.
constexpr std::int64_t below(std::uint64_t bits, std::int64_t n) {
  __extension__ using Wide = unsigned __int128;
  return std::int64_t(Wide(bits) * std::uint64_t(n) >> 64);
}
/// In (0, 1): odd multiples of 2^-53.
constexpr double uniform(std::uint64_t bits) { return (double(bits >> 12) + 0.5) * 0x1p-52; }
/// In (-1, 1), never 0: odd multiples of 2^-52.
constexpr double signed_uniform(std::uint64_t bits) { return 2 * uniform(bits) - 1; }

/// `count` distinct columns below ncols, ascending.
inline void distinct_columns(const Stream& bits, std::int64_t ncols, std::int64_t count, Index* columns) {
  if (4 * count >= ncols) {  // selection sampling: column j is taken with probability missing / left
    std::int64_t missing = count;
    for (std::int64_t j = 0; missing > 0; ++j)
      if (below(bits(std::uint64_t(j)), ncols - j) < missing) columns[count - missing--] = Index(j);
    return;
  }
  std::uint64_t draw = 0;
  for (std::int64_t have = 0; have < count;) {
    while (have < count) columns[have++] = Index(below(bits(draw++), ncols));
    std::sort(columns, columns + have);
    have = std::unique(columns, columns + have) - columns;
  }
}

}  // namespace seidel::generators
