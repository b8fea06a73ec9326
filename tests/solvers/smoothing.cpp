// Where residuals waver just above what is asked for, their combination ends the iteration.
#include "systems.hpp"

#include <seidel/solvers/iterate.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

using V = Vector<double, OpenMP>;

struct IdentityMatrix {
  std::int64_t n;
  std::int64_t nrows() const { return n; }
  std::int64_t ncols() const { return n; }
  void apply(const V& x, V& y) const { copy(x, y); }
};

V vector(std::initializer_list<double> values) {
  V v(OpenMP{1}, std::int64_t(values.size()));
  std::copy(values.begin(), values.end(), v.span().data());
  return v;
}

Criteria to_a_hundredth() {
  const Criteria criteria{.relative_tolerance = 1e-2};
  return criteria;
}

/// Leads x through iterates with the given residuals b - x, as cg would, until the round is over.
struct Led {
  IdentityMatrix A{3};
  V b = vector({3, 0, 4}), x = like(b), r = like(b), s = like(b);
  Criteria criteria = to_a_hundredth();  // of a norm of 5
  Iterate<V, IdentityMatrix> iterate{"cg", A, b, x, criteria, 100};

  explicit Led(std::initializer_list<std::initializer_list<double>> residuals) {
    REQUIRE(iterate.unsolved(r));
    for (const auto& wanted : residuals) {
      if (!iterate.progress().running()) return;
      const V to = vector(wanted);
      V p = like(b);
      for (int i = 0; i < 3; ++i) p.span()[i] = b.span()[i] - to.span()[i] - x.span()[i];
      copy(to, r);
      REQUIRE(iterate.progress().record(norm2(r)));
      iterate.move(1.0, p);
      iterate.smooth(r, s);
    }
  }
};

}  // namespace

TEST_CASE("iterates that are nearly good enough are combined to one that is") {
  Led led({{0.055, 0, 0}, {0, 0.06, 0}, {9, 9, 9}});  // 0.05 is wanted; the third is never reached
  CHECK(!led.iterate.unsolved(led.r));
  const Summary summary = led.iterate.summary();
  CHECK(summary.status == Status::converged);
  CHECK(summary.iterations == 2);
  const double least = 1 / std::hypot(1 / 0.055, 1 / 0.06);  // the distance of a line from the origin
  CHECK(summary.history.back() * 5 == doctest::Approx(least));
  CHECK(norm2(led.r) == doctest::Approx(least));
  CHECK(summary.returned_iteration == 2);
}

TEST_CASE("a residual that rises again does not spoil the combination, nor does one that stays") {
  Led led({{0.055, 0, 0}, {0.055, 0, 0}, {0, 70, 0}, {0, 0, 0.2}, {-0.2, 0.01, 0}});
  CHECK(!led.iterate.unsolved(led.r));
  const Summary summary = led.iterate.summary();
  CHECK(summary.status == Status::converged);
  for (std::size_t k = 2; k < summary.history.size(); ++k) CHECK(summary.history[k] <= summary.history[k - 1]);
  CHECK(norm2(led.r) <= 0.05);
}

TEST_CASE("far from the goal nothing is combined") {
  Led led({{0.07, 0, 0}, {0, 0.07, 0}, {0, 0, 0.07}});
  CHECK(led.iterate.progress().running());
  CHECK(led.iterate.progress().latest() == doctest::Approx(0.07));
}
