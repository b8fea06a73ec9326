// Sums in groups, updates in one pass and blocks of vectors: the bits of the operations one by one, on every back end.
#include "../backends.hpp"
#include "matrices.hpp"

#include <limits>

#include <seidel/kernels/vector_block.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

const std::int64_t sizes[] = {0, 1, 33, 64, 65, 2047, 2048, 2049, 16384, 16385, 70001};

/// Vectors of random numbers on back end B, and what they hold in the end.
template <class Real, class B>
struct Given {
  B on;
  std::int64_t n;
  Vector<Real, B> vector(unsigned seed) const { return {on, moved_to(on, random_values<Real>(n, seed))}; }
};
template <class Real, class B>
std::vector<Real> values_of(const Vector<Real, B>& v) {
  return moved_back(OpenMP{1}, copied_to<Host>(v.on(), v.span()));
}

/// Calls test(Given) for each size on each back end.
template <class Real, class Test>
void on_every_size(const Test& test) {
  for (const std::int64_t n : sizes) {
    CAPTURE(n);
    on_every_backend([&](auto on) { test(Given<Real, decltype(on)>{on, n}); });
  }
}

}  // namespace

TEST_CASE_TEMPLATE("sums asked for together are those asked for one by one", Real, double, float) {
  on_every_size<Real>([](auto given) {
    const auto x = given.vector(1), y = given.vector(2), z = given.vector(3);
    const auto [xy, norm_z, zx] = sums(dot_of(x, y), norm2_of(z), dot_of(z, x));
    CHECK(xy == dot(x, y));
    CHECK(norm_z == norm2(z));
    CHECK(zx == dot(z, x));
  });
}

TEST_CASE_TEMPLATE("a norm among other sums survives squares beyond the range of the type", Real, double, float) {
  on_every_backend([](auto on) {
    using B = decltype(on);
    const Real huge = std::numeric_limits<Real>::max() / 4, tiny = std::numeric_limits<Real>::denorm_min();
    const auto of = [&](Real a, Real b) { return Vector<Real, B>(on, moved_to(on, std::vector<Real>{a, b})); };
    const auto large = of(3 * (huge / 8), 4 * (huge / 8)), small = of(3 * tiny, 4 * tiny), one = of(1, 2);
    const auto [norm_large, product, norm_small] = sums(norm2_of(large), dot_of(one, one), norm2_of(small));
    CHECK(norm_large == norm2(large));
    CHECK(std::isfinite(norm_large));
    CHECK(product == 5);
    CHECK(norm_small == 5 * tiny);
  });
}

TEST_CASE_TEMPLATE("an update in one pass has the bits of its operations, one after the other", Real, double, float) {
  const Real a = Real(0.7), b = Real(-1.3);
  on_every_size<Real>([&](auto given) {
    const auto expect = [&](const char* what, auto fused, auto separate) {
      CAPTURE(what);
      auto u = given.vector(1), v = given.vector(2), w = given.vector(3), s = given.vector(4);
      auto u2 = given.vector(1), v2 = given.vector(2), w2 = given.vector(3), s2 = given.vector(4);
      const auto x = given.vector(5), d = given.vector(6);
      CHECK(fused(u, v, w, s, x, d) == separate(u2, v2, w2, s2, x, d));
      CHECK(values_of(u) == values_of(u2));
      CHECK(values_of(v) == values_of(v2));
      CHECK(values_of(w) == values_of(w2));
      CHECK(values_of(s) == values_of(s2));
    };
    using Two = std::array<Real, 2>;
    expect(
        "move_and_turn",
        [&](auto& u, auto& v, auto&, auto&, auto& x, auto&) { return move_and_turn(a, u, x, b, v), 0; },
        [&](auto& u, auto& v, auto&, auto&, auto& x, auto&) { return axpy(a, v, u), xpby(x, b, v), 0; });
    expect(
        "axpy_twice", [&](auto& u, auto& v, auto&, auto&, auto& x, auto&) { return axpy_twice(a, x, b, v, u), 0; },
        [&](auto& u, auto& v, auto&, auto&, auto& x, auto&) { return axpy(a, x, u), axpy(b, v, u), 0; });
    expect(
        "axpy_xpby", [&](auto& u, auto& v, auto&, auto&, auto& x, auto&) { return axpy_xpby(a, x, v, b, u), 0; },
        [&](auto& u, auto& v, auto&, auto&, auto& x, auto&) { return axpy(a, x, u), xpby(v, b, u), 0; });
    expect(
        "axpy_norm2_dot", [&](auto& u, auto& v, auto&, auto&, auto& x, auto&) { return axpy_norm2_dot(a, x, u, v); },
        [&](auto& u, auto& v, auto&, auto&, auto& x, auto&) { return axpy(a, x, u), Two{norm2(u), dot(v, u)}; });
    expect(
        "axpy_multiply_norm2_dot",
        [&](auto& u, auto& v, auto&, auto&, auto& x, auto& d) { return axpy_multiply_norm2_dot(a, x, u, d, v); },
        [&](auto& u, auto& v, auto&, auto&, auto& x, auto& d) {
          return axpy(a, x, u), multiply(d, u, v), Two{norm2(u), dot(u, v)};
        });
    expect(
        "axpys_multiply_norm2_dot",
        [&](auto& u, auto& v, auto& w, auto& s, auto& x, auto& d) {
          return axpys_multiply_norm2_dot(a, x, u, s, v, d, w);
        },
        [&](auto& u, auto& v, auto& w, auto& s, auto& x, auto& d) {
          return axpy(a, x, u), axpy(a, s, v), multiply(d, v, w), Two{norm2(u), dot(v, w)};
        });
  });
}

TEST_CASE_TEMPLATE("a block of vectors: projections and combinations have the bits of dots and updates", Real, double,
                   float) {
  on_every_size<Real>([](auto given) {
    auto w = given.vector(100), w2 = given.vector(100);
    auto v = block_like(w, 70);
    for (unsigned i = 0; i < 70; ++i) copy(given.vector(i), v[i]);
    for (const std::size_t k : {0, 1, 7, 8, 9, 63, 64, 65, 70}) {
      CAPTURE(k);
      std::vector<Real> h(k + 1);
      CHECK(project(v, k, w, h.data()) == norm2(w));
      for (std::size_t i = 0; i < k; ++i) CHECK(h[i] == dot(v[i], w));
      for (Real& c : h) c = Real(0.01) * c;
      add_combination(v, k, h.data(), w);
      for (std::size_t i = 0; i < k; ++i) axpy(h[i], v[i], w2);
      CHECK(values_of(w) == values_of(w2));
      subtract_combination(v, k, h.data(), Real(0.3), w);
      for (std::size_t i = 0; i < k; ++i) axpy(-h[i], v[i], w2);
      axpby(0, w2, Real(0.3), w2);  // w2 = 0.3 w2
      CHECK(values_of(w) == values_of(w2));
    }
  });
}

TEST_CASE("a vector may view memory that somebody else owns") {
  double data[] = {3, 4};
  Vector<double, OpenMP> v(OpenMP{1}, Span<double, Host>(data, 2));
  CHECK(norm2(v) == 5);
  fill(v, 7);
  CHECK(data[1] == 7);
}

TEST_CASE("passes over vectors of different sizes are refused") {
  Vector<double, OpenMP> x(OpenMP{1}, 3), y(OpenMP{1}, 4), z(OpenMP{1}, 4);
  CHECK_THROWS_AS(sums(norm2_of(x), norm2_of(y)), ShapeError);
  CHECK_THROWS_AS(move_and_turn(1, x, y, 1, z), ShapeError);
  CHECK_THROWS_AS(axpy_norm2_dot(1, x, y, z), ShapeError);
  double h[3];
  CHECK_THROWS_AS(project(block_like(x, 2), 2, y, h), ShapeError);
}
