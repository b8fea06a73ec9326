// SymGS as a preconditioner: several pairs, orders, single precision; the same bits on every back end.
#include "../backends.hpp"
#include "../kernels/matrices.hpp"

#include <cmath>

#include <seidel/solvers/cg.hpp>
#include <seidel/solvers/matrix_operator.hpp>
#include <seidel/solvers/preconditioners/symgs.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

template <class B, class M>
std::vector<double> applied(const B& on, const M& preconditioner, const std::vector<double>& r) {
  const Vector<double, B> there(on, moved_to(on, r));
  Vector<double, B> z(on, moved_to(on, poisoned<double>(std::int64_t(r.size()))));
  preconditioner.apply(there, z);
  on.synchronize();
  std::vector<double> found(r.size());
  copy_bytes(on, Host{}, found.data(), SpaceOf<B>{}, z.span().data(), z.size() * std::int64_t(sizeof(double)));
  return found;
}

template <class B>
using InSingle = SymgsPreconditioner<double, std::int32_t, B, float>;

std::vector<double> scaled(std::vector<double> x, double c) {
  for (auto& v : x) v *= c;
  return x;
}

Csr<double, std::int32_t> scaled(const Csr<double, std::int32_t>& A, double c) {
  auto S = copied_to<Host>(OpenMP{1}, A.view());
  for (auto& v : S.values) v *= c;
  return S;
}

}  // namespace

TEST_CASE("several pairs of sweeps are one from zero, and the others from what it left, on every back end") {
  const unsigned seed = fresh_seed();
  const auto A = csr_of<double>(random_square(3000, 4, seed));
  const auto r = random_values<double>(A.nrows, seed);
  for (const double omega : {1.0, 1.3}) {
    const GaussSeidel<double, std::int32_t, OpenMP> sweeps(OpenMP{1}, A.view());
    Array<double> z(A.nrows);
    const Array<double> b(r);
    sweeps.symmetric_from_zero(b, z, omega);
    for (int pairs = 1; pairs <= 3; ++pairs) {
      CAPTURE(pairs);
      on_every_backend([&](auto on) {
        const auto there = moved_to(on, A.view());
        CHECK(differing(applied(on, SymgsPreconditioner(on, there.view(), Order::natural, omega, pairs), r),
                        moved_back(on, z)) == 0);
      });
      sweeps.symmetric(b, z, omega);
    }
  }
}

TEST_CASE("in every order and precision an application has the same bits on every back end") {
  const unsigned seed = fresh_seed();
  const auto A = csr_of<double>(random_square(9000, 3, seed));
  const auto r = random_values<double>(A.nrows, seed);
  for (const Order order : {Order::natural, Order::colours}) {
    CAPTURE(to_string(order));
    const auto expected = applied(OpenMP{1}, SymgsPreconditioner(OpenMP{1}, A.view(), order, 1.2, 2), r);
    const auto in_single = applied(OpenMP{1}, InSingle<OpenMP>(OpenMP{1}, A.view(), order, 1.2, 2), r);
    on_every_backend([&](auto on) {
      const auto there = moved_to(on, A.view());
      CHECK(differing(applied(on, SymgsPreconditioner(on, there.view(), order, 1.2, 2), r), expected) == 0);
      CHECK(differing(applied(on, InSingle<decltype(on)>(on, there.view(), order, 1.2, 2), r), in_single) == 0);
    });
    CHECK(differing(expected, in_single) > 0);
    double off = 0, largest = 0;
    for (std::size_t i = 0; i < r.size(); ++i)
      off = std::max(off, std::abs(expected[i] - in_single[i])), largest = std::max(largest, std::abs(expected[i]));
    CHECK(off <= 1e-4 * largest);  // a dominant matrix passes roundings of 6e-8 on, shrunk
  }
}

TEST_CASE("in single precision powers of two beyond its range in A and r change no digit") {
  const unsigned seed = fresh_seed();
  const auto A = csr_of<double>(random_square(500, 4, seed));
  const auto r = random_values<double>(A.nrows, seed);
  const auto z = applied(OpenMP{1}, InSingle<OpenMP>(OpenMP{1}, A.view(), Order::natural), r);
  on_every_backend([&](auto on) {
    using M = InSingle<decltype(on)>;
    const auto there = moved_to(on, A.view()), tiny = moved_to(on, scaled(A, std::ldexp(1, -400)).view()),
               huge = moved_to(on, scaled(A, std::ldexp(1, 400)).view());
    CHECK(differing(applied(on, M(on, there.view(), Order::natural), scaled(r, std::ldexp(1, -300))),
                    scaled(z, std::ldexp(1, -300))) == 0);
    CHECK(differing(applied(on, M(on, tiny.view(), Order::natural), r), scaled(z, std::ldexp(1, 400))) == 0);
    CHECK(differing(applied(on, M(on, huge.view(), Order::colours), scaled(r, std::ldexp(1, 300))),
                    scaled(applied(on, M(on, there.view(), Order::colours), r), std::ldexp(1, -100))) == 0);
    CHECK(differing(applied(on, M(on, there.view(), Order::natural), std::vector<double>(500, 0)),
                    std::vector<double>(500, 0)) == 0);
  });
}

TEST_CASE("cg with SymGS in single precision reaches 1e-12, in as many iterations as in double") {
  const auto A = csr_of<double>(poisson(20, 20, 20));
  const Array<double> ones(A.nrows, 1.0);
  Array<double> b_host(A.nrows);
  spmv<OpenMP>(OpenMP{1}, A.view(), ones.span(), b_host.span());
  const Vector<double, OpenMP> b(OpenMP{1}, copied_to<Host>(OpenMP{1}, std::as_const(b_host).span()));
  const Criteria criteria{.relative_tolerance = 1e-12};
  const auto iterations = [&](const auto& preconditioner) {
    Vector<double, OpenMP> x(OpenMP{1}, A.nrows);
    const Summary summary = cg(MatrixOperator(OpenMP{1}, A.view()), preconditioner, b, x, criteria);
    CHECK(summary.converged());
    CHECK(summary.relative_residual <= 1e-12);
    return summary.iterations;
  };
  const auto plain = iterations(SymgsPreconditioner(OpenMP{1}, A.view(), Order::natural));
  CHECK(std::abs(iterations(InSingle<OpenMP>(OpenMP{1}, A.view(), Order::natural)) - plain) <= 2);
  CHECK(iterations(SymgsPreconditioner(OpenMP{1}, A.view(), Order::natural, 1.0, 2)) < plain);
}

TEST_CASE("fewer than one pair of sweeps is refused") {
  const auto A = csr_of<double>(poisson(2, 2, 2));
  CHECK_THROWS_AS(SymgsPreconditioner(OpenMP{1}, A.view(), Order::natural, 1.0, 0), UsageError);
}
