// Properties against a dense matrix, entry by entry.
#include <seidel/formats/properties.hpp>

#include <limits>
#include <type_traits>

#include "../backends.hpp"
#include "../matrices.hpp"

using namespace seidel;
using namespace seidel::tests;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

/// All fields as numbers, so that all are compared.
std::vector<double> fields(const MatrixProperties& p) {
  return {double(p.square),
          double(p.pattern_symmetric),
          double(p.symmetric),
          double(p.nearly_symmetric),
          double(p.skew),
          p.symmetry_error,
          double(p.pairs_of_both_signs),
          double(p.one_triangle_only),
          double(p.below),
          double(p.above),
          double(p.diagonal_missing),
          double(p.diagonal_zero),
          double(p.diagonal_negative),
          double(p.diagonal_positive),
          double(p.first_bad_diagonal),
          double(p.first_negative_diagonal),
          double(p.weakly_dominant_rows),
          double(p.strictly_dominant_rows),
          double(p.zero_row_sums),
          double(p.small_row_sums),
          p.small_sum_min_diagonal,
          p.small_sum_max_diagonal,
          double(p.bandwidth_lower),
          double(p.bandwidth_upper),
          double(p.nonfinite),
          double(p.first_nonfinite_row),
          double(p.first_nonfinite_col),
          double(p.explicit_zeros),
          p.max_abs,
          p.min_abs,
          p.norm_inf,
          p.norm_frobenius};
}

/// The same bits on every back end and number of threads.
MatrixProperties properties_of(const Matrix& A) {
  const MatrixProperties serial = properties(OpenMP{1}, A.view());
  on_every_backend([&](const auto& on) {
    const auto there = copied_to<typename std::decay_t<decltype(on)>::Space>(on, A.view());
    CHECK(same_bits(fields(properties(on, there.view())), fields(serial)));
  });
  return serial;
}

/// Symmetry by all pairs of a dense matrix with marks of what is stored.
void check_symmetry(const Matrix& A, const MatrixProperties& p) {
  const std::size_t n = A.nrows;
  std::vector<double> D(n * n);
  std::vector<char> stored(n * n);
  for (Index i = 0; i < A.nrows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      D[i * n + A.col_idx[k]] = A.values[k], stored[i * n + A.col_idx[k]] = 1;
  bool pattern = true, symmetric = true, skew = true;
  double largest = 0;
  std::int64_t of_both_signs = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      of_both_signs += D[i * n + j] > 0 && D[j * n + i] < 0;
      pattern &= stored[i * n + j] == stored[j * n + i];
      symmetric &= D[i * n + j] == D[j * n + i];
      skew &= D[i * n + j] == -D[j * n + i];
      largest = std::max(largest, std::fabs(D[i * n + j] - D[j * n + i]));
    }
  CHECK(p.pattern_symmetric == pattern);
  CHECK(p.symmetric == symmetric);
  CHECK(p.skew == skew);
  CHECK(p.pairs_of_both_signs == of_both_signs);
  CHECK(p.symmetry_error == (p.max_abs > 0 ? largest / p.max_abs : 0));
}

}  // namespace

TEST_CASE("properties of the awkward matrices are those of their dense twins") {
  for (const auto& [name, A] : awkward_matrices()) {
    CAPTURE(name);
    const auto p = properties_of(A);
    CHECK(p.square == (A.nrows == A.ncols));
    if (p.square && A.nrows < 2000) check_symmetry(A, p);
    std::int64_t below = 0, above = 0, missing = 0, negative = 0, positive = 0, weak = 0, strict = 0;
    Index lower = 0, upper = 0;
    double max_abs = 0, min_abs = infinity, norm_inf = 0;
    long double squares = 0;
    for (Index i = 0; i < A.nrows; ++i) {
      double diagonal = 0, beside = 0;
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
        const Index j = A.col_idx[k];
        below += j<i, above += j> i, lower = std::max(lower, i - j), upper = std::max(upper, j - i);
        (j == i ? diagonal : beside) += j == i ? A.values[k] : std::fabs(A.values[k]);
        max_abs = std::max(max_abs, std::fabs(A.values[k])), min_abs = std::min(min_abs, std::fabs(A.values[k]));
        squares += (long double)A.values[k] * A.values[k];
      }
      norm_inf = std::max(norm_inf, beside + std::fabs(diagonal));
      weak += std::fabs(diagonal) >= beside, strict += std::fabs(diagonal) > beside;
      if (i < A.ncols) missing += diagonal == 0, negative += diagonal<0, positive += diagonal> 0;
    }
    CHECK(p.below == below);
    CHECK(p.above == above);
    CHECK(p.one_triangle_only == ((below == 0) != (above == 0)));
    CHECK(p.diagonal_missing == missing);
    CHECK(p.diagonal_zero == 0);
    CHECK(p.diagonal_negative == negative);
    CHECK(p.diagonal_positive == positive);
    CHECK((p.first_bad_diagonal >= 0) == (missing > 0));
    CHECK((p.first_negative_diagonal >= 0) == (negative > 0));
    CHECK(p.bandwidth_lower == lower);
    CHECK(p.bandwidth_upper == upper);
    CHECK(p.weakly_dominant_rows == weak);
    CHECK(p.strictly_dominant_rows == strict);
    CHECK(p.nonfinite == 0);
    CHECK(p.explicit_zeros == 0);
    CHECK(p.max_abs == max_abs);
    CHECK(p.min_abs == (A.nnz() ? min_abs : 0));
    CHECK(p.norm_inf == norm_inf);
    CHECK(std::fabs(p.norm_frobenius - double(std::sqrt(squares))) <=
          double(A.nnz() + 2) * std::numeric_limits<double>::epsilon() * double(std::sqrt(squares)));
  }
}

TEST_CASE("symmetry of random matrices is that of their dense twins, whichever mirrors are missing") {
  std::mt19937_64 random(fresh_seed());
  constexpr Index n = 1200;  // large enough that threads look at several shares of the rows
  for (const double one_sided : {0.0, 1e-4, 0.5, 1.0})
    for (const double sign : {1.0, -1.0}) {
      CAPTURE(one_sided);
      CAPTURE(sign);
      const auto chance = [&] { return double(random() >> 11) * 0x1p-53; };
      std::vector<double> D(std::size_t(n) * n);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < i; ++j) {
          if (chance() > (i == 77 || j == 900 ? 0.9 : 0.05)) continue;  // with a long row and a long column
          const double value = random_value(random);
          const bool one = chance() < one_sided, below = chance() < 0.5;
          if (!one || below) D[i * n + j] = value;
          if (!one || !below) D[j * n + i] = sign * value;
        }
      std::vector<Row> rows(n);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          if (D[i * n + j] != 0) rows[i].emplace(Index(j), D[i * n + j]);
      const Matrix A = matrix_of(n, rows);
      check_symmetry(A, properties_of(A));
    }
}

TEST_CASE("symmetry is told exactly") {
  CHECK(properties_of(tridiagonal(20000)).symmetric);
  CHECK(properties_of(tridiagonal(20000)).pattern_symmetric);
  Matrix A = tridiagonal(20000);
  A.values[40001] = std::nextafter(-1.0, 0.0);  // one bit of one entry
  const auto p = properties_of(A);
  CHECK(p.pattern_symmetric);
  CHECK_FALSE(p.symmetric);
  CHECK(p.symmetry_error == 0x1p-53 / 2);
  Matrix skew = matrix_of(3, {{{1, 2.0}}, {{0, -2.0}, {2, 0.5}}, {{1, -0.5}}});
  CHECK(properties_of(skew).skew);
  CHECK_FALSE(properties_of(skew).symmetric);
  CHECK_FALSE(properties_of(matrix_of(2, {{{0, 1.0}, {1, 2.0}}, {{0, -2.0}}})).skew);  // its diagonal is not zero
  const auto half = properties_of(matrix_of(3, {{{0, 4.0}}, {{0, 1.0}, {1, 4.0}}, {{1, 1.0}, {2, 4.0}}}));
  CHECK(half.one_triangle_only);
  CHECK_FALSE(half.symmetric);
  CHECK_FALSE(half.pattern_symmetric);
  CHECK_FALSE(properties_of(tridiagonal(1)).one_triangle_only);
  const auto zero_beside = properties_of(matrix_of(2, {{{0, 1.0}, {1, 0.0}}, {{1, 1.0}}}));
  CHECK(zero_beside.symmetric);  // a missing entry is a zero
  CHECK_FALSE(zero_beside.pattern_symmetric);
}

TEST_CASE("a matrix is nearly symmetric where entries differ from their mirrors by the rounding of the diagonal") {
  const unsigned seed = fresh_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  constexpr Index n = 3000;
  constexpr double eps = std::numeric_limits<double>::epsilon();
  // Diagonals of many sizes, as with other units or penalties; a_ij about sqrt(a_ii a_jj) / 4.
  const auto system = [&](double difference) {
    std::vector<Row> rows(n);
    std::vector<double> root(n);
    for (Index i = 0; i < n; ++i) rows[i][i] = 1, root[i] = std::exp(12 * number(random));
    for (Index i = 0; i < n; ++i)
      for (int k = 0; k < 4; ++k) {
        const auto j = Index(random() % n);
        if (j == i) continue;
        const double value = number(random) / 4;
        rows[i][j] = value, rows[j][i] = value + difference * number(random);
      }
    for (Index i = 0; i < n; ++i)
      for (auto& [j, value] : rows[i]) value *= root[i] * root[j];
    return rows;
  };
  const auto exact = properties_of(matrix_of(n, system(0)));
  CHECK(exact.nearly_symmetric);
  const auto near = properties_of(matrix_of(n, system(30 * eps)));
  CHECK(near.nearly_symmetric);
  CHECK_FALSE(near.symmetric);
  CHECK_FALSE(properties_of(matrix_of(n, system(1000 * eps))).nearly_symmetric);

  // One pair whose difference is small only beside the largest entry.
  auto rows = system(0);
  rows[0] = {{0, 1e40}}, rows[1] = {{1, 1.0}, {2, 1e-3}}, rows[2] = {{1, 1e-3}, {2, 1.0}};
  for (Index i = 0; i < n; ++i)
    for (Index gone = 0; gone < 3; ++gone)
      if (i > 2) rows[i].erase(gone);
  CHECK(properties_of(matrix_of(n, rows)).nearly_symmetric);
  rows[2][1] = 2e-3;
  CHECK_FALSE(properties_of(matrix_of(n, rows)).nearly_symmetric);
  rows[2].erase(1);  // no mirror at all
  CHECK_FALSE(properties_of(matrix_of(n, rows)).nearly_symmetric);
  rows[1][2] = 1e-15;
  CHECK(properties_of(matrix_of(n, rows)).nearly_symmetric);
  rows[2][2] = 0;  // without a diagonal any difference counts
  CHECK_FALSE(properties_of(matrix_of(n, rows)).nearly_symmetric);
  rows[2][2] = nan_value;
  CHECK_FALSE(properties_of(matrix_of(n, rows)).nearly_symmetric);
}

TEST_CASE("the diagonal is counted and its first fault found") {
  std::vector<Row> rows(30000);
  for (Index i = 0; i < 30000; ++i) rows[i] = {{i, 2.0}};
  rows[29000] = {}, rows[12345] = {{12345, 0.0}}, rows[20000] = {{20000, -1.0}}, rows[700] = {{700, -0.0}};
  rows[25000] = {{3, 1.0}};
  const auto p = properties_of(matrix_of(30000, rows));
  CHECK(p.diagonal_missing == 2);
  CHECK(p.diagonal_zero == 2);
  CHECK(p.diagonal_negative == 1);
  CHECK(p.diagonal_positive == 30000 - 5);
  CHECK(p.first_bad_diagonal == 700);
  CHECK(p.first_negative_diagonal == 20000);
  CHECK(p.explicit_zeros == 2);
}

TEST_CASE("NaN and infinite entries are counted, placed, and kept out of the norms") {
  Matrix A = tridiagonal(20000);
  A.values[3 * 15000] = infinity;      // row 15000, on the diagonal
  A.values[3 * 9000 + 1] = nan_value;  // row 9000, column 9001
  const auto p = properties_of(A);
  CHECK(p.nonfinite == 2);
  CHECK(p.first_nonfinite_row == 9000);
  CHECK(p.first_nonfinite_col == 9001);
  CHECK(p.max_abs == 2);
  CHECK(p.norm_inf == 4);
  CHECK(std::isfinite(p.norm_frobenius));
  CHECK_FALSE(p.symmetric);
  CHECK(p.pattern_symmetric);
}

TEST_CASE("the Frobenius norm survives squares beyond the range") {
  for (const double scale : {0x1p1018, 0x1p600, 1.0, 0x1p-538, 0x1p-1000, 5e-324}) {
    CAPTURE(scale);
    CHECK(properties_of(matrix_of(2, {{{0, 3 * scale}}, {{1, 4 * scale}}})).norm_frobenius == 5 * scale);
  }
}

TEST_CASE("constants in the null space are seen by the row sums") {
  Matrix A = tridiagonal(1000);
  A.values[0] = 1, A.values[A.nnz() - 1] = 1;  // no fixed end
  CHECK(properties_of(A).zero_row_sums == 1000);
  CHECK(properties_of(tridiagonal(1000)).zero_row_sums == 998);
  // A sum beyond the range is not zero, though it is no more than 1e-12 of itself.
  CHECK(properties_of(matrix_of(2, {{{0, 1.7e308}, {1, 1e308}}, {{0, 1e308}, {1, 1.7e308}}})).zero_row_sums == 0);
}

TEST_CASE("rows that sum to little beside their diagonal are counted, with the range of their diagonal") {
  const MatrixProperties p = properties_of(matrix_of(
      5,
      {{{0, 1000.0}, {1, -999.0}}, {{0, -4.0}, {1, 4.0}}, {{2, 5.0}, {3, -4.0}}, {{3, -8.0}, {4, 8.004}}, {{4, 0.0}}}));
  CHECK(p.small_row_sums == 3);
  CHECK(p.small_sum_min_diagonal == 4);
  CHECK(p.small_sum_max_diagonal == 1000);
  const MatrixProperties none = properties_of(matrix_of(1, {{{0, 2.0}}}));
  CHECK(none.small_row_sums == 0);
  CHECK(none.small_sum_min_diagonal == 0);
  CHECK(none.small_sum_max_diagonal == 0);
}

TEST_CASE("a row that rounding alone keeps from being dominated is weakly dominated") {
  const MatrixProperties p = properties_of(matrix_of(4, {{{0, 0.3}, {1, -0.1}, {2, -0.1}, {3, -0.1}},
                                                         {{0, -0.1}, {1, 0.1 * (1 - 1e-15)}},
                                                         {{1, -0.1}, {2, 0.1 * (1 - 1e-12)}},
                                                         {{3, 0.0}}}));
  CHECK(p.weakly_dominant_rows == 3);
}

TEST_CASE("properties are the same for either scalar where the values are") {
  const Matrix A = tridiagonal(3000);
  const auto expected = fields(properties_of(A));
  CHECK(same_bits(fields(properties(OpenMP{2}, as<float, std::int32_t>(A).view())), expected));
  CHECK(same_bits(fields(properties(OpenMP{2}, as<double, std::int32_t>(A).view())), expected));
  CHECK(same_bits(fields(properties(OpenMP{2}, as<float, std::int64_t>(A).view())), expected));
}
