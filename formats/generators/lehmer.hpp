// Vectors and multivectors uniform in (0, 1), from a Lehmer generator.
#pragma once
#include <seidel/formats/multivector.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel {

/// x_k = 48271 x_(k-1) mod 2^31 - 1, x_0 = seed (0 stands for 1). Repeats after 2^31 - 2 numbers.
/// Source  Park, Miller, Stockmeyer, Technical correspondence, Commun. ACM 36(7), 1993; std::minstd_rand is the same.
class Lehmer {
 public:
  static constexpr std::uint64_t modulus = 2147483647, multiplier = 48271;

  explicit constexpr Lehmer(std::uint64_t seed) : state_(seed % modulus ? seed % modulus : 1) {}
  /// The next of 1 ... 2^31 - 2.
  constexpr std::uint32_t operator()() { return std::uint32_t(state_ = state_ * multiplier % modulus); }
  /// As if `count` numbers had been drawn; log count steps.
  constexpr void jump(std::uint64_t count) {
    for (std::uint64_t factor = multiplier; count; count >>= 1, factor = factor * factor % modulus)
      if (count & 1) state_ = state_ * factor % modulus;
  }

 private:
  std::uint64_t state_;
};

/// In (0, 1), both ends excluded in either type.
template <class Real>
constexpr Real lehmer_uniform(std::uint32_t x) {
  if constexpr (sizeof(Real) == 4)
    return (Real(x >> 8) + Real(0.5)) * Real(0x1p-23);  // 23 bits and a half: exact
  else
    return Real(x) / Real(Lehmer::modulus);
}

/// x[k] = number k + 1 of the sequence. Parallel; the same bits for any number of threads.
template <class Real>
void fill_uniform(const OpenMP& on, HostSpan<Real> x, std::uint64_t seed = 1);

/// Element (i, j) is number i * ncols + j + 1 of the sequence in either layout; padding is not written.
template <class Real>
void fill_uniform(const OpenMP& on, MultiVectorView<Real, Host> X, std::uint64_t seed = 1);
template <class Real, HostBackend On>
MultiVector<Real> random_multivector(const On& on, std::int64_t nrows, std::int64_t ncols, Layout layout,
                                     std::uint64_t seed = 1) {
  MultiVector<Real> X(nrows, ncols, layout);
  fill_uniform(on, X.view(), seed);
  return X;
}

}  // namespace seidel
