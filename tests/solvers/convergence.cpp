// What is called solved is solved, and all back ends take the same way there.
#include "systems.hpp"

#include <atomic>

#include <seidel/solvers/cg.hpp>

using namespace seidel;
using namespace seidel::tests;

TEST_CASE(
    "every method with every preconditioner solves a dominant system, in truth and with the same bits everywhere") {
  const unsigned seed = fresh_seed();
  for (const Matrix& A :
       {random_spd(seed, 3001, 4), poisson(20), random_spd(seed + 1, 65, 40), tridiagonal(257, 2.5, -1)}) {
    const auto b = random_vector(seed + 2, A.nrows);
    for (const How& how : all_ways()) {
      CAPTURE(name_of(how));
      CAPTURE(A.nrows);
      const Outcome serial = solve_on(OpenMP{1}, how, A, b);
      REQUIRE(serial->status == Status::converged);
      const double truth = true_residual(A, serial.x, b);
      CHECK(truth <= 1e-8 * 1.001);
      CHECK(serial->relative_residual == doctest::Approx(truth).epsilon(0.01));
      CHECK(std::int64_t(serial->history.size()) == serial->iterations + 1);
      CHECK(serial->history.back() <= 1e-8);
      on_every_backend([&](auto on) {
        const Outcome other = solve_on(on, how, A, b);
        CHECK(other.x == serial.x);
        CHECK(other->history == serial->history);
        CHECK(other->relative_residual == serial->relative_residual);
      });
    }
  }
}

TEST_CASE("bicgstab and gmres solve random unsymmetric systems, with the same bits everywhere") {
  const unsigned seed = fresh_seed();
  const Matrix A = with_dominant_diagonal(random_matrix(seed, 5003, 5003, 6));
  const auto b = random_vector(seed + 1, A.nrows);
  for (const How& how : all_ways()) {
    if (how.method.needs != Needs::square || how.preconditioner.needs_definite) continue;
    CAPTURE(name_of(how));
    const Outcome serial = solve_on(OpenMP{1}, how, A, b);
    CHECK(serial->status == Status::converged);
    CHECK(true_residual(A, serial.x, b) <= 1e-8 * 1.001);
    on_every_backend([&](auto on) {
      const Outcome other = solve_on(on, how, A, b);
      CHECK(other.x == serial.x);
      CHECK(other->history == serial->history);
    });
  }
}

TEST_CASE("a matrix in ELL or SELL gives the bits of CSR") {
  const Matrix A = poisson(17);
  const auto b = random_vector(5, A.nrows);
  const OpenMP on{1};
  using V = Vector<double, OpenMP>;
  const auto solved = [&](AnyOperator<V> op) {
    const V rhs(on, Array<double>(b));
    V x(on, A.nrows);
    return solve(op, AnyPreconditioner<V>(IdentityPreconditioner{}), {Method::cg}, rhs, x).history;
  };
  const auto csr = solved(MatrixOperator(on, A.view()));
  CHECK(solved(MatrixOperator(on, to_ell(on, A.view()))) == csr);
  CHECK(solved(MatrixOperator(on, to_sell(on, A.view()))) == csr);
  CHECK(solved(MatrixOperator(on, copy_of(A))) == csr);
}

TEST_CASE("single precision solves to what it can hold") {
  const auto A = as<float, std::int32_t>(poisson(12));
  const OpenMP on{1};
  Vector<float, OpenMP> b(on, A.nrows), x(on, A.nrows);
  fill(b, 1);
  const Criteria criteria{.relative_tolerance = 1e-5};
  const MatrixOperator op(on, A.view());
  CHECK(cg(op, SymgsPreconditioner(on, A.view(), Order::natural), b, x, criteria).converged());
}

TEST_CASE("criteria: each one ends the run, says so, and leaves a valid x with its true residual") {
  const Matrix A = poisson(40);
  const auto b = times(A, ones(A.nrows));
  for (const How& how : all_ways()) {
    CAPTURE(name_of(how));
    const auto ended = [&](const Criteria& criteria) {
      const Outcome outcome = solve_on(OpenMP{1}, how, A, b, criteria);
      CHECK(outcome->relative_residual == doctest::Approx(true_residual(A, outcome.x, b)).epsilon(0.01));
      CHECK(!outcome->reason.empty());
      return outcome.summary;
    };
    for (std::int64_t limit : {0, 1, 2, 7}) {  // 7 is no multiple of a restart after 5
      const Criteria criteria{.relative_tolerance = 1e-14,  // amg reaches the usual one before
                              .max_iterations = limit};
      const Summary s = ended(criteria);
      CHECK(s.status == Status::iteration_limit);
      CHECK(s.iterations == limit);
      CHECK(std::int64_t(s.history.size()) == limit + 1);
    }
    Criteria criteria{.seconds = 0};
    CHECK(ended(criteria).status == Status::time_limit);

    std::atomic<bool> stop = true;
    criteria = {};
    criteria.stop = &stop;
    CHECK(ended(criteria).status == Status::interrupted);
    CHECK(ended(criteria).iterations == 0);
    stop = false;
    std::int64_t calls = 0;
    criteria.on_iteration = [&](const IterationReport& report) {
      CHECK(report.iteration == ++calls);
      if (report.iteration == 3) stop = true;
    };
    const Summary stopped = ended(criteria);
    CHECK(stopped.status == Status::interrupted);
    CHECK(stopped.iterations == 3);
    CHECK(stopped.relative_residual < 1);

    criteria = {};
    criteria.relative_tolerance = 0;
    criteria.absolute_tolerance = 1e-3;
    const Outcome outcome = solve_on(OpenMP{1}, how, A, b, criteria);
    CHECK(outcome->status == Status::converged);
    CHECK(outcome->relative_residual * outcome->norm_b <= 1e-3);
    CHECK(outcome->relative_residual * outcome->norm_b > 1e-7);
  }
}

TEST_CASE("gmres says the truth where its restart does not divide the limit of iterations") {
  const Matrix A = poisson(30);
  const auto b = times(A, ones(A.nrows));
  for (int restart : {1, 3, 7, 50, 5000})
    for (std::int64_t limit : {1, 10, 49, 51, 100}) {
      const Criteria criteria{.max_iterations = limit};
      const Outcome outcome =
          solve_on(OpenMP{1}, {Method::gmres, PreconditionerKind::none, Order::natural, restart}, A, b, criteria);
      CAPTURE(restart);
      CAPTURE(limit);
      const double truth = true_residual(A, outcome.x, b);
      CHECK(outcome->converged() == (truth <= 1e-8));
      CHECK(outcome->relative_residual == doctest::Approx(truth).epsilon(0.01));
      CHECK(outcome->iterations <= limit);
      if (outcome->iterations == limit) CHECK(outcome->history.back() == doctest::Approx(truth).epsilon(0.01));
    }
}

TEST_CASE("limits that make no sense are refused") {
  const Matrix A = poisson(3);
  const auto b = ones(9);
  Criteria criteria{.relative_tolerance = -1};
  CHECK_THROWS_AS(solve_on(OpenMP{1}, {}, A, b, criteria), UsageError);
  criteria = {};
  criteria.absolute_tolerance = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(solve_on(OpenMP{1}, {}, A, b, criteria), UsageError);
  criteria = {};
  criteria.max_iterations = -1;
  CHECK_THROWS_AS(solve_on(OpenMP{1}, {}, A, b, criteria), UsageError);
  CHECK_THROWS_AS(solve_on(OpenMP{1}, {Method::gmres, PreconditionerKind::none, Order::natural, 0}, A, b), UsageError);
  CHECK_THROWS_AS(SymgsPreconditioner(OpenMP{1}, A.view(), Order::natural, 2.0), UsageError);
}
