// Vector operations: every back end against the formula, and against one another by ==.
#include "../backends.hpp"
#include "matrices.hpp"

#include <limits>

#include <seidel/kernels/sum.hpp>
#include <seidel/kernels/vector.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

const std::int64_t sizes[] = {0,   1,    2,    31,   32,    33,    64,    65,    255,    256,
                              257, 2047, 2048, 2049, 16383, 16384, 16385, 70001, 1 << 20};

}  // namespace

TEST_CASE_TEMPLATE("dot is the one sum on every back end", Real, double, float) {
  for (std::int64_t n : sizes) {
    CAPTURE(n);
    const auto x = random_values<Real>(n, 1), y = random_values<Real>(n, 2);
    const Real expected = sum_of_products<Real>(n, [&](std::int64_t k, Real s) { return std::fma(x[k], y[k], s); });
    on_every_backend([&](auto on) {
      using B = decltype(on);
      const auto a = moved_to(on, x), b = moved_to(on, y);
      CHECK(dot<B, Real>(on, a, b) == expected);
    });
  }
}

TEST_CASE_TEMPLATE("element-wise operations follow their formulas on every back end", Real, double, float) {
  for (std::int64_t n : sizes) {
    CAPTURE(n);
    const auto x = random_values<Real>(n, 3), y = random_values<Real>(n, 4), d = random_values<Real>(n, 5);
    const Real a = Real(0.7), b = Real(-1.3);
    on_every_backend([&](auto on) {
      using B = decltype(on);
      const auto expect = [&](const char* what, auto run, auto formula) {
        CAPTURE(what);
        auto result = moved_to(on, y);
        run(moved_to(on, x), moved_to(on, d), result.span());
        on.synchronize();
        const auto got = moved_back(on, result);
        std::int64_t wrong = 0;
        for (std::int64_t i = 0; i < n; ++i) wrong += !(got[i] == formula(i));
        CHECK(wrong == 0);
      };
      expect("fill", [&](const auto&, const auto&, auto y_) { fill<B, Real>(on, y_, a); }, [&](auto) { return a; });
      expect(
          "copy", [&](const auto& x_, const auto&, auto y_) { copy<B, Real>(on, x_, y_); },
          [&](auto i) { return x[i]; });
      expect(
          "axpy", [&](const auto& x_, const auto&, auto y_) { axpy<B, Real>(on, a, x_, y_); },
          [&](auto i) { return std::fma(a, x[i], y[i]); });
      expect(
          "axpby", [&](const auto& x_, const auto&, auto y_) { axpby<B, Real>(on, a, x_, b, y_); },
          [&](auto i) { return std::fma(a, x[i], b * y[i]); });
      expect(
          "xpby", [&](const auto& x_, const auto&, auto y_) { xpby<B, Real>(on, x_, b, y_); },
          [&](auto i) { return std::fma(b, y[i], x[i]); });
      expect(
          "multiply", [&](const auto& x_, const auto& d_, auto y_) { multiply<B, Real>(on, d_, x_, y_); },
          [&](auto i) { return d[i] * x[i]; });
    });
  }
}

TEST_CASE_TEMPLATE("norm2 survives squares beyond the range of the type", Real, double, float) {
  const Real huge = std::numeric_limits<Real>::max() / 4, tiny = std::numeric_limits<Real>::min();
  const Real least = std::numeric_limits<Real>::denorm_min();
  on_every_backend([&](auto on) {
    using B = decltype(on);
    const auto norm_of = [&](std::vector<Real> x) { return norm2<B, Real>(on, moved_to(on, x)); };
    CHECK(norm_of({3 * (huge / 8), 4 * (huge / 8)}) == doctest::Approx(double(5 * (huge / 8))));
    CHECK(norm_of({3 * tiny, 4 * tiny}) / tiny == doctest::Approx(5));
    CHECK(norm_of({3 * least, 4 * least}) == 5 * least);
    CHECK(norm_of({}) == 0);
    CHECK(norm_of({0, 0}) == 0);
    CHECK(std::isinf(norm_of({1, std::numeric_limits<Real>::infinity()})));
    CHECK(std::isnan(norm_of({1, std::numeric_limits<Real>::quiet_NaN(), 2})));
  });
}

TEST_CASE("vectors of different sizes are refused") {
  Vector<double, OpenMP> x(OpenMP{1}, 3), y(OpenMP{1}, 4);
  CHECK_THROWS_AS(dot(x, y), ShapeError);
  CHECK_THROWS_AS(axpy(1, x, y), ShapeError);
}

TEST_CASE_TEMPLATE("hashed entries are in (-1, 1), not 0, and differ with the seed", Real, double, float) {
  for (std::int64_t n : sizes) {
    CAPTURE(n);
    Vector<Real, OpenMP> one(OpenMP{1}, n), other(OpenMP{1}, n);
    fill_hashed(one, 1);
    fill_hashed(other, 2);
    for (Real v : one.span()) REQUIRE((std::abs(v) < 1 && v != 0));
    if (n > 1000) CHECK(std::abs(dot(one, other)) < Real(0.2) * norm2(one) * norm2(other));
    on_every_backend([&](auto on) {
      Vector<Real, decltype(on)> there(on, n);
      fill_hashed(there, 1);
      const auto here = copied_to<Host>(on, std::as_const(there).span());
      CHECK(std::equal(here.begin(), here.end(), one.span().begin()));
    });
  }
}
