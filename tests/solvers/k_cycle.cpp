// The K cycle of multigrid.
#include "multigrid.hpp"

#include <seidel/formats/generators/generate.hpp>
#include <seidel/solvers/cg.hpp>
#include <seidel/solvers/gmres.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

using V = Vector<double, OpenMP>;

}  // namespace

TEST_CASE(
    "visits of a K cycle find the x of least error in the space that they span, and one is enough if it is good") {
  const unsigned seed = fresh_seed();
  const Matrix A = random_spd(seed, 500, 6);
  const MatrixOperator op(OpenMP{1}, A.view());
  const auto start = random_vector(seed, A.nrows);
  V b(OpenMP{1}, Array<double>(start)), x(OpenMP{1}, A.nrows);
  KrylovVectors<V> vectors{like(b), like(b), like(b)};
  std::vector<std::vector<double>> visited;
  const auto uneven = [&](const V& r, V& z) {  // far from A^-1
    for (std::int64_t i = 0; i < r.size(); ++i) z.span()[i] = r.span()[i] * (1 + i % 5) + (i > 0 ? r.span()[i - 1] : 0);
    visited.emplace_back(z.span().begin(), z.span().end());
  };
  krylov_visits(op, uneven, vectors, b, x);
  REQUIRE(visited.size() == 2);
  const std::vector<double> found(x.span().begin(), x.span().end());
  std::vector<double> r = start;
  const auto Ax = times(A, found);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] -= Ax[i];
  const auto dot = [](const auto& u, const auto& v) { return std::inner_product(u.begin(), u.end(), v.begin(), 0.0); };
  for (const auto& z : visited) CHECK(std::abs(dot(r, z)) <= 1e-12 * std::sqrt(dot(start, start) * dot(z, z)));

  visited.clear();
  copy<OpenMP, double>(OpenMP{1}, HostSpan<const double>{start.data(), b.size()}, b.span());
  const auto nearly_exact = [&](const V& r, V& z) {
    cg(op, IdentityPreconditioner{}, r, z, {.relative_tolerance = 0.1});
    axpby(0, z, 3, z);  // of the wrong length
    visited.emplace_back();
  };
  krylov_visits(op, nearly_exact, vectors, b, x);
  CHECK(visited.size() == 1);
  CHECK(true_residual(A, {x.span().begin(), x.span().end()}, start) < 0.25);
}

TEST_CASE("visits of a K cycle leave x without NaN where nothing is left to do") {
  const Matrix A = poisson(4);
  const MatrixOperator op(OpenMP{1}, A.view());
  V b(OpenMP{1}, A.nrows), x(OpenMP{1}, A.nrows);
  KrylovVectors<V> vectors{like(b), like(b), like(b)};
  krylov_visits(
      op, [](const V& r, V& z) { copy(r, z); }, vectors, b, x);
  CHECK(max_abs(x) == 0);
}

TEST_CASE("with a K cycle gmres needs as many iterations as with a V cycle, and cg in its flexible form few more") {
  for (const char* spec : {"elasticity3d:8", "poisson3d:16", "aniso3d:16:0.01"})
    for (const AmgStorage storage : {AmgStorage::fp32, AmgStorage::fp64}) {
      CAPTURE(std::string(spec));
      CAPTURE(int(storage));
      const Matrix A = generate(OpenMP{2}, spec);
      const MatrixOperator op(OpenMP{1}, A.view());
      const V b(OpenMP{1}, Array<double>(random_vector(fresh_seed(), A.nrows)));
      const auto iterations = [&](AmgCycle cycle, const auto& solver) {
        const Amg<OpenMP> M(OpenMP{1}, A.view(), {.coarsening = {.coarsest = 20}, .storage = storage, .cycle = cycle});
        CHECK(M.levels().size() > 2);
        CHECK(M.is_linear() == (cycle != AmgCycle::k));
        V x(OpenMP{1}, A.nrows);
        const Summary summary = solver(op, M, b, x);
        CHECK(summary.converged());
        return double(summary.iterations);
      };
      const auto by_cg = [](const auto& A, const auto& M, const V& b, V& x) { return cg(A, M, b, x); };
      const auto by_gmres = [](const auto& A, const auto& M, const V& b, V& x) { return gmres(A, M, b, x); };
      CHECK(iterations(AmgCycle::k, by_gmres) <= 1.1 * iterations(AmgCycle::v, by_gmres) + 1);
      CHECK(iterations(AmgCycle::k, by_cg) <= 1.4 * iterations(AmgCycle::v, by_cg) + 1);
    }
}
