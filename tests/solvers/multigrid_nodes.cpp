// Multigrid for several unknowns per node and for near-null vectors: iterations, bits, new values, what is refused.
#include "multigrid.hpp"

#include <seidel/formats/generators/generate.hpp>
#include <seidel/kernels/aggregation/near_null.hpp>
#include <seidel/solvers/cg.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

Matrix elastic(Index n) { return generate(OpenMP{2}, "elasticity3d:" + std::to_string(n)); }

/// Without the entries that vanish but for rounding, as many programs write it: its blocks have holes.
Matrix without_zeros(const Matrix& A) {
  std::vector<Row> rows(A.nrows);
  for (Index i = 0; i < A.nrows; ++i)
    for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (std::abs(A.values[k]) > 1e-12) rows[i][A.col_idx[k]] = A.values[k];
  return matrix_of(A.nrows, rows);
}

/// The six rigid-body modes of elasticity3d:N, column by column.
std::vector<double> rigid_modes(Index n) {
  MultiVector<double> points(std::int64_t(n) * n * n, 3, Layout::row_major);
  for (std::int64_t i = 0; i < std::int64_t(n) * n * n; ++i) {
    points.view()(i, 0) = double(i % n + 1);
    points.view()(i, 1) = double(i / n % n);
    points.view()(i, 2) = double(i / n / n);
  }
  const auto modes = rigid_body_modes(std::as_const(points).view());
  return {modes.elements().begin(), modes.elements().end()};
}

template <class Space>
MultiVectorView<const double, Space> columns(const Array<double, Space>& v, std::int64_t n) {
  return {n, n > 0 ? v.size() / n : 0, n, Layout::column_major, v.data()};
}

std::int64_t iterations(const Matrix& A, const Amg<OpenMP>& M, const std::vector<double>& b) {
  const MatrixOperator op(OpenMP{1}, A.view());
  const Vector<double, OpenMP> rhs(OpenMP{1}, Array<double>(b));
  Vector<double, OpenMP> x(OpenMP{1}, A.nrows);
  const Summary summary = cg(op, M, rhs, x);
  CHECK(summary.converged());
  const std::vector<double> found(x.span().begin(), x.span().end());
  CHECK(true_residual(A, found, b) <= 1.001e-8);
  return summary.iterations;
}

}  // namespace

TEST_CASE(
    "the nodes of an elastic body are found where zeros are left out of the pattern, and iterations stay as few") {
  const Matrix A = elastic(12), B = without_zeros(A);
  CHECK(B.nnz() < A.nnz());
  CHECK(unknowns_per_node<OpenMP, std::int64_t>(OpenMP{1}, B.view()) == 1);
  const Amg<OpenMP> M(OpenMP{1}, A.view()), N(OpenMP{1}, B.view());
  CHECK(N.levels().front().unknowns_per_node == 3);
  const auto b = random_vector(2, A.nrows);
  CHECK(iterations(B, N, b) <= iterations(A, M, b) + 1);
  on_every_backend([&](auto on) {
    using Space = SpaceOf<decltype(on)>;
    const auto unknowns = [&](const Matrix& S) {
      const auto there = moved_to(on, S.view());
      return unknowns_by_translations<decltype(on), std::int64_t>(on,
                                                                  CsrView<double, std::int64_t, Space>(there.view()));
    };
    CHECK(unknowns(B) == 3);
    CHECK(unknowns(poisson(60)) == 1);
    CHECK(unknowns(generate(OpenMP{2}, "hpcg:12")) == 1);
    CHECK(unknowns(generate(OpenMP{2}, "random:3000x3000:30000")) == 1);
    CHECK(unknowns(matrix_of(0, {})) == 1);
    CHECK(unknowns(matrix_of(6, std::vector<Row>(6))) == 1);
  });
}

TEST_CASE("iterations for an elastic body are those of its near-null vectors, and hardly grow") {
  struct Expected {
    FirstLevel first;
    bool rigid;
    std::int64_t at_8, at_16;  // of the worse of both right-hand sides, and one more
  };
  for (const Expected& e : {Expected{FirstLevel::plain, false, 26, 32}, Expected{FirstLevel::smoothed, false, 22, 24},
                            Expected{FirstLevel::plain, true, 16, 18}, Expected{FirstLevel::smoothed, true, 12, 13}})
    for (const Index n : {8, 16}) {
      CAPTURE(n);
      CAPTURE(e.rigid);
      CAPTURE(int(e.first));
      const Matrix A = elastic(n);
      const Array<double> modes(e.rigid ? rigid_modes(n) : std::vector<double>());
      const Amg<OpenMP> M(OpenMP{1}, A.view(), {.coarsening = {.coarsest = 100, .first = e.first}},
                          columns(modes, A.nrows));
      CHECK(M.levels().front().unknowns_per_node == 3);
      if (M.levels().size() > 2) CHECK(M.levels()[1].unknowns_per_node == (e.rigid ? 6 : 3));
      const std::int64_t most = n == 8 ? e.at_8 : e.at_16;
      CHECK(iterations(A, M, times(A, ones(A.nrows))) <= most);
      CHECK(iterations(A, M, random_vector(1, A.nrows)) <= most);
    }
}

TEST_CASE("hierarchies of nodes have the same bits on every back end, and new values give those of a new one") {
  const Matrix A = elastic(9);
  Matrix scaled = copy_of(A);
  for (double& a : scaled.values) a *= 4;  // exact
  const auto r = random_vector(fresh_seed(), A.nrows);
  for (const FirstLevel first : {FirstLevel::plain, FirstLevel::smoothed})
    for (const bool rigid : {false, true}) {
      CAPTURE(rigid);
      CAPTURE(int(first));
      const AmgOptions options{.coarsening = {.coarsest = 50, .first = first}};
      const auto modes = rigid ? rigid_modes(9) : std::vector<double>();
      const Array<double> here(modes);
      const Amg<OpenMP> expected(OpenMP{1}, A.view(), options, columns(here, A.nrows));
      CHECK(expected.levels().size() > 1);
      on_every_backend([&](auto on) {
        using B = decltype(on);
        const auto there = moved_to(on, modes);
        const auto old = moved_to(on, A.view()), now = moved_to(on, scaled.view());
        Amg<B> M(on, old.view(), options, columns(there, A.nrows));
        CHECK(applied(on, M, r) == applied(OpenMP{1}, expected, r));
        M.update_values(now.view());
        CHECK(applied(on, M, r) == applied(on, Amg<B>(on, now.view(), options, columns(there, A.nrows)), r));
        M.update_values(old.view());
        CHECK(applied(on, M, r) == applied(OpenMP{1}, expected, r));
      });
    }
}

TEST_CASE("near-null vectors that depend on each other do no harm, with any smoother") {
  const Matrix A = elastic(8);
  auto modes = rigid_modes(8);
  modes.insert(modes.end(), modes.begin(), modes.end());  // each twice
  modes.resize(modes.size() + std::size_t(A.nrows));      // and one of zeros
  const Array<double> here(modes);
  for (const AmgSmoother smoother : {AmgSmoother::jacobi, AmgSmoother::chebyshev, AmgSmoother::symgs}) {
    CAPTURE(int(smoother));
    const Amg<OpenMP> M(OpenMP{1}, A.view(), {.coarsening = {.coarsest = 50}, .smoother = smoother},
                        columns(here, A.nrows));
    CHECK(M.levels().size() > 1);
    CHECK(iterations(A, M, random_vector(1, A.nrows)) <= 35);
  }
}

TEST_CASE("near-null vectors may be of any size: hierarchies have the same bits, on every back end") {
  const Matrix A = elastic(8);
  const auto r = random_vector(fresh_seed(), A.nrows), modes = rigid_modes(8);
  const AmgOptions options{.coarsening = {.coarsest = 50}};
  const Array<double> here(modes);
  const auto expected = applied(OpenMP{1}, Amg<OpenMP>(OpenMP{1}, A.view(), options, columns(here, A.nrows)), r);
  for (const auto& exponents : {std::vector{1000}, {-1000}, {1000, -1000, 0, 300, -600, 1010}}) {
    auto scaled = modes;
    for (std::size_t i = 0; i < scaled.size(); ++i)
      scaled[i] = std::ldexp(scaled[i], exponents[i / std::size_t(A.nrows) % exponents.size()]);
    on_every_backend([&](auto on) {
      const auto there = moved_to(on, scaled);
      const auto A_there = moved_to(on, A.view());
      CHECK(applied(on, Amg<decltype(on)>(on, A_there.view(), options, columns(there, A.nrows)), r) == expected);
    });
  }
}

TEST_CASE("a near-null vector serves rows on their own, too") {
  // D^-1 A D^-1 for a lattice: what is smooth is D ones.
  Matrix A = generate(OpenMP{2}, "poisson3d:20");
  Array<double> mode(A.nrows);
  for (Index i = 0; i < A.nrows; ++i) mode[i] = std::exp(0.4 * (i % 20));
  for (Index i = 0; i < A.nrows; ++i)
    for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) A.values[k] /= mode[i] * mode[A.col_idx[k]];
  const Amg<OpenMP> M(OpenMP{1}, A.view(), {}, columns(mode, A.nrows));
  CHECK(M.levels().front().unknowns_per_node == 1);
  CHECK(iterations(A, M, random_vector(1, A.nrows)) <= 20);
}

TEST_CASE("nodes and near-null vectors that cannot be are refused") {
  const Matrix A = elastic(4);
  const auto message = [&](const AmgOptions& options, const MultiVectorView<const double, Host>& modes) {
    return refusal([&] { Amg<OpenMP>(OpenMP{1}, A.view(), options, modes); });
  };
  Array<double> modes(rigid_modes(4));
  const std::int64_t n = A.nrows;  // 192
  CHECK(message({.coarsening = {.unknowns_per_node = 5}}, {}).find("192 rows and 5 unknowns") != std::string::npos);
  CHECK(message({.coarsening = {.unknowns_per_node = 24}}, {}).find("at most 16") != std::string::npos);
  CHECK(message({}, {n - 1, 6, n, Layout::column_major, modes.data()}).find("191 x 6") != std::string::npos);
  CHECK(message({}, {n, 6, 6, Layout::row_major, modes.data()}).find("columns") != std::string::npos);
  CHECK(message({}, {n, 17, n, Layout::column_major, modes.data()}).find("17 near-null vectors") != std::string::npos);
  modes[2 * n + 7] = std::numeric_limits<double>::quiet_NaN();
  CHECK(message({}, columns(modes, n)).find("row 8 of near-null vector 3") != std::string::npos);
}
