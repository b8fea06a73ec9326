// The matrices of matrices.hpp, compiled once.
#include "matrices.hpp"

namespace seidel::tests {

Plain plain_of(const Matrix& A) {
  Plain plain{A.ncols, std::vector<Row>(A.nrows)};
  for (Index i = 0; i < A.nrows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) plain.rows[i][A.col_idx[k]] = A.values[k];
  return plain;
}

Matrix copy_of(const Matrix& A) { return as<double, std::int64_t>(A); }

Row random_row(std::mt19937_64& random, Index ncols, Index length) {
  std::vector<Index> columns;
  if (4 * std::int64_t(length) >= ncols) {  // selection sampling: column j is taken with probability missing / left
    for (Index j = 0, missing = length; j < ncols; ++j)
      if (Index(random() % std::uint64_t(ncols - j)) < missing) columns.push_back(j), --missing;
  }
  while (Index(columns.size()) < length) {
    while (Index(columns.size()) < length) columns.push_back(Index(random() % std::uint64_t(ncols)));
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  }
  Row row;
  for (Index j : columns) row[j] = random_value(random);
  return row;
}

Matrix random_matrix(unsigned seed, Index nrows, Index ncols, Index mean) {
  std::mt19937_64 random(seed);
  std::vector<Row> rows(nrows);
  for (auto& row : rows)
    row = random_row(random, ncols, std::min<Index>(ncols, Index(random() % (2 * std::uint64_t(mean) + 1))));
  return matrix_of(ncols, rows);
}

Matrix tridiagonal(Index n, double a, double b) {
  std::vector<Row> rows(n);
  for (Index i = 0; i < n; ++i) {
    rows[i][i] = a;
    if (i > 0) rows[i][i - 1] = rows[i - 1][i] = b;
  }
  return matrix_of(n, rows);
}

Plain poisson(Index nx, Index ny, Index nz) {
  Plain A{std::int64_t(nx) * ny * nz, std::vector<Row>(std::int64_t(nx) * ny * nz)};
  const auto couple = [&](Index i, Index j) { A.rows[i][j] = A.rows[j][i] = -1; };
  for (Index z = 0, i = 0; z < nz; ++z)
    for (Index y = 0; y < ny; ++y)
      for (Index x = 0; x < nx; ++x, ++i) {
        A.rows[i][i] = nz > 1 ? 6 : 4;
        if (x > 0) couple(i, i - 1);
        if (y > 0) couple(i, i - nx);
        if (z > 0) couple(i, i - nx * ny);
      }
  return A;
}

Plain rows_of_lengths(const std::vector<std::int64_t>& lengths, std::int64_t ncols, unsigned seed) {
  std::mt19937_64 random(seed);
  Plain A{ncols, {}};
  for (const std::int64_t length : lengths) A.rows.push_back(random_row(random, Index(ncols), Index(length)));
  return A;
}

Plain with_dominant_diagonal(Plain A) {
  for (Index i = 0; i < A.nrows(); ++i) {
    double sum = 1;
    for (const auto& [col, value] : A.rows[i]) sum += col == i ? 0 : std::fabs(value);
    A.rows[i][i] = sum;
  }
  return A;
}

Matrix with_dominant_diagonal(const Matrix& A) {
  return csr_of<double, std::int64_t>(with_dominant_diagonal(plain_of(A)));
}

const std::vector<NamedMatrix>& awkward_matrices() {
  static const std::vector<NamedMatrix> matrices = [] {
    std::vector<NamedMatrix> all;
    std::mt19937_64 random(20240229);
    const auto add = [&](std::string name, Index ncols, const std::vector<Row>& rows) {
      all.push_back({std::move(name), matrix_of(ncols, rows)});
    };
    const auto row = [&](Index ncols, Index length) { return random_row(random, ncols, length); };
    add("0 x 0", 0, {});
    add("0 x 5", 5, {});
    add("5 x 0", 0, std::vector<Row>(5));
    add("1 x 1", 1, {{{0, -0.75}}});
    add("1 x 1, empty", 1, {{}});
    add("no entries", 37, std::vector<Row>(41));
    add("empty rows", 50, {{}, row(50, 3), {}, {}, row(50, 50), {}, row(50, 1), {}, {}, {}});
    std::vector<Row> rows(40);
    for (auto& r : rows)
      for (Index j : {3, 4, 17, 98}) r[j] = random_value(random);
    add("empty columns", 100, rows);
    rows.assign(300, {});
    for (Index i = 0; i < 300; ++i) rows[i] = i == 137 ? row(300, 300) : Row{{i, 4.0}};
    add("dense row", 300, rows);
    for (Index i = 0; i < 300; ++i)
      rows[i] = i < 137    ? Row{{i, 4.0}, {137, random_value(random)}}
                : i == 137 ? Row{{137, 4.0}}
                           : Row{{137, random_value(random)}, {i, 4.0}};
    add("dense column", 300, rows);
    add("dense 65 x 65", 65, [&] {
      std::vector<Row> r(65);
      for (auto& one : r) one = row(65, 65);
      return r;
    }());
    add("one row", 2049, {row(2049, 2049)});
    rows.assign(2049, {});
    for (auto& r : rows) r = {{0, random_value(random)}};
    add("one column", 1, rows);
    rows.assign(11, {});
    for (auto& r : rows) r = row(3000, 2);
    rows[6] = row(3000, 2049);
    add("one row of 2049", 3000, rows);
    rows.assign(30, {});
    for (auto& r : rows) r = row(200000, 5);
    rows[29] = row(200000, 100000);
    add("one row of 100000", 200000, rows);
    rows.assign(71, {});
    for (Index i = 0; i <= 70; ++i) rows[i] = row(71, (i * 29) % 71);
    add("rows of every length 0..70", 71, rows);
    all.push_back({"random 1000 x 37", random_matrix(1, 1000, 37, 5)});
    all.push_back({"random 37 x 1000", random_matrix(2, 37, 1000, 90)});
    all.push_back({"random square, threads worth while", random_matrix(3, 9001, 9001, 6)});
    all.push_back({"tridiagonal", tridiagonal(1025)});
    rows.assign(60 * 3, {});
    for (Index i = 0; i < 180; ++i)  // 3 x 3 blocks in a ring
      for (Index block : {(i / 3 + 59) % 60, i / 3, (i / 3 + 1) % 60})
        for (Index j = 0; j < 3; ++j) rows[i][3 * block + j] = random_value(random);
    add("blocks of 3 x 3", 180, rows);
    return all;
  }();
  return matrices;
}

const std::vector<NamedMatrix>& awkward_dominant_matrices() {
  static const std::vector<NamedMatrix> matrices = [] {
    std::vector<NamedMatrix> all;
    for (const auto& [name, A] : awkward_matrices())
      if (A.nrows == A.ncols) all.push_back({name + ", dominant", with_dominant_diagonal(A)});
    return all;
  }();
  return matrices;
}

std::vector<double> ramp(std::int64_t n) {
  std::vector<double> x(n);
  for (std::int64_t i = 0; i < n; ++i) x[i] = (i % 2 ? -1.0 : 1.0) * double(i + 1) / double(n);
  return x;
}

std::vector<double> dense(const Matrix& A) {
  std::vector<double> D(std::size_t(A.nrows) * A.ncols);
  for (Index i = 0; i < A.nrows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      D[std::size_t(i) * A.ncols + A.col_idx[k]] = A.values[k];
  return D;
}

}  // namespace seidel::tests
