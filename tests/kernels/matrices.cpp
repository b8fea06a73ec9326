// The matrices of matrices.hpp, compiled once.
#include "matrices.hpp"

#include <seidel/kernels/symgs/colours.hpp>

namespace seidel::tests {

Plain rows_of_lengths(const std::vector<std::int64_t>& lengths, std::int64_t ncols, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Plain A{ncols, {}};
  for (const std::int64_t length : lengths) {
    auto& row = A.rows.emplace_back();
    if (2 * length > ncols)
      for (Index col = 0; col < length; ++col) row[col] = uniform(random);
    else
      while (std::int64_t(row.size()) < length) row[Index(random() % ncols)] = uniform(random);
  }
  return A;
}

std::vector<std::int64_t> awkward_lengths() {
  std::vector<std::int64_t> lengths;
  for (std::int64_t n = 0; n <= 70; ++n) lengths.push_back(n);
  for (std::int64_t n : {0, 95, 96, 97, 2047, 2048, 2049, 4096, 4097, 1, 100000, 0}) lengths.push_back(n);
  return lengths;
}

Plain with_dominant_diagonal(Plain A) {
  for (Index i = 0; i < A.nrows(); ++i) {
    double sum = 0;
    for (const auto& [col, value] : A.rows[i]) sum += col == i ? 0 : std::abs(value);
    A.rows[i][i] = (i % 5 == 3 ? -1 : 1) * (1 + sum);
  }
  return A;
}

Plain permuted(const Plain& A, const Array<Index>& new_to_old) {
  std::vector<Index> old_to_new(A.nrows(), -1);
  for (Index k = 0; k < A.nrows(); ++k) old_to_new[new_to_old[k]] = k;
  Plain P{A.ncols, std::vector<std::map<Index, double>>(A.nrows())};
  for (Index i = 0; i < A.nrows(); ++i)
    for (const auto& [j, value] : A.rows[i]) P.rows[old_to_new[i]][old_to_new[j]] = value;
  return P;
}

Plain poisson3d(Index nx, Index ny, Index nz) {
  Plain A{std::int64_t(nx) * ny * nz, std::vector<std::map<Index, double>>(std::int64_t(nx) * ny * nz)};
  for (Index z = 0; z < nz; ++z)
    for (Index y = 0; y < ny; ++y)
      for (Index x = 0; x < nx; ++x) {
        const Index i = (z * ny + y) * nx + x;
        auto& row = A.rows[i];
        row[i] = 6;
        if (x > 0) row[i - 1] = -1;
        if (x + 1 < nx) row[i + 1] = -1;
        if (y > 0) row[i - nx] = -1;
        if (y + 1 < ny) row[i + nx] = -1;
        if (z > 0) row[i - nx * ny] = -1;
        if (z + 1 < nz) row[i + nx * ny] = -1;
      }
  return A;
}

Plain random_square(Index n, Index entries, unsigned seed) {
  return with_dominant_diagonal(rows_of_lengths(std::vector<std::int64_t>(n, entries), n, seed));
}

std::vector<NamedPlain> awkward_to_sweep(unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto from = [&](Index n, const std::function<bool(Index, Index)>& coupled) {
    Plain A{n, std::vector<std::map<Index, double>>(n)};
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        if (coupled(i, j)) A.rows[i][j] = uniform(random);
    return with_dominant_diagonal(std::move(A));
  };
  Plain blocks{20000, std::vector<std::map<Index, double>>(20000)};  // 4000 cliques of 5 rows: wide wavefronts
  for (Index i = 0; i < 20000; ++i)
    for (Index j = i / 5 * 5; j < i / 5 * 5 + 5; ++j) blocks.rows[i][j] = uniform(random);
  Plain hub = random_square(5000, 3, seed + 1);  // one long row in the middle, and the rows after it short
  for (Index j = 0; j < 5000; ++j) hub.rows[2500][j] = uniform(random);
  Plain dense_column = random_square(5000, 3, seed + 2);
  for (auto& row : dense_column.rows) row[2500] = uniform(random);
  Plain lattice = poisson3d(20, 21, 23);
  for (auto& row : lattice.rows)
    for (auto& [col, value] : row) value = uniform(random);
  lattice = with_dominant_diagonal(std::move(lattice));
  const Array<Index> by_colours = colour_order(greedy_colours(Serial{}, csr_of<double>(lattice).view()));
  return {{"0 x 0", {}},
          {"1 x 1", from(1, [](Index, Index) { return true; })},
          {"diagonal", from(9000, [](Index i, Index j) { return i == j; })},
          {"one long chain", from(1500, [](Index i, Index j) { return std::abs(i - j) <= 1; })},
          {"dense 70 x 70", from(70, [](Index, Index) { return true; })},
          {"dense 200 x 200", from(200, [](Index, Index) { return true; })},
          {"lower triangle", from(300, [](Index i, Index j) { return j <= i && (i + j) % 3 == 0; })},
          {"upper triangle", from(300, [](Index i, Index j) { return j >= i && (i * j) % 4 == 0; })},
          {"arrow, head first", from(3000, [](Index i, Index j) { return i == 0 || j == 0; })},
          {"arrow, head last", from(3000, [](Index i, Index j) { return i == 2999 || j == 2999; })},
          {"wide wavefronts", with_dominant_diagonal(std::move(blocks))},
          {"dense row", with_dominant_diagonal(std::move(hub))},
          {"dense column", with_dominant_diagonal(std::move(dense_column))},
          {"random, unsymmetric", random_square(700, 5, seed + 3)},
          {"random, large, sparse", random_square(20000, 1, seed + 4)},
          {"lattice by colours", permuted(lattice, by_colours)},
          {"poisson3d 40 x 41 x 37", poisson3d(40, 41, 37)}};
}

}  // namespace seidel::tests
