// A known null space: what it takes from a vector.
#include "../backends.hpp"
#include "../matrices.hpp"

#include <cmath>

#include <seidel/formats/runtime/errors.hpp>
#include <seidel/solvers/null_space.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// Laplacians of two chains and a row without entries, between them a row that does not sum to zero.
Matrix parts() {
  return matrix_of(7, {{{0, 1.0}, {1, -1.0}},
                       {{0, -1.0}, {1, 2.0}, {2, -1.0}},
                       {{1, -1.0}, {2, 1.0}},
                       {},
                       {{4, 2.0}, {5, -1.0}},
                       {{4, -1.0}, {5, 1.0}},
                       {{6, 0.0}}});
}

std::vector<double> projected(const NullSpace& space, std::vector<double> v, double* part = nullptr) {
  const double norm = space.project({v.data(), std::int64_t(v.size())});
  if (part) *part = norm;
  return v;
}

}  // namespace

TEST_CASE("constants: one vector for each part of A whose rows all sum to zero, empty rows too") {
  const Matrix A = parts();
  const NullSpace space = NullSpace::constants(A.view());
  CHECK(space.dimension() == 3);
  double part = 0;
  CHECK(projected(space, {1, 2, 6, 7, 8, 9, 5}, &part) == std::vector<double>{-2, -1, 3, 0, 8, 9, 0});
  CHECK(part == doctest::Approx(std::sqrt(3 * 9 + 49 + 25)));
  CHECK(projected(space, projected(space, {1, 2, 6, 7, 8, 9, 5})) == projected(space, {1, 2, 6, 7, 8, 9, 5}));
  CHECK(space.defect(A.view(), 4, NullSpace::Side::right) == 0);
  CHECK(space.defect(A.view(), 4, NullSpace::Side::left) == 0);
  CHECK(NullSpace::constants(tridiagonal(16).view()).dimension() == 0);
  CHECK(NullSpace::constants(matrix_of(0, {}).view()).dimension() == 0);
  // Rows that sum to zero, columns that do not.
  const Matrix one_way = matrix_of(2, {{{0, 1.0}, {1, -1.0}}, {{0, 2.0}, {1, -2.0}}});
  const NullSpace right = NullSpace::constants(one_way.view());
  CHECK(right.dimension() == 1);
  CHECK(right.defect(one_way.view(), 4, NullSpace::Side::right) == 0);
  CHECK(right.defect(one_way.view(), 4, NullSpace::Side::left) > 0.1);
}

TEST_CASE("connected parts are numbered by their first rows, however they are joined") {
  const ConnectedParts seven = connected_parts(OpenMP{2}, parts().view());
  CHECK(seven.count == 4);
  CHECK(std::vector<Index>(seven.part_of.begin(), seven.part_of.end()) == std::vector<Index>{0, 0, 0, 1, 2, 2, 3});
  // 4 - 0 and 3 - 1 first, then 1 - 0 by a row far below; 2 is alone, with an entry that is zero.
  const Matrix late = matrix_of(6, {{{4, 1.0}}, {{3, 1.0}}, {{0, 0.0}, {2, 1.0}}, {}, {}, {{0, 1.0}, {1, 1.0}}});
  const ConnectedParts two = connected_parts(OpenMP{2}, late.view());
  CHECK(two.count == 2);
  CHECK(std::vector<Index>(two.part_of.begin(), two.part_of.end()) == std::vector<Index>{0, 0, 1, 0, 0, 0});
  CHECK(connected_parts(OpenMP{2}, matrix_of(0, {}).view()).count == 0);
  CHECK(connected_parts(OpenMP{2}, matrix_of(1, {{}}).view()).count == 1);
  Matrix chain = tridiagonal(20000);
  for (const auto& [cut, count] : {std::pair<Index, Index>{0, 1}, {12345, 2}}) {
    for (const Index row : {cut - 1, cut})
      for (auto k = row < 0 ? 0 : chain.row_ptr[row]; cut > 0 && k < chain.row_ptr[row + 1]; ++k)
        if (chain.col_idx[k] == 2 * cut - 1 - row) chain.values[k] = 0;
    const ConnectedParts found = connected_parts(OpenMP{2}, chain.view());
    CHECK(found.count == count);
    for (const Index row : {0, 12344, 12345, 19999}) CHECK(found.part_of[row] == (cut > 0 && row >= cut));
  }
}

TEST_CASE("spanned_by: what is left is orthogonal to all vectors, of which dependent ones count once") {
  const std::vector<double> Z = {1, 1, 1, 1, 2, 2, 2, 2, 1, -1, 0, 0};
  const NullSpace space = NullSpace::spanned_by(Z, 4);
  CHECK(space.dimension() == 2);
  const std::vector<double> rest = projected(space, {3, 1, 4, 1});
  for (int vector : {0, 2}) {
    double dot = 0;
    for (int i = 0; i < 4; ++i) dot += Z[std::size_t(4 * vector + i)] * rest[std::size_t(i)];
    CHECK(std::abs(dot) <= 1e-14);
  }
  for (const int exponent : {-1000, 1000}) {  // the size of a vector does not matter
    std::vector<double> scaled = Z;
    for (std::size_t i = 0; i < 4; ++i) scaled[i] = std::ldexp(scaled[i], exponent);
    CHECK(projected(NullSpace::spanned_by(scaled, 4), {3, 1, 4, 1}) == rest);
  }
  CHECK_THROWS_AS(NullSpace::spanned_by({1, 2, 3}, 2), ShapeError);
  CHECK(NullSpace::spanned_by({0, 0}, 2).dimension() == 0);
}
