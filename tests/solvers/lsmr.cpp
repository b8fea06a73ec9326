// Least squares by lsmr against a dense singular value decomposition in long double.
#include "systems.hpp"

#include <seidel/solvers/lsmr.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// A V = U diag(sizes): the columns of A V are orthogonal. By one-sided Jacobi rotations.
struct Decomposition {
  using Column = std::vector<long double>;
  std::vector<Column> AV, V;
  std::vector<long double> sizes;

  explicit Decomposition(const Matrix& A) : AV(A.ncols, Column(A.nrows)), V(A.ncols, Column(A.ncols)), sizes(A.ncols) {
    for (Index i = 0; i < A.nrows; ++i)
      for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) AV[A.col_idx[k]][i] = A.values[k];
    for (Index j = 0; j < A.ncols; ++j) V[j][j] = 1;
    bool rotated = true;
    for (int sweep = 0; sweep < 60 && std::exchange(rotated, false); ++sweep)
      for (Index i = 0; i < A.ncols; ++i)
        for (Index j = 0; j < i; ++j) {
          const long double ii = dot(AV[i], AV[i]), jj = dot(AV[j], AV[j]), ij = dot(AV[i], AV[j]);
          if (std::abs(ij) <= 1e-17L * std::sqrt(ii * jj)) continue;
          const long double t = 2 * ij / (ii - jj + std::copysign(std::hypot(ii - jj, 2 * ij), ii - jj));
          const long double c = 1 / std::hypot(1.0L, t), s = c * t;
          for (auto* columns : {&AV, &V})
            for (std::size_t k = 0; k < (*columns)[i].size(); ++k) {
              const long double a = (*columns)[i][k], b = (*columns)[j][k];
              (*columns)[i][k] = c * a + s * b;
              (*columns)[j][k] = c * b - s * a;
            }
          rotated = true;
        }
    for (Index j = 0; j < A.ncols; ++j) sizes[j] = std::sqrt(dot(AV[j], AV[j]));
  }
  static long double dot(const Column& x, const Column& y) {
    long double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    return sum;
  }
  long double largest_square() const {
    long double most = 0;
    for (const Column& column : AV) most = std::max(most, dot(column, column));
    return most;
  }
  double norm() const { return double(std::sqrt(largest_square())); }
  bool in_range(std::size_t j) const { return sizes[j] > 1e-13L * norm(); }
  /// The smallest singular value that is not 0.
  double least() const {
    double least = norm();
    for (std::size_t j = 0; j < sizes.size(); ++j)
      if (in_range(j)) least = std::min(least, double(sizes[j]));
    return least;
  }
  /// The x of least ||b - A x||, of those the one of least norm.
  std::vector<double> solve(const std::vector<double>& b) const {
    Column x(V.size());
    for (std::size_t j = 0; j < V.size(); ++j)
      if (in_range(j)) {
        const long double part = dot(AV[j], Column(b.begin(), b.end())) / (sizes[j] * sizes[j]);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += part * V[j][i];
      }
    return {x.begin(), x.end()};
  }
};

struct Named {
  std::string name;
  Matrix A;
};

/// Rows and columns `from` of A are also what others are: rank is lost.
Matrix with_copies(const Matrix& A) {
  std::vector<Row> rows(A.nrows);
  for (Index i = 0; i < A.nrows; ++i)
    for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      rows[i][A.col_idx[k]] += A.values[k];
      if (A.col_idx[k] + 1 < A.ncols) rows[i][A.col_idx[k] + 1] += 2 * A.values[k];
    }
  for (Row& row : rows) row.erase(A.ncols - 1), row.erase(0);
  rows.back() = rows.front();
  return matrix_of(A.ncols, rows);
}

/// A condition number of some 10 to 30 for random matrices of 60 to 90 rows, where it was 10 to 10,000.
Matrix with_raised_diagonal(const Matrix& A) {
  std::vector<Row> rows(A.nrows);
  for (Index i = 0; i < A.nrows; ++i) {
    for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) rows[i].emplace(A.col_idx[k], A.values[k]);
    if (i < A.ncols) rows[i][i] += 1.5;
  }
  return matrix_of(A.ncols, rows);
}

std::vector<Named> shapes(unsigned seed) {
  std::vector<Named> all;
  const auto add = [&](const char* name, Matrix A) { all.push_back({name, std::move(A)}); };
  add("tall", random_matrix(seed, 60, 20, 5));
  add("wide", random_matrix(seed, 20, 60, 9));
  add("square", random_matrix(seed, 30, 30, 6));
  add("one row", random_matrix(seed, 1, 9, 5));
  add("one column", random_matrix(seed, 9, 1, 1));
  add("many empty rows", random_matrix(seed, 70, 12, 1));
  add("rows of zeros", matrix_of(3, {{}, {{0, 2.0}}, {}}));
  add("no entries", matrix_of(3, {{}, {}}));
  add("no columns", matrix_of(0, {{}, {}}));
  add("no rows", matrix_of(4, {}));
  add("1 x 1", matrix_of(1, {{{0, -3.0}}}));
  add("copies", with_copies(random_matrix(seed, 40, 18, 6)));
  Matrix scaled = random_matrix(seed + 1, 50, 15, 5);
  for (std::int64_t k = 0; k < scaled.nnz(); ++k) scaled.values[k] *= std::pow(10, -(scaled.col_idx[k] % 4));
  add("columns of four sizes", std::move(scaled));
  return all;
}

double length(const std::vector<double>& v) {
  double sum = 0;
  for (const double value : v) sum = std::hypot(sum, value);
  return sum;
}
double distance(std::vector<double> x, const std::vector<double>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= y[i];
  return length(x);
}

/// ||A'r|| and ||r||, r = b - A x, in long double.
std::pair<double, double> normal_residual(const Matrix& A, const std::vector<double>& x, const std::vector<double>& b) {
  std::vector<long double> Atr(A.ncols);
  long double rr = 0, squares = 0;
  for (Index i = 0; i < A.nrows; ++i) {
    long double r = b[i];
    for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) r -= (long double)A.values[k] * x[A.col_idx[k]];
    for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) Atr[A.col_idx[k]] += A.values[k] * r;
    rr += r * r;
  }
  for (const long double value : Atr) squares += value * value;
  return {double(std::sqrt(squares)), double(std::sqrt(rr))};
}

Criteria least_squares(double tolerance = 1e-8) {
  const Criteria criteria{.relative_tolerance = tolerance, .goal = Goal::least_squares};
  return criteria;
}

const How by_lsmr{.method = Method::lsmr};

}  // namespace

TEST_CASE(
    "lsmr finds the least-squares solution of least norm, for every shape and rank, with the same bits everywhere") {
  const unsigned seed = fresh_seed();
  for (const auto& [name, A] : shapes(seed)) {
    const Decomposition dense(A);
    const double norm_A = dense.norm(), least = dense.least();
    for (const bool consistent : {false, true}) {
      CAPTURE(name);
      CAPTURE(consistent);
      const auto b = consistent ? times(A, random_vector(seed + 2, A.ncols)) : random_vector(seed + 2, A.nrows);
      const double tolerance = 1e-12;
      const Outcome serial = solve_on(OpenMP{1}, by_lsmr, A, b, least_squares(tolerance));
      REQUIRE(serial->converged());
      const auto solution = dense.solve(b);
      const auto [along, norm_r] = normal_residual(A, serial.x, b);
      const double norm_b = length(b), rounding = 1e-15 * double(10 + A.nrows) * (norm_A * length(solution) + norm_b);
      CHECK((norm_r <= tolerance * norm_b + rounding || along <= tolerance * norm_A * norm_r + rounding * norm_A));
      CHECK(std::abs(serial->relative_residual * norm_b - norm_r) <= 1e-6 * norm_r + rounding);
      REQUIRE(serial->optimality);
      CHECK(serial->optimality->norm_A <= norm_A * (1 + 1e-12));
      // x - x* is in the range of A', and A'A (x - x*) = -A'r.
      if (least > 0)
        CHECK(distance(serial.x, solution) <= 1.1 * along / least / least + 100 * rounding * norm_A / least / least);
      on_every_backend([&](auto on) {
        const Outcome other = solve_on(on, by_lsmr, A, b, least_squares(tolerance));
        CHECK(other.x == serial.x);
        CHECK(other->history == serial->history);
        CHECK(other->reason == serial->reason);
      });
    }
  }
}

TEST_CASE("lsmr says which of the two was met") {
  const unsigned seed = fresh_seed();
  const Matrix A = random_matrix(seed, 200, 40, 8);
  const Outcome exact = solve_on(OpenMP{1}, by_lsmr, A, times(A, ramp(A.ncols)), least_squares());
  CHECK(exact->relative_residual <= 1e-8);
  CHECK(exact->reason == "the true residual is within the tolerance");
  const Outcome fitted = solve_on(OpenMP{1}, by_lsmr, A, random_vector(seed, A.nrows), least_squares());
  CHECK(fitted->relative_residual > 0.1);
  CHECK(fitted->optimality->orthogonality <= 1e-8);
  CHECK(fitted->reason == "the true residual is orthogonal to the columns of A within the tolerance");
  CHECK(fitted->history.back() <= 1e-8);
}

TEST_CASE("lsmr gives the same bits if A and b are multiplied by powers of two, however large or small") {
  const unsigned seed = fresh_seed();
  for (const auto& [name, A] : shapes(seed)) {
    CAPTURE(name);
    const auto b = random_vector(seed + 1, A.nrows);
    const Outcome plain = solve_on(OpenMP{1}, by_lsmr, A, b, least_squares());
    // r = b - A x keeps 106 bits below b, and A'r as many below A, or a few more where an entry is small: all of them must
    // stay above the least normal number. So not of_A itself for b, either.
    for (const int of_A : {-880, -600, 600, 960})
      for (const int of_b : {of_A * 7 / 8, of_A / 2}) {
        CAPTURE(of_A);
        CAPTURE(of_b);
        Matrix scaled = copy_of(A);
        for (std::int64_t k = 0; k < A.nnz(); ++k) scaled.values[k] = std::ldexp(A.values[k], of_A);
        std::vector<double> c = b, x = plain.x;
        for (double& value : c) value = std::ldexp(value, of_b);
        for (double& value : x) value = std::ldexp(value, of_b - of_A);
        on_every_backend([&](auto on) {
          const Outcome outcome = solve_on(on, by_lsmr, scaled, c, least_squares());
          CHECK(outcome->reason == plain->reason);
          CHECK(outcome->history == plain->history);
          CHECK(outcome->optimality->orthogonality == plain->optimality->orthogonality);
          CHECK(outcome.x == x);
        });
      }
  }
}

TEST_CASE("a b that is orthogonal to the columns of A, or zero, has x = 0 as its least-squares solution") {
  const Matrix A = matrix_of(2, {{{0, 1.0}, {1, 2.0}}, {{0, 1.0}, {1, 2.0}}, {}, {{0, 3.0}}});
  for (const std::vector<double>& b : {std::vector<double>{1, -1, 5, 0}, {0, 0, 0, 0}, {0, 0, 1e-300, 0}}) {
    const Outcome outcome = solve_on(OpenMP{1}, by_lsmr, A, b, least_squares());
    CHECK(outcome->converged());
    CHECK(outcome->iterations == 0);
    CHECK(outcome.x == std::vector<double>{0, 0});
    CHECK(outcome->optimality->orthogonality == 0);
  }
  // The same but for rounding, which must not become a solution.
  const unsigned seed = fresh_seed();
  const Matrix R = random_matrix(seed, 50, 10, 5);
  auto b = random_vector(seed, R.nrows);
  const auto fit = times(R, Decomposition(R).solve(b));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] -= fit[i];
  const Outcome outcome = solve_on(OpenMP{1}, by_lsmr, R, b, least_squares());
  CHECK(outcome->converged());
  CHECK(length(outcome.x) <= 1e-13 * length(b) / Decomposition(R).least());
}

TEST_CASE("where a solution is asked for and there is none, lsmr says so, and x is a least-squares solution") {
  const unsigned seed = fresh_seed();
  const Matrix A = with_copies(random_matrix(seed, 40, 40, 6));
  const Outcome solved = solve_on(OpenMP{1}, by_lsmr, A, times(A, ramp(A.ncols)));
  CHECK(solved->converged());
  CHECK(true_residual(A, solved.x, times(A, ramp(A.ncols))) <= 1.001e-8);
  const auto b = random_vector(seed, A.nrows);
  const Outcome none = solve_on(OpenMP{1}, by_lsmr, A, b);
  CHECK(none->status == Status::breakdown);
  CHECK(none->breakdown == Breakdown::exhausted);
  // What lsmr() takes for rounding, and what rounding x and b - A x adds, where x is large.
  constexpr double eps = std::numeric_limits<double>::epsilon();
  std::int64_t longest = 0;
  for (Index i = 0; i < A.nrows; ++i) longest = std::max(longest, A.row_ptr[i + 1] - A.row_ptr[i]);
  const double size = Decomposition(A).norm() * length(none.x) + length(b),
               norm_r = none->relative_residual * length(b);
  CHECK(none->optimality->orthogonality <= 4096 * eps + eps * double(longest + 2) * size / norm_r);
}

TEST_CASE("lsmr estimates the error of its x") {
  const unsigned seed = fresh_seed();
  for (const Index nrows : {400, 90, 60}) {
    // An error e along a singular vector of size sigma adds sigma^2 e to A'r: where sigma is below sqrt(1e-5) ||A||, a tolerance
    // of 1e-5 tells nothing of it. So the diagonal is raised, which makes that rare.
    Matrix A = with_raised_diagonal(random_matrix(seed, nrows, 80, 6));
    Decomposition dense(A);
    for (unsigned next = seed + 2; dense.norm() > 100 * dense.least(); ++next)
      dense = Decomposition(A = with_raised_diagonal(random_matrix(next, nrows, 80, 6)));
    Criteria criteria = least_squares(1e-5);
    const auto b = random_vector(seed + 1, A.nrows), solution = dense.solve(b);
    criteria.error_tolerance = std::numeric_limits<double>::infinity();
    const Outcome outcome = solve_on(OpenMP{1}, by_lsmr, A, b, criteria);
    REQUIRE(outcome->converged());
    REQUIRE(outcome->error);
    double error = 0, largest = 0;
    for (std::size_t i = 0; i < solution.size(); ++i) {
      error = std::max(error, std::abs(outcome.x[i] - solution[i]));
      largest = std::max(largest, std::abs(solution[i]));
    }
    CHECK(outcome->error->error() >= error / largest / 20);
    CHECK(outcome->error->error() <= 1);
    criteria.error_tolerance = 1e-9;
    CHECK(solve_on(OpenMP{1}, by_lsmr, A, b, criteria)->error->error() <= 1e-8);
  }
}

TEST_CASE("lsmr takes an approximation of A'A as preconditioner: columns of length 1 need fewer iterations") {
  const unsigned seed = fresh_seed();
  Matrix A = random_matrix(seed, 300, 60, 9);
  for (std::int64_t k = 0; k < A.nnz(); ++k) A.values[k] *= std::pow(10, A.col_idx[k] % 4);
  using V = Vector<double, OpenMP>;
  std::vector<double> inverse(A.ncols, 0.0);
  for (std::int64_t k = 0; k < A.nnz(); ++k) inverse[A.col_idx[k]] += A.values[k] * A.values[k];
  for (auto& value : inverse) value = value > 0 ? 1 / value : 1;
  struct Diagonal {
    V D;
    void apply(const V& r, V& z) const { multiply(D, r, z); }
    bool is_symmetric() const { return true; }
  };
  const Diagonal M{V(OpenMP{1}, Array<double>(inverse))};
  const TransposableMatrix op(MatrixOperator(OpenMP{1}, A.view()),
                              MatrixOperator(OpenMP{1}, transpose(OpenMP{1}, A.view())));
  const auto values = random_vector(seed, A.nrows);
  const V b(OpenMP{1}, Array<double>(values));
  V x(OpenMP{1}, A.ncols), y(OpenMP{1}, A.ncols);
  const Summary with = lsmr(op, M, b, x, least_squares(1e-12)),
                without = lsmr(op, IdentityPreconditioner{}, b, y, least_squares(1e-12));
  CHECK(with.converged());
  CHECK(with.iterations < without.iterations / 2);
  const auto solution = Decomposition(A).solve(values);
  CHECK(distance({x.span().begin(), x.span().end()}, solution) <= 1e-8 * length(solution));
}

TEST_CASE("lsmr refuses what does not fit") {
  const Matrix A = random_matrix(1, 30, 10, 4);
  using V = Vector<double, OpenMP>;
  const TransposableMatrix op(MatrixOperator(OpenMP{1}, A.view()),
                              MatrixOperator(OpenMP{1}, transpose(OpenMP{1}, A.view())));
  V b(OpenMP{1}, 30), x(OpenMP{1}, 10);
  CHECK_THROWS_WITH_AS(lsmr(op, IdentityPreconditioner{}, x, b),
                       "b has 10 entries and x has 30; the matrix needs 30 and 10", ShapeError);
  fill(b, 1);
  b.span()[6] = std::nan("");
  CHECK_THROWS_AS(lsmr(op, IdentityPreconditioner{}, b, x), InputError);
  CHECK_THROWS_AS(TransposableMatrix(MatrixOperator(OpenMP{1}, A.view()), MatrixOperator(OpenMP{1}, A.view())),
                  ShapeError);
  const MethodChoice choice{.method = Method::lsmr};
  CHECK_THROWS_AS(solve<V>(MatrixOperator(OpenMP{1}, A.view()), IdentityPreconditioner{}, choice, x, x), UsageError);
}
