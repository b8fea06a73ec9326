// The estimate of the largest eigenvalue.
#include "systems.hpp"

#include <seidel/solvers/lanczos.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// estimate_largest_eigenvalue() of A itself, bit for bit, from the same `start`, which is used up; empty as estimate_from().
template <class Real, Backend B, LinearOperator<Vector<Real, B>> Matrix>
std::optional<double> estimate_with_one_wait(const Matrix& A, Vector<Real, B>& start, int steps) {
  Array<Real, SpaceOf<B>> found(start.on(), blas1::LanczosNumbers<Real>::count(steps));
  take_lanczos_steps(A, start, steps, found.data());
  auto here = copied_to<Host>(start.on(), std::as_const(found).span());
  return estimate_from(blas1::LanczosNumbers<Real>{here.data()}, steps);
}

}  // namespace

TEST_CASE("the largest eigenvalue is found for a tridiagonal matrix, and estimated from below for D^-1 A") {
  CHECK(largest_eigenvalue({3}, {}) == doctest::Approx(3));
  CHECK(largest_eigenvalue({2, 2, 2}, {-1, 1}) == doctest::Approx(2 + std::sqrt(2.0)));
  const Matrix A = poisson(30);
  const OpenMP on{1};
  const double truth = 1 + std::cos(std::acos(-1.0) / 31);  // of A / 4
  const Vector<double, OpenMP> inverse(on, inverse_diagonal(on, A.view()));
  const double found = estimate_largest_eigenvalue(MatrixOperator(on, A.view()), &inverse,
                                                   Vector<double, OpenMP>(on, moved_to(on, ramp(A.nrows))), 15);
  CHECK(found <= truth * (1 + 1e-12));
  CHECK(found >= 0.9 * truth);
}

TEST_CASE("Lanczos steps that wait once find what those that wait in each step do, or tell where they cannot") {
  const unsigned seed = fresh_seed();
  for (const Index n : {50, 3000, 40000}) {
    CAPTURE(n);
    const Matrix A = random_spd(seed, n, 4);
    on_every_backend([&](auto on) {
      using B = decltype(on);
      const auto there = moved_to(on, A.view());
      const MatrixOperator op(on, there.view());
      Vector<double, B> start(on, moved_to(on, ramp(n)));
      for (const int steps : {1, 2, 8}) {
        Vector<double, B> used_up = like(start);
        copy(start, used_up);
        const Vector<double, B>* const none = nullptr;
        const double expected = estimate_largest_eigenvalue(op, none, start, steps);
        std::int64_t before = 0;
        if constexpr (!HostBackend<B>) before = on.waits();
        CHECK(estimate_with_one_wait(op, used_up, steps) == expected);
        if constexpr (!HostBackend<B>) CHECK(on.waits() == before + 1);
      }
    });
  }
  const Matrix identity = matrix_of(1, {{{0, 1.0}}});
  on_every_backend([&](auto on) {
    using B = decltype(on);
    const auto there = moved_to(on, identity.view());
    Vector<double, B> start(on, moved_to(on, std::vector<double>{1}));
    CHECK(!estimate_with_one_wait(MatrixOperator(on, there.view()), start, 8));  // the residual vanishes
  });
}
