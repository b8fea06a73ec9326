// The awkward matrices that every format, kernel and solver is tried on, and a dense reference. Made by hand here: they
// depend on nothing that they test.
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <seidel/formats/csr.hpp>

namespace seidel::tests {

using Matrix = Csr<double, std::int64_t, Host>;

/// Column and value of each entry.
using Row = std::map<Index, double>;

/// What test matrices are made of: rows that can be edited. csr_of() makes the operand of it.
struct Plain {
  std::int64_t ncols = 0;
  std::vector<Row> rows;

  std::int64_t nrows() const { return std::int64_t(rows.size()); }
};

template <class Real, class Offset = std::int32_t>
Csr<Real, Offset> csr_of(const Plain& plain) {
  std::int64_t nnz = 0;
  for (const Row& row : plain.rows) nnz += std::int64_t(row.size());
  Csr<Real, Offset> A{Index(plain.nrows()), Index(plain.ncols), Array<Offset>(plain.nrows() + 1), Array<Index>(nnz),
                      Array<Real>(nnz)};
  std::int64_t k = 0;
  A.row_ptr[0] = 0;
  for (Index i = 0; i < A.nrows; ++i) {
    for (const auto& [col, value] : plain.rows[i]) A.col_idx[k] = col, A.values[k++] = Real(value);
    A.row_ptr[i + 1] = Offset(k);
  }
  return A;
}
inline Matrix matrix_of(Index ncols, const std::vector<Row>& rows) {
  return csr_of<double, std::int64_t>({ncols, rows});
}

/// The same matrix with another scalar and other offsets.
template <class Real, class Offset>
Csr<Real, Offset> as(const Matrix& A) {
  Csr<Real, Offset> B{A.nrows, A.ncols, Array<Offset>(A.row_ptr.size()), Array<Index>(A.nnz()), Array<Real>(A.nnz())};
  for (std::int64_t i = 0; i < A.row_ptr.size(); ++i) B.row_ptr[i] = Offset(A.row_ptr[i]);
  for (std::int64_t k = 0; k < A.nnz(); ++k) B.col_idx[k] = A.col_idx[k], B.values[k] = Real(A.values[k]);
  return B;
}
Matrix copy_of(const Matrix& A);
Plain plain_of(const Matrix& A);

/// A seed that no run before had. A test that fails prints those that it drew. Only from the test's own thread.
unsigned fresh_seed();

/// Uniform in (-1, 1), never 0.
inline double random_value(std::mt19937_64& random) {
  const double u = (double(random() >> 11) + 0.5) * 0x1p-53;
  return 2 * u - 1 == 0 ? 0.5 : 2 * u - 1;
}

/// `length` distinct columns below ncols, ascending, with random values.
Row random_row(std::mt19937_64& random, Index ncols, Index length);

/// Rows of random lengths 0 ... 2 * mean (as far as ncols allows).
Matrix random_matrix(unsigned seed, Index nrows, Index ncols, Index mean);

/// a on the diagonal, b beside it.
Matrix tridiagonal(Index n, double a = 2, double b = -1);

/// The Laplacian of a lattice, Dirichlet boundary: 5 points with 4 on the diagonal if nz is 1, else 7 points with 6.
Plain poisson(Index nx, Index ny, Index nz = 1);

/// Rows of the given lengths, columns and values at random.
Plain rows_of_lengths(const std::vector<std::int64_t>& lengths, std::int64_t ncols, unsigned seed);

/// Square A with its diagonal replaced by 1 + the sum of magnitudes beside it: nonsingular, and fit for any sweep.
Plain with_dominant_diagonal(Plain A);
Matrix with_dominant_diagonal(const Matrix& A);

struct NamedMatrix {
  std::string name;
  Matrix matrix;
};

/// Built once. Each is canonical, all values are finite and none is zero.
const std::vector<NamedMatrix>& awkward_matrices();

/// The square ones, made diagonally dominant.
const std::vector<NamedMatrix>& awkward_dominant_matrices();

/// 1, -2, 3 ... scaled to magnitudes of at most 1: no two entries alike, signs in turn.
std::vector<double> ramp(std::int64_t n);

/// Row-major nrows x ncols elements. Only for small ones.
std::vector<double> dense(const Matrix& A);

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
