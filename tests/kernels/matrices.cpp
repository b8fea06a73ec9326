// The matrices of matrices.hpp, compiled once.
#include "matrices.hpp"

#include <seidel/kernels/orders/orders.hpp>

namespace seidel::tests {

namespace {

Plain with_mixed_diagonal(Plain A) {
  A = with_dominant_diagonal(std::move(A));
  for (Index i = 3; i < A.nrows(); i += 5) A.rows[i][i] *= -1;
  return A;
}

}  // namespace

std::vector<std::int64_t> awkward_lengths() {
  std::vector<std::int64_t> lengths;
  for (std::int64_t n = 0; n <= 70; ++n) lengths.push_back(n);
  for (std::int64_t n : {0, 95, 96, 97, 2047, 2048, 2049, 4096, 4097, 1, 100000, 0}) lengths.push_back(n);
  return lengths;
}

Plain permuted(const Plain& A, const Array<Index>& new_to_old) {
  std::vector<Index> old_to_new(A.nrows(), -1);
  for (Index k = 0; k < A.nrows(); ++k) old_to_new[new_to_old[k]] = k;
  Plain P{A.ncols, std::vector<Row>(A.nrows())};
  for (Index i = 0; i < A.nrows(); ++i)
    for (const auto& [j, value] : A.rows[i]) P.rows[old_to_new[i]][old_to_new[j]] = value;
  return P;
}

Plain random_square(Index n, Index entries, unsigned seed) {
  return with_mixed_diagonal(rows_of_lengths(std::vector<std::int64_t>(n, entries), n, seed));
}

std::vector<NamedPlain> awkward_to_sweep(unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto from = [&](Index n, const std::function<bool(Index, Index)>& coupled) {
    Plain A{n, std::vector<Row>(n)};
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        if (coupled(i, j)) A.rows[i][j] = uniform(random);
    return with_mixed_diagonal(std::move(A));
  };
  Plain blocks{20000, std::vector<Row>(20000)};  // 4000 cliques of 5 rows: wide wavefronts
  for (Index i = 0; i < 20000; ++i)
    for (Index j = i / 5 * 5; j < i / 5 * 5 + 5; ++j) blocks.rows[i][j] = uniform(random);
  Plain hub = random_square(5000, 3, seed + 1);  // one long row in the middle, and the rows after it short
  for (Index j = 0; j < 5000; ++j) hub.rows[2500][j] = uniform(random);
  Plain dense_column = random_square(5000, 3, seed + 2);
  for (auto& row : dense_column.rows) row[2500] = uniform(random);
  Plain lattice = poisson(20, 21, 23);
  for (auto& row : lattice.rows)
    for (auto& [col, value] : row) value = uniform(random);
  lattice = with_mixed_diagonal(std::move(lattice));
  Plain chains = random_square(6000, 1, seed + 5);  // each row coupled to the one before it, but one in 60
  for (Index i = 1; i < 6000; ++i) {
    if (random() % 60 == 0)
      chains.rows[i].erase(i - 1);
    else
      chains.rows[i][i - 1] = uniform(random);
  }
  const Array<Index> by_colours = colour_order(OpenMP{1}, greedy_colours(OpenMP{1}, csr_of<double>(lattice).view()));
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
          {"wide wavefronts", with_mixed_diagonal(std::move(blocks))},
          {"dense row", with_mixed_diagonal(std::move(hub))},
          {"dense column", with_mixed_diagonal(std::move(dense_column))},
          {"random, unsymmetric", random_square(700, 5, seed + 3)},
          {"random, large, sparse", random_square(20000, 1, seed + 4)},
          {"chains of any length", with_mixed_diagonal(std::move(chains))},
          {"lines of 300", poisson(300, 7, 5)},
          {"lattice by colours", permuted(lattice, by_colours)},
          {"poisson3d 40 x 41 x 37", poisson(40, 41, 37)}};
}

}  // namespace seidel::tests
