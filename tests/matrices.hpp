// The awkward matrices that every format, kernel and solver is tried on, and a dense reference. Made by hand here: they
// depend on nothing that they test.
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <seidel/formats/csr.hpp>

namespace seidel::tests {

using Matrix = Csr<double, std::int64_t, Host>;

/// (column, value), ascending in column.
using Row = std::vector<std::pair<Index, double>>;

inline Matrix matrix_of(Index ncols, const std::vector<Row>& rows) {
  std::int64_t nnz = 0;
  for (const Row& row : rows) nnz += std::int64_t(row.size());
  Matrix A{Index(rows.size()), ncols, Array<std::int64_t>(std::int64_t(rows.size()) + 1), Array<Index>(nnz),
           Array<double>(nnz)};
  std::int64_t k = 0;
  A.row_ptr[0] = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const auto& [column, value] : rows[i]) A.col_idx[k] = column, A.values[k++] = value;
    A.row_ptr[std::int64_t(i) + 1] = k;
  }
  return A;
}

/// The same matrix with another scalar and other offsets.
template <class Real, class Offset>
Csr<Real, Offset> as(const Matrix& A) {
  Csr<Real, Offset> B{A.nrows, A.ncols, Array<Offset>(A.row_ptr.size()), Array<Index>(A.nnz()), Array<Real>(A.nnz())};
  for (std::int64_t i = 0; i < A.row_ptr.size(); ++i) B.row_ptr[i] = Offset(A.row_ptr[i]);
  for (std::int64_t k = 0; k < A.nnz(); ++k) B.col_idx[k] = A.col_idx[k], B.values[k] = Real(A.values[k]);
  return B;
}
inline Matrix copy_of(const Matrix& A) { return as<double, std::int64_t>(A); }

/// A seed that no run before had. Print it where it is used: CAPTURE(seed).
inline unsigned fresh_seed() { return std::random_device{}(); }

/// Uniform in (-1, 1), never 0.
inline double random_value(std::mt19937_64& random) {
  const double u = (double(random() >> 11) + 0.5) * 0x1p-53;
  return 2 * u - 1 == 0 ? 0.5 : 2 * u - 1;
}

/// `length` distinct columns below ncols, ascending, with random values.
inline Row random_row(std::mt19937_64& random, Index ncols, Index length) {
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
  for (Index j : columns) row.emplace_back(j, random_value(random));
  return row;
}

/// Rows of random lengths 0 ... 2 * mean (as far as ncols allows).
inline Matrix random_matrix(unsigned seed, Index nrows, Index ncols, Index mean) {
  std::mt19937_64 random(seed);
  std::vector<Row> rows(nrows);
  for (auto& row : rows)
    row = random_row(random, ncols, std::min<Index>(ncols, Index(random() % (2 * std::uint64_t(mean) + 1))));
  return matrix_of(ncols, rows);
}

/// a on the diagonal, b beside it.
inline Matrix tridiagonal(Index n, double a = 2, double b = -1) {
  std::vector<Row> rows(n);
  for (Index i = 0; i < n; ++i) {
    if (i > 0) rows[i].emplace_back(i - 1, b);
    rows[i].emplace_back(i, a);
    if (i + 1 < n) rows[i].emplace_back(i + 1, b);
  }
  return matrix_of(n, rows);
}

/// Square A with its diagonal replaced by 1 + the sum of magnitudes beside it: nonsingular, and fit for any sweep.
inline Matrix with_dominant_diagonal(const Matrix& A) {
  std::vector<Row> rows(A.nrows);
  for (Index i = 0; i < A.nrows; ++i) {
    double sum = 1;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (A.col_idx[k] != i) rows[i].emplace_back(A.col_idx[k], A.values[k]), sum += std::fabs(A.values[k]);
    const auto after = std::find_if(rows[i].begin(), rows[i].end(), [&](const auto& entry) { return entry.first > i; });
    rows[i].insert(after, {i, sum});
  }
  return matrix_of(A.ncols, rows);
}

struct NamedMatrix {
  std::string name;
  Matrix matrix;
};

/// Built once. Each is canonical, all values are finite and none is zero.
inline const std::vector<NamedMatrix>& awkward_matrices() {
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
      for (Index j : {3, 4, 17, 98}) r.emplace_back(j, random_value(random));
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
        for (Index j = 0; j < 3; ++j) rows[i].emplace_back(3 * block + j, random_value(random));
    for (auto& r : rows) std::sort(r.begin(), r.end());
    add("blocks of 3 x 3", 180, rows);
    return all;
  }();
  return matrices;
}

/// The square ones, made diagonally dominant.
inline const std::vector<NamedMatrix>& awkward_dominant_matrices() {
  static const std::vector<NamedMatrix> matrices = [] {
    std::vector<NamedMatrix> all;
    for (const auto& [name, A] : awkward_matrices())
      if (A.nrows == A.ncols) all.push_back({name + ", dominant", with_dominant_diagonal(A)});
    return all;
  }();
  return matrices;
}

/// 1, -2, 3 ... scaled to magnitudes of at most 1: no two entries alike, signs in turn.
inline std::vector<double> ramp(std::int64_t n) {
  std::vector<double> x(n);
  for (std::int64_t i = 0; i < n; ++i) x[i] = (i % 2 ? -1.0 : 1.0) * double(i + 1) / double(n);
  return x;
}

/// Row-major nrows x ncols elements. Only for small ones.
inline std::vector<double> dense(const Matrix& A) {
  std::vector<double> D(std::size_t(A.nrows) * A.ncols);
  for (Index i = 0; i < A.nrows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      D[std::size_t(i) * A.ncols + A.col_idx[k]] = A.values[k];
  return D;
}

/// A x in extended precision, rounded once.
template <class Real>
std::vector<double> dense_product(const Matrix& A, const std::vector<Real>& x) {
  std::vector<double> y(A.nrows);
  for (Index i = 0; i < A.nrows; ++i) {
    long double sum = 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      sum += (long double)A.values[k] * (long double)x[A.col_idx[k]];
    y[i] = double(sum);
  }
  return y;
}

/// A row's product summed in any order errs by at most gamma_n sum |a_ij x_j|; here the largest over the rows.
template <class Real>
double rounding_bound(const Matrix& A, const std::vector<Real>& x) {
  double bound = 0;
  for (Index i = 0; i < A.nrows; ++i) {
    double magnitude = 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      magnitude += std::fabs(A.values[k] * double(x[A.col_idx[k]]));
    bound =
        std::max(bound, double(A.row_ptr[i + 1] - A.row_ptr[i] + 1) * std::numeric_limits<Real>::epsilon() * magnitude);
  }
  return bound;
}

/// max |got - expected|; NaN if any is NaN.
template <class X, class Y>
double max_error(const X& got, const Y& expected) {
  double error = 0;
  for (std::size_t i = 0; i < std::size_t(got.size()); ++i) {
    const double e = std::fabs(double(got[i]) - double(expected[i]));
    if (!(e <= error)) error = e;
    if (error != error) break;
  }
  return error;
}

/// The same bytes, so that -0 differs from 0 and a NaN equals itself.
template <class X, class Y>
bool same_bits(const X& a, const Y& b) {
  static_assert(sizeof(a[0]) == sizeof(b[0]));
  if (std::int64_t(a.size()) != std::int64_t(b.size())) return false;
  const auto* p = reinterpret_cast<const unsigned char*>(a.data());
  return a.size() == 0 ||
         std::equal(p, p + std::size_t(a.size()) * sizeof(a[0]), reinterpret_cast<const unsigned char*>(b.data()));
}

/// Same shape, structure and bits of values.
template <class Real, class Offset, class OtherOffset>
bool same_matrix(const CsrView<Real, Offset, Host>& A, const CsrView<Real, OtherOffset, Host>& B) {
  if (A.nrows != B.nrows || A.ncols != B.ncols || A.row_ptr.size() != B.row_ptr.size()) return false;
  for (std::int64_t i = 0; i < A.row_ptr.size(); ++i)
    if (std::int64_t(A.row_ptr[i]) != std::int64_t(B.row_ptr[i])) return false;
  return same_bits(A.col_idx, B.col_idx) && same_bits(A.values, B.values);
}
template <class Real, class Offset, class OtherOffset>
bool same_matrix(const Csr<Real, Offset>& A, const Csr<Real, OtherOffset>& B) {
  return same_matrix(A.view(), B.view());
}

}  // namespace seidel::tests
