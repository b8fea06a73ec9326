// Smoothers: the solution stays, the error falls in the norm of A, and every back end has the same bits.
#include "systems.hpp"

#include <seidel/solvers/smoothers/chebyshev.hpp>
#include <seidel/solvers/smoothers/jacobi.hpp>
#include <seidel/solvers/smoothers/smoother.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// A on back end B, and vectors that fit it.
template <class B>
struct System {
  using V = Vector<double, B>;
  B on;
  const Matrix& here;
  Csr<double, std::int64_t, SpaceOf<B>> there;
  MatrixOperator<CsrView<double, std::int64_t, SpaceOf<B>>, B> A;

  System(B back_end, const Matrix& matrix)
      : on(back_end), here(matrix), there(moved_to(on, matrix.view())), A(on, there.view()) {}
  V vector(const std::vector<double>& values) const { return {on, moved_to(on, values)}; }
  std::vector<double> values(const V& v) const {
    const auto back = copied_to<Host>(on, v.span());
    return {back.begin(), back.end()};
  }
};

/// Calls test(name, smoother) with each smoother for the system.
template <class B, class Test>
void each_smoother(const System<B>& s, const Test& test) {
  test("jacobi", JacobiSmoother(s.A, jacobi_weights(s.on, s.here.view(), 2.0 / 3)));
  test("l1-jacobi", JacobiSmoother(s.A, l1_jacobi_weights(s.on, s.here.view())));
  for (const int degree : {1, 2, 5})
    test("chebyshev", ChebyshevSmoother(s.A, jacobi_weights(s.on, s.here.view(), 1), s.vector(ramp(s.here.nrows)),
                                        {.degree = degree}));
  for (const Order order : {Order::natural, Order::colours})
    test("symgs", SymgsPreconditioner<double, std::int64_t, B>(s.on, s.there.view(), order, 1.2, 2));
}

/// x'A x.
double energy(const Matrix& A, const std::vector<double>& x) {
  const auto Ax = times(A, x);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * Ax[i];
  return sum;
}

}  // namespace

TEST_CASE("the exact solution is a fixed point of every smoother") {
  const Matrix A = poisson(30);
  std::vector<double> exact(A.nrows);
  for (std::size_t i = 0; i < exact.size(); ++i) exact[i] = double(i % 7) - 3;  // b = A x is without rounding
  const System<OpenMP> s(OpenMP{2}, A);
  each_smoother(s, [&](const char* name, const auto& smoother) {
    CAPTURE(name);
    static_assert(Smoother<std::decay_t<decltype(smoother)>, Vector<double, OpenMP>>);
    static_assert(Preconditioner<std::decay_t<decltype(smoother)>, Vector<double, OpenMP>>);
    auto x = s.vector(exact);
    smoother.smooth(s.vector(times(A, exact)), x);
    const auto left = s.values(x);
    for (std::size_t i = 0; i < left.size(); ++i) REQUIRE(left[i] == doctest::Approx(exact[i]).epsilon(1e-15));
  });
}

TEST_CASE("every smoother reduces the error in the norm of A, most where it oscillates, and most from zero as from 0") {
  const unsigned seed = fresh_seed();
  for (const Matrix& A : {poisson(30), random_spd(seed, 700, 5), random_spd(seed + 1, 300, 90)}) {
    const System<OpenMP> s(OpenMP{1}, A);
    std::mt19937_64 random(seed);
    std::vector<double> error(A.nrows);
    for (double& e : error) e = random_value(random);
    const auto zero = s.vector(std::vector<double>(A.nrows));
    each_smoother(s, [&](const char* name, const auto& smoother) {
      CAPTURE(name);
      auto x = s.vector(error);  // of A x = 0
      smoother.smooth(zero, x);
      CHECK(energy(A, s.values(x)) < 0.7 * energy(A, error));

      const auto b = s.vector(error);
      auto from_zero = s.vector(std::vector<double>(A.nrows)), other = s.vector(std::vector<double>(A.nrows));
      smoother.smooth(b, from_zero);
      smoother.smooth_from_zero(b, other);
      const auto one = s.values(from_zero), two = s.values(other);
      for (std::size_t i = 0; i < one.size(); ++i) REQUIRE(one[i] == doctest::Approx(two[i]).epsilon(1e-12));
    });
  }
}

TEST_CASE("every smoother has the same bits on every back end and with any number of threads") {
  const Matrix A = random_spd(fresh_seed(), 20001, 4);
  const auto b = ramp(A.nrows);
  std::vector<std::vector<double>> expected;
  const auto results = [&](auto on) {
    const System<decltype(on)> s(on, A);
    std::vector<std::vector<double>> found;
    each_smoother(s, [&](const char*, const auto& smoother) {
      auto x = s.vector(b), z = s.vector(b);
      smoother.smooth(s.vector(b), x);
      smoother.apply(x, z);
      found.push_back(s.values(z));
    });
    return found;
  };
  expected = results(OpenMP{1});
  on_every_backend([&](auto on) { CHECK(results(on) == expected); });
}
