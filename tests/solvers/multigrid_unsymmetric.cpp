// Multigrid for matrices that are not symmetric: of flows that diffuse.
#include "multigrid.hpp"

#include <algorithm>

#include <seidel/formats/generators/generate.hpp>
#include <seidel/formats/properties.hpp>
#include <seidel/formats/statistics.hpp>
#include <seidel/kernels/aggregation/strength.hpp>
#include <seidel/solvers/choose_method.hpp>
#include <seidel/solvers/multigrid/coarsest.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// Diffusion, and a flow around the middle of a square of k x k points, upwind; `speed` cell Peclet numbers at the rim.
Matrix whirl(Index k, double speed) {
  std::vector<Row> rows(std::size_t(k) * k);
  for (Index y = 0; y < k; ++y)
    for (Index x = 0; x < k; ++x) {
      const Index i = y * k + x;
      const double u = speed * (2.0 * y / (k - 1) - 1), v = -speed * (2.0 * x / (k - 1) - 1);
      const auto couple = [&](Index dx, Index dy, double inflow) {
        const double c = 1 + std::max(0.0, inflow);
        rows[i][i] += c;
        if (x + dx >= 0 && x + dx < k && y + dy >= 0 && y + dy < k) rows[i][i + dy * k + dx] = -c;
      };
      couple(-1, 0, u), couple(1, 0, -u), couple(0, -1, v), couple(0, 1, -v);
    }
  return matrix_of(k * k, rows);
}

const How bicgstab_with_amg{.method = Method::bicgstab, .preconditioner = PreconditionerKind::amg, .symmetric = false};

AmgOptions unsymmetric(CoarseRow coarse_row, AmgSmoother smoother) {
  AmgOptions options{.smoother = smoother};
  options.coarsening.coarse_row = coarse_row;
  options.coarsening.symmetric = false;
  return options;
}

}  // namespace

TEST_CASE(
    "bicgstab with amg solves flows, in iterations that hardly grow where diffusion is as strong, with the same bits "
    "on every back end") {
  for (const double speed : {0.01, 1.0, 30.0}) {
    CAPTURE(speed);
    std::int64_t before = 0;
    for (const Index k : {32, 64, 128}) {
      CAPTURE(k);
      const Matrix A = whirl(k, speed);
      const auto b = random_vector(fresh_seed(), A.nrows);
      const Outcome first = solve_on(OpenMP{1}, bicgstab_with_amg, A, b);
      CHECK(first->converged());
      CHECK(true_residual(A, first.x, b) <= 1.01e-8);
      CHECK(first->iterations <= (speed < 10 ? 20 : 80));
      if (before > 0 && speed < 10) CHECK(first->iterations <= 2 * before + 2);
      before = first->iterations;
      if (k == 64)
        on_every_backend([&](auto on) {
          const Outcome other = solve_on(on, bicgstab_with_amg, A, b);
          CHECK(other.x == first.x);
          CHECK(other->history == first->history);
        });
    }
  }
}

TEST_CASE(
    "coarsening of an unsymmetric matrix: every kind gives the same preconditioner everywhere, and takes new values") {
  const Matrix A = whirl(50, 3);
  Matrix scaled = copy_of(A);
  for (double& a : scaled.values) a *= 4;
  const auto r = random_vector(fresh_seed(), A.nrows);
  for (const CoarseRow coarse_row : {CoarseRow::aggregate, CoarseRow::row})
    for (const AmgSmoother smoother : {AmgSmoother::jacobi, AmgSmoother::chebyshev, AmgSmoother::symgs}) {
      const AmgOptions options = unsymmetric(coarse_row, smoother);
      const auto expected = applied(OpenMP{1}, Amg<OpenMP>(OpenMP{1}, A.view(), options), r);
      on_every_backend([&](auto on) {
        using B = decltype(on);
        const auto first = moved_to(on, A.view()), second = moved_to(on, scaled.view());
        Amg<B> M(on, first.view(), options);
        CHECK(!M.is_symmetric());
        CHECK(applied(on, M, r) == expected);
        M.update_values(second.view());
        CHECK(applied(on, M, r) == applied(on, Amg<B>(on, second.view(), options), r));
      });
    }
}

TEST_CASE("the symmetric part of a matrix is the mean of A and A'") {
  const Matrix A = whirl(17, 5);
  on_every_backend([&](auto on) {
    const auto there = moved_to(on, A.view());
    const auto half = copied_to<Host>(on, symmetric_part(on, there.view()).view());
    for (Index i = 0; i < A.nrows; ++i)
      for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
        const Index j = A.col_idx[k];
        REQUIRE(half.col_idx[k] == j);
        const auto mirror = std::find(&A.col_idx[A.row_ptr[j]], &A.col_idx[A.row_ptr[j + 1] - 1], i) - &A.col_idx[0];
        REQUIRE(half.values[k] == (A.values[k] + A.values[mirror]) / 2);
      }
  });
}

TEST_CASE("the dense inverse of an unsymmetric matrix is one, and of a singular one solves what can be solved") {
  const auto apply = [](const auto& G, const std::vector<double>& b) {
    std::vector<double> x(G.nrows);
    for (Index i = 0; i < G.nrows; ++i)
      for (Index j = 0; j < G.nrows; ++j) x[i] += G.values[std::int64_t(i) * G.nrows + j] * b[j];
    return x;
  };
  const unsigned seed = fresh_seed();
  for (const Index n : {0, 1, 2, 65, 190}) {
    CAPTURE(n);
    const Matrix A =
        n > 0 ? with_dominant_diagonal(random_matrix(seed, n, n, std::min<Index>(n, 5))) : matrix_of(0, {});
    const auto G = dense_inverse_by_rows(A.view());
    REQUIRE(G.nnz() == std::int64_t(n) * n);
    const auto x = random_vector(seed, n), y = apply(G, times(A, x));
    for (Index i = 0; i < n; ++i) CHECK(std::abs(y[i] - x[i]) <= 1e-12);
  }
  // A circle of rows that sum to zero, a row of zeros, and two rows that need an exchange.
  std::vector<Row> rows(43);
  for (Index i = 0; i < 40; ++i) rows[i][i] = 2 + i % 3, rows[i][(i + 1) % 40] = -2 - i % 3;
  rows[41][42] = 3, rows[42][41] = -2;
  const Matrix A = matrix_of(43, rows);
  const auto b = times(A, random_vector(seed, 43)), Ax = times(A, apply(dense_inverse_by_rows(A.view()), b));
  for (Index i = 0; i < 43; ++i) CHECK(std::abs(Ax[i] - b[i]) <= 1e-12);
}

TEST_CASE(
    "amg is chosen for long unsymmetric systems in which diffusion dominates, and refused where it cannot be had") {
  const auto choice = [](const Matrix& A, const MethodRequest& request = {}) {
    const OpenMP on{1};
    return choose_method(properties(on, A.view()), row_statistics(on, A.view()), request);
  };
  CHECK(choice(whirl(100, 1)).preconditioner == PreconditionerKind::amg);
  CHECK(choice(whirl(100, 1)).method == Method::bicgstab);
  CHECK(choice(whirl(90, 1)).preconditioner == PreconditionerKind::symgs);
  Matrix reaction = generate(OpenMP{1}, "poisson2d:120");  // a source, which takes away dominance, and a little wind
  for (Index i = 0; i < reaction.nrows; ++i)
    for (auto k = reaction.row_ptr[i]; k < reaction.row_ptr[i + 1]; ++k)
      reaction.values[k] += reaction.col_idx[k] == i ? -1e-4 : reaction.col_idx[k] < i ? -1e-6 : 0;
  CHECK(choice(reaction).method == Method::gmres);
  CHECK(choice(reaction).preconditioner == PreconditionerKind::amg);
  const Matrix gale = generate(OpenMP{1}, "convdiff:120:2000,1000:central");
  CHECK(choice(gale).method == Method::gmres);
  CHECK(choice(gale).preconditioner == PreconditionerKind::symgs);
  const auto refused = [&](const Matrix& A, MethodRequest request) {
    return refusal<InputError>([&] { choice(A, request); });
  };
  const MethodRequest amg{.preconditioner = PreconditionerKind::amg};
  CHECK(refused(matrix_of(2, {{{0, 1.0}, {1, 1.0}}, {{1, 1.0}}}), amg) ==
        "amg needs a positive diagonal and a symmetric pattern, and that of A is not symmetric\n"
        "  take one that needs less, such as symgs or ilu0, or none");
  CHECK(refused(matrix_of(2, {{{0, 1.0}}, {{1, -1.0}}}), amg)
            .starts_with(
                "amg needs a positive diagonal and a symmetric pattern, and not all diagonal entries are positive"));
  MethodRequest by_k{.method = Method::gmres, .preconditioner = PreconditionerKind::amg};
  for (const Setting& setting : PreconditionerKind::amg.settings)
    if (setting.key == "amg.cycle") by_k.settings.set(setting, int(AmgCycle::k));
  const Matrix A = whirl(20, 1);
  const HereAndThere<OpenMP, std::int64_t> both{A.view(), A.view()};
  const MethodChoice chosen = choice(A, by_k);
  CHECK(refusal<InputError>([&] { make_preconditioner(OpenMP{1}, both, chosen); }).starts_with("amg: found a K cycle"));
}
