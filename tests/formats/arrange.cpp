// Matching and equilibration: large entries on the diagonal, entries of one size.
#include "../backends.hpp"
#include "../matrices.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <seidel/formats/arrange.hpp>
#include <seidel/formats/properties.hpp>
#include <seidel/formats/runtime/errors.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

double entry(const Matrix& A, Index i, Index j) {
  for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
    if (A.col_idx[k] == j) return A.values[k];
  return 0;
}

/// log2 of the largest product over all permutations; -infinity where all are zero.
double best_product(const Matrix& A) {
  std::vector<Index> order(std::size_t(A.nrows));
  std::iota(order.begin(), order.end(), Index(0));
  double best = -std::numeric_limits<double>::infinity();
  do {
    double sum = 0;
    for (Index j = 0; j < A.nrows; ++j) sum += std::log2(std::abs(entry(A, order[j], j)));
    best = std::max(best, sum);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

/// Entries of sizes from 2^-20 to 2^20 at random places.
Matrix of_many_sizes(Index n, double density, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<Row> rows(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      if (uniform(random) < density)
        rows[i][j] = (uniform(random) < 0.5 ? -1 : 1) * std::exp2(40 * uniform(random) - 20);
  return matrix_of(n, rows);
}

void check_permutation(const Matching& found, Index n) {
  std::vector<Index> sorted(found.arrangement.row_of.begin(), found.arrangement.row_of.end());
  std::sort(sorted.begin(), sorted.end());
  for (Index i = 0; i < n; ++i) REQUIRE(sorted[i] == i);
}

}  // namespace

TEST_CASE("the product of the diagonal is the largest that any order of rows gives") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const Matrix A = of_many_sizes(6, seed % 3 == 0 ? 0.9 : 0.45, seed);
    const Matching found = max_product_matching(A.view());
    check_permutation(found, 6);
    const double best = best_product(A);
    CHECK((found.matched == 6) == std::isfinite(best));
    if (found.matched < 6) continue;
    double sum = 0;
    for (Index j = 0; j < 6; ++j) sum += std::log2(std::abs(entry(A, found.arrangement.row_of[j], j)));
    CHECK(sum == doctest::Approx(best));
  }
}

TEST_CASE("scaled by a matching, the diagonal is about 1 and nothing is much larger") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Matrix A = of_many_sizes(300, 0.02, seed);
    const Matching found = max_product_matching(A.view());
    check_permutation(found, 300);
    if (found.matched < 300) continue;
    const Matrix B = arranged(A.view(), found.arrangement);
    for (Index i = 0; i < 300; ++i)
      for (std::int64_t k = B.row_ptr[i]; k < B.row_ptr[i + 1]; ++k) {
        CHECK(std::abs(B.values[k]) <= 2.001);
        if (B.col_idx[k] == i) CHECK(std::abs(B.values[k]) >= 0.4999);
      }
  }
}

TEST_CASE(
    "a matching leaves rows that are dominated by their diagonal where they are, and counts what it cannot match") {
  const Matrix A = tridiagonal(81);
  const Matching stays = max_product_matching(A.view());
  CHECK(stays.matched == 81);
  CHECK(std::is_sorted(stays.arrangement.row_of.begin(), stays.arrangement.row_of.end()));
  CHECK(max_product_matching(matrix_of(3, {{{1, 1.0}}, {{1, 2.0}}, {{2, 1.0}}}).view()).matched == 2);
  CHECK(max_product_matching(matrix_of(2, {{{0, 0.0}}, {{1, 1.0}}}).view()).matched == 1);
  CHECK(max_product_matching(matrix_of(0, {}).view()).matched == 0);
  CHECK_THROWS_AS(max_product_matching(matrix_of(2, {{{0, 1.0}}}).view()), ShapeError);
  check_permutation(max_product_matching(matrix_of(3, {{}, {{0, 1.0}, {1, 1.0}}, {{0, 3.0}}}).view()), 3);
}

TEST_CASE("equilibration: powers of two, entries of one size, and symmetric where A is") {
  const Matrix A = of_many_sizes(200, 0.05, 7);
  const Arrangement by = equilibration(A.view());
  CHECK(by.row_of.empty());
  const Matrix B = arranged(A.view(), by);
  std::vector<double> largest(200, 0.0);
  for (Index i = 0; i < 200; ++i)
    for (std::int64_t k = B.row_ptr[i]; k < B.row_ptr[i + 1]; ++k)
      largest[i] = std::max(largest[i], std::abs(B.values[k]));
  for (Index i = 0; i < 200; ++i) {
    int exponent = 0;
    CHECK(std::frexp(by.row_scale[i], &exponent) == 0.5);
    if (A.row_ptr[i] == A.row_ptr[i + 1]) continue;
    CHECK(largest[i] <= 4);
    CHECK(largest[i] >= 0.25);
  }
  Matrix S = matrix_of(3, {{{0, 1e10}, {1, 1.0}}, {{0, 1.0}, {2, 1e-6}}, {{1, 1e-6}}});
  const Arrangement same = equilibration(S.view());
  CHECK(std::equal(same.row_scale.begin(), same.row_scale.end(), same.column_scale.begin()));
  CHECK(properties(OpenMP{}, arranged(S.view(), same).view()).symmetric);
}
