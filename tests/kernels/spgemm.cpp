// Sparse products: the literal definition, entry by entry, with the same bits on every back end.
#include <seidel/kernels/spgemm/spgemm.hpp>

#include <cmath>
#include <cstring>
#include <map>

#include "../allocations.hpp"
#include "../backends.hpp"
#include "matrices.hpp"

using namespace seidel;
using namespace seidel::tests;

namespace {

/// s = fma(a_ik, b_kj, s) from 0, in the order of the entries k of row i: by a map for each row.
template <class Real, class Offset>
Csr<Real, Offset> literal_product(const Csr<Real, Offset>& A, const Csr<Real, Offset>& B) {
  std::vector<Offset> row_ptr = {0};
  std::vector<Index> col_idx;
  std::vector<Real> values;
  for (Index i = 0; i < A.nrows; ++i) {
    std::map<Index, Real> row;
    for (Offset e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e)
      for (Offset f = B.row_ptr[A.col_idx[e]]; f < B.row_ptr[A.col_idx[e] + std::int64_t(1)]; ++f) {
        Real& sum = row.try_emplace(B.col_idx[f], Real(0)).first->second;
        sum = std::fma(A.values[e], B.values[f], sum);
      }
    for (const auto& [column, sum] : row) col_idx.push_back(column), values.push_back(sum);
    row_ptr.push_back(Offset(col_idx.size()));
  }
  return {A.nrows, B.ncols, row_ptr, col_idx, values};
}

template <class T>
bool same_bits(HostSpan<const T> a, HostSpan<const T> b) {
  if (a.size() != b.size()) return false;
  return a.empty() || std::memcmp(a.data(), b.data(), std::size_t(a.size()) * sizeof(T)) == 0;
}

template <class On, class Real, class Offset>
void check_equal(const On& on, const CsrView<Real, Offset, typename On::Space>& found,
                 const Csr<Real, Offset>& expected) {
  const auto C = copied_to<Host>(on, found);
  CHECK(C.nrows == expected.nrows);
  CHECK(C.ncols == expected.ncols);
  CHECK(same_bits(C.row_ptr.span(), expected.row_ptr.span()));
  CHECK(same_bits(C.col_idx.span(), expected.col_idx.span()));
  CHECK(same_bits(C.values.span(), expected.values.span()));
}

template <class Real, class Offset>
Csr<Real, Offset> with_other_values(const Csr<Real, Offset>& A, unsigned seed) {
  auto other = copied_to<Host>(OpenMP{1}, A.view());
  const auto values = random_values<Real>(A.nnz(), seed);
  std::copy(values.begin(), values.end(), other.values.begin());
  return other;
}

/// A B, once and prepared, then with new values.
template <class Real, class Offset>
void check_product(const Csr<Real, Offset>& A, const Csr<Real, Offset>& B, unsigned seed) {
  const auto expected = literal_product(A, B);
  const auto newer_A = with_other_values(A, seed), newer_B = with_other_values(B, seed + 1);
  const auto newer = literal_product(newer_A, newer_B);
  on_every_backend([&](const auto& on) {
    const auto a = moved_to(on, A.view()), b = moved_to(on, B.view());
    const auto a2 = moved_to(on, newer_A.view()), b2 = moved_to(on, newer_B.view());
    poison(on);
    const auto C = spgemm(on, a.view(), b.view());
    check_equal(on, C.view(), expected);
    poison(on);
    SparseProduct product(on, a.view(), b.view());
    check_equal(on, product.C(), expected);
    product.update_values(a2.view(), b2.view());
    check_equal(on, product.C(), newer);
    product.update_values(a.view(), b.view());
    check_equal(on, product.C(), expected);
  });
}

std::int64_t products(const Plain& A, const Plain& B) {
  std::int64_t sum = 0;
  for (const Row& row : A.rows)
    for (const auto& [k, value] : row) sum += std::int64_t(B.rows[std::size_t(k)].size());
  return sum;
}

void check_plain(const Plain& A, const Plain& B, unsigned seed) {
  check_product(csr_of<double>(A), csr_of<double>(B), seed);
  check_product(csr_of<float, std::int64_t>(A), csr_of<float, std::int64_t>(B), seed);
}

Plain transposed(const Plain& A) {
  Plain T{A.nrows(), std::vector<Row>(std::size_t(A.ncols))};
  for (std::size_t i = 0; i < A.rows.size(); ++i)
    for (const auto& [j, value] : A.rows[i]) T.rows[std::size_t(j)][Index(i)] = value;
  return T;
}

}  // namespace

TEST_CASE("sparse products of awkward matrices are sums of products in the order of a row, bit for bit") {
  const unsigned seed = fresh_seed();
  for (const auto& [name, matrix] : awkward_matrices()) {
    CAPTURE(name);
    const Plain A = plain_of(matrix), T = transposed(A);
    const auto check = [&](const Plain& left, const Plain& right) {
      if (left.ncols == right.nrows() && products(left, right) <= 100'000)  // the literal definition is slow
        check_plain(left, right, seed);
    };
    check(A, T);
    check(T, A);
    check(A, A);
  }
}

TEST_CASE("sparse products are right where rows of A and of the result have every length") {
  const unsigned seed = fresh_seed();
  std::mt19937_64 random(seed);
  const auto row = [&](std::int64_t ncols, std::int64_t length) {
    return random_row(random, Index(ncols), Index(length));
  };
  const std::vector<std::int64_t> lengths = {0,  1,  2,  3,  4,   5,   7,   8,   9,   15,  16,   17,   31,   32,
                                             33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025, 2500};
  SUBCASE("few columns, so that most products meet") {
    Plain A{2600, {}}, B{40, {}};
    for (const auto n : lengths) A.rows.push_back(row(2600, n));
    for (int k = 0; k < 2600; ++k) B.rows.push_back(row(40, k % 41));
    check_plain(A, B, seed);
  }
  SUBCASE("many columns, so that few products meet") {
    Plain A{2600, {}}, B{300'000, {}};
    for (const auto n : lengths) A.rows.push_back(row(2600, n));
    for (int k = 0; k < 2600; ++k) B.rows.push_back(row(300'000, k % 23));
    check_plain(A, B, seed);
  }
  SUBCASE("single rows of A that meet long rows of B") {
    Plain A{3, {}}, B{70'000, {}};
    for (const auto n : {0, 1, 2, 3}) A.rows.push_back(row(3, n));
    for (const auto n : {60'000, 3, 20'000}) B.rows.push_back(row(70'000, n));
    check_plain(A, B, seed);
  }
  SUBCASE("neighbouring rows of A with the same columns") {
    for (const auto columns_of_B : {5, 40, 64, 65, 300}) {
      Plain A{200, {}}, B{columns_of_B, {}};
      for (int same = 1; same <= 7; ++same)
        for (const auto n : {0, 1, 2, 5, 24, 100}) {
          const Row first = row(200, n);
          for (int r = 0; r < same; ++r) {
            A.rows.push_back(first);
            for (auto& entry : A.rows.back()) entry.second = random_value(random);
          }
        }
      for (int k = 0; k < 200; ++k) B.rows.push_back(row(columns_of_B, k % 4));
      check_plain(A, B, seed);
    }
  }
  SUBCASE("all lengths of the result, shuffled") {
    Plain A{2600, {}}, B{5000, {}};
    std::vector<std::int64_t> shuffled;
    for (int n = 0; n < 3; ++n) shuffled.insert(shuffled.end(), lengths.begin(), lengths.end());
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    for (const auto n : shuffled) A.rows.push_back(row(2600, n / 4));
    for (int k = 0; k < 2600; ++k) B.rows.push_back(row(5000, random() % 12));
    check_plain(A, B, seed);
  }
}

TEST_CASE("sparse products that are large enough for several threads keep their bits") {
  const unsigned seed = fresh_seed();
  const Plain A = poisson(40, 40, 12);
  check_plain(A, A, seed);
  const Plain nodes = [&] {  // three unknowns each
    const Plain points = poisson(20, 20, 4);
    Plain P{3 * points.ncols, {}};
    std::mt19937_64 random(seed);
    for (const Row& of_point : points.rows)
      for (int r = 0; r < 3; ++r) {
        P.rows.emplace_back();
        for (const auto& [j, value] : of_point)
          for (int c = 0; c < 3; ++c) P.rows.back()[3 * j + c] = random_value(random);
      }
    return P;
  }();
  check_plain(nodes, random_square(4800, 2, seed), seed);
  const Plain hubs = [&] {
    Plain P = random_square(4000, 6, seed);
    std::mt19937_64 random(seed);
    P.rows[17] = random_row(random, 4000, 4000);                // a dense row
    for (auto& row : P.rows) row[3999] = random_value(random);  // a dense column
    return P;
  }();
  check_plain(hubs, random_square(4000, 3, seed + 1), seed);
  check_plain(random_square(4000, 3, seed + 2), hubs, seed);
}

TEST_CASE("sparse products keep their bits where part of the rows tells nothing of how many entries the others have") {
  const unsigned seed = fresh_seed();
  std::mt19937_64 random(seed);
  constexpr Index n = 9000;
  constexpr int terms = 12;  // 1.3 million products: large enough to guess from some rows
  Plain A{2 * n, {}}, B{terms * n, {}};
  for (Index k = 0; k < 2 * n; ++k) {  // the first half shares its columns, the second half has its own
    B.rows.emplace_back();
    for (Index c = 0; c < terms; ++c) B.rows.back()[k < n ? c : terms * (k - n) + c] = random_value(random);
  }
  const auto rows_of = [&](const auto& meets_own_columns) {
    A.rows.clear();
    for (Index i = 0; i < n; ++i) {
      A.rows.emplace_back();
      const Index first = Index(random() % (n - terms)) + (meets_own_columns(i) ? n : 0);
      for (int t = 0; t < terms; ++t) A.rows.back()[first + t] = random_value(random);
    }
    return csr_of<double>(A);
  };
  const auto b = csr_of<double>(B);
  check_product(rows_of([](Index i) { return i < n / 3 || i > 2 * n / 3; }), b, seed);
  check_product(rows_of([](Index i) { return i > n / 3 && i < 2 * n / 3; }), b, seed);
  check_product(rows_of([](Index i) { return i > n / 2; }), b, seed);
}

TEST_CASE("sparse products of empty and single shapes") {
  for (const Index m : {0, 1, 3})
    for (const Index l : {0, 1, 3})
      for (const Index n : {0, 1, 3})
        check_plain({l, std::vector<Row>(std::size_t(m))}, {n, std::vector<Row>(std::size_t(l))}, 1);
  check_plain({1, {{{0, 2.0}}}}, {1, {{{0, -3.0}}}}, 1);
}

TEST_CASE("entries of a sparse product that cancel or are zero stay in its pattern, as +0") {
  const auto A = csr_of<double>({3, {{{0, 1.0}, {1, -1.0}}, {{2, -0.0}}}});
  const auto B = csr_of<double>({2, {{{0, 5.0}}, {{0, 5.0}, {1, 0.0}}, {{1, 1.0}}}});
  check_product(A, B, 1);
  const auto C = spgemm(OpenMP{1}, A.view(), B.view());
  REQUIRE(C.nnz() == 3);
  for (const double value : C.values) CHECK((value == 0 && !std::signbit(value)));
}

TEST_CASE("overflow in a sparse product gives infinities, and NaN where they meet") {
  const auto A = csr_of<double>({2, {{{0, 1e200}, {1, -1e200}}, {{0, 1e200}}}});
  const auto B = csr_of<double>({1, {{{0, 1e200}}, {{0, 1e200}}}});
  on_every_backend([&](const auto& on) {
    const auto C = copied_to<Host>(on, spgemm(on, moved_to(on, A.view()).view(), moved_to(on, B.view()).view()).view());
    CHECK((std::isinf(C.values[0]) || std::isnan(C.values[0])));
    CHECK(C.values[1] == std::numeric_limits<double>::infinity());
  });
}

TEST_CASE("a sparse product refuses shapes that do not fit, and other patterns for its next values") {
  const auto A = csr_of<double>({3, {{{0, 1.0}, {2, 1.0}}, {{1, 1.0}}}});
  const auto B = csr_of<double>({2, {{{0, 5.0}}, {{1, 5.0}}, {{1, 1.0}}}});
  CHECK_THROWS_WITH_AS(spgemm(OpenMP{1}, A.view(), A.view()),
                       "spgemm: found A as 2 x 3 and B as 2 x 3, expected B with as many rows as A has columns",
                       ShapeError);
  SparseProduct product(OpenMP{1}, A.view(), B.view());
  const auto fewer = csr_of<double>({3, {{{0, 1.0}}, {{1, 1.0}}}});
  CHECK_THROWS_AS(product.update_values(fewer.view(), B.view()), ShapeError);
  CHECK_THROWS_AS(product.update_values(A.view(), A.view()), ShapeError);
}

TEST_CASE("a sparse product with more entries than 32-bit row pointers count is refused before memory is taken") {
  const Index n = 50'000;  // a dense column times a dense row
  Csr<float, std::int32_t> column{n, 1, Array<std::int32_t>(n + 1), Array<Index>(n, 0), Array<float>(n, 1)};
  for (Index i = 0; i <= n; ++i) column.row_ptr[i] = i;
  Csr<float, std::int32_t> row{1, n, std::vector<std::int32_t>{0, n}, Array<Index>(n), Array<float>(n, 1)};
  for (Index i = 0; i < n; ++i) row.col_idx[i] = i;
  on_every_backend([&](const auto& on) {
    const auto a = moved_to(on, column.view()), b = moved_to(on, row.view());
    CHECK_THROWS_WITH_AS(spgemm(on, a.view(), b.view()),
                         "spgemm: found 2500000000 entries of the product, expected at most 2147483647\n  take 64-bit "
                         "row pointers",
                         ResourceError);
  });
}

TEST_CASE("the values of a prepared sparse product are computed without allocation") {
  const auto A = csr_of<double>(poisson(30, 30, 30));
  const auto check = [&](auto on) {
    SparseProduct product(on, A.view(), A.view());
    CHECK(product.products() == [&] {
      std::int64_t sum = 0;
      for (const Index k : A.col_idx) sum += A.row_ptr[k + 1] - A.row_ptr[k];
      return sum;
    }());
    CHECK(product.bytes() > 12 * product.C().nnz());
    CHECK(product.describe() ==
          std::to_string(product.products()) + " products for " + std::to_string(product.C().nnz()) + " entries");
    const std::int64_t before = allocations();
    product.update_values(A.view(), A.view());
    CHECK(allocations() == before);
  };
  check(OpenMP{1});
  check(OpenMP{3});
}

TEST_CASE("a sparse product on a GPU waits three times at most, and its next values not at all") {
  on_every_backend([&](const auto& on) {
    if constexpr (!HostBackend<std::decay_t<decltype(on)>>) {
      const auto A = copied_to<Device>(on, csr_of<double>(poisson(30, 30, 30)).view());
      const auto B = copied_to<Device>(on, csr_of<double>(random_square(27'000, 20, 1)).view());
      const std::int64_t before = on.waits();
      SparseProduct product(on, B.view(), A.view());
      CHECK(on.waits() - before <= 3);
      const std::int64_t prepared = on.waits();
      product.update_values(B.view(), A.view());
      CHECK(on.waits() == prepared);
      spgemm(on, A.view(), A.view());
      CHECK(on.waits() - prepared <= 2);
    }
  });
}
