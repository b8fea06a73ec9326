// Systems that are not definite, and what minres and idr do with them.
#include "systems.hpp"

using namespace seidel;
using namespace seidel::tests;

namespace {

/// [L B'; B -c I]: L the 5-point stencil on a k x k grid, B with m sparse rows.
Matrix saddle_point(unsigned seed, Index k, Index m, double c) {
  const Matrix L = poisson(k), R = random_matrix(seed, m, L.nrows, 4);
  std::vector<Row> rows(L.nrows + m);
  for (Index i = 0; i < L.nrows; ++i)
    for (auto e = L.row_ptr[i]; e < L.row_ptr[i + 1]; ++e) rows[i].emplace(L.col_idx[e], L.values[e]);
  for (Index i = 0; i < m; ++i) {
    const Index row = L.nrows + i;
    Row entries = {{i, 3.0}};
    for (auto e = R.row_ptr[i]; e < R.row_ptr[i + 1]; ++e) entries[R.col_idx[e]] += R.values[e];
    for (const auto& [col, value] : entries) rows[row].emplace(col, value), rows[col].emplace(row, value);
    if (c != 0) rows[row].emplace(row, -c);
  }
  return matrix_of(L.nrows + m, rows);
}

/// The 5-point stencil less a multiple of I: eigenvalues of both signs, all diagonal entries positive.
Matrix shifted(Index k, double by) {
  Matrix A = poisson(k);
  for (Index i = 0; i < A.nrows; ++i)
    for (auto e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e)
      if (A.col_idx[e] == i) A.values[e] -= by;
  return A;
}

}  // namespace

TEST_CASE("minres solves saddle points, its residual never grows, and the bits are the same everywhere") {
  const unsigned seed = fresh_seed();
  for (const double c : {0.0, 0.1}) {
    const Matrix A = saddle_point(seed, 24, 100, c);
    const auto b = times(A, ramp(A.nrows));
    const How how{.method = Method::minres};
    const Outcome serial = solve_on(OpenMP{1}, how, A, b);
    REQUIRE(serial->converged());
    CHECK(true_residual(A, serial.x, b) <= 1.001e-8);
    for (std::size_t k = 1; k < serial->history.size(); ++k)
      CHECK(serial->history[k] <= serial->history[k - 1] * (1 + 1e-9));
    on_every_backend([&](auto on) {
      const Outcome other = solve_on(on, how, A, b);
      CHECK(other.x == serial.x);
      CHECK(other->history == serial->history);
    });
  }
}

TEST_CASE("minres takes what cg refuses, with any positive definite preconditioner") {
  const Matrix A = shifted(20, 0.7);
  const auto b = times(A, ramp(A.nrows));
  REQUIRE(solve_on(OpenMP{1}, {}, A, b)->status == Status::indefinite);
  for (const PreconditionerKind& kind :
       {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::symgs}) {
    CAPTURE(to_string(kind));
    const Outcome outcome = solve_on(OpenMP{1}, {.method = Method::minres, .preconditioner = kind}, A, b);
    CHECK(outcome->converged());
    CHECK(true_residual(A, outcome.x, b) <= 1.001e-8);
    const double said = outcome->truth_checks.front().recurrence, truth = outcome->truth_checks.front().truth;
    CHECK(said == doctest::Approx(truth).epsilon(0.05));  // in the 2-norm, whatever M is
  }
  const How chain{.method = Method::cg, .fallbacks = {Method::minres, Method::gmres}};
  const Outcome outcome = solve_on(OpenMP{1}, chain, A, b);
  CHECK(outcome->converged());
  CHECK(outcome->method == "minres");
}

TEST_CASE("amg takes few negative eigenvalues: gmres with it, and minres, for which it is made positive definite") {
  const Matrix A = shifted(70, 64.0 / (71 * 71));  // three of them
  const auto b = times(A, random_vector(fresh_seed(), A.nrows));
  for (const auto& [method, most] : {std::pair{Method::gmres, 30}, {Method::minres, 60}}) {
    CAPTURE(to_string(method));
    const How how{.method = method, .preconditioner = PreconditionerKind::amg};
    const Outcome serial = solve_on(OpenMP{1}, how, A, b);
    REQUIRE(serial->converged());
    CHECK(serial->iterations <= most);
    CHECK(true_residual(A, serial.x, b) <= 1.001e-8);
    on_every_backend([&](auto on) {
      const Outcome other = solve_on(on, how, A, b);
      CHECK(other.x == serial.x);
      CHECK(other->history == serial->history);
    });
  }
}

TEST_CASE("where cg with amg finds A indefinite, gmres is tried with it while each restart gains a digit, then minres") {
  How how{.preconditioner = PreconditionerKind::amg,
          .fallbacks = {Method::minres, Method::gmres},
          .may_drop_preconditioner = true,
          .may_try_gmres = true};
  const auto methods_on = [&](double waves) {
    const Matrix A = shifted(70, waves * waves / (71 * 71));
    const auto b = times(A, random_vector(fresh_seed(), A.nrows));
    const Outcome outcome = solve_on(OpenMP{1}, how, A, b);
    CHECK(outcome->converged());
    CHECK(true_residual(A, outcome.x, b) <= 1.001e-8);
    std::vector<std::string> methods;
    for (const auto& attempt : outcome->attempts)
      methods.push_back(attempt.method + (attempt.preconditioned ? "" : " alone"));
    return methods;
  };
  CHECK(methods_on(8) == std::vector<std::string>{"cg", "gmres"});
  CHECK(methods_on(45) == std::vector<std::string>{"cg", "gmres", "minres alone"});
  how.fallbacks = {Method::minres};  // where there is no memory for gmres
  CHECK(methods_on(8) == std::vector<std::string>{"cg", "minres alone"});
}

TEST_CASE("minres with a preconditioner that is not positive definite says so") {
  const Matrix A = saddle_point(3, 8, 9, 0.5);
  const Outcome outcome =
      solve_on(OpenMP{1}, {.method = Method::minres, .preconditioner = PreconditionerKind::jacobi}, A, ramp(A.nrows));
  CHECK(outcome->status == Status::indefinite);
  CHECK(outcome->breakdown == Breakdown::indefinite_preconditioner);
  CHECK(outcome->reason.ends_with(", which is positive if the preconditioner is positive definite"));
  CHECK(outcome->relative_residual <= 1);
}

TEST_CASE("minres on a singular matrix: the least residual, which is not called a solution") {
  std::vector<double> values(60);
  for (Index i = 0; i < 60; ++i) values[i] = i % 3 == 0 ? 0 : i % 2 == 0 ? 1.0 + i : -2.0 - i;
  const Matrix A = diagonal(values);
  const auto b = ones(60);
  const Outcome outcome = solve_on(OpenMP{1}, {.method = Method::minres}, A, b);
  CHECK(outcome->status == Status::breakdown);
  CHECK(outcome->breakdown == Breakdown::exhausted);
  CHECK(outcome->iterations < 200);
  CHECK(outcome->relative_residual == doctest::Approx(std::sqrt(20.0 / 60)).epsilon(1e-6));
  CHECK(solve_on(OpenMP{1}, {.method = Method::minres}, A, times(A, ones(60)))->converged());
}

TEST_CASE("idr solves where bicgstab breaks down: nearly skew systems") {
  const Matrix R = random_matrix(fresh_seed(), 400, 400, 3);
  std::vector<Row> rows(400);
  for (Index i = 0; i < 400; ++i) {
    rows[i][i] += 1;
    for (auto e = R.row_ptr[i]; e < R.row_ptr[i + 1]; ++e)
      if (const Index j = R.col_idx[e]; j != i) rows[i][j] += R.values[e], rows[j][i] -= R.values[e];
  }
  const Matrix A = matrix_of(400, rows);
  const auto b = ones(400);
  const Outcome serial = solve_on(OpenMP{1}, {.method = Method::idr}, A, b);
  REQUIRE(serial->converged());
  CHECK(true_residual(A, serial.x, b) <= 1.001e-8);
  on_every_backend([&](auto on) {
    const Outcome other = solve_on(on, {.method = Method::idr}, A, b);
    CHECK(other.x == serial.x);
    CHECK(other->history == serial->history);
  });
}

TEST_CASE("idr ends in at most n + n / 4 products where rounding does not matter") {
  const Matrix A = tridiagonal(16, 3, -1);
  const Criteria criteria{.relative_tolerance = 1e-10};
  CHECK(solve_on(OpenMP{1}, {.method = Method::idr}, A, ramp(16), criteria)->iterations <= 20);
}
