// Failures are called failures, and end.
#include "systems.hpp"

#include <seidel/solvers/cg.hpp>
#include <seidel/solvers/iterate.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// What must hold of every outcome, good or bad.
void check_honest(const Outcome& outcome, const Matrix& A, const std::vector<double>& b) {
  const double truth = true_residual(A, outcome.x, b);
  REQUIRE(std::isfinite(truth));
  CHECK(outcome->relative_residual == doctest::Approx(truth).epsilon(0.05));
  if (outcome->converged()) CHECK(truth <= 1.05e-8);
  CHECK(!outcome->reason.empty());
  CHECK(outcome->returned_iteration <= outcome->iterations);
}

}  // namespace

TEST_CASE("an x that is not finite where A does not see it is not returned") {
  const OpenMP on{1};
  using V = Vector<double, OpenMP>;
  const Matrix A = matrix_of(2, {{{0, 1.0}}, {}});
  V b(on, 2), x(on, 2), p(on, 2), r(on, 2);
  b.span()[0] = 1;
  const MatrixOperator product(on, A.view());
  const Criteria criteria;
  Iterate iterate("none", product, b, x, criteria, 1);
  REQUIRE(iterate.unsolved(r));
  iterate.progress().record(0.5);
  p.span()[0] = 0.5;
  iterate.move(1.0, p);
  iterate.progress().record(1e-9);
  p.span()[1] = std::numeric_limits<double>::infinity();
  iterate.move(1.0, p);  // the residual alone would call this solved
  iterate.progress().record(0.7);
  iterate.move(-1.0, p);
  iterate.unsolved(r);
  CHECK(iterate.summary().relative_residual >= 0.5);
  CHECK(std::isfinite(x.span()[1]));
}

TEST_CASE("a recurrence that says yes while the truth says no is not called converged") {
  const Matrix A = at_the_limit();
  const std::vector<double> b(60, 1e-3);
  int false_convergence = 0;
  for (const How& how : all_ways()) {
    CAPTURE(name_of(how));
    const Outcome outcome = solve_on(OpenMP{1}, how, A, b);
    check_honest(outcome, A, b);
    if (outcome->status == Status::stagnated && !outcome->truth_checks.empty()) {
      ++false_convergence;
      CHECK(outcome->truth_checks.back().recurrence <= 1e-8);
      CHECK(outcome->truth_checks.back().truth > 1e-8);
      CHECK(outcome->relative_residual < 1e-7);
    }
  }
  CHECK(false_convergence >= 5);
}

TEST_CASE("an ill-conditioned system is solved in the residual or given up, and the truth is told") {
  for (Index n : {5, 12, 40}) {
    const Matrix A = hilbert(n);
    const auto b = times(A, ones(n));
    for (const How& how : all_ways()) {
      CAPTURE(name_of(how));
      CAPTURE(n);
      check_honest(solve_on(OpenMP{1}, how, A, b), A, b);
      const Criteria tight{.relative_tolerance = 1e-17,  // beyond double
                           .max_iterations = 1000};
      const Outcome outcome = solve_on(OpenMP{1}, how, A, b, tight);
      CHECK(std::isfinite(true_residual(A, outcome.x, b)));
    }
  }
}

TEST_CASE("cg says that A is not positive definite, with any sign of it") {
  for (const Matrix& A : {diagonal({1, 2, -3, 4}), diagonal({-1, -2, -3, -4}), diagonal({1, 1, 0, 1}),
                          tridiagonal(50, -2, 1), tridiagonal(49, 1, -1)}) {
    const auto b = ramp(A.nrows);
    const Outcome outcome = solve_on(OpenMP{1}, {}, A, b);
    CHECK(outcome->status == Status::indefinite);
    CHECK(outcome->reason.find("p'Ap") != std::string::npos);
    check_honest(outcome, A, b);
  }
}

TEST_CASE("cg that fails returns the best x that it has seen") {
  struct TurnsItsSign {
    mutable double sign = -1;
    void apply(const Vector<double, OpenMP>& r, Vector<double, OpenMP>& z) const {
      sign = -sign;
      axpby(sign, r, 0, z);
    }
    bool is_symmetric() const { return true; }
  };
  const Matrix A = diagonal({1e-3, 1});
  const Vector<double, OpenMP> b(OpenMP{1}, Array<double>(std::vector<double>{1, 0.01}));
  auto x = like(b);
  const Summary summary = cg(MatrixOperator(OpenMP{1}, A.view()), TurnsItsSign{}, b, x);
  CHECK(summary.status == Status::indefinite);
  CHECK(summary.history.back() > 9);
  CHECK(summary.relative_residual == 1);
  CHECK(summary.returned_iteration == 0);
  CHECK(norm2(x) == 0);
}

TEST_CASE("solve goes on where cg cannot, if cg was its own choice, and tells the story") {
  const Matrix A = tridiagonal(49, 1, -1);  // eigenvalues of both signs
  const auto b = ramp(49);
  const Outcome outcome =
      solve_on(OpenMP{1}, {Method::cg, PreconditionerKind::none, Order::natural, 50, {Method::gmres}}, A, b);
  CHECK(outcome->status == Status::converged);
  check_honest(outcome, A, b);
  REQUIRE(outcome->attempts.size() == 2);
  CHECK(outcome->attempts[0].status == Status::indefinite);
  CHECK(outcome->attempts[0].method == "cg");
  CHECK(outcome->attempts[1].method == "gmres");
  CHECK(outcome->method == "gmres");
  const Outcome named = solve_on(OpenMP{1}, {}, A, b);  // asked for by name
  CHECK(named->status == Status::indefinite);
  CHECK(named->attempts.size() == 1);
}

TEST_CASE("solve goes on without sweeps whose numbers leave their range, if they were its own choice") {
  std::vector<Row> rows(1000);  // sweeps multiply what they are given by 3 from row to row
  for (Index i = 0; i < 1000; ++i) {
    if (i > 0) rows[i].emplace(i - 1, -3);
    rows[i].emplace(i, 1);
    if (i < 999) rows[i].emplace(i + 1, 3);
  }
  const Matrix A = matrix_of(1000, rows);
  const auto b = ramp(1000);
  How how{Method::bicgstab, PreconditionerKind::symgs, Order::natural, 50, {Method::gmres}};
  CHECK(solve_on(OpenMP{1}, how, A, b)->status == Status::breakdown);
  how.may_drop_preconditioner = true;
  const Outcome outcome = solve_on(OpenMP{1}, how, A, b);
  CHECK(outcome->status == Status::converged);
  check_honest(outcome, A, b);
  REQUIRE(outcome->attempts.size() == 3);
  CHECK(outcome->attempts[1].preconditioned);
  CHECK(outcome->attempts[2].method == "gmres");
  CHECK(!outcome->attempts[2].preconditioned);
}

TEST_CASE("singular systems end: solved where b allows it, otherwise not called solved") {
  Matrix A = poisson(8);  // made singular: the diagonal is the sum beside it
  for (Index i = 0; i < A.nrows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (A.col_idx[k] == i) A.values[k] = double(A.row_ptr[i + 1] - A.row_ptr[i] - 1);
  auto consistent = ramp(64);
  double mean = 0;
  for (double v : consistent) mean += v / 64;
  for (double& v : consistent) v -= mean;
  for (const How& how : all_ways()) {
    CAPTURE(name_of(how));
    const Criteria criteria{.max_iterations = 2000};
    const Outcome good = solve_on(OpenMP{1}, how, A, consistent, criteria);
    check_honest(good, A, consistent);
    CHECK(good->status == Status::converged);
    const Outcome bad = solve_on(OpenMP{1}, how, A, ones(64), criteria);
    check_honest(bad, A, ones(64));
    CHECK(bad->status != Status::converged);
  }
  const Matrix zero = matrix_of(6, std::vector<Row>(6));
  for (const Method& method : methods) {
    if (!method.takes("none")) continue;
    const Outcome outcome = solve_on(OpenMP{1}, {method}, zero, ones(6));
    CHECK((outcome->status == Status::indefinite || outcome->status == Status::breakdown));
    CHECK(outcome->relative_residual == 1);
  }
}

TEST_CASE("skew and cyclic matrices stop those that they stop, and none is called solved") {
  std::vector<Row> shift(64), skew(64);
  for (Index i = 0; i < 64; ++i) {
    shift[i] = {{(i + 1) % 64, 1.0}};
    if (i > 0) skew[i].emplace(i - 1, -1.0);
    if (i < 63) skew[i].emplace(i + 1, 1.0);
  }
  for (const Matrix& A : {matrix_of(64, shift), matrix_of(64, skew)}) {
    std::vector<double> b(64);
    b[0] = 1;
    for (const Method& method : methods) {
      if (method.needs == Needs::symmetric) continue;  // works on: what it is given looks symmetric to it
      CAPTURE(to_string(method));
      const Criteria criteria{.max_iterations = 3000};
      const Outcome short_of =
          solve_on(OpenMP{1}, {method, PreconditionerKind::none, Order::natural, 20}, A, b, criteria);
      check_honest(short_of, A, b);
      CHECK(short_of->iterations < 3000);
    }
    const Outcome full = solve_on(OpenMP{1}, {Method::gmres, PreconditionerKind::none, Order::natural, 64}, A, b);
    CHECK(full->status == Status::converged);
    CHECK(full->iterations <= 64);
  }
  Matrix A = matrix_of(64, shift);
  std::vector<double> b(64);
  b[0] = 1;
  CHECK(solve_on(OpenMP{1}, {Method::gmres, PreconditionerKind::none, Order::natural, 20}, A, b)->status ==
        Status::stagnated);
  CHECK(solve_on(OpenMP{1}, {Method::bicgstab}, A, b)->status == Status::breakdown);
}

TEST_CASE("an unsymmetric preconditioner is refused by cg and taken by the others") {
  const Matrix A = poisson(6);
  struct Forward {
    GaussSeidel<double, std::int64_t, OpenMP> sweeps;
    void apply(const Vector<double, OpenMP>& r, Vector<double, OpenMP>& z) const {
      fill(z, 0);
      sweeps.forward(r.span(), z.span());
    }
    bool is_symmetric() const { return false; }
  };
  using V = Vector<double, OpenMP>;
  const AnyPreconditioner<V> M(Forward{{OpenMP{1}, A.view()}});
  const AnyOperator<V> op(MatrixOperator(OpenMP{1}, A.view()));
  V b(OpenMP{1}, 36), x(OpenMP{1}, 36);
  fill(b, 1);
  CHECK_THROWS_AS(solve(op, M, {Method::cg}, b, x), UsageError);
  CHECK(solve(op, M, {Method::gmres}, b, x).converged());
  fill(x, 0);
  CHECK(solve(op, M, {Method::bicgstab}, b, x).converged());
}

TEST_CASE("an operator that turns to NaN ends the run with the last good x") {
  using V = Vector<double, OpenMP>;
  const Matrix A = poisson(12);
  struct Failing {
    MatrixOperator<CsrView<double, std::int64_t, Host>, OpenMP> good;
    mutable int left = 5;
    std::int64_t nrows() const { return good.nrows(); }
    std::int64_t ncols() const { return good.ncols(); }
    void apply(const V& x, V& y) const {
      good.apply(x, y);
      if (--left < 0) y.span()[3] = nan("");
    }
    void residual(const V& x, const V& b, V& r) const { good.residual(x, b, r); }
    void apply_transposed(const V& x, V& y) const { apply(x, y); }  // A is symmetric
  };
  for (const Method& method : methods) {
    CAPTURE(to_string(method));
    V b(OpenMP{1}, 144), x(OpenMP{1}, 144);
    fill(b, 1);
    const Summary summary = solve(AnyOperator<V>(Failing{{OpenMP{1}, A.view()}}),
                                  AnyPreconditioner<V>(IdentityPreconditioner{}), {method}, b, x);
    CHECK(summary.status == Status::breakdown);
    CHECK(summary.relative_residual <= 1);
    for (double v : x.span()) CHECK(std::isfinite(v));
  }
}

TEST_CASE("bicgstab returns the best x that it has seen, within a factor 2") {
  const Matrix A = random_matrix(fresh_seed(), 400, 400, 5);  // no diagonal to speak of: wild residuals
  const auto b = times(A, ones(400));
  const Criteria criteria{.max_iterations = 300};
  const Outcome outcome = solve_on(OpenMP{1}, {Method::bicgstab}, A, b, criteria);
  double best = outcome->history[0];
  for (double v : outcome->history) best = std::min(best, v);
  if (!outcome->converged()) CHECK(outcome->history[outcome->returned_iteration] <= 2 * best * 1.0001);
  CHECK(outcome->relative_residual <= (outcome->converged() ? 1.001e-8 : 1.0001));
}
