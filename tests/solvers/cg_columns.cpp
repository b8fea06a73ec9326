// cg for several right-hand sides: each column is what cg makes of it alone, bit for bit, and A is read once per step.
#include "../allocations.hpp"
#include "multigrid.hpp"

#include <seidel/solvers/cg_columns.hpp>
#include <seidel/solvers/flexible.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// Right-hand sides that end at different times and for different reasons: random ones, A * ones, zero, one that a guess
/// solves, and very small and very large numbers.
struct RightHandSides {
  std::vector<std::vector<double>> b, x0;
};
RightHandSides awkward_columns(const Matrix& A, std::size_t k) {
  RightHandSides columns;
  const unsigned seed = fresh_seed();
  for (std::size_t j = 0; j < k; ++j) {
    auto b = random_vector(seed + unsigned(j), A.nrows);
    std::vector<double> x0(A.nrows);
    if (j % 7 == 1) b = times(A, ones(A.nrows));
    if (j % 7 == 2) b.assign(b.size(), 0);
    if (j % 7 == 3) x0 = random_vector(seed + 99, A.nrows), b = times(A, x0);
    if (j % 7 == 4)
      for (double& e : b) e *= 1e-180;
    if (j % 7 == 5)
      for (double& e : b) e *= 1e180;
    columns.b.push_back(b);
    columns.x0.push_back(x0);
  }
  return columns;
}

std::vector<double> back(const auto& v) {
  const auto here = copied_to<Host>(v.on(), v.span());
  return {here.begin(), here.end()};
}

/// All columns at once, and each alone.
template <class V, class Operator, class Precond>
void check_columns(const Operator& A, const Precond& M, const RightHandSides& columns, const Criteria& criteria) {
  const auto& on = A.on();
  std::vector<V> b, x;
  for (std::size_t j = 0; j < columns.b.size(); ++j) {
    b.emplace_back(on, moved_to(on, columns.b[j]));
    x.emplace_back(on, moved_to(on, columns.x0[j]));
  }
  const std::vector<Summary> together = cg(A, M, b, x, criteria);
  REQUIRE(together.size() == columns.b.size());
  for (std::size_t j = 0; j < b.size(); ++j) {
    CAPTURE(j);
    V alone_x(on, moved_to(on, columns.x0[j]));
    const Summary alone = cg(A, M, b[j], alone_x, criteria);
    CHECK(together[j].status == alone.status);
    CHECK(together[j].reason == alone.reason);
    CHECK(together[j].iterations == alone.iterations);
    CHECK(together[j].returned_iteration == alone.returned_iteration);
    CHECK(together[j].history == alone.history);
    CHECK(together[j].relative_residual == alone.relative_residual);
    CHECK(together[j].error.has_value() == alone.error.has_value());
    if (alone.error) CHECK(together[j].error->change == alone.error->change);
    CHECK(back(std::as_const(x[j])) == back(std::as_const(alone_x)));
  }
}

MethodChoice with(const PreconditionerKind& kind, const std::vector<std::pair<std::string, double>>& details = {}) {
  MethodChoice choice{.method = Method::cg, .preconditioner = kind};
  for (const auto& [key, value] : details)
    for (const Setting& setting : kind.settings)
      if (setting.key == key) choice.settings.set(setting, value);
  return choice;
}

}  // namespace

TEST_CASE("cg: each of several columns has the bits and the iterations that it has alone") {
  const Criteria estimating{.error_tolerance = std::numeric_limits<double>::infinity()};
  Criteria precise{.relative_tolerance = 1e-15};
  Criteria short_run{.max_iterations = 3};
  for (const Matrix& A : {poisson(30), random_spd(fresh_seed(), 700, 9), at_the_limit(), hilbert(9)}) {
    CAPTURE(A.nrows);
    const RightHandSides columns = awkward_columns(A, 9);
    on_every_backend([&](auto on) {
      using B = decltype(on);
      using V = Vector<double, B>;
      const auto there = moved_to(on, A.view());
      const MatrixOperator op(on, Product(on, there.view()));
      for (const PreconditionerKind& kind :
           {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::symgs, PreconditionerKind::amg}) {
        CAPTURE(kind.name);
        const auto M = make_preconditioner<B, std::int64_t>(on, {A.view(), there.view()}, with(kind)).M;
        for (const Criteria& criteria : {Criteria{}, estimating, precise, short_run})
          check_columns<V>(op, M, columns, criteria);
      }
    });
  }
}

TEST_CASE("cg: columns through any cycle of amg have the bits that they have alone, in groups of any size") {
  const Matrix A = poisson(60);
  const RightHandSides columns = awkward_columns(A, 13);
  on_every_backend([&](auto on) {
    using B = decltype(on);
    using V = Vector<double, B>;
    const auto there = moved_to(on, A.view());
    const MatrixOperator op(on, there.view());
    for (const AmgOptions& options :
         {AmgOptions{}, AmgOptions{.smoother = AmgSmoother::chebyshev, .cycle = AmgCycle::w},
          AmgOptions{.storage = AmgStorage::fp64}, AmgOptions{.cycle = AmgCycle::k},
          AmgOptions{.coarsening = {.coarsest = 4}}}) {
      const Amg<B> M(on, there.view(), options);
      for (const std::size_t k : {1, 3, 13, 4}) {
        CAPTURE(k);
        check_columns<V>(op, M,
                         {{columns.b.begin(), columns.b.begin() + k}, {columns.x0.begin(), columns.x0.begin() + k}},
                         {.relative_tolerance = 1e-10});
      }
    }
  });
}

TEST_CASE("cg: columns of a matrix that is not positive definite end each as they do alone") {
  Matrix A = diagonal({1, 2, 3, 4, -5, 6});
  const MatrixOperator op(OpenMP{1}, Product(OpenMP{1}, A.view()));
  const RightHandSides columns{{{1, 1, 1, 1, 0, 1}, {1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 1, 0}},
                               std::vector(3, std::vector<double>(6))};
  check_columns<Vector<double, OpenMP>>(op, IdentityPreconditioner{}, columns, {});
}

namespace {

/// Counts how often A is read.
struct Reads {
  const MatrixOperator<Product<double, std::int64_t, OpenMP>, OpenMP>& A;
  std::int64_t* together;
  std::int64_t nrows() const { return A.nrows(); }
  std::int64_t ncols() const { return A.ncols(); }
  const OpenMP& on() const { return A.on(); }
  void apply(const auto& x, auto& y) const { A.apply(x, y); }
  void apply_columns(const auto& x, auto& y, std::size_t first, std::size_t count) const {
    ++*together;
    A.apply_columns(x, y, first, count);
  }
};

}  // namespace

TEST_CASE("cg: A is read once per step for all columns, and nothing is allocated after the first step") {
  using V = Vector<double, OpenMP>;
  const Matrix A = random_spd(7, 900, 9);
  const MatrixOperator matrix(OpenMP{1}, Product(OpenMP{1}, A.view()));
  const JacobiPreconditioner M(OpenMP{1}, A.view());
  std::int64_t together = 0, at_first = 0, at_last = 0, most = 0;
  std::vector<V> b, x;
  for (unsigned j = 0; j < 6; ++j) {
    b.emplace_back(OpenMP{1}, moved_to(OpenMP{1}, random_vector(j, A.nrows)));
    x.emplace_back(OpenMP{1}, A.nrows);
  }
  Criteria criteria;
  criteria.on_iteration = [&](const IterationReport& report) {
    at_last = allocations();
    if (report.iteration == 1) at_first = at_last;
  };
  for (const Summary& summary : cg(Reads{matrix, &together}, M, b, x, criteria)) {
    CHECK(summary.converged());
    most = std::max(most, summary.iterations);
  }
  CHECK(most > 5);
  CHECK(together == most);
  CHECK(at_last == at_first);
}

TEST_CASE("cg: as many solutions as right-hand sides, or none at all") {
  using V = Vector<double, OpenMP>;
  const Matrix A = poisson(4);
  const MatrixOperator op(OpenMP{1}, A.view());
  std::vector<V> b, x;
  CHECK(cg(op, IdentityPreconditioner{}, b, x).empty());
  b.emplace_back(OpenMP{1}, A.nrows);
  CHECK_THROWS_AS(cg(op, IdentityPreconditioner{}, b, x), ShapeError);
}
