// Sweeps on a GPU: what no back end of the host has, colours that are one launch each and values that are their own flags.
#include "../backends.hpp"
#include "matrices.hpp"

#include <bit>
#include <cmath>
#include <utility>

#include <seidel/formats/permute.hpp>
#include <seidel/kernels/orders/orders.hpp>
#include <seidel/kernels/symgs/symgs.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// Two colours, whose rows have up to 120 terms in the other: sums of more than 64 beside shorter ones.
Plain two_halves(Index n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Plain A{n, std::vector<std::map<Index, double>>(n)};
  for (Index i = 0; i < n; ++i)
    for (auto terms = random() % 121; terms > 0; --terms)
      A.rows[i][Index(random() % (n / 2)) + (i < n / 2 ? n / 2 : 0)] = uniform(random);
  return with_dominant_diagonal(std::move(A));
}

/// Two colours, whose rows have their columns in the other at one distance: most 90 of them, some 70, 64 or 40. Lists of
/// columns are shared by many rows; beside long sums there are short ones.
Plain two_bands(Index n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Plain A{n, std::vector<std::map<Index, double>>(n)};
  for (Index i = 0; i < n; ++i) {
    const Index half = n / 2, k = i % half, terms = k % 97 == 5 ? 70 : k % 61 == 3 ? 64 : k % 160 < 9 ? 40 : 90;
    for (Index j = k - 45; j < k - 45 + terms; ++j)
      if (j >= 0 && j < half) A.rows[i][j + (i < half ? half : 0)] = uniform(random);
  }
  return with_dominant_diagonal(std::move(A));
}

}  // namespace

TEST_CASE("[cuda] a NaN in b is a value that nothing waits for, whatever its bits") {
  if constexpr (built_with_cuda) {
    if (!have_gpu()) return skipped_cuda();
    const Cuda on;
    const auto A = copied_to<Device>(on, csr_of<double>(poisson(20, 20, 20)).view());
    const GaussSeidel<double, std::int32_t, Cuda> sweeps(on, A.view());
    std::vector<double> b(8000, 1);
    b[4000] = std::bit_cast<double>(~std::uint64_t(0));  // as a value that is not there yet looks
    const auto b_on = moved_to(on, b);
    Array<double, Device> x(on, 8000);
    sweeps.symmetric_from_zero(b_on, x);
    CHECK_NOTHROW(sweeps.check());
    const auto with_nan = moved_back(on, x);
    CHECK(std::isnan(with_nan[4000]));
    CHECK(std::isnan(with_nan[0]));
    const auto ones = moved_to(on, std::vector<double>(8000, 1));
    sweeps.symmetric_from_zero(ones, x);
    CHECK_NOTHROW(sweeps.check());
    for (const double v : moved_back(on, x)) REQUIRE(std::isfinite(v));  // nothing is left of it
  }
}

TEST_CASE("[cuda] sweeps by colours, a launch each, give the bits of the natural sweep of the permuted matrix") {
  if constexpr (built_with_cuda) {
    if (!have_gpu()) return skipped_cuda();
    const Cuda on;
    const unsigned seed = fresh_seed();
    const auto compare = [&]<class Real>(const Plain& plain, Real) {
      const auto A = csr_of<Real>(plain);
      const Index n = A.nrows;
      const auto order = colour_order(OpenMP{1}, greedy_colours(OpenMP{1}, A.view()));
      auto permuted_A = permuted(OpenMP{1}, A.view(), order.span());
      GaussSeidel<Real, std::int32_t, OpenMP> serial(OpenMP{1}, permuted_A.view());
      auto there = copied_to<Device>(on, permuted_A.view());
      const auto order_there = copied_to<Device>(on, order.span());
      GaussSeidel<Real, std::int32_t, Cuda> as_it_stands(on, there.view()),
          before(on, there.view(), order_there.span());
      REQUIRE(as_it_stands.wavefronts() <= 64);  // else the sweep is another
      REQUIRE(n / as_it_stands.wavefronts() >= 4096);
      const auto b = random_values<Real>(n, seed), guess = random_values<Real>(n, seed + 1);
      const auto scattered = [&](const std::vector<Real>& v) {  // into the order before; row-major
        std::vector<Real> to(v.size());
        const std::size_t columns = v.size() / std::size_t(n);
        for (Index k = 0; k < n; ++k)
          for (std::size_t j = 0; j < columns; ++j) to[order[k] * columns + j] = v[k * columns + j];
        return to;
      };
      for (const Real omega : {Real(1), Real(1.3)})
        for (const int what : {0, 1, 2, 3}) {
          CAPTURE(what);
          const auto sweep = [&](const auto& sweeps, const auto& b, auto& x) {
            if (what == 0) sweeps.symmetric_from_zero(b, x, omega);
            if (what == 1) sweeps.symmetric(b, x, omega);
            if (what == 2) sweeps.forward(b, x, omega);
            if (what == 3) sweeps.backward(b, x, omega);
          };
          Array<Real> expected(guess);
          sweep(serial, Array<Real>(b), expected);
          for (const bool permuted_vectors : {false, true}) {
            CAPTURE(permuted_vectors);
            const auto b_there = moved_to(on, permuted_vectors ? scattered(b) : b);
            auto x_there = moved_to(on, permuted_vectors ? scattered(guess) : guess);
            sweep(permuted_vectors ? before : as_it_stands, b_there, x_there);
            CHECK_NOTHROW(as_it_stands.check());
            const std::vector<Real> right(expected.begin(), expected.end());
            CHECK(differing(moved_back(on, x_there), permuted_vectors ? scattered(right) : right) == 0);
          }
        }
      constexpr std::int64_t columns = 11;  // a strip and what is left
      const auto many = [&]<class Space>(auto* data, Space) {
        return MultiVectorView<std::remove_pointer_t<decltype(data)>, Space>{n, columns, columns, Layout::row_major,
                                                                             data};
      };
      const auto R = random_values<Real>(n * columns, seed + 2);
      for (const Real omega : {Real(1), Real(1.3)}) {
        std::vector<Real> right(R.size());
        serial.symmetric_from_zero(many(R.data(), Host{}), many(right.data(), Host{}), omega);
        for (const bool permuted_vectors : {false, true}) {
          CAPTURE(permuted_vectors);
          const auto R_there = moved_to(on, permuted_vectors ? scattered(R) : R);
          auto X_there = moved_to(on, std::vector<Real>(R.size(), Real(-77)));
          const auto& sweeps = permuted_vectors ? before : as_it_stands;
          sweeps.symmetric_from_zero(many(R_there.data(), Device{}), many(X_there.data(), Device{}), omega);
          CHECK_NOTHROW(sweeps.check());
          CHECK(differing(moved_back(on, X_there), permuted_vectors ? scattered(right) : right) == 0);
        }
      }
      for (auto& v : permuted_A.values) v *= Real(1.0625);
      serial.update_values(std::as_const(permuted_A.values).span());
      as_it_stands.update_values(copied_to<Device>(on, std::as_const(permuted_A.values).span()).span());
      Array<Real> p(n), Ap(n), w(n);
      Array<Real, Device> p_there(on, n), Ap_there(on, n), w_there(on, n);
      serial.split_product(Array<Real>(b), p, Ap, w);
      as_it_stands.split_product(moved_to(on, b), p_there, Ap_there, w_there);
      CHECK_NOTHROW(as_it_stands.check());
      CHECK(differing(moved_back(on, p_there), moved_back(on, p)) == 0);
      CHECK(differing(moved_back(on, Ap_there), moved_back(on, Ap)) == 0);
      CHECK(differing(moved_back(on, w_there), moved_back(on, w)) == 0);
    };
    compare(poisson(29, 23, 25), 0.0);
    compare(poisson(29, 23, 25), 0.0f);
    compare(random_square(60000, 4, seed), 0.0);
    compare(two_halves(20000, seed), 0.0);
    compare(two_halves(20000, seed), 0.0f);
    compare(two_bands(20000, seed), 0.0);
    compare(two_bands(20000, seed), 0.0f);
  }
}

TEST_CASE("[cuda] a pattern that changes within the analysis ends with an error, not a hang") {
  if constexpr (built_with_cuda) {
    if (!have_gpu()) return skipped_cuda();
    const Cuda on;
    const auto A_host = csr_of<double>(poisson(20, 20, 20));
    auto A = copied_to<Device>(on, A_host.view());
    const auto b = moved_to(on, std::vector<double>(8000, 1));
    Array<double, Device> x(on, 8000);
    SweepAnalysis<double, std::int32_t, Cuda> analysis(on, std::as_const(A).view());
    const Index itself = 7998;  // the last entry of its row is column 7999
    copy_bytes(on, Device{}, A.col_idx.data() + A_host.row_ptr[itself + 1] - 1, Host{}, &itself, sizeof itself);
    const GaussSeidel waiting(std::move(analysis), std::as_const(A.values).span());
    waiting.symmetric_from_zero(b, x);
    CHECK_THROWS_AS(waiting.check(), BackendError);

    copy(on, A_host.col_idx.span(), A.col_idx.span());
    const GaussSeidel whole(on, std::as_const(A).view());
    whole.symmetric_from_zero(b, x);
    CHECK_NOTHROW(whole.check());
    for (const double v : moved_back(on, x)) REQUIRE(std::isfinite(v));
  }
}
