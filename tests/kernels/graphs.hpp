// Matrices for tests of coarsening: symmetric, each row dominated by its diagonal as little as can be; and their strong couplings.
#pragma once
#include <numeric>

#include "../backends.hpp"
#include "../matrices.hpp"

#include <seidel/kernels/aggregation/strength.hpp>

namespace seidel::tests {

inline Matrix matrix_of_rows(const std::vector<Row>& rows) {
  return csr_of<double, std::int64_t>(Plain{std::int64_t(rows.size()), rows});
}

/// Entries mirrored, diagonal as large as the others of its row together.
inline Matrix symmetric(std::vector<Row> lower) {
  std::vector<Row> rows(lower.size());
  for (std::size_t i = 0; i < lower.size(); ++i)
    for (const auto& [j, a] : lower[i]) rows[i][j] = rows[std::size_t(j)][Index(i)] = a;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double sum = 0;
    for (const auto& [j, a] : rows[i]) sum += std::abs(a);
    if (!rows[i].empty()) rows[i][Index(i)] = sum;
  }
  return matrix_of_rows(rows);
}

inline Matrix lattice(Index nx, Index ny, double cx, double cy) {
  std::vector<Row> lower(std::size_t(nx) * ny);
  for (Index y = 0; y < ny; ++y)
    for (Index x = 0; x < nx; ++x) {
      if (x > 0) lower[std::size_t(y) * nx + x][y * nx + x - 1] = -cx;
      if (y > 0) lower[std::size_t(y) * nx + x][(y - 1) * nx + x] = -cy;
    }
  return symmetric(lower);
}

inline Matrix random_graph(unsigned seed, Index n, int mean) {
  std::mt19937_64 random(seed);
  std::vector<Row> lower(n);
  for (Index i = 1; i < n; ++i)
    for (int k = 0; k < mean; ++k)
      lower[i][Index(random() % std::uint64_t(i))] = random() % 4 == 0 ? 0.5 : -std::ldexp(1.0, -int(random() % 7));
  return symmetric(lower);
}

inline Matrix star(Index n) {
  std::vector<Row> lower(n);
  for (Index i = 1; i < n; ++i) lower[i][0] = -1;
  return symmetric(lower);
}

/// A row that is coupled to the ends of so many paths, and so meets as many aggregates.
inline Matrix hub(Index npaths) {
  constexpr Index length = 7;
  std::vector<Row> lower(1 + std::size_t(npaths) * length);
  for (Index i = 1; i < Index(lower.size()); ++i) lower[std::size_t(i)][i % length == 1 ? 0 : i - 1] = -1.0 - i % 5;
  return symmetric(lower);
}

inline std::vector<NamedMatrix> graphs(unsigned seed) {
  std::vector<NamedMatrix> all;
  all.push_back({"nothing", matrix_of_rows({})});
  all.push_back({"one row", matrix_of_rows({{{0, 2.0}}})});
  all.push_back({"two rows", lattice(2, 1, 1, 1)});
  all.push_back({"no coupling", matrix_of_rows(std::vector<Row>(70))});
  all.push_back({"a path", lattice(1000, 1, 1, 1)});
  all.push_back({"a lattice", lattice(60, 50, 1, 1)});
  all.push_back({"a weak direction", lattice(60, 50, 1, 0.01)});
  all.push_back({"a star", star(400)});
  all.push_back({"a hub", hub(300)});
  all.push_back({"random, long rows", random_graph(seed, 500, 60)});
  for (const int mean : {1, 3, 12}) all.push_back({"random", random_graph(seed + unsigned(mean), 3000, mean)});
  return all;
}

/// That entries first ... last-1 of P are the four largest of `row`, scaled to the sum of all.
inline void check_cut(std::map<Index, long double> row, const std::vector<Index>& col_idx,
                      const std::vector<double>& values, std::int64_t first, std::int64_t last) {
  REQUIRE(last - first == std::min<std::int64_t>(4, std::int64_t(row.size())));
  long double sum = 0, of_kept = 0, kept = 0, least = 1e300L;
  for (const auto& [a, value] : row) sum += value;
  for (auto k = first; k < last; ++k) {
    const Index a = col_idx[std::size_t(k)];
    REQUIRE(row.contains(a));
    if (k > first) REQUIRE(a > col_idx[std::size_t(k) - 1]);
    of_kept += row[a];
    least = std::min(least, std::abs(row[a]));
  }
  const bool cut = std::size_t(last - first) < row.size();
  const long double beyond = std::abs(of_kept) - 0.1L * std::abs(sum);
  bool scaled = cut && beyond > 0;
  if (cut && std::abs(beyond) <= 1e-12L * std::abs(sum)) {  // either is right
    const long double all = std::accumulate(values.begin() + first, values.begin() + last, 0.0L);
    scaled = std::abs(all) > 0.5L * std::abs(sum);
  }
  const long double scale = scaled ? sum / of_kept : 1;
  for (auto k = first; k < last; ++k) {
    const Index a = col_idx[std::size_t(k)];
    kept += values[std::size_t(k)];
    REQUIRE(values[std::size_t(k)] == doctest::Approx(double(scale * row[a])).epsilon(1e-12));
    row.erase(a);
  }
  for (const auto& [a, value] : row) REQUIRE(std::abs(value) <= least * (1 + 1e-12L));
  if (scale != 1) REQUIRE(double(kept) == doctest::Approx(double(sum)).epsilon(1e-12));
}

/// A matrix in the memory of a back end, and which of its couplings are strong.
template <class B>
struct Marked {
  Csr<double, std::int64_t, SpaceOf<B>> A;
  RowScales<SpaceOf<B>> scales;
  Array<Index, SpaceOf<B>> neighbour;
};
template <class B>
Marked<B> marked(const B& on, const Matrix& A, Strength strength, double theta) {
  auto there = moved_to(on, A.view());
  poison(on);
  auto scales = row_scales<B, std::int64_t>(on, there.view());
  Array<Index, SpaceOf<B>> neighbour(on, A.nnz());
  mark_strong<B, std::int64_t>(on, there.view(), scales, strength, theta, neighbour);
  return {std::move(there), std::move(scales), std::move(neighbour)};
}

}  // namespace seidel::tests
