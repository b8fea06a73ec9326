// Geometric multigrid on the lattice of a matrix.
#include "multigrid.hpp"

#include <seidel/formats/generators/generate.hpp>
#include <seidel/kernels/aggregation/lattice.hpp>
#include <seidel/solvers/cg.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

AmgOptions on_lattice(const Matrix& A, AmgStorage storage = AmgStorage::automatic) {
  const FoundLattice found = find_lattice(OpenMP{1}, A.view());
  CHECK(found.otherwise.empty());
  return {.coarsening = {.lattice = found.lattice}, .storage = storage};
}

struct Solved {
  std::int64_t iterations;
  std::vector<LevelFacts> levels;
};
Solved solved(const Matrix& A, const std::vector<double>& b, const AmgOptions& options) {
  const OpenMP on{2};
  const AmgPreconditioner<std::int64_t, OpenMP> M(on, A.view(), options);
  const Vector<double, OpenMP> rhs(on, Array<double>(b));
  Vector<double, OpenMP> x(on, A.nrows);
  const Summary summary = cg(MatrixOperator(on, A.view()), M, rhs, x);
  CHECK(summary.converged());
  return {summary.iterations, M.levels()};
}

}  // namespace

/// The graph of a lattice: its rows sum to zero, as where nothing is known of the boundary, or more where x = 0 there.
Matrix laplacian(const Lattice& lattice, bool fixed) {
  std::vector<Row> rows(std::size_t(lattice.points()));
  for (std::int64_t i = 0; i < lattice.points(); ++i) {
    const auto couple = [&](Index at, Index points, std::int64_t stride) {
      for (const int side : {-1, 1}) {
        const bool inside = at + side >= 0 && at + side < points;
        if (points == 1 || !(inside || fixed)) continue;
        rows[i][Index(i)] += 1;
        if (inside) rows[i][Index(i + side * stride)] = -1;
      }
    };
    couple(Index(i % lattice.nx), lattice.nx, 1);
    couple(Index(i / lattice.nx % lattice.ny), lattice.ny, lattice.nx);
    couple(Index(i / lattice.nx / lattice.ny), lattice.nz, std::int64_t(lattice.nx) * lattice.ny);
  }
  return matrix_of(Index(lattice.points()), rows);
}

TEST_CASE(
    "interpolation on a lattice keeps linear functions between coarse points, and constants where rows sum to zero") {
  for (const Lattice fine : {Lattice{5}, Lattice{6, 7}, Lattice{9, 5, 7}, Lattice{8, 4, 3}})
    for (const Lattice coarse : {Lattice{(fine.nx + 1) / 2, (fine.ny + 1) / 2, (fine.nz + 1) / 2},
                                 Lattice{(fine.nx + 1) / 2, fine.ny, (fine.nz + 1) / 2}}) {
      CAPTURE(to_string(fine));
      CAPTURE(to_string(coarse));
      const auto P = interpolation<OpenMP, std::int64_t>(OpenMP{2}, laplacian(fine, false).view(), fine, coarse);
      REQUIRE(P.nrows == fine.points());
      REQUIRE(P.ncols == coarse.points());
      const auto step = [](Index n, Index coarse_n) { return coarse_n < n ? 2 : 1; };
      for (std::int64_t i = 0; i < fine.points(); ++i) {
        const Index x = Index(i % fine.nx), y = Index(i / fine.nx % fine.ny), z = Index(i / fine.nx / fine.ny);
        double sum = 0, of_x = 0, of_y = 0, of_z = 0;
        for (auto k = P.row_ptr[i]; k < P.row_ptr[i + 1]; ++k) {
          const Index j = P.col_idx[k];
          CHECK((k == P.row_ptr[i] || P.col_idx[k - 1] < j));
          sum += P.values[k];
          of_x += P.values[k] * step(fine.nx, coarse.nx) * (j % coarse.nx);
          of_y += P.values[k] * step(fine.ny, coarse.ny) * (j / coarse.nx % coarse.ny);
          of_z += P.values[k] * step(fine.nz, coarse.nz) * (j / coarse.nx / coarse.ny);
        }
        CHECK(sum == 1);
        const auto between = [&](Index at, Index n, Index coarse_n) {
          return step(n, coarse_n) * (coarse_n - 1) >= at;
        };
        if (between(x, fine.nx, coarse.nx)) CHECK(of_x == x);
        if (between(y, fine.ny, coarse.ny)) CHECK(of_y == y);
        if (between(z, fine.nz, coarse.nz)) CHECK(of_z == z);
      }
    }
}

TEST_CASE("behind the last coarse point interpolation goes to zero where a boundary does") {
  const auto P = interpolation<OpenMP, std::int64_t>(OpenMP{2}, laplacian({8, 6}, true).view(), {8, 6}, {4, 3});
  const auto weights = [&](Index x, Index y) {
    double sum = 0;
    for (auto k = P.row_ptr[8 * y + x]; k < P.row_ptr[8 * y + x + 1]; ++k) sum += P.values[k];
    return sum;
  };
  CHECK(weights(3, 3) == 1);
  CHECK(weights(7, 3) == 0.5);
  CHECK(weights(3, 5) == 0.5);
  CHECK(weights(7, 5) == 0.25);
  CHECK(weights(0, 0) == 1);
}

TEST_CASE("iterations of cg with multigrid on a lattice hardly grow with it, for all stencils") {
  for (const auto& [small, large] : {std::pair{"poisson3d:16", "poisson3d:32"},
                                     {"hpcg:16", "hpcg:32"},
                                     {"poisson2d:64", "poisson2d:256"},
                                     {"aniso3d:16:0.01", "aniso3d:32:0.01"}}) {
    CAPTURE(std::string(large));
    const Matrix A = generate(OpenMP{1}, small), B = generate(OpenMP{1}, large);
    const auto of_small = solved(A, random_vector(1, A.nrows), on_lattice(A)).iterations,
               of_large = solved(B, random_vector(1, B.nrows), on_lattice(B)).iterations;
    CHECK(of_large <= 1.3 * of_small);
    CHECK(of_large <= 12);
  }
}

TEST_CASE("a lattice is halved only along the directions of strong coupling, until they are alike") {
  const Matrix A = generate(OpenMP{1}, "aniso3d:32:1,1,0.01");
  const auto levels = solved(A, ramp(A.nrows), on_lattice(A)).levels;
  REQUIRE(levels.size() > 2);
  CHECK(levels[1].rows == 16 * 16 * 32);
  CHECK(levels[2].rows == 8 * 8 * 32);
}

TEST_CASE("multigrid on a lattice has the same bits on every back end, and takes new values") {
  for (const char* spec : {"poisson3d:13x20x11", "hpcg:12", "aniso3d:16:0.05", "poisson2d:70"})
    for (const AmgStorage storage : {AmgStorage::fp32, AmgStorage::fp64}) {
      CAPTURE(spec);
      const Matrix A = generate(OpenMP{1}, spec);
      Matrix other = copy_of(A);
      for (double& a : other.values) a *= 4;  // exact
      const auto options = on_lattice(A, storage);
      const auto r = random_vector(fresh_seed(), A.nrows);
      const auto expected = applied(OpenMP{1}, Amg<OpenMP>(OpenMP{1}, A.view(), options), r),
                 of_other = applied(OpenMP{1}, Amg<OpenMP>(OpenMP{1}, other.view(), options), r);
      on_every_backend([&](auto on) {
        using B = decltype(on);
        const auto first = moved_to(on, A.view()), second = moved_to(on, other.view());
        Amg<B> M(on, first.view(), options);
        CHECK(applied(on, M, r) == expected);
        for (int again = 0; again < 2; ++again) {
          M.update_values(second.view());
          CHECK(applied(on, M, r) == of_other);
          M.update_values(first.view());
          CHECK(applied(on, M, r) == expected);
        }
      });
    }
}

TEST_CASE("a lattice needs a point per row") {
  CHECK_THROWS_AS(Amg<OpenMP>(OpenMP{1}, poisson(20).view(), {.coarsening = {.lattice = {20, 21}}}), ShapeError);
}
