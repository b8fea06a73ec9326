// Uniform vectors and multivectors.
#include <seidel/formats/generators/lehmer.hpp>

#include <random>

#include "../matrices.hpp"

using namespace seidel;
using namespace seidel::tests;

TEST_CASE("Lehmer's numbers are those of std::minstd_rand, from any place") {
  for (const std::uint64_t seed : {1u, 2u, 12345u, 2147483646u}) {
    std::minstd_rand expected{unsigned(seed)};
    Lehmer numbers(seed);
    for (std::uint64_t k = 0; k < 1000; ++k) {
      Lehmer jumped(seed);
      jumped.jump(k);
      const auto next = expected();
      CHECK_UNARY(numbers() == next && jumped() == next);
    }
  }
  Lehmer around(5);
  around.jump(Lehmer::modulus - 1);  // once around
  CHECK(around() == Lehmer(5)());
  CHECK(Lehmer(0)() == Lehmer(1)());
}

TEST_CASE_TEMPLATE("uniform vectors and multivectors are inside (0, 1) and the same for any number of threads", Real,
                   double, float) {
  CHECK(lehmer_uniform<Real>(1) > 0);
  CHECK(lehmer_uniform<Real>(2147483646) < 1);
  const std::int64_t n = 100003;
  Array<Real> serial(n, Real(-1));
  fill_uniform(OpenMP{1}, serial.span(), 42);
  double mean = 0;
  std::int64_t outside = 0;
  for (const Real u : serial) outside += !(u > 0 && u < 1), mean += double(u) / double(n);
  CHECK(outside == 0);
  CHECK(std::fabs(mean - 0.5) < 5 * 0.2887 / 316);
  for (int threads : {1, 2, 3, 7}) {
    const OpenMP on{threads};
    Array<Real> x(n, Real(-1));
    fill_uniform(on, x.span(), 42);
    CHECK(same_bits(x, serial));
    for (const Layout layout : {Layout::row_major, Layout::column_major}) {
      MultiVector<Real> X(9091, 11, layout, layout == Layout::row_major ? 13 : 9100);
      std::fill(X.elements().begin(), X.elements().end(), Real(-1));
      fill_uniform(on, X.view(), 42);
      std::int64_t wrong = 0, touched = 0;
      for (std::int64_t i = 0; i < 9091; ++i)
        for (std::int64_t j = 0; j < 11; ++j) wrong += X.view()(i, j) != serial[i * 11 + j];
      for (const Real element : X.elements()) touched += element != Real(-1);
      CHECK(wrong == 0);
      CHECK(touched == 9091 * 11);
    }
  }
  CHECK(random_multivector<Real>(OpenMP{2}, 10, 3, Layout::column_major, 42).view()(2, 1) == serial[7]);
}
