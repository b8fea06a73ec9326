// Incomplete factors as preconditioner: their product, their shifts, their bits, and what they are for.
#include "systems.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <random>

#include <seidel/formats/check.hpp>
#include <seidel/formats/generators/generate.hpp>
#include <seidel/formats/properties.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>
#include <seidel/formats/statistics.hpp>
#include <seidel/solvers/preconditioners/threshold.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

std::vector<double> dense(const CsrView<double, std::int64_t, Host>& A, HostSpan<const double> values) {
  std::vector<double> D(std::size_t(A.nrows) * A.ncols);
  for (Index i = 0; i < A.nrows; ++i)
    for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) D[std::size_t(i) * A.ncols + A.col_idx[k]] = values[k];
  return D;
}

/// Largest |((LD + D) D^-1 (D + U) - A)_ij| over the entries of A, in parts of the rounding of its terms.
double worst_entry(const Matrix& A, Factors what) {
  Array<double> w(A.nnz());
  REQUIRE(incomplete_factors(OpenMP{1}, what, A.view(), 0, w.span()));
  const auto W = dense(A.view(), w.span());
  const std::size_t n = std::size_t(A.nrows);
  double worst = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const std::size_t j = std::size_t(A.col_idx[k]);
      long double sum = 0, magnitude = 0;
      for (std::size_t m = 0; m <= std::min(i, j); ++m) {
        const long double term = (long double)W[i * n + m] / W[m * n + m] * W[m * n + j];
        sum += term, magnitude += std::abs(term);
      }
      const long double off = std::abs(sum - A.values[k]);
      const long double bound = 3 * (std::min(i, j) + 3) * eps * (magnitude + std::abs(A.values[k]));
      if (!(off <= worst * bound)) worst = double(off / bound);
    }
  return worst;
}

std::vector<NamedMatrix> spd_systems() {
  std::vector<NamedMatrix> systems;
  systems.push_back({"one row", diagonal({3})});
  systems.push_back({"diagonal", diagonal({1, 2, 3, 4})});
  systems.push_back({"tridiagonal", tridiagonal(70)});
  systems.push_back({"poisson", poisson(9)});
  for (const Index n : {2, 65, 130}) systems.push_back({"random " + std::to_string(n), random_spd(5, n, 6)});
  return systems;
}

template <class B>
std::vector<double> applied(const B& on, const auto& M, std::vector<double> r) {
  const Vector<double, B> there(on, moved_to(on, r));
  Vector<double, B> z(on, std::int64_t(r.size()));
  M.apply(there, z);
  on.synchronize();
  copy_bytes(on, Host{}, r.data(), SpaceOf<B>{}, z.span().data(), z.size() * std::int64_t(sizeof(double)));
  return r;
}

IncompletePreconditioner<std::int64_t, OpenMP> serial(const Matrix& A, Factors what) {
  return {OpenMP{1}, A.view(), what};
}

/// A with row and column `hub` full, and dominated by its diagonal.
Matrix with_hub(const Matrix& A, Index hub) {
  std::vector<Row> rows;
  for (Index i = 0; i < A.nrows; ++i) {
    std::map<Index, double> row;
    for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) row[A.col_idx[k]] = A.values[k];
    if (i == hub)
      for (Index j = 0; j < A.nrows; ++j) row[j] += j == hub ? A.nrows : 0.25;
    else
      row[hub] += 0.25, row[i] += 1;
    rows.emplace_back(row.begin(), row.end());
  }
  return matrix_of(A.ncols, rows);
}

/// The factors on the pattern of A, entry by entry, in the order of the textbook.
std::vector<double> textbook_factors(const Matrix& A, Factors what) {
  const std::size_t n = std::size_t(A.nrows);
  auto W = dense(A.view(), A.values.span());
  const auto is_entry = dense(A.view(), Array<double>(A.nnz(), 1.0).span());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      if (is_entry[i * n + j] == 0) continue;
      if (what == Factors::cholesky && j > i) continue;
      for (std::size_t m = 0; m < std::min(i, j); ++m) {
        const std::size_t other = what == Factors::lu ? m * n + j : j * n + m;
        if (is_entry[i * n + m] != 0 && is_entry[other] != 0)
          W[i * n + j] = std::fma(-(W[i * n + m] / W[m * n + m]), W[other], W[i * n + j]);
      }
      if (what == Factors::cholesky) W[j * n + i] = W[i * n + j];
    }
  return W;
}

}  // namespace

TEST_CASE("the factors of ilu0 have the product A on the pattern of A") {
  for (const auto& [name, A] : awkward_dominant_matrices()) {
    if (A.nrows > 300) continue;
    CAPTURE(name);
    CHECK(worst_entry(A, Factors::lu) <= 1);
  }
}

TEST_CASE("the factors of ic0 have the product A on the pattern of A, and need no shift where a diagonal dominates") {
  for (const auto& [name, A] : spd_systems()) {
    CAPTURE(name);
    CHECK(worst_entry(A, Factors::cholesky) <= 1);
    CHECK(serial(A, Factors::cholesky).shift() == 0);
  }
  const Matrix one_sided = matrix_of(2, {{{0, 1.0}, {1, 1.0}}, {{1, 1.0}}});
  CHECK_THROWS_AS(serial(one_sided, Factors::cholesky), InputError);
}

TEST_CASE("the factors without fill have the same bits on every back end, or are refused by all") {
  const auto check = [](const std::string& name, const Matrix& A, Factors what, double shift) {
    CAPTURE(name);
    CAPTURE(shift);
    const auto found = [&](const auto& on, const auto& there, auto& w) {
      if constexpr (HostBackend<std::decay_t<decltype(on)>>) {
        return incomplete_factors(on, what, there.view(), shift, w.span());
      } else {
        const SweepAnalysis<double, std::int64_t, Cuda> analysis(on, there.view());
        return incomplete_factors(on, what, there.view(), analysis.order(), shift, w.span());
      }
    };
    Array<double> w(A.nnz(), -7.0);
    const bool first = found(OpenMP{1}, A, w);
    on_every_backend([&](auto on) {
      using Space = SpaceOf<decltype(on)>;
      auto theirs = copied_to<Space>(on, Array<double>(A.nnz(), -7.0));
      CHECK(found(on, moved_to(on, A.view()), theirs) == first);
      if (first) CHECK(moved_back(on, theirs) == std::vector<double>(w.begin(), w.end()));
    });
  };
  std::vector<NamedMatrix> others = spd_systems();
  others.push_back({"zero pivot", matrix_of(2, {{{0, 1.0}, {1, 2.0}}, {{0, 2.0}, {1, 4.0}}})});
  others.push_back({"rows of some 100 entries", random_spd(fresh_seed(), 300, 100)});
  others.push_back({"rows of some 300 entries", random_spd(fresh_seed(), 310, 250)});
  others.push_back({"lattice", generate(OpenMP{1}, "hpcg:33x21x7")});
  for (const auto* systems : {&awkward_dominant_matrices(), &std::as_const(others)})
    for (const auto& [name, A] : *systems)
      for (const Factors what : {Factors::lu, Factors::cholesky}) {
        if (what == Factors::cholesky && !properties(OpenMP{1}, A.view()).pattern_symmetric)
          on_every_backend([&, &A = A](auto on) {
            const auto there = moved_to(on, A.view());
            CHECK_THROWS_AS((IncompletePreconditioner<std::int64_t, decltype(on)>(on, there.view(), what)), InputError);
          });
        else
          for (const double shift : {0.0, 0.5}) check(name, A, what, shift);
      }
}

TEST_CASE("hubs do not change the bits of factors without fill") {
  for (const Index n : {3, 40, 300})
    for (const Index hub : {0, n / 2, n - 1}) {
      const Matrix A = with_hub(random_spd(fresh_seed(), n, 4), hub);
      CAPTURE(n);
      CAPTURE(hub);
      for (const Factors what : {Factors::lu, Factors::cholesky}) {
        Array<double> w(A.nnz(), std::numeric_limits<double>::quiet_NaN());
        REQUIRE(incomplete_factors(OpenMP{1}, what, A.view(), 0, w.span()));
        CHECK(dense(A.view(), w.span()) == textbook_factors(A, what));
      }
    }
}

TEST_CASE("factors without fill of an arrow take no square of its length") {
  const Index n = 400000;
  for (const Index hub : {Index(0), n / 2}) {
    const Matrix A = with_hub(diagonal(std::vector<double>(std::size_t(n), 1)), hub);
    for (const Factors what : {Factors::lu, Factors::cholesky}) {
      Array<double> w(A.nnz());
      const Stopwatch watch;
      CHECK(incomplete_factors(OpenMP{1}, what, A.view(), 0, w.span()));
      CHECK(watch.seconds() < 5);  // 0.05 s, against 40 s and more if each row walks along the hub
    }
  }
}

TEST_CASE("incomplete factors without fill to leave out solve A x = b by themselves") {
  const Matrix A = tridiagonal(500, 3, -1);
  const auto b = ramp(A.nrows);
  for (const Factors what : {Factors::lu, Factors::cholesky}) {
    const auto x = applied(OpenMP{1}, serial(A, what), b);
    CHECK(true_residual(A, x, b) < 16 * eps);
  }
}

TEST_CASE("a pivot that cannot be used is met with a shift of the diagonal, which is told") {
  const Matrix zero_pivot = matrix_of(2, {{{0, 1.0}, {1, 2.0}}, {{0, 2.0}, {1, 4.0}}});
  const Matrix indefinite = matrix_of(2, {{{0, 1.0}, {1, 2.0}}, {{0, 2.0}, {1, 1.0}}});
  const auto lu = serial(zero_pivot, Factors::lu);
  CHECK(lu.shift() == 1e-3);
  const auto cholesky = serial(indefinite, Factors::cholesky);  // (1 + shift)^2 > 4
  CHECK(cholesky.shift() > 1);
  CHECK(cholesky.shift() < 11);
  for (const auto& z : {applied(OpenMP{1}, lu, {1, 1}), applied(OpenMP{1}, cholesky, {1, 1})})
    for (const double v : z) CHECK(std::isfinite(v));
  CHECK(serial(indefinite, Factors::lu).shift() == 0);  // which takes negative pivots

  const MethodChoice choice{.preconditioner = PreconditionerKind::ilu0};
  const auto made =
      make_preconditioner<OpenMP, std::int64_t>(OpenMP{1}, {zero_pivot.view(), zero_pivot.view()}, choice);
  CHECK(made.shift == 1e-3);
  CHECK(made.M.describe().find("0.001 diag(A)") != std::string::npos);
}

TEST_CASE("a diagonal that incomplete factors cannot start from is refused with its row") {
  const Matrix hole = matrix_of(2, {{{0, 1.0}, {1, 1.0}}, {{0, 1.0}}});
  CHECK_THROWS_AS(serial(hole, Factors::lu), ZeroDiagonal);
  CHECK_THROWS_AS(serial(diagonal({1, 0}), Factors::cholesky), ZeroDiagonal);
  CHECK_THROWS_AS(serial(diagonal({1, -2}), Factors::cholesky), InputError);  // of no shift positive
}

TEST_CASE("new values in the same pattern give the bits of a new preconditioner; what is refused changes nothing") {
  on_every_backend([](auto on) {
    using B = decltype(on);
    const Matrix A = random_spd(3, 400, 5);
    const auto there = moved_to(on, A.view());
    const auto b = ramp(A.nrows);
    for (const Factors what : {Factors::lu, Factors::cholesky}) {
      IncompletePreconditioner<std::int64_t, B> M(on, there.view(), what);
      Matrix changed = copy_of(A);
      for (Index i = 0; i < A.nrows; ++i)
        for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) changed.values[k] *= A.col_idx[k] == i ? 3 : 0.5;
      const auto update = [&] {
        const auto new_there = copied_to<SpaceOf<B>>(on, std::as_const(changed).view());
        M.update_values(new_there.view());
      };
      update();
      const auto after = applied(on, M, b);
      CHECK(after == applied(OpenMP{1}, serial(changed, what), b));
      changed.values[0] = std::numeric_limits<double>::quiet_NaN();
      CHECK_THROWS_AS(update(), InputError);
      CHECK(applied(on, M, b) == after);
    }
  });
}

TEST_CASE("incomplete factors have the same bits on every back end, and need fewer iterations than none") {
  struct Case {
    const char* spec;
    Method method;
    PreconditionerKind kind;
  };
  for (const Case& one : {Case{"poisson2d:40", Method::cg, PreconditionerKind::ic0},
                          Case{"elasticity3d:4", Method::cg, PreconditionerKind::ic0},
                          Case{"convdiff:30", Method::bicgstab, PreconditionerKind::ilu0},
                          Case{"elasticity3d:4", Method::cg, PreconditionerKind::ict},
                          Case{"elasticity3d:4", Method::minres, PreconditionerKind::ict},
                          Case{"convdiff:30", Method::idr, PreconditionerKind::ilut},
                          Case{"poisson2d:40", Method::gmres, PreconditionerKind::ilut},
                          Case{"poisson2d:40", Method::gmres, PreconditionerKind::ilu0}}) {
    CAPTURE(one.spec);
    CAPTURE(one.kind.name);
    const Matrix A = generate(OpenMP{1}, one.spec);
    const auto b = times(A, ones(A.nrows));
    const Outcome first = solve_on(OpenMP{1}, {one.method, one.kind}, A, b);
    CHECK(first->converged());
    CHECK(true_residual(A, first.x, b) <= 1.01e-8);
    CHECK(3 * first->iterations < 2 * solve_on(OpenMP{1}, {one.method}, A, b)->iterations);
    on_every_backend([&](auto on) {
      const Outcome other = solve_on(on, {one.method, one.kind}, A, b);
      CHECK(other.x == first.x);
      CHECK(other->history == first->history);
    });
  }
}

TEST_CASE("threshold factors without thresholds are those of A, and solve it") {
  const unsigned seed = fresh_seed();
  const Matrix general = with_dominant_diagonal(random_matrix(seed, 200, 200, 5)), symmetric = random_spd(seed, 200, 5);
  for (const Factors what : {Factors::lu, Factors::cholesky}) {
    const Matrix& A = what == Factors::lu ? general : symmetric;
    const ThresholdPreconditioner<std::int64_t, OpenMP> M(OpenMP{1}, {A.view(), A.view()}, what,
                                                          {.fill = 200, .drop = 0});
    CHECK(M.shift() == 0);
    const auto x = applied(OpenMP{1}, M, times(A, ramp(200)));
    for (Index i = 0; i < 200; ++i) CHECK(x[i] == doctest::Approx(ramp(200)[i]).epsilon(1e-9));
  }
}

TEST_CASE("threshold factors keep no more entries than they may, the largest, and none that are small") {
  const Matrix A = generate(OpenMP{1}, "convdiff:12");
  for (const Index fill : {0, 2, 5}) {
    const auto W = threshold_factors(A.view(), Factors::lu, {.fill = fill, .drop = 1e-2}, 0.0);
    REQUIRE(W);
    check(W->view());
    for (Index i = 0; i < A.nrows; ++i) {
      const auto count = [&](const auto& B) {
        std::array<Index, 2> n = {0, 0};
        for (auto k = B.row_ptr[i]; k < B.row_ptr[i + 1]; ++k) n[B.col_idx[k] > i] += B.col_idx[k] != i;
        return n;
      };
      double squares = 0;
      for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) squares += A.values[k] * A.values[k];
      CHECK(count(*W)[0] <= count(A)[0] + fill);
      CHECK(count(*W)[1] <= count(A)[1] + fill);
      for (auto k = W->row_ptr[i]; k < W->row_ptr[i + 1]; ++k)
        CHECK(std::abs(W->values[k]) >= 0.99e-2 * std::sqrt(squares));
    }
  }
  const Matrix tie = matrix_of(3, {{{0, 4.0}, {1, 1.0}, {2, 1.0}}, {{0, 1.0}, {1, 4.0}}, {{0, 1.0}, {2, 4.0}}});
  CHECK(threshold_factors(tie.view(), Factors::lu, {.fill = 0, .drop = 0.0}, 0.0)->nnz() == 7);
  CHECK(threshold_factors(tie.view(), Factors::lu, {.fill = 1, .drop = 0.0}, 0.0)->nnz() == 9);
}

TEST_CASE("threshold factors eliminate the columns of a row in ascending order, however far apart they are") {
  std::mt19937_64 random(fresh_seed());
  const Index n = 300'000;  // more than 64^3
  std::vector<Row> rows(n);
  for (Index i = 0; i + 1 < n; ++i) rows[i][i] = 2 + double(random() % 64) / 64;
  for (int k = 0; k < 2000; ++k) rows[n - 1][Index(random() % (n - 1))] = 1 + double(random() % 64) / 64;
  rows[n - 1][n - 1] = 5000;
  double pivot = 5000;
  for (const auto& [column, value] : rows[n - 1])
    if (column < n - 1) pivot = std::fma(-(value / rows[column][column]), value, pivot);
  const Matrix A = matrix_of(n, rows);
  const auto W = threshold_factors(A.view(), Factors::cholesky, {.fill = 0, .drop = 0}, 0);
  REQUIRE(W);
  CHECK(W->values[W->row_ptr[n] - 1] == pivot);
  CHECK(std::equal(A.col_idx.begin() + A.row_ptr[n - 1], A.col_idx.end(), W->col_idx.begin() + W->row_ptr[n - 1],
                   W->col_idx.end()));
}

namespace {

/// As threshold_factors() is defined, entry by entry: of each row the columns and values of LD, D and U.
std::vector<Row> plain_factors(const Matrix& A, Factors what, const ThresholdOptions& options) {
  const auto largest = [](std::vector<std::pair<Index, double>> entries, std::size_t count) {
    std::stable_sort(entries.begin(), entries.end(),
                     [](const auto& a, const auto& b) { return std::abs(a.second) > std::abs(b.second); });
    entries.resize(std::min(entries.size(), count));
    return Row(entries.begin(), entries.end());
  };
  std::vector<Row> lower(A.nrows), upper(A.nrows), all(A.nrows);
  std::vector<double> pivots(A.nrows);
  for (Index i = 0; i < A.nrows; ++i) {
    Row w;
    double squares = 0;
    std::size_t most[2] = {std::size_t(options.fill), std::size_t(options.fill)};
    for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const Index j = A.col_idx[k];
      squares = std::fma(A.values[k], A.values[k], squares);
      if (what == Factors::lu || j <= i) w[j] = A.values[k];
      if (j != i) ++most[j > i];
    }
    const double least = options.drop * std::sqrt(squares);
    std::vector<std::pair<Index, double>> kept[2];
    for (auto at = w.begin(); at != w.end() && at->first < i; ++at) {  // fill comes behind: the map may grow meanwhile
      const auto [k, ld] = *at;
      if (std::abs(ld) < least) continue;
      const double multiple = ld / pivots[k];
      for (const auto& [j, u] : upper[k]) w[j] = std::fma(-multiple, u, w[j]);
      if (what == Factors::cholesky) w[i] = std::fma(-multiple, ld, w[i]);
      kept[0].push_back({k, ld});
    }
    for (const auto& [j, u] : w)
      if (j > i && std::abs(u) >= least && u != 0) kept[1].push_back({j, u});
    lower[i] = largest(kept[0], most[0]);
    upper[i] = largest(kept[1], most[1]);
    if (what == Factors::cholesky)
      for (const auto& [k, ld] : lower[i]) upper[k][i] = ld;
    pivots[i] = w[i];
  }
  for (Index i = 0; i < A.nrows; ++i) {
    all[i] = lower[i];
    all[i].insert(upper[i].begin(), upper[i].end());
    all[i][i] = pivots[i];
  }
  return all;
}

/// Couplings from 1e-5 to 1, and hubs that every other row or so is coupled to.
Matrix with_hubs(unsigned seed, Index n, bool symmetric) {
  std::mt19937_64 random(seed);
  const auto size = [&] { return -std::pow(10, -5 * double(random() % 1024) / 1024); };
  std::vector<Row> rows(n);
  const auto couple = [&](Index i, Index j) {
    if (i == j) return;
    rows[i][j] = size();
    rows[j][i] = symmetric ? rows[i][j] : size();
  };
  for (Index k = 0; k < 2 * n; ++k) couple(Index(random() % n), Index(random() % n));
  for (const Index hub : {Index(0), Index(1), Index(n / 3), Index(n - 1)})
    for (Index i = 0; i < n; ++i)
      if (random() % 2) couple(hub, i);
  for (Index i = 0; i < n; ++i) {
    double sum = 0.01;
    for (const auto& [j, a] : rows[i]) sum -= a;
    rows[i][i] = sum;
  }
  return matrix_of(n, rows);
}

}  // namespace

TEST_CASE("threshold factors have the bits of their definition, with hubs, whatever is dropped") {
  const unsigned seed = fresh_seed();
  for (unsigned k = 0; k < 40; ++k)
    for (const Factors what : {Factors::lu, Factors::cholesky})
      for (const double drop : {0.0, 1e-6, 1e-4, 1e-3, 1e-2, 0.1}) {
        CAPTURE(k);
        CAPTURE(drop);
        const Matrix A = with_hubs(seed + k, 20 + 3 * Index(k), what == Factors::cholesky);
        const ThresholdOptions options{.fill = Index(k % 11), .drop = drop};
        const auto W = threshold_factors(A.view(), what, options, 0);
        REQUIRE(W);
        const Matrix expected = matrix_of(A.nrows, plain_factors(A, what, options));
        CHECK(std::equal(expected.row_ptr.begin(), expected.row_ptr.end(), W->row_ptr.begin(), W->row_ptr.end()));
        CHECK(std::equal(expected.col_idx.begin(), expected.col_idx.end(), W->col_idx.begin(), W->col_idx.end()));
        CHECK(std::equal(expected.values.begin(), expected.values.end(), W->values.begin(), W->values.end()));
      }
}

TEST_CASE("ict of an arrow whose dense row comes first takes no square of its length, where its fill is dropped") {
  const Index n = 100'000;
  std::vector<Row> rows(n);
  for (Index i = 1; i < n; ++i) rows[i] = {{0, -1.0}, {i, 4.0}}, rows[0][i] = -1;
  rows[0][0] = n;
  const Matrix A = matrix_of(n, rows);
  const std::clock_t begin = std::clock();
  const auto W = threshold_factors(A.view(), Factors::cholesky, {}, 0);
  CHECK(double(std::clock() - begin) / CLOCKS_PER_SEC < 5);  // 5 billion products took a minute
  REQUIRE(W);
  CHECK(W->nnz() == A.nnz());
}

TEST_CASE("threshold factors need fewer iterations than those without fill, and say where they shift") {
  const Matrix A = generate(OpenMP{1}, "elasticity3d:5");
  const auto b = times(A, ones(A.nrows));
  const auto iterations = [&](const Method& method, const PreconditionerKind& kind) {
    const Outcome outcome = solve_on(OpenMP{1}, {method, kind}, A, b);
    CHECK(outcome->converged());
    return outcome->iterations;
  };
  CHECK(iterations(Method::cg, PreconditionerKind::ict) < iterations(Method::cg, PreconditionerKind::ic0));
  CHECK(iterations(Method::gmres, PreconditionerKind::ilut) < iterations(Method::gmres, PreconditionerKind::ilu0));
  const Matrix zero_pivot = matrix_of(2, {{{0, 1.0}, {1, 2.0}}, {{0, 2.0}, {1, 4.0}}});
  const MethodChoice choice{.preconditioner = PreconditionerKind::ilut};
  const auto made =
      make_preconditioner<OpenMP, std::int64_t>(OpenMP{1}, {zero_pivot.view(), zero_pivot.view()}, choice);
  CHECK(made.shift == 1e-3);
  CHECK(made.M.describe().find("ilut, 4 entries") == 0);
  CHECK(made.M.bytes() > 0);
}

TEST_CASE("ilut is not for cg: auto takes a method that it suits") {
  const MethodRequest request{.preconditioner = PreconditionerKind::ilut};
  const Matrix A = poisson(5);
  const auto choice = choose_method(properties(OpenMP{1}, A.view()), row_statistics(OpenMP{1}, A.view()), request);
  CHECK(choice.method == Method::bicgstab);
  CHECK_THROWS_AS(solve_on(OpenMP{1}, {Method::cg, PreconditionerKind::ilut}, A, ones(25)), UsageError);
}

TEST_CASE("ic0 is refused for a matrix that it is not meant for") {
  const MethodRequest request{.preconditioner = PreconditionerKind::ic0};
  for (const Matrix& A : {tridiagonal(5), diagonal({1, -1}), matrix_of(2, {{{0, 1.0}, {1, 1.0}}, {{1, 1.0}}})}) {
    const auto choose = [&] {
      return choose_method(properties(OpenMP{1}, A.view()), row_statistics(OpenMP{1}, A.view()), request);
    };
    if (A.nrows == 5)
      CHECK(choose().preconditioner == PreconditionerKind::ic0);
    else
      CHECK_THROWS_AS(choose(), InputError);
  }
}
