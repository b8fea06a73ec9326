// The multigrid method of the HPCG benchmark: what a cycle is, by a reference written with dense loops; symmetric, and the
// same on every back end.
#include "../solvers/systems.hpp"

#include <map>

#include <seidel/drivers/bench/hpcg.hpp>
#include <seidel/solvers/cg.hpp>

using namespace seidel;
using namespace seidel::drivers;
using namespace seidel::tests;

namespace {

constexpr Lattice lattice{16, 8, 24};

std::vector<double> random_vector(std::int64_t n) {
  std::mt19937_64 random(fresh_seed());
  std::vector<double> v(static_cast<std::size_t>(n));
  for (double& e : v) e = random_value(random);
  return v;
}

template <class B>
std::vector<double> applied(const B& on, const HpcgMultigrid<B>& M, const std::vector<double>& r) {
  const Vector<double, B> there(on, moved_to(on, r));
  Vector<double, B> z(on, there.size());
  fill(z, std::numeric_limits<double>::quiet_NaN());
  M.apply(there, z);
  const auto back = copied_to<Host>(on, std::as_const(z).span());
  return {back.begin(), back.end()};
}

template <class B>
HpcgMultigrid<B> made(const B& on, Order order) {
  return {on, hpcg_matrix(on, lattice), lattice, order};
}

using Dense = std::vector<std::map<std::int64_t, long double>>;

/// The benchmark's matrix, from the coordinates of its points.
Dense stencil(const Lattice& box) {
  Dense rows(std::size_t(box.points()));
  for (Index k = 0; k < box.nz; ++k)
    for (Index j = 0; j < box.ny; ++j)
      for (Index i = 0; i < box.nx; ++i)
        for (int dk = -1; dk <= 1; ++dk)
          for (int dj = -1; dj <= 1; ++dj)
            for (int di = -1; di <= 1; ++di) {
              const Index x = i + di, y = j + dj, z = k + dk;
              if (x < 0 || y < 0 || z < 0 || x >= box.nx || y >= box.ny || z >= box.nz) continue;
              const std::int64_t row = (std::int64_t(k) * box.ny + j) * box.nx + i;
              rows[std::size_t(row)][(std::int64_t(z) * box.ny + y) * box.nx + x] = di || dj || dk ? -1 : 26;
            }
  return rows;
}

long double rest(const Dense& A, std::size_t i, const std::vector<long double>& x, long double b) {
  for (const auto& [j, a] : A[i]) b -= a * x[std::size_t(j)];
  return b;
}

std::vector<long double> cycle(const Lattice& box, int levels, const std::vector<long double>& r) {
  const Dense A = stencil(box);
  const std::size_t n = A.size();
  std::vector<long double> z(n, 0);
  const auto sweep = [&] {
    for (std::size_t i = 0; i < n; ++i) z[i] += rest(A, i, z, r[i]) / 26;
    for (std::size_t i = n; i-- > 0;) z[i] += rest(A, i, z, r[i]) / 26;
  };
  sweep();
  if (levels == 1) return z;
  const Lattice half = box.halved();
  std::vector<std::size_t> points;
  for (Index k = 0; k < half.nz; ++k)
    for (Index j = 0; j < half.ny; ++j)
      for (Index i = 0; i < half.nx; ++i)
        points.push_back((std::size_t(2 * k) * std::size_t(box.ny) + std::size_t(2 * j)) * std::size_t(box.nx) +
                         std::size_t(2 * i));
  std::vector<long double> coarse;
  for (const std::size_t point : points) coarse.push_back(rest(A, point, z, r[point]));
  const auto correction = cycle(half, levels - 1, coarse);
  for (std::size_t p = 0; p < points.size(); ++p) z[points[p]] += correction[p];
  sweep();
  return z;
}

}  // namespace

TEST_CASE("a cycle of HPCG's multigrid is what the benchmark says") {
  const auto r = random_vector(lattice.points());
  const auto found = applied(OpenMP{1}, made(OpenMP{1}, Order::natural), r);
  const auto expected = cycle(lattice, 4, {r.begin(), r.end()});
  for (std::size_t i = 0; i < r.size(); ++i) CHECK(std::fabs(found[i] - double(expected[i])) <= 1e-13);
}

TEST_CASE("HPCG's multigrid is symmetric, positive, and has the same bits on every back end") {
  const auto r = random_vector(lattice.points()), s = random_vector(lattice.points());
  for (const Order order : {Order::natural, Order::colours}) {
    const auto M = made(OpenMP{1}, order);
    const auto Mr = applied(OpenMP{1}, M, r), Ms = applied(OpenMP{1}, M, s);
    long double rs = 0, sr = 0, rr = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      rs += (long double)s[i] * Mr[i];
      sr += (long double)r[i] * Ms[i];
      rr += (long double)r[i] * Mr[i];
    }
    CHECK(rr > 0);
    CHECK(std::fabs(double(rs - sr)) <= 1e-12 * double(rr));
    on_every_backend([&](const auto& on) { CHECK(applied(on, made(on, order), r) == Mr); });
  }
}

TEST_CASE("cg with HPCG's multigrid needs few iterations, by colours hardly more") {
  const OpenMP on{2};
  const Lattice cube{32, 32, 32};
  const auto iterations = [&](Order order) {
    const HpcgMultigrid<OpenMP> M(on, hpcg_matrix(on, cube), cube, order);
    const MatrixOperator A(on, M.A());
    Vector<double, OpenMP> x(on, A.nrows()), b(on, A.nrows());
    fill(x, 1), A.apply(x, b), fill(x, 0);
    const Summary summary = cg(A, M, b, x, {.relative_tolerance = 1e-8});
    CHECK(summary.status == Status::converged);
    return summary.iterations;
  };
  CHECK(iterations(Order::natural) <= 25);
  CHECK(iterations(Order::colours) <= 28);
}

TEST_CASE("HPCG's multigrid refuses a lattice that cannot be halved three times") {
  const Lattice odd{8, 8, 12};
  CHECK_THROWS_AS(HpcgMultigrid<OpenMP>(OpenMP{1}, hpcg_matrix(OpenMP{}, odd), odd, Order::natural), UsageError);
}
