// Numbers in place of random ones: entry i is a function of i and a seed, the same on every back end.
#pragma once
#include <seidel/formats/generators/hash.hpp>
#include <seidel/kernels/vector.hpp>

namespace seidel {

namespace blas1 {

template <class Real>
struct FillHashed {
  std::uint64_t seed;
  Real* x;
  SEIDEL_HD void operator()(std::int64_t i) const {
    const std::uint64_t z = generators::mixed((seed << 40) + std::uint64_t(i + 1) * 0x9e3779b97f4a7c15u);
    x[i] = Real(2 * std::int32_t(z >> 40) + 1 - 0x1000000) * Real(0x1p-24);  // an odd number of 24 bits
  }
};

}  // namespace blas1

/// x_i in (-1, 1), never 0, a hash of i and the seed. Cost  writes x.
template <class Real, class B>
void fill_hashed(Vector<Real, B>& x, std::uint64_t seed) {
  blas1::for_each_element(x.on(), x.size(), blas1::FillHashed<Real>{seed, x.span().data()});
}

}  // namespace seidel
