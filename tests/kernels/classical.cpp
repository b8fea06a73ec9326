// Classical coarsening: coarse rows and interpolation against their definition, and the same on every back end.
#include "graphs.hpp"

#include <seidel/kernels/aggregation/classical.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

using aggregation_detail::fine_row;
using aggregation_detail::in_no_aggregate;

struct Steps {
  std::vector<Index> neighbour, of_row, col_idx;
  std::vector<std::int64_t> row_ptr;
  std::vector<double> values, updated;
  Index count;
  std::int64_t lone, dominated;
  bool operator==(const Steps&) const = default;
};

constexpr double theta = 0.25;

template <class B>
Steps steps(const B& on, const Matrix& A) {
  const auto [there, scales, neighbour] = marked(on, A, Strength::to_either, theta);
  const auto found = coarse_rows<B, std::int64_t>(on, {there.view().row_ptr, neighbour}, scales);
  const auto strong = packed_strong<B>(on, neighbour);
  auto P = classical_interpolation<B, std::int64_t>(on, there.view(), strong, found);
  const auto values = moved_back(on, P.values);
  P.values = moved_to(on, std::vector<double>(values.size(), std::numeric_limits<double>::quiet_NaN()));
  update_classical<B, std::int64_t>(on, there.view(), strong, found.of_row, P);
  return {.neighbour = moved_back(on, neighbour),
          .of_row = moved_back(on, found.of_row),
          .col_idx = moved_back(on, P.col_idx),
          .row_ptr = moved_back(on, P.row_ptr),
          .values = values,
          .updated = moved_back(on, P.values),
          .count = found.count,
          .lone = found.lone,
          .dominated = found.dominated};
}

/// Weights of a fine row before the cut, by coarse row.
std::map<Index, long double> weights(const Matrix& A, const Steps& found, Index i) {
  const auto entries = [&](Index row, const auto& use) {
    for (auto k = A.row_ptr[row]; k < A.row_ptr[row + 1]; ++k)
      use(A.col_idx[k], (long double)A.values[k], found.neighbour[std::size_t(k)] >= 0);
  };
  const auto of = [&](Index row) { return found.of_row[std::size_t(row)]; };
  std::map<Index, long double> w;  // C_i
  const auto insert = [&](Index row) {
    entries(row, [&](Index j, long double, bool strong) {
      if (strong && of(j) >= 0 && w.size() < std::size_t(aggregation_detail::Candidates::room)) w[of(j)];
    });
  };
  insert(i);
  entries(i, [&](Index k, long double, bool strong) {
    if (strong && of(k) == fine_row) insert(k);
  });
  long double d = 0, all = 0;
  entries(i, [&](Index k, long double a_ik, bool strong) {
    if (w.contains(of(k))) {
      w[of(k)] += a_ik;
    } else if (k != i && strong && of(k) == fine_row) {
      long double s = 0;
      const auto each = [&](const auto& use) {
        entries(k, [&](Index l, long double a_kl, bool) {
          if (a_kl * a_ik > 0 && (l == i || w.contains(of(l)))) use(l, a_kl);
        });
      };
      each([&](Index, long double a_kl) { s += a_kl; });
      each([&](Index l, long double a_kl) { (l == i ? d : w[of(l)]) += a_ik * a_kl / s; });
    } else if (of(k) != in_no_aggregate) {
      d += a_ik;
    }
  });
  for (const auto& [c, sum] : w) all += sum;
  if (const long double sum = -all / d; !(sum > 0 && sum <= 2)) d = all != 0 ? -all : 1;
  for (auto& [c, value] : w) value /= -d;
  return w;
}

}  // namespace

TEST_CASE("a coupling is strong to either row as the definition says, in both directions alike") {
  for (const auto& [name, A] : graphs(fresh_seed())) {
    CAPTURE(name);
    const auto neighbour = steps(OpenMP{1}, A).neighbour;
    std::vector<double> largest(A.nrows);
    for (Index i = 0; i < A.nrows; ++i)
      for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        if (A.col_idx[k] != i) largest[std::size_t(i)] = std::max(largest[std::size_t(i)], -A.values[k]);
    for (Index i = 0; i < A.nrows; ++i)
      for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
        const Index j = A.col_idx[k];
        const double smaller = std::min(largest[std::size_t(i)], largest[std::size_t(j)]);
        const bool strong = j != i && -A.values[k] > 0 && -A.values[k] >= theta * smaller;  // exact: powers of two
        REQUIRE(neighbour[std::size_t(k)] == (strong ? j : ~j));
      }
  }
}

TEST_CASE("no two coarse rows are strongly coupled, and every fine row is to one") {
  for (const auto& [name, A] : graphs(fresh_seed())) {
    CAPTURE(name);
    const Steps found = steps(OpenMP{1}, A);
    Index coarse = 0;
    std::int64_t without = 0;
    for (Index i = 0; i < A.nrows; ++i) {
      int neighbours = 0, beside = 0;
      for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        if (const Index j = found.neighbour[std::size_t(k)]; j >= 0)
          ++neighbours, beside += found.of_row[std::size_t(j)] >= 0;
      const Index of = found.of_row[std::size_t(i)];
      if (neighbours == 0) {
        REQUIRE(of == in_no_aggregate);
        ++without;
      } else if (of >= 0) {
        REQUIRE(of == coarse++);
        REQUIRE(beside == 0);
      } else {
        REQUIRE(of == fine_row);
        REQUIRE(beside > 0);
      }
    }
    CHECK(found.count == coarse);
    CHECK(found.lone + found.dominated == without);
  }
}

TEST_CASE("coarse rows are taken as they are, fine ones interpolated by extended+i, cut to four with its sums kept") {
  for (const auto& [name, A] : graphs(fresh_seed())) {
    CAPTURE(name);
    const Steps found = steps(OpenMP{1}, A);
    CHECK(found.updated == found.values);
    for (Index i = 0; i < A.nrows; ++i) {
      CAPTURE(i);
      const Index of = found.of_row[std::size_t(i)];
      std::map<Index, long double> row;
      if (of >= 0) row[of] = 1;
      if (of == fine_row) row = weights(A, found, i);
      check_cut(row, found.col_idx, found.values, found.row_ptr[std::size_t(i)], found.row_ptr[std::size_t(i) + 1]);
    }
  }
}

TEST_CASE("classical interpolation reproduces constants where rows sum to zero") {
  for (const Matrix& A : {lattice(40, 30, 1, 1), lattice(40, 30, 1, 0.01), lattice(500, 1, 1, 1), star(100),
                          symmetric({{}, {{0, -1.0}}, {}, {{2, -3.0}}, {{3, -0.01}}})}) {  // the last one: two pieces
    const Steps found = steps(OpenMP{1}, A);
    for (Index i = 0; i < A.nrows; ++i) {
      double sum = 0;
      for (auto k = found.row_ptr[std::size_t(i)]; k < found.row_ptr[std::size_t(i) + 1]; ++k)
        sum += found.values[std::size_t(k)];
      CHECK(std::abs(sum - 1) <= 1e-14);
    }
  }
}

TEST_CASE("rows with couplings of the sign of the diagonal only are neither coarse nor fine") {
  const Matrix A = symmetric({{}, {{0, 1.0}}, {{1, 0.5}}, {}, {{3, -1.0}, {2, 0.25}}});
  const Steps found = steps(OpenMP{1}, A);
  CHECK(std::vector<Index>(found.of_row.begin(), found.of_row.begin() + 3) == std::vector<Index>(3, in_no_aggregate));
  CHECK(found.row_ptr[3] == 0);
  CHECK(found.count == 1);
}

TEST_CASE("classical coarsening ends, within memory, on matrices that are not symmetric or not finite") {
  std::mt19937_64 random(fresh_seed());
  std::vector<Row> rows(500);
  for (Index i = 0; i < 500; ++i) {
    for (int k = 0; k < 8; ++k) rows[std::size_t(i)][Index(random() % 500)] = -double(random() % 5);
    rows[std::size_t(i)][i] = random() % 10 == 0 ? 0 : 8;
  }
  Matrix A = matrix_of_rows(rows);
  CHECK(steps(OpenMP{1}, A).count > 0);
  for (int k = 0; k < 20; ++k) A.values[std::int64_t(random() % std::uint64_t(A.nnz()))] = 1e308;
  A.values[0] = std::numeric_limits<double>::quiet_NaN();
  CHECK(steps(OpenMP{1}, A).count > 0);
}

TEST_CASE("classical coarsening has the same bits on every back end and with any number of threads") {
  const unsigned seed = fresh_seed();
  auto all = graphs(seed);
  all.push_back({"a large lattice", lattice(300, 200, 1, 0.3)});
  all.push_back({"large and random", random_graph(seed, 30000, 5)});
  for (const auto& [name, A] : all) {
    CAPTURE(name);
    const Steps expected = steps(OpenMP{1}, A);
    on_every_backend([&](auto on) { CHECK(steps(on, A) == expected); });
  }
}
