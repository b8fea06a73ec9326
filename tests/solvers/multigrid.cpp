// Multigrid: a symmetric preconditioner whose iterations do not grow, the same on every back end; and what may go wrong.
#include "multigrid.hpp"

#include <seidel/formats/generators/generate.hpp>
#include <seidel/solvers/cg.hpp>
#include <seidel/solvers/multigrid/coarsest.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// Iterations of cg with amg to 1e-8, of the true residual.
std::int64_t iterations(const Matrix& A, const std::vector<double>& b) {
  const Outcome outcome = solve_on(OpenMP{1}, {.preconditioner = PreconditionerKind::amg}, A, b);
  CHECK(outcome->status == Status::converged);
  CHECK(true_residual(A, outcome.x, b) <= 1.001e-8);
  return outcome->iterations;
}

double product(const std::vector<double>& x, const std::vector<double>& y) {
  long double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (long double)x[i] * y[i];
  return double(sum);
}

/// The Laplacian of a path of n points per piece, `pieces` of them, without boundary: singular, its null space constants.
Matrix floating_paths(Index n, Index pieces) {
  std::vector<Row> rows(std::size_t(n) * pieces);
  for (Index i = 0; i < n * pieces; ++i) {
    double sum = 0;
    for (const Index j : {i - 1, i + 1})
      if (j >= 0 && j < n * pieces && j / n == i / n) rows[i][j] = -1, ++sum;
    rows[i][i] = sum;
  }
  return matrix_of(n * pieces, rows);
}

/// poisson with identity rows (Dirichlet values left in) and rows of zeros; neither is coupled to other rows.
Matrix with_loose_rows(Index k) {
  const Matrix A = poisson(k);
  std::vector<Row> rows(A.nrows);
  const auto kind = [](Index i) { return i % 97 == 5 ? 2 : i % 19 == 3 ? 1 : 0; };  // zeros, identity, inner
  for (Index i = 0; i < A.nrows; ++i) {
    if (kind(i) == 1) rows[i][i] = 1e4;
    if (kind(i) == 0)
      for (auto p = A.row_ptr[i]; p < A.row_ptr[i + 1]; ++p)
        if (kind(A.col_idx[p]) == 0) rows[i][A.col_idx[p]] = A.values[p];
  }
  return matrix_of(A.nrows, rows);
}

/// Hubs in a chain of strong couplings, each with leaves that are weak beside them: nothing but hubs is strongly coupled.
Matrix hubs_with_leaves(Index hubs, Index leaves) {
  const Index n = hubs * (leaves + 1);
  std::vector<Row> rows(n);
  const auto couple = [&](Index i, Index j, double c) {
    rows[i][j] -= c, rows[j][i] -= c;
    rows[i][i] += c, rows[j][j] += c;
  };
  for (Index h = 0; h < hubs; ++h) {
    rows[h][h] += 1;
    if (h > 0) couple(h - 1, h, 1e6);
    for (Index l = 0; l < leaves; ++l) couple(h, hubs + h * leaves + l, 1);
  }
  return matrix_of(n, rows);
}

/// A network of k x k nodes, grounded along its first line, whose conductances range over six orders of magnitude.
Matrix network(unsigned seed, Index k) {
  std::mt19937_64 random(seed);
  std::vector<Row> rows(std::size_t(k) * k);
  const auto couple = [&](Index i, Index j) {
    const double c = std::pow(10, std::uniform_real_distribution(-3.0, 3.0)(random));
    rows[i][j] = rows[j][i] = -c;
    rows[i][i] += c, rows[j][j] += c;
  };
  for (Index i = 0; i < k * k; ++i) {
    if ((i + 1) % k != 0) couple(i, i + 1);
    if (i + k < k * k) couple(i, i + k);
    if (i < k) rows[i][i] += 1;
  }
  return matrix_of(k * k, rows);
}

std::vector<NamedMatrix> systems(unsigned seed) {
  std::vector<NamedMatrix> all;
  all.push_back({"poisson2d", poisson(60)});
  all.push_back({"elasticity3d", generate(OpenMP{2}, "elasticity3d:8")});
  all.push_back({"random", random_spd(seed, 3000, 4)});
  all.push_back({"random, long rows", random_spd(seed + 1, 1000, 90)});
  all.push_back({"hubs", hubs_with_leaves(40, 50)});
  return all;
}

}  // namespace

TEST_CASE("multigrid as preconditioner is symmetric and positive definite, with any smoother, cycle and storage") {
  const unsigned seed = fresh_seed();
  const std::pair<AmgSmoother, AmgStorage> kinds[] = {
      {AmgSmoother::automatic, AmgStorage::fp32}, {AmgSmoother::jacobi, AmgStorage::fp32},
      {AmgSmoother::chebyshev, AmgStorage::fp32}, {AmgSmoother::automatic, AmgStorage::fp64},
      {AmgSmoother::jacobi, AmgStorage::fp64},    {AmgSmoother::chebyshev, AmgStorage::fp64},
      {AmgSmoother::symgs, AmgStorage::fp64}};
  for (const auto& [name, A] : systems(seed))
    for (const auto& [smoother, storage] : kinds)
      for (const AmgCycle cycle : {AmgCycle::v, AmgCycle::w}) {
        CAPTURE(name);
        CAPTURE(int(smoother));
        CAPTURE(int(storage));
        CAPTURE(int(cycle));
        const Amg<OpenMP> M(OpenMP{1}, A.view(),
                            {.coarsening = {.coarsest = 30}, .smoother = smoother, .storage = storage, .cycle = cycle});
        // Rounding of the values alone, amplified by the condition of the coarsest levels.
        const double rounding = storage == AmgStorage::fp32 ? 1e-3 : 1e-12;
        CHECK(M.levels().size() > 1);
        for (unsigned k = 0; k < 3; ++k) {
          const auto x = random_vector(seed + 2 * k, A.nrows), y = random_vector(seed + 2 * k + 1, A.nrows);
          const auto Mx = applied(OpenMP{1}, M, x), My = applied(OpenMP{1}, M, y);
          const double size = std::sqrt(product(Mx, Mx) * product(y, y));
          CHECK(std::abs(product(y, Mx) - product(x, My)) <= rounding * size);
          CHECK(product(x, Mx) > 0);
        }
      }
}

TEST_CASE("a stronger smoother and a second visit of the coarser levels need no more iterations") {
  const Matrix A = generate(OpenMP{2}, "poisson3d:20");
  const auto b = random_vector(1, A.nrows);
  const auto with = [&](const AmgOptions& options) {
    const MatrixOperator op(OpenMP{1}, A.view());
    const Vector<double, OpenMP> rhs(OpenMP{1}, Array<double>(b));
    Vector<double, OpenMP> x(OpenMP{1}, A.nrows);
    const Summary summary = cg(op, Amg<OpenMP>(OpenMP{1}, A.view(), options), rhs, x);
    CHECK(summary.converged());
    return summary.iterations;
  };
  const auto plain = with({});
  CHECK(with({.smoother = AmgSmoother::chebyshev}) < plain);
  CHECK(with({.smoother = AmgSmoother::symgs}) < plain);
  CHECK(with({.coarsening = {.coarsest = 20}, .cycle = AmgCycle::w}) <= plain);
}

TEST_CASE("levels in single precision need as many iterations as those in double, but for one in ten") {
  const unsigned seed = fresh_seed();
  auto all = systems(seed);
  all.push_back({"poisson3d", generate(OpenMP{2}, "poisson3d:24")});
  all.push_back({"aniso3d", generate(OpenMP{2}, "aniso3d:20:0.01")});
  for (auto& [name, A] : all)
    for (const double unit : {1.0, 0x1p-500, 0x1p+500}) {  // far outside of what single precision can hold
      CAPTURE(name);
      CAPTURE(unit);
      Matrix scaled = copy_of(A);
      for (double& a : scaled.values) a *= unit;
      const auto b = times(scaled, random_vector(seed, A.nrows));
      const auto with = [&](AmgStorage storage) {
        const MatrixOperator op(OpenMP{1}, scaled.view());
        const Vector<double, OpenMP> rhs(OpenMP{1}, Array<double>(b));
        Vector<double, OpenMP> x(OpenMP{1}, A.nrows);
        const Summary summary = cg(op, Amg<OpenMP>(OpenMP{1}, scaled.view(), {.storage = storage}), rhs, x);
        CHECK(summary.converged());
        return double(summary.iterations);
      };
      const double in_double = with(AmgStorage::fp64);
      CHECK(with(AmgStorage::fp32) <= 1.1 * in_double + 2);  // random hubs took 4 instead of 2 once
    }
}

TEST_CASE("iterations of cg with amg stay within those of the design, for b = A * ones and for a random b") {
  const struct {
    const char* name;
    std::int64_t ones, random;  // measured in the study of the design, and one more
  } expected[] = {{"poisson3d:16", 12, 13},  {"poisson3d:32", 13, 14},    {"hpcg:16", 11, 11},
                  {"hpcg:32", 12, 12},       {"aniso3d:16:0.01", 13, 15}, {"aniso3d:32:0.01", 13, 15},
                  {"poisson2d:128", 14, 15}, {"elasticity3d:10", 26, 28}};
  for (const auto& e : expected) {
    CAPTURE(e.name);
    const Matrix A = generate(OpenMP{2}, e.name);
    CHECK(iterations(A, times(A, ones(A.ncols))) <= e.ones);
    CHECK(iterations(A, random_vector(1, A.nrows)) <= e.random);
  }
}

TEST_CASE("hierarchies and cycles have the same bits on every back end and with any number of threads") {
  const unsigned seed = fresh_seed();
  for (const auto& [name, A] : systems(seed)) {
    CAPTURE(name);
    const auto r = random_vector(seed, A.nrows);
    for (const AmgOptions& options :
         {AmgOptions{.storage = AmgStorage::fp64},
          {.smoother = AmgSmoother::jacobi, .storage = AmgStorage::fp32},
          {.smoother = AmgSmoother::chebyshev, .storage = AmgStorage::fp32, .cycle = AmgCycle::w},
          {.coarsening = {.coarsest = 30}, .cycle = AmgCycle::k},
          {.coarsening = {.coarsest = 30}, .storage = AmgStorage::fp64, .cycle = AmgCycle::k}}) {
      CAPTURE(int(options.smoother));
      CAPTURE(int(options.cycle));
      const auto expected = applied(OpenMP{1}, Amg<OpenMP>(OpenMP{1}, A.view(), options), r);
      on_every_backend([&](auto on) {
        using B = decltype(on);
        const auto there = moved_to(on, A.view());
        CHECK(applied(on, Amg<B>(on, there.view(), options), r) == expected);
      });
    }
  }
}

TEST_CASE("new values in the same pattern: as a new hierarchy, if the couplings stay, and a preconditioner if not") {
  const unsigned seed = fresh_seed();
  for (const auto& [name, A] : systems(seed)) {
    CAPTURE(name);
    Matrix scaled = copy_of(A), shifted = copy_of(A);
    for (double& a : scaled.values) a *= 4;  // exact, so that even ties stay
    for (Index i = 0; i < A.nrows; ++i)
      for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        if (A.col_idx[k] == i) shifted.values[k] *= 1.5 + 0.5 * (i % 3);
    const auto r = random_vector(seed, A.nrows);
    const auto check = [&](auto on, const AmgOptions& options) {
      using B = decltype(on);
      const auto first = moved_to(on, A.view()), second = moved_to(on, scaled.view()),
                 third = moved_to(on, shifted.view());
      Amg<B> updated(on, first.view(), options);
      updated.update_values(second.view());
      CHECK(applied(on, updated, r) == applied(on, Amg<B>(on, second.view(), options), r));
      updated.update_values(third.view());
      const auto z = applied(on, updated, r);
      CHECK(product(r, z) > 0);
      updated.update_values(first.view());
      CHECK(applied(on, updated, r) == applied(on, Amg<B>(on, first.view(), options), r));
    };
    for (const AmgStorage storage : {AmgStorage::fp32, AmgStorage::fp64})
      on_every_backend([&](auto on) { check(on, {.storage = storage}); });
    CHECK_THROWS_AS(Amg<OpenMP>(OpenMP{1}, A.view()).update_values(matrix_of(1, {{{0, 1.0}}}).view()), ShapeError);
  }
}

TEST_CASE("the dense inverse is symmetric, and A times it the identity; of a singular A it solves what can be solved") {
  const unsigned seed = fresh_seed();
  for (const Index n : {0, 1, 2, 63, 191, 192, 221}) {  // from 192 rows on with panels, by all threads
    CAPTURE(n);
    const Matrix A = n > 0 ? random_spd(seed, n, 5) : matrix_of(0, {});
    const auto G = dense_inverse(OpenMP{5}, A.view()), alone = dense_inverse(OpenMP{1}, A.view());
    CHECK(std::equal(G.values.begin(), G.values.end(), alone.values.begin()));
    REQUIRE(G.nnz() == std::int64_t(n) * n);
    for (Index j = 0; j < n; ++j) {
      std::vector<double> column(n);
      for (Index i = 0; i < n; ++i) {
        column[i] = G.values[i * n + j];
        REQUIRE(G.col_idx[i * n + j] == j);
        REQUIRE(column[i] == G.values[j * n + i]);
      }
      const auto unit = times(A, column);
      for (Index i = 0; i < n; ++i) REQUIRE(std::abs(unit[i] - (i == j)) <= 1e-11);
    }
  }
  const Matrix A = floating_paths(70, 3);
  const auto G = dense_inverse(OpenMP{1}, A.view()), by_panels = dense_inverse(OpenMP{5}, A.view());
  CHECK(std::equal(G.values.begin(), G.values.end(), by_panels.values.begin()));
  const auto b = times(A, random_vector(seed, A.nrows));
  const auto Ax = times(A, times(G, b));
  for (Index i = 0; i < A.nrows; ++i) CHECK(std::abs(Ax[i] - b[i]) <= 1e-11);
}

TEST_CASE("the dense inverse of an indefinite A, and made definite") {
  for (const Index n : {1, 2, 63, 192}) {
    CAPTURE(n);
    Matrix A = n > 2 ? random_spd(fresh_seed(), n, 5) : diagonal(std::vector<double>(n, 1));
    for (Index i = 0; i < n; i += 3)
      for (auto e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e)
        if (A.col_idx[e] == i) A.values[e] *= -1;
    const auto inverse = dense_inverse(OpenMP{5}, A.view());
    const auto definite = dense_inverse(OpenMP{5}, A.view(), 0, Definite::made);
    const auto x = random_vector(fresh_seed(), n);
    const auto same = times(inverse, times(A, x));
    const auto once = times(definite, times(A, x)), twice = times(definite, times(A, once));
    for (Index i = 0; i < n; ++i) {
      CHECK(std::abs(same[i] - x[i]) <= 1e-9);
      CHECK(std::abs(twice[i] - x[i]) <= 1e-9);  // (G A)^2 = I
    }
    CHECK(product(x, times(definite, x)) > 0);
  }
  const Matrix A =
      matrix_of(2, {{{0, 1.0}, {1, 1.0}}, {{0, 1.0}, {1, 1 - 1e-10}}});  // as rounding leaves a singular one
  CHECK(dense_inverse(OpenMP{1}, A.view()).values[3] == 0);
}

TEST_CASE("singular systems that have a solution are solved by cg with amg") {
  for (const auto& [n, pieces] : {std::pair{5000, 1}, {700, 7}, {41, 100}, {3, 1000}}) {
    CAPTURE(n);
    const Matrix A = floating_paths(n, pieces);
    CHECK(iterations(A, times(A, random_vector(3, A.nrows))) <= 25);
  }
}

TEST_CASE("a pivot of a singular A that is rounding alone is found as such, whatever the weights") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const Index q = 12, n = q * q;
    std::vector<Row> rows(n);
    const auto couple = [&](Index i, Index j) {
      const double weight = random() % 4 == 0 ? 1000 : 1;
      rows[i][j] = rows[j][i] = -weight;
      rows[i][i] += weight, rows[j][j] += weight;
    };
    for (Index i = 0; i < n; ++i) {
      if ((i + 1) % q != 0) couple(i, i + 1);
      if (i + q < n) couple(i, i + q);
    }
    const Matrix A = matrix_of(n, rows);
    CHECK(iterations(A, times(A, random_vector(seed, n))) <= 2);
  }
}

TEST_CASE("rows that are identities and rows of zeros are left to the smoother") {
  const Matrix A = with_loose_rows(64);
  CHECK(iterations(A, times(A, random_vector(5, A.nrows))) <= 14);
  const Matrix D = diagonal(random_vector(6, 2000));  // nothing to coarsen
  Matrix positive = copy_of(D);
  for (double& d : positive.values) d = 1 + std::abs(d);
  const Amg<OpenMP> M(OpenMP{1}, positive.view());
  CHECK(M.levels().size() == 1);
  CHECK(iterations(positive, ones(2000)) <= 2);
}

TEST_CASE("rows whose couplings are weak for their neighbours stay in the coarser levels, and iterations few") {
  for (const unsigned seed : {1u, 2u, 3u}) {
    const Matrix A = network(seed, 100);
    CHECK(iterations(A, random_vector(seed, A.nrows)) <= 40);
  }
}

TEST_CASE("a coarse row with nothing on its diagonal is nobody's strong neighbour, and all stays finite") {
  // A chain, and pairs of rows that sum to 0 on their own, each row coupled to one of the chain with the other sign: R A P
  // of a pair is 0 beside a positive entry.
  const std::int64_t chain = 3000, pairs = 1000, n = chain + 2 * pairs;
  std::vector<std::map<Index, double>> rows(static_cast<std::size_t>(n));
  const auto couple = [&](std::int64_t i, std::int64_t j, double a) {
    rows[std::size_t(i)][Index(j)] = rows[std::size_t(j)][Index(i)] = a;
  };
  for (std::int64_t i = 0; i < chain; ++i) couple(i, i, 2);
  for (std::int64_t i = 1; i < chain; ++i) couple(i - 1, i, -1);
  for (std::int64_t p = 0; p < pairs; ++p)
    for (const std::int64_t side : {0, 1}) {
      const std::int64_t i = chain + 2 * p + side;
      couple(i, i, 1);
      couple(chain + 2 * p, chain + 2 * p + 1, -1);
      couple(i, 3 * p + side, 0.125);
    }
  const Matrix A = matrix_of(Index(n), rows);
  for (const auto storage : {AmgStorage::fp32, AmgStorage::fp64}) {
    const Amg<OpenMP> M(OpenMP{1}, A.view(), {.storage = storage});
    CHECK(M.levels().size() > 2);
    for (const double z : applied(OpenMP{1}, M, std::vector<double>(std::size_t(n), 1.0))) REQUIRE(std::isfinite(z));
  }
}

TEST_CASE("a coarsening that fails is tried again with less strength") {
  const Matrix A = hubs_with_leaves(40, 50);
  const Amg<OpenMP> M(OpenMP{1}, A.view());
  CHECK(M.levels().front().strength == 0);
  CHECK(M.levels().front().lone == 0);
  CHECK(M.levels().size() > 1);
  const Matrix P = poisson(40);
  const Amg<OpenMP> lattice(OpenMP{1}, P.view());
  CHECK(lattice.levels().front().strength == 0.25);
}

TEST_CASE("amg refuses what it cannot use, and names the row") {
  const auto message = [](const Matrix& A) { return refusal([&] { Amg<OpenMP>(OpenMP{1}, A.view()); }); };
  CHECK(message(matrix_of(2, {{{0, 1.0}, {1, 1.0}}, {{0, 1.0}}})).find("row 2") != std::string::npos);
  CHECK(message(matrix_of(2, {{{0, 1.0}, {1, 1.0}}, {{0, 1.0}, {1, 1e-320}}})).find("row 2") != std::string::npos);
  CHECK(message(matrix_of(3, {{{0, 1.0}}, {{1, 1.0}}, {{2, -1.0}}})).find("row 3") != std::string::npos);
  CHECK_THROWS_AS(Amg<OpenMP>(OpenMP{1}, matrix_of(3, {{{0, 1.0}}}).view()), ShapeError);
  const AmgOptions impossible{.smoother = AmgSmoother::symgs, .storage = AmgStorage::fp32};
  CHECK_THROWS_AS(Amg<OpenMP>(OpenMP{1}, poisson(4).view(), impossible), UsageError);
}
