// Eisenstat's form of cg with symgs: the iterates of the plain form but for rounding, and the same bits on every back end.
#include "systems.hpp"

#include <seidel/formats/generators/generate.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

const How plain{Method::cg, PreconditionerKind::symgs};
const How eisenstat{.method = Method::cg, .preconditioner = PreconditionerKind::symgs, .form = Form::eisenstat};

std::vector<NamedMatrix> spd_systems() {
  std::vector<NamedMatrix> systems;
  for (const char* spec : {"poisson2d:40", "poisson3d:12", "hpcg:10", "aniso3d:12:1,1,0.01", "elasticity3d:6"})
    systems.push_back({spec, generate(OpenMP{1}, spec)});
  const unsigned seed = fresh_seed();
  for (unsigned k = 0; k < 12; ++k)
    systems.push_back({"random " + std::to_string(seed + k), random_spd(seed + k, Index(1 + 211 * k), Index(1 + k))});
  systems.push_back({"rows of 300", random_spd(seed, 900, 300)});  // longer than 64: lanes
  return systems;
}

}  // namespace

TEST_CASE("Eisenstat's form makes the iterates of cg with symgs, to rounding, at each step") {
  for (const auto& [name, A] : spd_systems()) {
    CAPTURE(name);
    const auto b = ramp(A.nrows);
    for (const std::int64_t steps : {1, 2, 5}) {
      CAPTURE(steps);
      const Criteria criteria{.max_iterations = steps};
      const Outcome one = solve_on(OpenMP{1}, plain, A, b, criteria),
                    other = solve_on(OpenMP{1}, eisenstat, A, b, criteria);
      REQUIRE(other->iterations == one->iterations);
      CHECK(relative_difference(one.x, other.x) < 1e-11);
      for (std::size_t k = 0; k < one->history.size(); ++k)
        CHECK(other->history[k] == doctest::Approx(one->history[k]).epsilon(1e-6));
    }
  }
}

TEST_CASE("Eisenstat's form needs as many iterations, and its residual is that of A x = b") {
  for (const auto& [name, A] : spd_systems()) {
    CAPTURE(name);
    const auto b = times(A, ones(A.nrows));
    const Outcome one = solve_on(OpenMP{1}, plain, A, b), other = solve_on(OpenMP{1}, eisenstat, A, b);
    CHECK(other->converged());
    CHECK(std::abs(other->iterations - one->iterations) <= 1);
    CHECK(true_residual(A, other.x, b) <= 1.001e-8);
    REQUIRE(!other->truth_checks.empty());
    CHECK(other->truth_checks[0].recurrence == doctest::Approx(other->truth_checks[0].truth).epsilon(1e-4));
  }
}

TEST_CASE("Eisenstat's form has the same bits on every back end") {
  for (const auto& [name, A] : spd_systems()) {
    CAPTURE(name);
    const auto b = ramp(A.nrows);
    const Outcome serial = solve_on(OpenMP{1}, eisenstat, A, b);
    on_every_backend([&](auto on) {
      const Outcome here = solve_on(on, eisenstat, A, b);
      CHECK(here->history == serial->history);
      CHECK(here.x == serial.x);
    });
  }
}

TEST_CASE(
    "Eisenstat's form starts from a guess, says what is not positive definite, and refuses other preconditioners") {
  const Matrix A = poisson(20);
  const auto b = ramp(A.nrows);
  const Outcome from_zero = solve_on(OpenMP{1}, eisenstat, A, b);
  CHECK(solve_on(OpenMP{1}, eisenstat, A, b, {}, from_zero.x)->iterations == 0);
  std::vector<double> far(A.nrows, 1e3);
  CHECK(solve_on(OpenMP{1}, eisenstat, A, b, {}, far)->converged());

  const Matrix indefinite = matrix_of(2, {{{0, 1.0}, {1, 2.0}}, {{0, 2.0}, {1, 1.0}}});
  CHECK(solve_on(OpenMP{1}, eisenstat, indefinite, {1.0, -1.0})->status == Status::indefinite);

  Matrix D = diagonal({1, 2, 3});
  MethodChoice choice{Method::cg, PreconditionerKind::jacobi};
  choice.form = Form::eisenstat;
  using V = Vector<double, OpenMP>;
  const V rhs(OpenMP{1}, 3);
  V x(OpenMP{1}, 3);
  CHECK_THROWS_AS(
      solve<V>(MatrixOperator(OpenMP{1}, D.view()), JacobiPreconditioner(OpenMP{1}, D.view()), choice, rhs, x),
      UsageError);
}
