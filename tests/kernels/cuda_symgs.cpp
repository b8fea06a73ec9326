// The GPU's two ways to sweep, beside each other, and what GaussSeidel does not ask of the faster one.
#include "../backends.hpp"
#include "matrices.hpp"

#include <bit>
#include <cmath>
#include <utility>

#include <seidel/kernels/symgs/cuda_natural.hpp>
#include <seidel/kernels/symgs/cuda_wavefronts.hpp>

using namespace seidel;
using namespace seidel::tests;
using symgs_detail::NaturalOptions;
using symgs_detail::NaturalSweep;
using symgs_detail::WavefrontSweep;

namespace {

template <class Real>
void compare_ways(const Plain& plain, unsigned seed) {
  const Cuda on;
  const auto A = copied_to<Device>(csr_of<Real>(plain).view());
  const Index n = plain.nrows();
  const auto b = moved_to(on, random_values<Real>(n, seed)), guess = moved_to(on, random_values<Real>(n, seed + 1));
  const auto from_guess = [&](const auto& sweep) {
    Array<Real, Device> x(n);
    copy(std::as_const(guess).span(), x.span());
    sweep(x.data());
    on.synchronize();
    return moved_back(x);
  };
  const WavefrontSweep<Real, std::int32_t> plainly(on, A.view());
  NaturalOptions scalars;
  scalars.nodes = false;
  for (const NaturalOptions& options : {NaturalOptions{}, scalars}) {
    const NaturalSweep<Real> sweeps(on, A.view(), options);
    CHECK(sweeps.report().wavefronts == plainly.wavefronts());
    for (const Real omega : {Real(1), Real(1.3)}) {
      const auto once = from_guess([&](Real* x) { plainly.pair(b.data(), x, omega); });
      CHECK(differing(from_guess([&](Real* x) { sweeps.pairs(b.data(), x, omega); }), once) == 0);
      const auto zero = from_guess([&](Real* x) { plainly.pair_from_zero(b.data(), x, omega); });
      CHECK(differing(from_guess([&](Real* x) { sweeps.pairs_from_zero(b.data(), x, omega); }), zero) == 0);
      const auto three = from_guess([&](Real* x) {
        plainly.pair_from_zero(b.data(), x, omega);
        for (int k = 0; k < 2; ++k) plainly.pair(b.data(), x, omega);
      });
      CHECK(differing(from_guess([&](Real* x) { sweeps.pairs_from_zero(b.data(), x, omega, 3); }), three) == 0);
    }
    CHECK_NOTHROW(sweeps.check());
  }
}

}  // namespace

TEST_CASE("[cuda] wavefront after wavefront and all at once give the same bits") {
  if constexpr (built_with_cuda) {
    if (!have_gpu()) return skipped_cuda();
    const unsigned seed = fresh_seed();
    CAPTURE(seed);
    for (const auto& [name, plain] : awkward_to_sweep(seed)) {
      CAPTURE(name);
      compare_ways<double>(plain, seed);
      compare_ways<float>(plain, seed);
    }
  }
}

TEST_CASE("[cuda] a NaN in b is a value that nothing waits for, whatever its bits") {
  if constexpr (built_with_cuda) {
    if (!have_gpu()) return skipped_cuda();
    const Cuda on;
    const auto A = copied_to<Device>(csr_of<double>(poisson3d(20, 20, 20)).view());
    const NaturalSweep<double> sweeps(on, A.view());
    std::vector<double> b(8000, 1);
    b[4000] = std::bit_cast<double>(~std::uint64_t(0));  // as a value that is not there yet looks
    const auto b_on = moved_to(on, b);
    Array<double, Device> x(8000);
    sweeps.pairs_from_zero(b_on.data(), x.data());
    CHECK_NOTHROW(sweeps.check());
    const auto with_nan = moved_back(x);
    CHECK(std::isnan(with_nan[4000]));
    CHECK(std::isnan(with_nan[0]));
    const auto ones = moved_to(on, std::vector<double>(8000, 1));
    sweeps.pairs_from_zero(ones.data(), x.data());
    CHECK_NOTHROW(sweeps.check());
    for (const double v : moved_back(x)) REQUIRE(std::isfinite(v));  // nothing is left of it
  }
}
